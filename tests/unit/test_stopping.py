"""A stop while an answer is written."""

from __future__ import annotations

import asyncio

import pytest

from core.answering.agent import Agent
from core.model import Answer, Cancellation, Interruption, Progress, Restarted, Searching, Status
from tests.builders import hit, question
from tests.fakes.chat import Script, ScriptedChatModel, Silence, turn
from tests.fakes.clock import Clock
from tests.fakes.shelf import Shelf
from tests.fakes.surface import streamed


async def stopped_at(silence: Silence, model: ScriptedChatModel) -> list[Progress]:
    """Stop the run when the model falls silent, and give all that was shown."""
    cancelled = Cancellation()
    agent = Agent(model, Shelf(hit()), clock=Clock())

    async def run() -> list[Progress]:
        return [item async for item in agent.run(question(), cancelled=cancelled)]

    running = asyncio.create_task(run())
    await silence.begun.wait()
    cancelled.set(Interruption.STOPPED)
    return await running


@pytest.mark.promise("stops-count")
async def test_what_was_shown_stays_and_the_model_is_silenced(script: Script) -> None:
    """With its footnotes, and a word that there would have been more; half a word is not shown."""
    silence = Silence()
    model = script(turn("Robots act [1]. They al", silence))
    shown = await stopped_at(silence, model)

    answer = shown[-1]
    assert isinstance(answer, Answer)
    assert (answer.status, answer.text) == (Status.STOPPED, "Robots act [1]. They\n\n_Stopped._")
    assert [citation.number for citation in answer.citations] == [1]
    assert (streamed(shown), Restarted() in shown) == ("Robots act [1]. They", False)
    assert model.closed_early == 1


async def test_code_that_was_cut_is_closed(script: Script) -> None:
    """The word behind it is no code."""
    silence = Silence()
    shown = await stopped_at(silence, script(turn("Do [1]:\n```py\nact()\n", silence)))

    assert isinstance(shown[-1], Answer)
    assert shown[-1].text == "Do [1]:\n```py\nact()\n```\n\n_Stopped._"


async def test_a_stop_before_anything_was_shown_leaves_the_word_alone(script: Script) -> None:
    """What could still become the word for no answer was never shown."""
    silence = Silence()
    shown = await stopped_at(silence, script(turn("NOT_IN_DOC", silence)))

    assert shown[:1] == [Searching("What is a robot?")]
    assert [item.text for item in shown[1:] if isinstance(item, Answer)] == ["Stopped."]
    assert len(shown) == 2


async def test_a_stop_before_the_run_asks_nobody(script: Script) -> None:
    """The model is not called at all."""
    cancelled = Cancellation()
    cancelled.set(Interruption.STOPPED)
    model = script()
    shown = [item async for item in Agent(model, Shelf(), clock=Clock()).run(question(), cancelled=cancelled)]

    assert [item.status for item in shown if isinstance(item, Answer)] == [Status.STOPPED]
    assert (len(shown), model.prompts) == (1, [])


async def test_a_stop_that_comes_too_late_changes_nothing(script: Script) -> None:
    """The answer was whole."""
    cancelled = Cancellation()
    agent = Agent(script(turn("Robots act [1].")), Shelf(hit()), clock=Clock())
    shown: list[Progress] = []
    async for item in agent.run(question(), cancelled=cancelled):
        shown.append(item)
        if isinstance(item, Answer):
            cancelled.set(Interruption.STOPPED)

    assert isinstance(shown[-1], Answer)
    assert (shown[-1].status, shown[-1].text) == (Status.ANSWERED, "Robots act [1].")
