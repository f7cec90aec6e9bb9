"""What is Discord's own in showing answers: threads, typing, buttons, and places that are closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from discord import RateLimited as DiscordRateLimited

from adapters.chat.delivery import LATE, UPDATED
from adapters.chat.live_message import Pace
from adapters.discord.poster import meaning, translated, typing
from core.answering.agent import answer_id
from core.errors import PostingFailed, RateLimited, Unreachable
from core.events import unobserved
from core.messages import FAILED, MENTION_TO_CONTINUE
from core.model import (
    Answer,
    Claim,
    Delivery,
    MessageRef,
    Progress,
    Reaction,
    ReplyAddress,
    Status,
    Withdrawal,
)
from tests.fakes.surface import drafted
from tests.on_discord import POST, OnDiscord, on_discord
from tests.platforms import ANSWER, CITED, grown, progress
from tests.servers.discord import Channel, Message, Permission, Reply, Reset

TYPING = "POST /channels/{channel}/typing"
THREADS = "POST /channels/{channel}/messages/{message}/threads"
PATCH = "PATCH /channels/{channel}/messages/{message}"
MARKED = Delivery(is_marked=True)


@pytest.fixture(name="discord")
async def _discord() -> AsyncIterator[OnDiscord]:
    async with on_discord(OnDiscord) as discord:
        yield discord


def in_place(claim: Claim, channel: Channel, asked: Message) -> Claim:
    """The claim of a question that was asked in a thread, a forum post or a direct conversation."""
    place = claim.message.thread.model_copy(
        update={"channel": str(channel.parent_id or channel.id), "thread": str(channel.id)}
    )
    message = MessageRef(thread=place, id=str(asked.id))
    return replace(
        claim,
        question=claim.question.model_copy(update={"message": message}),
        address=ReplyAddress(thread=place),
    )


@pytest.mark.promise("opens-threads")
async def test_an_answer_opens_a_thread_on_the_question(discord: OnDiscord) -> None:
    """It is named after the question, and the answer in it has its footnote as a link and its source below."""
    claim = await discord.asks()

    delivery = await discord.surface.reply(claim, grown(lambda: bool(discord.stands(claim))))

    thread = discord.server.platform.channels[int(claim.message.id)]
    (said,) = discord.server.platform.messages_in(thread, by=discord.server.bot)
    assert thread.name == "What is a robot?"
    assert "(<https://docs.example/robots#what>)" in said.content
    assert MENTION_TO_CONTINUE in said.content
    assert delivery == Delivery(messages=(MessageRef(thread=claim.message.thread, id=str(said.id)),))


async def test_a_bot_that_reads_everything_needs_no_hint(discord: OnDiscord) -> None:
    """People go on by writing."""
    claim = await discord.asks()

    await discord.surfaced(reads_all=True).reply(claim, progress(ANSWER))

    assert "mention me" not in discord.stands(claim)[0]


@pytest.mark.parametrize("more", [Permission.CREATE_PUBLIC_THREADS, Permission.READ_MESSAGE_HISTORY])
async def test_without_the_right_to_open_threads_the_answer_stands_below_the_question(
    discord: OnDiscord, more: Permission
) -> None:
    """In the channel, as a reply to it where the bot may read what was said; there it is edited and withdrawn too."""
    discord.server.deny(discord.channel, Permission.CREATE_PUBLIC_THREADS | more)
    claim = await discord.asks()

    delivery = await discord.surface.reply(claim, progress(ANSWER))
    again = await discord.surface.reply(replace(claim, delivery=delivery), progress(ANSWER))

    (said,) = discord.server.platform.messages_in(discord.channel, by=discord.server.bot)
    expected = (discord.channel.id, int(claim.message.id)) if more is Permission.CREATE_PUBLIC_THREADS else None
    assert (said.reference, again) == (expected, delivery)
    assert delivery.messages[0].thread == claim.message.thread.model_copy(update={"thread": str(discord.channel.id)})


async def test_a_thread_that_is_there_already_is_used(discord: OnDiscord) -> None:
    """Somebody was quicker, or an attempt before came no further."""
    asked = discord.mention()
    thread = discord.server.thread_as(discord.ada, asked)

    await discord.surface.reply(discord.claim(asked), progress(ANSWER))

    assert len(discord.server.platform.messages_in(thread, by=discord.server.bot)) == 1


async def test_a_question_in_a_forum_post_is_answered_and_marked_inside(discord: OnDiscord) -> None:
    """Its first message has the thread's id, but does not stand in the channel above."""
    forum = discord.server.add_channel(discord.server.platform.guilds[discord.channel.guild_id or 0], forum=True)
    post, asked = discord.server.post_in_forum_as(discord.ada, forum, "Robots", "What is a robot?")
    claim = in_place(discord.claim(asked), post, asked)

    await discord.surface.reply(claim, progress(ANSWER))
    await discord.surface.react(claim, Reaction.WARNING)

    assert len(discord.server.platform.messages_in(post, by=discord.server.bot)) == 1
    assert set(asked.reactions) == {"⚠️"}


