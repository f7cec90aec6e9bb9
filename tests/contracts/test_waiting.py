"""That whoever sees nothing new for long is told what is waited for, on every platform, and that it never stays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

import pytest

from core.messages import AWAITED
from core.model import Awaited, Claim, Delivery, Progress, Waiting, Withdrawal
from tests.contracts.test_surface import PLATFORMS
from tests.fakes.surface import drafted
from tests.on_discord import OnDiscordByCommand, on_discord
from tests.on_slack import OnSlack, on_slack
from tests.platforms import ANSWER, ChatPlatform, progress
from tests.waiting import cancelled

SHORT = 0.01  # seconds
WORDS = {Awaited.MODEL: "the language model", Awaited.SEARCH: "still searching the documents"}


@pytest.fixture(name="chat", params=list(PLATFORMS.values()), ids=list(PLATFORMS))
async def _chat(request: pytest.FixtureRequest) -> AsyncIterator[ChatPlatform]:
    async with request.param() as chat:
        yield chat


def says(stands: Sequence[str], awaited: Awaited) -> bool:
    """Return whether readers are told that something is waited for."""
    assert WORDS[awaited] in AWAITED[awaited]
    return any(WORDS[awaited] in text for text in stands)


def reads_nothing_of_it(stands: Sequence[str]) -> bool:
    """Return whether nobody is told so any more, and the answer stands there alone."""
    return ["A robot acts." in text for text in stands] == [True] and not any(says(stands, each) for each in WORDS)


@pytest.mark.promise("never-silent")
async def test_who_sees_nothing_for_long_is_told_what_is_waited_for_until_the_answer_is_there(
    chat: ChatPlatform,
) -> None:
    """What is waited for changes meanwhile; each time the words take the place of those before."""
    claim, waiting = await chat.asks(), Waiting(Awaited.SEARCH, after=SHORT)

    async def written() -> AsyncIterator[Progress]:
        yield waiting
        await chat.until(lambda: says(chat.stands(claim), Awaited.SEARCH))
        waiting.on = Awaited.MODEL
        await chat.until(lambda: says(chat.stands(claim), Awaited.MODEL))
        together.append(says(chat.stands(claim), Awaited.SEARCH))
        yield ANSWER

    together = list[bool]()
    delivery = await chat.surface.reply(claim, written())

    assert (together, reads_nothing_of_it(chat.stands(claim))) == ([False], True)
    assert (len(delivery.messages), chat.signs(claim)) == (1, [])


@pytest.mark.promise("never-silent")
async def test_what_is_written_then_takes_the_place_of_the_words(chat: ChatPlatform) -> None:
    """They stand below what was written before, if anything, and go with the next of it."""
    claim = await chat.asks()
    cheese = "Robots are made of cheese."

    async def written() -> AsyncIterator[Progress]:
        yield Waiting(after=SHORT)
        await chat.until(lambda: says(chat.stands(claim), Awaited.MODEL))
        yield drafted(f"{cheese}\n\nAnd")
        await chat.until(lambda: any(cheese in text for text in chat.stands(claim)))
        await chat.until(lambda: any(cheese in text and says([text], Awaited.MODEL) for text in chat.stands(claim)))
        yield ANSWER

    await chat.surface.reply(claim, written())

    assert reads_nothing_of_it(chat.stands(claim))


async def _left_by_a_dead_worker(chat: ChatPlatform, claim: Claim) -> Delivery:
    """Let a worker die that has told what it waits for; return what it has noted."""

    async def written() -> AsyncIterator[Progress]:
        yield Waiting(after=SHORT)
        await asyncio.Event().wait()

    replying = asyncio.create_task(chat.surface.reply(claim, written()))
    await chat.until(lambda: says(chat.stands(claim), Awaited.MODEL))
    await chat.until(lambda: chat.notes.written and chat.notes.written[-1].messages)
    await cancelled(replying)
    return chat.notes.written[-1]


@pytest.mark.promise("never-silent")
@pytest.mark.promise("crash-safe")
async def test_what_a_worker_that_died_has_told_is_replaced_by_the_next_one(chat: ChatPlatform) -> None:
    """So it is where somebody edits the question."""
    claim = await chat.asks()
    noted = await _left_by_a_dead_worker(chat, claim)

    await chat.surface.reply(replace(claim, delivery=noted, attempt=2), progress(ANSWER))

    assert reads_nothing_of_it(chat.stands(claim))


@pytest.mark.promise("never-silent")
@pytest.mark.promise("no-orphans")
async def test_what_was_told_goes_with_a_question_that_is_deleted(chat: ChatPlatform) -> None:
    """Nobody waits for anything any more."""
    claim = await chat.asks()
    noted = await _left_by_a_dead_worker(chat, claim)

    await chat.surface.withdraw(Withdrawal(claim.message, delivery=noted))

    assert chat.stands(claim) == []


async def _answered_in_private(
    chat: OnDiscordByCommand | OnSlack, claim: Claim, stands: Callable[[], Sequence[str]]
) -> Sequence[bool]:
    """Answer one person alone; return whether they were told what is waited for, and whether nothing of it is left."""
    waiting = Waiting(Awaited.SEARCH, after=SHORT)

    async def written() -> AsyncIterator[Progress]:
        yield waiting
        await chat.until(lambda: says(stands(), Awaited.SEARCH))
        yield ANSWER

    await chat.surface.reply(claim, written())
    return says(stands(), Awaited.SEARCH), reads_nothing_of_it(stands())


@pytest.mark.promise("never-silent")
@pytest.mark.promise("seen-by-one")
async def test_one_person_alone_is_told_on_discord_too() -> None:
    """In the response to the command, which the answer then fills."""
    async with on_discord(OnDiscordByCommand) as chat:
        claim = await chat.commanded(is_private=True)

        def stands() -> list[str]:
            return [message.content for message in chat.server.platform.messages.values() if message.seen_by]

        assert await _answered_in_private(chat, claim, stands) == (False, True)


@pytest.mark.promise("never-silent")
@pytest.mark.promise("seen-by-one")
async def test_one_person_alone_is_told_on_slack_too() -> None:
    """Once, since the way to that person takes few posts; the answer replaces it."""
    async with on_slack(OnSlack) as chat:
        claim = chat.commanded()

        def stands() -> list[str]:
            return [message.text for message in chat.server.messages(chat.channel, by=chat.workspace.bot)]

        assert await _answered_in_private(chat, claim, stands) == (False, True)
