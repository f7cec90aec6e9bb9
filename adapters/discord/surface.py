"""Discord as a surface: answers appear in a thread on the question, or in place, message by message."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from adapters.discord.poster import ChannelPoster, meaning, translated
from adapters.discord.recalling import recalled
from adapters.discord.render import MENTION_TO_CONTINUE, render_answer, render_draft
from adapters.discord.thread_name import thread_name
from adapters.drafts import Draft, Pace, Timer
from adapters.drawing import draw
from adapters.posting import Gone, Posted, PostingFailed, Refused, nonce
from core.model import (
    Claim,
    Delivery,
    Message,
    MessageRef,
    Progress,
    Reaction,
    ThreadRef,
    Withdrawal,
)

if TYPE_CHECKING:
    from discord import AutoShardedClient

    from adapters.discord.poster import Channel

EMOJI = {Reaction.WARNING: "⚠️"}
THREAD_EXISTS = 160004
LOOKED_AT = 20  # messages below an answer
HIDDEN_AFTER = 1_440  # minutes without a message


class DiscordSurface:
    """Draws answers by REST; it needs a client that is logged in, and none that is connected to the gateway."""

    def __init__(
        self,
        client: AutoShardedClient,
        *,
        reads_all: bool = False,
        pace: Pace | None = None,
        timer: Timer | None = None,
    ) -> None:
        """With *reads_all* off, the first answer in a thread says how to go on."""
        self._client = client
        self._reads_all = reads_all
        self._pace = pace or Pace()
        self._timer = timer or Timer()

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Open the thread if there is to be one, show the answer while it comes, and end with the whole of it."""
        poster = await self._poster(claim)
        nonces = partial(nonce, claim.message, claim.question.revision)
        posted = [Posted(message.id) for message in claim.delivery.messages]
        async with Draft(poster, nonces, posted=posted, pace=self._pace, timer=self._timer) as draft:
            await draw(progress, draft, sketch=render_draft, whole=partial(render_answer, hint=self._hint(claim)))
            messages = tuple(MessageRef(thread=claim.thread, id=message.id) for message in draft.messages)
        return Delivery(messages=messages)

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Take back what was posted, unless somebody has said something below it."""
        poster = ChannelPoster(self._channel(withdrawal.thread.thread))
        if await self._has_replies(withdrawal):
            return
        for message in withdrawal.delivery.messages:
            with suppress(Gone, Refused):
                await poster.delete(message.id)

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Mark a message; one that is gone, or may not be marked, is left as it is."""
        channel = self._channel(_place_of(to))
        message = channel.get_partial_message(int(to.id))
        try:
            await translated(message.add_reaction(EMOJI[reaction]))
        except PostingFailed:
            return

    async def recall(self, thread: ThreadRef, *, limit: int) -> Sequence[Message]:
        """Read the newest messages of a thread, oldest first; nothing where the bot may not read."""
        me = self._client.user.id if self._client.user else 0
        return await recalled(self._channel(thread.thread), me=me, limit=limit)

    async def _has_replies(self, withdrawal: Withdrawal) -> bool:
        """Say whether other people have written in the thread since the answer."""
        if not withdrawal.delivery.messages:
            return False
        from discord import Object

        first = int(withdrawal.delivery.messages[0].id)
        said = self._channel(withdrawal.thread.thread).history(limit=LOOKED_AT, after=Object(first))
        try:
            return bool([message async for message in said if not message.author.bot])
        except Exception as error:
            if meaning(error) is None:
                raise
            return False

    async def _poster(self, claim: Claim) -> ChannelPoster:
        """Find where the answer goes; without the right to open a thread it goes below the question."""
        opens = claim.address is not None and claim.address.message == claim.message and _opens_thread(claim.message)
        if not opens or claim.delivery.messages or await self._open_thread(claim):
            return ChannelPoster(self._channel(claim.thread.thread))
        return ChannelPoster(self._channel(claim.thread.channel), reply_to=int(claim.message.id))

    async def _open_thread(self, claim: Claim) -> bool:
        """Open the thread on the question; one that is there already, by whomever, is the one."""
        from discord import Forbidden, HTTPException

        try:
            # A message object would want the whole guild, which only a client that is connected to the gateway knows.
            await self._client.http.start_thread_with_message(
                int(claim.thread.channel),
                int(claim.message.id),
                name=thread_name(claim.question.text),
                auto_archive_duration=HIDDEN_AFTER,
                reason="A question to the bot",
            )
        except Forbidden:
            return False
        except HTTPException as error:
            return error.code == THREAD_EXISTS
        return True

    def _channel(self, channel_id: str) -> Channel:
        return self._client.get_partial_messageable(int(channel_id))

    def _hint(self, claim: Claim) -> str:
        is_first = _opens_thread(claim.message)
        return MENTION_TO_CONTINUE if is_first and not self._reads_all else ""


def _opens_thread(message: MessageRef) -> bool:
    """Say whether a thread was to be opened on the message: it bears the message's id."""
    return message.thread.thread == message.id


def _place_of(message: MessageRef) -> str:
    """Give the channel that a message stands in; the one that a thread was opened on stands outside of it."""
    return message.thread.channel if _opens_thread(message) else message.thread.thread
