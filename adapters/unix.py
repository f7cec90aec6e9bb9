"""What Unix offers: sockets in folders, however long their paths are, and processes that give way to others."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

LONGEST_ADDRESS = 100  # bytes; the kernel's limit is 107 on Linux and 103 on macOS
LEAST_URGENT = 19


@contextmanager
def socket_folder(folder: Path, name: str) -> Generator[Path, None, None]:
    """Return a path to *folder* that is short enough for a socket of that *name*: itself, or a link to it."""
    if len(os.fsencode(folder / name)) <= LONGEST_ADDRESS:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="footnote-", dir="/tmp") as private:
        link = Path(private) / "store"
        link.symlink_to(folder, target_is_directory=True)
        yield link


def give_way() -> None:
    """Let all other processes come first from now on; on Linux at once, also where a turn of ours has just begun."""
    os.nice(LEAST_URGENT)
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
