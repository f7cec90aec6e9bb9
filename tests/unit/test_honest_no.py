"""How a model says that the documents do not answer: by one word, which nobody reads."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.answering.citations import Footnotes, Sources
from core.answering.markup import MarkupReader
from core.answering.verdict import AnswerDraft
from core.messages import GREETING, NO_CONTEXT_NEAREST
from core.model import Restarted, Status
from tests.builders import hit
from tests.fakes.chat import Script, turn
from tests.fakes.shelf import Shelf
from tests.fakes.surface import seen, streamed, text_of
from tests.portion import examples
from tests.unit.test_abstaining import ASKED, run, summary

NO = "NOT_IN_DOCUMENTS"


@pytest.mark.promise("honest-no")
@pytest.mark.parametrize(
    "pieces",
    [
        (NO,),
        ("NOT", "_IN_", "DOCUMENTS", "."),
        tuple(NO),
        ("\n**", NO, "**\n"),
        ("`not_in_documents`",),
        (r"NOT\_IN\_DOCUMENTS",),
        ("NOT_IN_DOC\u200bUMENTS",),
        (f"{NO}: but robots are nice, and they have arms [1]. They ", "turn and turn."),
    ],
)
async def test_a_model_says_by_one_word_that_nothing_answers(pieces: tuple[str, ...], script: Script) -> None:
    """It costs no further call, the word is never shown, and the nearest sections are named."""
    shown, answer = await run(script(turn(*pieces)), Shelf(hit()))

    assert shown == [ASKED]
    assert summary(answer) == (Status.NO_CONTEXT, NO_CONTEXT_NEAREST, 0, 1)


async def test_a_model_that_goes_on_after_it_has_said_no_is_silenced(script: Script) -> None:
    """Nobody would read it, and somebody would pay for it."""
    model = script(turn(NO, " But from memory", " I would say that robots are machines that do what people tell them."))

    await run(model, Shelf(hit()))

    assert model.closed_early == 1


async def test_the_word_for_no_answer_behind_other_words_takes_them_back(script: Script) -> None:
    """They name no passage, so that they are no answer; nobody is asked to repair them."""
    shown, answer = await run(script(turn("Let me look.", " NOT_", "IN_DOCUMENTS", " I fear.")), Shelf(hit()))

    assert seen(shown) == [ASKED, "Let me look.   I fear.", Restarted()]
    assert summary(answer) == (Status.NO_CONTEXT, NO_CONTEXT_NEAREST, 0, 1)


async def test_an_answer_to_a_part_of_the_question_stands_without_the_word(script: Script) -> None:
    """The other part is not in the documents; what is said of the first has its footnote."""
    shown, answer = await run(script(turn("Robots act [1].\n\nNOT_IN", "_DOCUMENTS")), Shelf(hit()))

    assert streamed(shown) == "Robots act [1]."
    assert summary(answer) == (Status.ANSWERED, "Robots act [1].", 1, 0)


async def test_small_talk_that_a_model_takes_for_a_question_is_answered_all_the_same(script: Script) -> None:
    """Whoever greets is greeted."""
    assert summary((await run(script(turn(NO)), Shelf(hit()), "Hello!"))[1]) == (Status.ANSWERED, GREETING, 0, 0)


PARTS = [NO, "NOT", "_IN_", "DOCUMENTS", "\\", "\u200b", " ", "N", "A robot", "**", "\n"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=8)


@pytest.mark.promise("honest-no")
@given(text=TEXTS.map("".join), size=st.integers(1, 5))
@example(text=f"NOT_IN_{NO}DOCUMENTS", size=1)
@settings(max_examples=examples(300), deadline=None)
def test_no_draft_ever_shows_the_word_however_it_is_cut(text: str, size: int) -> None:
    """Nor the part of it that has come by then; and what is shown of the rest does not depend on the cuts."""
    drafts = [AnswerDraft(MarkupReader(Footnotes(Sources())), is_live=True, unless=NO) for _ in range(2)]
    shown = list[str]()
    for at in range(0, len(text), size):
        drafts[0].feed(text[at : at + size])
        shown.append(text_of(drafts[0].markup))
    drafts[0].feed("", is_last=True)
    drafts[1].feed(text, is_last=True)

    assert [each for each in (*shown, text_of(drafts[0].markup)) if NO in each.replace("\\", "")] == []
    assert text_of(drafts[0].markup) == text_of(drafts[1].markup)
    assert drafts[0].says_no == drafts[1].says_no
