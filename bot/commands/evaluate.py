"""`footnote evaluate`: test questions with what is expected of their answers, and a report of how the answers do."""

from __future__ import annotations

import secrets
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from bot.commands.ask import AskOptions, check_scope, thread_ref
from bot.commands.session import Session, session
from bot.evaluation.cases import Case, Result, evaluate, read_cases
from bot.evaluation.measures import NDCG_AT
from bot.evaluation.report import Comparison, EvaluationRun, KnownRun, differences, measures_of
from bot.outcome import OK
from core.answering.context import earlier_questions, stands_alone
from core.errors import InvalidInput, ModelUnavailable, RetrievalUnavailable
from core.messages import counted
from core.model import EVERYTHING, Answer, Conversation, MessageRef, Scope, Turn, Usage, without_controls

Item = TypeVar("Item")
FOUND = 50  # passages, among which are several of one section
WORSE = 1  # the code, where a measure is worse than in an earlier run


@dataclass(frozen=True, slots=True)
class Reporting:
    """How an evaluation is told: as JSON, as a page in a file, and beside an earlier report."""

    as_json: bool = False
    html: Path | None = None
    against: Path | None = None
    margin: float = 0.05


def evaluate_cases(path: Path, telling: Reporting) -> int:
    """Ask every case and print the report; the code is 0 also where answers fall short, since that is the report.

    It is 1 where a measure is worse than that of an earlier run by more than the margin.
    """
    try:
        with path.open(encoding="utf-8-sig") as lines:  # unlike splitlines(), it leaves a U+2028 inside of a text alone
            cases = read_cases(lines)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The cases in {path} cannot be read. Check the path.", field="cases") from error
    if telling.html is not None and (telling.html in (path, telling.against) or not telling.html.parent.is_dir()):
        raise InvalidInput(f"The page cannot be written to {telling.html}. Name another file.", field="html")
    known = KnownRun.read(telling.against) if telling.against is not None else None
    if known is not None:
        known.values_of(cases)  # before anybody waits for answers
    with session("footnote evaluate") as opened:
        run = EvaluationRun(opened.run(_evaluate(opened, cases)), datetime.now(UTC).replace(microsecond=0))
    comparison = run.against(known, telling.margin) if known is not None else None
    if telling.as_json:
        sys.stdout.write(run.as_json(comparison) + "\n")
    else:
        _print(run, comparison)
    if telling.html is not None:
        from bot.evaluation.page import page

        _write(telling.html, page(run, comparison))
    return WORSE if comparison is not None and comparison.worse else OK


def draft_cases(path: Path, most: int) -> int:
    """Write so many cases to begin with into a new file; where the chat model fails, those that it has drafted.

    Raises `InvalidInput` if the file is there already, or its folder is not.
    """
    if path.exists():
        raise InvalidInput(f"{path} is there already. Name a new file.", field="cases")
    if not path.parent.is_dir():
        raise InvalidInput(f"There is no folder {path.parent} to write {path.name} into. Make it first.", field="cases")

    with session("footnote evaluate") as opened:
        cases, trouble = opened.run(_drafted(opened, most))
    if not cases:
        raise InvalidInput(
            "Nothing was found to ask about: no section has a heading of its own. Read more documents first.",
            field="cases",
        )
    lines = (case.model_dump_json(exclude_defaults=True) for case in cases)
    _write(path, "".join(f"{line}\n" for line in lines))
    how = " and ".join(sorted({case.drafted for case in cases}))
    number = counted(len(cases), "case")
    sys.stdout.write(f"{path} has {number}, drafted {how}. Read them, and change what nobody would ask.\n")
    if trouble:
        sys.stderr.write(f"Then it failed: {trouble}\n")
    return OK


