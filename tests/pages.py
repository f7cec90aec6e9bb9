"""Asking a server of this machine for a page, as a host or a person would."""

from __future__ import annotations

from aiohttp import ClientSession


async def page(port: int, path: str) -> tuple[int, list[str]]:
    """Give the status and the lines of a page."""
    async with ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as answer:
        return answer.status, (await answer.text()).splitlines()
