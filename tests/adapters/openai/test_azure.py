"""Azure has addresses and keys of its own, old and new ones."""

from __future__ import annotations

import pytest

from adapters.openai import OpenAIChat, checked
from adapters.openai.client import Endpoint
from core.errors import Misconfigured
from tests.adapters.openai.asking import PATIENT, QUICK, turn_of
from tests.servers.openai import KEY, MODEL, ChatServer

VERSION = "api-version=2024-10-21"


@pytest.mark.parametrize(
    "path",
    [
        f"/openai/deployments/{MODEL}?{VERSION}",
        f"/openai/deployments/{MODEL}/?{VERSION}",
        f"/openai/deployments/{MODEL}/chat/completions?{VERSION}",
        f"/openai?{VERSION}",
        "/openai/v1",
        "/openai/v1/",
        "/openai/v1/chat/completions",
    ],
)
async def test_each_of_azures_addresses_works_as_it_is_copied(server: ChatServer, path: str) -> None:
    """The classic ones have a version in them, and the key in a header of its own and in no other."""
    server.is_azure = True
    server.say("A robot acts.")
    model = OpenAIChat(MODEL, api_key=KEY, base_url=f"{server.url}{path}", retries=QUICK, limits=PATIENT)
    assert (await turn_of(model)).text == "A robot acts."
    assert "calls tools" in await checked(model)
    await model.aclose()


async def test_a_classic_address_with_a_wrong_key_is_told(server: ChatServer) -> None:
    """The sentence names the settings."""
    server.is_azure = True
    model = OpenAIChat(MODEL, api_key="wrong", base_url=f"{server.url}/openai?{VERSION}", retries=QUICK)
    with pytest.raises(Misconfigured, match="OPENAI_API_KEY"):
        await checked(model)
    await model.aclose()


@pytest.mark.parametrize(
    ("address", "base", "query"),
    [
        ("https://x.openai.azure.com", "https://x.openai.azure.com/openai/v1", {}),
        (
            f"https://x.openai.azure.com?{VERSION}",
            "https://x.openai.azure.com/openai/deployments/my%20gpt",
            {"api-version": "2024-10-21"},
        ),
        (
            "https://x.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
            "https://x.openai.azure.com/openai/deployments/my%20gpt",
            {"api-version": "2025-04-01-preview"},
        ),
        ("https://x.openai.azure.com/openai/v1/responses", "https://x.openai.azure.com/openai/v1", {}),
        ("https://x.openai.azure.us", "https://x.openai.azure.us/openai/v1", {}),
        ("https://x.services.ai.azure.com/openai/v1/", "https://x.services.ai.azure.com/openai/v1", {}),
        ("https://me:pass@gateway.example/v1", "https://gateway.example/v1", {}),
        ("https://gateway.example/v1/chat/completions?team=a", "https://gateway.example/v1", {"team": "a"}),
        (None, "https://api.openai.com/v1", {}),
    ],
)
def test_addresses_are_read_as_people_copy_them(address: str | None, base: str, query: dict[str, str]) -> None:
    """The host alone is enough for Azure, and a path that is too long is no matter."""
    endpoint = Endpoint.of(address, "my gpt", KEY)
    assert (endpoint.base_url, dict(endpoint.query)) == (base, query)
