"""Answers to commands: in the response while that can be changed, then through the channel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.chat.platform import Part
from adapters.discord.limits import Throttle
from adapters.discord.responses import ResponsePoster
from core.errors import RateLimited
from core.messages import FAILED, MENTION_AGAIN
from core.model import Answer, Delivery, MessageRef, Progress, Restarted, Status, Withdrawal
from tests.fakes.surface import drafted
from tests.on_discord import ORIGINAL, OVER, POST, OnDiscordByCommand, on_discord
from tests.platforms import ANSWER, grown, progress
from tests.servers.discord import Message, Permission

FOLLOW_UP = "POST /webhooks/{application}/{token}"
LONG = ANSWER.model_copy(update={"text": "\n\n".join(f"Robot number {n}. {'word ' * 60}[1]" for n in range(9))})


@pytest.fixture(name="discord")
async def _discord() -> AsyncIterator[OnDiscordByCommand]:
    async with on_discord(OnDiscordByCommand) as discord:
        yield discord


def whole(discord: OnDiscordByCommand) -> list[Message]:
    """All that the bot has said, in order."""
    return discord.server.platform.messages_in(discord.channel, by=discord.server.bot)


async def test_the_answer_fills_the_response_below_the_question(discord: OnDiscordByCommand) -> None:
    """Others have not seen what was asked; whoever wants to go on is told how, and no empty thread is opened."""
    claim = await discord.commanded()

    delivery = await discord.surface.reply(claim, grown(lambda: bool(discord.stands(claim))))

    (said,) = whole(discord)
    assert (str(said.id), said.thinking, said.suppresses_embeds) == (claim.message.id, False, True)
    assert said.content.startswith("> What is a robot?\nA robot acts.")
    assert said.content.endswith(MENTION_AGAIN)
    assert said.id not in discord.server.platform.channels
    place = claim.message.thread.model_copy(update={"thread": str(discord.channel.id)})
    assert delivery == Delivery(messages=(MessageRef(thread=place, id=claim.message.id),))


async def test_a_quoted_question_is_words_and_nothing_else(discord: OnDiscordByCommand) -> None:
    """On one line, bounded, and it notifies nobody."""
    claim = await discord.commanded()
    text = "**What** is\n```\n@everyone <@1> [a](https://evil.example) " + "word " * 200
    claim = replace(claim, question=claim.question.model_copy(update={"text": text}))

    await discord.surface.reply(claim, progress(drafted("A robot acts.\n\nAnd"), LONG))

    first, *_ = whole(discord)
    assert discord.alarms() == []
    assert first.content.splitlines()[0].startswith("> \\*\\*What\\*\\* is \\`")
    assert first.content.splitlines()[1].startswith("Robot number 0.")
    assert max(len(message.content) for message in whole(discord)) <= discord.longest


async def test_no_right_in_the_channel_is_needed(discord: OnDiscordByCommand) -> None:
    """Further messages follow the response in the same way, and are edited, withdrawn and noted as usual."""
    discord.server.deny(discord.channel, Permission.VIEW_CHANNEL)
    claim = await discord.commanded()

    delivery = await discord.surface.reply(claim, progress(LONG))
    again = await discord.surface.reply(replace(claim, delivery=delivery), progress(LONG))
    shorter = await discord.surface.reply(replace(claim, delivery=delivery), progress(ANSWER))

    assert len(delivery.messages) == 2
    assert (again, shorter.messages, len(whole(discord))) == (delivery, delivery.messages[:1], 1)
    assert len(discord.server.requests_to(FOLLOW_UP)) == 1
    assert claim.message.id not in map(str, discord.server.platform.channels)


@pytest.mark.promise("long-answers-in-threads")
async def test_the_rest_of_a_long_answer_goes_into_a_thread_on_the_response(discord: OnDiscordByCommand) -> None:
    """It is opened for what stands in it, which is edited there; in the channel stands the first part."""
    claim = await discord.commanded()

    delivery = await discord.surface.reply(claim, progress(drafted("Robot number 0.\n\nAnd"), LONG))
    again = await discord.surface.reply(replace(claim, delivery=delivery, attempt=2), progress(LONG))
    thread = discord.server.platform.channels[int(claim.message.id)]
    rest = [one for one in discord.server.platform.messages_in(thread, by=discord.server.bot) if one.content]
    places = [message.thread.thread for message in delivery.messages]

    assert (len(whole(discord)), len(rest), thread.name, again) == (1, 1, "What is a robot?", delivery)
    assert places == [str(discord.channel.id), claim.message.id]
    assert (len(discord.server.requests_to(POST)), len(discord.server.requests_to(FOLLOW_UP))) == (1, 0)
    assert [bool(message.custom_ids) for message in (*whole(discord), *rest)] == [False, True]
    assert [text.count("> What is a robot?") for text in discord.stands(claim)] == [1, 0]


@pytest.mark.promise("long-answers-in-threads")
async def test_while_a_long_answer_is_written_its_first_part_alone_grows(discord: OnDiscordByCommand) -> None:
    """So that no thread is opened for what may be taken back."""
    claim = await discord.commanded()
    shown = list[list[str]]()

    async def written() -> AsyncIterator[Progress]:
        yield drafted(f"{LONG.text}\n\nAnd")
        await discord.until(lambda: discord.stands(claim))
        shown.append(discord.stands(claim))
        yield Restarted()
        yield ANSWER

    await discord.surface.reply(claim, written())

    assert len(shown[0]) == 1
    assert int(claim.message.id) not in discord.server.platform.channels


@pytest.mark.promise("bounded-pace")
async def test_first_and_last_words_wait_for_no_draft_of_another_response(discord: OnDiscordByCommand) -> None:
    """Where other responses have used up what may be drafted, only what is between them waits, until it is dropped."""
    claim = await discord.commanded()
    assert claim.address
    assert claim.address.interaction
    used_up, obsolete, first = Throttle(1e-3), asyncio.Event(), claim.message.id
    await used_up.take()
    poster = ResponsePoster(
        discord.client, claim.address.interaction, claim.question, None, drafts=used_up, lives=lambda: True
    )

    await poster.edit(first, Part("A"), obsolete)
    drafting = asyncio.create_task(poster.edit(first, Part("A robot"), obsolete))
    await asyncio.wait([drafting], timeout=0.01)
    obsolete.set()
    await poster.edit(first, Part("A robot acts."))

    with pytest.raises(RateLimited):
        await drafting
    (response,) = whole(discord)
    assert [edit.content for edit in response.edits] == ["A", "A robot acts."]


@pytest.mark.promise("commands-outlive-tokens")
async def test_a_response_whose_time_is_over_is_edited_by_the_bot(discord: OnDiscordByCommand) -> None:
    """As when many waited, or the answer is tried again."""
    claim = await discord.commanded()
    discord.server.clock.advance(OVER.total_seconds())
    late = discord.surfaced(now=lambda: claim.question.asked_at + OVER)

    await late.reply(claim, progress(ANSWER))

    (said,) = whole(discord)
    assert ("A robot acts." in said.content, discord.server.requests_to(ORIGINAL)) == (True, [])
    assert [each.channel_id for each in discord.server.platform.typing] in ([], [discord.channel.id])


@pytest.mark.promise("commands-outlive-tokens")
async def test_a_response_whose_time_ends_meanwhile_is_finished_by_the_bot(discord: OnDiscordByCommand) -> None:
    """Also where Discord's clock is ahead of ours."""
    claim = await discord.commanded()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts.\n\nAnd")
        await discord.until(lambda: discord.stands(claim))
        discord.server.clock.advance(OVER.total_seconds())
        yield ANSWER

    await discord.surface.reply(claim, written())

    assert ["A robot acts." in message.content for message in whole(discord)] == [True]


