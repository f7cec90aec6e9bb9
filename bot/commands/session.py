"""What every command does around its work: settings, the data folder, the log, the app, and an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import uvloop

from adapters.telemetry import log_events
from bot.data_folder import hold, logger_to
from bot.settings import Settings, read_settings, slips_of_settings
from bot.wiring import DEFAULT_TIMING, App, RetryTiming, assemble
from core.events import Event, MemoryFailed, Observer, ServiceFailed, everyone, unobserved
from core.model import without_controls

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
        told = everyone(log_events(logger_to(folder, settings.log_level)), _tell_once(), observer)
        opened = assemble(settings, memory=memory, observer=told, timing=timing)
        app = runner.run(_enter(opened.__aenter__))
        try:
            yield Session(settings, app, runner, told)
        finally:
            runner.run(opened.__aexit__(None, None, None))


def tell_slips() -> None:
    """Print on standard error which settings seem to be misspelt; others may be somebody else's."""
    for slip in slips_of_settings():
        if slip.meant:
            sys.stderr.write(f"{slip}\n")


def _tell_once() -> Observer:
    """Return an observer that prints once what else went wrong: at the terminal, reader and operator are the same."""
    told: set[str] = set()

    def tell(event: Event) -> None:
        match event:
            case MemoryFailed():
                sentence = (
                    "Answered without memory: the conversation store does not answer. `footnote doctor` says why."
                )
            case ServiceFailed(_, reason):
                sentence = reason
            case _:
                return
        if sentence not in told:
            told.add(sentence)
            sys.stderr.write(f"{without_controls(sentence)}\n")

    return tell


async def _enter(enter: Callable[[], Coroutine[Any, Any, App]]) -> App:
    return await enter()
