"""Messages of which nobody knows whether they were posted, when Discord has forgotten their nonces."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from core.events import Passed, PossiblyDoubled, Step
from core.model import Claim, Delivery, Progress, Withdrawal
from tests.fakes.surface import drafted
from tests.on_discord import ORIGINAL, OVER, POST, OnDiscord, OnDiscordByCommand, on_discord
from tests.platforms import ANSWER, Worker, progress
from tests.servers.discord import Lost, Permission

LATER = timedelta(minutes=6)
FOLLOW_UP = "POST /webhooks/{application}/{token}"
LONG = ANSWER.model_copy(update={"text": "\n\n".join(f"Robot number {n}. {'word ' * 60}[1]" for n in range(9))})


@pytest.fixture(name="discord")
async def _discord() -> AsyncIterator[OnDiscord]:
    async with on_discord(OnDiscord) as discord:
        yield discord


@pytest.fixture(name="by_command")
async def _by_command() -> AsyncIterator[OnDiscordByCommand]:
    async with on_discord(OnDiscordByCommand) as discord:
        yield discord


async def left(discord: OnDiscord, claim: Claim, step: Step, *items: Progress) -> Claim:
    """Have a worker die at a step, and give the question as the next one holds it much later."""
    dying = Worker(discord.notes, step)
    assert await dying.works(discord.surfaced(observer=dying).reply(claim, progress(*items)))
    discord.server.clock.advance(LATER.total_seconds())
    return replace(claim, attempt=2, delivery=discord.notes.written[-1])


def doubts(discord: OnDiscord) -> list[object]:
    """Give the events that tell of a message that may stand there twice."""
    return [event for event in discord.events if isinstance(event, PossiblyDoubled)]


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("item", [drafted("Robots are made of cheese.\n\nAnd"), ANSWER], ids=["draft", "answer"])
async def test_a_message_is_known_by_its_buttons(discord: OnDiscord, item: Progress) -> None:
    """They name the question, so that it is edited in place of another."""
    claim = await discord.asks()
    again = await left(discord, claim, Step.POSTED, item, *([] if item is ANSWER else [ANSWER]))

    later = discord.surfaced(now=lambda: claim.question.asked_at + LATER)
    await later.reply(again, progress(ANSWER))

    assert ["A robot acts." in text for text in discord.stands(claim)] == [True]
    assert (len(discord.server.requests_to(POST)), doubts(discord)) == (1, [])


@pytest.mark.parametrize(
    ("step", "denied", "expected"),
    [
        (Step.POSTING, Permission(0), (1, 0)),
        (Step.POSTED, Permission.READ_MESSAGE_HISTORY, (2, 1)),
    ],
    ids=["it is not there", "nobody can know"],
)
async def test_what_is_not_found_is_posted(
    discord: OnDiscord, step: Step, denied: Permission, expected: tuple[int, int]
) -> None:
    """Where it may stand there twice, whoever runs the bot hears of it."""
    claim = await discord.asks()
    again = await left(discord, claim, step, ANSWER)
    discord.server.deny(discord.channel, denied)

    later = discord.surfaced(now=lambda: claim.question.asked_at + LATER)
    await later.reply(again, progress(ANSWER))

    assert (len(discord.stands(claim)), len(doubts(discord))) == expected


async def test_an_unknown_message_is_withdrawn_with_its_question(discord: OnDiscord) -> None:
    """Nobody could remove it otherwise."""
    claim = await discord.asks()
    again = await left(discord, claim, Step.POSTED, drafted("A robot acts.\n\nAnd"), ANSWER)
    before = len(discord.stands(claim))

    await discord.surface.withdraw(Withdrawal(claim.message, attempt=2, delivery=again.delivery))

    assert (before, discord.stands(claim)) == (1, [])


@pytest.mark.promise("commands-outlive-tokens")
async def test_a_response_whose_way_nobody_knows_any_more_is_edited(by_command: OnDiscordByCommand) -> None:
    """The inbox keeps it for its own life only; what seems to be on its way ends, and no thread stands beside it."""
    claim = await by_command.commanded()
    assert claim.address
    late = replace(claim, address=claim.address.model_copy(update={"interaction": None}), attempt=2)
    by_command.server.clock.advance(OVER.total_seconds())

    await by_command.surfaced(now=lambda: claim.question.asked_at + OVER).reply(late, progress(ANSWER))

    assert ["A robot acts." in text for text in by_command.stands(claim)] == [True]
    assert (by_command.signs(claim), by_command.server.requests_to(ORIGINAL)) == ([], [])


@pytest.mark.promise("seen-by-one")
async def test_an_answer_for_one_person_whose_way_nobody_knows_any_more_is_dropped(
    by_command: OnDiscordByCommand,
) -> None:
    """Others would see it."""
    claim = await by_command.commanded(is_private=True)
    assert claim.address
    late = replace(claim, address=claim.address.model_copy(update={"interaction": None}), attempt=2)
    before = by_command.changes()

    assert (await by_command.surface.reply(late, progress(ANSWER)), by_command.changes()) == (Delivery(), before)


async def test_a_further_private_message_that_may_stand_there_twice_is_told(by_command: OnDiscordByCommand) -> None:
    """Discord knows no nonce there."""
    claim = await by_command.commanded(is_private=True)
    by_command.server.faults.add(FOLLOW_UP, Lost())

    await by_command.surface.reply(claim, progress(LONG))

    steps = [event.step for event in by_command.events if isinstance(event, Passed)]
    assert doubts(by_command) == [PossiblyDoubled(claim.message)]
    assert (steps.count(Step.POSTING), steps.count(Step.POSTED)) == (2, 1)
