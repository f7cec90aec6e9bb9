"""`footnote run`: the bot, until it is stopped."""

from __future__ import annotations

import sys
from collections.abc import Collection

from bot.app import Bot
from bot.commands.ask import check_searchable
from bot.commands.session import Session, session, tell_slips
from bot.health import Health
from bot.metrics import Metrics
from bot.outcome import OK
from bot.roles import Role, shares
from bot.settings import read_settings
from bot.wiring import RetryTiming
from core.events import Connected, ConnectionLost, Event, Observer, PlatformFailed, everyone, unobserved
from core.model import Scope, without_controls

CROWDED = RetryTiming(breath=0.005)  # the longest, 0.7 seconds, with 140 answers at once


def run_bot(named: Collection[Role], *, observer: Observer = unobserved) -> int:
    """Listen and answer; a first signal stops in good order, a second one at once. The *observer* hears of events."""
    settings = read_settings()
    tell_slips()  # first, since a misspelt token is why a platform is missing
    chosen = shares(named, settings)
    metrics = None if settings.health_port is None else Metrics()
    heard = everyone(_tell, observer, metrics.observe if metrics else unobserved)
    with session("footnote run", memory=True, tells_slips=False, timing=CROWDED, observer=heard) as opened:
        opened.run(check_searchable(opened.app.index, Scope()))
        opened.run(_work(opened, chosen, Health(metrics)))
    return OK


async def _work(opened: Session, chosen: Collection[Role], health: Health) -> None:
    stores = opened.app.stores
    assert stores is not None  # noqa: S101 - the session was opened with memory
    bot = Bot(opened.settings, opened.app.agent, stores, opened.observer, opened.app.index.outline, health)
    await bot.run(chosen)


def _tell(event: Event) -> None:
    """Print what the person who started it wants to see; everything else is in the log."""
    match event:
        case Connected(platform, name):
            line = f"{platform}: connected as {name}. Ctrl-C stops."
        case ConnectionLost(platform, attempt, reason):
            line = f"{platform}: no connection ({reason}); trying again, attempt {attempt}."
        case PlatformFailed(platform, reason):
            line = f"{platform}: not connected. {reason}"
        case _:
            return
    sys.stderr.write(f"{without_controls(line)}\n")
