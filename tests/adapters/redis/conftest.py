"""What tests of the store share: servers with an inbox on them, one of which goes by a clock of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from redis.asyncio import Redis

from adapters.redis.connection import connect
from tests.adapters.redis.desk import Desk
from tests.servers.clock import ServerClock
from tests.servers.valkey import Node, alone


@pytest.fixture(name="desk")
async def _desk(redis_client: Redis, redis_url: str) -> AsyncIterator[Desk]:
    blocking = connect(redis_url, blocking=True)
    yield Desk(redis_client, blocking)
    await blocking.aclose()


@pytest.fixture(name="clock", scope="module")
def _clock(tmp_path_factory: pytest.TempPathFactory) -> ServerClock:
    return ServerClock(tmp_path_factory.mktemp("clock") / "lib")


@pytest.fixture(name="server", scope="module")
def _server(clock: ServerClock, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with alone(tmp_path_factory.mktemp("clocked"), clock=clock) as server:
        yield server
