"""What every command does around its work: settings, the data folder and its log, the app, and an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import logging
import os
import sys
from collections.abc import Coroutine, Generator
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, TypeVar

import uvloop

from adapters.telemetry import log_events
from bot.outcome import places
from bot.settings import Settings, read_settings, slips_of_settings
from bot.wiring import DEFAULT_TIMING, App, RetryTiming, assemble
from core.errors import Misconfigured, Unavailable
from core.events import (
    Connected,
    ConnectionLost,
    MemoryFailed,
    Observer,
    PlatformFailed,
    ServiceFailed,
    everyone,
    only,
    unobserved,
)
from core.model import without_controls

IN_USE = (
    "The data folder {} is in use by {}. Wait until it ends or stop it, or set FOOTNOTE_DATA_DIR to another folder."
)


class DataFolderInUse(Unavailable):
    """Another process works with the data folder; the message says which and what to do."""


@contextlib.contextmanager
def hold(folder: Path, *, command: str, alone: bool = True) -> Generator[Path]:
    """Own *folder* until the end; the kernel lets go of it even when this process is killed.

    Processes that need not be *alone*, since what they share lies on servers, own it together.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / "owner.json", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Misconfigured(
            f"The data folder {folder} cannot be written ({os.strerror(error.errno or 0)}). "
            "Set FOOTNOTE_DATA_DIR to a folder that can."
        ) from error
    try:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError as error:
            who = "another process"
            with contextlib.suppress(ValueError, KeyError, TypeError):
                owner = json.loads(os.read(descriptor, 1_000))
                who = f"`{owner['command']}` (process {owner['pid']})"
            raise DataFolderInUse(IN_USE.format(folder, who)) from error
        with contextlib.suppress(OSError):  # a full disk: the lock holds, only its owner stays unnamed
            os.ftruncate(descriptor, 0)
            os.write(descriptor, json.dumps({"pid": os.getpid(), "command": command}).encode())
        yield folder
    finally:
        os.close(descriptor)


WITHOUT_MEMORY = "Answered without memory: the conversation store does not answer. `footnote doctor` says why."
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
    """Return a logger that writes into *folder*; a disk that is full costs lines, not answers."""
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


Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Session:
    """An open app and the loop that runs its work."""

    settings: Settings
    app: App
    runner: asyncio.Runner
    observer: Observer

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do asynchronous work; Ctrl-C cancels it and raises `KeyboardInterrupt`."""
        return self.runner.run(work)


@contextlib.contextmanager
def session(
    command: str,
    *,
    memory: bool = False,
    tells_slips: bool = True,
    timing: RetryTiming = DEFAULT_TIMING,
    observer: Observer = unobserved,
) -> Generator[Session]:
    """Open everything a command needs, and close it again however the command ends; *observer* hears of events too."""
    settings = read_settings()
    if tells_slips:
        tell_slips()
    alone = not settings.is_shared
    with (
        hold(settings.data_dir, command=command, alone=alone) as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        told = everyone(log_events(logger_to(folder, settings.log_level)), _teller(), observer)
        opened = contextlib.AsyncExitStack()
        app = runner.run(opened.enter_async_context(assemble(settings, memory=memory, observer=told, timing=timing)))
        try:
            yield Session(settings, app, runner, told)
        finally:
            runner.run(opened.aclose())


def tell_slips() -> None:
    """Print on standard error which settings seem to be misspelt; others may be somebody else's."""
    for slip in slips_of_settings():
        if slip.meant:
            sys.stderr.write(f"{slip}\n")


def _teller() -> Observer:
    """Return an observer that prints what somebody at the terminal wants to see; everything else is in the log.

    At the terminal, reader and operator are the same: what else went wrong is told them too, once.
    """
    told: set[str] = set()
    known: set[str] = set()  # platforms

    def tell(event: Connected | ConnectionLost | PlatformFailed | MemoryFailed | ServiceFailed) -> None:
        match event:
            case Connected(platform, name):
                is_first = bool(name) and platform not in known
                known.add(platform)
                line = (
                    f"{platform}: connected as {name}. Ctrl-C stops." if is_first else f"{platform}: connected again."
                )
            case ConnectionLost(platform, reason):
                line = f"{platform}: no connection ({reason}). Trying again."
            case PlatformFailed(platform, reason):
                line = f"{platform}: not connected. {reason}"
            case MemoryFailed() | ServiceFailed():
                line = event.reason if isinstance(event, ServiceFailed) else WITHOUT_MEMORY
                if line in told:
                    return
                told.add(line)
        sys.stderr.write(f"{without_controls(line)}\n")

    return only(tell, Connected, ConnectionLost, PlatformFailed, MemoryFailed, ServiceFailed)
