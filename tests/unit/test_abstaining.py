"""What the code decides whatever the model does: when to search, what may be shown, and when there is no answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from core.answering.agent import Agent
from core.answering.citations import Sources
from core.answering.prompts import REPAIR, read_passages
from core.answering.tools import MOST_FOUND, Tool
from core.errors import ModelUnavailable, RetrievalUnavailable
from core.messages import (
    FAILED,
    LEXICAL_ONLY,
    NEEDS_OPERATOR,
    NO_CONTEXT,
    NO_CONTEXT_ALONE,
    NO_CONTEXT_NEAREST,
    NO_DOCUMENTS,
    NOT_ANSWERED,
    UNAVAILABLE,
)
from core.model import (
    Answer,
    Citation,
    MessageRef,
    Progress,
    Question,
    Restarted,
    SearchFailed,
    Searching,
    Status,
    ToolCall,
)
from tests.builders import OPEN, hit, question
from tests.fakes.chat import Script, ScriptedChatModel, search, turn
from tests.fakes.clock import Clock
from tests.fakes.shelf import Asked, Shelf
from tests.fakes.surface import seen, streamed

ASKED = Searching("What is a robot?")
GIVEN = {"number": 1, "score": 0.9, "title": "Robots", "section": "What they are", "text": "A robot acts."}
NEAREST = Citation(
    number=1,
    chapter="one",
    section="What they are",
    title="Robots",
    url="https://docs.example/robots#what",
    relevance_score=0.3,
    source="docs",
)


async def run(model: ScriptedChatModel, shelf: Shelf, text: str = "What is a robot?") -> tuple[list[Progress], Answer]:
    """Ask, and give what was shown before the answer, and the answer."""
    *shown, answer = [item async for item in Agent(model, shelf, clock=Clock()).run(question(text))]
    assert isinstance(answer, Answer)
    return shown, answer


def summary(answer: Answer) -> tuple[Status, str, int, int]:
    """What a reader has at the end: how it ended, the text, and how many footnotes and nearest sections."""
    return answer.status, answer.text, len(answer.citations), len(answer.nearest)


async def test_a_question_is_searched_before_the_model_is_asked(script: Script) -> None:
    """With its own words; the model is given what was found, and so needs to be asked only once."""
    shelf = Shelf(hit())
    model = script(turn("Robots act [1]."))

    shown, answer = await run(model, shelf)

    assert shelf.asked == [Asked("What is a robot?", MOST_FOUND, OPEN)]
    assert seen(shown) == [ASKED, "Robots act [1]."]
    assert summary(answer) == (Status.ANSWERED, "Robots act [1].", 1, 0)
    assert read_passages(model.prompts[0].messages[-1]["content"]) == ([GIVEN], "What is a robot?")


async def test_without_documents_the_answer_says_so(script: Script) -> None:
    """Nobody has to wonder why nothing is ever found, and whoever runs the bot reads what to do; no model is asked."""
    shelf = Shelf()
    shelf.has_documents = False

    _, answer = await run(script(), shelf)

    assert summary(answer) == (Status.NO_CONTEXT, NO_DOCUMENTS, 0, 0)


async def test_an_answer_from_memory_over_nothing_is_never_shown(script: Script) -> None:
    """A model that writes where nothing was found is not asked again."""
    shelf = Shelf()

    shown, answer = await run(script(turn("I know.")), shelf)

    assert (len(shelf.asked), shown) == (1, [ASKED])
    assert summary(answer) == (Status.NO_CONTEXT, NO_CONTEXT_ALONE, 0, 0)


async def test_a_model_may_search_with_other_words_where_nothing_was_found(script: Script) -> None:
    """People word a question as the documents do not."""
    shelf = Shelf(by_query={"android": [hit()]})
    model = script(turn(search("android")), turn("Robots act [1]."))

    shown, answer = await run(model, shelf)

    assert seen(shown) == [ASKED, Searching("android"), "Robots act [1]."]
    assert summary(answer) == (Status.ANSWERED, "Robots act [1].", 1, 0)


@pytest.mark.parametrize("greeting", ["Hello!", "Thanks a lot", "What can you do?", "👍"])
async def test_small_talk_is_answered_without_search_and_sources(greeting: str, script: Script) -> None:
    """It is shown while it is written."""
    shelf = Shelf(hit())

    shown, answer = await run(script(turn("Hello ", "there, you")), shelf, greeting)

    assert (shelf.asked, seen(shown)) == ([], ["Hello there, you"])
    assert summary(answer) == (Status.ANSWERED, "Hello there, you", 0, 0)
    assert not answer.has_relevant_context


async def test_a_silent_answer_to_small_talk_is_a_failure(script: Script) -> None:
    """There is nothing to show."""
    assert summary((await run(script(turn("")), Shelf(hit()), "Hello!"))[1]) == (Status.FAILED, FAILED, 0, 0)


async def test_small_talk_that_the_model_searched_for_needs_no_marks(script: Script) -> None:
    """Nobody asks a greeting for its sources."""
    _, answer = await run(script(turn(search("hello")), turn("Hello!")), Shelf(hit()), "Hello!")

    assert summary(answer) == (Status.ANSWERED, "Hello!", 0, 0)


async def test_nothing_above_the_threshold_is_no_answer_whatever_the_model_writes(script: Script) -> None:
    """The reader gets a plain sentence and the nearest sections; the model's text is never shown."""
    shown, answer = await run(script(turn("A robot is a toaster [1].")), Shelf(hit(0.3)))

    assert shown == [ASKED]
    assert summary(answer) == (Status.NO_CONTEXT, NO_CONTEXT_NEAREST, 0, 1)
    assert answer.nearest == (NEAREST,)
    assert not answer.has_relevant_context


