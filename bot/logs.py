"""Structured logs: one JSON object a line, in the data folder, so that the terminal stays the reader's."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from bot.traces import places

NAME = "footnote.log"
SIZE = 2_000_000  # bytes; three files are kept


LIBRARIES = ("discord", "slack_bolt", "slack_sdk", "aiohttp", "asyncio")
"""Those that log what went wrong in the background, where nobody hears it as an exception."""


class Background(logging.Handler):
    """Writes of what a library logs only where it comes from: its words may hold somebody's, or a token."""

    def __init__(self, logger: Any) -> None:
        super().__init__(logging.WARNING)
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        error = record.exc_info[1] if record.exc_info else None
        kind = type(error).__name__ if error else record.levelname.lower()
        passed = places(error) if error else [f"{record.pathname}:{record.lineno} {record.funcName}"]
        self._logger.warning("background", library=record.name, kind=kind, places=passed)


def logger_to(folder: Path, level: str) -> Any:
    """Give a logger that writes into *folder*; a disk that is full costs lines, not answers."""
    import structlog

    logging.raiseExceptions = False
    handler = RotatingFileHandler(folder / NAME, maxBytes=SIZE, backupCount=2, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(message)s"))
    stdlib = logging.getLogger("footnote")
    for old in stdlib.handlers[:]:
        stdlib.removeHandler(old)
        old.close()
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
