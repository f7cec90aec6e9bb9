"""How a command ends when something goes wrong that nobody foresaw."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.logs import LIBRARIES, Background, logger_to
from bot.outcome import OK, UNAVAILABLE, report


@pytest.fixture(autouse=True)
def _unlogged() -> Iterator[None]:
    """No log is open before a test, and none after it."""
    log = logging.getLogger("footnote")

    def close() -> None:
        for handler in log.handlers[:]:
            log.removeHandler(handler)
            handler.close()
        log.propagate = True
        for library in map(logging.getLogger, LIBRARIES):
            for handler in [one for one in library.handlers if isinstance(one, Background)]:
                library.removeHandler(handler)

    close()
    yield
    close()


def breaks() -> int:
    """End with an error that holds somebody's words."""
    raise ExceptionGroup("two", [ValueError("What do penguins eat?")])


def test_an_unforeseen_error_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """Before there is a log, it does not speak of one."""
    assert report(breaks) == UNAVAILABLE
    assert capsys.readouterr() == ("", "Something unexpected went wrong (ExceptionGroup).\n")


@pytest.mark.promise("logs-without-texts")
def test_the_log_says_where_it_happened_without_anybodys_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is one JSON object, like every line."""
    logger_to(tmp_path, "info")

    assert report(breaks) == UNAVAILABLE

    line = (tmp_path / "footnote.log").read_text()
    logged = json.loads(line)
    assert (logged["event"], logged["kind"]) == ("unexpected", "ExceptionGroup")
    assert logged["places"][-1].endswith(" breaks")
    assert "penguin" not in line
    assert "The log has the details." in capsys.readouterr().err


@pytest.mark.promise("logs-without-texts")
def test_what_goes_wrong_in_a_librarys_background_is_logged_without_anybodys_words(tmp_path: Path) -> None:
    """With its kind and where it happened; twice the log, once the line."""
    logger_to(tmp_path, "info")
    logger_to(tmp_path, "info")
    try:
        breaks()
    except ExceptionGroup:
        logging.getLogger("discord.client").exception("Ignoring exception in %s", "What do penguins eat?")

    [line] = (tmp_path / "footnote.log").read_text().splitlines()
    logged = json.loads(line)
    assert (logged["event"], logged["library"], logged["kind"]) == ("background", "discord.client", "ExceptionGroup")
    assert logged["places"][-1].endswith(" breaks")
    assert "penguin" not in line


def test_a_library_that_exits_because_nobody_reads_is_no_error() -> None:
    """Rich turns a broken pipe into an exit."""

    def exits() -> int:
        raise SystemExit(1)

    assert report(exits) == OK
