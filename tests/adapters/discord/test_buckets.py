"""What is left of a limit can be used, and nobody waits for a window that is too long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace

import pytest
from discord import RateLimited as DiscordRateLimited

from adapters.chat.platform import Part
from adapters.discord.limits import Bucket, Throttle, low_priority
from adapters.discord.poster import ChannelPoster, translated, typing
from core.errors import RateLimited
from core.events import unobserved
from tests.on_discord import POST, OnDiscord, OnDiscordByCommand, on_discord
from tests.platforms import ANSWER, progress
from tests.virtual_time import run

LONG = 300.0  # seconds
THREADS = "POST /channels/{channel}/messages/{message}/threads"
TYPING = "POST /channels/{channel}/typing"
PATCH = "PATCH /channels/{channel}/messages/{message}"


@pytest.fixture(name="discord")
async def _discord() -> AsyncIterator[OnDiscord]:
    async with on_discord(OnDiscord) as discord:
        yield discord


def exhausted(discord: OnDiscord) -> None:
    """Let no thread be opened for long, without a word of it before."""
    discord.server.limits.set(THREADS, 3, LONG)
    discord.server.limits.exhaust(THREADS, discord.channel.id, LONG)


async def posted(discord: OnDiscord, text: str) -> str:
    """Post in the channel; give the message's id."""
    channel = discord.client.get_partial_messageable(discord.channel.id)
    return (await ChannelPoster(channel).post(Part(text), text)).id


@pytest.mark.promise("long-windows")
async def test_all_that_a_long_window_allows_is_used_and_the_rest_is_answered_in_the_channel(
    discord: OnDiscord,
) -> None:
    """No question waits for the end of the window, and none is lost; the server never has to refuse."""
    discord.server.limits.set(THREADS, 3, LONG)

    claims = [await discord.asks() for _ in range(5)]
    async with asyncio.timeout(5):
        for claim in claims:
            await discord.surface.reply(claim, progress(ANSWER))

    opened = [int(claim.message.id) in discord.server.platform.channels for claim in claims]
    below = [
        message.reference for message in discord.server.platform.messages_in(discord.channel, by=discord.server.bot)
    ]
    assert opened == [True, True, True, False, False]
    assert below == [(discord.channel.id, int(claim.message.id)) for claim in claims[3:]]
    assert discord.server.limits.refused == []


@pytest.mark.promise("long-windows")
async def test_a_window_that_is_known_by_a_refusal_is_not_tried_again(discord: OnDiscord) -> None:
    """Refusals are counted, and too many get the bot banned."""
    exhausted(discord)

    claims = [await discord.asks() for _ in range(3)]
    async with asyncio.timeout(5):
        for claim in claims:
            await discord.surface.reply(claim, progress(ANSWER))

    assert len(discord.server.platform.messages_in(discord.channel, by=discord.server.bot)) == 3
    assert len(discord.server.limits.refused) == 1


@pytest.mark.promise("long-windows")
async def test_an_answer_to_a_command_does_without_a_thread_that_cannot_be_opened_soon() -> None:
    """What does not fit into the response stands below it in the channel."""
    long = ANSWER.model_copy(update={"text": "\n\n".join(f"Robot number {n}. {'word ' * 60}[1]" for n in range(9))})
    async with on_discord(OnDiscordByCommand) as discord:
        exhausted(discord)
        claim = await discord.asks()

        async with asyncio.timeout(5):
            delivery = await discord.surface.reply(claim, progress(long))

        assert {message.thread.thread for message in delivery.messages} == {str(discord.channel.id)}
        assert (len(delivery.messages), len(discord.stands(claim))) == (2, 2)
        assert [limited.route for limited in discord.server.limits.refused] == [THREADS]


async def test_the_request_that_uses_up_a_bucket_does_not_wait_for_the_next_window(discord: OnDiscord) -> None:
    """Its answer is there; what comes after it is told to wait, at once."""
    discord.server.limits.set(POST, 2, LONG)

    async with asyncio.timeout(5):
        ids = {await posted(discord, "one"), await posted(discord, "two")}
        with pytest.raises(RateLimited) as caught:
            await posted(discord, "three")

    assert (len(ids), LONG - 5 < caught.value.wait <= LONG, discord.server.limits.refused) == (2, True, [])


