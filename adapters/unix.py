"""What Unix offers: sockets in long paths, processes that give way, folders that outlive nobody, files with holes."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

LONGEST_ADDRESS = 100  # bytes; the kernel's limit is 107 on Linux and 103 on macOS
LEAST_URGENT = 19
BLOCK = 1 << 20  # bytes
UNFINISHED = "new-"  # how the names of folders begin in which something is being made


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


@contextmanager
def scratch(folder: Path) -> Generator[Path, None, None]:
    """Yield a new folder in *folder*, until the end; those of processes that were killed go once nobody has one there.

    The kernel lets go of what a process holds however that ends. Raises `OSError`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    held = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # somebody is at work there, or the disk knows no locks
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left in folder.glob(f"{UNFINISHED}*"):
                shutil.rmtree(left, ignore_errors=True)
        with suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_SH)  # at most after somebody who clears up
        with tempfile.TemporaryDirectory(dir=folder, prefix=UNFINISHED) as made:
            yield Path(made)
    finally:
        os.close(held)


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
