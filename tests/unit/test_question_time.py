"""A question comes to an end in time, however often it is tried; the clock leaps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from core.events import ServiceFailed
from core.messages import EXPIRED
from core.model import Claim, Delivery, Progress, Reaction, Status
from tests import virtual_time
from tests.fakes.chat import Script, ScriptedChatModel, Silence
from tests.fakes.office import WHOLE, Office, silent
from tests.fakes.surface import RecordingSurface, seen
from tests.inboxes import asked, edited

LONGEST = 300.0  # seconds


async def until_answered(office: Office, count: int = 1) -> float:
    """Wait for an answer; return the time of the loop."""
    while len(office.answers) < count or office.inbox.is_busy:  # noqa: ASYNC110 - time passes at once
        await asyncio.sleep(0.5)
    return asyncio.get_running_loop().time()


async def worked(office: Office) -> float:
    """Have one question answered; return after how many seconds that was."""
    await office.inbox.put(asked())
    async with office.open():
        return await until_answered(office)


class FallingSurface(RecordingSurface):
    """Breaks down so many times, each after some seconds, whatever it is given."""

    def __init__(self, times: int, seconds: float) -> None:
        super().__init__()
        self._left = times
        self._seconds = seconds

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Break, or show it."""
        self._left -= 1
        if self._left >= 0:
            await asyncio.sleep(self._seconds)
            raise ConnectionError("the surface was told to break")
        return await super().reply(claim, progress)


@pytest.mark.promise("questions-end")
def test_a_model_that_hangs_is_given_up_with_a_sentence_and_a_warning(script: Script) -> None:
    """What was shown of an answer is taken back, and nothing is remembered; it can be tried again."""
    model = script(*silent(Silence()))
    office = Office(model)

    assert virtual_time.run(worked(office)) - LONGEST < 1
    assert [(answer.text, answer.status) for answer in office.answers] == [(EXPIRED, Status.FAILED)]
    assert office.surface.reactions == [(asked().message, Reaction.WARNING)]
    assert (model.closed_early, str(seen(office.surface.shown)[-2])) == (1, "Restarted()")
    assert virtual_time.run(office.remembered()) == []


@pytest.mark.promise("questions-end")
def test_no_further_attempt_extends_it(script: Script) -> None:
    """Two attempts break after 100 seconds each; the third has the rest."""
    office = Office(script(*silent(Silence())), surface=FallingSurface(times=2, seconds=100.0))

    assert virtual_time.run(worked(office)) - LONGEST < 1
    assert [answer.text for answer in office.answers] == [EXPIRED]


@pytest.mark.promise("questions-end")
def test_what_has_no_time_left_asks_no_model(script: Script) -> None:
    """The asker is told at once."""
    model = script()
    office = Office(model, surface=FallingSurface(times=1, seconds=400.0))

    assert virtual_time.run(worked(office)) - 400 < 1
    assert ([answer.text for answer in office.answers], model.prompts) == ([EXPIRED], [])


@pytest.mark.promise("questions-end")
def test_waiting_for_its_turn_is_no_work(script: Script) -> None:
    """A question that waits for another one of its thread has its whole time; so has one that is edited."""
    silence = Silence()
    office = Office(script(*silent(silence), *silent(Silence()), *WHOLE))

    async def ask() -> float:
        await office.inbox.put(asked("1"))
        await office.inbox.put(asked("2"))
        async with office.open():
            await silence.begun.wait()
            await asyncio.sleep(200)
            await office.inbox.put(edited("1"))
            return await until_answered(office, 2)

    assert virtual_time.run(ask()) - (200 + LONGEST) < 1
    assert [answer.status for answer in office.answers] == [Status.FAILED, Status.ANSWERED]


@pytest.mark.promise("questions-end")
def test_what_was_handed_back_has_the_rest_of_its_time(script: Script) -> None:
    """Nobody worked while the bot was restarted; the time before that counts."""
    first = Silence()
    office = Office(script(*silent(first), *silent(Silence())))

    async def ask() -> float:
        await office.inbox.put(asked())
        async with office.open() as working:
            await first.begun.wait()
            await asyncio.sleep(200)
            working.cancel()
        await asyncio.sleep(1_000)
        office.reopen()
        async with office.open():
            return await until_answered(office)

    assert virtual_time.run(ask()) - (1_000 + LONGEST) < 1
    assert [answer.text for answer in office.answers] == [EXPIRED]


@pytest.mark.promise("events")
def test_whoever_runs_the_bot_hears_what_was_waited_for_at_the_end(script: Script) -> None:
    """The service that has to be looked after."""
    model: ScriptedChatModel = script(*silent(Silence()))
    office = Office(model)
    heard = office.listen()
    virtual_time.run(worked(office))

    assert [event.service for event in heard if isinstance(event, ServiceFailed)] == ["chat model"]