async def test_silence_over_nothing_relevant_is_no_answer_and_no_failure(script: Script) -> None:
    """A model that quotes has nothing to quote."""
    _, answer = await run(script(turn("")), Shelf(hit(0.3)))

    assert summary(answer) == (Status.NO_CONTEXT, NO_CONTEXT_NEAREST, 0, 1)


async def test_an_invented_mark_disappears(script: Script) -> None:
    """Only numbers that a search gave are footnotes."""
    shown, answer = await run(script(turn("Robots act [1] and fly [7].")), Shelf(hit()))

    assert streamed(shown) == "Robots act [1] and fly."
    assert summary(answer) == (Status.ANSWERED, "Robots act [1] and fly.", 1, 0)


async def test_an_answer_without_valid_marks_gets_one_repair(script: Script) -> None:
    """It is taken back, and the model is asked to name its passages, with no tools to flee to."""
    model = script(turn("Robots act [9]."), turn("Robots act [1]."))

    shown, answer = await run(model, Shelf(hit()))

    assert seen(shown) == [ASKED, "Robots act.", Restarted(), "Robots act [1]."]
    assert summary(answer) == (Status.ANSWERED, "Robots act [1].", 1, 0)
    assert model.prompts[1].messages[-2:] == (
        {"role": "assistant", "content": "Robots act [9]."},
        {"role": "user", "content": REPAIR},
    )
    assert model.may_call == [True, False]


async def test_an_answer_that_is_cut_within_a_list_of_sources_gets_one_repair(script: Script) -> None:
    """Nothing of it can be shown, and a model that has slipped once need not do it again."""
    listed = turn("[1] 0.52 The Arm\nand what else it", is_cut=True)

    shown, answer = await run(script(listed, turn("Robots act [1].")), Shelf(hit()))

    assert streamed(shown) == "Robots act [1]."
    assert summary(answer) == (Status.ANSWERED, "Robots act [1].", 1, 0)


async def test_an_answer_that_names_no_passage_twice_is_no_answer(script: Script) -> None:
    """What was shown is taken back; the sections that were found are named."""
    model = script(turn("Robots act."), turn("Robots just act."))

    shown, answer = await run(model, Shelf(hit()))

    assert (streamed(shown), shown[-1]) == ("", Restarted())
    assert summary(answer) == (Status.NO_CONTEXT, NO_CONTEXT_NEAREST, 0, 1)


async def test_words_of_which_nothing_can_be_shown_twice_are_no_answer(script: Script) -> None:
    """The passages hold nothing of them, so the sections that were found are named, instead of asking to try again."""
    listed = turn('[1] 2. The arm: "2. The arm: "2. The', is_cut=True)

    _, answer = await run(script(listed, listed), Shelf(hit()))

    assert summary(answer) == (Status.NO_CONTEXT, NO_CONTEXT_NEAREST, 0, 1)


