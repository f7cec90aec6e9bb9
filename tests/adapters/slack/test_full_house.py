"""Who asks on Slack while many wait is told so, for as long as it is true."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from adapters.chat.full_house import ASIDE
from adapters.chat.posting import Part, nonce
from adapters.slack.channels import below
from adapters.slack.client.connection import open_session
from adapters.slack.client.workspaces import OneWorkspace
from core.model import Notice
from tests.adapters.slack.ears import Place, listening, place_fixture
from tests.builders import NOON
from tests.fakes.box import Box
from tests.fakes.house import FULL, house
from tests.fakes.naps import Naps
from tests.fakes.notices import MemoryNotices
from tests.waiting import wait_until

__all__ = ["place_fixture"]

WORDS = "I'm busy; your answer comes in about 40 seconds."


def deleted(place: Place) -> Sequence[bool]:
    """Say of what the bot has said whether it is gone again, first what is."""
    said = (one for one in place.server.platform.messages.values() if one.user_id == place.bot.id)
    return sorted((one.deleted for one in said), reverse=True)


@pytest.mark.promise("full-house")
async def test_who_asks_while_many_wait_is_told_how_long(place: Place) -> None:
    """Once in a while in one place, until the answer is there or the bot stops, and the question is kept."""
    box, naps = Box(crowd=FULL), Naps(place.server.platform.changes.tell)
    async with listening(place, box, house=house(box, naps)):
        for number in range(2):
            place.ask(f"What is {number}?")
            await box.question()
        place.direct("And now?")
        last = await box.question()
        await place.server.until(lambda: naps.asleep == 2, what="two replies")
        box.known.remove(last)
        naps.wake()
        await place.server.until(lambda: (deleted(place), naps.asleep) == ([True, False], 1), what="the answer")

    assert place.said() == [WORDS] * 2
    assert deleted(place) == [True, True]


@pytest.mark.promise("full-house")
@pytest.mark.parametrize("is_known", [True, False])
async def test_what_a_process_said_that_was_killed_is_taken_away(place: Place, is_known: bool) -> None:
    """By whoever listens next, once the answer is there; also where nobody knows whether it was posted."""
    box, notices, naps = Box(), MemoryNotices(), Naps(place.server.platform.changes.tell)
    async with listening(place, box):
        place.ask("What is a robot?")
        asked = (await box.question()).message
    async with open_session() as session:
        workspace = await OneWorkspace(session, place.workspace.token, place.server.api_url).only()
        said = await below(asked, workspace).post(Part(WORDS), nonce(asked, 0, ASIDE))
    notice = Notice(question=asked, revision=0, place=place.channel.id, words=WORDS, at=NOON)
    await notices.put(notice.model_copy(update={"posted": said.id}) if is_known else notice)
    async with listening(place, box, catches_up=True, house=house(box, naps, notices)):
        await place.server.until(lambda: naps.asleep == 1, what="a look for the answer")
        stood = deleted(place)
        box.known.clear()
        naps.wake()
        await wait_until(lambda: not notices.kept, what="the end of the notice")

    assert (stood, place.said(), deleted(place)) == ([False], [WORDS], [True])