@pytest.mark.promise("opens-threads")
async def test_a_direct_question_is_answered_in_place(discord: OnDiscord) -> None:
    """There are no threads."""
    place = discord.server.dm(discord.ada)
    asked = discord.server.post_as(discord.ada, place, "What is a robot?")

    await discord.surface.reply(in_place(discord.claim(asked), place, asked), progress(ANSWER))

    assert len(discord.server.platform.messages_in(place, by=discord.server.bot)) == 1


# Signs that it goes on, and what can be done


async def test_the_bot_types_until_the_first_words_and_no_longer(discord: OnDiscord) -> None:
    """In the place where the answer will be."""
    claim = await discord.asks()

    async def written() -> AsyncIterator[Progress]:
        await discord.until(lambda: discord.server.platform.typing)
        yield ANSWER

    await discord.surface.reply(claim, written())

    assert [each.channel_id for each in discord.server.platform.typing] == [int(claim.message.thread.thread)]


async def test_typing_is_renewed_and_ends_with_the_run(discord: OnDiscord) -> None:
    """Discord shows it for ten seconds; an answer that never comes leaves none."""
    turns = asyncio.Queue[None]()
    waited = list[float]()

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await turns.get()

    before = asyncio.all_tasks()
    async with typing(discord.client, str(discord.channel.id), unobserved, sleep):
        turns.put_nowait(None)
        await discord.until(lambda: len(discord.server.platform.typing) == 2)

    assert (waited[0], asyncio.all_tasks() - before) == (8.0, set())


@pytest.mark.parametrize("fault", [Reset(), Reply(403, {"code": 50013, "message": "Missing Permissions"})])
async def test_typing_that_does_not_work_costs_nothing(discord: OnDiscord, fault: Reset | Reply) -> None:
    """It is not tried again."""
    discord.server.faults.break_(TYPING, fault)
    claim = await discord.asks()

    async def written() -> AsyncIterator[Progress]:
        await discord.until(discord.is_met)
        yield ANSWER

    await discord.surface.reply(claim, written())

    assert ["A robot acts." in text for text in discord.stands(claim)] == [True]


@pytest.mark.parametrize(
    ("answer", "buttons"),
    [
        (ANSWER, ["up", "down"]),
        (Answer(id="a", text="Nothing fits.", status=Status.NO_CONTEXT, nearest=(CITED,)), []),
        (Answer(id="a", text="Hello!", status=Status.ANSWERED), []),
        (Answer(id="a", text=FAILED, status=Status.FAILED), ["retry"]),
        (Answer(id="a", text="Stopped.", status=Status.STOPPED), []),
        (Answer(id="a", text="Not now.", status=Status.REFUSED), []),
    ],
    ids=lambda value: value.status.value if isinstance(value, Answer) else "",
)
async def test_an_answer_bears_the_buttons_that_fit_it(discord: OnDiscord, answer: Answer, buttons: list[str]) -> None:
    """While it is written it can be stopped, and in the end only the last message has buttons."""
    claim = await discord.asks()
    while_written = list[list[str]]()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("\n\n".join(f"Robot number {n}. {'word ' * 60}" for n in range(9)))
        await discord.until(lambda: len(discord.stands(claim)) == 2 and not discord.answers(claim)[0].custom_ids)
        while_written.extend(message.custom_ids for message in discord.answers(claim) if message.content)
        yield answer

    await discord.surface.reply(claim, written())

    (last,) = [message for message in discord.answers(claim) if message.content and not message.deleted]
    assert [[_kind(each) for each in ids] for ids in while_written] == [[], ["stop"]]
    assert [_kind(each) for each in last.custom_ids] == buttons


def _kind(custom_id: str) -> str:
    return custom_id.split(":")[1]


