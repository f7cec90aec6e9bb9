"""Files of every kind, made from real lessons once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.make_documents import make

LESSONS = (
    "module01/lesson04_measurement_error.md",  # with code
    "module10/lesson05_twin_state.md",  # with formulas and a quotation
)


@pytest.fixture(scope="session")
def lessons(shared_data: Path) -> list[Path]:
    """Give a few lessons of the course."""
    return [shared_data / "course-physical-ai" / "lessons" / name for name in LESSONS]


@pytest.fixture(scope="session")
def made(lessons: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the lessons as PDF, Word, notebook and HTML."""
    out = tmp_path_factory.mktemp("made")
    make(lessons, out)
    return out
