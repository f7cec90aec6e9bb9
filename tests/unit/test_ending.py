"""An answer ends, whatever the model does, and one that was cut off says so."""

from __future__ import annotations

import pytest

from core.answering.agent import Agent, Limits
from core.answering.tools import MOST_KEPT
from core.events import Event, TokensUsed
from core.messages import CUT
from core.model import Answer, Status, Usage
from tests.builders import hit, question
from tests.fakes.chat import Script, ScriptedChatModel, ScriptedTurn, call, search, turn
from tests.fakes.clock import Clock
from tests.fakes.shelf import Shelf
from tests.fakes.surface import streamed

SHORT = Limits(answer_characters=60)


async def answered(script: Script, *pieces: str, is_cut: bool = False) -> tuple[Answer, str, ScriptedChatModel]:
    """Let a model write that has searched; give the answer, and what was shown of it before."""
    pieces = pieces[: -1 if is_cut else None]
    model = script(turn(*pieces, is_cut=is_cut))
    limits = Limits() if is_cut else Limits(answer_characters=len("".join(pieces[:-1])))
    *shown, answer = [item async for item in Agent(model, Shelf(hit()), clock=Clock(), limits=limits).run(question())]
    assert isinstance(answer, Answer)
    return answer, streamed(shown), model


@pytest.mark.parametrize("is_cut", [False, True], ids=["by us", "by the service"])
@pytest.mark.parametrize(
    ("pieces", "stands"),
    [
        (("Robots act [1]. ", "They turn and they turn and they turn and", " they turn and they turn."), None),
        (("Robots act [1]:\n```py\nact()\nact()\nact()\nact()\n", "turn = act"), "act()\nact()\n```"),
        (("Robots act [1]:\n\n| a | b |\n|---|---|\n| x | y |\n| z ", "| z z z z"), "| x | y |"),
        (
            ("Robots act [1]. They turn and turn and turn and turn too [", "2"),
            "They turn and turn and turn and turn too",
        ),
        (
            ("Robots act [1]. They turn and turn and turn and turn [it](ht", "tps://"),
            "They turn and turn and turn and turn",
        ),
        (
            ("Robots act [1]. They turn and turn and turn and turn **and **", "act"),
            "They turn and turn and turn and turn",
        ),
    ],
    ids=["words", "code", "table", "footnote", "link", "emphasis"],
)
async def test_what_is_cut_off_says_so(
    script: Script, pieces: tuple[str, ...], stands: str | None, is_cut: bool
) -> None:
    """Behind what is certain by then, outside of any code or table."""
    answer, shown, _ = await answered(script, *pieces, is_cut=is_cut)

    said, _, remark = answer.text.rpartition("\n\n")
    assert (answer.status, remark, [each.number for each in answer.citations]) == (Status.ANSWERED, f"_{CUT}_", [1])
    assert stands is None or said.endswith(stands)
    assert said.startswith(shown.rstrip("`\n"))


async def test_a_model_that_loops_is_silenced_and_its_tokens_are_counted(script: Script) -> None:
    """As nearly as can be known, since no service counts what nobody lets it finish."""
    events = list[Event]()
    model = script(turn(search("robot"), usage=Usage(prompt_tokens=900)), turn("Robots act [1].", *[" And"] * 500))
    model.most_tokens = 1_000
    agent = Agent(model, Shelf(hit()), clock=Clock(), observer=events.append, limits=SHORT)
    answer = await agent.answer(question())

    *_, used = [event.usage for event in events if isinstance(event, TokensUsed)]
    assert (model.closed_early, len(answer.text) < 130) == (1, True)
    assert (used.completion_tokens, used.prompt_tokens > 100) == (15, True)
    assert answer.usage == Usage(prompt_tokens=900) + used


async def test_what_is_cut_without_naming_a_passage_is_repaired(script: Script) -> None:
    """It is an attempt like any other."""
    model = script(turn("Aus dem Kopf weiß ich das. " * 9), turn("Robots act [1]."))
    answer = await Agent(model, Shelf(hit()), clock=Clock(), limits=SHORT).answer(question())

    assert answer.text == "Robots act [1]."


async def test_a_selection_that_is_cut_says_so(script: Script) -> None:
    """Its mark stands before that."""
    turns: list[ScriptedTurn] = [turn("It acts. " * 9)]
    agent = Agent(script(*turns), Shelf(), clock=Clock(), limits=SHORT)
    answer = await agent.answer(question(selection="A robot acts."))

    assert answer.text.endswith(f"It acts. It [1]\n\n_{CUT}_")


async def test_of_the_arguments_of_a_tool_only_so_much_is_kept(script: Script) -> None:
    """They are the model's own words, of any length."""
    long = call(f'{{"query": "{"robot " * 900}"}}')
    answer = await Agent(script(turn(long), turn("No [1].")), Shelf(hit()), clock=Clock()).answer(question())

    assert [len(record.arguments) for record in answer.tool_calls][1:] == [MOST_KEPT]
