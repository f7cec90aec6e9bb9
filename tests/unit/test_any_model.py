"""What holds whatever a model does."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from core.answering.agent import Agent
from core.answering.prompts import NOT_IN_SELECTION
from core.errors import ModelUnavailable
from core.messages import NOTHING_DONE
from core.model import Answer, Drafted, Progress, Question, Restarted, Searching, Status
from tests.builders import hit, question
from tests.fakes.chat import Piece, ScriptedChatModel, ScriptedTurn, call, search, turn
from tests.fakes.clock import Clock
from tests.fakes.shelf import Shelf
from tests.fakes.surface import streamed
from tests.portion import examples

WRITTEN = ["Robots ", "act", " [1].", " [9]", "[", "1]", "https://evil.example", "`", NOT_IN_SELECTION, "NOT_IN", "\n"]
CALLS = [search("robot"), search("down", id="2"), search("far", id="3"), call("{"), call("{}", name="rm")]
PIECES: st.SearchStrategy[Piece] = st.one_of(
    st.sampled_from(WRITTEN),
    st.sampled_from(WRITTEN),
    st.sampled_from(CALLS),
    st.sampled_from([Restarted(), ModelUnavailable("down")]),
    st.text(max_size=5),
)
TURNS = st.lists(st.lists(PIECES, max_size=4).map(lambda pieces: turn(*pieces)), min_size=8, max_size=8)
QUESTIONS = st.sampled_from([question(), question("Hello!"), question(selection="A robot acts.")])


async def run(asked: Question, turns: list[ScriptedTurn]) -> tuple[list[Progress], ScriptedChatModel]:
    """Ask a model that may have turns left over."""
    model = ScriptedChatModel(*turns)
    shelf = Shelf(hit(), by_query={"far": [hit(0.1)]})
    shelf.fails_on = ["down"]
    return [item async for item in Agent(model, shelf, clock=Clock()).run(asked)], model


@given(asked=QUESTIONS, turns=TURNS)
@settings(max_examples=examples(80), deadline=None)
def test_every_run_ends_with_one_answer_that_keeps_the_rules(asked: Question, turns: list[ScriptedTurn]) -> None:
    """It ends, the answer is the last item, and nothing that may not be shown is before the reader's eyes."""
    (*shown, answer), model = asyncio.run(run(asked, turns))

    assert isinstance(answer, Answer)
    assert not any(isinstance(item, Answer) for item in shown)
    assert len(model.prompts) <= 7
    assert [citation.number for citation in answer.citations] == list(range(1, len(answer.citations) + 1))
    assert answer.has_relevant_context == bool(answer.citations)
    assert asked.selection is None or NOT_IN_SELECTION not in f"{answer.text} {streamed(shown)}"
    seen = streamed(shown).strip()
    final = answer.text.strip() if answer.status is Status.ANSWERED else ""
    assert final in ((seen, f"{seen} [1]", f"{seen}\n\n[1]") if asked.selection else (seen,))


@given(turns=TURNS)
@settings(max_examples=examples(60), deadline=None)
def test_nothing_is_shown_before_a_search(turns: list[ScriptedTurn]) -> None:
    """A question is answered from what was found, not from memory."""
    (*shown, answer), _ = asyncio.run(run(question(), turns))

    texts = [place for place, item in enumerate(shown) if isinstance(item, Drafted)]
    searches = [place for place, item in enumerate(shown) if isinstance(item, Searching)]
    assert not texts or searches[0] < texts[0]
    assert isinstance(answer, Answer)
    assert (answer.status is Status.ANSWERED) == bool(answer.citations or answer.text == NOTHING_DONE)
