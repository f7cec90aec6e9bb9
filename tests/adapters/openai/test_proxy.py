"""The model is reached through the machine's proxy, where there is one."""

from __future__ import annotations

import pytest

from adapters.openai import OpenAIChat
from adapters.openai.client import OpenAILimits
from tests.adapters.openai.asking import turn_of
from tests.servers.openai import KEY, MODEL, ChatServer


@pytest.mark.parametrize("interval", [0.0, 0.01])
async def test_the_machines_proxy_is_used(server: ChatServer, monkeypatch: pytest.MonkeyPatch, interval: float) -> None:
    """A request for an address that nobody else could answer comes to the proxy, which is a model's server here."""
    monkeypatch.setenv("HTTP_PROXY", server.base_url.removesuffix("/v1"))
    server.say("Robots act.")
    model = OpenAIChat(MODEL, api_key=KEY, base_url="http://openai.invalid/v1", limits=OpenAILimits(interval=interval))

    turn = await turn_of(model)
    await model.aclose()

    assert (turn.text, server.received[0].headers["Host"]) == ("Robots act.", "openai.invalid")
