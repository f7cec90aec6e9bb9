"""Runs a server that ends when its owner ends, however that happens."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

# The owner holds the other end of standard input and never writes. When the owner is gone, even by SIGKILL, the kernel
# closes that end, reading ends, and the watcher asks the server to stop. The server takes the place of the shell, so
# the owner's child is the server itself.
SCRIPT = """
exec 3<&0
(read -r line <&3; kill -TERM $$) &
exec "$@" </dev/null 3<&-
"""


def private(path: Path, mode: str) -> IO[Any]:
    """Open a file that nobody but its owner can read, whatever the folder allows."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


@contextmanager
def guarded(command: Sequence[str], *, log: Path, patience: float) -> Generator[subprocess.Popen[bytes], None, None]:
    """Run *command* until the context or this process ends; its session is its own, so Ctrl-C does not reach it."""
    with private(log, "ab") as output:
        process = subprocess.Popen(  # noqa: S603 - the command is ours
            ["/bin/sh", "-c", SCRIPT, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd=log.parent,
            env={"LC_ALL": "C"},  # none of the owner's secrets, and reasons in one language
            start_new_session=True,
            umask=0o077,
        )
    try:
        yield process
    finally:
        try:
            for number in (signal.SIGTERM, signal.SIGKILL):
                # Reaches the server and its watcher at once, of which one may be gone already, or both.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, number)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(patience if number is signal.SIGTERM else None)
                    break
        finally:
            if process.stdin:
                process.stdin.close()
