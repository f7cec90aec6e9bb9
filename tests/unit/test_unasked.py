"""Questions that nobody has said to the bot: they are answered with sources, or nobody hears of them."""

from __future__ import annotations

import pytest

from core.errors import ModelUnavailable
from core.model import Asked, Budget, Claim, Edited, Holder, MessageRef, Status
from tests.builders import question, thread
from tests.fakes.chat import Script, ScriptedTurn, turn
from tests.fakes.office import Office
from tests.fakes.shelf import Shelf
from tests.unit.test_responder import ANSWERED, Desk
from tests.waiting import wait_until

UNASKED = Claim(question().model_copy(update={"is_unasked": True}))


def broken(*queries: str) -> Shelf:
    """A shelf on which these fail, or everything."""
    shelf = Shelf()
    shelf.fails, shelf.fails_on = not queries, queries
    return shelf


@pytest.mark.promise("silence-unasked")
async def test_an_unasked_question_is_answered_once_the_answer_is_whole(script: Script) -> None:
    """Nothing is shown before it is certain; it is remembered like any other."""
    desk = Desk(script(*ANSWERED))

    answer = await desk.answer(UNASKED)

    assert desk.surface.shown == [answer]
    assert (await desk.store.load(thread())).turns


@pytest.mark.promise("silence-unasked")
@pytest.mark.parametrize(
    ("turns", "shelf", "status"),
    [
        ([], Shelf(), Status.NO_CONTEXT),
        ([turn("Hello there!"), turn("Hello there!")], None, Status.NO_CONTEXT),
        ([turn(ModelUnavailable("down"))], None, Status.FAILED),
        ([], broken(question().text), Status.UNAVAILABLE),
    ],
    ids=["nothing to search", "no footnotes", "a failure", "a search that fails"],
)
async def test_nobody_hears_of_one_without_an_answer(
    script: Script, turns: list[ScriptedTurn], shelf: Shelf | None, status: Status
) -> None:
    """No message, no mark and no memory, whatever was the reason."""
    desk = Desk(script(*turns), shelf=shelf)

    answer = await desk.answer(UNASKED)

    assert answer.status is status
    assert (desk.surface.shown, desk.surface.reactions, desk.surface.refused) == ([], [], [])
    assert not (await desk.store.load(thread())).turns


@pytest.mark.promise("silence-unasked")
async def test_nobody_hears_that_one_is_refused(script: Script) -> None:
    """Where the bot is paused, and over a budget; whoever asks next is told as if nothing had been."""
    paused = Desk(script(), paused=True)
    spent = Desk(script(*ANSWERED), budgets=(Budget(holder=Holder.PERSON, most=1),))
    await spent.ask(question(id="0"))
    del spent.surface.shown[:]
    told = [await paused.answer(UNASKED), await spent.answer(UNASKED)]
    silent = [*paused.surface.refused, *spent.surface.refused, *spent.surface.reactions, *spent.surface.shown]
    await spent.ask(question(id="2"))

    assert [each.status for each in told] == [Status.REFUSED, Status.REFUSED]
    assert silent == []
    assert len(spent.surface.refused) == 1


@pytest.mark.promise("silence-unasked")
async def test_nobody_hears_that_the_index_cannot_name_its_sources(script: Script) -> None:
    """Whoever asks the bot is told."""
    unasked, asked = (Desk(script(), shelf=broken()) for _ in range(2))

    answers = [await unasked.answer(UNASKED), await asked.ask()]

    assert [each.status for each in answers] == [Status.UNAVAILABLE] * 2
    assert (unasked.surface.shown, unasked.surface.reactions) == ([], [])
    assert asked.surface.shown == [answers[1]]


@pytest.mark.promise("silence-unasked")
@pytest.mark.promise("edits-count")
async def test_an_answer_to_one_whose_new_words_have_none_goes_without_a_word(script: Script) -> None:
    """It is forgotten too, and nothing is known of it when the words are changed once more."""
    office = Office(script(*ANSWERED, turn("Hello there!"), turn("Hello there!"), *ANSWERED))
    about, turns = UNASKED.question, list[int]()
    edits = [Edited(question=about.model_copy(update={"revision": each})) for each in (1, 2)]
    async with office.open():
        for signal in (Asked(question=about), *edits):
            await office.inbox.put(signal)
            await wait_until(lambda: not office.inbox.is_busy, what="the end of an answer")
            turns.append(len(await office.remembered()))
    delivered = office.surface.withdrawn[0].delivery.messages

    assert (turns, len(office.surface.withdrawn), len(office.answers)) == ([1, 0, 1], 1, 2)
    assert delivered == (MessageRef(thread=thread(), id=f"{about.message.id}-reply"),)


async def test_nobody_is_sorry_for_one_that_was_given_up(script: Script) -> None:
    """Nobody waits for it."""
    desk = Desk(script())

    await desk.apologize(UNASKED)

    assert desk.surface.shown == []
