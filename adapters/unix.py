"""Sockets in folders, whose paths may be longer than a socket's may be."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

LONGEST_ADDRESS = 100  # bytes; the kernel's limit is 107 on Linux and 103 on macOS


@contextmanager
def short(folder: Path, name: str) -> Generator[Path, None, None]:
    """Return a path to *folder* that is short enough for a socket of that *name*: itself, or a link to it."""
    if len(os.fsencode(folder / name)) <= LONGEST_ADDRESS:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="footnote-", dir="/tmp") as private:
        link = Path(private) / "store"
        link.symlink_to(folder, target_is_directory=True)
        yield link
