"""The copy of the private store on another server: broken off anywhere, nothing is lost, doubled, or used half."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from redis.asyncio import Redis

from adapters.redis.community import RedisPolicies
from adapters.redis.connection import connect
from adapters.redis.failure import HALF
from adapters.redis.server import NOT_EMPTY, copy_all
from core.errors import Misconfigured, StoreUnavailable
from core.model import ModerationOrder, OrderKind
from tests.builders import NOON, thread
from tests.fixtures.redis import all_keys, clean, say
from tests.inboxes import ADA
from tests.past import write_as_before
from tests.servers.valkey import Node

MOVER = "mover"


@dataclass
class Move:
    """The two servers; on the target, one user may write only some keys."""

    source: Redis
    target: Redis
    url: str

    async def break_off(self, after: int) -> None:
        """Copy, until the target refuses a key after so many."""
        keys = sorted(await all_keys(self.source))[:after]
        allowed = [b"~" + key.replace(b"\\", b"\\\\").replace(b"[", b"\\[") for key in (b"footnote:version", *keys)]
        await say(self.target, "ACL", "SETUSER", MOVER, "reset", "on", "nopass", "+@all", *allowed)
        mover = connect(self.url.replace("://", f"://{MOVER}:any@"))
        with pytest.raises(StoreUnavailable):
            await copy_all(self.source, mover)
        await mover.aclose()


@pytest.fixture(name="move")
async def _move(redis_url: str, redis_alone: Node) -> AsyncIterator[Move]:
    url = f"redis://{redis_alone.host}"
    async with clean(redis_url) as source, clean(url) as target:
        await write_as_before(source)
        yield Move(source, target, url)
        await say(target, "ACL", "DELUSER", MOVER)


async def held(client: Redis) -> dict[bytes, Any]:
    """Give all that is on a server: hashes, which have no order, by their fields, all else as it is written down."""
    kinds = {key: await say(client, "TYPE", key) for key in await all_keys(client)}
    return {key: await say(client, "HGETALL" if kind == b"hash" else "DUMP", key) for key, kind in kinds.items()}


@pytest.mark.promise("moves-whole")
@pytest.mark.parametrize("after", [0, 1, 7, 20])
async def test_a_move_that_is_broken_off_is_done_again(move: Move, after: int) -> None:
    """What was answered in between is not there twice, and what has come is."""
    await move.break_off(after)
    copied = await all_keys(move.target)
    gone = min(await all_keys(move.source))
    await move.source.delete(gone)
    await move.source.set("footnote:new", "1", px=60_000)
    number = await copy_all(move.source, move.target)

    assert len(copied) == after
    assert await held(move.target) == await held(move.source)
    assert number == len(await all_keys(move.source))
    assert 0 < await move.target.pttl("footnote:new") <= 60_000


@pytest.mark.promise("moves-whole")
async def test_nobody_works_with_half_of_what_was_moved(move: Move) -> None:
    """Who tries is told what to do; once all is there, it is theirs, and no second move changes it."""
    order, home = ModerationOrder(kind=OrderKind.PAUSE, about=""), thread().home
    await move.break_off(7)
    with pytest.raises(StoreUnavailable) as refused:
        await RedisPolicies(move.target).apply(home, order, by=ADA, at=NOON)
    await copy_all(move.source, move.target)
    policy = await RedisPolicies(move.target).load(home)
    with pytest.raises(Misconfigured) as again:
        await copy_all(move.source, move.target)

    assert (str(refused.value), str(again.value)) == (HALF, NOT_EMPTY)
    assert policy.paused_by is not None
