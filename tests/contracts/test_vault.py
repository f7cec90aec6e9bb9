"""What every vault promises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from adapters.redis.secrets import VAULT, RedisVault, Seal
from core.ports import Vault
from tests.fakes.vault import MemoryVault
from tests.fixtures.redis import NO_EXPIRY, clean, place

SECRET = "a secret that is long enough for a test"
OTHER_SECRET = "another secret, also long enough for one"
MOMENT, HOUR = timedelta(milliseconds=1), timedelta(hours=1)


@pytest.fixture(name="vault", params=["memory", "redis", "cluster"])
async def _vault(request: pytest.FixtureRequest) -> AsyncIterator[Vault]:
    """Give one implementation after the other."""
    if request.param == "memory":
        yield MemoryVault()
        return
    async with clean(place(request.param, request).url) as client:
        yield RedisVault(client, seal=Seal([SECRET]))


async def test_what_is_saved_comes_back_until_it_is_replaced_or_removed(vault: Vault) -> None:
    """Whatever its characters are; each key is for itself, and removing nothing is no error."""
    await vault.save("{a} b:c", "xoxb-1 نص 🤖\n")
    await vault.save("other", "", HOUR)
    first = [await vault.load(key) for key in ("{a} b:c", "other", "nowhere")]
    await vault.save("{a} b:c", "xoxb-2")
    second = await vault.load("{a} b:c")
    await vault.remove("{a} b:c")
    await vault.remove("{a} b:c")

    assert first == ["xoxb-1 نص 🤖\n", "", None]
    assert (second, await vault.load("{a} b:c"), await vault.load("other")) == ("xoxb-2", None, "")


@pytest.mark.promise("expiry")
async def test_keys_are_found_by_how_they_begin(vault: Vault) -> None:
    """What was removed is none of them."""
    for key in ("team:b", "team:a", "team:gone", "other:a"):
        await vault.save(key, "x")
    await vault.remove("team:gone")

    assert [list(await vault.keys(beginning)) for beginning in ("team:", "nothing")] == [["team:a", "team:b"], []]


async def test_what_has_a_time_is_gone_when_it_is_over(vault: Vault) -> None:
    """And what is saved anew has the new time only."""
    await vault.save("short", "text", MOMENT)
    await vault.save("longer", "text", MOMENT)
    await vault.save("longer", "text")

    async with asyncio.timeout(10):
        while await vault.load("short") is not None:
            pass

    assert await vault.load("longer") == "text"


@pytest.mark.promise("encrypted")
async def test_on_the_server_a_text_can_be_read_with_the_key_and_at_its_place_only(redis_url: str) -> None:
    """Neither its bytes, nor a copy of them under another name, nor another key gives it away."""
    async with clean(redis_url) as client:
        vault = RedisVault(client, seal=Seal([SECRET]))
        await vault.save("mine", "xoxb-token", HOUR)
        sealed = await client.get(f"{VAULT}mine")
        assert isinstance(sealed, bytes)
        await client.set(f"{VAULT}copy", sealed, px=HOUR)
        rotated = RedisVault(client, seal=Seal([OTHER_SECRET, SECRET]))

        assert b"xoxb" not in sealed
        assert await client.pttl(f"{VAULT}mine") > NO_EXPIRY
        assert (await vault.load("copy"), await rotated.load("mine")) == (None, "xoxb-token")
        assert await RedisVault(client, seal=Seal([OTHER_SECRET])).load("mine") is None
