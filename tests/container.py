"""What the Dockerfile says, and the same steps without a container engine: its files, its wheel, its environment."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOBODY = 65_534


@dataclass(frozen=True)
class Stage:
    """A part of the Dockerfile, as pairs of an instruction and what follows it."""

    steps: tuple[tuple[str, str], ...]

    def all(self, instruction: str) -> list[str]:
        """Give what follows each of these instructions."""
        return [words for name, words in self.steps if name == instruction]

    def listed(self, instruction: str) -> list[str]:
        """Give the words of an instruction that is written as a list, after its options."""
        (said,) = self.all(instruction)
        return json.loads(said[said.index("[") :])


def stages() -> list[Stage]:
    """Read the Dockerfile."""
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if line and not line.startswith("#")]
    steps = [(name, words) for name, _, words in (line.partition(" ") for line in lines)]
    starts = [number for number, (name, _) in enumerate(steps) if name == "FROM"]
    return [Stage(tuple(steps[start:end])) for start, end in zip(starts, [*starts[1:], None], strict=True)]


@dataclass(frozen=True)
class Rehearsal:
    """The image as a folder: what is /opt/footnote and /data there is in it, and nothing of the checkout."""

    folder: Path

    def build(self) -> None:
        """Do what the first stage does; packages are taken from here, since it would take minutes to install them."""
        build, _ = stages()
        context = self.folder / "build"
        context.mkdir()
        for copied in build.all("COPY"):
            *names, target = copied.split()
            for name in names:
                self._copy(name, context / target)
        uv = [str(Path(sys.executable).with_name("uv"))]
        subprocess.run([*uv, "venv", "--quiet", "--offline", "--python", sys.executable, str(self.home)], check=True)
        asked = [str(self.home / "bin" / "python"), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        place = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        (Path(place) / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        for step in build.all("RUN"):
            command = [word.replace("/opt/footnote", str(self.home)) for word in shlex.split(step)]
            if "hatchling" in command:
                subprocess.run(command, cwd=context, capture_output=True, check=True)
            elif "--no-index" in command:
                wheel = context / command[-1]
                install = [*uv, "pip", "install", "--quiet", "--offline", "--no-deps", "--python", asked[0], str(wheel)]
                subprocess.run(install, check=True)
        shutil.rmtree(context)

    def _copy(self, name: str, target: Path) -> None:
        source, into = ROOT / name, target if target.name != Path(name).name else target.parent
        into.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, into / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, into)

    @property
    def home(self) -> Path:
        """What is /opt/footnote."""
        return self.folder / "opt"

    @property
    def data(self) -> Path:
        """What is /data."""
        return self.folder / "data"

    @cached_property
    def user(self) -> int:
        """Who it runs as: nobody, if this process may say so and the interpreter is where others can read it."""
        places = [*Path(sys.base_prefix).resolve().parents, *ROOT.parents, Path(sys.prefix).resolve()]
        is_open = all(place.stat().st_mode & 0o001 for place in places)
        return NOBODY if os.geteuid() == 0 and is_open else os.geteuid()

    def make_data(self) -> None:
        """Do what the second stage does for the volume."""
        self.data.mkdir(mode=0o700)
        os.chown(self.data, self.user, -1)

    def environment(self, **more: str) -> dict[str, str]:
        """Give what the image sets, and *more*."""
        given = dict(words.split("=", 1) for words in stages()[-1].all("ENV"))
        own = {name: self._here(value) for name, value in given.items()}
        return {**own, "HOME": "/nonexistent", **more}

    def _here(self, text: str) -> str:
        return re.sub(r"/data\b", str(self.data), text.replace("/opt/footnote", str(self.home)))

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        """Start what the image starts, with other words than its own if there are any."""
        last = stages()[-1]
        (program, *rest) = [*last.listed("ENTRYPOINT"), *(words or last.listed("CMD"))]
        return subprocess.Popen(
            [str(self.home / "bin" / program), *rest],
            cwd=self.data,
            env=self.environment(**environment),
            user=self.user,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def is_healthy(self, **environment: str) -> bool:
        """Do the health check of the image."""
        program, *rest = stages()[-1].listed("HEALTHCHECK")
        command = [str(self.home / "bin" / program), *rest]
        env = self.environment(**environment)
        return subprocess.run(command, env=env, capture_output=True, check=False).returncode == 0
