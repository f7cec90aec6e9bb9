"""What is built and installed: the wheel, the console script and the lock files."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tomllib
from importlib.metadata import entry_points, packages_distributions
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from bot.roles import NOTHING_TO_RUN, Role

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")
PACKAGES = ("adapters", "bot", "core")
REQUIREMENT = re.compile(r"^([a-z0-9][a-z0-9._-]*)(?:\[[^\]]*\])?==(\S+)", re.MULTILINE)


@pytest.fixture(name="project", scope="module")
def _project() -> dict[str, Any]:
    """Read the project's own description."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(name="built", scope="module")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel with what is installed, without a network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(name="wheel", scope="module")
def _wheel(built: Path) -> ZipFile:
    """Look into the wheel."""
    return ZipFile(built)


@pytest.fixture(name="installed", scope="module")
def _installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own, which takes nothing but dependencies from this one."""
    folder = tmp_path_factory.mktemp("installed")
    quiet = ["--quiet", "--offline"]
    uv = [str(Path(sys.executable).with_name("uv"))]
    python = folder / "bin" / "python"
    subprocess.run([*uv, "venv", *quiet, "--python", sys.executable, str(folder)], check=True)
    subprocess.run([*uv, "pip", "install", *quiet, "--no-deps", "--python", str(python), str(built)], check=True)
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    place = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    # A line in such a file adds a folder, and reads no further ones in it: the checkout stays out of sight.
    (Path(place) / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return folder


def names(text: str) -> dict[str, str]:
    """Give the pinned version of each package in a lock file."""
    return dict(REQUIREMENT.findall(text))


def normal(requirement: str) -> str:
    """Give the name of a requirement as lock files write it."""
    return re.sub(r"[._]", "-", re.split(r"[<>=!~;\[ ]", requirement)[0].lower())


def test_the_wheel_holds_the_three_packages_and_the_pages(wheel: ZipFile) -> None:
    """Every module and script of the three packages is in the wheel, with what messages name, and no test or tool."""
    inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = [path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.suffix in (".py", ".lua", ".css")]

    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("_recordings/*"), *ROOT.glob("manifest*.json")]
    assert inside == {path.relative_to(ROOT).as_posix() for path in files} | {
        f"bot/pages/{path.relative_to(ROOT).as_posix().removeprefix('docs/')}" for path in pages
    }
    assert [name for name in inside if name.endswith(".lua")]


@pytest.mark.promise("installs-anywhere")
def test_what_is_installed_from_the_wheel_works_anywhere(installed: Path, tmp_path: Path) -> None:
    """Without the checkout, in an empty folder and environment, it is set up, answers, and shows what messages name."""
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo" / "penguins.md").write_text("# Penguins\n\nPenguins eat fish, krill and squid.\n")

    def footnote(*words: str, code: int = 0, typed: str = "") -> str:
        command = [str(installed / "bin" / "footnote"), *words]
        ended = subprocess.run(command, cwd=tmp_path, env={}, input=typed, capture_output=True, text=True, check=False)
        assert ended.returncode == code, ended.stderr
        return ended.stdout + ended.stderr

    place = footnote("docs").splitlines()[-1].removeprefix("They are in ")
    assert Path(place).is_relative_to(installed)
    assert footnote("--version").startswith("footnote 0.")
    assert footnote("manifest") == (ROOT / "manifest.json").read_text()
    assert footnote("manifest", "--http", "https://bot.example.org") == (ROOT / "manifest-http.json").read_text()
    named = re.findall(r"`footnote (docs \w+)`", footnote("run", code=2))
    assert [footnote(*words.split()).partition("\n")[0] for words in named] == [
        "# Connecting Discord",
        "# Connecting Slack",
    ]
    assert "Next, type: footnote chat" in footnote("init", typed="\n\n\n\nzoo\n\n")
    assert "fish, krill and squid. [1]" in footnote("ask", "What", "do", "penguins", "eat")


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
@pytest.mark.parametrize("lock", [*LOCKS, "requirements-multilingual.lock"])
def test_every_pinned_package_has_a_hash(lock: str) -> None:
    """No package is installed without its checksum being compared."""
    entries = re.split(r"^(?=[a-z0-9])", (ROOT / lock).read_text(), flags=re.MULTILINE)[1:]

    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry or "==" not in entry] == []


@pytest.mark.parametrize("lock", [*LOCKS, "requirements-multilingual.lock"])
def test_lock_files_name_no_host(lock: str) -> None:
    """Where packages come from is the business of whoever installs them."""
    text = (ROOT / lock).read_text()

    assert ("://" in text, "--index" in text) == (False, False)


def test_lock_files_hold_every_dependency(project: dict[str, Any]) -> None:
    """What the project asks for is pinned: for running, and for development as well."""
    groups = project["dependency-groups"]
    running = {normal(r) for r in [*project["project"]["dependencies"], *groups["build"]]}
    developing = running | {normal(r) for group in ("dev", "multilingual") for r in groups[group] if isinstance(r, str)}
    pinned = [set(names((ROOT / lock).read_text())) for lock in LOCKS]

    assert (running - pinned[0], developing - pinned[1]) == (set(), set())


def test_tests_run_with_the_versions_that_are_deployed() -> None:
    """Both lock files pin the same versions."""
    running, developing = (names((ROOT / lock).read_text()) for lock in LOCKS)

    assert {name: developing.get(name) for name in running} == running


def processes() -> dict[str, str]:
    """Give the lines of the Procfile by the names of the processes."""
    return dict(line.split(": ", 1) for line in (ROOT / "Procfile").read_text().splitlines())


def test_the_procfile_starts_every_share_of_the_work() -> None:
    """Each process has roles that there are, and together they have all of them."""
    roles = {name: line.partition("python -m bot run")[2].split() for name, line in processes().items()}

    assert {role for each in roles.values() for role in each} == set(Role)
    assert roles["bot"] == []


@pytest.mark.parametrize("host", ["clean shell", "host with packages"])
def test_the_procfile_works_in_a_clean_shell(host: str, tmp_path: Path) -> None:
    """Nothing is set: the environment beside it is found; on a host that installs packages itself, its Python is."""
    line = processes()["bot"]  # the others only add roles
    assert {each.partition(line)[1] for each in processes().values()} == {line}
    environment = {"PATH": str(Path(sys.executable).parent)} if host == "host with packages" else {}
    links = PACKAGES if environment else [".venv"]
    for name in links:
        target = Path(sys.prefix) if name == ".venv" else ROOT / name
        (tmp_path / name).symlink_to(target, target_is_directory=True)

    command = ["/bin/sh", "-c", line]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (2, f"{NOTHING_TO_RUN}\n")


def test_what_stops_a_process_of_the_procfile_stops_the_bot_itself(tmp_path: Path) -> None:
    """There is no shell left between the two, which would end at once and leave the bot alone with its answers."""
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho $$\n")
    python.chmod(0o755)

    for line in processes().values():
        with subprocess.Popen(["/bin/sh", "-c", line], cwd=tmp_path, env={}, stdout=subprocess.PIPE, text=True) as one:
            assert one.communicate()[0] == f"{one.pid}\n"


def test_hosts_find_what_to_install() -> None:
    """Hosts that look for a list of packages, and for the version of Python, find those that are tested."""
    named = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    version = (ROOT / ".python-version").read_text().strip()

    assert named == ["-r requirements.lock"]
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"] == f">={version}"
