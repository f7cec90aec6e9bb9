"""Who asks on Discord while many wait is told so, until the answer is there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

import pytest

from adapters.chat.platform import NOTICE, Part, Poster, nonce
from adapters.discord.commands import below
from adapters.discord.poster import ChannelPoster
from adapters.retry import QUICK
from core.errors import Rejected
from core.model import Asked, Claim, Delivery, Interruption, WaitNotice, Withdrawal
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.ears import answers, listening, words
from tests.fakes.box import Box
from tests.fakes.waiting_room import FULL, TURN, WORDS, waits
from tests.on_discord import OnDiscord, OnDiscordByCommand, on_discord
from tests.platforms import ANSWER, progress
from tests.servers.discord import DiscordServer, Permission
from tests.servers.faults import Lost
from tests.waiting import wait_until

FOLLOW_UP = "POST /webhooks/{application}/{token}"


@pytest.fixture(name="discord")
async def _discord() -> AsyncIterator[OnDiscord]:
    async with on_discord(OnDiscord) as discord:
        yield discord


async def told(discord: OnDiscord, *, is_known: bool) -> Claim:
    """Ask, be told to wait, and give what a worker holds then; whoever said it may have died over it."""
    claim = await discord.asks()
    mark = nonce(claim.message, NOTICE)
    channel = discord.client.get_partial_messageable(discord.channel.id)
    said = await ChannelPoster(channel, reply_to=int(claim.message.id)).post(Part(WORDS), mark)
    place = claim.message.thread.model_copy(update={"thread": str(discord.channel.id)})
    notice = WaitNotice(thread=place, nonce=mark, id=said.id if is_known else "")
    return replace(claim, delivery=Delivery(notice=notice))


@pytest.mark.promise("full-house")
async def test_who_asks_while_many_wait_is_told_how_long(server: DiscordServer, place: Place) -> None:
    """How long, once in a while in one place, below the question; nobody is pinged and no thread is opened for that."""
    box = Box(crowd=FULL)
    async with listening(server, box, waits=waits(box)):
        for number in range(3):
            server.post_as(place.ada, place.channel, f"What is {number}?", mentions=[server.bot])
            await box.question()
        server.post_as(place.ada, server.dm(place.ada), "And now?")
        await box.question()
        await wait_until(lambda: len(box.notices) == 8, what="the words, and the notes of them")

    said = {str(one.id): str(one.channel_id) for one in answers(server)}
    assert sorted(words(server)) == [*[TURN] * 2, WORDS, WORDS]
    assert {one.id: one.thread.thread for one in box.notices if one.id} == said
    assert not any(one.pings for one in answers(server) if one.pings.users)


@pytest.mark.promise("never-silent")
async def test_what_could_not_be_put_at_once_and_an_edit_are_waited_for_as_well(
    server: DiscordServer, place: Place
) -> None:
    """Each is told so, as any question is."""
    box = Box(fails=True)

    async def sleep(_: float) -> None:
        box.fails = False

    async with listening(server, box, waits=waits(box), sleep=sleep):
        said = server.post_as(place.ada, place.channel, "What is it?", mentions=[server.bot])
        await box.question()
        await wait_until(lambda: len(box.notices) == 2, what="the words, and the notes of them")
        server.edit_as(place.ada, said, f"{server.bot.mention} What is a robot?")
        await wait_until(lambda: len(box.notices) == 4, what="them again")

    assert words(server) == [TURN] * 2


@pytest.mark.promise("full-house")
@pytest.mark.parametrize("is_known", [True, False])
async def test_the_words_are_gone_once_the_answer_stands(discord: OnDiscord, is_known: bool) -> None:
    """Also where nobody knows whether they were posted; what is noted of the answer holds them until then."""
    claim = await told(discord, is_known=is_known)
    before = discord.stands(claim)
    await discord.surface.reply(claim, progress(ANSWER))

    assert (before, ["A robot acts." in text for text in discord.stands(claim)]) == ([WORDS], [True])
    assert (discord.notes.written[0].notice, discord.notes.written[-1].notice) == (claim.delivery.notice, None)


@pytest.mark.promise("full-house")
async def test_words_of_which_the_store_has_lost_the_note_are_gone_with_it(discord: OnDiscord) -> None:
    """What was posted may be unknown to whoever takes a question after the server has started again."""
    claim = await told(discord, is_known=True)
    await discord.surface.reply(replace(claim, was_released=True, delivery=Delivery()), progress(ANSWER))

    assert ["A robot acts." in text for text in discord.stands(claim)] == [True]


@pytest.mark.promise("deletions-count")
@pytest.mark.parametrize("is_known", [True, False])
async def test_the_words_go_with_the_question(discord: OnDiscord, is_known: bool) -> None:
    """As the answer would."""
    claim = await told(discord, is_known=is_known)
    await discord.surface.withdraw(Withdrawal(claim.message, delivery=claim.delivery))

    assert discord.stands(claim) == []


async def test_words_that_cannot_be_found_hold_up_no_answer(discord: OnDiscord) -> None:
    """Where the bot may not read, they stay."""
    claim = await told(discord, is_known=False)
    discord.server.deny(discord.channel, Permission.READ_MESSAGE_HISTORY)
    await discord.surface.reply(claim, progress(ANSWER))

    assert (len(discord.stands(claim)), discord.notes.written[-1].notice) == (2, None)


async def test_who_has_lost_the_question_leaves_the_words(discord: OnDiscord) -> None:
    """Whoever has it now takes them away."""
    claim = await told(discord, is_known=True)
    discord.notes.is_lost = True
    claim.cancelled.set(Interruption.LOST)
    with pytest.raises(Exception, match="another worker has the question"):
        await discord.surface.reply(claim, progress(ANSWER))

    assert discord.stands(claim) == [WORDS]


async def poster(discord: OnDiscord, claim: Claim) -> Poster:
    """Give what says it in the place of the response to a command."""
    return await below(discord.client, Asked(question=claim.question, address=claim.address))


@pytest.mark.promise("never-silent")
@pytest.mark.parametrize("is_private", [False, True])
async def test_words_in_the_place_of_a_response_are_replaced_by_the_answer_and_never_replace_it(
    *, is_private: bool
) -> None:
    """Those that come too late go; in time, they go with the question too, where others see them."""
    async with on_discord(OnDiscordByCommand) as discord:
        seen: list[list[str]] = []
        for is_late in (True, False):
            claim = await discord.commanded(is_private=is_private)
            if is_late:
                await discord.surface.reply(claim, progress(ANSWER))
            saying = await poster(discord, claim)
            await saying.delete((await saying.post(Part(WORDS), "")).id)
            seen.append(discord.stands(claim))
        notice = WaitNotice(thread=claim.message.thread, nonce="", id=claim.message.id)
        await discord.surface.withdraw(Withdrawal(claim.message, delivery=Delivery(notice=notice)))

        assert [len(seen[0]), seen[1][1:]] == [1, [WORDS]]
        assert (WORDS in seen[0][0], WORDS in discord.stands(claim)) == (False, is_private)


@pytest.mark.promise("never-silent")
async def test_words_whose_confirmation_was_lost_are_not_said_again() -> None:
    """They would stand there beside the answer for good; a worker who comes after one that died replaces them too."""
    async with on_discord(OnDiscordByCommand) as discord:
        claim = await discord.commanded(is_private=True, attempt=2)
        saying = await poster(discord, claim)
        discord.server.faults.add(FOLLOW_UP, Lost())
        with pytest.raises(Rejected):
            await QUICK.call(partial(saying.post, Part(WORDS), ""))
        before = discord.stands(claim)
        notice = WaitNotice(thread=claim.message.thread, nonce="")
        await discord.surface.reply(replace(claim, delivery=Delivery(notice=notice)), progress(ANSWER))

        assert (before, ["A robot acts." in text for text in discord.stands(claim)]) == ([WORDS], [True])
