"""Who may use the bot: the communities that the operator allows, and nobody else, whoever invites it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from redis.asyncio import Redis

from adapters.redis.community import COMMUNITIES, RedisCommunities
from adapters.redis.connection import connect
from core.events import CommunitiesFound, CommunitiesSee
from core.messages import NOT_ALLOWED
from core.model import Audience, SourceRecord, WorkspaceRef
from tests.builders import hit
from tests.end_to_end.community import ANSWER, PATIENCE, Room, Town
from tests.end_to_end.neighbours import DiscordNeighbours, Neighbours, SlackNeighbours
from tests.fakes.shelf import Shelf
from tests.fixtures.redis import clean
from tests.servers.openai import ChatServer
from tests.waiting import wait_until

PLATFORMS: dict[str, Callable[[], Neighbours]] = {"discord": DiscordNeighbours, "slack": SlackNeighbours}


@dataclass
class Region:
    """A town whose platform has another community, and the store that says who may ask."""

    town: Town
    people: Neighbours
    store: RedisCommunities
    redis: Redis

    @property
    def cost(self) -> tuple[int, int]:
        """How often the model was asked, and the index."""
        return len(self.town.chat.received), len(self.town.shelf.asked)

    async def refused(self, *said: str, is_told: bool) -> None:
        """Ask abroad, where nobody may; one is told so, and nothing is asked for it."""
        before, asked = self.cost, self.people.ask(*said, by="Eve", room=Room.ABROAD)
        earlier = self.people.told(asked)
        await self.town.remembers(asked)
        told = self.people.told(asked)[len(earlier) :]
        assert (told, self.people.has_thread(asked), self.cost) == ([NOT_ALLOWED] * is_told, False, before)

    async def answered(self, **where: str | Room) -> None:
        """Ask where people may."""
        asked = self.people.ask(**where)  # pyright: ignore[reportArgumentType] - they are its options
        await self.town.sees(asked, ANSWER)
        await self.town.remembers(asked)

    async def joined(self, number: int = 1) -> CommunitiesFound:
        """Wait until the operator was told so often where the bot is; give the last word."""

        def told() -> list[CommunitiesFound]:
            return [event for event in self.town.events if isinstance(event, CommunitiesFound)]

        await wait_until(lambda: len(told()) >= number, what="a word for the operator")
        return told()[-1]


@pytest.fixture(name="region", params=PLATFORMS)
async def _region(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path) -> AsyncGenerator[Region]:
    """Build a town with a neighbour on each platform; nobody has started the bot yet."""
    async with contextlib.AsyncExitStack() as stack:
        people = PLATFORMS[request.param]()
        await stack.enter_async_context(people.open())
        chat = await stack.enter_async_context(ChatServer())
        client = await stack.enter_async_context(clean(redis_url))
        shelf = Shelf(hit(text=f"{ANSWER}."))
        shelf.records["docs"] = SourceRecord(name="docs", audience=Audience(everyone=True))
        town = Town(people, chat, shelf, redis_url, tmp_path)
        yield Region(town, people, RedisCommunities(client), client)


@pytest.mark.promise("operator-decides")
async def test_a_community_that_joins_later_waits_for_the_operator(region: Region) -> None:
    """One person there is told so, whatever is said, and nothing is asked of a model or searched; the operator hears.

    An order to allow it holds from its next question on, and one to remove it as well.
    """
    abroad = {"by": "Eve", "room": Room.ABROAD}
    async with region.town.bot():
        await region.answered()
        await region.people.join()
        found = await region.joined()
        await region.refused(is_told=True)
        await region.refused("mute", is_told=False)
        waiting = (await region.store.load()).waiting
        await region.store.allow(region.people.abroad)
        await region.answered(**abroad)
        await region.store.remove(region.people.abroad)
        await region.refused(is_told=True)
        await region.answered()

    assert (list(found.allowed), found.refused) == ([str(region.people.home)], {str(region.people.abroad): "Strangers"})
    assert waiting == (region.people.abroad,)


@pytest.mark.promise("silence-unasked")
async def test_nobody_hears_that_they_may_not_use_it_who_did_not_ask(region: Region) -> None:
    """Where questions were answered unasked before the operator took the bot away; who asks it then is told."""
    people = region.people
    async with region.town.bot(FOOTNOTE_COMMUNITIES=str(people.abroad)):
        await region.store.allow(people.home)
        await people.answer_unasked()
        await region.store.remove(people.home)
        said = people.say("What is a robot?")
        await region.town.remembers(said)
        silent = (people.told(said), people.public(), people.has_thread(said), people.signs())
        asked = people.ask()
        await region.town.hears(asked, NOT_ALLOWED)

    assert silent == ([], [], False, [])
    assert region.cost == (0, 0)


@pytest.mark.promise("operator-decides")
async def test_the_operator_hears_at_each_start_what_the_only_community_sees(region: Region) -> None:
    """Of another platform's community as well, which sees nothing of what belongs to the first of all."""
    other = WorkspaceRef(platform="elsewhere", workspace="1")
    region.town.shelf.records["news"] = SourceRecord(name="news")  # it belongs to the first
    await region.store.settle("elsewhere", [other])
    told = list[Mapping[str, object]]()
    for _ in range(2):
        region.town.events.clear()
        async with region.town.bot():
            await wait_until(lambda: any(isinstance(each, CommunitiesSee) for each in region.town.events), what="it")
        told += [event.sources for event in region.town.events if isinstance(event, CommunitiesSee)]

    assert all(each == {str(region.people.home): ("docs",)} for each in told)


