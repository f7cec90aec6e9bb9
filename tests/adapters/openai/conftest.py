"""A server, and a model that speaks to it, for every test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from adapters.openai import OpenAIChat
from core.events import Event, Retried, only
from tests.adapters.openai.asking import IMPATIENT, PATIENT, model_of
from tests.servers.openai import ChatServer


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    """A service that does as it is told."""
    async with ChatServer() as server:
        yield server


@pytest.fixture
def events() -> list[Event]:
    """What the model reported of further attempts."""
    return []


@pytest.fixture
async def model(server: ChatServer, events: list[Event], request: pytest.FixtureRequest) -> AsyncIterator[OpenAIChat]:
    """The real client against the server; it has little patience only where a test waits for the end of that."""
    waits = any(word in request.node.name for word in ("time-out", "stalled"))
    model = model_of(server, limits=IMPATIENT if waits else PATIENT, observer=only(events.append, Retried))
    yield model
    await model.aclose()
