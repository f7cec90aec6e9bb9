"""A process dies over a command on Slack, and who used it is answered by the next one."""

from __future__ import annotations

import asyncio

import pytest

from adapters.chat.background import NO_STORE, take_over
from adapters.slack.commands import ANSWER_FROM
from adapters.slack.forms import QUESTION
from core.model import Asked
from tests.adapters.slack.office import Office
from tests.servers.faults import Fault, Hold, Lost
from tests.servers.service import Reply, Reset
from tests.servers.slack import Message
from tests.waiting import cancelled, wait_until

ASKS = "What is a robot?"
LIMITED = Reply(429, {"ok": False, "error": "ratelimited"}, {"Retry-After": "1"})


async def followed(office: Office) -> Office:
    """Let another process begin with the same stores, as they are now, and then the first one go on."""
    following = Office(
        office.server,
        office.workspace,
        office.ada,
        office.boss,
        office.channel,
        dedup=office.dedup,
        inbox=office.inbox.follow(),
    )
    async with following.open() as commands:
        taking = asyncio.create_task(take_over(following.services, "slack", commands.find))
        await wait_until(lambda: not following.inbox.kept, what="the move")
        await cancelled(taking)
    office.inbox.opens.set()
    return following


async def posted(office: Office) -> None:
    """Ask before everybody, and let the inbox wait once the message stands that asks."""
    office.inbox.opens.clear()
    await office.server.slash(office.ada, office.channel, "/footnote", f"ask {ASKS}").acknowledged()
    await office.server.until(lambda: roots(office), what="the message that asks")


async def put_by_both(office: Office, following: Office) -> Asked:
    """Give what both have put, which is the same."""
    asked = await following.heard()
    assert isinstance(asked, Asked)
    assert asked.delivery is not None  # as whoever was first may have moved it, and the store lost that
    assert asked.model_copy(update={"delivery": None}) == await office.heard()
    assert isinstance(asked, Asked)
    return asked


def roots(office: Office) -> list[Message]:
    """The messages that stand for questions."""
    return [one for one in office.server.messages(office.channel) if "asks:" in one.text]


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("words", [f"ask {ASKS}", f"ask --private {ASKS}"])
async def test_what_was_acknowledged_and_not_put_is_put_by_the_next(office: Office, words: str) -> None:
    """As it would have been, below the message that stands there for it; then nobody has to do it any more."""
    office.inbox.opens.clear()
    async with office.open():
        await office.server.slash(office.ada, office.channel, "/footnote", words).acknowledged()
        posts = int("--private" not in words)
        await office.server.until(lambda: len(roots(office)) == posts, what="the message that asks")
        following = await followed(office)

    asked = await put_by_both(office, following)
    assert asked.question.text == ASKS
    assert len(roots(office)) == posts
    assert (following.inbox.kept, following.inbox.signals) == ({}, [])


@pytest.mark.promise("crash-safe")
async def test_a_question_about_a_text_is_put_by_the_next(office: Office) -> None:
    """It was asked in a form, which is gone."""
    office.inbox.opens.clear()
    async with office.open():
        message = office.server.post_as(office.boss, office.channel, "A robot acts.")
        used = office.server.shortcut(office.ada, office.channel, message, ANSWER_FROM)
        form = await office.form(office.ada, used)
        await office.server.submit(office.ada, form, {"question": ASKS, "text": "A robot acts."}).acknowledged()
        following = await followed(office)

    asked = await put_by_both(office, following)
    assert (asked.question.selection, following.inbox.kept, office.inbox.kept) == ("A robot acts.", {}, {})


async def test_what_cannot_be_accepted_is_not_acknowledged(office: Office) -> None:
    """Who asks hears so in the answer to the command, and a form stays, with all that was written into it."""
    async with office.open():
        message = office.server.post_as(office.boss, office.channel, "A robot acts.")
        form = await office.form(office.ada, office.server.shortcut(office.ada, office.channel, message, ANSWER_FROM))
        office.inbox.is_closed = True
        told = await office.use(office.ada, f"ask {ASKS}")
        filled = office.server.submit(office.ada, form, {"question": ASKS, "text": "A robot acts."})
        said = await filled.acknowledged()

    assert (told, said["errors"], form.is_open) == (NO_STORE, {QUESTION: NO_STORE}, True)
    assert (roots(office), office.inbox.signals) == ([], [])


@pytest.mark.promise("asked-once")
@pytest.mark.parametrize("words", [f"ask {ASKS}", f"ask --private {ASKS}"])
async def test_a_store_that_is_away_for_a_moment_costs_nobody_an_answer(office: Office, words: str) -> None:
    """The question waits for it, and one message stands for the question."""

    async def back(_: float) -> None:
        office.inbox.fails = None

    office.sleep, office.inbox.fails = back, office.away
    async with office.open():
        await office.server.slash(office.ada, office.channel, "/footnote", words).acknowledged()
        asked = await office.heard()

    assert isinstance(asked, Asked)
    assert (asked.question.text, len(roots(office)), office.inbox.kept) == (ASKS, int("--private" not in words), {})


@pytest.mark.promise("asked-once")
@pytest.mark.parametrize("fault", [Reset(), Lost(), Lost(Reply(502, {})), LIMITED])
async def test_a_platform_that_stumbles_costs_nobody_an_answer(office: Office, fault: Fault) -> None:
    """All see the question once, as if nothing had been."""
    office.server.faults.add("chat.postMessage", fault, fault)
    async with office.open():
        await office.server.slash(office.ada, office.channel, "/footnote", f"ask {ASKS}").acknowledged()
        asked = await office.heard()

    assert isinstance(asked, Asked)
    assert ([one.ts for one in roots(office)], office.told(office.ada)) == ([asked.message.id], [])


@pytest.mark.promise("asked-once")
async def test_a_post_that_was_broken_off_is_found_later(office: Office) -> None:
    """It took so long that another process might have begun with it, and so one does."""
    arrives = asyncio.Event()
    office.inbox.accepted_for = 0.3
    office.server.faults.add("chat.postMessage", Hold(arrives))
    async with office.open() as commands:
        await office.server.slash(office.ada, office.channel, "/footnote", f"ask {ASKS}").acknowledged()
        await commands.background.finish()
        arrives.set()
        await office.server.until(lambda: roots(office), what="the message that asks")
        taking = asyncio.create_task(take_over(office.services, "slack", commands.find))
        asked = await office.heard()
        await cancelled(taking)

    assert isinstance(asked, Asked)
    assert [one.ts for one in roots(office)] == [asked.message.id]


@pytest.mark.promise("crash-safe")
async def test_where_the_bot_may_not_read_the_next_one_posts_again(office: Office) -> None:
    """It cannot know whether somebody has before; what nobody answers is better asked twice."""
    async with office.open():
        await posted(office)
        office.server.faults.add("conversations.history", Reply(200, {"ok": False, "error": "not_in_channel"}))
        following = await followed(office)

    asked = await following.heard()
    assert [one.ts for one in roots(office)][-1] == asked.message.id
    assert len(roots(office)) == 2


@pytest.mark.promise("crash-safe")
async def test_a_question_that_was_posted_is_found_below_many_others(office: Office) -> None:
    """However much was said in the channel since."""
    async with office.open():
        await posted(office)
        for number in range(150):
            office.server.post_as(office.boss, office.channel, f"And {number}?")
        following = await followed(office)

    await put_by_both(office, following)
    assert len(roots(office)) == 1
