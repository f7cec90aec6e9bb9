"""Test questions with what is expected of their answers, and the checks of what came."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from pydantic import ValidationError

from core.errors import InvalidInput
from core.model import Answer, Status, Value
from core.model.question import QuestionText

Kind: TypeAlias = Literal["single_topic", "across_modules", "follow_up", "out_of_scope", "not_in_documents"]
_WHOLE = re.compile(
    r"^[ \t]*(`{3,}|~{3,}).*?^[ \t]*\1[ \t]*$|^[ \t]*\|[^\n]*$", re.MULTILINE | re.DOTALL
)  # tables and code
_ENDING = re.compile(r"\.(?:mdx?|rst|html?|ipynb|txt|pdf|docx|pptx)$", re.IGNORECASE)  # of a file
_MARKUP = re.compile(r"[*_`\\]|\[\d+\]")
Ask: TypeAlias = Callable[[Sequence[str]], Awaitable[Answer]]
"""Asks several questions one after the other in one conversation, and returns the answer to the last."""
Find: TypeAlias = Callable[[Sequence[str]], Awaitable[Sequence[str] | None]]
"""Returns the addresses of the sections that are found for the last of several questions, best first; None without."""


class Case(Value):
    """One test question; `before` are the questions of the same conversation that come first.

    What is not asked of a case is not held against it. `chapters` all have to be cited, and `at_least_chapters` says
    how many different ones, whichever they are. Of `pages`, which are addresses of pages or sections or the ends of
    such, one has to be cited, and the search should find all. Of each entry of `must_contain` one has to be said;
    `most_characters` counts neither tables nor code, and 0 is no limit. The `reference` is an answer for people to
    compare, and what was *drafted* was written by nobody yet.
    """

    id: str
    kind: Kind = "single_topic"
    question: QuestionText
    before: tuple[QuestionText, ...] = ()
    chapters: tuple[str, ...] = ()
    at_least_chapters: int = 0
    pages: tuple[str, ...] = ()
    should_retrieve: bool | None = None
    should_cite: bool | None = None
    should_abstain: bool | None = None
    must_contain: tuple[str | tuple[str, ...], ...] = ()
    must_not_contain: tuple[str, ...] = ()
    most_characters: int = 0
    reference: str = ""
    drafted: Literal["", "from headings", "by the chat model"] = ""

    @property
    def should_answer(self) -> bool:
        """Whether it expects something that only an answer has."""
        has_content = bool(self.chapters or self.at_least_chapters or self.pages or self.must_contain)
        return self.should_abstain is False or self.should_cite is True or has_content

    def names(self, url: str) -> Sequence[str]:
        """Return those of the expected pages that an address is one of."""
        return [page for page in self.pages if is_of(page, url)]


class Result(Value):
    """What became of a case: each check by name, and the answer; `found` are the sections that a search found."""

    case: Case
    answer: Answer
    checks: dict[str, bool]
    found: tuple[str, ...] | None = None

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return all(self.checks.values())


def is_of(page: str, url: str) -> bool:
    """Return whether an address is that of an expected page, or of a section in it where none is named.

    That of a file ends in what kind it is of, which nobody has to write.
    """
    (url, _, place), (page, _, section) = url.partition("#"), page.partition("#")
    url, page = (_ENDING.sub("", each.strip("/")) for each in (url, page))
    return section in ("", place) and f"/{url}".endswith(f"/{page}")


def read_cases(lines: Iterable[str]) -> list[Case]:
    """Read one JSON case a line; `InvalidInput` names the first line that is none, or asks what nobody can ask."""
    cases: list[Case] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            cases.append(Case.model_validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            message = f"Line {number} of the cases cannot be used: {where}: {first['msg'].rstrip('.')}."
            raise InvalidInput(message, field="cases") from error
        if cases[-1].id in {case.id for case in cases[:-1]}:
            raise InvalidInput(f"Line {number} of the cases has the id of another one. Change it.", field="cases")
    if not cases:
        raise InvalidInput("The file contains no cases. Write one JSON object per line.", field="cases")
    return cases


async def evaluate(cases: Iterable[Case], ask: Ask, find: Find | None = None) -> AsyncIterator[Result]:
    """Ask each case's questions, check the last answer, and search where pages are expected."""
    for case in cases:
        questions = [*case.before, case.question]
        answer = await ask(questions)
        found = await find(questions) if find and case.pages else None
        checks = _checks(case, answer)
        yield Result(case=case, answer=answer, checks=checks, found=None if found is None else tuple(found))


def _checks(case: Case, answer: Answer) -> dict[str, bool]:
    """Compare what was expected with what came; case, space, emphasis and marks of the text do not matter."""
    cited = {citation.chapter for citation in answer.citations}
    searched = any(call.name == "search_documents" for call in answer.tool_calls)
    is_told = set(case.chapters) <= cited and len(cited) >= case.at_least_chapters
    has_abstained, short = answer.status is Status.NO_CONTEXT, len(_plain(_WHOLE.sub("", answer.text)))
    held: dict[str, tuple[object, bool]] = {  # whether it is asked, and whether it holds
        "retrieved": (case.should_retrieve is not None, case.should_retrieve == searched),
        "cited": (case.should_cite is not None, case.should_cite == bool(answer.citations)),
        "abstained": (case.should_abstain is not None, case.should_abstain == has_abstained),
        "no_failure": (True, not answer.is_failure),
        "chapter": (case.chapters or case.at_least_chapters, is_told),
        "page": (case.pages, any(case.names(citation.url) for citation in answer.citations)),
        "contains": (case.must_contain, not missing(case, answer.text)),
        "leaves_out": (case.must_not_contain, not unwanted(case, answer.text)),
        "is_short": (case.most_characters, short <= case.most_characters),
    }
    return {name: holds for name, (is_asked, holds) in held.items() if is_asked}


def missing(case: Case, text: str) -> Sequence[str]:
    """Return what a text has to say and does not, with a slash between texts of which one is enough."""
    said, wanted = _plain(text), ((each,) if isinstance(each, str) else each for each in case.must_contain)
    return [" / ".join(each) for each in wanted if not any(_plain(one) in said for one in each)]


def unwanted(case: Case, text: str) -> Sequence[str]:
    """Return what a text says and must not."""
    return [each for each in case.must_not_contain if _plain(each) in _plain(text)]


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub("", text).split()).casefold()
