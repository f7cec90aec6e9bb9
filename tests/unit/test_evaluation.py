"""Test questions, and how well answers do."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.evaluation.cases import Case, Result, evaluate, is_of, read_cases
from core.errors import InvalidInput
from core.model import Answer, Citation, Status, ToolRecord

SEARCHED = ToolRecord(name="search_documents", arguments="{}", success=True, result_size=2, time_ms=1.0)
LINE = '{"id": "1", "kind": "single_topic", "question": "What is a robot?"}'


def cited(chapter: str, number: int = 1) -> Citation:
    """A footnote in a chapter."""
    url = f"https://docs.example/guide/{chapter}#top"
    return Citation(number=number, chapter=chapter, section="", title="T", url=url, relevance_score=0.9)


def answered(*chapters: str) -> Answer:
    """An answer from these chapters, after a search."""
    citations = tuple(cited(chapter, number) for number, chapter in enumerate(chapters, start=1))
    return Answer(id="a", text="Yes [1].", citations=citations, status=Status.ANSWERED, tool_calls=(SEARCHED,))


ABSTAINED = Answer(id="a", text="No.", status=Status.NO_CONTEXT, tool_calls=(SEARCHED,))
FAILED = Answer(id="a", text="Sorry.", status=Status.FAILED)


def case(**fields: object) -> Case:
    """A case of one topic."""
    return Case.model_validate({"id": "1", "kind": "single_topic", "question": "What is a robot?", **fields})


async def results(one: Case, answer: Answer) -> list[Result]:
    """Evaluate one case with a given answer."""

    async def ask(questions: Sequence[str]) -> Answer:
        return answer

    return [result async for result in evaluate([one], ask)]


@pytest.mark.parametrize(
    ("one", "answer", "failing"),
    [
        (case(), answered("a"), []),
        (case(), ABSTAINED, []),
        (case(), FAILED, ["no_failure"]),
        (case(should_retrieve=True, should_cite=True, should_abstain=False), ABSTAINED, ["cited", "abstained"]),
        (case(should_retrieve=True), FAILED, ["retrieved", "no_failure"]),
        (case(should_abstain=True), ABSTAINED, []),
        (case(should_abstain=True), answered("a"), ["abstained"]),
        (case(should_cite=False, should_abstain=True), ABSTAINED, []),
        (case(should_cite=False, should_abstain=True), answered("a"), ["cited", "abstained"]),
        (case(should_retrieve=False), answered("a"), ["retrieved"]),
        (case(chapters=("a", "b")), answered("b", "c", "a"), []),
        (case(chapters=("a", "b")), answered("a"), ["chapter"]),
        (case(at_least_chapters=2), answered("a", "b"), []),
        (case(at_least_chapters=2), answered("a", "a"), ["chapter"]),
        (case(pages=("https://docs.example/guide/a", "guide/b")), answered("b"), []),
        (case(pages=("a#top",)), answered("a"), []),
        (case(pages=("a#end", "ide/a")), answered("a"), ["page"]),
        (case(must_contain=("YES",), must_not_contain=("no",), most_characters=5), answered("a"), []),
        (case(must_contain=("yes", ("maybe", "perhaps"))), answered("a"), ["contains"]),
        (case(must_contain=(("maybe", "yes"),), must_not_contain=("es",)), answered("a"), ["leaves_out"]),
        (case(most_characters=4), answered("a"), ["is_short"]),
    ],
)
async def test_an_answer_is_checked_against_what_is_expected(one: Case, answer: Answer, failing: list[str]) -> None:
    """Each check has a name, so that a failing one can be told."""
    (result,) = await results(one, answer)

    assert [name for name, good in result.checks.items() if not good] == failing
    assert result.passed == (not failing)
    assert (result.case, result.answer) == (one, answer)


@pytest.mark.parametrize(
    ("page", "url", "is_one"),
    [
        ("guide/install#linux", "https://x.example/guide/install/#linux", True),
        ("guide/install/#linux", "https://x.example/guide/install#linux", True),
        ("/guide/install/", "https://x.example/guide/install#linux", True),
        ("https://x.example/guide/install", "https://x.example/guide/install/", True),
        ("guide/install#linux", "https://x.example/guide/install/", False),
        ("guide/install#linux", "https://x.example/guide/install/#linux-arm", False),
        ("install", "https://x.example/uninstall#linux", False),
        ("#linux", "https://x.example/install#linux", False),
        ("guide/install", "file:///srv/guide/install.md#linux", True),
        ("guide/install.md#linux", "file:///srv/guide/install.md#linux", True),
        ("guide/install", "https://x.example/guide/install.v2", False),
    ],
)
def test_a_page_is_named_with_or_without_its_last_slash_and_ending(page: str, url: str, is_one: bool) -> None:
    """Also before the name of a section."""
    assert is_of(page, url) is is_one


async def test_the_questions_of_a_conversation_are_asked_together() -> None:
    """Those before come first."""
    asked: list[list[str]] = []

    async def ask(questions: Sequence[str]) -> Answer:
        asked.append(list(questions))
        return answered("a")

    cases = [case(before=("What is VLA?",)), case(question="And its arm?")]
    passed = [result.passed async for result in evaluate(cases, ask)]

    assert asked == [["What is VLA?", "What is a robot?"], ["And its arm?"]]
    assert passed == [True, True]


def test_cases_are_read_one_a_line() -> None:
    """Blank lines do not matter."""
    assert read_cases([LINE, "", "  \n"]) == [case()]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "The file contains no cases. Write one JSON object per line."),
        ([LINE, "{"], "Line 2 of the cases cannot be used: the line: Invalid JSON"),
        ([LINE.replace("single_topic", "odd")], "Line 1 of the cases cannot be used: kind: Input should be"),
        ([LINE, LINE], "Line 2 of the cases has the id of another one. Change it."),
        (["{}"], "Line 1 of the cases cannot be used: id: Field required."),
        ([LINE, LINE.replace("What is a robot?", " ")], "Line 2 of the cases cannot be used: question: Please"),
        ([LINE.replace("robot", "robot" * 400)], "Line 1 of the cases cannot be used: question: The question has 2,0"),
        ([LINE.replace("}", ', "before": ["Hi", ""]}')], "Line 1 of the cases cannot be used: before.1: Please"),
    ],
)
def test_a_case_that_cannot_be_read_is_named(lines: list[str], message: str) -> None:
    """The line, the field and the reason: also where nobody could ask it, so that nothing is asked before that."""
    with pytest.raises(InvalidInput) as raised:
        read_cases(lines)

    assert str(raised.value).startswith(message)
    assert raised.value.field == "cases"
