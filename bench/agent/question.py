"""The question that everybody is asked, with passages of our own documentation and an answer of 300 tokens."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime
from pathlib import Path

from bench.agent.job import Job, Tool
from core.answering import tools
from core.answering.citations import Sources
from core.answering.prompts import INSTRUCTIONS, opening
from core.answering.tools import SearchTool
from core.model import Hit, MessageRef, Outline, Passage, Person, Question, Scope, SearchResult, ThreadRef, Waiting

TEXT = "How does Footnote make sure that what it says comes from the documents?"
TOKENS = 300
_DOCS = Path(__file__).resolve().parents[2] / "docs"
_PAGES = ("answers", "architecture", "asking", "ingesting", "troubleshooting")
_CHARACTERS = 900  # of a passage: about what one of 240 tokens has, and more than an excerpt may have
_SENTENCES = """\
**In short:** every statement comes from a passage that was found for this very question [1]. The numbers are given by \
the program, from what the search returned, and not by the model that writes [1][2]; `top_k` says how many [2].

- It searches by meaning and by words at the same time, and keeps what is relevant enough [2].
- A number that belongs to no passage is taken out of the text; so is an address that the documents do not hold [1].
- The same section cited twice has one number, in the order of the text [3].

If nothing relevant is found, it says so, lists the nearest sections, and does not answer from memory \
[1][4]. The score is absolute: 0.5 is the boundary, and above it a passage is more likely relevant than not [5].

"""
_TOKEN = re.compile(r"\s*(?:[A-Za-z]{1,9}|\d{1,3}|[^\w\s]{1,2}|_)|\s+")


class Shelf:
    """Finds the same passages, whatever is looked for."""

    async def search(
        self,
        query: str,
        *,
        limit: int,
        scope: Scope,
        earlier: str = "",
        is_about_both: bool = False,
        waiting: Waiting | None = None,
    ) -> SearchResult:
        """Give all of them."""
        return SearchResult(query, _HITS[:limit], len(_HITS), query_time_ms=0, search_time_ms=0, total_time_ms=0)

    async def outline(self, scope: Scope, *, waiting: Waiting | None = None) -> Outline:
        """Give nothing: nobody asks for it."""
        return Outline(passages=0, pages=0, sources=(), chapters=())


def _hit(rank: int, page: str) -> Hit:
    said = re.sub(r"\[\d\]|\*\*|`", "", _SENTENCES)  # or the statements would belong to no passage, and be told so
    text = said + (_DOCS / f"{page}.md").read_text("utf-8").split("\n\n", 1)[1][:_CHARACTERS]
    title, url = page.capitalize(), f"https://docs.example/{page}"
    passage = Passage(
        passage_id=page,
        source="docs",
        page_url=url,
        source_url=f"{url}#beginning",
        page_title=title,
        section_title="Beginning",
        chapter="",
        text=text,
        position=0,
        page_length=1,
        content_hash="",
    )
    return Hit(passage, 0.9 - rank / 20)


_HITS = tuple(_hit(rank, page) for rank, page in enumerate(_PAGES))


def question() -> Question:
    """Give the question as a surface would put it."""
    thread = ThreadRef(platform="bench", workspace="w", channel="c", thread="t")
    return Question.create(
        message=MessageRef(thread=thread, id="m"),
        text=TEXT,
        author=Person(id="p", name="Ada"),
        asked_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def tokens(text: str) -> list[str]:
    """Cut text about as a model's vocabulary does: words with the space before them, short numbers, marks."""
    return _TOKEN.findall(text)


def job(length: int = TOKENS) -> Job:
    """Give the job, with instructions, tool and passages as our own agent gives them to the model."""
    search = SearchTool(Shelf(), question(), Sources(), excerpt_limit=500)
    found = asyncio.run(search.search_documents("how statements come from the documents"))
    text = json.dumps({"success": True, "data": found, "error": None}, ensure_ascii=False)
    spec = tools.Tool(search.search_documents).spec
    tool = Tool(spec.name, spec.description, spec.parameters, text)
    answer = "".join(tokens(_SENTENCES * 3)[:length])
    given = str(opening(question(), (), search.results).messages[-1]["content"])
    return Job(url="", instructions=INSTRUCTIONS, question=TEXT, given=given, tool=tool, answer=answer)
