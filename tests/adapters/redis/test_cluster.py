"""A cluster: keys that move, nodes that go, and TLS."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from redis.asyncio import RedisCluster

from adapters.redis.connection import connect, translated
from core.errors import StoreUnavailable
from tests.fixtures.redis import clean
from tests.servers import valkey
from tests.servers.tls import Certificate, Proxy
from tests.servers.valkey import Shards

KEY = "footnote:test"
ABSENT = "footnote:absent"


def slot(client: object, key: str) -> int:
    """The slot of a key."""
    return cast("RedisCluster", client).keyslot(key)


async def test_a_command_is_sent_on_when_its_key_has_moved(redis_shards: Shards) -> None:
    """The node that has the key no longer did nothing, so that sending it on is no repetition."""
    async with clean(redis_shards.url) as client:
        assert await client.get(KEY) is None
        redis_shards.move(slot(client, KEY))

        assert await client.incr(KEY) == 1
        assert await client.incr(KEY) == 2
        await client.expire(KEY, 60)


async def test_a_command_is_sent_on_while_its_key_moves(redis_shards: Shards) -> None:
    """The node that will have the key is asked to make an exception, and makes it once."""
    async with clean(redis_shards.url) as client:
        place = slot(client, ABSENT)
        old = redis_shards.owner(place)
        [new] = [node for node in redis_shards.nodes if node is not old]
        new.say("CLUSTER", "SETSLOT", place, "IMPORTING", str(old.say("CLUSTER", "MYID")))
        old.say("CLUSTER", "SETSLOT", place, "MIGRATING", str(new.say("CLUSTER", "MYID")))

        assert await client.incr(ABSENT) == 1
        for node in (new, old):
            node.say("CLUSTER", "SETSLOT", place, "NODE", str(new.say("CLUSTER", "MYID")))
        assert await client.incr(ABSENT) == 2
        await client.expire(ABSENT, 60)


async def test_a_cluster_whose_first_node_is_away_is_reached_by_another(redis_shards: Shards) -> None:
    """The address names several for this."""
    async with clean(f"redis+cluster://127.0.0.1:1,{redis_shards.nodes[1].host}") as client:
        assert await client.get(KEY) is None


async def test_a_cluster_that_is_away_is_unavailable() -> None:
    """The sentence is the same as for one server."""
    client = connect("redis+cluster://127.0.0.1:1,127.0.0.1:2")
    with pytest.raises(StoreUnavailable, match="cannot be reached"), translated():
        await client.get(KEY)
    await client.aclose()


async def test_every_node_is_reached_with_tls(tmp_path: Path, redis_certificate: Certificate) -> None:
    """The addresses that the cluster gives for its nodes are as good as the one in the setting."""
    with valkey.shards(tmp_path, count=1) as cluster, Proxy(cluster.nodes[0].port, redis_certificate) as proxy:
        cluster.nodes[0].say("CONFIG", "SET", "cluster-announce-port", proxy.port)
        async with clean(f"rediss+cluster://127.0.0.1:{proxy.port}?ssl_ca_certs={redis_certificate.ca}") as client:
            await client.set(KEY, "value", ex=60)
            assert await client.get(KEY) == b"value"

    assert proxy.secure > 0
