"""Who asks on Discord while many wait is told so, for as long as it is true."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from adapters.chat.full_house import ASIDE
from adapters.chat.posting import Part, nonce
from adapters.discord.channels import below
from core.model import Notice
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.ears import answers, listening, words
from tests.builders import NOON
from tests.fakes.box import Box
from tests.fakes.house import FULL, house
from tests.fakes.naps import Naps
from tests.fakes.notices import MemoryNotices
from tests.servers.discord import DiscordServer
from tests.waiting import wait_until

WORDS = "I'm busy; your answer comes in about 40 seconds."


def deleted(server: DiscordServer) -> Sequence[bool]:
    """Say of what the bot has said whether it is gone again, first what is."""
    return sorted((one.deleted for one in answers(server)), reverse=True)


@pytest.mark.promise("full-house")
async def test_who_asks_while_many_wait_is_told_how_long(server: DiscordServer, place: Place) -> None:
    """Once in a while in one place, until the answer is there or the bot stops, and the question is kept."""
    box, naps = Box(crowd=FULL), Naps(server.platform.changes.tell)
    async with listening(server, box, house=house(box, naps)):
        for number in range(3):
            server.post_as(place.ada, place.channel, f"What is {number}?", mentions=[server.bot])
            await box.question()
        server.post_as(place.ada, server.dm(place.ada), "And now?")
        last = await box.question()
        await server.until(lambda: naps.asleep == 2, what="two replies")
        box.known.remove(last)
        naps.wake()
        await server.until(lambda: (deleted(server), naps.asleep) == ([True, False], 1), what="the answer")

    assert words(server) == [WORDS] * 2
    assert deleted(server) == [True, True]
    assert not any(one.pings for one in answers(server) if one.pings.users)


@pytest.mark.promise("full-house")
@pytest.mark.parametrize("is_known", [True, False])
async def test_what_a_process_said_that_was_killed_is_taken_away(
    server: DiscordServer, place: Place, is_known: bool
) -> None:
    """By whoever listens next, once the answer is there; also where nobody knows whether it was posted."""
    box, notices, naps = Box(), MemoryNotices(), Naps(server.platform.changes.tell)
    async with listening(server, box) as killed:
        server.post_as(place.ada, place.channel, "What is a robot?", mentions=[server.bot])
        asked = (await box.question()).message
        poster = below(killed, str(place.channel.id), asked)
        said = await poster.post(Part(WORDS), nonce(asked, 0, ASIDE))
    notice = Notice(question=asked, revision=0, place=str(place.channel.id), words=WORDS, at=NOON)
    await notices.put(notice.model_copy(update={"posted": said.id}) if is_known else notice)
    async with listening(server, box, house=house(box, naps, notices)):
        await server.until(lambda: naps.asleep == 1, what="a look for the answer")
        stood = deleted(server)
        box.known.clear()
        naps.wake()
        await wait_until(lambda: not notices.kept, what="the end of the notice")

    assert (stood, words(server), deleted(server)) == ([False], [WORDS], [True])
