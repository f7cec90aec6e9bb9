"""`footnote evaluate`: test questions, and a table of how their answers do."""

from __future__ import annotations

import json
import secrets
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bot.commands.ask import AskOptions, check_scope
from bot.commands.session import Session, session
from bot.outcome import OK
from core.errors import InvalidInput
from core.evaluation import Case, Result, evaluate, read_cases
from core.model import Answer, Conversation, Scope, Turn, Usage


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

    async def ask(questions: Sequence[str]) -> Answer:
        return await ask_in_turn(opened, questions)

    return [result async for result in evaluate(cases, ask)]


async def ask_in_turn(opened: Session, questions: Sequence[str]) -> Answer:
    """Ask several questions in one conversation that nobody keeps; return the last answer."""
    asked = AskOptions("", thread=secrets.token_hex(8))
    turns: tuple[Turn, ...] = ()
    answers: list[Answer] = []
    for text in questions:
        question = AskOptions(text, thread=asked.thread).question(opened.settings)
        answers.append(await opened.app.agent.answer(question, Conversation(thread=question.thread, turns=turns)))
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

    table = Table(title=f"{sum(result.passed for result in results)} of {len(results)} cases passed")
    for column in ("case", "kind", "question", "status", "cited", "not as expected"):
        table.add_column(column)
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