async def test_whoever_waits_for_the_first_answer_uses_what_is_left_by_it(discord: OnDiscord) -> None:
    """Before it, nobody knows how many requests a route takes."""
    discord.server.limits.set(POST, 2, LONG)

    async with asyncio.timeout(5):
        ids = await asyncio.gather(posted(discord, "one"), posted(discord, "two"))

    assert (len(set(ids)), discord.server.limits.refused) == (2, [])


def test_as_many_pass_at_once_as_are_left() -> None:
    """None of them waits for the answer of another, and none for the next window."""

    async def passed() -> int:
        bucket = Bucket(Throttle(1000.0))
        await bucket.acquire()
        waiting = [asyncio.create_task(bucket.acquire()) for _ in range(5)]
        await asyncio.sleep(0)
        bucket.limit, bucket.remaining = 4, 3
        bucket.reset_after, bucket.expires = LONG, asyncio.get_running_loop().time() + LONG
        await bucket.__aexit__(None, None, None)
        done, late = await asyncio.wait(waiting, timeout=1.0)
        for each in late:
            each.cancel()
        return len(done)

    assert run(passed()) == 3


async def test_a_wait_that_is_given_up_leaves_no_place_taken(discord: OnDiscord) -> None:
    """In the next window there is as much room as ever."""
    discord.server.limits.set(POST, 2, 0.2)
    await posted(discord, "one")
    await posted(discord, "two")

    waiting = [asyncio.create_task(posted(discord, f"never {number}")) for number in range(5)]
    await asyncio.sleep(0)
    for each in waiting:
        each.cancel()
    await asyncio.wait(waiting)
    async with asyncio.timeout(1):
        await asyncio.gather(posted(discord, "three"), posted(discord, "four"))

    said = discord.server.platform.messages_in(discord.channel, by=discord.server.bot)
    assert sorted(message.content for message in said) == ["four", "one", "three", "two"]
    assert discord.server.limits.refused == []


async def test_a_wait_for_the_throttle_that_is_given_up_leaves_no_place_taken() -> None:
    """The bucket was free, so it is free for the next one."""
    throttle = Throttle(1.0)
    bucket = Bucket(throttle)
    await throttle.take()

    waiting = asyncio.create_task(bucket.acquire())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])

    assert (bucket.remaining, bucket.outgoing, waiting.cancelled()) == (1, 0, True)


def test_all_of_a_long_window_is_left_after_a_wait_that_is_given_up() -> None:
    """A request that was never made is none of those that Discord allows."""

    async def passed() -> int:
        throttle, made = Throttle(1.0), 0
        bucket = Bucket(throttle)
        bucket.limit = bucket.remaining = 3
        bucket.reset_after, bucket.expires = LONG, asyncio.get_running_loop().time() + LONG
        await throttle.take()
        waiting = asyncio.create_task(bucket.acquire())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        with suppress(DiscordRateLimited):
            while True:
                await bucket.acquire()
                made += 1
        return made

    assert run(passed()) == 3


async def test_a_request_that_is_broken_off_twice_leaves_no_place_taken() -> None:
    """Whoever loses a question hears of it before the request, and is cancelled while that ends."""
    bucket = Bucket(Throttle(1000.0))

    async def lose() -> None:
        async with bucket:
            if task := asyncio.current_task():
                task.cancel()
            raise RateLimited(0.0)

    with pytest.raises(RateLimited):
        await asyncio.create_task(lose())

    async with asyncio.timeout(1), bucket:
        pass


@pytest.mark.promise("long-windows")
async def test_a_request_that_is_broken_off_in_a_limit_over_everything_holds_up_no_other(discord: OnDiscord) -> None:
    """Several processes can exceed together what each of them keeps to; the library would let nothing pass any more."""
    discord.server.limits.per_second = 1
    discord.server.clock.advance(2.0)  # into the next window
    await posted(discord, "one")
    waiting = asyncio.create_task(posted(discord, "never"))
    await discord.server.until(lambda: len(discord.server.limits.refused) == 1, what="a refusal")
    await asyncio.sleep(0.05)  # until the client has read it
    waiting.cancel()
    await asyncio.wait([waiting])

    async with asyncio.timeout(5):
        await posted(discord, "two")

    said = discord.server.platform.messages_in(discord.channel, by=discord.server.bot)
    assert [message.content for message in said] == ["one", "two"]