@pytest.mark.promise("operator-decides")
@pytest.mark.promise("stored-data-lasts")
async def test_where_the_bot_has_answered_before_it_goes_on(region: Region) -> None:
    """What an older version has stored says so; all others wait, and the operator hears who is who at each start."""
    async with region.town.bot(FOOTNOTE_COMMUNITIES=f"{region.people.home}, {region.people.abroad}"):
        await region.people.join()
        await region.answered()
        await region.joined()
    await region.redis.delete(COMMUNITIES)  # older versions had none
    region.town.events.clear()
    async with region.town.bot():
        found = await region.joined()
        await region.refused(is_told=True)
        await region.answered()
    region.town.events.clear()
    async with region.town.bot():
        again = await region.joined()

    assert (list(found.allowed), list(found.refused)) == ([str(region.people.home)], [str(region.people.abroad)])
    assert again == found
    assert (await region.store.load()).first == region.people.home


@pytest.mark.promise("operator-decides")
async def test_of_those_in_the_settings_all_may_ask_and_no_other(region: Region) -> None:
    """Where the bot is alone in another one, that is not answered for it."""
    async with region.town.bot(FOOTNOTE_COMMUNITIES=str(region.people.abroad)):
        await region.people.join()
        await region.joined()
        await region.answered(by="Eve", room=Room.ABROAD)
        asked = region.people.ask()
        await region.town.hears(asked, NOT_ALLOWED)


@pytest.mark.promise("operator-decides")
async def test_one_that_throws_the_bot_out_opens_the_door_to_no_other(region: Region) -> None:
    """The only one that is left waits as before, and who comes back need not be allowed again."""
    async with region.town.bot():
        await region.answered()
        await region.people.join()
        await region.joined()
        await region.refused(is_told=True)
        await region.people.leave()
        await region.joined(2)
        await region.refused(is_told=False)

    assert (await region.store.load()).allowed == (region.people.home,)


async def test_the_first_guild_that_the_bot_joins_may_use_it(region: Region) -> None:
    """Where it was in none when it started."""
    if isinstance(region.people, DiscordNeighbours):
        await region.people.leave()
    async with region.town.bot():
        if isinstance(region.people, DiscordNeighbours):
            await region.people.join()
            async with asyncio.timeout(PATIENCE):
                while not (await region.store.load()).allowed:  # noqa: ASYNC110 - another process may decide it
                    await asyncio.sleep(0.01)
            await region.answered(by="Eve", room=Room.ABROAD)
        else:
            await region.answered()  # since it was installed there when it ran
    first = region.people.abroad if isinstance(region.people, DiscordNeighbours) else region.people.home

    assert (await region.store.load()).allowed == (first,)


async def test_a_named_community_is_the_one_that_is_meant(redis_url: str) -> None:
    """What is in the settings is kept nowhere but as the first."""
    async with clean(redis_url), connect(redis_url) as client:
        named = WorkspaceRef(platform="discord", workspace="7")
        await RedisCommunities(client, named=[named]).settle("discord", [])

        assert (await RedisCommunities(client).load()).allowed == ()
        assert (await RedisCommunities(client).load()).first == named
