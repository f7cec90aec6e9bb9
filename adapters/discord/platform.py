"""Discord as a platform: answers appear in a thread on the question, in place, or as the response to a command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from discord import AutoShardedClient, HTTPException, Object, PartialMessage
from discord.http import Route

from adapters.chat.dialect import heading
from adapters.chat.pager import MOST_PARTS
from adapters.chat.platform import (
    Barred,
    ChatPlatform,
    Destination,
    FoundAnswer,
    Part,
    Posted,
    Poster,
    QuestionGone,
    unsure,
    utc_now,
)
from adapters.chat.services import ExpiringSet
from adapters.discord.dialect import DiscordRenderer, quoted
from adapters.discord.events import DIRECT_MESSAGES
from adapters.discord.history import find_answer, left_of
from adapters.discord.limits import Throttle
from adapters.discord.poster import (
    NO_MESSAGES_THERE,
    NO_PLACE,
    ChannelPoster,
    find_lost,
    is_all,
    said_in,
    tell_moderators,
    translated,
    typing,
)
from adapters.discord.responses import DRAFTS_PER_SECOND, ResponsePoster
from adapters.discord.tags import tag_answered
from core.errors import Gone, PostingFailed, RateLimited, Rejected, ShutOut, StoreUnavailable
from core.events import Observer, PossiblyDoubled, unobserved
from core.messages import BUSY, LIMIT, MENTION_AGAIN, MENTION_TO_CONTINUE, UNTITLED, WARNING
from core.model import (
    Answer,
    Claim,
    Inbound,
    InboundKind,
    Interaction,
    MessageRef,
    Reaction,
    Setting,
    Task,
    WaitNotice,
    Withdrawal,
    WorkspaceRef,
)
from core.ports import PolicyStore

EMOJI = {Reaction.WARNING: WARNING, Reaction.LIMIT: LIMIT}
THREAD_EXISTS = 160004
WAY_LASTS = timedelta(minutes=10)  # as long is the way to a response known at least; Discord's ends after 15
LOOKED_AT = 20  # messages below an answer
NAMED_EVERY = timedelta(minutes=10)  # in which Discord takes two names, of which one is left for a deletion
MOST_ABROAD = 6  # messages of an answer: where the bot is not, Discord lets five follow a response
LONGEST_NAME = 80  # characters; Discord allows 100, and its lists show fewer
LONGEST_TAGGING = 10.0  # seconds; the thread is held as long


@dataclass
class DiscordChat(ChatPlatform):
    """Discord by REST; it needs a client that is logged in, and none that is connected to the gateway.

    With *reads_all* off, the first answer in a thread says how to go on. The *policies* say in which forums all posts
    are answered, and the *observer* hears of messages that may stand there twice.
    """

    client: AutoShardedClient
    _: KW_ONLY
    reads_all: bool = False
    policies: PolicyStore | None = None
    now: Callable[[], datetime] = utc_now
    observer: Observer = unobserved
    _drafts: Throttle = field(default_factory=partial(Throttle, DRAFTS_PER_SECOND), init=False)
    _untaggable: ExpiringSet = field(init=False)
    _named: ExpiringSet = field(init=False)

    def __post_init__(self) -> None:
        self._untaggable = ExpiringSet(self.now)
        self._named = ExpiringSet(self.now, NAMED_EVERY)

    async def destination(self, claim: Claim, remark: str) -> Destination | None:
        """Return the thread of the question, which may have to be opened, the place itself, or a command's response."""
        interaction = claim.address.interaction if claim.address else None
        is_public = claim.question.visibility == "thread"
        lives = interaction is not None and interaction.expires_at > self.now()
        if not is_public and not lives:
            return None
        place, reply_to, posted = await self._place(claim)
        channel = self.client.get_partial_messageable(int(place))
        doubtful = partial(self.observer, PossiblyDoubled(claim.message))
        poster: Poster = self._poster(claim, place, doubtful, reply_to=reply_to)
        grows = None
        if interaction is not None:
            poster = self._response(claim, interaction, poster if is_public else None, doubtful)
            stands_elsewhere = any(each.place and each.place.thread == place for each in posted[1:])
            if claim.address is not None and claim.address.message is not None and not stands_elsewhere:
                poster.rest, grows = partial(self._rest, claim, place, doubtful), 1
        return Destination(
            poster=poster,
            renderer=self._renderer(
                claim, remark, is_command=interaction is not None or claim.message.id in {each.id for each in posted}
            ),
            place=claim.message.thread.model_copy(update={"thread": place}),
            posted=posted,
            grows=grows,
            sign=partial(typing, self.client, None if lives else place),  # Discord does so itself for a command
            settled=partial(self._settled, claim),
            is_all=partial(is_all, channel, self.client.user) if interaction is None else unsure,
        )

    def _poster(
        self, claim: Claim, place: str, doubtful: Callable[[], object], *, reply_to: MessageRef | None = None
    ) -> ChannelPoster:
        """Return what writes in a channel or thread, and finds what an attempt before may have posted there."""
        channel = self.client.get_partial_messageable(int(place))
        apart = [(each.id, each.thread.thread) for each in claim.delivery.standing if each.thread.thread != place]
        is_again = claim.is_redelivered or claim.delivery.trying is not None
        return ChannelPoster(
            channel,
            reply_to=int(reply_to.id) if reply_to else None,
            question=claim.question,
            elsewhere=[(name, self.client.get_partial_messageable(int(thread))) for name, thread in apart],
            find=partial(find_lost, channel, self.client.user, claim, self.now(), doubtful) if is_again else None,
        )

    async def _rest(self, claim: Claim, place: str, doubtful: Callable[[], object]) -> Poster:
        """Return what writes the rest of a long answer to a command: in a thread on the response, where that may be.

        Raises `PostingFailed` where nobody knows whether it may.
        """
        if await self._open_thread(claim.message, claim.question.text):
            thread = claim.message.thread.model_copy(update={"thread": claim.message.id})
            return replace(self._poster(claim, claim.message.id, doubtful), place=thread)
        return self._poster(claim, place, doubtful)

    def _response(
        self,
        claim: Claim,
        interaction: Interaction,
        channel: Poster | None = None,
        doubtful: Callable[[], object] = unobserved,
    ) -> ResponsePoster:
        """Return what writes the response to a command, and goes through the *channel* where it may not."""
        return ResponsePoster(
            self.client,
            interaction,
            claim.question,
            channel,
            drafts=self._drafts,
            lives=lambda: interaction.expires_at > self.now(),
            may_be_there=claim.delivery.trying is not None,
            doubtful=doubtful,
        )

    async def find_answer(self, claim: Claim) -> FoundAnswer | None:
        """Return what stands in a thread or, without one, in the place; what one person alone sees is in none."""
        asked = claim.question
        if claim.address is None or asked.visibility != "thread":
            return None
        said = Inbound(kind=InboundKind.WRITTEN, setting=Setting.THREAD, message=asked.message, revision=asked.revision)
        found = await find_answer(self.client, said, opens_threads=False)
        if found is None or not found.messages or asked.message.id in {each.id for each in found.messages}:
            return found
        here = asked.message.thread
        if is_first(asked.message) and await self._is_response(asked.message, here.channel):
            response = asked.message.model_copy(update={"thread": here.model_copy(update={"thread": here.channel})})
            found = replace(found, messages=(response, *found.messages))
        return found

    async def refuse(self, claim: Claim, part: Part, nonce: str) -> MessageRef | None:
        """Tell whoever used a command alone; others by a reply where they asked, which is removed from a server."""
        address, here = claim.address, claim.message.thread
        interaction = address.interaction if address else None
        if interaction is not None and interaction.expires_at > self.now():
            await self._response(claim, interaction).refuse(part)
            return None
        if claim.question.visibility == "private":
            return None
        place = here.thread
        if address is not None and address.thread != here:  # no thread can be opened there
            place = address.thread.thread
        elif self._opens(claim):
            place = here.channel  # the thread would have to be opened
        channel = self.client.get_partial_messageable(int(place))
        posted = await ChannelPoster(channel, reply_to=int(claim.message.id)).post(part, nonce)
        said = MessageRef(thread=here.model_copy(update={"thread": place}), id=posted.id)
        return None if here.workspace == DIRECT_MESSAGES else said

    def _renderer(self, claim: Claim, remark: str, *, is_command: bool) -> DiscordRenderer:
        """Return what draws an answer, with the question above the response to a command, and how to go on below."""
        is_public = claim.question.visibility == "thread"
        is_far = not is_public and claim.message.thread.workspace == DIRECT_MESSAGES
        hint = MENTION_AGAIN if is_command else "" if self.reads_all else MENTION_TO_CONTINUE
        return DiscordRenderer(
            head=quoted(claim.question.text) if is_command and is_public else "",
            hint=hint if is_public and is_first(claim.message) else "",
            remark=remark,
            most_parts=MOST_ABROAD - bool(claim.delivery.notice) if is_far else MOST_PARTS,
        )

    async def delete(self, message: MessageRef) -> None:
        """Remove a message of the bot's; the one that a thread begins with stands above it."""
        place = message.thread.channel if is_first(message) else message.thread.thread
        await ChannelPoster(self.client.get_partial_messageable(int(place))).delete(message.id)

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Mark a message."""
        await self._mark(to, lambda message: message.add_reaction(EMOJI[reaction]))

    async def unreact(self, to: MessageRef, reaction: Reaction) -> None:
        """Take a mark of ours away."""
        if (me := self.client.user) is not None:
            await self._mark(to, lambda message: message.remove_reaction(EMOJI[reaction], me))

    async def alert(self, home: WorkspaceRef, part: Part, nonce: str) -> None:
        """Tell them where Discord speaks to moderators, or the owner; nobody moderates direct messages."""
        if home.workspace != DIRECT_MESSAGES:
            await tell_moderators(self.client, int(home.workspace), part, nonce, is_named=True)

    async def find_notice(self, message: MessageRef, notice: WaitNotice) -> str:
        """Return the id of what replies to a message with the words of a notice."""
        place = self.client.get_partial_messageable(int(notice.thread.thread))
        for one in await said_in(place, LOOKED_AT, after=Object(int(message.id))):
            is_ours = one.author == self.client.user and one.content.startswith(BUSY)
            if is_ours and one.reference and str(one.reference.message_id) == message.id:
                return str(one.id)
        return ""

    async def has_replies(self, withdrawal: Withdrawal) -> bool:
        """Return whether others have written below the answer: in its thread, or in a channel as replies to it."""
        ids = [message.id for message in withdrawal.delivery.messages]
        if not ids:
            return False
        thread, place = withdrawal.message.thread.thread, withdrawal.delivery.messages[0].thread.thread
        for each in dict.fromkeys([thread, place]):
            channel = self.client.get_partial_messageable(int(each))
            with suppress(PostingFailed):
                for one in await said_in(channel, LOOKED_AT, after=Object(int(ids[0]))):
                    is_reply = one.reference is not None and str(one.reference.message_id) in ids
                    is_by_others = not one.author.bot and str(one.author.id) != withdrawal.asker_id
                    if is_by_others and (each == thread or is_reply):
                        return True
        return False

    async def unknown(self, task: Task) -> Sequence[MessageRef]:
        """Return what is known by its buttons, where the answer is, or would be; no thread may have been opened."""
        known, here = task.delivery, task.message.thread
        places = [*(each.thread.thread for each in known.messages[:1]), here.thread]
        places += [here.channel] if is_first(task.message) else []
        return await left_of(self.client, task.message, places, {each.id for each in known.standing})

    async def untitle(self, message: MessageRef) -> None:
        """Take the words of the question out of the name of the thread that we opened on it, and close that.

        The thread is there before anything is posted in it.
        """
        if is_first(message):
            await self._change(message, name=UNTITLED, archived=True, reason="It was deleted")

    async def _change(self, message: MessageRef, **changes: Any) -> None:
        """Change the thread that we opened on a message, unless it is so already, which need not be allowed."""
        with suppress(PostingFailed):
            thread, http, me = int(message.id), self.client.http, self.client.user
            found = await translated(http.get_channel(thread))
            is_same = found.get("name") == changes["name"] and "archived" not in changes
            if me is not None and str(found.get("owner_id")) == str(me.id) and not is_same:
                await translated(http.edit_channel(thread, **changes))

    @staticmethod
    def _opens(claim: Claim) -> bool:
        """Return whether the answer has a thread that is opened on the question."""
        return claim.address is not None and claim.address.message == claim.message and is_first(claim.message)

    async def _place(self, claim: Claim) -> tuple[str, MessageRef | None, tuple[Posted, ...]]:
        """Return the channel of an answer, what its first message replies to, and what stands there already."""
        address, here = claim.address, claim.message.thread
        outside = here.channel if is_first(claim.message) else here.thread  # the one that a thread is opened on
        posted = tuple(Posted(message.id, place=message.thread) for message in claim.delivery.messages)
        response = (Posted(claim.message.id, Part("")),)  # what is posted before it shows words would become it
        if address is not None and address.interaction is not None:
            return outside, claim.message, posted or response
        if posted:
            return claim.delivery.messages[0].thread.thread, None, posted
        # A response that is too old, or that the store has lost, still says that an answer comes.
        is_doubtful = claim.is_redelivered or self.now() - claim.question.asked_at >= WAY_LASTS
        if is_doubtful and await self._is_response(claim.message, outside):
            return outside, None, response
        if address is not None and address.thread != here:  # no thread can be opened there
            return address.thread.thread, address.message, ()
        if self._opens(claim) and not await self._open_thread(claim.message, claim.question.text):
            return here.channel, claim.message, ()
        return here.thread, address.message if address is not None and not is_first(claim.message) else None, ()

    async def _is_response(self, message: MessageRef, place: str) -> bool:
        """Return whether a question is the response to a command, which the bot may edit as its own."""
        asking = self.client.get_partial_messageable(int(place)).fetch_message(int(message.id))
        with suppress(Gone, Rejected):
            return (await translated(asking)).author == self.client.user
        return False

    async def _open_thread(self, message: MessageRef, question: str) -> bool:
        """Open the thread of a question on a message; one that is there already, by whomever, is the one.

        Returns False where it may not be opened, or not soon. Raises `PostingFailed`, and of these `QuestionGone` where
        the message was deleted.
        """
        # The library's own methods say after how long it is hidden, for which the channel may have a rule of its own.
        path, ids = "/channels/{channel_id}/messages/{message_id}/threads", (message.thread.channel, message.id)
        opening = self.client.http.request(
            Route("POST", path, channel_id=int(ids[0]), message_id=int(ids[1])),
            json={"name": heading(question, LONGEST_NAME, otherwise="Question")},
            reason="A question to the bot",
        )
        try:
            await translated(opening)
        except Gone as gone:
            raise QuestionGone("the question was deleted") from gone
        except ShutOut:
            raise
        except RateLimited:
            return False
        except Rejected as refused:
            cause = refused.__cause__
            return isinstance(cause, HTTPException) and cause.code == THREAD_EXISTS
        return True

    async def _settled(self, claim: Claim, answer: Answer | None, shown: Sequence[Posted]) -> None:
        """Name the thread after a question that was edited, or tag a post, which need not be allowed.

        A post is tagged that began with the question, or where all are answered; a forum that forbids it is left alone
        for some minutes.
        """
        if answer is None or not shown:
            return
        post, begins, has_opened = claim.message.thread, is_first(claim.message), self._opens(claim)
        if claim.is_update and has_opened and self._named.add(claim.message.id):
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_TAGGING):
                    name = heading(claim.question.text, LONGEST_NAME, otherwise="Question")
                    await self._change(claim.message, name=name, reason="The question was edited")
        is_answered = answer.is_sourced and claim.question.visibility == "thread"
        if not is_answered or has_opened or post.channel in self._untaggable:
            return
        try:
            async with asyncio.timeout(LONGEST_TAGGING):
                policies = None if begins else self.policies
                if begins or (policies and post.channel in (await policies.load(post.home)).auto_answer):
                    await tag_answered(self.client, post.channel, post.thread)
        except Barred:
            self._untaggable.add(post.channel)
        except (PostingFailed, StoreUnavailable, TimeoutError):
            pass

    async def _mark(self, to: MessageRef, change: Callable[[PartialMessage], Awaitable[None]]) -> None:
        """Change a message where it stands: the one that a thread begins with above it, or in a forum inside."""
        places = [to.thread.channel, to.thread.thread] if is_first(to) else [to.thread.thread]
        for place in dict.fromkeys(places):
            with suppress(Gone):
                message = self.client.get_partial_messageable(int(place)).get_partial_message(int(to.id))
                await translated(change(message), gone=NO_PLACE | NO_MESSAGES_THERE)
                return


def is_first(message: MessageRef) -> bool:
    """Return whether a thread begins with the message: it bears the message's id."""
    return message.thread.thread == message.id