async def test_a_message_that_was_posted_with_other_buttons_gets_the_right_ones(discord: OnDiscord) -> None:
    """A nonce gives the message of an attempt that was broken off, which can still be stopped by its button."""
    claim = await discord.asks()
    going_on = asyncio.Event()

    async def broken() -> AsyncIterator[Progress]:
        yield drafted("A robot acts.\n\nAnd")
        await discord.until(lambda: discord.stands(claim))
        going_on.set()
        await asyncio.Event().wait()

    first = asyncio.create_task(discord.surface.reply(claim, broken()))
    await going_on.wait()
    first.cancel()
    await asyncio.wait([first])
    whole = ANSWER.model_copy(update={"text": "A robot acts.", "citations": (), "has_relevant_context": True})
    await discord.surfaced(reads_all=True).reply(replace(claim, attempt=2), progress(whole))

    (said,) = [message for message in discord.answers(claim) if message.content]
    assert (said.content, [_kind(each) for each in said.custom_ids]) == ("A robot acts.", ["up", "down"])
    assert said.custom_ids[0].endswith(answer_id(claim.question))


async def test_an_answer_says_that_it_was_updated(discord: OnDiscord) -> None:
    """Readers may remember another one."""
    claim = await discord.asks()

    await discord.surface.reply(replace(claim, is_update=True), progress(ANSWER))

    assert f"-# {UPDATED}" in discord.stands(claim)[0].splitlines()


@pytest.mark.parametrize(("minutes", "says"), [(4, False), (6, True)])
async def test_an_answer_that_comes_late_says_sorry(discord: OnDiscord, minutes: int, says: bool) -> None:
    """After five minutes nobody waits for it any more."""
    claim = await discord.asks()
    begins = claim.question.asked_at + timedelta(minutes=minutes)

    await discord.surfaced(now=lambda: begins).reply(claim, progress(ANSWER))

    assert (f"-# {LATE}" in discord.stands(claim)[0].splitlines()) is says


# Places that are closed


@pytest.mark.promise("refusals-end")
async def test_where_the_bot_may_not_write_the_question_is_marked_and_somebody_hears_of_it(discord: OnDiscord) -> None:
    """With as few requests as it takes to know."""
    discord.server.deny(discord.channel, Permission.SEND_MESSAGES | Permission.CREATE_PUBLIC_THREADS)
    claim = await discord.asks()

    delivery = await discord.surface.reply(claim, progress(ANSWER))

    assert (delivery, discord.warnings(claim), discord.refused) == (MARKED, 1, [claim.message])
    assert len(discord.server.requests_to(POST)) == 1


async def test_half_an_answer_that_cannot_be_finished_is_known(discord: OnDiscord) -> None:
    """The right was lost meanwhile; whoever withdraws the answer later finds what stands there."""
    claim = await discord.asks()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts.\n\nAnd")
        await discord.until(lambda: discord.stands(claim))
        discord.server.deny(discord.channel, Permission.VIEW_CHANNEL)
        yield ANSWER

    delivery = await discord.surface.reply(claim, written())

    assert [message.id for message in delivery.messages] == [
        str(message.id) for message in discord.answers(claim) if message.content
    ]


async def test_an_archived_thread_is_opened_by_the_answer(discord: OnDiscord) -> None:
    """What stands in it cannot be edited before, so it is said anew and the old message goes."""
    claim = await discord.asks()
    first = await discord.surface.reply(claim, progress(ANSWER))
    thread = discord.server.platform.channels[int(claim.message.id)]
    discord.server.change_thread(thread, archived=True)
    better = ANSWER.model_copy(update={"text": "A robot moves. [1]"})

    await discord.surface.reply(replace(claim, delivery=first), progress(better))

    assert (["moves" in text for text in discord.stands(claim)], thread.archived) == ([True], False)


async def test_a_locked_thread_is_left_alone(discord: OnDiscord) -> None:
    """Moderators have closed it; the mark stands on the question in the channel."""
    asked = discord.mention()
    discord.server.change_thread(discord.server.thread_as(discord.ada, asked), locked=True, archived=True)
    claim = discord.claim(asked)

    assert await discord.surface.reply(claim, progress(ANSWER)) == MARKED
    assert (discord.stands(claim), discord.warnings(claim)) == ([], 1)


