"""What doctor learns of a store: what it is, what is wrong with it, and what could be better."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from adapters import redis
from adapters.redis.address import Address
from adapters.redis.connection import connect
from adapters.redis.health import HARMLESS, MAKING, UNTOLD, check
from core.errors import Misconfigured, StoreUnavailable
from tests.fixtures.redis import Place, all_keys, clean, place
from tests.servers import valkey
from tests.servers.valkey import Node, Shards, Watched


async def checked(url: str, *, allows_loss: bool = True, now: Callable[[], float] = time.time) -> str:
    """The line on a store."""
    async with aclosing(connect(url)) as client:
        says, advice = await check(client, str(Address.parse(url)), allows_loss=allows_loss, now=now)
        return " ".join([says, *advice])


SCRIPTED = re.compile(r"redis\.p?call\(([^,)]+)")  # its first argument, which may be one of two
CALLED = re.compile(r"_?(?:client|blocking)\.(?!register)([a-z]+)\(")
OTHERS = {"ACLOSE": "", "DELETE": "DEL", "EVALSHA": "EVALSHA", "INFO": "", "PING": ""}
"""What a command comes to where the server's has another name; some are none, or need no right or can do without."""


def test_every_command_that_is_needed_is_tried() -> None:
    """A user who lacks the right to one of them hears it from doctor, and not when it is too late."""
    folder = Path(redis.__file__).parent
    source = "\n".join(path.read_text() for path in folder.glob("*.py") if path.stem != "health")
    scripts = "\n".join(path.read_text() for path in folder.glob("scripts/*.lua"))
    scripted = {name for first in SCRIPTED.findall(scripts) for name in re.findall("'([A-Z]+)'", first)}
    scripted = {OTHERS.get(name, name) for name in scripted}
    used = scripted | {OTHERS.get(name.upper(), name.upper()) for name in CALLED.findall(source)}
    tried = {name.split()[0] for names in (*HARMLESS.values(), MAKING) for name in names.split(", ")}

    assert (used - tried - {""}, "HSETNX" in used, "HGETALL" in used) == (set(), True, True)


@pytest.fixture(name="where", params=["redis", "tls", "sentinel", "cluster"])
def _where(request: pytest.FixtureRequest) -> Place:
    return place(request.param, request)


async def test_a_healthy_store_is_named_in_one_line(where: Place) -> None:
    """Its kind, its version and its address; the probe leaves nothing behind."""
    async with clean(where.url) as client:
        name, _, address = (await checked(where.url)).partition(" at ")
        assert (name.split(" ")[0], address) == ("Valkey", str(Address.parse(where.url)))
        assert await all_keys(client) == []


@pytest.mark.parametrize(("ahead", "words"), [(60, "60 s behind"), (-60, "60 s ahead of"), (3, None)])
async def test_a_clock_that_is_wrong_is_said(redis_alone: Node, ahead: float, words: str | None) -> None:
    """More than five seconds count, in either direction."""
    says = await checked(f"redis://{redis_alone.host}", now=lambda: time.time() + ahead)

    assert ("clock" in says) == bool(words)
    assert (words or "") in says


@pytest.mark.parametrize(
    ("rules", "missing"),
    [
        (("-lset", "-eval"), "lacks these permissions: EVAL, LSET. Grant them"),
        (("-rpush", "-lpush"), "lacks these permissions: LPUSH, RPUSH. Grant them"),
        (("-hexists", "-hlen"), "lacks these permissions: HEXISTS, HLEN. Grant them"),
        (("-hsetnx",), "lacks these permissions: HSETNX. Grant them"),
        (("-hset", "-hincrby"), "lacks these permissions: HINCRBY, HSET. Grant them"),
        (
            ("-@stream",),
            "lacks these permissions: XACK, XADD, XCLAIM, XDEL, XGROUP CREATE, XGROUP DELCONSUMER, XINFO CONSUMERS, ",
        ),
        (("-xgroup|create", "-time"), "lacks these permissions: TIME, XGROUP CREATE. Grant them"),
        (("resetkeys", "~other:*"), r"lacks these permissions: footnote:\* keys. Grant them"),
    ],
)
async def test_missing_rights_are_listed(tmp_path: Path, rules: tuple[str, ...], missing: str) -> None:
    """All of them at once, so that they can be granted in one go."""
    with valkey.alone(tmp_path) as node:
        node.say("ACL", "SETUSER", "me", "on", ">hunter2", "+@all", "~footnote:*", *rules)
        with pytest.raises(Misconfigured, match=missing):
            await checked(f"redis://me:hunter2@{node.host}")


