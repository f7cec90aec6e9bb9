"""What a worker had answered before it stopped, slept or died is shown again, and nobody is asked twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from core.errors import PeopleUnavailable, ShutOut, StoreUnavailable
from core.events import TaskFailed
from core.model import MOST_ATTEMPTS, MOST_ENDINGS, Answer, Asked, Claim, Delivery, Progress, Status, ThreadRef, Turn
from tests.fakes.chat import Script, Silence, turn
from tests.fakes.clock import Clock
from tests.fakes.conversations import MemoryConversations
from tests.fakes.inbox import MemoryInbox
from tests.fakes.office import WHOLE, Office, silent
from tests.fakes.surface import RecordingSurface
from tests.inboxes import WRITTEN, asked, doubted, edited, perhaps_begun
from tests.waiting import wait_until


async def answered_before(office: Office) -> Answer:
    """Have a question answered, and give the answer."""
    await office.inbox.put(asked("1"))
    async with office.open():
        (answer,) = await office.answered(1)
        await wait_until(lambda: not office.inbox.is_busy, what="the end of the question")
    return answer


@pytest.mark.promise("crash-safe")
async def test_an_answer_that_a_late_request_may_have_changed_is_shown_again(script: Script) -> None:
    """As it is remembered, without asking the model."""
    office = Office(script(*WHOLE))
    answer = await answered_before(office)

    assert await office.inbox.put(doubted(asked("1")))
    office.reopen()
    async with office.open():
        _, again = await office.answered(2)

    assert (again.text, again.citations, again.status) == (answer.text, answer.citations, answer.status)
    assert again.has_relevant_context


@pytest.mark.promise("crash-safe")
async def test_a_worker_that_lost_a_question_says_so_when_it_is_through(script: Script) -> None:
    """Another one has answered it meanwhile, and is not asked to do so again: what it showed is shown again."""
    silence = Silence()
    office = Office(script(*silent(silence)))
    await office.inbox.put(asked("1"))
    async with office.open():
        await silence.begun.wait()
        office.inbox.lose(asked("1").message)
        await wait_until(lambda: bool(office.inbox.doubts), what="the doubt")

    assert [doubt.message for doubt in office.inbox.doubts] == [asked("1").message]


class Lingering(MemoryConversations):
    """Remembers a turn, unless it *loses* the first one, and does not say so any more of that."""

    def __init__(self, *, loses: bool = False) -> None:
        super().__init__(ttl=timedelta(hours=1), now=Clock().now)
        self.remembered = asyncio.Event()
        self._loses = loses

    async def append(self, thread: ThreadRef, turn: Turn) -> None:
        """Remember it."""
        is_first = not self.remembered.is_set()
        if not is_first or not self._loses:
            await super().append(thread, turn)
        if is_first:
            self.remembered.set()
            await asyncio.Event().wait()


@pytest.mark.promise("crash-safe")
async def test_what_a_worker_had_written_that_lost_the_question_is_shown_again_and_remembered(script: Script) -> None:
    """Whoever had it since may have seen no more than that a whole answer stands, and has no text to remember."""
    office = Office(script(*WHOLE))
    memory = office.memory = Lingering(loses=True)
    office.reopen()
    await office.inbox.put(asked("1"))
    async with office.open():
        await memory.remembered.wait()
        office.inbox.lose(asked("1").message)
        before, again = await office.answered(2)
        await wait_until(lambda: not office.inbox.is_busy, what="the end of the question")

    assert (again.text, again.citations) == (before.text, before.citations)
    assert await office.remembered() == ["What is 1?"]


@pytest.mark.promise("crash-safe")
async def test_what_was_remembered_before_it_was_handed_back_is_shown_again(script: Script) -> None:
    """A worker that has to stop counts as no attempt, and yet the model is not asked again."""
    office = Office(script(*WHOLE))
    memory = office.memory = Lingering()
    office.reopen()
    await office.inbox.put(asked("1"))
    async with office.open() as running:
        await memory.remembered.wait()
        running.cancel()
    office.reopen()
    async with office.open():
        before, again = await office.answered(2)

    assert (again.text, again.citations, office.events) == (before.text, before.citations, [])
    assert await office.remembered() == ["What is 1?"]


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("workers", [1, MOST_ATTEMPTS])
async def test_what_was_written_by_whoever_died_is_shown_and_remembered(script: Script, workers: int) -> None:
    """The model is not asked again, and nobody hears an apology, however many have died over it."""
    office = Office(script())
    await office.inbox.put(asked("1"))
    office.inbox.outlive(asked("1").message, workers=workers, delivery=WRITTEN)
    async with office.open():
        (answer,) = await office.answered(1)
        await wait_until(lambda: not office.inbox.is_busy, what="the end of the question")

    assert (answer, office.inbox.dead) == (WRITTEN.answer, {})
    assert await office.remembered() == ["What is 1?"]


@pytest.mark.promise("crash-safe")
async def test_what_was_written_is_given_up_once_too_many_have_died_over_it(script: Script) -> None:
    """It may be what they die of."""
    office = Office(script())
    await office.inbox.put(asked("1"))
    office.inbox.outlive(asked("1").message, workers=MOST_ENDINGS, delivery=WRITTEN)
    async with office.open():
        await wait_until(lambda: bool(office.inbox.dead), what="the end of it")

    assert (office.answers, await office.remembered()) == ([], [])


@pytest.mark.promise("edits-count")
async def test_an_edit_that_was_handed_back_is_answered_in_its_new_words(script: Script) -> None:
    """What is remembered answers the words before it."""
    silence = Silence()
    office = Office(script(*WHOLE, *silent(silence), *WHOLE))
    await answered_before(office)
    office.reopen()
    await office.inbox.put(edited("1"))
    async with office.open() as running:
        await silence.begun.wait()
        running.cancel()
    office.reopen()
    async with office.open():
        await office.answered(2)
        await wait_until(lambda: not office.inbox.is_busy, what="the end of the second answer")

    assert await office.remembered() == ["What is 1 #1?"]


@pytest.mark.promise("edits-count")
async def test_an_edit_that_comes_as_a_question_is_answered_in_its_new_words(script: Script) -> None:
    """The inbox has lost all that it knew, and what is remembered was kept."""
    office = Office(script(*WHOLE, *WHOLE))
    await answered_before(office)
    office.inbox = MemoryInbox()
    office.reopen()
    await office.inbox.put(perhaps_begun(Asked(question=edited("1").question)))
    async with office.open():
        await office.answered(2)
        await wait_until(lambda: not office.inbox.is_busy, what="the end of the second answer")

    assert await office.remembered() == ["What is 1 #1?"]


@pytest.mark.promise("crash-safe")
async def test_what_is_remembered_without_footnotes_is_asked_again(script: Script) -> None:
    """It says that nothing was found, or less, and by now there may be an answer."""
    nothing = (turn("I do not know."), turn("I do not know."))
    office = Office(script(*nothing, *WHOLE))
    before = await answered_before(office)

    assert await office.inbox.put(doubted(asked("1")))
    office.reopen()
    async with office.open():
        _, again = await office.answered(2)

    assert (before.citations, await office.remembered()) == ((), ["What is 1?"])
    assert (again.text, len(again.citations)) == ("Robots act [1].", 1)


class PuttingOff(RecordingSurface):
    """A platform that refuses the bot some times, or does not say who reads, before it shows anything, or a store."""

    def __init__(self, error: Exception, refusals: int = 2 * MOST_ATTEMPTS) -> None:
        super().__init__()
        self.error, self.refusals = error, refusals

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Put it off, and at last reply."""
        self.refusals -= 1
        if self.refusals >= 0:
            raise self.error
        return await super().reply(claim, progress)


