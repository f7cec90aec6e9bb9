"""`footnote inbox`: what the operator sees of questions that were given up, and does with them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from adapters.redis.connection import connect
from adapters.redis.inbox import RedisInbox
from adapters.redis.secrets import Seal
from bot.commands.inbox import LATER, NONE, WHICH
from bot.commands.session import hold
from core.errors import ModelUnavailable
from core.model import Asked, Claim, Question
from tests.builders import question
from tests.fixtures.commands import Footnote, Here
from tests.fixtures.redis import say

FOOD, LAMPS = question("What do penguins eat?", id="1", in_thread="a"), question("Why lamps?", id="2", in_thread="b")
REASON = "The chat model is overloaded."


@asynccontextmanager
async def opened(footnote: Footnote, url: str) -> AsyncGenerator[RedisInbox]:
    """Open the inbox as the bot does, with no rest between attempts."""
    client, blocking = connect(url), connect(url, blocking=True)
    seal = Seal.from_file(footnote.data / "secret.key")
    async with RedisInbox(client, blocking, seal=seal, block=0.01, delays=(0.0, 0.0)) as inbox:
        yield inbox
    await client.aclose()
    await blocking.aclose()


async def give_up(footnote: Footnote, url: str, questions: Sequence[Question]) -> None:
    """Fail with each as often as it takes."""
    client = connect(url)
    await say(client, "FLUSHALL")
    await client.aclose()
    async with opened(footnote, url) as inbox:
        for each in questions:
            await inbox.put(Asked(question=each))
            for _ in range(3):
                with suppress(ModelUnavailable):
                    async with inbox.claim():
                        raise ModelUnavailable(REASON)


async def taken(footnote: Footnote, url: str) -> tuple[str, int]:
    """Give the words of what a worker is given next, and which attempt it is."""
    async with opened(footnote, url) as inbox, asyncio.timeout(5), inbox.claim() as task:
        assert isinstance(task, Claim)
        return task.question.text, task.attempt


@pytest.mark.promise("given-up-is-seen-to")
@pytest.mark.promise("doctor-counts")
def test_what_was_given_up_can_be_listed_read_tried_again_and_removed(
    footnote: Footnote, here: Here, redis_url: str
) -> None:
    """Each goes by a short reference; what is tried again is given to a worker, and what is removed is gone."""
    asyncio.run(give_up(footnote, redis_url, [FOOD, LAMPS]))

    doctor = here(footnote, "doctor", REDIS_URL=redis_url)
    table = here(footnote, "inbox", "list", REDIS_URL=redis_url)
    listed = json.loads(here(footnote, "inbox", "list", "--json", REDIS_URL=redis_url).out)["questions"]
    refs = {each["message"]: each["ref"] for each in listed}
    food, lamps = refs[str(FOOD.message)], refs[str(LAMPS.message)]
    shown = here(footnote, "inbox", "show", food[:5], REDIS_URL=redis_url)
    retried = here(footnote, "inbox", "retry", food, REDIS_URL=redis_url)
    again = here(footnote, "inbox", "retry", food, REDIS_URL=redis_url)
    given = asyncio.run(taken(footnote, redis_url))
    dropped = here(footnote, "inbox", "drop", "--all", "--json", REDIS_URL=redis_url)
    empty = here(footnote, "inbox", "list", REDIS_URL=redis_url)

    assert "??  questions  2 questions failed: footnote inbox list" in doctor.out.splitlines()
    assert doctor.code == 0
    assert [line.split()[0] for line in table.out.splitlines()] == ["REF", lamps, food]
    assert [(each["attempts"], each["reason"], each["can_be_retried"]) for each in listed] == [(3, REASON, True)] * 2
    assert FOOD.text in shown.out
    assert (retried.code, retried.out) == (0, f"One question is to be tried again. {LATER.format('it')}\n")
    assert (again.code, again.out) == (2, "")
    assert given == (FOOD.text, 1)
    assert json.loads(dropped.out) == {"dropped": [lamps]}
    assert (empty.code, empty.out) == (0, f"{NONE}\n")


@pytest.mark.promise("says-what-to-do")
@pytest.mark.parametrize("words", [("retry",), ("drop",), ("retry", "a1b2c3d", "--all")])
def test_what_is_meant_has_to_be_said(here: Here, tmp_path: Path, words: tuple[str, ...]) -> None:
    """One question or all of them; nothing is done by accident."""
    ended = here(Footnote(tmp_path / "data"), "inbox", *words)

    assert (ended.code, ended.out, ended.err) == (2, "", f"{WHICH}\n")


@pytest.mark.promise("one-owner")
def test_a_running_bot_holds_its_inbox(here: Here, tmp_path: Path) -> None:
    """The operator is told which process it is, as with any other command; afterwards the private store is read."""
    footnote = Footnote(tmp_path / "data")
    with hold(footnote.data, command="footnote run"):
        held = here(footnote, "inbox", "list")
    free = here(footnote, "inbox", "list")

    says = ("is in use by `footnote run`", "It has not answered for some seconds; if that goes on, restart it.")
    assert (held.code, [each in held.err for each in says]) == (3, [True, True])
    assert (free.code, free.out, free.err) == (0, f"{NONE}\n", "")