async def test_a_user_who_may_not_ask_about_the_server_may_use_it(tmp_path: Path) -> None:
    """Hosted servers often allow no more."""
    with valkey.alone(tmp_path, appendonly="no") as node:
        node.say("ACL", "SETUSER", "me", "on", ">hunter2", "+@all", "~footnote:*", "-info", "-config")
        says = await checked(f"redis://me:hunter2@{node.host}")
        assert says == f"a Redis server of unknown version at {node.host} {UNTOLD}"
        node.say("ACL", "SETUSER", "me", "+info")
        assert (await checked(f"redis://me:hunter2@{node.host}", allows_loss=False)).endswith(UNTOLD)
        node.say("ACL", "SETUSER", "me", "-info", "+config|get")
        with pytest.raises(Misconfigured, match="appendonly to yes"):
            await checked(f"redis://me:hunter2@{node.host}", allows_loss=False)
        node.say("CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru", "appendonly", "yes")
        with pytest.raises(Misconfigured, match="policy to noeviction"):
            await checked(f"redis://me:hunter2@{node.host}", allows_loss=False)
        node.say("CONFIG", "SET", "maxmemory", "0")
        assert (await checked(f"redis://me:hunter2@{node.host}", allows_loss=False)).endswith(node.host)


async def test_a_store_that_may_lose_questions_is_refused_unless_that_is_allowed(tmp_path: Path) -> None:
    """One that evicts, whatever it would take first, and one that keeps nothing on disk."""
    with valkey.alone(tmp_path, appendonly="no", maxmemory="100mb", maxmemory_policy="volatile-ttl") as node:
        url = f"redis://{node.host}"
        says = await checked(url)
        with pytest.raises(Misconfigured, match=r"policy to noeviction.* appendonly to yes.*REDIS_ALLOW_LOSS"):
            await checked(url, allows_loss=False)
        node.say("CONFIG", "SET", "save", "60 1", "maxmemory-policy", "noeviction")

        assert ("set maxmemory-policy to noeviction" in says, "set appendonly to yes" in says) == (True, True)
        assert (await checked(url, allows_loss=False)).endswith(f" at {node.host}")


async def test_every_node_of_a_cluster_is_looked_at(tmp_path: Path) -> None:
    """One that keeps nothing is enough."""
    with valkey.shards(tmp_path) as cluster:
        await checked(cluster.url, allows_loss=False)
        for node in cluster.nodes:
            node.say("CONFIG", "SET", "appendonly", "no")
            with pytest.raises(Misconfigured, match="set appendonly to yes"):
                await checked(cluster.url, allows_loss=False)
            node.say("CONFIG", "SET", "appendonly", "yes")


async def test_the_wrong_kind_of_server_is_told_with_the_right_form(
    redis_alone: Node, redis_watched: Watched, redis_shards: Shards
) -> None:
    """Whoever mixes up the forms learns which one it is."""
    wrong = {
        f"redis+cluster://{redis_alone.host}": "are not a cluster",
        f"redis+sentinel://{redis_alone.host}/m": "is not a Sentinel",
        f"redis://{redis_watched.sentinel.host}": r"Write redis\+sentinel://",
        f"redis://{redis_watched.replica.host}": "is a replica",
        f"redis://{redis_shards.nodes[0].host}": r"Write redis\+cluster://",
    }
    for url, words in wrong.items():
        with pytest.raises(Misconfigured, match=words):
            await checked(url)


async def test_a_wrong_login_is_for_the_operator(where: Place) -> None:
    """It does not pass by itself."""
    scheme, _, rest = where.url.partition("://")
    with pytest.raises(Misconfigured, match="Check the user and the password in REDIS_URL"):
        await checked(f"{scheme}://somebody:hunter2@{rest}")


async def test_a_store_that_is_away_is_unavailable() -> None:
    """It may come back by itself."""
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await checked("redis://127.0.0.1:1")