def test_a_wait_that_takes_too_long_is_given_up() -> None:
    """Also where the library does not know how long it would be."""

    async def waited() -> tuple[float, float]:
        bucket = Bucket(Throttle())
        await bucket.acquire()
        with pytest.raises(DiscordRateLimited) as caught:
            await bucket.acquire()
        return asyncio.get_running_loop().time(), caught.value.retry_after

    assert run(waited()) == (pytest.approx(30.0, abs=0.1), 1.0)


def test_a_wait_that_the_route_asks_for_is_told() -> None:
    """So that whoever runs the bot sees how long it was held up; nothing is told of requests that pass."""

    async def waited() -> list[float]:
        told = list[float]()
        bucket = Bucket(Throttle(), told.append)
        await bucket.acquire()
        await bucket.__aexit__(None, DiscordRateLimited(5.0), None)
        await bucket.acquire()
        bucket.remaining, bucket.expires = 1, asyncio.get_running_loop().time() + LONG
        await bucket.acquire()
        return told

    assert run(waited()) == [pytest.approx(5.0, abs=0.1)]


def test_a_wait_for_the_answer_of_another_request_is_no_limit() -> None:
    """Nobody is told that Discord holds the bot up."""

    async def waited() -> list[float]:
        told = list[float]()
        bucket = Bucket(Throttle(), told.append)
        await bucket.acquire()
        waiting = asyncio.create_task(bucket.acquire())
        await asyncio.sleep(0)
        await bucket.__aexit__(None, None, None)
        await waiting
        return told

    assert run(waited()) == []


async def test_a_server_that_allows_fifty_requests_a_second_never_has_to_refuse(discord: OnDiscord) -> None:
    """However many come at once."""
    discord.server.limits.routes.clear()
    guild = discord.server.platform.guilds[discord.channel.guild_id or 0]
    channels = [discord.server.add_channel(guild) for _ in range(52)]

    async def post(channel_id: int) -> None:
        channel = discord.client.get_partial_messageable(channel_id)
        await ChannelPoster(channel).post(Part("x"), str(channel_id))

    await asyncio.gather(*(post(channel.id) for channel in channels))

    assert (len(discord.server.requests_to(POST)), discord.server.limits.refused) == (52, [])


async def test_an_edit_that_need_not_be_made_gives_way(discord: OnDiscord) -> None:
    """The client says that it is too early, and no request is made."""
    now_or_never = asyncio.Event()
    now_or_never.set()
    message_id = int(await posted(discord, "one"))
    message = discord.client.get_partial_messageable(discord.channel.id).get_partial_message(message_id)

    async def edit() -> None:
        with low_priority(now_or_never):
            await translated(message.edit(content="two"))

    outcomes = await asyncio.gather(*(edit() for _ in range(20)), return_exceptions=True)

    assert {type(each) for each in outcomes} == {type(None), RateLimited}
    assert len(discord.server.requests_to(PATCH)) == outcomes.count(None)


@pytest.mark.promise("posted-once")
async def test_an_answer_that_went_below_the_question_stays_there(discord: OnDiscord) -> None:
    """The next attempt knows of it."""
    exhausted(discord)
    claim = await discord.asks()
    first = await discord.surface.reply(claim, progress(ANSWER))
    discord.server.clock.advance(LONG)

    second = await discord.surface.reply(replace(claim, delivery=first, attempt=2), progress(ANSWER))

    assert (second, int(claim.message.id) in discord.server.platform.channels) == (first, False)


async def test_typing_that_comes_too_early_is_left_out_until_the_next_time(discord: OnDiscord) -> None:
    """Answers go first; nobody waits to see that the bot types."""
    discord.server.limits.set(TYPING, 1, LONG)
    waited, twice = list[float](), asyncio.Event()

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) > 1:
            twice.set()
            await asyncio.Event().wait()

    async with typing(discord.client, str(discord.channel.id), unobserved, sleep), asyncio.timeout(5):
        await twice.wait()

    assert (waited, len(discord.server.platform.typing), discord.server.limits.refused) == ([8.0, 8.0], 1, [])
