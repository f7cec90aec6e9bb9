"""Test questions with what is expected of their answers, and how well the answers do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from pydantic import ValidationError

from core.errors import InvalidInput
from core.model import Answer, Status, Value

Kind: TypeAlias = Literal["single_topic", "across_modules", "follow_up", "out_of_scope", "not_in_documents"]
Ask: TypeAlias = Callable[[Sequence[str]], Awaitable[Answer]]
"""Asks several questions one after the other in one conversation, and returns the answer to the last."""


class Case(Value):
    """One test question; `before` are the questions of the same conversation that come first.

    `chapters` all have to be cited; `at_least_chapters` says how many different ones, whichever they are.
    """

    id: str
    kind: Kind
    question: str
    before: tuple[str, ...] = ()
    chapters: tuple[str, ...] = ()
    at_least_chapters: int = 0
    should_retrieve: bool = True
    should_cite: bool = True
    should_abstain: bool = False


class Result(Value):
    """What became of a case: each check by name, and the answer for whoever wants to know why."""

    case: Case
    answer: Answer
    checks: dict[str, bool]

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return all(self.checks.values())


def read_cases(lines: Iterable[str]) -> list[Case]:
    """Read one JSON case a line; `InvalidInput` names the first line that is none."""
    cases: list[Case] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            cases.append(Case.model_validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            message = f"Line {number} of the cases cannot be used: {where}: {first['msg']}."
            raise InvalidInput(message, field="cases") from error
    if not cases:
        raise InvalidInput("The file holds no cases. Write one JSON object a line.", field="cases")
    return cases


async def evaluate(cases: Iterable[Case], ask: Ask) -> AsyncIterator[Result]:
    """Ask each case's questions and check the last answer."""
    for case in cases:
        answer = await ask([*case.before, case.question])
        yield Result(case=case, answer=answer, checks=_checks(case, answer))


def _checks(case: Case, answer: Answer) -> dict[str, bool]:
    """Compare what was expected with what came."""
    cited = {citation.chapter for citation in answer.citations}
    checks = {
        "retrieved": any(call.name == "search_documents" for call in answer.tool_calls) == case.should_retrieve,
        "cited": bool(answer.citations) == case.should_cite,
        "abstained": (answer.status is Status.NO_CONTEXT) == case.should_abstain,
        "no_failure": not answer.is_failure,
    }
    if case.chapters or case.at_least_chapters:
        checks["chapter"] = set(case.chapters) <= cited and len(cited) >= case.at_least_chapters
    return checks