async def test_text_before_a_tool_call_is_taken_back(script: Script) -> None:
    """What a model says before it searches again is no part of the answer."""
    model = script(turn("More [1].", search("arm")), turn("Robots act [1]."))

    shown, answer = await run(model, Shelf(hit()))

    assert seen(shown) == [
        ASKED,
        "More [1].",
        Restarted(),
        Searching("arm"),
        "Robots act [1].",
    ]
    assert answer.text == "Robots act [1]."


@pytest.mark.parametrize("error", [RetrievalUnavailable("It is down."), KeyError("a mistake of ours")])
async def test_an_index_that_is_down_is_said_in_one_sentence(error: Exception, script: Script) -> None:
    """The model is not asked at all."""
    shelf = Shelf(hit())
    shelf.fails, shelf.error = True, error

    shown, answer = await run(script(), shelf)

    assert shown == [ASKED, SearchFailed()]
    assert summary(answer) == (Status.UNAVAILABLE, UNAVAILABLE, 0, 0)
    assert answer.is_failure


async def test_one_failed_search_of_two_is_a_warning(script: Script) -> None:
    """The other found enough to answer."""
    shelf = Shelf(hit())
    shelf.fails_on = ["arms"]
    model = script(turn(search("arms"), search("legs", id="call-2")), turn("Robots act [1]."))

    shown, answer = await run(model, shelf)

    assert shown[:4] == [ASKED, Searching("arms"), Searching("legs"), SearchFailed()]
    assert summary(answer) == (Status.ANSWERED, "Robots act [1].", 1, 0)


async def test_an_index_that_fails_after_it_found_something_does_not_undo_that(script: Script) -> None:
    """The model answers from what there is; the reader is warned once."""
    shelf = Shelf(hit())
    shelf.fails_on = ["arms", "legs"]
    model = script(turn(search("arms")), turn(search("legs")), turn("Robots act [1]."))

    shown, answer = await run(model, shelf)

    assert shown.count(SearchFailed()) == 1
    assert summary(answer) == (Status.ANSWERED, "Robots act [1].", 1, 0)


async def test_a_search_by_words_alone_is_said_at_the_end(script: Script) -> None:
    """The answer stands, with a line that says what it may miss."""
    shelf = Shelf(hit())
    shelf.lexical_only = True

    shown, answer = await run(script(turn("Robots act [1].\n")), shelf)

    assert shown[:2] == [ASKED, SearchFailed()]
    assert summary(answer) == (Status.ANSWERED, f"Robots act [1].\n\n_{LEXICAL_ONLY}_", 1, 0)
    assert answer.lexical_only


async def test_a_model_that_fails_before_it_wrote_is_a_short_apology(script: Script) -> None:
    """Nothing was shown, so nothing is taken back; what was used and done is still told."""
    model = script(turn(ModelUnavailable("down")))

    shown, answer = await run(model, Shelf(hit()))

    assert shown == [ASKED]
    assert summary(answer) == (Status.FAILED, FAILED, 0, 0)
    assert [record.name for record in answer.tool_calls] == ["search_documents"]


async def test_a_model_that_asks_for_a_pause_is_told_with_its_length(script: Script) -> None:
    """So that nobody tries again too soon."""
    _, answer = await run(script(turn(ModelUnavailable("Too many requests.", wait=600.0))), Shelf(hit()))

    assert (answer.status, answer.text.rpartition("again ")[2]) == (Status.FAILED, "in about 10 minutes.")


@pytest.mark.parametrize(("lasts", "says"), [(True, NEEDS_OPERATOR), (False, NOT_ANSWERED)])
async def test_nobody_is_told_to_try_again_what_stays_as_it_is(script: Script, lasts: bool, says: str) -> None:
    """Such as a key that is refused, or a question that a content filter holds back."""
    refused = ModelUnavailable("Refused.", is_final=True)
    refused.is_lasting = lasts

    _, answer = await run(script(turn(refused)), Shelf(hit()))

    assert summary(answer) == (Status.FAILED, says, 0, 0)


