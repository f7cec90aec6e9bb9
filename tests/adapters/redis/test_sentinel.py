"""A master behind Sentinels: it is found, and found again when another has taken its place."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from redis.asyncio import Redis

from adapters.redis.connection import connect, translated
from core.errors import StoreUnavailable
from tests.fixtures.redis import clean, say
from tests.servers import valkey
from tests.servers.tls import Certificate, Proxy
from tests.servers.valkey import MASTER, Node, Watched

KEY = "footnote:test"
LONGEST_FAILOVER = 10.0  # seconds


async def written_again(client: Redis) -> None:
    """Write as soon as there is a master."""
    async with asyncio.timeout(LONGEST_FAILOVER):
        while True:
            try:
                with translated():
                    await client.set(KEY, "after", ex=60)
            except StoreUnavailable:
                await asyncio.sleep(0.02)
            else:
                return


def askers(sentinel: Node) -> int:
    """Count the connections whose last question to a Sentinel was that for its masters."""
    return str(sentinel.say("CLIENT", "LIST")).count("cmd=sentinel|masters")


@pytest.mark.promise("data-survives")
async def test_a_replica_takes_the_place_of_a_master_that_died(tmp_path: Path) -> None:
    """What it had confirmed is there, the store can be written to again, and nothing of ours was started anew."""
    with valkey.watched(tmp_path, down_after=300) as servers:
        client = connect(servers.url)
        await client.set(f"{KEY}:before", "before", ex=60)
        assert await say(client, "WAIT", "1", "30000") == 1  # the replica has it
        servers.master.kill()
        with pytest.raises(StoreUnavailable), translated():
            await client.get(f"{KEY}:before")

        await written_again(client)
        assert await client.mget([f"{KEY}:before", KEY]) == [b"before", b"after"]
        assert servers.replica.say("GET", KEY) == "after"
        await client.aclose()


async def test_a_master_that_became_a_replica_is_left(tmp_path: Path) -> None:
    """A connection to it is closed at its first refusal, and the next call asks the Sentinels."""
    with valkey.watched(tmp_path) as servers:
        client = connect(servers.url)
        await client.set(KEY, "before", ex=60)
        servers.master.say("REPLICAOF", "127.0.0.1", servers.replica.port)
        with pytest.raises(StoreUnavailable, match="cannot be reached"), translated():
            await client.set(KEY, "during", ex=60)

        servers.master.say("REPLICAOF", "NO", "ONE")
        await written_again(client)
        assert servers.master.say("GET", KEY) == "after"
        await client.aclose()


@pytest.mark.parametrize("hosts", ["127.0.0.1:1", "127.0.0.1:1,{sentinel}"])
async def test_a_master_that_no_sentinel_names_is_said(redis_watched: Watched, hosts: str) -> None:
    """The Sentinels may be away, or not know the name."""
    client = connect(f"redis+sentinel://{hosts.format(sentinel=redis_watched.sentinel.host)}/unknown")
    with pytest.raises(StoreUnavailable, match="No Sentinel in REDIS_URL names a master that is up"), translated():
        await client.get(KEY)
    await client.aclose()


async def test_a_sentinel_that_is_away_is_passed_over(redis_watched: Watched) -> None:
    """The next one in the address is asked."""
    async with clean(f"redis+sentinel://127.0.0.1:1,{redis_watched.sentinel.host}/{MASTER}") as client:
        assert await client.get(KEY) is None


async def test_connections_that_are_opened_at_once_share_one_question(redis_watched: Watched) -> None:
    """Fifty of them would keep a Sentinel busy for longer than a caller waits."""
    async with clean(redis_watched.url):
        client, before = connect(redis_watched.url), askers(redis_watched.sentinel)
        await asyncio.gather(*(client.get(f"{KEY}:{number}") for number in range(200)))
        assert askers(redis_watched.sentinel) - before == 1
        await client.aclose()


async def test_whoever_goes_away_leaves_the_question_to_the_others(redis_watched: Watched) -> None:
    """The first caller asked the Sentinels, and is broken off before they answer."""
    async with clean(redis_watched.url):
        client = connect(redis_watched.url)
        first, second = (asyncio.ensure_future(client.get(KEY)) for _ in range(2))
        redis_watched.sentinel.freeze()
        await asyncio.sleep(0.05)
        first.cancel()
        redis_watched.sentinel.thaw()
        assert await second is None
        await client.aclose()


async def test_sentinels_have_a_login_of_their_own(tmp_path: Path) -> None:
    """It stands behind the question mark; without it nobody says where the master is."""
    with valkey.watched(tmp_path) as servers:
        servers.sentinel.say("ACL", "SETUSER", "it", "on", ">y&z", "+@all")
        servers.sentinel.say("ACL", "SETUSER", "default", "-@all", "+hello", "+client", "+ping")
        stranger, client = connect(servers.url), connect(f"{servers.url}?sentinel_username=it&sentinel_password=y%26z")
        with pytest.raises(StoreUnavailable), translated():
            await stranger.get(KEY)

        assert await client.get(KEY) is None
        await stranger.aclose()
        await client.aclose()


async def test_sentinels_and_master_are_both_reached_with_tls(
    redis_watched: Watched, redis_certificate: Certificate
) -> None:
    """Neither connection is plain."""
    sentinel, master = redis_watched.sentinel, redis_watched.master
    with Proxy(sentinel.port, redis_certificate) as one, Proxy(master.port, redis_certificate) as other:
        sentinel.say("SENTINEL", "MONITOR", "secure", "127.0.0.1", other.port, 1)
        url = f"rediss+sentinel://127.0.0.1:{one.port}/secure?ssl_ca_certs={redis_certificate.ca}"
        async with clean(url) as client:
            assert await client.get(KEY) is None
        sentinel.say("SENTINEL", "REMOVE", "secure")

    assert (one.secure > 0, other.secure > 0) == (True, True)
