"""Hears what people write on Discord, and has it taken in, with what is known of where it happened.

Nothing is answered here but where a question cannot be taken.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, cast

from discord import AutoShardedClient, ForumChannel, Guild, InvalidData, MemberCacheFlags, RawThreadDeleteEvent, Thread
from discord.abc import GuildChannel

from adapters.chat.background import BackgroundTasks
from adapters.chat.catch_up import CatchUp, LateEvent
from adapters.chat.commands import spoken
from adapters.chat.files import read_files
from adapters.chat.intake import ChatEvent, Intake, Rights
from adapters.chat.platform import REMARK, BotIdentity, FoundAnswer, Part, nonce
from adapters.chat.registry import carried_out
from adapters.chat.services import Presence, settle_communities
from adapters.discord.events import (
    DIRECT,
    HAVE_THREADS,
    PLATFORM,
    ChannelInfo,
    Json,
    answered,
    files_in,
    forwards,
    has_more,
    line,
    parse,
)
from adapters.discord.files import LONGEST_FILE, fetch
from adapters.discord.history import AT_ONCE, DiscordHistory, find_answer, remove_rest
from adapters.discord.interactions import by_word
from adapters.discord.poster import ChannelPoster, alert, rights_in, translated, welcome
from adapters.retry import QUICK
from core.errors import PostingFailed, StoreUnavailable
from core.messages import WARNING
from core.model import ChannelRef, Inbound, Message, MessageRef, Setting, ThreadRef, WorkspaceRef

if TYPE_CHECKING:
    from discord import Member

    from adapters.chat.services import ChatServices

HEARD = ("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK")
CHAIN = 5  # messages: the one replied to, and those before it
GATEWAY = "gateway"  # the way to Discord on which the bot hears
FIRST = 0  # the shard that connects before all others
NEW = timedelta(days=1)  # so long a guild is welcomed whose bot was not running when it was invited
GRACE = 10.0  # seconds that a shard may be away before anybody is told
RECALLED = 20  # messages of a thread that people were having
LONGEST_END = 10.0  # seconds for commands that are under way
_STARTER = 21  # the type of the message that stands in a thread for the one that it was opened on
_NAMED = re.compile(r"<(?:@&|#)(\d{1,20})>")


class Listener(AutoShardedClient):
    """A client that only receives, and ends what is done in its `background` when it is closed.

    Members and messages are not kept in memory: their number has no bound.
    """

    def __init__(
        self,
        *,
        services: ChatServices,
        setup: Callable[[Listener], Awaitable[object]] | None = None,
        presence: Presence | None = None,
        **options: Any,
    ) -> None:
        """Call *setup* once the client has logged in, before it hears anything.

        *presence* is told of shards that are away for longer than the seconds of `grace`.
        """
        super().__init__(
            enable_debug_events=True,  # the events as they were sent, which the library's own objects are not
            max_messages=None,
            member_cache_flags=MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            **options,
        )
        self._services = services
        self._setup = setup
        self._presence = presence or Presence(services.name, services.observer)
        self.grace = GRACE
        self._away: dict[int, asyncio.TimerHandle] = {}
        self.background = BackgroundTasks()
        self.commands = BackgroundTasks(ignore=())
        self._intake = Intake(services, self.background, self._said)
        self._catch_up = CatchUp(DiscordHistory(self, self.late, services), self._intake, services, at_once=AT_ONCE)

    async def setup_hook(self) -> None:
        """Prepare what is to be heard beside messages, and report it if the gateway does not let the bot in soon."""
        await self._settle_alone()
        if self._setup is not None:
            await self._setup(self)
        self._report_later(FIRST, "the gateway cannot be reached")

    async def close(self) -> None:
        """Let commands that are under way be answered, end what else is done beside hearing, and disconnect."""
        for timer in self._away.values():
            timer.cancel()
        async with AsyncExitStack() as stack:  # all of it is done, also where a stop comes first
            stack.push_async_callback(super().close)
            stack.push_async_callback(self.background.close)
            await self.commands.close(LONGEST_END)

    async def on_socket_raw_receive(self, raw: str) -> None:
        """Take what the gateway sends. The library does not wait for it, and begins in the order of the events."""
        if '"MESSAGE_' not in raw:
            return  # much larger things are sent too, which are not worth reading twice
        event = json.loads(raw)
        if event.get("t") not in HEARD:
            return
        events = [event]
        if event["t"] == "MESSAGE_DELETE_BULK":
            events = [{"t": "MESSAGE_DELETE", "d": {**event["d"], "id": each}} for each in event["d"].get("ids") or ()]
        heard = [self.late(each, is_late=False) for each in events]
        await asyncio.gather(*(self._intake.take_last(each.line, each.read) for each in heard))

    async def on_shard_disconnect(self, shard_id: int) -> None:
        """Report it unless the library soon connects again, as Discord wants it to every few hours.

        Before the first time it is waited for all the same; after, it is meant.
        """
        if self.is_ready() and not self.is_closed():
            self._report_later(shard_id, f"shard {shard_id} was disconnected")

    def _report_later(self, shard_id: int, reason: str) -> None:
        if shard_id not in self._away:
            later = asyncio.get_running_loop().call_later
            self._away[shard_id] = later(self.grace, self._presence.lost, GATEWAY, reason)

    async def on_shard_connect(self, shard_id: int) -> None:
        """Report that all is well again, once no other shard is away; the first time others tell."""
        if (timer := self._away.pop(shard_id, None)) is not None:
            timer.cancel()
            if not self._away and self.is_ready():
                self._presence.back(GATEWAY)

    on_shard_resumed = on_shard_connect

    async def on_guild_available(self, guild: Guild) -> None:
        """Catch up: the session is a new one, or the guild was away. After a session that went on, this is not told."""
        self.background.begin(partial(self._catch_up.run, str(guild.id)))

    def catch_up(self) -> None:
        """Read again what was said lately, everywhere: the store was emptied."""
        for guild in self.guilds:
            self.background.begin(partial(self._catch_up.run, str(guild.id)))

    async def on_ready(self) -> None:
        """Forget the guilds that the bot was thrown out of while it was away, as soon as the store is there.

        Which of the others may use it is decided then, unless it is.
        """
        await self._intake.later(self._settle)
        await self._intake.later(self._forget_left)
        since = (self._services.now() - NEW).timestamp()
        for guild in self.guilds:  # those that have invited the bot while nobody listened
            if since < joined_at(guild) < inf:
                await self._intake.later(partial(self._welcome, guild))

    async def _welcome(self, guild: Guild) -> None:
        """Tell the moderators of a guild that may use the bot what it does, once."""
        home = WorkspaceRef(platform=PLATFORM, workspace=str(guild.id))
        if (await self._services.communities.load()).admits(home):
            self.background.begin(partial(welcome, self, self._services.dedup, guild))

    async def _settle_alone(self) -> None:
        """Let the only guild use the bot before anything is heard there, unless it is decided which may.

        Of several, the gateway tells which was the first, once all are there.
        """
        with suppress(StoreUnavailable, PostingFailed):
            if (await self._services.communities.load()).is_decided(PLATFORM):
                return
            found = await translated(self.http.get_guilds(2, with_counts=False))
            if len(found) == 1:
                home = WorkspaceRef(platform=PLATFORM, workspace=str(found[0]["id"]))
                await settle_communities(self._services, PLATFORM, [(home, found[0]["name"])])

    async def _settle(self) -> None:
        """Have it decided which guilds may use the bot, the one that it joined first being the first.

        Until all shards are there, nobody knows which are all.
        """
        if not self.is_ready():
            return
        joined = sorted(self.guilds, key=lambda guild: (joined_at(guild), guild.id))
        homes = [(WorkspaceRef(platform=PLATFORM, workspace=str(guild.id)), guild.name or "") for guild in joined]
        await settle_communities(self._services, PLATFORM, homes)

    async def _forget_left(self) -> None:
        """Leave all where the last who was here was another bot, which may be in other guilds."""
        if not await self._services.dedup.changed("discord:bot", str(self.application_id)):
            for home in await self._services.policies.workspaces(PLATFORM):
                if home.workspace.isdigit() and self.get_guild(int(home.workspace)) is None:
                    await self._services.purge(home)

    async def on_guild_join(self, guild: Guild) -> None:
        """Let the first guild of all use the bot, where moderators are welcomed, and tell the operator of any other."""

        async def join() -> None:
            await self._settle()
            await self._welcome(guild)

        await self._intake.later(join)

    async def on_guild_remove(self, guild: Guild) -> None:
        """Forget a guild that the bot was thrown out of, and whoever waits there; that it is allowed stays."""
        home = WorkspaceRef(platform=PLATFORM, workspace=str(guild.id))
        await self._intake.later(partial(self._services.purge, home))
        await self._intake.later(self._settle)

    async def on_guild_channel_delete(self, channel: GuildChannel) -> None:
        """Forget a channel that somebody has deleted, with all threads that were in it."""
        place = ChannelRef(platform=PLATFORM, workspace=str(channel.guild.id), channel=str(channel.id))
        await self._intake.later(partial(self._services.moderation.forgetting.place, place))

    async def on_raw_thread_delete(self, deleted: RawThreadDeleteEvent) -> None:
        """Forget a thread that somebody has deleted."""
        ids = {"workspace": deleted.guild_id, "channel": deleted.parent_id, "thread": deleted.thread_id}
        place = ThreadRef(platform=PLATFORM, **{name: str(id_) for name, id_ in ids.items()})
        await self._intake.later(partial(self._services.moderation.forgetting.place, place))

    async def _said(self, inbound: Inbound) -> bool:
        """Begin to do what the whole text of a message to the bot stands for; False if it is no command there."""
        command, known = spoken(inbound.text), self._services.communities
        if command is None or command.act is None or not (await known.load()).admits(inbound.message.thread.home):
            return False
        thread, message = inbound.message.thread, inbound.message
        place = thread.channel if inbound.setting is Setting.CHANNEL else thread.thread
        poster = ChannelPoster(self.get_partial_messageable(int(place)), reply_to=int(message.id))

        async def tell(sentence: str) -> None:
            await QUICK.call(partial(poster.post, Part(sentence), nonce(message, REMARK)))

        acting = partial(command.act, by_word(self._services, inbound), {})
        self.background.begin(partial(carried_out, acting, tell))
        return True

    def late(self, event: Json, *, is_late: bool = True) -> LateEvent:
        """Return an event, and the line that it waits in: a thread, or one message, which would open its own."""
        data = event["d"]
        guild = self.get_guild(int(data["guild_id"])) if data.get("guild_id") else None
        channel = guild.get_channel_or_thread(int(data["channel_id"])) if guild else None
        line = str(data["id"] if isinstance(channel, GuildChannel) else data["channel_id"])
        return LateEvent(line, partial(self._read, event, channel, is_late=is_late))

    async def _read(self, event: Json, channel: GuildChannel | Thread | None, *, is_late: bool) -> ChatEvent | None:
        """Return what an event means; None where nobody said anything, or the bot may not look."""
        data = event["d"]
        if channel is None and data.get("guild_id"):  # threads that were archived are asked for
            with suppress(PostingFailed, InvalidData):  # it may not see the place, or nobody knows its kind yet
                found = await translated(self.fetch_channel(int(data["channel_id"])))
                channel = found if isinstance(found, GuildChannel | Thread) else None
            if channel is None:
                return None
        role = channel.guild.self_role if channel is not None else None
        me = BotIdentity(str(self.user.id) if self.user else "", frozenset({str(role.id)} if role else ()))
        info = _described(channel, data)
        inbound = parse(event, me=me, place=info)
        if inbound is None:
            return None
        owner = str(channel.owner_id) if isinstance(channel, Thread) else ""
        is_post = isinstance(channel, Thread) and isinstance(channel.parent, ForumChannel)
        is_first = info.id == inbound.message.id
        goes_on = is_post and not is_first and inbound.author is not None and owner == inbound.author.id
        rights, hint = Rights(opens_threads=False), None
        if channel is not None:
            rights = rights_in(channel)
            hint = partial(alert, self, self._services.dedup, channel.guild, info.parent_id or info.id, rights.missing)
        where = DiscordChannel(self, event, me, info)
        return ChatEvent(
            inbound=inbound,
            channel=where,
            at=inbound.message.thread.model_copy(update={"thread": info.id}),
            me=me.user_id,
            rights=rights,
            reads_all=self.intents.message_content,
            owns_thread=owner == me.user_id,
            opening=inbound.message.model_copy(update={"id": info.id}) if goes_on else None,
            in_forum=is_post,
            is_new_post=(is_post and is_first) or info.type in HAVE_THREADS,
            comes_again=is_late,
            is_late=is_late,
            alert=hint if rights.missing else None,
            complete=where.complete,
        )


def joined_at(guild: Guild) -> float:
    """Return when the bot joined a guild, in seconds; one that is away does not tell."""
    me = cast("Member | None", guild.me)
    return me.joined_at.timestamp() if me and me.joined_at else inf


def _described(channel: GuildChannel | Thread | None, data: Json) -> ChannelInfo:
    """Return the place as events are read with; what is in no server is a direct message."""
    channel_id, names, parent_id, title = str(data["channel_id"]), dict[str, str](), "", ""
    if channel is None:
        return ChannelInfo(channel_id, DIRECT)
    if isinstance(channel, Thread):
        parent_id = str(channel.parent_id)
        if isinstance(channel.parent, ForumChannel) and channel_id == str(data.get("id")):
            title = " ".join(channel.name.split())
    for named in _NAMED.findall(str(data.get("content") or "")):
        found = channel.guild.get_role(int(named)) or channel.guild.get_channel_or_thread(int(named))
        if found is not None:
            names[named] = found.name
    return ChannelInfo(channel_id, channel.type.value, parent_id, names, title)


@dataclass(slots=True)
class DiscordChannel:
    """Implements `Channel` for one event; what cannot be read is left out."""

    client: AutoShardedClient
    event: Json
    me: BotIdentity
    info: ChannelInfo

    async def complete(self, inbound: Inbound) -> Inbound:
        """Return the event with the message that it replies to, which Discord leaves out at times."""
        data = self.event["d"]
        if not answered(data) or "referenced_message" in data:
            return inbound
        self.event = {**self.event, "d": {**data, "referenced_message": await self._fetched(data)}}
        return parse(self.event, me=self.me, place=self.info) or inbound

    async def context(self, inbound: Inbound, *, recalls: bool) -> tuple[Inbound, tuple[Message, ...]]:
        """Return a message with what it quotes and all files, and what was said before it if it *recalls* that."""
        data = self.event["d"]
        reading = self._said(inbound, recalls=recalls)
        replied: Json = data.get("referenced_message") or {}
        if not (has_more(data) or has_more(replied)):
            before, quoted = await reading
            return inbound.model_copy(update={"quoted": quoted}), before
        links = [*files_in(data), *files_in(replied, is_quoted=True)]
        fetching = read_files(links, partial(fetch, self.client), within=LONGEST_FILE)
        (before, quoted), attachments = await asyncio.gather(reading, fetching)
        quoted = (*quoted, *forwards(data, place=self.info))
        return inbound.model_copy(update={"quoted": quoted, "attachments": attachments}), before

    async def _said(self, inbound: Inbound, *, recalls: bool) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
        """Return what was said before a message, if it *recalls* that, and what it replies to, each oldest first."""
        data, chain = self.event["d"], list[Json]()
        while len(chain) < CHAIN and answered(data):
            data = data["referenced_message"] if "referenced_message" in data else await self._fetched(data)
            if data is None:
                break
            chain.insert(0, data)
        said: list[Json] = []
        with suppress(PostingFailed):
            if recalls:
                reading = self.client.http.logs_from(int(self.info.id), RECALLED, before=int(inbound.message.id))
                said = cast("list[Json]", await translated(reading))
        whole = [each.get("referenced_message") or each if each.get("type") == _STARTER else each for each in said]
        known, read = {each["id"] for each in chain}, partial(line, me=self.me, place=self.info)
        before = [read(each) for each in reversed(whole) if each["id"] not in known]
        return tuple(filter(None, before)), tuple(filter(None, map(read, chain)))

    def below(self, message: MessageRef) -> ChannelPoster:
        """Return what replies to a message in the channel or thread that it stands in."""
        return ChannelPoster(self.client.get_partial_messageable(int(self.info.id)), reply_to=int(message.id))

    async def find_answer(self, inbound: Inbound, *, opens_threads: bool) -> FoundAnswer | None:
        """Return what the bot has answered, in the thread on a message or as a reply to it."""
        return await find_answer(self.client, inbound, opens_threads=opens_threads)

    async def remove_rest(self, message: MessageRef) -> None:
        """Remove it from the thread on the message, or from where that was."""
        await remove_rest(self.client, message)

    async def warn(self, message: MessageRef) -> None:
        """Mark a message as one that something went wrong with. Raises `PostingFailed`."""
        channel = self.client.get_partial_messageable(int(self.info.id))
        await translated(channel.get_partial_message(int(message.id)).add_reaction(WARNING))

    async def _fetched(self, data: Json) -> Json | None:
        """Return the message that one replies to; None if it is gone, or may not be read."""
        with suppress(PostingFailed):
            found = await translated(self.client.http.get_message(int(self.info.id), int(answered(data))))
            return cast("dict[str, Any]", found)
        return None
