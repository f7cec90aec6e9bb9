"""Reads what was said before a question in a thread that people were having."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, cast

from adapters.slack.client.failures import ask
from adapters.slack.inbound.event import Json, Self, line
from core.errors import PostingFailed
from core.model import Inbound, Message

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

RECALLED = 20  # messages, the first one of the thread among them
PAGE = 999  # messages: as many as Slack gives
PATIENCE = 0.45  # seconds; Slack has to hear soon that the question has arrived


async def said_before(client: AsyncWebClient, inbound: Inbound, me: Self) -> tuple[Message, ...]:
    """Give the first message of a thread and the last ones before a message, oldest first.

    Nothing, where that takes long or may not be read: a question without it is better than one that comes late.
    """
    try:
        async with asyncio.timeout(PATIENCE):
            said = [one async for one in _replies(client, inbound)]
    except (PostingFailed, TimeoutError):
        return ()
    names: dict[str, str] = {}
    lines = [line(one, me=me, names=names) for one in (*said[:1], *said[1:][1 - RECALLED :])]
    return tuple(filter(None, lines))


async def _replies(client: AsyncWebClient, inbound: Inbound) -> AsyncGenerator[Json]:
    """Give a thread from its beginning, which is the only end where Slack lets one begin."""
    cursor = ""
    while True:
        found = await ask(
            client,
            "conversations.replies",
            channel=inbound.thread.channel,
            ts=inbound.thread.thread,
            latest=inbound.message.id,
            limit=PAGE,
            cursor=cursor or None,
        )
        for number, one in enumerate(cast("list[Json]", found.get("messages") or ())):
            if number or not cursor:  # the first message of a thread comes with every page
                yield one
        cursor = str(cast("Json", found.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return
