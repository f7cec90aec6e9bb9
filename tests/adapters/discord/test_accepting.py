"""Who used a command on Discord is answered, also where the process stops over it, or dies and the next one has to."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from discord import AutoShardedClient

from adapters.chat.background import NO_STORE, take_over_once
from adapters.discord.commands import find, install
from adapters.discord.events import PLATFORM
from adapters.discord.gateway import Listener
from core.model import Asked, Interaction, MessageRef, ReplyAddress, ThreadRef
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.ears import listening
from tests.adapters.discord.office import Office, OfficeClient
from tests.builders import question
from tests.servers.discord import DiscordServer, Reply
from tests.servers.faults import Hold, Lost
from tests.servers.service import Reset

ASKS = "What is a robot?"
CALLBACK = "POST /interactions/{interaction}/{token}/callback"
ORIGINAL = "GET /webhooks/{application}/{token}/messages/@original"


async def take_over(office: Office, client: OfficeClient) -> None:
    """Move what others have left."""
    await take_over_once(office.services, PLATFORM, partial(find, client))


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("private", [False, True])
async def test_what_was_acknowledged_and_not_put_is_put_by_the_next(
    server: DiscordServer, place: Place, private: bool
) -> None:
    """As it would have been; once that is done, nobody has to do it any more."""
    dying = Office(server)
    dying.inbox.opens.clear()
    async with dying.open():
        used = server.slash(place.ada, place.channel, "ask", question=ASKS, private=private)
        await server.until(lambda: used.deferred, what="a deferral")
        following = Office(server, inbox=dying.inbox.follow())
    async with following.open() as client:
        await take_over(following, client)
    dying.inbox.opens.set()

    asked = await following.heard()
    assert isinstance(asked, Asked)
    assert asked.delivery is not None  # as whoever was first may have moved it, and the store lost that
    assert asked.model_copy(update={"delivery": None}) == await dying.heard()
    assert isinstance(asked, Asked)
    assert (asked.question.text, asked.message.id) == (ASKS, str(used.id if private else used.original_id))
    assert (following.inbox.kept, following.inbox.signals) == ({}, [])


@pytest.mark.promise("crash-safe")
async def test_what_was_moved_is_accepted_no_more(server: DiscordServer, place: Place) -> None:
    """Nobody finds anything to do."""
    office = Office(server)
    async with office.open():
        server.slash(place.ada, place.channel, "ask", question=ASKS)
        await office.heard()
        await server.until(lambda: not office.inbox.kept, what="the end of it")


@pytest.mark.parametrize("is_away", [True, False])
async def test_what_was_never_acknowledged_is_let_be(server: DiscordServer, place: Place, is_away: bool) -> None:
    """Discord has told whoever asked that nothing answered; while it does not say so itself, the question stands."""
    async with Office(server).open():
        pass  # it registers the commands, and goes
    used = server.slash(place.ada, place.channel, "ask", question=ASKS)
    asked = question(ASKS)
    way = Interaction(id=str(used.id), token=used.token, expires_at=asked.asked_at)
    there = ThreadRef(platform=PLATFORM, workspace="1", channel="2", thread=str(used.id))
    asked = asked.model_copy(update={"message": MessageRef(thread=there, id=str(used.id))})
    office = Office(server)
    await office.inbox.accept(Asked(question=asked, address=ReplyAddress(thread=there, interaction=way)), within=1)
    office.inbox = office.inbox.follow()
    if is_away:
        server.faults.break_(ORIGINAL, Reply(503, {"message": "busy"}))
    async with office.open() as client:
        await take_over(office, client)

    assert (office.inbox.signals, len(office.inbox.kept)) == ([], int(is_away))


@pytest.mark.promise("asked-once")
async def test_what_was_told_to_be_impossible_is_let_be(server: DiscordServer, place: Place) -> None:
    """Whoever told it could not withdraw it any more."""
    dying = Office(server)
    dying.inbox.fails = dying.away
    async with dying.open():
        told = await dying.told(server.slash(place.ada, place.channel, "ask", question=ASKS))
        following = Office(server, inbox=dying.inbox.follow())
    left = len(following.inbox.kept)
    async with following.open() as client:
        await take_over(following, client)

    assert (told.content, left) == (NO_STORE, 1)
    assert (following.inbox.signals, following.inbox.kept) == ([], {})


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("faults", [(Lost(), Reset()), (Lost(Reply(502, {"message": "bad gateway"})),)])
async def test_a_deferral_of_which_nobody_heard_is_looked_for(
    server: DiscordServer, place: Place, faults: tuple[Lost | Reset, ...]
) -> None:
    """The connection was lost over it, and over the first look; or the library has tried again by itself."""
    office = Office(server)
    async with office.open():
        server.faults.add(CALLBACK, *faults)
        server.faults.add(ORIGINAL, Reset(), Reset())
        used = server.slash(place.ada, place.channel, "ask", question=ASKS)
        asked = await office.heard()

    assert (asked.message.id, office.inbox.signals) == (str(used.original_id), [])


async def test_an_excuse_takes_the_place_of_a_deferral_of_which_nobody_heard(
    server: DiscordServer, place: Place
) -> None:
    """Else people would wait for an answer."""
    office = Office(server)
    office.inbox.fails = office.away
    async with office.open():
        server.faults.add(CALLBACK, Lost(), Reset())
        server.faults.add(ORIGINAL, Reset())
        used = server.slash(place.ada, place.channel, "ask", question=ASKS)
        told = await office.told(used)

    assert (told.id, told.content, told.thinking) == (used.original_id, NO_STORE, False)


async def test_what_cannot_be_accepted_is_not_acknowledged(server: DiscordServer, place: Place) -> None:
    """Who asked is told at once, and nothing shows that an answer is on its way."""
    office = Office(server)
    office.inbox.is_closed = True
    async with office.open():
        used = server.slash(place.ada, place.channel, "ask", question=ASKS)
        told = await office.told(used)

    assert (told.content, told.seen_by, used.deferred) == (NO_STORE, place.ada.id, False)
    assert office.inbox.signals == []


async def test_a_store_that_is_away_for_a_moment_costs_nobody_an_answer(server: DiscordServer, place: Place) -> None:
    """The question waits for it."""
    office = Office(server, sleep=lambda _: back())
    office.inbox.fails = office.away

    async def back() -> None:
        office.inbox.fails = None

    async with office.open():
        used = server.slash(place.ada, place.channel, "ask", question=ASKS)
        asked = await office.heard()

    assert asked.message.id == str(used.original_id)


@pytest.mark.promise("orderly-stop")
async def test_a_command_that_is_under_way_at_the_end_is_answered(server: DiscordServer, place: Place) -> None:
    """Whoever used it would read for a quarter of an hour that the bot is thinking."""
    office, held = Office(server), Hold(asyncio.Event())

    async def prepare(client: AutoShardedClient) -> None:
        assert isinstance(client, Listener)
        install(client, office.services, client.commands, client.background)

    async with listening(server, office.inbox, setup=prepare) as client:
        server.faults.add(CALLBACK, held)
        used = server.slash(place.ada, place.channel, "sources")
        await server.until(lambda: held in server.faults.met, what="a command under way")
        closing = asyncio.create_task(client.close())
        await asyncio.wait({closing}, timeout=0.1)
        held.until.set()
        await closing
        told = await office.told(used)

    assert told.seen_by == place.ada.id
