"""The log: one JSON object a line, in a file of this process in the data folder, on standard error, or both."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import re
import sys
from collections.abc import Callable, Collection
from dataclasses import asdict
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Literal, TypeAlias

from bot.outcome import places
from core import events

Target: TypeAlias = Literal["file", "stderr"]

NAME, NEXT, LOCKS = "footnote.log", "footnote-{}.log", "logs.lock"
MOST = 100  # processes with a file of their own in one data folder
SIZE = 2_000_000  # bytes; three files are kept
LIBRARIES = ("discord", "slack_bolt", "slack_sdk", "aiohttp", "asyncio")
"""Those that log what went wrong in the background, where nobody hears it as an exception."""
UNUSED = ("PyNaCl is not installed", "davey is not installed")
"""How a library begins to warn about voice, which nobody here uses."""
TROUBLES = (
    events.MemoryFailed
    | events.Retried
    | events.ServiceFailed
    | events.ServiceSaid
    | events.FellBack
    | events.ServiceSkipped
    | events.TaskFailed
    | events.LostByStore
    | events.AnswerAssumed
    | events.BudgetAlerted
    | events.ConnectionLost
    | events.CommunityLost
    | events.CommandsFailed
    | events.CatchUpCutShort
    | events.PlaceRefused
    | events.PlatformFailed
    | events.PossiblyDoubled
    | events.Shortcoming
    | events.SourceFailed
    | events.InventionsRemoved
)

SLOW = 15.0
"""Seconds of an answer and its posting, after which one is a warning with the share of each stage."""


class Background(logging.Handler):
    """Writes of what a library logs only where it comes from: its words may hold somebody's, or a token."""

    def __init__(self, logger: Any) -> None:
        super().__init__(logging.WARNING)
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        if str(record.msg).startswith(UNUSED):
            return
        error = record.exc_info[1] if record.exc_info else None
        kind = type(error).__name__ if error else record.levelname.lower()
        passed = places(error) if error else [f"{record.pathname}:{record.lineno} {record.funcName}"]
        self._logger.warning("background", library=record.name, kind=kind, places=passed)


class LogFile(RotatingFileHandler):
    """A file that no other process writes to: two would cut it off for each other when it is full.

    The first process has footnote.log, the next ones footnote-2.log and so on, each for as long as it runs.
    """

    def __init__(self, folder: Path, size: int) -> None:
        self._locks: int | None = None
        with contextlib.suppress(OSError):  # a full disk: it costs lines, not answers
            self._locks = os.open(folder / LOCKS, os.O_RDWR | os.O_CREAT, 0o600)
        super().__init__(folder / self._free(), maxBytes=size, backupCount=2, encoding="utf-8", delay=True)

    def _free(self) -> str:
        if self._locks is None:
            return NAME
        for number in range(MOST):
            with contextlib.suppress(OSError):  # it is another process's
                fcntl.lockf(self._locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
                return NEXT.format(number + 1) if number else NAME
        return NAME

    def close(self) -> None:
        """Close the file, and let go of it."""
        super().close()
        if self._locks is not None:
            os.close(self._locks)
            self._locks = None


def targets_of(setting: Literal["auto", "file", "stderr", "both"], *, is_bot: bool) -> tuple[Target, ...]:
    """Return where this process logs to; of itself, a bot that no person started at a terminal writes to both."""
    if setting == "auto":
        setting = "both" if is_bot and not sys.stderr.isatty() else "file"
    return ("file", "stderr") if setting == "both" else (setting,)


def logger_to(folder: Path, level: str, targets: Collection[Target] = ("file",), *, size: int = SIZE) -> Any:
    """Return a logger that writes to its *targets*, in the *folder* in files of *size*; it takes over from the last."""
    import structlog

    logging.raiseExceptions = False
    stdlib = logging.getLogger("footnote")
    for old in stdlib.handlers[:]:
        stdlib.removeHandler(old)
        old.close()
    handlers: list[logging.Handler] = [LogFile(folder, size)] if "file" in targets else []
    handlers += [logging.StreamHandler(sys.stderr)] if "stderr" in targets else []
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(message)s"))
        stdlib.addHandler(handler)
    stdlib.setLevel(level.upper())
    stdlib.propagate = False
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=lambda *_: stdlib,
    )
    logger = structlog.get_logger("footnote")
    for name in LIBRARIES:
        library = logging.getLogger(name)
        for old in [each for each in library.handlers if isinstance(each, Background)]:
            library.removeHandler(old)
        library.addHandler(Background(logger))
    return logger


def log_events(logger: Any) -> events.Observer:
    """Return what writes each event as one line of plain values."""

    def observe(event: events.Event) -> None:
        has_failed = isinstance(event, events.StateChanged) and event.error_type in ("retrieval", "generation")
        fields = asdict(event)
        if "question" in fields:
            fields["question"] = str(fields["question"])
        if isinstance(event, events.TokensUsed | events.Answered):
            del fields["usage"]
            fields |= event.usage.model_dump()
        write: Callable[..., Any] = logger.warning if has_failed or isinstance(event, TROUBLES) else logger.info
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(event).__name__).lower()
        write(name, **{name: value for name, value in fields.items() if value is not None})
        if isinstance(event, events.Answered) and (whole := event.total_time_ms + event.posting_time_ms) > SLOW * 1000:
            shares = {stage: f"{took / whole:.0%}" for stage, took in event.stages.items()}
            logger.warning("slow_answer", question=fields["question"], seconds=round(whole / 1000, 1), **shares)

    return observe
