"""One community's documents are not read for another: by mention, direct message, menu, button, edit and follow-up."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core import messages
from core.events import TaskFailed
from core.model import Audience, Awaited, SourceRecord
from tests.builders import hit
from tests.end_to_end.community import ANSWER, Abroad, Town
from tests.end_to_end.strangers import DiscordStrangers, SlackStrangers, SlackStrangersOverHttp, Strangers
from tests.fakes.shelf import Shelf
from tests.fixtures.redis import clean
from tests.servers.openai import ChatServer
from tests.servers.slack.refusals import limit

OPEN = "A robot may be known by all"
SELECTED = "A robot is a machine."
WHAT = "What can I ask you?"


@dataclass
class Region:
    """A town, and the strangers there."""

    town: Town
    strangers: Strangers


@pytest.fixture(name="region", params=[DiscordStrangers, SlackStrangers, SlackStrangersOverHttp])
async def _region(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path) -> AsyncGenerator[Region]:
    """Build it on each platform; nobody has started the bot yet."""
    async with contextlib.AsyncExitStack() as stack:
        strangers: Strangers = request.param()
        await stack.enter_async_context(strangers.open())
        chat = await stack.enter_async_context(ChatServer())
        await stack.enter_async_context(clean(redis_url))
        yield Region(Town(strangers, chat, Shelf(), redis_url, tmp_path), strangers)


def shelve(town: Town, *, opens: bool) -> None:
    """Put what is the first community's on the shelf, what is nobody's, and perhaps what is open to all."""
    others = hit(0.95, text="A robot is a secret.", source="others", url="https://docs.example/secret")
    everybodys = hit(text=f"{OPEN}.", source="open", url="https://docs.example/open")
    town.shelf = Shelf(others, hit(text=f"{ANSWER}."), everybodys)
    audiences = {"open": Audience(everyone=opens), "others": Audience()}
    town.shelf.records = {name: SourceRecord(name=name, audience=each) for name, each in audiences.items()}


def read(town: Town) -> set[tuple[str, ...] | None]:
    """Give the sources that were searched."""
    return {each.scope.sources for each in town.shelf.asked}


def titled(source: str) -> str:
    """Give the title of the chapter in a source."""
    return f"Chapter of {source}"


def was_told(town: Town, words: str) -> bool:
    """Say whether the model was told something."""
    return any(words in f"{request.body}" for request in town.chat.received)


@pytest.mark.promise("documents-apart")
async def test_members_are_answered_from_their_own_documents(region: Region) -> None:
    """Also after an edit or in a follow-up, where what is shared by then counts; what is nobody's is never searched."""
    town, allowed = region.town, region.strangers.allowed()
    shelve(town, opens=True)
    async with town.bot(FOOTNOTE_COMMUNITIES=allowed):
        asked, other = town.community.ask(), town.community.ask(by="Bob")
        for each in (asked, other):
            await town.sees(each, ANSWER)
            await town.remembers(each)
        first, town.shelf.asked[:] = read(town), []
        town.shelf.records["docs"] = SourceRecord(name="docs", audience=Audience())
        assert not was_told(town, "a secret")
        town.chat.received.clear()
        town.community.edit(asked, "What is an arm?")
        await town.sees(asked, OPEN)
        town.community.follow_up(other, "And what else may be known?", by="Bob")
        await town.sees(other, OPEN)

    assert (first, read(town)) == ({("docs", "open")}, {("open",)})
    assert not was_told(town, ANSWER)


@pytest.mark.promise("strangers-apart")
@pytest.mark.promise("guests-apart")
async def test_a_stranger_is_answered_from_what_is_open_to_all(region: Region) -> None:
    """In a channel that others read, in direct messages, where the next question follows up, and of a message."""
    town, allowed = region.town, region.strangers.allowed()
    shelve(town, opens=True)
    async with town.bot(FOOTNOTE_COMMUNITIES=allowed):
        await town.sees(town.community.ask(by="Eve", room=Abroad.CHANNEL), OPEN)
        asked = town.community.ask(by="Eve", room=Abroad.DIRECT)
        await town.sees(asked, OPEN)
        town.community.follow_up(asked, "And what else may be known?", by="Eve")
        await town.sees(asked, OPEN, times=2)
        town.chat.say("A machine [1].")
        told = await town.community.ask_from(SELECTED, "What is it?", by="Eve", room=Abroad.CHANNEL)

    assert "A machine" in told
    assert read(town) == {("open",)}
    assert not was_told(town, ANSWER)


