"""Where an event happened on Discord: what the client knows of it, what can be read around it, and replies to it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from discord import AutoShardedClient, ForumChannel, Guild, InvalidData, Thread
from discord.abc import GuildChannel

from adapters.chat.intake import BotIdentity, ChatEvent, Rights
from adapters.discord.events import DIRECT, ChannelInfo, Json, answered, line, parse
from adapters.discord.permissions import alert, rights_in
from adapters.discord.poster import ChannelPoster, translated
from core.errors import PostingFailed
from core.messages import WARNING
from core.model import Inbound, Message, MessageRef

if TYPE_CHECKING:
    from core.ports import Memo

CHAIN = 5  # messages: the one replied to, and those before it
RECALLED = 20  # messages of a thread that people were having
_STARTER = 21  # the type of the message that stands in a thread for the one that it was opened on
_NAMED = re.compile(r"<(?:@&|#)(\d{1,20})>")


class DiscordChannel:
    """Implements `Channel` for one event; what cannot be read is left out."""

    def __init__(self, client: AutoShardedClient, event: Json, me: BotIdentity, info: ChannelInfo) -> None:
        self._client = client
        self._event = event
        self._me = me
        self._info = info

    async def complete(self, inbound: Inbound) -> Inbound:
        """Return the event with the message that it replies to, which Discord leaves out at times."""
        data = self._event["d"]
        if not answered(data) or "referenced_message" in data:
            return inbound
        self._event = {**self._event, "d": {**data, "referenced_message": await self._fetched(data)}}
        return parse(self._event, me=self._me, place=self._info) or inbound

    async def context(self, inbound: Inbound, *, recalls: bool) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
        """Return what was said before a message, if it *recalls* that, and what it replies to."""
        chain = await self._chain(self._event["d"])
        known = {said["id"] for said in chain}
        before = [said for said in await self._recalled(inbound) if said["id"] not in known] if recalls else []
        return self._lines(before), self._lines(chain)

    def below(self, message: MessageRef) -> ChannelPoster:
        """Return what replies to a message in the channel or thread that it stands in."""
        return ChannelPoster(self._client.get_partial_messageable(int(self._info.id)), reply_to=int(message.id))

    async def warn(self, message: MessageRef) -> None:
        """Mark a message as one that something went wrong with. Raises `PostingFailed`."""
        channel = self._client.get_partial_messageable(int(self._info.id))
        await translated(channel.get_partial_message(int(message.id)).add_reaction(WARNING))

    def _lines(self, messages: Sequence[Json]) -> tuple[Message, ...]:
        return tuple(filter(None, (line(said, me=self._me, place=self._info) for said in messages)))

    async def _chain(self, data: Json) -> Sequence[Json]:
        """Return the message replied to and those before it, oldest first."""
        said: list[Json] = []
        while len(said) < CHAIN and answered(data):
            before = data["referenced_message"] if "referenced_message" in data else await self._fetched(data)
            if before is None:
                break
            said.append(before)
            data = before
        return said[::-1]

    async def _recalled(self, inbound: Inbound) -> Sequence[Json]:
        """Return what was said last in the place before a message, oldest first."""
        reading = self._client.http.logs_from(int(self._info.id), RECALLED, before=int(inbound.message.id))
        try:
            found = cast("list[dict[str, Any]]", await translated(reading))
        except PostingFailed:
            return ()
        whole = [each.get("referenced_message") or each if each.get("type") == _STARTER else each for each in found]
        return whole[::-1]

    async def _fetched(self, data: Json) -> Json | None:
        """Return the message that one replies to; None if it is gone, or may not be read."""
        try:
            found = await translated(self._client.http.get_message(int(self._info.id), int(answered(data))))
        except PostingFailed:
            return None
        return cast("dict[str, Any]", found)


class EventReader:
    """Reads gateway events, with what the client knows of where they happened."""

    def __init__(self, client: AutoShardedClient, memo: Memo) -> None:
        self._client = client
        self._memo = memo

    def line(self, event: Json) -> str:
        """Name what has to be heard in order: a thread, or in a channel one message, which would open its own."""
        data = event["d"]
        return str(data["id"] if isinstance(self._known(data), GuildChannel) else data["channel_id"])

    async def read(self, event: Json, *, is_late: bool = False) -> ChatEvent | None:
        """Return what an event means; None where nobody said anything, or the bot may not look."""
        data = event["d"]
        channel = self._known(data)
        if channel is None and data.get("guild_id"):  # threads that were archived are asked for
            channel = await self._fetched(int(data["channel_id"]))
            if channel is None:
                return None
        info, me = _described(channel, data), self._identity(data)
        inbound = parse(event, me=me, place=info)
        if inbound is None:
            return None
        rights = rights_in(channel) if channel is not None else Rights()
        is_post = isinstance(channel, Thread) and isinstance(channel.parent, ForumChannel)
        is_first, owner = info.id == inbound.message.id, _owner_of(channel)
        goes_on = is_post and not is_first and owner == inbound.author_id
        return ChatEvent(
            inbound=inbound,
            channel=DiscordChannel(self._client, event, me, info),
            at=inbound.thread.model_copy(update={"thread": info.id}),
            me=me.user_id,
            rights=replace(rights, opens_threads=info.has_threads and rights.opens_threads),
            reads_all=self._client.intents.message_content,
            owns_thread=owner == me.user_id,
            opening=inbound.message.model_copy(update={"id": info.id}) if goes_on else None,
            in_forum=is_post,
            is_new_post=is_post and is_first,
            comes_again=is_late,
            is_late=is_late,
            alert=self._alert(channel, info, rights),
        )

    def _alert(
        self, channel: GuildChannel | Thread | None, info: ChannelInfo, rights: Rights
    ) -> Callable[[], Awaitable[None]] | None:
        if channel is None or not rights.missing:
            return None
        return partial(alert, self._client, self._memo, channel.guild, info.parent_id or info.id, rights.missing)

    def _known(self, data: Json) -> GuildChannel | Thread | None:
        guild = self._guild(data)
        return guild.get_channel_or_thread(int(data["channel_id"])) if guild else None

    def _guild(self, data: Json) -> Guild | None:
        return self._client.get_guild(int(data["guild_id"])) if data.get("guild_id") else None

    async def _fetched(self, channel_id: int) -> GuildChannel | Thread | None:
        try:
            channel = await translated(self._client.fetch_channel(channel_id))
        except (PostingFailed, InvalidData):
            return None  # a place that the bot may not see, or of a kind that nobody knows yet
        return channel if isinstance(channel, GuildChannel | Thread) else None

    def _identity(self, data: Json) -> BotIdentity:
        guild, user = self._guild(data), self._client.user
        role = guild.self_role if guild else None
        return BotIdentity(str(user.id) if user else "", frozenset({str(role.id)} if role else ()))


def _described(channel: GuildChannel | Thread | None, data: Json) -> ChannelInfo:
    """Return the place as events are read with; what is in no server is a direct message."""
    channel_id = str(data["channel_id"])
    if channel is None:
        return ChannelInfo(channel_id, DIRECT)
    names = dict(_names(channel, str(data.get("content") or "")))
    is_thread = isinstance(channel, Thread)
    is_first = is_thread and isinstance(channel.parent, ForumChannel) and channel_id == str(data.get("id"))
    title = " ".join(channel.name.split()) if is_first else ""
    return ChannelInfo(channel_id, channel.type.value, str(channel.parent_id) if is_thread else "", names, title)


def _owner_of(channel: GuildChannel | Thread | None) -> str:
    """Return who has opened a thread; empty for what is none."""
    return str(channel.owner_id) if isinstance(channel, Thread) else ""


def _names(channel: GuildChannel | Thread, content: str) -> Iterator[tuple[str, str]]:
    """Yield the names of the roles and channels that a text speaks of."""
    for named in _NAMED.findall(content):
        found = channel.guild.get_role(int(named)) or channel.guild.get_channel_or_thread(int(named))
        if found is not None:
            yield named, found.name
