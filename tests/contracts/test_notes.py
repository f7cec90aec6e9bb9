"""What is noted of an answer before anything is done to its messages, on every platform."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from core.errors import StoreUnavailable
from core.model import Answer, Delivery, Progress, Status
from tests.contracts.test_surface import PLATFORMS
from tests.fakes.surface import drafted
from tests.on_discord import POST, OnDiscord, on_discord
from tests.platforms import ANSWER, ChatPlatform, progress
from tests.servers.discord import Permission
from tests.waiting import wait_until

TWICE = 2  # more than one try, so that somebody waits for it
REFUSED = (POST, 403)


@pytest.fixture(name="chat", params=list(PLATFORMS.values()), ids=list(PLATFORMS))
async def _chat(request: pytest.FixtureRequest) -> AsyncIterator[ChatPlatform]:
    async with request.param() as chat:
        yield chat


def long(longest: int, parts: float) -> str:
    """Write so much that it takes some *parts*, where a message has at most so many characters."""
    sentence = "A robot acts in the world, and the world acts back. "
    return sentence * int(parts * longest / len(sentence))


@pytest.mark.promise("crash-safe")
async def test_a_message_is_removed_only_when_it_is_noted_that_it_goes(chat: ChatPlatform) -> None:
    """The next worker would take it for a reader's wish otherwise, and the answer with it."""
    claim = await chat.asks()
    whole = ANSWER.model_copy(update={"text": f"{long(chat.longest, 1.5)}[1]"})
    first = await chat.surface.reply(claim, progress(whole))
    before = len(chat.stands(claim))

    chat.notes.failure = StoreUnavailable("The store is away.")
    again = chat.surface.reply(replace(claim, delivery=first, attempt=2), progress(ANSWER))
    replying = asyncio.create_task(again)
    await wait_until(lambda: chat.notes.refusals >= TWICE, what="another try to note it")
    meanwhile = len(chat.stands(claim))
    chat.notes.failure = None
    await replying

    assert (before, meanwhile, len(chat.stands(claim))) == (2, 2, 1)


@pytest.mark.promise("no-orphans")
@pytest.mark.parametrize("name", ["discord", "discord, by command", "slack"])
async def test_what_a_store_has_lost_of_an_answer_does_not_stay_below_an_apology(name: str) -> None:
    """A store that went back in time knows the first message only, and the platform knows both."""
    async with PLATFORMS[name]() as chat:
        claim = await chat.asks()
        whole = ANSWER.model_copy(update={"text": f"{long(chat.longest, 1.5)}[1]"})
        first = await chat.surface.reply(claim, progress(whole))
        known = Delivery(messages=first.messages[:1])
        before = len(chat.stands(claim))

        sorry = Answer(id="a", text="I couldn't look.", status=Status.UNAVAILABLE)
        await chat.surface.reply(replace(claim, delivery=known, attempt=2), progress(sorry))

        assert (before, len(first.messages)) == (2, 2)
        assert ["couldn't look" in text for text in chat.stands(claim)] == [True]


@pytest.mark.promise("no-orphans")
@pytest.mark.parametrize("revisions", [(0, 7), (7, 9)], ids=["edited", "edited again"])
@pytest.mark.parametrize("name", ["discord", "slack"])
async def test_what_a_store_has_lost_of_an_answer_to_earlier_words_goes(name: str, revisions: tuple[int, int]) -> None:
    """A store that went back in time knows the first message only, and the question has been edited since."""
    async with PLATFORMS[name]() as chat:
        claim = await chat.asks()
        words = [claim.question.model_copy(update={"revision": each}) for each in revisions]
        whole = ANSWER.model_copy(update={"text": f"{long(chat.longest, 1.5)}[1]"})
        first = await chat.surface.reply(replace(claim, question=words[0]), progress(whole))
        known, before = Delivery(messages=first.messages[:1]), len(chat.stands(claim))

        await chat.surface.reply(replace(claim, question=words[1], delivery=known, attempt=2), progress(ANSWER))

        assert (before, len(first.messages), len(chat.stands(claim))) == (2, 2, 1)


@pytest.mark.promise("crash-safe")
async def test_what_the_platform_has_refused_is_noted_as_no_longer_under_way() -> None:
    """Whoever takes over would look for a message that nobody has posted, and wait for it to be found."""
    async with on_discord(OnDiscord) as discord:
        claim = await discord.asks()
        whole = ANSWER.model_copy(update={"text": f"{long(discord.longest, 1.5)}[1]"})
        first = await discord.surface.reply(claim, progress(whole))
        discord.server.deny(discord.channel, Permission.SEND_MESSAGES_IN_THREADS)

        async def written() -> AsyncIterator[Progress]:
            yield drafted(long(discord.longest, 2.5))
            await discord.until(lambda: [one for one in discord.server.requests if (one.route, one.status) == REFUSED])
            yield ANSWER

        await discord.surface.reply(replace(claim, delivery=first, attempt=2), written())

        assert [each.trying is not None for each in discord.notes.written][-2:] == [True, False]
        assert len(discord.stands(claim)) == 1
