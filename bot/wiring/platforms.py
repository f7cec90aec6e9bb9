"""The platforms that are set up."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bot.settings import Settings
from bot.wiring.check import Check
from bot.wiring.discord import Discord
from bot.wiring.slack import PLATFORM as SLACK
from bot.wiring.slack import Slack, check_slack
from bot.wiring.speaker import Platform
from bot.wiring.stores import Stores
from core.events import Observer, PlatformWaited
from core.model import Outline

if TYPE_CHECKING:
    from aiohttp.web import RouteDef


@contextlib.asynccontextmanager
async def open_platforms(
    settings: Settings,
    observer: Observer,
    stores: Stores,
    outline: Callable[[], Awaitable[Outline]],
    signs: Sequence[RouteDef] = (),
) -> AsyncGenerator[tuple[Platform, ...]]:
    """Give what is set up; *outline* says what there is to search. What they share is open until the context ends.

    The *signs* of life of this process are given by each of them that is a server.
    """
    async with contextlib.AsyncExitStack() as stack:
        found: list[Platform] = []
        if settings.discord_token is not None:
            found.append(Discord(settings, observer, stores.policies))
        if settings.has_slack:
            from adapters.slack.client.connection import open_session

            waited = partial(_wait, observer, SLACK)
            session = await stack.enter_async_context(open_session(waited))
            found.append(Slack(settings, observer, session, stores.vault, outline, signs))
        yield tuple(found)


def _wait(observer: Observer, platform: str, seconds: float) -> None:
    observer(PlatformWaited(platform, seconds))


def checks(settings: Settings, observer: Observer) -> Iterator[Check]:
    """Give what the doctor looks at."""
    if settings.discord_token is not None:
        yield Discord(settings, observer).check()
    if settings.has_slack:
        yield Check("slack", lambda: check_slack(settings), "SLACK_API_URL" if settings.slack_api_url else None)