@pytest.mark.promise("bans-are-waited-out")
@pytest.mark.promise("guests-apart")
@pytest.mark.parametrize("error", [ShutOut(0.0), PeopleUnavailable("Nobody says who reads.", wait=0.0)])
async def test_a_question_waits_for_a_platform_that_puts_it_off(script: Script, error: Exception) -> None:
    """However often that is found out, no attempt is counted, nobody apologizes, and the model is asked once."""
    office = Office(script(*WHOLE), surface=PuttingOff(error))
    await office.inbox.put(asked("1"))
    async with office.open():
        (answer,) = await office.answered(1)

    assert (answer.status, office.inbox.dead, office.events) == (Status.ANSWERED, {}, [])


@pytest.mark.promise("crash-safe")
async def test_what_was_written_before_is_shown_and_remembered_though_the_store_is_away_at_the_third_try(
    script: Script,
) -> None:
    """Nobody would know the text any more who finds it standing there, and the model has nothing to do with that."""
    office = Office(script(), surface=PuttingOff(StoreUnavailable("away"), 1))
    await office.inbox.put(asked("1"))
    office.inbox.outlive(asked("1").message, workers=MOST_ATTEMPTS - 1, delivery=WRITTEN)
    async with office.open():
        (answer,) = await office.answered(1)
        await wait_until(lambda: not office.inbox.is_busy, what="the end of the question")

    assert (answer, office.inbox.dead) == (WRITTEN.answer, {})
    assert await office.remembered() == ["What is 1?"]


@pytest.mark.promise("guests-apart")
@pytest.mark.promise("questions-end")
async def test_a_question_waits_for_its_readers_no_longer_than_it_may_take_in_all(script: Script) -> None:
    """Then it fails, as often as anything else, and whoever asked is told."""
    error = PeopleUnavailable("Nobody says who reads.", wait=300.0)
    office = Office(script(), surface=PuttingOff(error, MOST_ATTEMPTS))
    await office.inbox.put(asked("1"))
    async with office.open():
        await wait_until(lambda: bool(office.inbox.dead), what="the end of it")

    failed = [each for each in office.events if isinstance(each, TaskFailed)]
    assert [(each.attempt, each.is_last) for each in failed] == [(1, False), (2, False), (3, True)]
