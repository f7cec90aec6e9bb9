"""Posts, edits, deletes and finds messages in one channel, says what failures mean, and what the bot may do there.

Nothing that is sent pings or shows a preview: every call says so, since an edit that does not say so may ping. What
stands in a channel although nobody has noted it is looked for, as Discord forgets a nonce after some minutes: an answer
is known by its buttons, whose ids name the question, and a wait notice by what it replies to.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import discord
from aiohttp import ClientError
from discord import AllowedMentions, ClientException, MessageType, Object, Permissions, TextChannel, Thread
from discord.utils import time_snowflake

from adapters.chat.intake import Rights
from adapters.chat.platform import Barred, Part, Posted
from adapters.discord.dialect import DISCORD, buttons_of, controls_view, names_question
from adapters.discord.limits import FIRST_SERVER_ERROR, TOO_MANY_REQUESTS, UNAUTHORIZED, low_priority
from adapters.retry import QUICK, SHUT_OUT, retry_after
from core.errors import Gone, PostingFailed, RateLimited, Rejected, ShutOut, Unreachable
from core.messages import WELCOME, permissions_lacking
from core.model import Claim, Delivery, Question, ThreadRef

if TYPE_CHECKING:
    from discord import AutoShardedClient, ClientUser, DMChannel, Guild, Message, PartialMessageable, VoiceChannel
    from discord.abc import GuildChannel

    from core.ports import Dedup

    Channel: TypeAlias = TextChannel | Thread | DMChannel | VoiceChannel | PartialMessageable

Result = TypeVar("Result")
_NOW_OR_NEVER = asyncio.Event()
_NOW_OR_NEVER.set()

LONGEST_CALL = 45.0  # seconds, with all waits and new tries of the library
MAY_NOT_REPLY = 160002
UNKNOWN_CHANNEL = 10003
UNKNOWN_MESSAGE = 10008
NOBODY_READS = frozenset({UNKNOWN_CHANNEL, 50001})  # a channel that is gone, or hidden from the bot
TOO_MANY_LATE_EDITS = 30046  # waiting does not help
NO_INTERACTION = 50027  # the token of a command or a button is over, not the bot's
NO_MESSAGE = frozenset({UNKNOWN_MESSAGE})
NO_PLACE = frozenset({UNKNOWN_MESSAGE, UNKNOWN_CHANNEL})  # what was in a channel is gone with it
NO_MESSAGES_THERE = frozenset({50008, 50024})  # a forum holds threads only
BARRED = frozenset({UNKNOWN_CHANNEL, 50001, 50007, 50013, 200000})
"""No such channel, no access, no direct messages, no permission, and words that the place's own rules do not allow."""
NONCES_LIVE = timedelta(minutes=2)  # at least; Discord speaks of "the past few minutes"
EARLY = timedelta(seconds=30)  # as much may our clock be ahead of Discord's
RENEWED = 8.0  # seconds; Discord shows for ten that somebody types
LOOKED_AT = 100  # messages around the time of the post
NAMES = {
    "add_reactions": "Add Reactions",
    "read_messages": "View Channel",
    "send_messages": "Send Messages",
    "read_message_history": "Read Message History",
    "create_public_threads": "Create Public Threads",
    "send_messages_in_threads": "Send Messages in Threads",
}  # what it takes to see questions, answer them in threads and mark them, in Discord's words, which moderators look for
NEEDED = Permissions(**dict.fromkeys(NAMES, True))

_ANYWHERE = ("read_messages", "read_message_history")
TO_READ = frozenset(NAMES[name] for name in _ANYWHERE)
_TO_OPEN = ("create_public_threads", "send_messages_in_threads")


class MayNotReply(Rejected):
    """The bot may write here, but not below another message, as it may not read what was said."""


