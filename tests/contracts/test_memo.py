"""What every memo promises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.redis.dedup import RedisDedup
from core.ports import Memo
from tests.fakes.memo import MemoryMemo
from tests.fixtures.redis import clean, place


@pytest.fixture(name="memo", params=["memory", "redis", "cluster"])
async def _memo(request: pytest.FixtureRequest) -> AsyncIterator[Memo]:
    """Give one implementation after the other."""
    if request.param == "memory":
        yield MemoryMemo()
        return
    async with clean(place(request.param, request).url) as client:
        yield RedisDedup(client)


async def test_what_is_new_or_another_has_changed(memo: Memo) -> None:
    """What is the same has not, and each key is for itself."""
    values = ["a", "a", "b", "b", "a", ""]

    assert [await memo.changed("commands", value) for value in values] == [True, False, True, False, True, True]
    assert await memo.changed("hints", "a")
    assert not await memo.changed("commands", "")


async def test_what_is_taken_back_is_new_again(memo: Memo) -> None:
    """Twice is no error, and other keys stay."""
    await memo.changed("commands", "a")
    await memo.changed("hints", "a")
    await memo.forget("commands")
    await memo.forget("commands")

    assert [await memo.changed(key, "a") for key in ("commands", "hints")] == [True, False]


async def test_of_several_at_once_one_hears_yes(memo: Memo) -> None:
    """So that one of them does what it is about."""
    heard = await asyncio.gather(*(memo.changed("commands", "a") for _ in range(10)))

    assert sorted(heard) == [False] * 9 + [True]


async def test_keys_and_values_may_hold_any_characters(memo: Memo) -> None:
    """Braces, blanks, line breaks and other scripts."""
    words = ["{a}", "{b}", "a b", "\n", "نص 🤖"]

    assert [await memo.changed(word, word) for word in words] == [True] * 5
    assert [await memo.changed(word, word) for word in words] == [False] * 5
