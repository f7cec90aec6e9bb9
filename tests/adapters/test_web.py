"""Serving over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket

import pytest
from aiohttp import ClientConnectorError, request, web

from adapters.web import served
from core.errors import Misconfigured

HOST = "127.0.0.1"


async def _page(_: web.Request) -> web.Response:
    return web.Response(text="a page")


async def test_a_page_is_served_while_the_block_runs() -> None:
    """And no longer."""
    async with (
        served([web.get("/", _page)], HOST, 0, refusal="", shutdown_timeout=1) as port,
        request("GET", f"http://{HOST}:{port}/") as response,
    ):
        assert await response.text() == "a page"
    with pytest.raises(ClientConnectorError):
        async with request("GET", f"http://{HOST}:{port}/"):
            pass


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"], ids=["at once", "after another"])
async def test_whoever_does_not_come_to_the_end_of_a_request_is_cut_off(before: bytes) -> None:
    """However often another character of it comes, and whatever came before on the same connection."""
    async with served([web.get("/", _page)], HOST, 0, refusal="", shutdown_timeout=0, keepalive_timeout=0.05) as port:
        reading, writing = await asyncio.open_connection(HOST, port)
        writing.write(before)
        writing.write(b"GET / HTTP/1.1\r\nX-Slow: ")

        async def go_on() -> None:
            while True:
                writing.write(b"x")
                await asyncio.sleep(0.01)

        slow = asyncio.create_task(go_on())
        async with asyncio.timeout(5):
            with contextlib.suppress(ConnectionResetError):
                assert (await reading.read()).endswith(b"a page" if before else b"")
        slow.cancel()
        writing.close()


async def test_an_address_that_cannot_be_used_is_told_in_words() -> None:
    """They are those of whoever wants to serve."""
    async with served([], HOST, 0, refusal="", shutdown_timeout=0) as port:
        with pytest.raises(Misconfigured, match=r"Set PORT\."):
            async with served([], HOST, port, refusal="Set PORT.", shutdown_timeout=0):
                pass


@pytest.mark.parametrize("turns", range(5))
async def test_whoever_comes_while_it_ends_is_hung_up_on(turns: int) -> None:
    """Wherever a connection is on its way in, it is closed, and not left open without an answer."""
    with socket.socket() as visitor:
        async with served([web.get("/", _page)], HOST, 0, refusal="", shutdown_timeout=0) as port:
            visitor.connect((HOST, port))
            for _ in range(turns):
                await asyncio.sleep(0)
        visitor.setblocking(False)
        async with asyncio.timeout(5):
            with contextlib.suppress(ConnectionResetError):
                assert await asyncio.get_running_loop().sock_recv(visitor, 1) == b""
    gc.collect()
