"""Conversations in Redis: what is on the server and on its disk, and what happens to values that cannot be read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest
from redis.asyncio import Redis

from adapters.redis.connection import connect
from adapters.redis.conversations import KEPT_TURNS, RedisConversations
from adapters.redis.secrets import Seal
from adapters.redis.server import PrivateServer
from core.errors import Misconfigured, StoreUnavailable
from core.model import Conversation, MessageRef, Turn
from tests.builders import NOON, thread
from tests.fixtures.redis import all_keys, keys_without_expiry, say

HOUR = timedelta(hours=1)
SECRET = "a secret that is long enough for a test"
OTHER = "another secret that is long enough as well"
KEY = "footnote:conversation:{test:w:c:1}"


def turn(number: int, *, in_thread: str = "1") -> Turn:
    """A short exchange."""
    ref = MessageRef(thread=thread(in_thread), id=str(number))
    return Turn(question_ref=ref, question="Does xyzzy-planted stay?", answer="plugh-planted", at=NOON)


def store(client: Redis, *secrets: str) -> RedisConversations:
    """A store over the client of a test."""
    return RedisConversations(client, ttl=HOUR, seal=Seal(secrets or (SECRET,)))


def conversation(*numbers: int) -> Conversation:
    """What a store should give for these turns."""
    return Conversation(thread=thread(), turns=tuple(turn(number) for number in numbers))


def everything_in(folder: Path) -> bytes:
    """The content of all files in a folder, put together."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_a_thread_is_one_key_with_an_expiry(redis_client: Redis) -> None:
    """The key names the thread in braces, so that a cluster keeps it in one place, and ends after the TTL."""
    await store(redis_client).append(thread(), turn(1).model_copy(update={"author_id": "p:1"}))

    assert await all_keys(redis_client) == [KEY.encode()]
    assert 0 < await redis_client.pttl(KEY) <= HOUR // timedelta(milliseconds=1)


async def test_only_the_newest_turns_are_kept(redis_client: Redis) -> None:
    """A thread that never ends does not grow for ever, and a repeated append pushes nothing out."""
    conversations = store(redis_client)
    for number in range(KEPT_TURNS + 2):
        await conversations.append(thread(), turn(number))
    await conversations.append(thread(), turn(2))

    assert await conversations.load(thread()) == conversation(*range(2, KEPT_TURNS + 2))


async def test_a_value_that_was_moved_to_another_thread_is_not_read(redis_client: Redis) -> None:
    """Whoever can write to the server cannot put words of one thread into another."""
    await store(redis_client).append(thread(), turn(1))
    await redis_client.rename(KEY, KEY.replace(":1}", ":2}"))

    assert not (await store(redis_client).load(thread("2"))).turns


async def test_a_value_under_the_name_of_another_question_is_not_read(redis_client: Redis) -> None:
    """A turn cannot be passed off as the answer to another question."""
    await store(redis_client).append(thread(), turn(1))
    entries = cast("list[bytes]", await say(redis_client, "LRANGE", KEY, "0", "-1"))
    _, _, sealed = entries[0].partition(b" ")
    await say(redis_client, "LSET", KEY, "0", b"test:w:c:1:2 " + sealed)

    assert not (await store(redis_client).load(thread())).turns


@pytest.mark.promise("unreadable-is-none")
async def test_one_unreadable_turn_is_skipped(redis_client: Redis) -> None:
    """Turns under a lost secret, of another form, or of junk do not hide the others."""
    await store(redis_client, OTHER).append(thread(), turn(1))
    await store(redis_client).append(thread(), turn(2))
    for junk in (b"", b" ", b"junk", b"test:w:c:1:7 \x01junk", b"\xff\xfe \xff"):
        await say(redis_client, "RPUSH", KEY, junk)
    older = Seal([SECRET]).encrypt('{"question": "an older form"}', place=f"{KEY} test:w:c:1:8")
    await say(redis_client, "RPUSH", KEY, b"test:w:c:1:8 " + older)

    assert await store(redis_client).load(thread()) == conversation(2)