@dataclass(slots=True)
class ChannelPoster:
    """A `Poster` for a channel, a thread or a direct conversation; the first message may reply to another one.

    Where an attempt before may have posted something that nobody knows of, *find* is asked once for its id, before the
    first post. The buttons are those of an answer to the *question*. What is posted says its *place*, if there is one.
    Messages that stand there already may be *elsewhere*, by their ids: the rest of a long response has its own thread.
    """

    channel: Channel
    reply_to: int | None = None
    question: Question | None = None
    find: Callable[[], Awaitable[str | None]] | None = None
    place: ThreadRef | None = None
    elsewhere: Sequence[tuple[str, Channel]] = ()

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a message; Discord gives the one that it has if the nonce was used in the last minutes."""
        if self.find is not None:
            known, self.find = await self.find(), None
            if known is not None:
                return Posted(known, place=self.place)
        reference = self.channel.get_partial_message(self.reply_to) if self.reply_to else None
        more: dict[str, Any] = {"reference": reference.to_reference(fail_if_not_exists=False)} if reference else {}
        view = controls_view(part.controls, self.question)
        if view is not None:
            more["view"] = view
        sending = self.channel.send(
            part.text, nonce=nonce, allowed_mentions=AllowedMentions.none(), suppress_embeds=True, **more
        )
        try:
            sent = await translated(sending)
        except MayNotReply:
            self.reply_to = None
            return await self.post(part, nonce)
        self.reply_to = None
        is_new = (sent.content, buttons_of(sent)) == (part.text, buttons_of(view))
        return Posted(str(sent.id), part if is_new else None, self.place)

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace text and buttons; the flag against previews stays as it was set when the message was posted."""
        message = dict(self.elsewhere).get(message_id, self.channel).get_partial_message(int(message_id))
        view = controls_view(part.controls, self.question)
        with low_priority(obsolete):
            editing = message.edit(content=part.text, view=view, allowed_mentions=AllowedMentions.none())
            await translated(editing, gone=NO_PLACE)

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        message = dict(self.elsewhere).get(message_id, self.channel).get_partial_message(int(message_id))
        await translated(message.delete(), gone=NO_PLACE)


async def translated(call: Awaitable[Result], *, gone: Collection[int] = NO_MESSAGE) -> Result:
    """Make a call, and say what its failure means for whoever wants it done; *gone* are the codes of what is gone."""
    try:
        async with asyncio.timeout(LONGEST_CALL):
            return await call
    except Exception as error:
        failure = meaning(error, gone=gone)
        if failure is None:
            raise
        raise failure from error


def meaning(error: Exception, *, gone: Collection[int] = NO_MESSAGE) -> PostingFailed | None:
    """Return what a failure of the client means; None for a mistake of ours."""
    match error:
        case discord.RateLimited(retry_after=wait):
            return RateLimited(wait)
        case discord.HTTPException():
            return _refusal(error, gone)
        case ClientError() | OSError() | TimeoutError():
            return Unreachable(type(error).__name__)
        case _:
            return None


def _refusal(error: discord.HTTPException, gone: Collection[int]) -> PostingFailed:
    """Return what it means that Discord does not do something."""
    status, code = error.status, error.code
    if code in gone:
        return Gone("it is not there any more")
    if status == TOO_MANY_REQUESTS and code != TOO_MANY_LATE_EDITS:
        kind = RateLimited if "Via" in error.response.headers else ShutOut
        return kind(retry_after(error.response.headers) or SHUT_OUT.backoff(1))
    if status == UNAUTHORIZED and code != NO_INTERACTION:
        return ShutOut(SHUT_OUT.backoff(1))
    refusal = MayNotReply if code == MAY_NOT_REPLY else Barred if code in BARRED else Rejected
    is_broken = refusal is Rejected and status >= FIRST_SERVER_ERROR
    return Unreachable(f"status {status}") if is_broken else refusal(f"code {code}")


async def find_lost(
    channel: Channel, me: ClientUser | None, claim: Claim, now: datetime, doubtful: Callable[[], object]
) -> str | None:
    """Return the id of what an attempt before has posted for a claim; None if it is not there.

    It is looked for where its nonce may be forgotten by *now*. Where nobody can know whether it is there, *doubtful*
    hears that the answer may stand there twice. Raises `PostingFailed`.
    """
    is_unheard = claim.is_redelivered and not claim.delivery.messages
    since = claim.delivery.trying or (claim.question.asked_at if is_unheard else None)
    if since is None or now - since <= NONCES_LIVE:
        return None
    unknown = await unknown_messages(channel, me, claim.delivery, since)
    for message in unknown or ():
        if names_question(message, claim.message):
            return str(message.id)
    may_be_there = unknown is None or any(not buttons_of(message) for message in unknown)  # it may have none as yet
    if claim.delivery.trying is not None and may_be_there:
        doubtful()
    return None


async def said_in(
    channel: Channel, limit: int, *, after: Object | None = None, around: Object | None = None
) -> list[Message]:
    """Return what was said *after* or *around* a message, or a moment. Raises `PostingFailed`."""

    async def said() -> list[Message]:
        return [message async for message in channel.history(limit=limit, after=after, around=around)]

    return await translated(said(), gone=NO_PLACE)


async def unknown_messages(
    channel: Channel, me: ClientUser | None, delivery: Delivery, since: datetime
) -> Sequence[Message] | None:
    """Return what *me*, the bot, has said since then that is not known to belong to a delivery.

    None where it may not read. Raises `PostingFailed`.
    """
    try:
        found = await said_in(channel, LOOKED_AT, around=Object(time_snowflake(since)))
    except (Gone, Rejected):
        return None
    known = {message.id for message in delivery.standing} | {delivery.notice.id if delivery.notice else ""}
    said = [one for one in found if one.author == me and one.type is not MessageType.thread_starter_message]
    mine = [one for one in said if one.created_at >= since - EARLY and str(one.id) not in known]
    return mine if found else None  # the question would be among them