async def test_no_half_answer_stays_when_the_model_breaks_off(script: Script) -> None:
    """What was shown is taken back first."""
    shown, answer = await run(script(turn("Robots act [1]", " and then", ModelUnavailable("broken"))), Shelf(hit()))

    assert (shown[0], shown[-1]) == (ASKED, Restarted())
    assert streamed(shown[:-1]).startswith("Robots act [1]")
    assert summary(answer) == (Status.FAILED, FAILED, 0, 0)


async def test_a_model_may_start_over_by_itself(script: Script) -> None:
    """A broken attempt is taken back, and the next one is the answer."""
    model = script(turn("Robots ", "a", Restarted(), "Robots act [1]."))

    shown, answer = await run(model, Shelf(hit()))

    assert seen(shown[1:]) == ["Robots", Restarted(), "Robots act [1]."]
    assert summary(answer) == (Status.ANSWERED, "Robots act [1].", 1, 0)


async def test_starting_over_before_anything_was_shown_is_silent(script: Script) -> None:
    """There is nothing to take back."""
    shown, _ = await run(script(turn(Restarted(), search("arm")), turn("Robots act [1].")), Shelf(hit()))

    assert seen(shown) == [ASKED, Searching("arm"), "Robots act [1]."]


@pytest.mark.parametrize("silence", ["", " \n"])
async def test_an_empty_answer_over_relevant_passages_is_a_failure(silence: str, script: Script) -> None:
    """The model had what it needed and said nothing."""
    _, answer = await run(script(turn(silence)), Shelf(hit()))

    assert summary(answer) == (Status.FAILED, FAILED, 0, 0)


async def test_what_one_search_has_found_is_no_failure_because_another_failed(script: Script) -> None:
    """The documents could be searched, and the model found no answer in what is there: that is what people read."""
    shelf = Shelf(hit())
    shelf.fails_on = ["arm"]
    model = script(turn(search("arm")), turn("I do not know."), turn("I do not know."))

    _, answer = await run(model, shelf)

    assert summary(answer) == (Status.NO_CONTEXT, NO_CONTEXT_NEAREST, 0, 1)


def at_noon(supplied: Citation | None = None) -> Callable[[Question, Sources], Sequence[Tool]]:
    """Give a tool beside the search, which knows the time, and may supply a source for it."""

    def tools(_question: Question, sources: Sources) -> Sequence[Tool]:
        async def clock() -> Mapping[str, Any]:
            """Say what time it is."""
            return {"time": "noon", "number": sources.add(supplied) if supplied else None}

        return [Tool(clock, grounds=True)]

    return tools


CLOCK = ToolCall(id="c1", name="clock", arguments="{}")


async def test_an_answer_may_rest_on_another_tool_than_the_search(script: Script) -> None:
    """It needs no footnote, and it is shown while it is written."""
    shelf = Shelf()
    agent = Agent(script(turn(CLOCK), turn("It is noon.")), shelf, clock=Clock(), tools=at_noon())
    *shown, answer = [item async for item in agent.run(question())]

    assert isinstance(answer, Answer)
    assert seen(shown) == [ASKED, "It is noon."]
    assert summary(answer) == (Status.ANSWERED, "It is noon.", 0, 0)


async def test_what_another_tool_supplies_can_be_cited(script: Script) -> None:
    """With a number like any section; a search that fails beside it does not end the answer."""
    shelf = Shelf()
    shelf.fails = True
    model = script(turn(search("time"), CLOCK), turn("It is noon [1]."))
    agent = Agent(model, shelf, clock=Clock(), tools=at_noon(NEAREST))
    *_, answer = [item async for item in agent.run(question())]

    assert isinstance(answer, Answer)
    assert summary(answer) == (Status.ANSWERED, "It is noon [1].", 1, 0)


async def test_at_a_terminal_nobody_else_is_said_to_know_more(script: Script) -> None:
    """There is nobody."""
    alone = question().model_copy(update={"message": MessageRef.parse("terminal:local:chat:t:m")})
    answer = await Agent(script(turn("")), Shelf(), clock=Clock()).answer(alone)

    assert answer.text == NO_CONTEXT
