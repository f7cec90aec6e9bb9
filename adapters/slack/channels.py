"""Where an event happened on Slack: what can be read before it, and replies to it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from adapters.chat.intake import BotIdentity, ChatEvent
from adapters.slack.api import ask, next_cursor, tell
from adapters.slack.events import Json, line, parse
from adapters.slack.poster import ThreadPoster
from adapters.slack.recovery import Place
from core.errors import PostingFailed
from core.model import Inbound, Message, MessageRef, Setting

if TYPE_CHECKING:
    from adapters.slack.workspaces import Workspace

REACTION = "warning"
RECALLED = 20  # messages, the first one of the thread among them
PAGE = 999  # messages: as many as Slack gives
LONGEST_READ = 0.45  # seconds; Slack has to hear soon that the question has arrived


@dataclass(frozen=True, slots=True)
class SlackChannel:
    """Implements `Channel` for the events of a workspace."""

    workspace: Workspace
    me: BotIdentity

    async def complete(self, inbound: Inbound) -> Inbound:
        """Return the event as it is: Slack leaves nothing out."""
        return inbound

    async def context(self, inbound: Inbound, *, recalls: bool) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
        """Return the first message of a thread and the last ones before a message; Slack's replies quote nothing.

        Nothing, where that takes long or may not be read: a question without it is better than one that comes late.
        """
        if not recalls:
            return (), ()
        try:
            async with asyncio.timeout(LONGEST_READ):
                said = await self._said_before(inbound)
        except (PostingFailed, TimeoutError):
            return (), ()
        names: dict[str, str] = {}
        lines = [line(one, me=self.me, names=names) for one in (*said[:1], *said[1:][1 - RECALLED :])]
        return tuple(filter(None, lines)), ()

    def below(self, message: MessageRef) -> ThreadPoster:
        """Return what replies to a message in its thread."""
        place = Place(self.workspace, message.thread.channel, message.thread.thread, message.id)
        return ThreadPoster(place)

    async def warn(self, message: MessageRef) -> None:
        """Mark a message as one that something went wrong with. Raises `PostingFailed`."""
        target = {"channel": message.thread.channel, "timestamp": message.id}
        await tell(self.workspace.client, "reactions.add", name=REACTION, **target)

    async def _said_before(self, inbound: Inbound) -> list[Json]:
        """Return a thread from its beginning, which is the only end where Slack lets one begin."""
        thread = inbound.message.thread
        where = {"channel": thread.channel, "ts": thread.thread, "latest": inbound.message.id}
        said: list[Json] = []
        cursor: str | None = None
        while cursor != "":
            found = await ask(self.workspace.client, "conversations.replies", **where, limit=PAGE, cursor=cursor)
            page = cast("list[Json]", found.get("messages") or [])
            said += page[1:] if cursor else page  # the first message of a thread comes with every page
            cursor = next_cursor(found)
        return said


def read_event(
    event: Json, workspace: Workspace, *, comes_again: bool = True, is_late: bool = False
) -> ChatEvent | None:
    """Return what an event means; None where no person wrote, changed or deleted words of their own.

    A mention in a channel comes as two events, of which one is to say something about.
    """
    me = BotIdentity(workspace.bot_user_id, bot_id=workspace.bot_id, workspace=workspace.name)
    inbound = parse(event, me=me)
    if inbound is None:
        return None
    said = cast("Json", event.get("message") or event)
    root = MessageRef(thread=inbound.message.thread, id=inbound.message.thread.thread)
    comes_twice = me.user_id in inbound.mentions and inbound.setting is not Setting.DIRECT
    return ChatEvent(
        inbound=inbound,
        channel=SlackChannel(workspace, me),
        at=inbound.message.thread,
        me=me.user_id,
        owns_thread=said.get("parent_user_id") == me.user_id,
        opening=root if inbound.setting is Setting.THREAD else None,
        comes_again=comes_again,
        is_late=is_late,
        speaks=event.get("type") == "app_mention" or not comes_twice,
    )