@pytest.mark.promise("documents-apart")
@pytest.mark.promise("strangers-apart")
async def test_what_can_be_asked_is_what_each_may_read(region: Region) -> None:
    """Of what is nobody's, or not a stranger's, neither a title nor the number of pages is told."""
    town, allowed = region.town, region.strangers.allowed()
    names = ("docs", "others", "open")
    town.shelf = Shelf(*(hit(source=each, url=f"https://docs.example/{each}", chapter=titled(each)) for each in names))
    audiences = {"open": Audience(everyone=True), "others": Audience()}
    town.shelf.records = {name: SourceRecord(name=name, audience=each) for name, each in audiences.items()}
    async with town.bot(FOOTNOTE_COMMUNITIES=allowed):
        asked = town.community.ask(WHAT)
        members = await town.sees(asked, "2 pages")
        asked = town.community.ask(WHAT, by="Eve", room=Abroad.DIRECT)
        strangers = await town.sees(asked, "1 page")

    listed = [[name for name in names if titled(name) in told] for told in (members, strangers)]
    assert listed == [["docs", "open"], ["open"]]
    assert (town.chat.received, town.shelf.asked) == ([], [])


@pytest.mark.promise("strangers-apart")
@pytest.mark.promise("guests-apart")
async def test_a_stranger_to_whom_nothing_is_open_hears_so(region: Region) -> None:
    """In direct messages, and by the menu of a message there; neither model nor documents are asked."""
    town, allowed = region.town, region.strangers.allowed(everywhere=False)
    shelve(town, opens=False)
    async with town.bot(FOOTNOTE_COMMUNITIES=allowed):
        asked = town.community.ask(by="Eve", room=Abroad.DIRECT)
        await town.sees(asked, region.strangers.hears)
        told = await town.community.ask_from(SELECTED, "What is it?", by="Eve", room=Abroad.DIRECT)

    assert told == region.strangers.hears
    assert (town.chat.received, town.shelf.asked) == ([], [])


@pytest.mark.promise("strangers-apart")
@pytest.mark.promise("retry")
async def test_what_a_stranger_has_tried_again_is_decided_anew(region: Region) -> None:
    """What was open when she asked need not be when she presses the button."""
    town, allowed = region.town, region.strangers.allowed(everywhere=False)
    shelve(town, opens=True)
    town.shelf.fails = True
    async with town.bot(FOOTNOTE_COMMUNITIES=allowed):
        asked = town.community.ask(by="Eve", room=Abroad.DIRECT)
        await town.sees(asked, messages.UNAVAILABLE)
        await town.remembers(asked)
    town.shelf.fails, town.shelf.asked[:] = False, []
    town.shelf.records["open"] = SourceRecord(name="open", audience=Audience())
    async with town.bot(FOOTNOTE_COMMUNITIES=allowed):
        await town.community.press(asked, by="Eve")
        await town.sees(asked, region.strangers.hears)

    assert town.shelf.asked == []
    assert not was_told(town, OPEN)


@pytest.mark.promise("guests-apart")
@pytest.mark.parametrize("has_guest", [False, True])
@pytest.mark.parametrize("region", [SlackStrangers], indirect=True)  # only Slack has guests
async def test_nobody_is_answered_before_it_is_known_who_reads_along(region: Region, *, has_guest: bool) -> None:
    """Where Slack lets nobody look for a while, the question waits for that and no attempt is lost, which is told."""
    town, slack = region.town, region.strangers
    assert isinstance(slack, SlackStrangers)
    shelve(town, opens=False)
    if has_guest:
        guest = slack.server.add_member(slack.workspace, "Gus", is_restricted=True)
        slack.channel.members.add(guest.id)
    slack.server.faults.break_("users.list", limit(17))
    async with town.bot(FOOTNOTE_COMMUNITIES=slack.allowed()):
        asked = town.community.ask()
        words = messages.AWAITED[Awaited.READERS]
        await slack.server.until(lambda: words in town.community.said(asked), what="the notice", seconds=25.0)
        slack.server.faults.mend()
        await (town.hears(asked, messages.STRANGERS_READ) if has_guest else town.sees(asked, ANSWER))

    assert was_told(town, ANSWER) is not has_guest
    assert len(slack.server.requests_to("users.list")) == 2
    assert [each for each in town.events if isinstance(each, TaskFailed)] == []
    assert words not in town.community.said(asked)


@pytest.mark.promise("guests-apart")
@pytest.mark.parametrize("region", [SlackStrangers, SlackStrangersOverHttp], indirect=True)  # only Slack has guests
async def test_where_a_guest_was_let_in_members_are_answered_once_a_moderator_opens_the_channel(region: Region) -> None:
    """Until then they hear alone why they are not, or see no documents; by themselves they are answered as before."""
    town, slack = region.town, region.strangers
    assert isinstance(slack, SlackStrangers)
    shelve(town, opens=False)
    async with town.bot(FOOTNOTE_COMMUNITIES=slack.allowed()):
        await town.sees(town.community.ask(), ANSWER)
        guest = slack.server.add_member(slack.workspace, "Gus", is_restricted=True)
        await slack.server.join(guest, slack.channel).acknowledged()
        asked = town.community.ask("What is an arm?")
        await town.hears(asked, messages.STRANGERS_READ)
        await town.hears(town.community.ask("documents", by="Bob"), messages.STRANGERS_READ)
        alone = await town.community.command("ask", question="What is a leg?", private=True)
        await town.community.command("guests", moderates=True, on=True, channel="here")
        await town.sees(town.community.ask("And a hand?"), ANSWER)

    assert ANSWER in alone
    assert not town.community.has_thread(asked)
