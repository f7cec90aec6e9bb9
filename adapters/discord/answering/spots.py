"""Finds where an answer goes: a thread that is opened on the question, the place itself, or a command's response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from adapters.chat.posting import Posted, Poster
from adapters.discord.answering.lost import LostPost, Search, forgotten
from adapters.discord.answering.response_poster import DRAFTS_PER_SECOND, Doubts, InteractionPoster, ResponsePoster
from adapters.discord.answering.thread_name import thread_name
from adapters.discord.buttons import controls_view
from adapters.discord.client.poster import ChannelPoster, translated
from adapters.discord.client.throttle import Throttle
from core.errors import Gone, RateLimited, Rejected
from core.events import Observer, PossiblyDoubled, unobserved
from core.model import Claim, Delivery, Interaction, MessageRef, Question

if TYPE_CHECKING:
    from discord import AutoShardedClient

    from adapters.discord.client.poster import Buttons, Channel

THREAD_EXISTS = 160004
HIDDEN_AFTER = 1_440  # minutes without a message
WAY_LASTS = timedelta(minutes=10)  # as long is the way to a response known at least; Discord's ends after 15


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an answer goes; `channel` is the one that its messages stand in, `posted` those that are there already."""

    poster: Poster
    channel: str
    posted: tuple[Posted, ...] = ()
    is_response: bool = False
    shows_waiting: bool = False  # as Discord does by itself for a command

    def delivery(self, claim: Claim, messages: tuple[Posted, ...]) -> Delivery:
        """Name messages with the channel that they stand in, which need not be the thread that the question opened."""
        place = claim.thread.model_copy(update={"thread": self.channel})
        return Delivery(messages=tuple(MessageRef(thread=place, id=message.id) for message in messages))


class Spots:
    """Finds them by REST; the client is logged in. The *observer* hears of messages that may stand there twice."""

    def __init__(
        self,
        client: AutoShardedClient,
        *,
        now: Callable[[], datetime],
        observer: Observer = unobserved,
    ) -> None:
        self._client = client
        self._now = now
        self._observer = observer
        self._drafts = Throttle(DRAFTS_PER_SECOND)

    def channel(self, channel_id: str) -> Channel:
        """Return a channel, of which nothing but the id is known."""
        return self._client.get_partial_messageable(int(channel_id))

    async def find(self, claim: Claim) -> Spot | None:
        """Return the spot; None where an answer for one person only cannot be shown any more.

        Raises `PostingFailed` if Discord cannot be reached.
        """
        if claim.address is not None and claim.address.interaction is not None:
            return self._response(claim, claim.address.interaction)
        if claim.question.visibility == "private":
            return None
        if claim.delivery.messages:
            return self._spot(claim, claim.delivery.messages[0].thread.thread)
        if await self._is_late_response(claim):
            return replace(self._spot(claim, place_of(claim.message)), posted=(Posted(claim.message.id),))
        if claim.address is not None and claim.address.thread != claim.thread:  # no thread can be opened there
            return self._spot(claim, claim.address.thread.thread, reply_to=claim.address.message)
        has_thread = not opens_thread(claim) or await self.open_thread(claim.message, claim.question.text)
        here = claim.thread
        return self._spot(claim, here.thread) if has_thread else self._spot(claim, here.channel, reply_to=claim.message)

    async def open_thread(self, message: MessageRef, question: str) -> bool:
        """Open the thread of a question on a message; one that is there already, by whomever, is the one.

        Gives False where it may not be opened, or not soon.
        """
        from discord import HTTPException

        # A message object would want the whole guild, which only a client that is connected to the gateway knows.
        opening = self._client.http.start_thread_with_message(
            int(message.thread.channel),
            int(message.id),
            name=thread_name(question),
            auto_archive_duration=HIDDEN_AFTER,
            reason="A question to the bot",
        )
        try:
            await translated(opening, gone=())
        except RateLimited:
            return False
        except Rejected as refused:
            cause = refused.__cause__
            return isinstance(cause, HTTPException) and cause.code == THREAD_EXISTS
        return True

    def _spot(self, claim: Claim, channel: str, *, reply_to: MessageRef | None = None) -> Spot:
        return Spot(self._poster(claim, channel, reply_to), channel, _posted(claim.delivery))

    def _poster(self, claim: Claim, channel_id: str, reply_to: MessageRef | None) -> Poster:
        """Return what posts in a channel; it looks for what may be there already if the nonce is too old to tell."""
        channel = self.channel(channel_id)
        poster = ChannelPoster(
            channel, reply_to=int(reply_to.id) if reply_to else None, buttons=buttons_for(claim.question)
        )
        since = forgotten(claim, self._now())
        return poster if since is None else LostPost(poster, claim, self.search(channel_id, since), self._doubt(claim))

    def search(self, channel_id: str, since: datetime) -> Search:
        """Return where and since when something of the bot's may stand unknown."""
        return Search(self.channel(channel_id), self.me, since)

    @property
    def me(self) -> int:
        """Who the bot is."""
        return self._client.user.id if self._client.user else 0

    def _doubt(self, claim: Claim) -> Callable[[], object]:
        return partial(self._observer, PossiblyDoubled(claim.message))

    async def _is_late_response(self, claim: Claim) -> bool:
        """Return whether a question stands in a message of the bot's: the response to a command that is too old.

        Discord shows it as an answer that is still to come, and lets the bot edit it as any message of its own.
        """
        if self._now() - claim.question.asked_at < WAY_LASTS:
            return False
        asking = self.channel(place_of(claim.message)).fetch_message(int(claim.message.id))
        try:
            return (await translated(asking)).author == self._client.user
        except (Gone, Rejected):
            return False

    def _response(self, claim: Claim, interaction: Interaction) -> Spot | None:
        """Return the response that Discord keeps for a command; what was said first in it is the response itself."""
        is_private = claim.question.visibility == "private"
        if is_private and not self._is_alive(claim):
            return None
        first, channel, buttons = claim.message.id, place_of(claim.message), buttons_for(claim.question)
        own = self._poster(claim, channel, claim.message)
        speaking = InteractionPoster(
            self._client,
            interaction,
            first,
            is_private=is_private,
            drafts=self._drafts,
            buttons=buttons,
            doubts=Doubts(self._doubt(claim), is_open=claim.delivery.trying is not None),
        )
        poster = ResponsePoster(
            speaking,
            None if is_private else own,
            first,
            is_alive=partial(self._is_alive, claim),
        )
        posted = _posted(claim.delivery) or (Posted(first),)
        return Spot(poster, channel, posted, is_response=True, shows_waiting=self._is_alive(claim))

    def _is_alive(self, claim: Claim) -> bool:
        return claim.address is not None and claim.address.at(self._now()).interaction is not None


def buttons_for(question: Question) -> Buttons:
    """Return what draws the buttons of an answer."""
    return lambda controls: controls_view(controls, question)


def opens_thread(claim: Claim) -> bool:
    """Return whether the answer has a thread opened on the question, which then bears the message's id."""
    address = claim.address
    return address is not None and address.message == claim.message and is_first(claim.message)


def is_first(message: MessageRef) -> bool:
    """Return whether a thread begins with the message: it bears the message's id."""
    return message.thread.thread == message.id


def place_of(message: MessageRef) -> str:
    """Return the channel that a message stands in; the one that a thread is opened on stands outside of it."""
    return message.thread.channel if is_first(message) else message.thread.thread


def _posted(delivery: Delivery) -> tuple[Posted, ...]:
    return tuple(Posted(message.id) for message in delivery.messages)