async def _drafted(opened: Session, most: int) -> tuple[Sequence[Case], str]:
    """Return the cases, and what kept the chat model from more. Raises `ModelUnavailable` if there are none."""
    from bot.evaluation.drafts import drafts, passages

    check_scope(await opened.app.index.outline(), Scope())
    model = opened.app.agent.model if opened.settings.has_chat_model else None
    found, cases = await passages(opened.app.agent.retriever, most), list[Case]()
    try:
        async for case in _shown("Drafting", len(found), drafts(found, model)):
            cases.append(case)
    except ModelUnavailable as error:
        if not cases:
            raise
        return cases, str(error)
    return cases, ""


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written. Check the path.", field="path") from error


async def _evaluate(opened: Session, cases: Sequence[Case]) -> list[Result]:
    check_scope(await opened.app.index.outline(), Scope())
    ask, find = partial(ask_in_turn, opened), partial(found_in_turn, opened)
    return [result async for result in _shown("Asking", len(cases), evaluate(cases, ask, find))]


async def _shown(doing: str, total: int, items: AsyncIterator[Item]) -> AsyncIterator[Item]:
    """Yield the items, and show in a terminal how many of them there are by now."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(doing, total=total)
        async for item in items:
            yield item
            progress.advance(task)


async def ask_in_turn(opened: Session, questions: Sequence[str]) -> Answer:
    """Ask several questions in one conversation that nobody keeps; return the last answer."""
    thread, answers = secrets.token_hex(8), list[Answer]()
    for number, text in enumerate(questions):
        question = AskOptions(text, thread=thread).question(opened.settings)
        before = _conversation(questions[:number], [answer.text for answer in answers])
        answers.append(await opened.app.agent.answer(question, before))
    return answers[-1]


def _conversation(questions: Sequence[str], answers: Sequence[str] = ()) -> Conversation:
    thread, now = thread_ref(secrets.token_hex(8)), datetime.now(UTC)
    said = zip_longest(questions, answers, fillvalue="")
    turns = (
        Turn(question_ref=MessageRef(thread=thread, id=str(number)), question=question, answer=answer, at=now)
        for number, (question, answer) in enumerate(said)
    )
    return Conversation(thread=thread, turns=tuple(turns))


async def found_in_turn(opened: Session, questions: Sequence[str]) -> Sequence[str] | None:
    """Return the sections that a search finds for the last of several questions, best first; None while it is down."""
    *before, text = questions
    earlier = "" if stands_alone(text) else earlier_questions(_conversation(before))
    try:
        found = await opened.app.agent.retriever.search(text, limit=FOUND, scope=EVERYTHING, earlier=earlier)
    except RetrievalUnavailable:
        return None
    return [*dict.fromkeys(hit.passage.source_url for hit in found.hits)][:NDCG_AT]


def _print(run: EvaluationRun, comparison: Comparison | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("case", "kind", "question", "status", "cited", "not as expected")
    table.title = f"{run.passed} of {len(run.results)} cases passed"
    for result in run.results:
        chapters = Counter(citation.chapter for citation in result.answer.citations)
        wrong = ", ".join(name for name, held in result.checks.items() if not held)
        case, status = result.case, result.answer.status.value
        cells = case.id, case.kind, case.question, status, ", ".join(chapters), wrong or "-"
        table.add_row(*(Text(without_controls(each)) for each in cells))  # in which nothing is markup
    console = Console()
    console.print(table)
    tables = [("Measures", measures_of(run))] + ([("Compared", differences(comparison))] if comparison else [])
    for title, (head, *rows) in tables:
        shown = Table(*head, title=title)
        for row in rows:
            shown.add_row(*row)
        console.print(shown)
    if spent := _spent([result.answer for result in run.results]):
        console.print(spent, highlight=False)
    if comparison is not None:
        console.print(comparison.said, highlight=False)


def _spent(answers: Sequence[Answer]) -> str:
    """Return how many tokens the last answers of all cases took, and what they cost; nothing if no model was asked."""
    usage = sum((answer.usage for answer in answers), Usage())
    if not usage.prompt_tokens:
        return ""
    tokens = f"{usage.prompt_tokens} prompt tokens ({usage.cached_tokens} cached), {usage.completion_tokens} of answers"
    costs = [answer.cost for answer in answers if answer.cost is not None]
    return f"{tokens}, cost {sum(costs):.4f}" if costs else tokens