async def test_a_thread_that_is_deleted_meanwhile_takes_the_answer_along(discord: OnDiscord) -> None:
    """Nothing is posted elsewhere, and nobody is warned."""
    claim = await discord.asks()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts.\n\nAnd")
        await discord.until(lambda: discord.stands(claim))
        discord.server.delete_channel(discord.server.platform.channels[int(claim.message.id)])
        yield ANSWER

    assert await discord.surface.reply(claim, written()) == Delivery()
    assert (discord.stands(claim), discord.warnings(claim), discord.refused) == ([], 0, [])


async def test_a_channel_that_is_gone_is_no_failure(discord: OnDiscord) -> None:
    """There is nowhere to say it, and trying again would change nothing."""
    claim = await discord.asks()
    discord.server.delete_channel(discord.channel)

    assert await discord.surface.reply(claim, progress(ANSWER)) == MARKED


async def test_a_platform_that_is_away_is_a_failure(discord: OnDiscord) -> None:
    """Another attempt may find it there."""
    discord.server.faults.break_(POST, Reset())
    claim = await discord.asks()

    with pytest.raises(PostingFailed):
        await discord.surfaced(pace=Pace(interval=0.0, longest=0.0, tries=2)).reply(claim, progress(ANSWER))


async def test_a_thread_that_cannot_be_opened_now_is_a_failure(discord: OnDiscord) -> None:
    """Nothing was said yet."""
    discord.server.faults.break_(THREADS, Reset())
    claim = await discord.asks()

    with pytest.raises(PostingFailed):
        await discord.surface.reply(claim, progress(ANSWER))


async def test_a_question_that_was_deleted_unheard_is_not_answered_in_the_channel(discord: OnDiscord) -> None:
    """No thread can be opened on it, so that its answer would belong to nothing; no model is asked for it."""
    claim = await discord.asks()
    discord.server.delete_as(discord.ada, discord.server.platform.messages[int(claim.message.id)])
    asked = list[str]()

    async def written() -> AsyncIterator[Progress]:
        asked.append("a model")
        yield ANSWER

    assert await discord.surface.reply(claim, written()) == Delivery()
    said = discord.server.platform.messages_in(discord.channel, by=discord.server.bot)
    assert (said, asked, discord.refused) == ([], [], [])


async def test_a_mark_that_cannot_be_put_now_is_left_out(discord: OnDiscord) -> None:
    """It is no reason to answer again."""
    claim = await discord.asks()
    discord.server.faults.break_("PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me", Reset())

    await discord.surface.react(claim, Reaction.WARNING)

    assert discord.warnings(claim) == 0


async def test_an_edit_that_is_refused_for_its_age_is_a_new_message(discord: OnDiscord) -> None:
    """Waiting would not help, although Discord says that it was too fast."""
    claim = await discord.asks()
    first = await discord.surface.reply(claim, progress(ANSWER))
    discord.server.faults.break_(PATCH, Reply(429, {"code": 30046, "message": "Maximum number of edits"}))

    second = await discord.surface.reply(replace(claim, delivery=first), progress(ANSWER))

    assert (len(discord.stands(claim)), second != first) == (1, True)


async def test_a_question_without_an_answer_has_nothing_to_take_back(discord: OnDiscord) -> None:
    """It was deleted before anything was posted, or a thread opened."""
    claim = await discord.asks()
    before = len(discord.server.requests)

    await discord.surface.withdraw(Withdrawal(claim.message))

    assert [one.route for one in discord.server.requests[before:]] == ["GET /channels/{channel}"]


async def test_a_surface_without_a_store_notes_nothing(discord: OnDiscord) -> None:
    """The answer is the same."""
    claim = await discord.asks()

    await discord.surfaced(deliveries=None).reply(claim, progress(ANSWER))

    assert (len(discord.stands(claim)), discord.notes.written) == (1, [])


@pytest.mark.parametrize(
    ("error", "means"),
    [
        (DiscordRateLimited(31.0), RateLimited),
        (TimeoutError(), Unreachable),
        (ConnectionResetError(), Unreachable),
        (KeyError("ours"), type(None)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_failures_of_the_client_are_told_apart_from_mistakes(error: Exception, means: type[object]) -> None:
    """Only what Discord or the network did is a failure of the platform."""
    assert type(meaning(error)) is means


async def test_a_mistake_is_raised_as_it_is() -> None:
    """It is no failure of the platform, so it must not be tried again as one."""

    async def mistaken() -> None:
        raise KeyError("ours")

    with pytest.raises(KeyError):
        await translated(mistaken())
