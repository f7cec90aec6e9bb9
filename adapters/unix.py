"""What Unix offers: sockets in long paths, processes that give way to others, and files with holes."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

LONGEST_ADDRESS = 100  # bytes; the kernel's limit is 107 on Linux and 103 on macOS
LEAST_URGENT = 19
BLOCK = 1 << 20  # bytes


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


def free_space(folder: Path) -> int:
    """Return the bytes that are free on the disk where a folder is, or will be."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def copy_sparse(source: str, target: str) -> None:
    """Copy a file without its holes, which may be most of it."""
    with Path(source).open("rb") as reading, Path(target).open("wb") as writing:
        while block := reading.read(BLOCK):
            if block.strip(b"\0"):
                writing.write(block)
            else:
                writing.seek(len(block), os.SEEK_CUR)
        writing.truncate()
