"""Asking a server of this machine for a page, as a host or a person would."""

from __future__ import annotations

import socket

from aiohttp import ClientSession


def free_port() -> int:
    """Find a port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


async def page(port: int, path: str) -> tuple[int, list[str]]:
    """Give the status and the lines of a page."""
    async with ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as answer:
        return answer.status, (await answer.text()).splitlines()
