"""The tool that searches the documents, for one question; it remembers what it gave the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any

from pydantic import Field

from core.answering.citations import Sources, cite
from core.answering.tools import ToolError
from core.documents.excerpt import excerpt
from core.errors import RetrievalUnavailable
from core.model import Citation, Hit, Question
from core.ports import Retriever

NEAREST = 3
NEAR = 0.05  # the relevance below which a section is not worth a look


@dataclass
class SearchTool:
    """Gives the model numbered passages above the question's threshold, and keeps count of all that was found."""

    retriever: Retriever
    question: Question
    sources: Sources
    _: KW_ONLY
    earlier: str
    excerpt_limit: int
    searched: bool = False
    failed: bool = False
    lexical_only: bool = False
    retrieval_time_ms: float = 0.0
    _found: dict[str, Hit] = field(default_factory=dict[str, Hit])

    async def search_documents(
        self,
        query: Annotated[str, Field(description="What to look for, as a full question or phrase that stands alone.")],
        top_k: Annotated[int | None, Field(description="How many passages to return, 1 to 20.")] = None,
        chapter: Annotated[str | None, Field(description="Search only this chapter, by its exact name.")] = None,
    ) -> Mapping[str, Any]:
        """Search the community's documents. Returns passages numbered for citing as [n], best first."""
        asked = self.question
        if not query.strip():
            raise ToolError("query is empty. Say what to look for.")
        limit = max(1, min(top_k or asked.top_k, asked.top_k))
        scope = asked.scope
        if scope.open_at is None:  # then nothing that is released after the question was asked
            scope = scope.model_copy(update={"open_at": asked.asked_at})
        if chapter and (not asked.scope.chapters or chapter in asked.scope.chapters):  # it stays within its chapters
            scope = scope.model_copy(update={"chapters": (chapter,)})
        self.searched = True
        try:
            result = await self.retriever.search(query, limit=limit, scope=scope, earlier=self.earlier)
        except RetrievalUnavailable:
            self.failed = True
            raise ToolError("The documents cannot be searched right now.") from None
        self.retrieval_time_ms += result.total_time_ms
        self.lexical_only = self.lexical_only or result.lexical_only
        if chapter and not result.hits:
            raise ToolError(f"Nothing can be found in a chapter {chapter!r}. Search again without a chapter.")
        for hit in (*result.hits, *result.nearest):
            known = self._found.get(hit.passage.source_url)
            if known is None or hit.score > known.score:
                self._found[hit.passage.source_url] = hit
        shown = [
            {
                "number": self.sources.add(hit),
                "text": excerpt(hit.passage.text, query, limit=self.excerpt_limit),
                "title": hit.passage.page_title,
                "section": hit.passage.section_title,
                "url": hit.passage.source_url,
                "score": round(hit.score, 2),
            }
            for hit in result.hits
            if hit.score >= asked.relevance_threshold
        ]
        return {"results": shown, "total": len(shown), "query": query}

    @property
    def nearest(self) -> tuple[Citation, ...]:
        """The closest sections of all searches, best first; none that have nothing to do with the question."""
        near = (hit for hit in self._found.values() if hit.score >= NEAR)
        best = sorted(near, key=lambda hit: -hit.score)[:NEAREST]
        return tuple(cite(hit, number) for number, hit in enumerate(best, start=1))
