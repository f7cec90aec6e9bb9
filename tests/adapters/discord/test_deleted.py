"""What is deleted on Discord is forgotten: messages of answers while the bot was away, threads, channels, guilds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from core.errors import StoreUnavailable
from core.model import MessageRef, Policy, ThreadRef, Turn, WorkspaceRef
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.ears import listening
from tests.builders import NOON
from tests.fakes.box import Box
from tests.fakes.conversations import MemoryConversations
from tests.fakes.dedup import MemoryDedup
from tests.fakes.moderation import MemoryPolicies
from tests.servers.discord import Channel, DiscordServer, Message
from tests.servers.discord.permissions import Permission
from tests.servers.service import Reset
from tests.waiting import at_once, wait_until

HISTORY = "GET /channels/{channel}/messages"


@pytest.fixture(name="conversations")
def _conversations() -> MemoryConversations:
    return MemoryConversations(ttl=timedelta(hours=1), now=lambda: NOON)


def thread_of(channel: Channel, thread: int) -> ThreadRef:
    """Name a thread of a channel, or one that could begin there."""
    guild = str(channel.guild_id or "@me")
    return ThreadRef(platform="discord", workspace=guild, channel=str(channel.id), thread=str(thread))


def turn(asked: Message, where: ThreadRef, answers: Sequence[Message]) -> Turn:
    """One exchange, whose answer stands in some messages."""
    parts = [
        MessageRef(thread=where.model_copy(update={"thread": str(one.channel_id)}), id=str(one.id)) for one in answers
    ]
    ref = MessageRef(thread=where, id=str(asked.id))
    return Turn(question_ref=ref, question="?", answer="!", at=NOON, messages=tuple(parts))


@pytest.mark.promise("forget")
async def test_what_was_deleted_while_the_bot_was_away_is_found(
    server: DiscordServer, place: Place, conversations: MemoryConversations
) -> None:
    """Parts of answers and questions: in threads, posts, channels and direct messages; what stands there is left."""
    box, gone = Box(), list[Message]()
    forum, alone, direct = server.add_channel(place.guild, "help", forum=True), place.channel, server.dm(place.ada)
    for number in range(3):  # of these, the first is left, of the second a part is gone, and of the third the question
        asked = server.post_as(place.ada, place.channel, "What?")
        thread = server.thread_as(server.bot, asked)
        post, first = server.post_in_forum_as(place.ada, forum, "Stuck", "Why?")
        for where, question, room in (
            (thread_of(place.channel, thread.id), asked, thread),
            (thread_of(forum, post.id), first, post),
            (thread_of(alone, (lone := server.post_as(place.ada, alone, "Who?")).id), lone, alone),
            (thread_of(direct, direct.id), server.post_as(place.ada, direct, "When?"), direct),
        ):
            parts = [server.post_as(server.bot, room, f"part {part}") for part in range(2)]
            await conversations.append(where, turn(question, where, parts))
            gone += [[], parts[1:], [question]][number]
    for message in gone:
        server.delete_as(place.ada, message)
    async with listening(server, box, conversations=conversations):
        found = [await box.next() for _ in gone]

    assert sorted(each.message.id for each in found) == sorted(str(message.id) for message in gone)
    assert {each.kind for each in found} == {"deleted"}


@pytest.mark.promise("forget")
@pytest.mark.parametrize("denied", [Permission.READ_MESSAGE_HISTORY, Permission.VIEW_CHANNEL])
async def test_what_the_bot_may_not_read_counts_as_there(
    server: DiscordServer, place: Place, conversations: MemoryConversations, denied: Permission
) -> None:
    """Discord says of a channel without history that nothing was said there."""
    asked = server.post_as(place.ada, place.channel, "What?")
    where = thread_of(place.channel, asked.id)
    await conversations.append(where, turn(asked, where, [server.post_as(server.bot, place.channel, "This.")]))
    server.deny(place.channel, denied)
    direct = server.dm(place.ada)
    last = server.post_as(place.ada, direct, "And?")
    await conversations.append(thread_of(direct, direct.id), turn(last, thread_of(direct, direct.id), []))
    server.delete_as(place.ada, last)
    box = Box()
    async with listening(server, box, conversations=conversations):
        assert (await box.next()).message.id == str(last.id)


@pytest.mark.promise("forget")
async def test_of_a_thread_that_is_gone_all_is(
    server: DiscordServer, place: Place, conversations: MemoryConversations
) -> None:
    """Where it was deleted while the bot was away; a platform that is busy is asked again."""
    asked = server.post_as(place.ada, place.channel, "What?")
    thread = server.thread_as(server.bot, asked)
    answer, where = server.post_as(server.bot, thread, "This."), thread_of(place.channel, thread.id)
    await conversations.append(where, turn(asked, where, [answer]))
    server.delete_channel(thread)
    server.faults.add(HISTORY, Reset(), Reset())
    box = Box()
    async with listening(server, box, conversations=conversations, sleep=at_once):
        gone = await box.next()

    assert (gone.kind, gone.message.id) == ("deleted", str(answer.id))
    assert len(server.faults.met) == 2


@pytest.mark.promise("forget-workspace")
async def test_a_thread_and_a_channel_that_are_deleted_are_forgotten(
    server: DiscordServer, place: Place, conversations: MemoryConversations
) -> None:
    """As soon as the store is there, with all that is in them, and nothing else."""
    channel, kept, threads = server.add_channel(place.guild, "b"), list[ThreadRef](), list[Channel]()
    for room in (place.channel, channel, channel, place.channel):
        asked = server.post_as(place.ada, room, "What?")
        threads.append(server.thread_as(server.bot, asked))
        kept.append(thread_of(room, asked.id))
        await conversations.append(kept[-1], turn(asked, kept[-1], []))
    async with listening(server, Box(), conversations=conversations):
        conversations.fails = True
        server.delete_channel(threads[0])
        server.delete_channel(channel)
        await asyncio.sleep(0.05)
        conversations.fails = False
        async with asyncio.timeout(5):
            while len(left := await conversations.threads()) > 1:  # noqa: ASYNC110 - a store tells of nothing
                await asyncio.sleep(0.005)

    assert left == kept[3:]


@pytest.mark.promise("forget-workspace")
async def test_a_guild_that_threw_the_bot_out_while_it_was_away_is_forgotten(
    server: DiscordServer, place: Place
) -> None:
    """At the next start of the same bot, and once the store is there; what another bot was told elsewhere is left."""
    left = WorkspaceRef(platform="discord", workspace=str(server.add_guild("Left").id))
    here, direct = (left.model_copy(update={"workspace": name}) for name in (str(place.guild.id), "@me"))
    policies, dedup, gone = MemoryPolicies(), MemoryDedup(), list[WorkspaceRef]()
    for home in (left, here, direct):
        policies.set(home, Policy(auto_answer=frozenset({"1"})))

    async def purge(home: WorkspaceRef) -> None:
        gone.append(home)
        if len(gone) == 1:
            raise StoreUnavailable("The store cannot be reached. Try again in a moment.")

    def is_known() -> bool:
        return dedup.notes["discord:bot"] == str(server.bot.id)

    server.kick_bot(server.platform.guilds[int(left.workspace)])
    dedup.notes["discord:bot"] = "another"
    async with listening(server, Box(), policies=policies, dedup=dedup, purge=purge):
        await wait_until(is_known, what="who the bot is")
    assert gone == []
    async with listening(server, Box(), policies=policies, dedup=dedup, purge=purge):
        await wait_until(lambda: len(gone) > 1, what="the second attempt")

    assert gone == [left] * 2