@pytest.mark.parametrize("text", [ANSWER, LONG], ids=["short", "long"])
@pytest.mark.parametrize("has_way", [True, False])
async def test_an_answer_that_the_store_has_lost_is_found_and_not_posted_again(
    discord: OnDiscordByCommand, text: Answer, has_way: bool
) -> None:
    """The response bears it, or its first part, whether or not it can still be changed by the interaction."""
    claim = await discord.commanded()
    delivery = await discord.surface.reply(claim, progress(text))
    assert claim.address is not None
    bare = claim.address.model_copy(update={"interaction": None})
    again = replace(claim, attempt=2, address=claim.address if has_way else bare)

    standing = await discord.surface.standing(again)
    assert standing is not None
    said = await discord.surface.reply(replace(again, delivery=standing), progress(text))

    assert delivery == standing == said
    assert len(whole(discord)) == 1


async def test_a_failure_opens_no_thread(discord: OnDiscordByCommand) -> None:
    """There is nothing to go on from."""
    claim = await discord.commanded()

    await discord.surface.reply(claim, progress(Answer(id="a", text=FAILED, status=Status.FAILED)))

    assert int(claim.message.id) not in discord.server.platform.channels


async def test_a_thread_that_may_not_be_opened_is_none(discord: OnDiscordByCommand) -> None:
    """The answer stands there all the same."""
    discord.server.deny(discord.channel, Permission.CREATE_PUBLIC_THREADS)
    claim = await discord.commanded()

    delivery = await discord.surface.reply(claim, progress(ANSWER))

    assert len(delivery.messages) == len(whole(discord)) == 1


