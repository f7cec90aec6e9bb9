"""Two processes with one inbox, and short ways to say what happens to a question."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Protocol, TypeVar

import pytest

from adapters.chat.platform import NOTICE, nonce
from adapters.redis.connection import connect
from adapters.redis.inbox import RedisInbox
from adapters.redis.inbox_store import Bounds
from adapters.redis.secrets import Seal
from core.model import (
    Answer,
    Asked,
    AskedAgain,
    Cancellation,
    Claim,
    Deleted,
    Delivery,
    Edited,
    Interruption,
    Message,
    MessageRef,
    Person,
    Question,
    Recheck,
    Stopped,
    Task,
    WaitNotice,
)
from core.ports import Accepting, Deliveries, Inbox, Underway, WaitingRoom, WaitingWords
from tests.builders import question, thread
from tests.fakes.inbox import MemoryInbox
from tests.fixtures.redis import clean, place
from tests.platforms import ANSWER

SECRET = "a secret that is long enough for a test"
PATIENCE = 5.0
ADA = Person(id="p1", name="Ada")
BOBS = Message(role="user", text="My robot is broken.", author="Bob", author_id="p2")
POSTED = Delivery(messages=(MessageRef(thread=thread(), id="reply"),))
WRITTEN = POSTED.model_copy(update={"answer": ANSWER})

Signals = TypeVar("Signals", Asked, Edited)


class Box(Inbox, Accepting, WaitingRoom, Underway, Deliveries, WaitingWords, Protocol):
    """All ports of one thing."""


@dataclass(frozen=True)
class Boxes:
    """The same inbox as two processes have it."""

    here: Box
    there: Box


@asynccontextmanager
async def redis_boxes(url: str) -> AsyncGenerator[Boxes]:
    """Open the inbox of a server twice."""
    async with clean(url) as client:
        blocking = [connect(url, blocking=True) for _ in range(2)]
        seal, bounds = Seal([SECRET]), Bounds(lease=20.0)
        here, there = (
            RedisInbox(client, each, seal=seal, bounds=bounds, block=0.05, delays=(0.0, 0.0)) for each in blocking
        )
        async with here, there:
            yield Boxes(here, there)
        for each in blocking:
            await each.aclose()


@asynccontextmanager
async def open_boxes(request: pytest.FixtureRequest) -> AsyncGenerator[Boxes]:
    """Open the inbox of the form that a fixture was asked for, in memory or on servers."""
    if request.param == "memory":
        inbox = MemoryInbox()
        yield Boxes(inbox, inbox)
        return
    async with redis_boxes(place(request.param, request).url) as boxes:
        yield boxes


def asked(id: str = "m1", *, in_thread: str = "1", revision: int = 0) -> Asked:  # noqa: A002 - the field's name
    """Somebody asks."""
    return Asked(question=question(f"What is {id}?", id=id, in_thread=in_thread, revision=revision))


def edited(id: str = "m1", *, in_thread: str = "1", revision: int = 1) -> Edited:  # noqa: A002 - the field's name
    """Somebody asks in other words."""
    return Edited(question=question(f"What is {id} #{revision}?", id=id, in_thread=in_thread, revision=revision))


def quoting(signal: Signals) -> Signals:
    """What somebody else has written comes along."""
    return signal.model_copy(update={"question": signal.question.model_copy(update={"context": (BOBS,)})})


def deleted(of: Asked, delivery: Delivery | None = None) -> Deleted:
    """The question is gone."""
    return Deleted(message=of.message, delivery=delivery)


def stopped(of: Asked) -> Stopped:
    """Somebody has read enough."""
    return Stopped(message=of.message, by=ADA)


def retried(of: Asked) -> AskedAgain:
    """Somebody wants it tried again."""
    return AskedAgain(message=of.message, by=ADA)


def doubted(of: Asked | Edited, answer: Answer | None = None) -> Recheck:
    """A worker that slept may have changed what stands there, with the answer that it had."""
    return Recheck(question=of.question, answer=answer)


def perhaps_begun(signal: Asked) -> Asked:
    """Give a question of which a store may have lost that words stood below it, and that somebody was at it."""
    notice = WaitNotice(thread=signal.message.thread, nonce=nonce(signal.message, NOTICE))
    return signal.model_copy(update={"delivery": Delivery(notice=notice)})


async def heard(cancelled: Cancellation) -> Interruption:
    """Wait until something has happened."""
    async with asyncio.timeout(PATIENCE):
        return await cancelled.wait()


async def taken(inbox: Inbox) -> Task:
    """Do the next task."""
    async with asyncio.timeout(PATIENCE), inbox.claim() as task:
        return task


async def fall_short(inbox: Inbox) -> Task:
    """Do the next task, without an answer that anybody could be content with."""
    async with asyncio.timeout(PATIENCE), inbox.claim() as task:
        assert await inbox.keep(task)
    return task


async def fail(inbox: Inbox, error: Exception) -> Task:
    """Fail at the next task."""
    task: Task | None = None
    with suppress(type(error)):
        async with asyncio.timeout(PATIENCE), inbox.claim() as task:
            raise error
    assert task
    return task


async def hand_back(inbox: Inbox) -> None:
    """Take a task, and be cancelled over it."""
    claimed = asyncio.Event()

    async def work() -> None:
        async with inbox.claim():
            claimed.set()
            await asyncio.Event().wait()

    working = asyncio.create_task(work())
    await claimed.wait()
    working.cancel()
    await asyncio.wait({working})


def asks(task: Task) -> Question:
    """Give the question of a claim."""
    assert isinstance(task, Claim)
    return task.question


async def is_empty(inbox: Inbox) -> bool:
    """Say whether nothing waits: then the next thing put is the next to come."""
    last = asked("last", in_thread="last")
    assert await inbox.put(last)
    return asks(await taken(inbox)) == last.question
