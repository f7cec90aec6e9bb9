"""Environments of their own for what is measured beside Footnote, each made once from a pinned list."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from bench.corpora import CACHE


def interpreter(name: str, lock: Path) -> Path:
    """Give the Python interpreter of an environment; another list of packages makes another environment."""
    folder = CACHE / f"{name}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:12]}"
    python, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        print(f"Making the environment of the {name} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", folder], check=True)
        install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--require-hashes"]
        subprocess.run([*install, "--python", python, "-r", lock], check=True)
        complete.touch()
    return python


def version(lock: Path, package: str) -> str:
    """Give the version of a package that is pinned in a list."""
    pins = (line.split("==", 1) for line in lock.read_text("utf-8").splitlines() if "==" in line)
    return next(rest.split()[0] for name, rest in pins if name == package)
