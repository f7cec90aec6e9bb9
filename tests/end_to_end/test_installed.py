"""People who have installed the bot for themselves on Discord, and bring it along to where it is not."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from adapters.discord.platform import MOST_ABROAD
from core import messages
from core.model import Audience, SourceRecord
from tests.builders import hit
from tests.end_to_end.community import ANSWER, Abroad, Town
from tests.end_to_end.on_discord import DiscordCommunity
from tests.end_to_end.test_documents_apart import OPEN, SELECTED, read, shelve, was_told
from tests.fakes.shelf import Shelf
from tests.fixtures.redis import clean
from tests.servers.discord import Channel, Interaction, Message, User
from tests.servers.openai import ChatServer

FORM = "Answer from this message"


@dataclass
class Travellers(DiscordCommunity):
    """A guild with the bot, and another one without: Ada is in both, Eve in the other one; both have installed it."""

    def __post_init__(self) -> None:
        """Let them in."""
        super().__post_init__()
        self.other = self.server.add_guild("Cooks")
        self.kitchen = self.server.add_channel(self.other, "kitchen")
        self.people["Eve"] = self.server.add_member(self.other, "Eve")
        self.server.platform.member(self.other, self.ada)
        self.server.kick_bot(self.other)
        for person in (self.ada, self.people["Eve"]):
            self.server.install_for(person)
        self.rooms |= {Abroad.CHANNEL: self.kitchen, Abroad.DIRECT: self.server.private(self.people["Eve"])}

    def replies(self, used: Interaction) -> Sequence[Message]:
        """Give what the bot says to something that was used."""
        said = [self.server.platform.messages[one] for one in (used.original_id, *used.follow_ups) if one is not None]
        return [each for each in said if each.content and not each.deleted]

    async def uses(self, by: User, place: Channel, command: str, **options: Any) -> Interaction:
        """Let somebody use a command; wait until something is said to it."""
        await self.until(lambda: self.server.platform.commands.get(None), what="the commands")
        used = self.server.slash(by, place, command, **options)
        await self._told(used)
        return used

    def touched(self) -> list[str]:
        """Name the requests to places where the bot is not."""
        places = [str(self.kitchen.id), str(self.rooms[Abroad.DIRECT].id)]
        return [
            one.route
            for one in self.server.requests
            if any(f"/channels/{place}" in one.received.path for place in places)
        ]


@pytest.fixture(name="town")
async def _town(redis_url: str, tmp_path: Path) -> AsyncGenerator[Town]:
    """Build it; nobody has started the bot yet."""
    async with contextlib.AsyncExitStack() as stack:
        people = Travellers()
        await stack.enter_async_context(people.open())
        chat = await stack.enter_async_context(ChatServer())
        await stack.enter_async_context(clean(redis_url))
        yield Town(people, chat, Shelf(), redis_url, tmp_path)


async def answered(town: Town, by: User, place: Channel, question: str = "What is a robot?") -> Sequence[Message]:
    """Let somebody ask by the command; give all messages of the answer."""
    people = there(town)
    used = await people.uses(by, place, "ask", question=question)
    await town.remembers(
        str(used.id) if (said := people.replies(used)) and said[0].ephemeral else str(used.original_id)
    )
    return people.replies(used)


def there(town: Town) -> Travellers:
    """Give the people."""
    assert isinstance(town.community, Travellers)
    return town.community


@pytest.mark.promise("strangers-apart")
async def test_who_brings_the_bot_along_is_answered_alone_and_by_membership(town: Town) -> None:
    """A stranger from what is open to all, a member from their own; in another server and among people."""
    people, eve = there(town), there(town).people["Eve"]
    shelve(town, opens=True)
    async with town.bot():
        found = [
            await answered(town, by, place)
            for by, place in ((eve, people.kitchen), (people.ada, people.kitchen), (eve, people.rooms[Abroad.DIRECT]))
        ]

    assert [words in said.content for (said,), words in zip(found, (OPEN, ANSWER, OPEN), strict=True)] == [True] * 3
    assert [said.seen_by for (said,) in found] == [eve.id, people.ada.id, eve.id]
    assert read(town) == {("open",), ("docs", "open")}
    assert people.touched() == []


@pytest.mark.promise("strangers-apart")
async def test_a_stranger_who_brings_it_along_reads_no_members_words(town: Town) -> None:
    """By the menu of a message, by a button, and by the list of documents; where nothing is open, she hears so."""
    people, eve = there(town), there(town).people["Eve"]
    shelve(town, opens=True)
    async with town.bot():
        told = await people.ask_from(SELECTED, "What is it?", by="Eve", room=Abroad.CHANNEL)
        (listed,) = people.replies(await people.uses(eve, people.kitchen, "documents"))
        (said,) = await answered(town, eve, people.kitchen)
        voted = people.server.press(eve, said, said.custom_ids[0])
        await people.until(lambda: people.replies(voted), what="thanks")
        town.shelf.records["open"] = SourceRecord(name="open", audience=Audience())
        (refused,) = await answered(town, eve, people.kitchen)

    assert told
    assert ("open" in listed.content, "docs" in listed.content) == (True, False)
    assert (OPEN in said.content, bool(people.replies(voted)), refused.content) == (True, True, messages.NO_MEMBER)
    assert (read(town), was_told(town, ANSWER), people.touched()) == ({("open",)}, False, [])


async def test_a_long_answer_has_no_more_messages_than_discord_takes_there(town: Town) -> None:
    """The last one says that more was left out."""
    people = there(town)
    town.shelf = Shelf(hit(text=f"{ANSWER}."))
    town.chat.call("search_documents", {"query": "robot"})
    town.chat.say("\n\n".join(f"{ANSWER} [1]. {'word ' * 300}" for _ in range(12)))
    async with town.bot():
        said = await answered(town, people.ada, people.kitchen)

    assert len(said) == MOST_ABROAD
    assert messages.CUT in said[-1].content
    assert [each.seen_by for each in said] == [people.ada.id] * MOST_ABROAD


async def test_in_direct_messages_with_the_bot_nobody_has_to_bring_it(town: Town) -> None:
    """A thread of moderators' commands is offered nowhere else, nor those about threads of the bot's."""
    people = there(town)
    offered = {"sources", "mute", "unmute", "footnote-admin"}
    async with town.bot():
        await people.until(lambda: people.server.platform.commands.get(None), what="the commands")
        commands = people.server.platform.commands[None]
        (said,) = await answered(town, people.ada, people.server.dm(people.ada))

    assert {each["name"] for each in commands if each["integration_types"] == [0]} == offered
    assert all(each["contexts"] == [0, 1, 2] for each in commands if each["name"] not in offered)
    assert (said.seen_by, FORM in {each["name"] for each in commands}) == (None, True)
