"""A built file that is kept between runs, and is only a shortcut: whatever is wrong with it, building helps."""

from __future__ import annotations

import contextlib
import os
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

CHECKSUM_SIZE = 4  # bytes in front of the content; it finds damage, and nobody else writes here


def kept(folder: Path, name: str, build: Callable[[], bytes]) -> bytes:
    """Give the content kept under *name*; build and keep it if it is absent or damaged.

    Where nothing can be written, the content is built each time. Several processes may do this at once.
    """
    content = _read(folder / name)
    if content is None:
        content = build()
        with contextlib.suppress(OSError):
            _write(folder / name, content)
    return content


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            checksum, content = file.read(CHECKSUM_SIZE), file.read()
    except OSError:
        return None
    return content if content and checksum == _checksum(content) else None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_checksum(content))
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    # Leftovers of processes that were killed. One that still writes loses its file, and needs it no more.
    for leftover in path.parent.glob(f"{path.name}.*.part"):
        leftover.unlink(missing_ok=True)


def _checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(CHECKSUM_SIZE, "big")