async def is_all(channel: Channel, me: ClientUser | None, delivery: Delivery) -> bool:
    """Return whether *me*, the bot, is seen to have said nothing since it tried to. Raises `PostingFailed`."""
    return delivery.trying is not None and await unknown_messages(channel, me, delivery, delivery.trying) == []


def rights_in(channel: GuildChannel | Thread) -> Rights:
    """Return what the bot may do in a channel or thread; where nobody knows yet, nothing is missing."""
    has_threads, is_closed, me = isinstance(channel, TextChannel), False, channel.guild.me
    try:
        allowed = channel.permissions_for(me) if me is not None else None  # pyright: ignore[reportUnnecessaryComparison]
    except ClientException:  # in a thread of no channel
        allowed = None
    if allowed is None:
        return Rights(opens_threads=has_threads)
    has = {name for name, is_allowed in allowed if is_allowed}
    opens = has_threads and has.issuperset(_TO_OPEN)
    needs = (*(_TO_OPEN if has_threads else ()), *(() if opens else ("send_messages",)))
    if isinstance(channel, Thread):
        needs = ("send_messages_in_threads",)
        is_closed = channel.locked and "manage_threads" not in has
    return Rights(
        answers="read_messages" in has and not is_closed and (opens or needs[-1] in has),
        opens_threads=opens,
        reacts=has.issuperset(("add_reactions", "read_message_history")),
        missing=tuple(NAMES[name] for name in (*_ANYWHERE, *needs) if name not in has),
    )


async def alert(
    client: AutoShardedClient, dedup: Dedup, guild: Guild, channel_id: str, missing: tuple[str, ...]
) -> None:
    """Name the permissions that are missing, once: where Discord speaks to moderators, or to the owner of the guild.

    What could not be said now is said another time; what nobody wants to hear counts as said. Raises `PostingFailed`
    and `StoreUnavailable`.
    """
    key = f"discord:permissions:{guild.id}:{channel_id}"
    if not await dedup.changed(key, ", ".join(missing)):
        return
    await _tell_once(client, dedup, guild, key, Part(permissions_lacking(f"<#{channel_id}>", missing)))


async def _tell_once(client: AutoShardedClient, dedup: Dedup, guild: Guild, key: str, part: Part) -> None:
    """Tell moderators; what could not be said now is said another time."""
    nonce = hashlib.sha256(f"{key}:{part.text}".encode()).hexdigest()[:24]
    try:
        await QUICK.call(partial(tell_moderators, client, guild.id, part, nonce))
    except (Unreachable, RateLimited):
        await dedup.forget(key)
        raise


async def welcome(client: AutoShardedClient, dedup: Dedup, guild: Guild) -> None:
    """Say in a guild that the bot has joined what it does, once in a while. Raises as `alert` does."""
    key = f"discord:welcome:{guild.id}"
    if await dedup.changed(key, "said"):
        await _tell_once(client, dedup, guild, key, Part(WELCOME))


async def tell_moderators(
    client: AutoShardedClient, guild_id: int, part: Part, nonce: str, *, is_named: bool = False
) -> None:
    """Post where Discord itself speaks to the moderators of a guild or, where that may not be, to its owner alone.

    The owner is told which guild it is if that *is named*. Discord is asked, as who answers hears of no guild. Raises
    `PostingFailed`.
    """
    guild = await translated(client.http.get_guild(guild_id))
    if updates := guild.get("public_updates_channel_id"):
        with suppress(Rejected):
            await ChannelPoster(client.get_partial_messageable(int(updates))).post(part, nonce)
            return
    owner = await translated(client.create_dm(Object(int(guild["owner_id"]))))
    text = f"{DISCORD.on_one_line(guild['name'])}: {part.text}" if is_named else part.text
    await ChannelPoster(owner).post(Part(text), nonce)


@asynccontextmanager
async def typing(
    client: AutoShardedClient,
    channel: str | None,
    refused: Callable[[PostingFailed], object],
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> AsyncGenerator[Callable[[], object]]:
    """Show that the bot types in a channel until what is yielded is called; that it is gone or hidden is *refused*."""

    async def type_on() -> None:
        while channel is not None:
            try:
                with low_priority(_NOW_OR_NEVER):
                    await translated(client.http.send_typing(int(channel)))
            except RateLimited:
                pass  # answers are worth more
            except PostingFailed as failure:
                if getattr(failure.__cause__, "code", None) in NOBODY_READS:
                    refused(failure)
                return
            await sleep(RENEWED)

    task = asyncio.create_task(type_on())
    try:
        yield task.cancel
    finally:
        task.cancel()
        await asyncio.wait([task])
