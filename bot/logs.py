"""Structured logs: one JSON object a line, in the data folder, so that the terminal stays the reader's."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

NAME = "footnote.log"
SIZE = 2_000_000  # bytes; three files are kept


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
    return structlog.get_logger("footnote")
