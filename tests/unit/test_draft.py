"""What of an answer is before the reader's eyes while it is written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.draft import Draft
from core.model import Progress, Restarted, TextDelta
from core.prompts import NOT_IN_SELECTION
from core.sources import Sources, selected_text
from tests.builders import hit
from tests.fakes.surface import streamed
from tests.portion import examples


def make_draft(*, live: bool = True) -> Draft:
    """A draft over one source."""
    sources = Sources()
    sources.add(hit())
    return Draft(sources, live=live)


def write(draft: Draft, *pieces: str) -> list[Progress]:
    """Let the model write all pieces."""
    return [*(item for piece in pieces for item in draft.feed(piece)), *draft.finish()]


PIECES = st.lists(
    st.one_of(st.text(max_size=12), st.sampled_from(["[1]", " [1", "]", "NOT_IN_", "`", "\n"])), max_size=9
)


@given(pieces=PIECES, selected=st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_what_was_shown_joins_to_the_final_text(pieces: list[str], selected: bool) -> None:
    """Whatever the pieces are, the reader has seen exactly the text at the end."""
    draft = Draft(selected_text("A robot."), live=True, unless=NOT_IN_SELECTION) if selected else make_draft()

    shown = write(draft, *pieces)

    assert streamed(shown) == draft.text


@given(pieces=PIECES)
@settings(max_examples=examples(100), deadline=None)
def test_a_draft_that_is_not_live_shows_nothing(pieces: list[str]) -> None:
    """It is written all the same."""
    draft = make_draft(live=False)

    assert write(draft, *pieces) == []
    assert list(draft.take_back()) == []
    assert draft.before == "".join(pieces)


def test_footnotes_come_with_the_text_that_names_them() -> None:
    """Whoever draws the text can link its footnotes at once."""
    draft = make_draft()

    shown = [item for item in write(draft, "Robots ", "act [1]", ". All of them.") if isinstance(item, TextDelta)]

    assert (shown[0].citations, len(shown[-1].citations)) == ((), 1)
    assert shown[-1].citations == draft.citations


def test_what_was_shown_can_be_taken_back_once() -> None:
    """The reader is told, and the draft starts over, but for what it keeps of the text before."""
    draft = make_draft()
    write(draft, "Robots act [1].")

    taken = [*draft.take_back(), *draft.take_back()]

    assert taken == [Restarted()]
    assert (draft.text, draft.citations, draft.is_blank) == ("", (), True)


@pytest.mark.parametrize("cut", range(1, len(NOT_IN_SELECTION)))
def test_the_word_for_no_answer_is_never_shown(cut: int) -> None:
    """However it is cut, the reader sees nothing of it."""
    draft = Draft(selected_text("A robot."), live=True, unless=NOT_IN_SELECTION)

    assert write(draft, NOT_IN_SELECTION[:cut], NOT_IN_SELECTION[cut:], ".") == []
    assert draft.is_refusal


def test_text_that_only_begins_like_the_word_for_no_answer_is_shown() -> None:
    """It is held back as long as it could still become the word."""
    draft = Draft(selected_text("A robot."), live=True, unless=NOT_IN_SELECTION)

    assert write(draft, "NO", "T", " quite.") == [TextDelta("NOT"), TextDelta(" quite.")]
    assert not draft.is_refusal


def test_the_word_for_no_answer_counts_behind_other_text_too() -> None:
    """What was shown before it is no answer; nothing of the word follows."""
    draft = Draft(selected_text("A robot."), live=True, unless=NOT_IN_SELECTION)

    assert streamed(write(draft, "Sorry: ", NOT_IN_SELECTION)) == "Sorry:"
    assert draft.is_refusal
