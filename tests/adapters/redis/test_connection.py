"""Reaching a server: addresses, limits, and servers that are away."""

from __future__ import annotations

import asyncio
import itertools
import socket
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest
import uvloop
from redis.asyncio import Redis

from adapters.redis.connection import connect, translated
from adapters.redis.server import PrivateServer
from core.errors import Misconfigured, StoreUnavailable
from tests.fixtures.redis import say
from tests.servers import valkey
from tests.waiting import wait_until


@pytest.mark.parametrize("url", ["", "localhost", "http://localhost", "redis://localhost?socket_timeout=soon"])
def test_something_else_than_an_address_is_refused(url: str) -> None:
    """The message shows what an address looks like."""
    with pytest.raises(Misconfigured, match="redis://localhost:6379/0"):
        connect(url)


@pytest.mark.promise("plain-errors")
async def test_a_server_that_is_away_is_unavailable_without_its_address() -> None:
    """Neither the password nor the address in the URL gets into the message."""
    client = connect("redis://somebody:hunter2@localhost:1/0")

    with pytest.raises(StoreUnavailable) as caught, translated():
        await client.get("key")
    await client.aclose()
    assert str(caught.value) == "The data store cannot be reached. Try again in a moment."


async def test_a_wrong_password_is_a_matter_of_the_login(tmp_path: Path) -> None:
    """The message names the setting, not the password."""
    async with PrivateServer(tmp_path) as url:
        owner, stranger = connect(url), connect(f"{url}&password=hunter2")
        await say(owner, "CONFIG", "SET", "requirepass", "something else")
        with pytest.raises(StoreUnavailable) as caught, translated():
            await stranger.get("key")
        await owner.aclose()
        await stranger.aclose()

    wanted = "The data store refused the login. Check the user and the password in REDIS_URL."
    assert str(caught.value) == wanted


async def test_more_callers_than_connections_wait_for_their_turn(redis_url: str) -> None:
    """Two hundred at once are all served."""
    client = connect(redis_url)
    answers = await asyncio.gather(*(say(client, "ECHO", str(number)) for number in range(200)))
    await client.aclose()

    assert answers == [str(number).encode() for number in range(200)]


async def test_a_restarted_server_costs_no_error(tmp_path: Path) -> None:
    """A client that was connected before goes on as if nothing had happened, and finds the data."""
    async with PrivateServer(tmp_path) as url:
        client = connect(url)
        await say(client, "SET", "key", "value", "EX", "60")

    async with PrivateServer(tmp_path):
        assert await client.get("key") == b"value"
        await client.aclose()


@pytest.mark.promise("data-survives")
async def test_a_crash_in_the_middle_of_writing_loses_nothing_that_was_confirmed(tmp_path: Path) -> None:
    """The client goes on by itself, everything confirmed is there once, and nothing is there twice."""
    with valkey.alone(tmp_path) as node:
        client = connect(f"redis://{node.host}")
        confirmed: list[bytes] = []
        enough = asyncio.Event()
        writing = asyncio.create_task(write(client, confirmed, enough))
        await wait_until(lambda: len(confirmed) > 50, what="the first writes")
        await asyncio.to_thread(node.kill)
        before = len(confirmed)
        node.start()
        await wait_until(lambda: len(confirmed) > before + 50, what="the writes after the crash")
        enough.set()
        await writing

        stored = cast("list[bytes]", await say(client, "LRANGE", "key", "0", "-1"))
        assert len(stored) == len(set(stored))
        assert set(confirmed) - set(stored) == set()
        await client.aclose()


async def write(client: Redis, confirmed: list[bytes], enough: asyncio.Event) -> None:
    """Write numbers until there are enough, and keep those that the server has confirmed."""
    for number in itertools.count():
        if enough.is_set():
            return
        with suppress(StoreUnavailable), translated():
            await say(client, "RPUSH", "key", str(number))
            confirmed.append(str(number).encode())
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("script", "is_final"),
    [
        ("return redis.call('LPUSH', KEYS[1], 1)", True),
        ("local nothing; return nothing.there", True),
        ("return redis.error_reply('ERR busy')", False),
        ("return redis.error_reply('OOM script: 1, on @user_script:1.')", False),
        ("return redis.error_reply('ERR Error running script (call to f_1): @user_script:1: user_script:1: no')", True),
        ("return redis.error_reply('ERR Error running script (call to f_1): @user_script: 1: OOM')", False),
    ],
)
async def test_a_refusal_is_final_only_where_that_is_certain(
    redis_client: Redis, script: str, *, is_final: bool
) -> None:
    """A key of another kind, and a script that breaks, as old servers say it too."""
    await redis_client.set("key", "a word", px=60_000)
    with pytest.raises(StoreUnavailable) as refused, translated():
        await say(redis_client, "EVAL", script, "1", "key")

    assert refused.value.is_final == is_final


async def test_a_cancellation_is_never_swallowed(redis_client: Redis) -> None:
    """Whichever step of a call it comes at."""

    async def call() -> None:
        with translated():
            await redis_client.get("key")

    await call()
    ends: list[bool] = []
    for steps in range(500):
        calling = asyncio.create_task(call())
        for _ in range(steps % 10):
            await asyncio.sleep(0)
        if was_under_way := not calling.done():
            calling.cancel()
        await asyncio.wait({calling})
        ends.append(calling.cancelled() == was_under_way)

    assert all(ends)


def test_a_connection_that_uvloop_has_closed_is_a_store_out_of_reach() -> None:
    """Nobody else takes that error for what it is, and what it ended in the background never began again."""

    async def write_late(own: socket.socket) -> None:
        _, writer = await asyncio.open_connection(sock=own)
        writer.transport.abort()
        await asyncio.sleep(0.01)  # until the loop has closed it
        with translated():
            writer.writelines([b"PING"])

    own, other = socket.socketpair()
    with other, pytest.raises(StoreUnavailable), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(write_late(own))
