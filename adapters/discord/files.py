"""Reads files from where Discord keeps them; the addresses are signed and expire, so they are read at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discord.http import Route

from adapters.chat.files import Download, FileLink, origin

if TYPE_CHECKING:
    from discord import AutoShardedClient

HOSTS = ("https://cdn.discordapp.com", "https://media.discordapp.net")
LONGEST_FILE = 5.0  # seconds; nobody is told yet that the question has arrived
LONGEST_SELECTED = 1.5  # seconds; Discord waits for three in all for a form


async def fetch(client: AutoShardedClient, link: FileLink) -> tuple[str, bytes]:
    """Return the name of a file and what is in it, for which no token is needed.

    It comes from Discord's own hosts, or from where its API is, as a proxy may stand in front of it all. Raises
    `NotRead`, or another `PostingFailed`.
    """
    http = client.http
    origins = {*map(origin, HOSTS), origin(Route.BASE)}
    download = Download(http.connector, origins, proxy=http.proxy, proxy_auth=http.proxy_auth)
    return link.name, await download(link.url, kind=link.kind)
