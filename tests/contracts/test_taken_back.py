"""What is taken back of an answer of which a store that went back in time knows less than stands there, or nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

import pytest

from core.events import Step
from core.model import Answer, Claim, Delivery, Withdrawal
from tests.fakes.surface import drafted
from tests.on_board import on_board
from tests.on_discord import OnDiscord, on_discord
from tests.on_slack import OnSlack, OnSlackByEdits, on_slack
from tests.platforms import ANSWER, ChatPlatform, Worker, progress

PLATFORMS = {
    "discord": partial(on_discord, OnDiscord),
    "slack": partial(on_slack, OnSlack),
    "slack, by edits": partial(on_slack, OnSlackByEdits),
    "a board of plain text": on_board,
}
LONG = 3  # messages at least
PAUSED = "The bot is paused."


@pytest.fixture(name="chat", params=list(PLATFORMS.values()), ids=list(PLATFORMS))
async def _chat(request: pytest.FixtureRequest) -> AsyncIterator[ChatPlatform]:
    async with request.param() as chat:
        yield chat


@pytest.fixture(name="left", params=["half of a draft", "a long answer"])
async def _left(request: pytest.FixtureRequest, chat: ChatPlatform) -> Claim:
    """Leave something of an answer, of which the store knows nothing any more."""
    claim, dying = await chat.asks(), Worker(chat.notes, Step.POSTED)
    if request.param == "half of a draft":
        assert await dying.works(
            chat.surfaced(observer=dying).reply(claim, progress(drafted("A robot acts.\n\nAnd"), ANSWER))
        )
    else:
        await chat.surface.reply(claim, progress(_long(chat)))
    assert len(robots(chat, claim)) >= (1 if request.param == "half of a draft" else LONG)
    return claim


def _long(chat: ChatPlatform) -> Answer:
    """Give an answer of several messages, more than two."""
    paragraphs = (f"A robot, number {number}, acts. {'word ' * 60}" for number in range(chat.longest // 130))
    return ANSWER.model_copy(update={"text": "\n\n".join(paragraphs) + " [1]"})


def robots(chat: ChatPlatform, claim: Claim) -> list[str]:
    """Give what stands there that is about robots."""
    return [text for text in chat.stands(claim) if "A robot" in text or "word" in text]


@pytest.mark.promise("deletions-count")
async def test_what_is_left_of_an_answer_goes_with_its_question(chat: ChatPlatform, left: Claim) -> None:
    """Nobody could remove it otherwise."""
    await chat.surface.withdraw(Withdrawal(left.message, was_released=True))

    assert robots(chat, left) == []


async def test_what_is_left_of_an_answer_goes_where_it_is_refused_after_all(chat: ChatPlatform, left: Claim) -> None:
    """As when moderators pause the bot after the first worker has died."""
    await chat.surface.refuse(replace(left, attempt=2), PAUSED)

    assert robots(chat, left) == []


async def test_what_is_refused_twice_is_refused_in_the_same_words(chat: ChatPlatform) -> None:
    """What was said the first time is no answer, so it stays."""
    claim = await chat.asks()
    for attempt in (1, 2, 3):
        await chat.surface.refuse(replace(claim, attempt=attempt), PAUSED)

    assert len(chat.stands(claim)) <= 1
    assert not [each for each in chat.changes() if "delete" in each.lower()]


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("parts", ["all", "without the last"])
async def test_a_shorter_answer_leaves_nothing_of_a_longer_one(chat: ChatPlatform, parts: str) -> None:
    """Of the longer one, which may have been broken off, the store remembers the first."""
    claim = await chat.asks()
    whole = await chat.surface.reply(claim, progress(_long(chat)))
    if parts != "all":
        await chat.surface.platform.delete(whole.messages[-1])
    known = Delivery(messages=whole.messages[:1])
    await chat.surface.reply(replace(claim, attempt=2, delivery=known), progress(ANSWER))

    assert len(robots(chat, claim)) == 1


async def test_what_was_posted_for_others_stays(chat: ChatPlatform) -> None:
    """Nothing of an answer to another question goes, in whichever order they stand there."""
    claims = [await chat.asks(), await chat.asks(), await chat.asks()]
    for each in claims:
        await chat.surface.reply(each, progress(_long(chat)))
    await chat.surface.withdraw(Withdrawal(claims[1].message, was_released=True))

    first, removed, last = (len(robots(chat, each)) for each in claims)
    assert (first >= LONG, removed, last) == (True, 0, first)
