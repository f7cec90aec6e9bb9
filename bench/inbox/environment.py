"""The queues' own environment, made once from the pinned list beside this file."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from bench.corpora import CACHE

_LOCK = Path(__file__).with_name("requirements.lock")


def queues() -> Path:
    """Give the Python interpreter of the environment; another list of packages makes another environment."""
    folder = CACHE / f"queues-{hashlib.sha256(_LOCK.read_bytes()).hexdigest()[:12]}"
    python, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        print("Making the environment of the queues ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", folder], check=True)
        install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--require-hashes"]
        subprocess.run([*install, "--python", python, "-r", _LOCK], check=True)
        complete.touch()
    return python


def version(package: str) -> str:
    """Give the version of a package that is pinned there."""
    pins = (line.split("==", 1) for line in _LOCK.read_text("utf-8").splitlines() if "==" in line)
    return next(rest.split()[0] for name, rest in pins if name == package)
