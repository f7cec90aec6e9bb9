"""Services that fail again and again: they are left alone for a while, and used again as soon as they work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import pytest

from adapters.cohere import CohereEmbedder, CohereReranker
from adapters.openai import OpenAIChat
from adapters.retry import AT_LEAST, IN_A_ROW, SERVICE, SKIPPED, CircuitBreaker, RetryPolicy, Skipped, Transient
from core.errors import Unavailable
from core.events import Event, Observer, Service, ServiceBack, ServiceSkipped
from core.model import IndexQuery
from tests.adapters.openai.asking import ask as ask_model
from tests.adapters.qdrant.shelf import EMBEDDER, opened, page, put
from tests.builders import passage
from tests.fakes.clock import Clock
from tests.servers.cohere import KEY as COHERE_KEY
from tests.servers.cohere import CohereServer
from tests.servers.openai import KEY, MODEL, ChatServer
from tests.servers.qdrant import QdrantServer
from tests.servers.service import Hang, Reply
from tests.servers.service import Service as Server
from tests.waiting import wait_until

DOWN = Reply(503, {"message": "down", "error": {"message": "down"}})
FIRST = SKIPPED.waits[0]
Ask: TypeAlias = Callable[[], Awaitable[object]]
Opening: TypeAlias = Callable[[RetryPolicy, Observer], AbstractAsyncContextManager[tuple[Server, Ask]]]


@asynccontextmanager
async def _embedder(retries: RetryPolicy, observer: Observer) -> AsyncGenerator[tuple[Server, Ask]]:
    async with CohereServer() as server:
        given: dict[str, Any] = {"api_key": COHERE_KEY, "base_url": server.url}
        embedder = CohereEmbedder("embed-v4.0", dimension=256, **given, retries=retries, observer=observer)
        yield server, partial(embedder.embed_query, "robots")
        await embedder.aclose()


@asynccontextmanager
async def _reranker(retries: RetryPolicy, observer: Observer) -> AsyncGenerator[tuple[Server, Ask]]:
    async with CohereServer() as server:
        given: dict[str, Any] = {"api_key": COHERE_KEY, "base_url": server.url}
        reranker = CohereReranker("rerank-v3.5", **given, retries=retries, observer=observer)
        yield server, partial(reranker.rerank, "robots", [passage("A robot acts.")])
        await reranker.aclose()


@asynccontextmanager
async def _index(retries: RetryPolicy, observer: Observer) -> AsyncGenerator[tuple[Server, Ask]]:
    async with QdrantServer() as server, opened(server.url, retries=retries, observer=observer) as index:
        await put(index, page("robots", "A robot acts."))
        query = IndexQuery("robots", await EMBEDDER.embed_query("robots"))
        yield server, partial(index.candidates, query, limit=3)


@asynccontextmanager
async def _model(retries: RetryPolicy, observer: Observer) -> AsyncGenerator[tuple[Server, Ask]]:
    async with ChatServer() as server:
        model = OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url, retries=retries, observer=observer)
        yield server, partial(ask_model, model)
        await model.aclose()


SERVICES: Mapping[Service, Opening] = {
    "embedder": _embedder,
    "reranker": _reranker,
    "index": _index,
    "chat model": _model,
}


@dataclass
class Place:
    """A service, and somebody who asks it by a clock that the test advances."""

    server: Server
    ask: Ask
    clock: Clock
    events: list[Event] = field(default_factory=list[Event])

    async def asks(self, *, after: float = 0.0) -> str:
        """Ask once; give what went wrong, or nothing."""
        self.clock.advance(after)
        try:
            await self.ask()
        except Unavailable as unavailable:
            return str(unavailable)
        return ""

    async def breaks(self) -> None:
        """Fail as often and as long as it takes to be skipped."""
        self.server.broken = DOWN
        for _ in range(IN_A_ROW):
            await self.asks(after=AT_LEAST / (IN_A_ROW - 1))

    def news(self) -> list[Event]:
        """Give what was told of skipping."""
        return [event for event in self.events if isinstance(event, ServiceSkipped | ServiceBack)]


@pytest.fixture(name="service", params=SERVICES)
def _service(request: pytest.FixtureRequest) -> Service:
    return request.param


@pytest.fixture(name="place")
async def _place(service: Service) -> AsyncGenerator[Place]:
    clock, events = Clock(), list[Event]()
    once = replace(SERVICE, attempts=1, clock=clock)
    async with SERVICES[service](once, events.append) as (server, ask):
        yield Place(server, ask, clock, events)


@pytest.mark.promise("failing-services-are-skipped")
async def test_a_service_that_fails_again_and_again_is_skipped_for_a_while(place: Place, service: Service) -> None:
    """Nobody waits for it meanwhile, which is said once; then one call goes first, and all follow that which works."""
    await place.breaks()
    asked = len(place.server.received)
    said = [await place.asks() for _ in range(3)]
    skipped = len(place.server.received) - asked
    place.server.broken = None
    told = await place.asks(after=FIRST - 1), await place.asks(after=1), await place.asks()

    sentence = f"The {service} failed again and again (status 503), so it is skipped."
    assert (said, skipped) == ([sentence] * 3, 0)
    assert told == (sentence, "", "")
    assert place.news() == [ServiceSkipped(service, "status 503"), ServiceBack(service)]


@pytest.mark.promise("failing-services-are-skipped")
async def test_one_call_alone_goes_first(place: Place) -> None:
    """While nobody knows how it ends, the others are skipped; where it fails, they are for longer."""
    await place.breaks()
    place.server.broken, before = Hang(), len(place.server.received)
    place.clock.advance(FIRST)
    first = asyncio.create_task(place.asks())
    await wait_until(lambda: len(place.server.received) > before, what="a call")
    beside = [await place.asks() for _ in range(3)]
    first.cancel()
    await asyncio.wait({first})
    place.server.broken = DOWN
    after = len(place.server.received)
    again = await place.asks(after=FIRST), await place.asks(after=FIRST)

    assert all("is skipped" in said for said in (*beside, again[1]))
    assert "is skipped" not in again[0]
    assert (after - before, len(place.server.received) - after) == (1, 1)
    assert len(place.news()) == 1


@pytest.mark.promise("failing-services-are-skipped")
async def test_what_fails_for_a_moment_or_now_and_then_is_always_asked(place: Place) -> None:
    """Many calls at the same moment, or one that works in between."""
    place.server.broken = DOWN
    await asyncio.gather(*(place.asks() for _ in range(2 * IN_A_ROW)))
    place.server.broken = None
    works = [await place.asks(after=AT_LEAST)]
    for _ in range(IN_A_ROW):
        place.server.broken = DOWN
        await place.asks(after=AT_LEAST)
        place.server.broken = None
        works.append(await place.asks(after=AT_LEAST))

    assert (works, place.news()) == ([""] * (IN_A_ROW + 1), [])


async def test_a_service_that_refuses_what_it_is_asked_is_no_service_that_fails(place: Place) -> None:
    """It answers, and an operator hears at once when the key is right again."""
    place.server.broken = Reply(401, {"message": "no", "error": {"message": "no"}})
    for _ in range(2 * IN_A_ROW):
        await place.asks(after=AT_LEAST)
    place.server.broken = None

    assert (await place.asks(), place.news()) == ("", [])


class Failed(Exception):
    """What a call fails with."""


async def test_a_call_that_somebody_gives_up_after_a_while_has_failed() -> None:
    """Whoever searches has less time than a call; who stops at once says nothing of the service."""
    clock, events = Clock(), list[Event]()
    breaker = CircuitBreaker("embedder", events.append, patience=3.0, clock=clock)

    def given_up(after: float) -> None:
        with suppress(asyncio.CancelledError), breaker.watched(lambda _: Transient("status 503")):
            clock.advance(after)
            raise asyncio.CancelledError

    for _ in range(2 * IN_A_ROW):
        given_up(2.9)
    at_once = list(events)
    for _ in range(IN_A_ROW):
        given_up(3.0)

    assert (at_once, events) == ([], [ServiceSkipped("embedder", "no answer in time")])
    with pytest.raises(Skipped):
        given_up(0.0)


async def test_an_answer_to_an_earlier_call_ends_it_too() -> None:
    """Whenever it was sent: the service works."""
    clock, events = Clock(), list[Event]()
    breaker = CircuitBreaker("index", events.append, clock=clock)
    with breaker.watched(lambda _: None):
        for _ in range(IN_A_ROW):
            clock.advance(AT_LEAST)
            with pytest.raises(Failed), breaker.watched(lambda _: Transient("status 503")):
                raise Failed
    with breaker.watched(lambda _: None):
        pass

    assert events == [ServiceSkipped("index", "status 503"), ServiceBack("index")]
