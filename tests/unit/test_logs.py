"""Where log lines go."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from bot.logs import LIBRARIES, Background, logger_to, targets_of

WRITER = """
import sys
from collections.abc import Iterator
from pathlib import Path
from bot.logs import logger_to

logger = logger_to(Path(sys.argv[1]), "info", size=500)
for number in range(30):
    logger.info("written", number=number)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """No log is open after a test."""
    yield
    log = logging.getLogger("footnote")
    for handler in log.handlers[:]:
        log.removeHandler(handler)
        handler.close()
    log.propagate = True
    for library in map(logging.getLogger, LIBRARIES):
        for handler in [one for one in library.handlers if isinstance(one, Background)]:
            library.removeHandler(handler)


@pytest.mark.parametrize(
    ("setting", "is_bot", "targets"),
    [
        ("auto", True, ("file", "stderr")),
        ("auto", False, ("file",)),
        ("file", True, ("file",)),
        ("stderr", False, ("stderr",)),
        ("both", False, ("file", "stderr")),
    ],
)
def test_the_log_goes_where_it_was_set(
    setting: Literal["auto", "file", "stderr", "both"], is_bot: bool, targets: tuple[str, ...]
) -> None:
    """Of itself, a bot whose standard error is no terminal, as here, writes to both."""
    assert targets_of(setting, is_bot=is_bot) == targets


def test_a_line_stands_once_in_each_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where a second logger takes over from the first."""
    logger_to(tmp_path, "info", ("file", "stderr"))
    logger_to(tmp_path, "info", ("file", "stderr")).info("answered", tokens=7)

    said = capsys.readouterr().err
    written = (tmp_path / "footnote.log").read_text()
    assert said == written
    assert [json.loads(line)["tokens"] for line in said.splitlines()] == [7]


def test_no_two_processes_write_to_one_file(tmp_path: Path) -> None:
    """The next one has a file of its own, which is cut off apart; one that comes later takes a name that is free."""
    command = [sys.executable, "-c", WRITER, str(tmp_path)]

    def start() -> subprocess.Popen[str]:
        running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        return running

    first, second = start(), start()
    beside = {path.name for path in tmp_path.glob("*.log*")}
    first.communicate()
    third = start()
    second.communicate()
    third.communicate()

    assert beside == {f"footnote{number}.log{old}" for number in ("", "-2") for old in ("", ".1", ".2")}
    assert {path.name for path in tmp_path.glob("*.log*")} == beside
    for name in ("footnote.log", "footnote-2.log"):
        assert json.loads((tmp_path / name).read_text().splitlines()[-1])["number"] == 29


def test_what_nobody_uses_is_no_warning(tmp_path: Path) -> None:
    """Of a library's warnings, those about voice are left out."""
    logger_to(tmp_path, "info")
    for text in ("PyNaCl is not installed, voice will NOT be supported", "davey is not installed", "Something else"):
        logging.getLogger("discord.client").warning(text)

    assert len((tmp_path / "footnote.log").read_text().splitlines()) == 1