async def test_an_answer_with_a_thread_that_people_use_stays(discord: OnDiscordByCommand) -> None:
    """It was opened for them to go on."""
    claim = await discord.commanded()
    delivery = await discord.surface.reply(claim, progress(LONG))
    thread = discord.server.platform.channels[int(claim.message.id)]
    discord.server.post_as(discord.ada, thread, "Thank you.")

    await discord.surface.withdraw(Withdrawal(claim.message, delivery=delivery))

    assert len(whole(discord)) == 1


# For one person only


async def test_a_private_answer_is_seen_by_one_person(discord: OnDiscordByCommand) -> None:
    """All of its messages, without the question, which that person knows, and without a thread."""
    claim = await discord.commanded(is_private=True)

    delivery = await discord.surface.reply(claim, progress(LONG))
    again = await discord.surface.reply(replace(claim, delivery=delivery), progress(LONG))

    assert [message.seen_by for message in whole(discord)] == [discord.ada.id] * 2
    assert whole(discord)[0].content.startswith("Robot number 0.")
    assert (again, len(discord.server.platform.channels)) == (delivery, 1)
    assert discord.server.requests_to(POST) == []


async def test_a_private_failure_cannot_be_tried_again(discord: OnDiscordByCommand) -> None:
    """Its words are kept nowhere."""
    claim = await discord.commanded(is_private=True)

    await discord.surface.reply(claim, progress(Answer(id="a", text=FAILED, status=Status.FAILED)))

    assert [message.custom_ids for message in whole(discord)] == [[]]


@pytest.mark.promise("commands-outlive-tokens")
@pytest.mark.parametrize("is_known", [True, False], ids=["by our clock", "by Discord's"])
async def test_a_private_answer_that_comes_too_late_is_dropped(discord: OnDiscordByCommand, is_known: bool) -> None:
    """It must not be seen by others, and cannot reach the one."""
    claim = await discord.commanded(is_private=True)
    discord.server.clock.advance(OVER.total_seconds())
    now = claim.question.asked_at + (OVER if is_known else timedelta())

    await discord.surfaced(now=lambda: now).reply(claim, progress(ANSWER))

    assert [message.content for message in whole(discord)] == [""]
    assert discord.server.requests_to(POST) == []
