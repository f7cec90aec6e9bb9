"""Room on the disk: the engine writes through memory maps, and a full disk would end the process without a word."""

from __future__ import annotations

import shutil
from pathlib import Path

from core.errors import RetrievalUnavailable

LEAST = 100_000_000  # bytes: more than the engine's write-ahead log and the segments of one page take


def check_room(folder: Path, *, least: int = LEAST) -> None:
    """Raise `RetrievalUnavailable` before anything is written to a disk that is nearly full."""
    free = _free(folder)
    if free < least:
        raise RetrievalUnavailable(
            f"The disk that holds {folder} has {free // 1_000_000} MB left; the index needs {least // 1_000_000} MB "
            "so that nothing is damaged. Make room and try again, or set FOOTNOTE_DATA_DIR to another disk."
        )


def has_room_to_tidy(folder: Path) -> bool:
    """Say whether the files could be written a second time, as tidying up does."""
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return _free(folder) > size + LEAST


def _free(folder: Path) -> int:
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free
