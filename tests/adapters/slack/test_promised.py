"""A process dies over a command on Slack, and who used it is answered by the next one."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from adapters.slack.commands.shortcuts import ANSWER_FROM
from core.model import Asked
from tests.adapters.slack.office import Office
from tests.fakes.promises import MemoryPromises
from tests.servers.slack import Message
from tests.waiting import at_once

ASKS = "What is a robot?"


@pytest.fixture(name="office")
async def _office() -> AsyncIterator[Office]:
    async with Office.at_work() as office:
        yield office


async def followed(office: Office) -> Office:
    """Let another process begin with the same stores, as they are now, and then the first one go on."""
    kept = MemoryPromises()
    kept.kept = dict(office.promises.kept)
    following = Office(
        office.server, office.workspace, office.ada, office.boss, office.channel, memo=office.memo, promises=kept
    )
    async with following.open() as commands:
        await commands.take_up(at_once)
    office.inbox.opens.set()
    return following


async def put_by_both(office: Office, following: Office) -> Asked:
    """Give what both have put, which is the same."""
    asked = await following.heard()
    assert asked == await office.heard()
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
    assert (following.promises.kept, following.inbox.signals) == ({}, [])


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
    assert (asked.question.selection, following.promises.kept, office.promises.kept) == ("A robot acts.", {}, {})
