"""What every dedup promises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from hashlib import md5, sha1, sha256

import pytest
from redis.asyncio import Redis

from adapters.redis.dedup import RedisDedup
from adapters.redis.secrets import Seal
from core.ports import Dedup
from tests.fakes.dedup import MemoryDedup
from tests.fixtures.redis import all_keys, clean, place
from tests.inboxes import SECRET


@pytest.fixture(name="dedup", params=["memory", "redis", "cluster"])
async def _dedup(request: pytest.FixtureRequest) -> AsyncIterator[Dedup]:
    """Give one implementation after the other."""
    if request.param == "memory":
        yield MemoryDedup()
        return
    async with clean(place(request.param, request).url) as client:
        yield RedisDedup(client, pseudonym=Seal([SECRET]).pseudonym)


async def test_what_is_new_or_another_has_changed(dedup: Dedup) -> None:
    """What is the same has not, and each key is for itself."""
    values = ["a", "a", "b", "b", "a", ""]

    assert [await dedup.changed("commands", value) for value in values] == [True, False, True, False, True, True]
    assert await dedup.changed("hints", "a")
    assert not await dedup.changed("commands", "")


async def test_each_person_has_a_note_of_their_own(dedup: Dedup) -> None:
    """Under the same key, beside the one that is about nobody."""
    heard = [await dedup.changed("refused", "a", person=person) for person in ("Ada", "Bob", "Ada", "")]

    assert heard == [True, True, False, True]


async def test_a_note_names_nobody(redis_client: Redis) -> None:
    """Not even by a name that whoever knows the person can make: for that it takes the secret."""
    await RedisDedup(redis_client, pseudonym=Seal([SECRET]).pseudonym).changed("refused", "a", person="Ada")

    [name] = [each.decode() for each in await all_keys(redis_client)]
    made = {digest(b"Ada").hexdigest()[:16] for digest in (sha256, sha1, md5)}
    assert not {"Ada", *made} & {*name.split(":"), *(part[:16] for part in name.split(":"))}


async def test_what_is_taken_back_is_new_again(dedup: Dedup) -> None:
    """Twice is no error, and other keys stay."""
    await dedup.changed("commands", "a")
    await dedup.changed("hints", "a")
    await dedup.forget("commands")
    await dedup.forget("commands")

    assert [await dedup.changed(key, "a") for key in ("commands", "hints")] == [True, False]


async def test_of_several_at_once_one_hears_yes(dedup: Dedup) -> None:
    """So that one of them does what it is about."""
    heard = await asyncio.gather(*(dedup.changed("commands", "a") for _ in range(10)))

    assert sorted(heard) == [False] * 9 + [True]


async def test_one_of_several_holds_a_key(dedup: Dedup) -> None:
    """Until the end of the time that it said last, or until it lets go; other keys are free."""
    held = await asyncio.gather(*(dedup.hold("sync", name, seconds=60) for name in "abcd"))
    holder, other = "abcd"[held.index(True)], "abcd"[held.index(False)]
    again = [await dedup.hold("sync", name, seconds=0.05) for name in (other, holder)]
    elsewhere = await dedup.hold("moving", other, seconds=60)
    await asyncio.sleep(0.1)
    over = [await dedup.hold("sync", name, seconds=60) for name in (other, holder)]
    await dedup.forget("sync")

    assert (sorted(held), again, elsewhere, over) == ([False] * 3 + [True], [False, True], True, [True, False])
    assert await dedup.hold("sync", holder, seconds=60)


async def test_keys_and_values_may_hold_any_characters(dedup: Dedup) -> None:
    """Braces, blanks, line breaks and other scripts."""
    words = ["{a}", "{b}", "a b", "\n", "نص 🤖"]

    assert [await dedup.changed(word, word) for word in words] == [True] * 5
    assert [await dedup.changed(word, word) for word in words] == [False] * 5
