"""The data folder: one process at a time owns it, or several that keep nothing there but a log."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Generator
from pathlib import Path

from core.errors import Misconfigured, Unavailable


class DataFolderInUse(Unavailable):
    """Another process works with the data folder; the message says which and what to do."""


@contextlib.contextmanager
def hold(folder: Path, *, command: str, alone: bool = True) -> Generator[Path]:
    """Own *folder* until the end; the kernel lets go of it even when this process is killed.

    Processes that need not be *alone*, since what they share lies on servers, own it together.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / "owner.json", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Misconfigured(
            f"The data folder {folder} cannot be written ({os.strerror(error.errno or 0)}). "
            "Set FOOTNOTE_DATA_DIR to a folder that can."
        ) from error
    try:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError as error:
            raise DataFolderInUse(_whose(folder, os.read(descriptor, 1_000))) from error
        with contextlib.suppress(OSError):  # a full disk: the lock holds, only its owner stays unnamed
            os.ftruncate(descriptor, 0)
            os.write(descriptor, json.dumps({"pid": os.getpid(), "command": command}).encode())
        yield folder
    finally:
        os.close(descriptor)


def _whose(folder: Path, owner: bytes) -> str:
    who = "another process"
    with contextlib.suppress(ValueError, KeyError, TypeError):
        known = json.loads(owner)
        who = f"`{known['command']}` (process {known['pid']})"
    return (
        f"The data folder {folder} is in use by {who}. "
        "Wait until it ends or stop it, or set FOOTNOTE_DATA_DIR to another folder."
    )
