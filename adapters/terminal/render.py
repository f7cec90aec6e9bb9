"""How an answer looks: as plain text, as Markdown for a screen, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from core.events import ErrorType
from core.model import Answer, Citation, Status, without_controls
from core.scanner import Mark, Scanner
from core.sentences import WARNING

_SEARCH_ERRORS: dict[Status, ErrorType] = {
    Status.NO_CONTEXT: "no_context",
    Status.UNAVAILABLE: "retrieval",
    Status.FAILED: "generation",
}


def plain(answer: Answer) -> str:
    """Give the answer and its sources as lines of text."""
    parts = [f"{WARNING} {answer.text}" if answer.is_failure or answer.lexical_only else answer.text]
    if answer.citations:
        parts.append("Sources:\n" + "\n".join(source_line(citation) for citation in answer.citations))
    if answer.nearest:
        parts.append("Nearest sections:\n" + "\n".join(nearest_line(citation) for citation in answer.nearest))
    return without_controls("\n\n".join(parts))


def source_line(citation: Citation) -> str:
    """Give one source: number, title › section, address, score."""
    address = f" {citation.url}" if citation.url else ""
    return f"[{citation.number}] {citation.heading}{address} ({citation.relevance_score:.2f})"


def nearest_line(citation: Citation) -> str:
    """Give one of the nearest sections, which has no number in the text."""
    return f"- {citation.heading} {citation.url} ({citation.relevance_score:.2f})"


def linked(text: str, citations: Sequence[Citation]) -> str:
    """Make each `[n]` of the text a Markdown link to its source; code is left alone."""
    urls = {f"[{citation.number}]": citation.url for citation in citations if citation.url}
    scanner = Scanner()
    return "".join(
        f"[\\[{token.text[1:-1]}\\]](<{urls[token.text]}>)"
        if isinstance(token, Mark) and token.text in urls
        else token.text
        for token in [*scanner.feed(text), *scanner.finish()]
    )


def as_json(answer: Answer) -> dict[str, Any]:
    """Give the answer as the JSON object that `--json` promises."""
    error = _SEARCH_ERRORS.get(answer.status)
    return {
        "answer": answer.text,
        "status": answer.status.value,
        "sources": [_source(citation) for citation in answer.citations],
        "has_relevant_context": answer.has_relevant_context,
        "nearest": [_source(citation) for citation in answer.nearest],
        "tool_calls": [call.model_dump() for call in answer.tool_calls],
        "usage": {**answer.usage.model_dump(), "cost": answer.cost},
        "retrieval_time_ms": answer.retrieval_time_ms,
        "generation_time_ms": answer.generation_time_ms,
        "total_time_ms": answer.total_time_ms,
        "error": {"error_type": error, "message": answer.text} if error else None,
    }


def failure_as_json(status: Status, error_type: ErrorType, message: str) -> dict[str, Any]:
    """Give the same keys for a question that never came to an answer."""
    nothing = as_json(Answer(id="none", text="", status=status))
    return {**nothing, "error": {"error_type": error_type, "message": message}}


def _source(citation: Citation) -> dict[str, Any]:
    return {
        "number": citation.number,
        "title": citation.title,
        "chapter": citation.chapter,
        "section": citation.section,
        "url": citation.url,
        "relevance_score": round(citation.relevance_score, 2),
    }


def one_line(text: str, limit: int) -> str:
    """Give *text* on one line, cut to *limit* characters."""
    line = re.sub(r"\s+", " ", without_controls(text)).strip()
    return line if len(line) <= limit else line[: limit - 1] + "…"
