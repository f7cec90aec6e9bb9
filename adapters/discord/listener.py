"""Hears what people write on Discord, and puts what is for the bot into the inbox; nothing is answered here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from discord import AutoShardedClient, Guild, MemberCacheFlags, Thread
from discord.abc import GuildChannel

from adapters.discord.inbound import Json, Place, Self, parse, unbundled
from adapters.discord.poster import ChannelPoster, translated
from adapters.discord.recalling import recalled
from adapters.posting import PostingFailed, nonce
from core.errors import InvalidInput, StoreUnavailable
from core.model import Inbound, InboundKind, Message, Signal
from core.ports import Inbox
from core.routing import Action, Decision, Standing, route, signal

HEARD = ("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK")
DIRECT = 1  # the type of a channel between the bot and one person
RECALLED = 20  # messages of a thread that people were having
BUSY = "I can't take questions right now. Please try again in a moment."
WARNING = "⚠️"

_NAMED = re.compile(r"<(?:@&|#)(\d{1,20})>")


class Listener(AutoShardedClient):
    """A client that only receives. Members and messages are not kept in memory: their number has no bound."""

    def __init__(self, *, inbox: Inbox, **options: Any) -> None:
        super().__init__(
            enable_debug_events=True,  # the events as they were sent, which the library's own objects are not
            max_messages=None,
            member_cache_flags=MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            **options,
        )
        self._inbox = inbox

    async def on_socket_raw_receive(self, raw: str | bytes) -> None:
        """Take what the gateway sends."""
        event = json.loads(raw)
        if event.get("t") in HEARD:
            for each in unbundled(event):
                await self._hear(each)

    async def _hear(self, event: Json) -> None:
        data: Json = event["d"]
        place = await self._place(data)
        guild = self.get_guild(int(data["guild_id"])) if data.get("guild_id") else None
        if place is None or self.user is None:
            return
        inbound = parse(event, me=self._me(guild), place=place)
        if inbound is None:
            return
        decision = route(inbound, self._standing(guild, place))
        if not decision.is_for_us:
            return
        before = await self._before(place) if decision.reads_thread else ()
        await self._take(inbound, decision, place, before)

    async def _take(self, inbound: Inbound, decision: Decision, place: Place, before: tuple[Message, ...]) -> None:
        """Put the signal, or say why there is none; who changed or deleted something is told nothing."""
        try:
            found = signal(inbound, decision, before=before)
            if found is not None:
                await self._inbox.put(self._addressed(found, decision))
        except InvalidInput as refused:
            sentence = str(refused)
        except StoreUnavailable:
            sentence = f"{WARNING} {BUSY}"
        else:
            return
        if inbound.kind is InboundKind.WRITTEN:
            await self._say(inbound, place, sentence)

    def _addressed(self, found: Signal, decision: Decision) -> Signal:
        """Leave out the message to open a thread on where none is to be opened."""
        if found.kind != "asked" or found.address is None or decision.action is Action.OPEN_THREAD:
            return found
        return found.model_copy(update={"address": found.address.model_copy(update={"message": None})})

    async def _say(self, inbound: Inbound, place: Place, sentence: str) -> None:
        channel = self.get_partial_messageable(int(place.id))
        poster = ChannelPoster(channel, reply_to=int(inbound.message.id))
        try:
            if sentence.startswith(WARNING):
                await translated(channel.get_partial_message(int(inbound.message.id)).add_reaction(WARNING))
            await poster.post(sentence, nonce(inbound.message, inbound.revision, 0))
        except PostingFailed:
            return  # a place where the bot may say nothing

    async def _before(self, place: Place) -> tuple[Message, ...]:
        """Read what was said before the message that is the question."""
        channel = self.get_partial_messageable(int(place.id))
        lines = await recalled(channel, me=self.user.id if self.user else 0, limit=RECALLED + 1)
        return tuple(lines)[:-1]

    async def _place(self, data: Json) -> Place | None:
        """Say what kind of channel an event is about; threads that were archived have to be asked for."""
        channel_id = int(data["channel_id"])
        if not data.get("guild_id"):
            return Place(str(channel_id), DIRECT)
        channel: object = self.get_channel(channel_id)
        if channel is None:
            try:
                channel = await translated(self.fetch_channel(channel_id))
            except PostingFailed:
                return None
        names = dict(_names(channel, str(data.get("content") or "")))
        if isinstance(channel, Thread):
            return Place(str(channel_id), channel.type.value, str(channel.parent_id), names)
        return Place(str(channel_id), channel.type.value, names=names) if isinstance(channel, GuildChannel) else None

    def _me(self, guild: Guild | None) -> Self:
        role = guild.self_role if guild else None
        return Self(str(self.user.id) if self.user else "", frozenset({str(role.id)} if role else ()))

    def _standing(self, guild: Guild | None, place: Place) -> Standing:
        me = self.user.id if self.user else 0
        channel = self.get_channel(int(place.id))
        is_ours = isinstance(channel, Thread) and channel.owner_id == me
        may_open = place.has_threads
        if guild is not None and guild.me is not None and isinstance(channel, GuildChannel):  # pyright: ignore[reportUnnecessaryComparison] - it is None in a guild that is not ready
            may_open = may_open and channel.permissions_for(guild.me).create_public_threads
        return Standing(
            me=str(me),
            threads_we_own={place.id} if is_ours else (),
            reads_all=self.intents.message_content,
            opens_threads=may_open,
        )


def _names(channel: object, content: str) -> Iterator[tuple[str, str]]:
    """Give the names of the roles and channels that a text speaks of."""
    guild = channel.guild if isinstance(channel, GuildChannel | Thread) else None
    for named in _NAMED.findall(content) if guild else ():
        found = guild.get_role(int(named)) or guild.get_channel_or_thread(int(named)) if guild else None
        if found is not None:
            yield named, found.name