async def test_a_conversation_under_a_lost_secret_is_none_and_starts_afresh(redis_client: Redis) -> None:
    """The next turn is remembered as the first."""
    await store(redis_client, OTHER).append(thread(), turn(1))

    assert not (await store(redis_client).load(thread())).turns
    await store(redis_client).append(thread(), turn(2))
    assert await store(redis_client).load(thread()) == conversation(2)


@pytest.mark.promise("key-rotation")
async def test_a_conversation_survives_the_change_of_secrets(redis_client: Redis) -> None:
    """With both secrets the old turns are read and the new one is added."""
    await store(redis_client, OTHER).append(thread(), turn(1))
    await store(redis_client, SECRET, OTHER).append(thread(), turn(2))

    assert await store(redis_client, SECRET, OTHER).load(thread()) == conversation(1, 2)


async def test_a_key_of_another_kind_counts_as_none(redis_client: Redis) -> None:
    """Something else in the key's place is not read, and the next append takes the place."""
    await say(redis_client, "SET", KEY, "something else", "EX", "60")
    conversations = store(redis_client)

    assert not (await conversations.load(thread())).turns
    assert not await conversations.remove(turn(1).question_ref)
    await conversations.append(thread(), turn(1))
    assert await conversations.load(thread()) == conversation(1)


@pytest.mark.promise("encrypted")
async def test_no_word_of_a_conversation_reaches_the_disk(tmp_path: Path) -> None:
    """The server's files hold the thread's key and none of its texts, nor the secret."""
    async with PrivateServer(tmp_path) as url:
        client = connect(url)
        await store(client).append(thread(), turn(1))
        await client.aclose()

    written = everything_in(tmp_path)
    assert KEY.encode() in written
    assert [word for word in (b"planted", b"xyzzy", SECRET.encode()) if word in written] == []


async def test_a_full_server_is_unavailable_in_plain_words(redis_client: Redis) -> None:
    """What is stored can still be read and forgotten; the vendor's words stay in the cause."""
    conversations = store(redis_client)
    await conversations.append(thread(), turn(1))
    await say(redis_client, "CONFIG", "SET", "maxmemory", "1")

    with pytest.raises(StoreUnavailable, match="is full") as caught:
        await conversations.append(thread(), turn(2))
    assert "OOM" not in str(caught.value)
    assert "maxmemory" in str(caught.value.__cause__)
    assert await conversations.load(thread()) == conversation(1)
    assert await conversations.forget(thread())


async def test_a_refusal_says_that_it_is_one(redis_client: Redis) -> None:
    """A server that may not be written to is neither full nor away."""
    await say(redis_client, "CONFIG", "SET", "min-replicas-to-write", "1")
    try:
        with pytest.raises(StoreUnavailable, match="refused the request"):
            await store(redis_client).append(thread(), turn(1))
    finally:
        await say(redis_client, "CONFIG", "SET", "min-replicas-to-write", "0")


async def test_a_server_that_forgot_its_scripts_is_taught_again(redis_client: Redis) -> None:
    """A restart or a flush of the scripts costs nothing."""
    conversations = store(redis_client)
    await conversations.append(thread(), turn(1))
    await say(redis_client, "SCRIPT", "FLUSH")
    await conversations.append(thread(), turn(2))

    assert await conversations.load(thread()) == conversation(1, 2)


async def test_no_time_to_live_is_refused(redis_client: Redis) -> None:
    """Conversations that end at once would be lost without a word."""
    with pytest.raises(Misconfigured, match="longer than zero"):
        RedisConversations(redis_client, ttl=timedelta(0), seal=Seal([SECRET]))


async def test_a_key_without_an_expiry_is_noticed(redis_client: Redis) -> None:
    """The walk after every test finds what would stay for ever."""
    await say(redis_client, "SET", "for-ever", "1")
    await say(redis_client, "SET", "for-a-time", "1", "EX", "60")

    assert await keys_without_expiry(redis_client) == [b"for-ever"]
    await redis_client.delete("for-ever")
