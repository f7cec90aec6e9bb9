"""Reads what was said on Discord lately, for what was missed while the bot was away."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import dropwhile, takewhile
from typing import TYPE_CHECKING, TypeAlias, cast

from discord import ForumChannel, Message, MessageType, Object, StageChannel, TextChannel, Thread, VoiceChannel
from discord.abc import GuildChannel
from discord.utils import snowflake_time, time_snowflake

from adapters.chat.background import LATEST
from adapters.chat.catch_up import HistoryPlace, LateEvent, Missed, Round, absent
from adapters.chat.platform import FoundAnswer, utc_now
from adapters.discord.dialect import buttons_of, is_draft, is_failure, names_question, voted_on
from adapters.discord.events import DIRECT_MESSAGES, PLATFORM
from adapters.discord.poster import NO_MESSAGES_THERE, NO_PLACE, TO_READ, ChannelPoster, rights_in, said_in, translated
from core.answering.verdict import answer_id_of
from core.errors import Gone, Rejected
from core.messages import BUSY, NO_CONTEXT, UPDATED, WARNING
from core.model import Inbound, InboundKind, MessageRef, Setting, ThreadRef

if TYPE_CHECKING:
    from discord import AutoShardedClient

    from adapters.chat.services import ChatServices
    from adapters.discord.events import Json

Room: TypeAlias = TextChannel | VoiceChannel | StageChannel | Thread

AT_ONCE = 3  # channels that are read at a time
PAGE = 100  # messages: as many as Discord gives
PAGES = 3  # of one channel
FEW = 20  # messages around a question, among which are those that wait as well
LONGEST_TURN = timedelta(minutes=10)  # in which a question is answered, with all that were asked just before it
TOO_MANY = f"more than {PAGE * PAGES} messages in one place"


@dataclass(frozen=True, slots=True)
class DiscordHistory:
    """Implements `History` for the guilds that a client knows; *late* takes what was said as the event that it was."""

    client: AutoShardedClient
    late: Callable[[Json], LateEvent]
    services: ChatServices

    async def places(self, home: str, round_: Round) -> AsyncGenerator[HistoryPlace]:
        """Yield where something was said lately that the bot may read; Discord is not asked for that.

        Those come first where something was said last: what was missed is among the newest.
        """
        guild, since = self.client.get_guild(int(home)), time_snowflake(self.services.now() - LATEST)
        known: Sequence[Room] = ()
        if guild is not None:
            known = (*guild.text_channels, *guild.voice_channels, *guild.stage_channels, *guild.threads)
        late = [room for room in known if (room.last_message_id or 0) > since]
        busy = [room for room in late if TO_READ.isdisjoint(rights_in(room).missing)]
        for room in sorted(busy, key=lambda one: one.last_message_id or 0, reverse=True):
            yield HistoryPlace(partial(self._read, room, since))

    async def _read(self, room: Room, since: int, round_: Round) -> Missed:
        """Return what was said from a snowflake on; what somebody was refused an answer to is left out."""
        found: list[Json] = []

        async def page() -> list[Json]:
            before = int(found[-1]["id"]) if found else None
            return cast("list[Json]", await translated(self.client.http.logs_from(room.id, PAGE, before=before)))

        for _ in range(PAGES):
            more = await round_.retry.call(page)
            found += (message for message in more if int(message["id"]) > since)
            if len(more) < PAGE or int(more[-1]["id"]) <= since:
                break
        else:
            round_.cut(TOO_MANY)
        missed: list[LateEvent] = []
        for message in reversed(found):
            is_edited = bool(message.get("edited_timestamp"))
            marks = cast("list[Json]", message.get("reactions") or [])
            if not is_edited and any(mark["me"] and mark["emoji"]["name"] == WARNING for mark in marks):
                continue  # somebody was told already that there will be no answer to these words, and to try again
            name = "MESSAGE_UPDATE" if is_edited else "MESSAGE_CREATE"
            guild = {"guild_id": str(room.guild.id)}  # which only events have
            missed.append(self.late({"t": name, "d": {**message, **guild}}))
        return Missed(missed)

    def is_of(self, thread: ThreadRef, homes: Collection[str]) -> bool:
        """Direct messages are looked at with whichever guild comes first."""
        return thread.platform == PLATFORM and (thread.workspace in homes or thread.workspace == DIRECT_MESSAGES)

    async def deleted(self, messages: Sequence[MessageRef], round_: Round) -> Collection[str]:
        """Return the ids of those that are gone, which is asked of each of them once more."""
        places, gone = dict[int, list[str]](), list[str]()
        for each in messages:
            is_above = each.id == each.thread.thread  # the message that the thread was opened on, but for a forum's
            in_channel = is_above and not isinstance(self.client.get_channel(int(each.thread.channel)), ForumChannel)
            places.setdefault(int(each.thread.channel if in_channel else each.thread.thread), []).append(each.id)
        for place, ids in places.items():
            gone += await self._absent(place, ids, round_)
        return gone

    async def _absent(self, place: int, ids: Sequence[str], round_: Round) -> Collection[str]:
        """Return which messages of a channel are gone; all, where that is gone itself, and none where it is hidden."""
        http = self.client.http

        async def read(first: str) -> tuple[Collection[str], bool]:
            async def page() -> list[Json]:
                reading = http.logs_from(place, PAGE, after=int(first) - 1)
                return cast("list[Json]", await translated(reading, gone=NO_PLACE))

            found = await round_.retry.call(page)
            return [str(one["id"]) for one in found], len(found) < PAGE

        async def is_gone(id_: str) -> bool:  # where the bot may not read what was said, Discord says that nothing was
            try:
                await round_.retry.call(lambda: translated(http.get_message(place, int(id_)), gone=NO_PLACE))
            except Gone:
                return True
            return False

        try:
            return [each for each in await absent(ids, read) if await is_gone(each)]
        except Gone:
            return ids
        except Rejected:
            return ()


async def find_answer(client: AutoShardedClient, inbound: Inbound, *, opens_threads: bool) -> FoundAnswer | None:
    """Return what the bot has answered to a message; None where that may stand further on, or have been deleted.

    Answers stand in the thread on a message, if there is one, or where it was said. They are known by their buttons, by
    what they reply to or, in a thread, by standing below it when it is its turn. Raises `PostingFailed`, and of these
    `Gone` where there is something to be answered yet and the message was deleted since it was read.
    """
    found = await _found(client, inbound, opens_threads=opens_threads)
    if found is not None and not found.is_finished:
        await _require(client, inbound.message)
    return found


async def remove_rest(client: AutoShardedClient, message: MessageRef) -> None:
    """Remove what stands of an answer to a deleted message that was never finished. Raises `PostingFailed`."""
    said = Inbound(kind=InboundKind.WRITTEN, setting=Setting.THREAD, message=message, at=utc_now())
    found = await _found(client, said, opens_threads=False)
    for each in found.messages if found and not found.is_finished else ():
        with suppress(Gone, Rejected):
            await ChannelPoster(client.get_partial_messageable(int(each.thread.thread))).delete(each.id)


async def left_of(
    client: AutoShardedClient, question: MessageRef, places: Iterable[str], known: Collection[str]
) -> Sequence[MessageRef]:
    """Return what stands of an answer in *places*, or of a notice, and is not *known*, as far as the bot may read.

    It is known by its buttons; in the thread of the question, where answers come one after the other, so is what stands
    without any right before it, below another message of the answer, and right below it where nobody else has said or
    used anything since. Raises `PostingFailed`.
    """
    found: list[MessageRef] = []
    for place in dict.fromkeys(places):
        try:
            below = await said_in(client.get_partial_messageable(int(place)), PAGE, after=Object(int(question.id)))
        except (Gone, Rejected):
            continue
        said = [each for each in below if each.type is not MessageType.thread_starter_message]
        is_alone = not any(one.author != client.user or one.interaction_metadata for one in said)
        is_in_turn, thread = place == question.thread.thread, question.thread.model_copy(update={"thread": place})
        left: list[str] = []
        between: list[str] | None = [] if is_in_turn and question.id == place else None
        for one in said:
            is_ours, name = one.author == client.user and not one.content.startswith(BUSY), str(one.id)
            if is_ours and (name in known or names_question(one, question)):
                left += (*(between or ()), name)
                between = [] if is_in_turn else None
            elif is_ours and _replies_to(one, question):
                between = [name]
            elif not is_ours or one.reference is not None or buttons_of(one):
                between = between if _asks_nothing(client, one) else None
            elif between is not None and is_in_turn:
                between.append(name)
        left += (between or ()) if left and is_alone and place != question.thread.channel else ()
        notices = (one for one in said if one.author == client.user and one.content.startswith(BUSY))
        left += (str(one.id) for one in notices if _replies_to(one, question))
        found += [MessageRef(thread=thread, id=each) for each in left if each not in known]
    return found


async def _require(client: AutoShardedClient, message: MessageRef) -> None:
    """Look at a message: one that begins a thread stands above it, or in a forum inside. Raises `PostingFailed`."""
    here, no_place = message.thread, NO_PLACE | NO_MESSAGES_THERE
    for place in dict.fromkeys([here.channel, here.thread] if message.id == here.thread else [here.thread]):
        with suppress(Gone):
            await translated(client.http.get_message(int(place), int(message.id)), gone=no_place)
            return
    raise Gone("the message was deleted")


async def _found(client: AutoShardedClient, inbound: Inbound, *, opens_threads: bool) -> FoundAnswer | None:
    message, here = inbound.message, inbound.message.thread
    room = client.get_channel(int(here.channel))
    if isinstance(room, GuildChannel) and not TO_READ.isdisjoint(rights_in(room).missing):
        return None  # without the history, Discord says that nothing was said
    begins = message.id == here.thread
    for place in dict.fromkeys([here.thread, here.channel] if begins else [here.thread]):
        try:
            found = await said_in(client.get_partial_messageable(int(place)), PAGE, after=Object(int(message.id) - 1))
        except Gone:
            if opens_threads:
                break  # an answer would have a thread
            continue
        # What is asked by a command is the response, which bears the answer itself.
        answers = [one for one in found if str(one.id) != message.id or one.author == client.user]
        said = [one for one in answers if one.type is not MessageType.thread_starter_message]
        parts = await _about(client, inbound, said, is_thread=place == here.thread != here.channel)
        if parts:
            thread = here.model_copy(update={"thread": place})
            refs = tuple(MessageRef(thread=thread, id=str(one.id)) for one in parts)
            return FoundAnswer(
                refs,
                is_finished=not any(map(is_draft, parts)),
                is_failure=any(map(is_failure, parts)),
                is_current=_is_current(inbound, parts),
            )
        if begins and place == here.thread:
            room = await translated(client.fetch_channel(int(place)), gone=NO_PLACE)
            if isinstance(room, Thread) and room.total_message_sent > len(said):
                return None  # whoever has deleted an answer wants no other
        return FoundAnswer() if len(found) < PAGE else None
    return FoundAnswer()


async def _about(
    client: AutoShardedClient, inbound: Inbound, said: Sequence[Message], *, is_thread: bool
) -> Sequence[Message]:
    """Return the answer to a message: the one that says so, or in a thread one that says nothing, where it is its turn.

    One that found nothing bears no sign of its question. What people ask in a thread is answered in turn, so it belongs
    to the first question above that has no other, unless that was asked long before. Raises `PostingFailed`.
    """
    here, answers = inbound.message.thread, _answers(client, said)
    found = [one for parts in answers if _is_about(inbound, parts) for one in parts]
    if found or not is_thread:
        return found
    first = next(dropwhile(partial(_asks_nothing, client), said), None)
    signed = [parts for parts in answers if parts[0].reference is not None or any(map(buttons_of, parts))]
    mute = [parts for parts in answers if parts not in signed]
    if inbound.message.id == here.thread and answers and answers[0][0] is first and answers[0][0].reference is None:
        return answers[0]
    if not mute or (mute[0][0] is not first and _is_late(mute[0], inbound.message.id)):
        return ()
    place = client.get_partial_messageable(int(here.thread))
    around = await said_in(place, FEW, around=Object(int(inbound.message.id)))
    above = sorted((one for one in around if one.id < int(inbound.message.id)), key=lambda one: one.id, reverse=True)
    earlier = takewhile(lambda one: one.author != client.user, above)
    asked = [str(one.id) for one in earlier if not _asks_nothing(client, one) and not _is_late(mute[0], one.id)]
    refs = [inbound.model_copy(update={"message": MessageRef(thread=here, id=id_)}) for id_ in asked]
    waiting = [one for one in refs if not any(_is_about(one, parts) for parts in signed)]
    return next(iter(mute[len(waiting) :]), ())


def _is_late(parts: Sequence[Message], asked: str | int) -> bool:
    """Return whether an answer came so long after a question that it is one to something else."""
    return parts[0].created_at - snowflake_time(int(asked)) > LONGEST_TURN


def _is_current(inbound: Inbound, parts: Sequence[Message]) -> bool:
    """Return whether an answer is one to the newest words: its buttons know, if it has such; else times tell."""
    if votes := {name for one in parts for name in voted_on(one)}:
        return answer_id_of(inbound.message, inbound.revision) in votes
    return any(
        UPDATED in one.content or (one.edited_at or one.created_at).timestamp() * 1000 >= inbound.revision
        for one in parts
    )


def _answers(client: AutoShardedClient, said: Sequence[Message]) -> Sequence[Sequence[Message]]:
    """Return the messages of each answer: those that reply to nothing new, up to its end, or a question."""
    answers: list[list[Message]] = []
    is_open = False
    for one in said:
        if one.author != client.user or one.content.startswith(BUSY):
            is_open = is_open and _asks_nothing(client, one)
            continue
        if not is_open or one.reference is not None:
            answers.append([])
        answers[-1].append(one)
        is_open = not buttons_of(one) and not one.content.startswith(NO_CONTEXT)
    return answers


def _asks_nothing(client: AutoShardedClient, one: Message) -> bool:
    """Return whether somebody else said something without asking the bot, or got a mark in place of an answer."""
    is_marked = any(mark.me for mark in one.reactions)
    return one.author != client.user and (is_marked or ("?" not in one.content and client.user not in one.mentions))


def _is_about(inbound: Inbound, parts: Sequence[Message]) -> bool:
    """Return whether an answer says that it is one to a message."""
    return _replies_to(parts[0], inbound.message) or any(names_question(one, inbound.message) for one in parts)


def _replies_to(one: Message, message: MessageRef) -> bool:
    return one.reference is not None and str(one.reference.message_id) == message.id
