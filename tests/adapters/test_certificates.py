"""Services behind TLS: what the system trusts is trusted, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

import pytest

from adapters.cohere import CohereEmbedder
from adapters.openai import OpenAIChat, checked
from adapters.qdrant import ServerIndex
from core.errors import Misconfigured
from core.events import Event, Observer, unobserved
from tests.servers.cohere import KEY as COHERE_KEY
from tests.servers.cohere import CohereServer
from tests.servers.openai import KEY, MODEL, ChatServer
from tests.servers.qdrant import QdrantServer
from tests.servers.service import Service
from tests.servers.tls import Certificate, Proxy


class Checked(Protocol):
    """An adapter that can be asked whether its service is well."""

    async def check(self) -> str:
        """Say what it is."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


class Chat(OpenAIChat):
    """A chat model that looks at itself, as the other adapters do."""

    async def check(self) -> str:
        """Say what it is."""
        return await checked(self)


def chat(url: str, observer: Observer) -> Checked:
    """The chat model at an address."""
    return Chat(MODEL, api_key=KEY, base_url=f"{url}/v1", observer=observer)


def embedder(url: str, observer: Observer) -> Checked:
    """The embedder at an address."""
    return CohereEmbedder("embed-v4.0", dimension=256, api_key=COHERE_KEY, base_url=url, observer=observer)


def index(url: str, observer: Observer) -> Checked:
    """The index at an address."""
    return ServerIndex(url, embedder="e", dimension=8, observer=observer)


PLACES = {
    "OPENAI_BASE_URL": (ChatServer, chat),
    "COHERE_BASE_URL": (CohereServer, embedder),
    "QDRANT_URL": (QdrantServer, index),
}
each = pytest.mark.parametrize(("setting", "kind", "make"), [(name, *place) for name, place in PLACES.items()])
Make = Callable[[str, Observer], Checked]


def behind_tls(server: Service, certificate: Certificate) -> AbstractContextManager[Proxy]:
    """Put TLS in front of a server."""
    return Proxy(int(server.url.rpartition(":")[2]), certificate)


@each
async def test_a_certificate_that_the_system_trusts_is_enough(
    setting: str,
    kind: type[Service],
    make: Make,
    redis_certificate: Certificate,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A company has a CA of its own, which is named where all programs look for it."""
    monkeypatch.setenv("SSL_CERT_FILE", str(redis_certificate.ca))
    async with kind() as server:
        with behind_tls(server, redis_certificate) as proxy:
            adapter = make(f"https://127.0.0.1:{proxy.port}", unobserved)
            assert f"at 127.0.0.1:{proxy.port}" in await adapter.check(), setting
            await adapter.aclose()


@each
async def test_a_certificate_that_nobody_trusts_is_refused_at_once(
    setting: str, kind: type[Service], make: Make, redis_certificate: Certificate
) -> None:
    """Trying again would not help, the key is not sent, and the sentence names the setting."""
    seen: list[Event] = []
    async with kind() as server:
        with behind_tls(server, redis_certificate) as proxy:
            adapter = make(f"https://127.0.0.1:{proxy.port}", seen.append)
            with pytest.raises(
                Misconfigured, match=rf"certificate .*is not trusted\. Check {setting} and the system's"
            ):
                await adapter.check()
            await adapter.aclose()

        assert (server.received, seen) == ([], [])
