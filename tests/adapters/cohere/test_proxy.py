"""Cohere is reached through the machine's proxy, where there is one."""

from __future__ import annotations

import pytest

from adapters.cohere import CohereEmbedder
from core.errors import Misconfigured
from tests.servers.cohere import KEY, CohereServer


async def test_the_machines_proxy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request for an address that nobody else could answer comes to the proxy, which is a Cohere server here."""
    async with CohereServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        embedder = CohereEmbedder("embed-v4.0", dimension=1536, api_key=KEY, base_url="http://cohere.invalid")
        try:
            vector = await embedder.embed_query("robot")
        finally:
            await embedder.aclose()

    assert len(vector) == 1536
    assert [received.headers["Host"] for received in proxy.received] == ["cohere.invalid"]


async def test_a_proxy_that_is_no_address_fails_the_call_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be closed then, and works as soon as the proxy is right."""
    async with CohereServer() as proxy:
        embedder = CohereEmbedder("embed-v4.0", dimension=1536, api_key=KEY, base_url="http://cohere.invalid")
        monkeypatch.setenv("HTTP_PROXY", "nothing://known")
        with pytest.raises(Misconfigured):
            await embedder.check()
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        vector = await embedder.embed_query("robot")
        await embedder.aclose()

        monkeypatch.setenv("HTTP_PROXY", "nothing://known")
        with pytest.raises(Misconfigured):
            await embedder.check()
        await embedder.aclose()

    assert len(vector) == 1536
