"""What is built and installed: the wheel, the console script and the lock files."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points, packages_distributions
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from bot.roles import Role

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")
PACKAGES = ("adapters", "bot", "core")
REQUIREMENT = re.compile(r"^([a-z0-9][a-z0-9._-]*)(?:\[[^\]]*\])?==(\S+)", re.MULTILINE)


@pytest.fixture(name="project", scope="module")
def _project() -> dict[str, Any]:
    """Read the project's own description."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(name="wheel", scope="module")
def _wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    """Build the wheel with what is installed, without a network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return ZipFile(next(folder.glob("*.whl")))


def names(text: str) -> dict[str, str]:
    """Give the pinned version of each package in a lock file."""
    return dict(REQUIREMENT.findall(text))


def normal(requirement: str) -> str:
    """Give the name of a requirement as lock files write it."""
    return re.sub(r"[._]", "-", re.split(r"[<>=!~;\[ ]", requirement)[0].lower())


def test_the_wheel_holds_the_three_packages_and_nothing_else(wheel: ZipFile) -> None:
    """Every module and script of the three packages is in the wheel, and no test, page or tool is."""
    inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    found = (path for name in PACKAGES for kind in ("*.py", "*.lua") for path in (ROOT / name).rglob(kind))
    sources = {path.relative_to(ROOT).as_posix() for path in found}

    assert inside == sources


def test_the_wheel_brings_one_command(wheel: ZipFile) -> None:
    """The one console script is `footnote`."""
    written = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))

    assert wheel.read(written).decode().split() == ["[console_scripts]", "footnote", "=", "bot.__main__:main"]


def test_the_index_of_packages_would_refuse_it(project: dict[str, Any]) -> None:
    """Names as general as ours are for an application, which is never published as a library."""
    assert "Private :: Do Not Upload" in project["project"]["classifiers"]


def test_no_other_distribution_claims_our_package_names() -> None:
    """Nothing that is installed beside us brings a package of one of our names."""
    claimed = packages_distributions()

    assert {owner for name in PACKAGES for owner in claimed.get(name, ())} <= {"footnote"}


def test_the_command_is_installed() -> None:
    """`footnote` leads to the command line."""
    assert [script.value for script in entry_points(group="console_scripts", name="footnote")] == ["bot.__main__:main"]


@pytest.mark.promise("pinned")
@pytest.mark.parametrize("lock", LOCKS)
def test_every_pinned_package_has_a_hash(lock: str) -> None:
    """No package is installed without its checksum being compared."""
    entries = re.split(r"^(?=[a-z0-9])", (ROOT / lock).read_text(), flags=re.MULTILINE)[1:]

    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry or "==" not in entry] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_files_name_no_host(lock: str) -> None:
    """Where packages come from is the business of whoever installs them."""
    text = (ROOT / lock).read_text()

    assert ("://" in text, "--index" in text) == (False, False)


def test_lock_files_hold_every_dependency(project: dict[str, Any]) -> None:
    """What the project asks for is pinned: for running, and for development as well."""
    groups = project["dependency-groups"]
    running = {normal(r) for r in [*project["project"]["dependencies"], *groups["build"]]}
    developing = running | {normal(r) for r in groups["dev"]}
    pinned = [set(names((ROOT / lock).read_text())) for lock in LOCKS]

    assert (running - pinned[0], developing - pinned[1]) == (set(), set())


def test_tests_run_with_the_versions_that_are_deployed() -> None:
    """Both lock files pin the same versions."""
    running, developing = (names((ROOT / lock).read_text()) for lock in LOCKS)

    assert {name: developing.get(name) for name in running} == running


def test_the_procfile_starts_commands_that_exist() -> None:
    """Every process of the Procfile is a command of the command line, with roles that there are."""
    lines = (ROOT / "Procfile").read_text().splitlines()
    found = [match for line in lines if (match := re.fullmatch(r"\w+: python -m bot (\w+)((?: \w+)*)", line))]
    commands = [match[1] for match in found]
    assert {role for match in found for role in match[2].split()} <= set(Role)
    helps = [
        subprocess.run([sys.executable, "-m", "bot", command, "--help"], cwd=ROOT, capture_output=True, check=False)
        for command in commands
    ]

    assert (len(commands), [ended.returncode for ended in helps]) == (len(lines), [0] * len(lines))
