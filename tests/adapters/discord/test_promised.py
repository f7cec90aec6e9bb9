"""A process dies over a command on Discord, and who used it is answered by the next one."""

from __future__ import annotations

import pytest

from adapters.chat.promised import NO_STORE
from adapters.discord.commands.asking import Promise, promises, take_up
from core.model import Asked, Interaction, ReplyAddress
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.office import Office
from tests.builders import question
from tests.fakes.promises import MemoryPromises
from tests.servers.discord import DiscordServer, Reply
from tests.servers.faults import Lost
from tests.servers.service import Reset

ASKS = "What is a robot?"
CALLBACK = "POST /interactions/{interaction}/{token}/callback"
ORIGINAL = "GET /webhooks/{application}/{token}/messages/@original"


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("private", [False, True])
async def test_what_was_acknowledged_and_not_put_is_put_by_the_next(
    server: DiscordServer, place: Place, private: bool
) -> None:
    """As it would have been; once that is done, nobody has to do it any more."""
    dying, kept = Office(server), MemoryPromises()
    dying.inbox.opens.clear()
    async with dying.open():
        used = server.slash(place.ada, place.channel, "ask", question=ASKS, private=private)
        await server.until(lambda: used.deferred, what="a deferral")
        kept.kept = dict(dying.promises.kept)
    following = Office(server, promises=kept)
    async with following.open() as client:
        await take_up(following.desk, client)
    dying.inbox.opens.set()

    asked = await following.heard()
    assert asked == await dying.heard()
    assert isinstance(asked, Asked)
    assert (asked.question.text, asked.message.id) == (ASKS, str(used.id if private else used.original_id))
    assert (kept.kept, following.inbox.signals) == ({}, [])


@pytest.mark.promise("crash-safe")
async def test_what_was_put_is_promised_no_more(server: DiscordServer, place: Place) -> None:
    """Nobody finds anything to do."""
    office = Office(server)
    async with office.open():
        server.slash(place.ada, place.channel, "ask", question=ASKS)
        await office.heard()
        await server.until(lambda: not office.promises.kept, what="the end of the promise")


@pytest.mark.parametrize("is_away", [True, False])
async def test_what_was_never_acknowledged_is_let_be(server: DiscordServer, place: Place, is_away: bool) -> None:
    """Discord has told whoever asked that nothing answered; while it does not say so itself, the promise stands."""
    async with Office(server).open():
        pass  # it registers the commands, and goes
    used = server.slash(place.ada, place.channel, "ask", question=ASKS)
    asked = question(ASKS)
    way = Interaction(id=str(used.id), token=used.token, expires_at=asked.asked_at)
    office = Office(server)
    address = ReplyAddress(thread=asked.thread, interaction=way)
    await promises(office.desk).note("1", Promise(question=asked, address=address))
    if is_away:
        server.faults.break_(ORIGINAL, Reply(503, {"message": "busy"}))
    async with office.open() as client:
        await take_up(office.desk, client)

    assert (office.inbox.signals, len(office.promises.kept)) == ([], int(is_away))


@pytest.mark.promise("asked-once")
async def test_what_was_told_to_be_impossible_is_let_be(server: DiscordServer, place: Place) -> None:
    """Whoever told it could not take the note away any more."""
    following = Office(server)

    async def sleep(_: float) -> None:
        following.promises.kept |= dying.promises.kept

    dying = Office(server, sleep=sleep)
    dying.inbox.fails = dying.away
    async with dying.open():
        told = await dying.told(server.slash(place.ada, place.channel, "ask", question=ASKS))
    noted = len(following.promises.kept)
    async with following.open() as client:
        await take_up(following.desk, client)

    assert (told.content, noted) == (NO_STORE, 1)
    assert (following.inbox.signals, following.promises.kept) == ([], {})


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


async def test_what_cannot_be_noted_is_not_promised(server: DiscordServer, place: Place) -> None:
    """Who asked is told at once, and nothing shows that an answer is on its way."""
    office = Office(server)
    office.promises.fails = True
    async with office.open():
        used = server.slash(place.ada, place.channel, "ask", question=ASKS)
        told = await office.told(used)

    assert (told.content, told.seen_by, used.deferred) == (NO_STORE, place.ada.id, False)
    assert office.inbox.signals == []


async def test_a_store_that_is_away_for_a_moment_costs_nobody_an_answer(server: DiscordServer, place: Place) -> None:
    """The promise is kept."""
    office = Office(server, sleep=lambda _: back())
    office.inbox.fails = office.away

    async def back() -> None:
        office.inbox.fails = None

    async with office.open():
        used = server.slash(place.ada, place.channel, "ask", question=ASKS)
        asked = await office.heard()

    assert asked.message.id == str(used.original_id)
