"""What of a conversation stands in front of a question."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from core.answering.context import BYTES_PER_TOKEN, history, learned
from core.model import ToolRecord, Turn
from tests.builders import conversation, turn_of
from tests.portion import examples

PLENTY = 100_000


def turns(count: int) -> list[Turn]:
    """So many exchanges, numbered."""
    return [turn_of(f"Question {n}?", f"Answer {n} [1].", id=f"m{n}") for n in range(count)]


def test_a_conversation_is_given_oldest_first_without_its_marks() -> None:
    """Old numbers mean nothing in a new answer."""
    assert history(conversation(*turns(2)), budget=PLENTY) == (
        {"role": "user", "content": "Question 0?"},
        {"role": "assistant", "content": "Answer 0."},
        {"role": "user", "content": "Question 1?"},
        {"role": "assistant", "content": "Answer 1."},
    )


def test_code_and_what_is_escaped_are_no_marks() -> None:
    """Only the numbers of footnotes are left out."""
    past = conversation(turn_of("Old?", "A [1][2] and `x[1]`, https://docs.example [3].\n\n```\ny[4]\n```\n\\[5] z"))

    [_, answer] = history(past, budget=PLENTY)

    assert answer["content"] == "A and `x[1]`, https://docs.example.\n\n```\ny[4]\n```\n\\[5] z"


def test_no_conversation_is_no_history() -> None:
    """Neither none nor an empty one."""
    assert history(None, budget=PLENTY) == ()
    assert history(conversation(), budget=PLENTY) == ()


def test_tool_calls_are_not_replayed() -> None:
    """They are kept for audit only."""
    record = ToolRecord(name="search_documents", arguments="{}", success=True, result_size=9, time_ms=1.0)
    plain = turn_of("What is a robot?")

    given_with = history(conversation(plain.model_copy(update={"tool_calls": (record,)})), budget=PLENTY)

    assert given_with == history(conversation(plain), budget=PLENTY)


def test_at_most_fifty_messages_are_given() -> None:
    """The newest twenty-five exchanges stay."""
    kept = history(conversation(*turns(30)), budget=PLENTY)

    assert (len(kept), kept[0]["content"], kept[-1]["content"]) == (50, "Question 5?", "Answer 29.")


def test_history_grows_at_its_end_only() -> None:
    """From turn to turn the beginning stays the same, so that a service can keep it cached."""
    given_so_far = [history(conversation(*turns(n)), budget=PLENTY) for n in range(1, 25)]

    assert [longer[: len(shorter)] for shorter, longer in pairwise(given_so_far)] == (given_so_far[:-1])


def test_the_newest_whole_exchanges_within_the_budget_are_given() -> None:
    """An exchange is 20 bytes, five tokens; half an exchange is never given."""
    past = conversation(*turns(3))

    sizes = [len(history(past, budget=budget * 4)) for budget in (4, 5, 9, 10, 15, 0, -1)]

    assert sizes == [0, 2, 2, 4, 6, 0, 0]


def test_an_exchange_too_large_for_the_budget_ends_the_history() -> None:
    """Older ones are not given in its place: a conversation with a hole misleads."""
    past = conversation(turn_of("Small?"), turn_of("Large? " * 100), turn_of("New?"))

    assert [m["content"] for m in history(past, budget=200)] == ["New?", "It acts."]


def test_history_is_measured_in_bytes() -> None:
    """Letters beyond ASCII have more of them; half a surrogate pair is one."""
    past = conversation(turn_of("\ud800", "ß"))

    assert [len(history(past, budget=budget)) for budget in (2, 3)] == [0, 2]


def test_the_estimate_learns_from_what_the_service_counted() -> None:
    """It moves a fifth of the way with each report, and comes to the real ratio in the end."""
    once = ratio = learned(BYTES_PER_TOKEN, 2_000, 1_000)
    for _ in range(50):
        ratio = learned(ratio, 2_000, 1_000)

    assert (round(once, 3), round(ratio, 3)) == (3.6, 2.0)


@given(reports=st.lists(st.tuples(st.integers(-10, 10**9), st.integers(-10, 10**9)), max_size=40))
@settings(max_examples=examples(100), deadline=None)
def test_odd_reports_keep_the_estimate_within_reason(reports: list[tuple[int, int]]) -> None:
    """Between one and eight bytes are a token, whatever is reported."""
    ratio = BYTES_PER_TOKEN
    for size, tokens in reports:
        ratio = learned(ratio, size, tokens)

    assert 1.0 <= ratio <= 8.0
