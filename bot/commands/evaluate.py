"""`footnote evaluate`: test questions with what is expected of their answers, and a table of how the answers do."""

from __future__ import annotations

import json
import re
import secrets
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import ValidationError

from bot.commands.ask import AskOptions, check_scope
from bot.commands.session import Session, session
from bot.outcome import OK
from core.errors import InvalidInput
from core.model import Answer, Conversation, Scope, Status, Turn, Usage, Value

Kind: TypeAlias = Literal["single_topic", "across_modules", "follow_up", "out_of_scope", "not_in_documents"]
_WHOLE = re.compile(
    r"^[ \t]*(`{3,}|~{3,}).*?^[ \t]*\1[ \t]*$|^[ \t]*\|[^\n]*$", re.MULTILINE | re.DOTALL
)  # tables and code
_MARKUP = re.compile(r"[*_`\\]|\[\d+\]")
Ask: TypeAlias = Callable[[Sequence[str]], Awaitable[Answer]]
"""Asks several questions one after the other in one conversation, and returns the answer to the last."""


class Case(Value):
    """One test question; `before` are the questions of the same conversation that come first.

    `chapters` all have to be cited; `at_least_chapters` says how many different ones, whichever they are.
    Who has to abstain cites nothing, unless the case says otherwise. Of each entry of `must_contain` one has to be
    said; `most_characters` counts neither tables nor code, and 0 is no limit.
    """

    id: str
    kind: Kind
    question: str
    before: tuple[str, ...] = ()
    chapters: tuple[str, ...] = ()
    at_least_chapters: int = 0
    should_retrieve: bool = True
    should_cite: bool | None = None
    should_abstain: bool = False
    must_contain: tuple[str | tuple[str, ...], ...] = ()
    must_not_contain: tuple[str, ...] = ()
    most_characters: int = 0


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
        raise InvalidInput("The file contains no cases. Write one JSON object per line.", field="cases")
    return cases


async def evaluate(cases: Iterable[Case], ask: Ask) -> AsyncIterator[Result]:
    """Ask each case's questions and check the last answer."""
    for case in cases:
        answer = await ask([*case.before, case.question])
        yield Result(case=case, answer=answer, checks=_checks(case, answer))


def _checks(case: Case, answer: Answer) -> dict[str, bool]:
    """Compare what was expected with what came."""
    cited = {citation.chapter for citation in answer.citations}
    should_cite = not case.should_abstain if case.should_cite is None else case.should_cite
    checks = {
        "retrieved": any(call.name == "search_documents" for call in answer.tool_calls) == case.should_retrieve,
        "cited": bool(answer.citations) == should_cite,
        "abstained": (answer.status is Status.NO_CONTEXT) == case.should_abstain,
        "no_failure": not answer.is_failure,
    }
    if case.chapters or case.at_least_chapters:
        checks["chapter"] = set(case.chapters) <= cited and len(cited) >= case.at_least_chapters
    return {**checks, **_checks_of_text(case, answer.text)}


def _checks_of_text(case: Case, text: str) -> dict[str, bool]:
    """Look for what has to be said, and for what must not be; case, space, emphasis and marks do not matter."""
    said = _plain(text)
    checks: dict[str, bool] = {}
    if case.must_contain:
        wanted = [(each,) if isinstance(each, str) else each for each in case.must_contain]
        checks["contains"] = all(any(_plain(one) in said for one in each) for each in wanted)
    if case.must_not_contain:
        checks["leaves_out"] = not any(_plain(each) in said for each in case.must_not_contain)
    if case.most_characters:
        checks["is_short"] = len(_plain(_WHOLE.sub("", text))) <= case.most_characters
    return checks


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub("", text).split()).casefold()


def evaluate_cases(path: Path, *, as_json: bool) -> int:
    """Ask every case and print the report; the code is 0 also where answers fall short, since that is the report."""
    try:
        with path.open(encoding="utf-8") as lines:  # unlike splitlines(), it leaves a U+2028 inside of a text alone
            cases = read_cases(lines)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The cases in {path} cannot be read. Check the path.", field="cases") from error
    with session("footnote evaluate") as opened:
        results = opened.run(_evaluate(opened, cases))
    if as_json:
        sys.stdout.write(json.dumps(_report(results), ensure_ascii=False) + "\n")
    else:
        _print(results)
    return OK


async def _evaluate(opened: Session, cases: Sequence[Case]) -> list[Result]:
    check_scope(await opened.app.index.outline(), Scope())

    return [result async for result in evaluate(cases, partial(ask_in_turn, opened))]


async def ask_in_turn(opened: Session, questions: Sequence[str]) -> Answer:
    """Ask several questions in one conversation that nobody keeps; return the last answer."""
    thread = secrets.token_hex(8)
    turns: tuple[Turn, ...] = ()
    answers: list[Answer] = []
    for text in questions:
        question = AskOptions(text, thread=thread).question(opened.settings)
        before = Conversation(thread=question.message.thread, turns=turns)
        answers.append(await opened.app.agent.answer(question, before))
        turn = Turn(question_ref=question.message, question=text, answer=answers[-1].text, at=datetime.now(UTC))
        turns = (*turns, turn)
    return answers[-1]


def _report(results: Sequence[Result]) -> dict[str, object]:
    return {
        "passed": sum(result.passed for result in results),
        "total": len(results),
        "cases": [
            {
                "id": result.case.id,
                "kind": result.case.kind,
                "question": result.case.question,
                "status": result.answer.status.value,
                "passed": result.passed,
                "checks": result.checks,
                "cited": [citation.url for citation in result.answer.citations],
                "usage": {**result.answer.usage.model_dump(), "cost": result.answer.cost},
            }
            for result in results
        ],
    }


def _print(results: Sequence[Result]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    title = f"{sum(result.passed for result in results)} of {len(results)} cases passed"
    table = Table("case", "kind", "question", "status", "cited", "not as expected", title=title)
    for result in results:
        chapters = Counter(citation.chapter for citation in result.answer.citations)
        wrong = ", ".join(name for name, held in result.checks.items() if not held)
        table.add_row(
            result.case.id,
            result.case.kind,
            escape(result.case.question),
            result.answer.status.value,
            ", ".join(chapters),
            wrong or "-",
        )
    Console().print(table)
    if spent := _spent([result.answer for result in results]):
        Console().print(spent, highlight=False)


def _spent(answers: Sequence[Answer]) -> str:
    """Return how many tokens the last answers of all cases took, and what they cost; nothing if no model was asked."""
    usage = sum((answer.usage for answer in answers), Usage())
    if not usage.prompt_tokens:
        return ""
    tokens = f"{usage.prompt_tokens} prompt tokens ({usage.cached_tokens} cached), {usage.completion_tokens} of answers"
    costs = [answer.cost for answer in answers if answer.cost is not None]
    return f"{tokens}, cost {sum(costs):.4f}" if costs else tokens
