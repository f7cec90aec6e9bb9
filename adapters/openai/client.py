"""One way to reach an endpoint, with every time limit said aloud.

Of the environment, only what belongs to the machine counts: its proxies and its certificates.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OFFICIAL = "https://api.openai.com/v1"
NO_KEY = "none"  # the client insists on one; endpoints without keys ignore it


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds to wait for a connection, for the next piece of an answer, and for the whole of it.

    After each piece of text it rests for a *breath*, so that what comes meanwhile is one piece: where many answers are
    written at once, and readers see a few states of each, small pieces cost time for nothing.
    """

    connect: float = 5.0
    read: float = 30.0
    whole: float = 900.0
    breath: float = 0.0

    async def breathe(self) -> None:
        """Take the rest, if there is to be one."""
        if self.breath:
            await asyncio.sleep(self.breath)


def connect(api_key: str, base_url: str | None, patience: Patience) -> AsyncOpenAI:
    """Give a client that connects when it is first used, and repeats nothing by itself.

    A login in the address is left out: the key is sent in its place, and both cannot be.
    """
    from httpx2 import Timeout
    from openai import AsyncOpenAI, DefaultAioHttpClient

    timeout = Timeout(patience.read, connect=patience.connect)
    client = AsyncOpenAI(
        api_key=api_key or NO_KEY,
        admin_api_key="",
        organization="",
        project="",
        webhook_secret="",
        base_url=_without_login(base_url or OFFICIAL),
        timeout=timeout,
        max_retries=0,
        http_client=DefaultAioHttpClient(timeout=timeout),
    )
    # Empty values keep the environment's out, but would be sent as empty headers.
    client.organization = None
    client.project = None
    client._custom_headers = {}  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - nothing public keeps OPENAI_CUSTOM_HEADERS out
    return client


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def place(base_url: str | None) -> str:
    """Name the host, and the port if it is a special one, but nothing else of the address, which may hold a secret."""
    parts = urlsplit(base_url or OFFICIAL)
    host = parts.hostname or "an unnamed host"
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{parts.port}" if parts.port else host
