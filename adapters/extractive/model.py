"""The model's side of the conversation: an answer made of quotes, and a search for each part of a joined question."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from adapters.extractive.quotes import (
    AskedWords,
    ScoredUnit,
    Source,
    candidates,
    choose,
    compose,
    fit,
    in_context,
    rarities,
    standing,
    word_fit,
)
from adapters.extractive.units import units
from core.answering.prompts import NOT_IN_DOCUMENTS, NOT_IN_SELECTION, read_passages, read_selection
from core.answering.smalltalk import is_small_talk, reply_to
from core.documents.excerpt import stems
from core.errors import EmbeddingUnavailable
from core.messages import QUOTES_ONLY
from core.model import ChatMessage, ModelTurn, Prompt, Restarted, TextDelta, ToolCall, ToolSpec
from core.ports import Embedder

NAME = "extractive"
NOTICE = f"_{QUOTES_ONLY}_"
MEANING = 0.6  # weight of the cosine against the share of words; set on the course book's questions
SELECTION_RELEVANCE = 0.5
MOST_PARTS = 3
MOST_COMPARED = 40  # units, of which each takes some milliseconds to embed
FLOOR = 0.3  # of the share of words, so that what a unit is counts where it holds none

_JOINT = re.compile(r"\b(?:and|versus|vs|compared? (?:to|with)|differs? from|or)\b\.?", re.IGNORECASE)


@dataclass
class ExtractiveModel:
    """Quotes the sentences that fit best, each with its mark; writes nothing of its own about the documents."""

    reads_history = False
    only_quotes = True
    most_tokens = 0
    context_tokens = None

    embedder: Embedder

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[ToolSpec], may_call: bool = True
    ) -> AsyncGenerator[TextDelta | Restarted | ModelTurn, None]:
        """Call the search tool where that may find more; then yield the answer paragraph by paragraph."""
        question, results, has_searched = _read(prompt.messages)
        is_first = all(each["role"] != "assistant" for each in prompt.messages)
        queries = _queries(question, results, is_first=is_first) if tools and may_call and not has_searched else []
        if queries:
            written = enumerate((json.dumps({"query": query}, ensure_ascii=False) for query in queries), start=1)
            calls = (ToolCall(id=f"call-{number}", name=tools[0].name, arguments=each) for number, each in written)
            yield ModelTurn("", tuple(calls), model=NAME)
            return
        written = ""
        for paragraph in await self._paragraphs(prompt, question, results):
            piece = f"\n\n{paragraph}" if written else paragraph
            written += piece
            yield TextDelta(piece)
        yield ModelTurn(written, model=NAME)

    async def _paragraphs(self, prompt: Prompt, question: str, results: list[dict[str, Any]] | None) -> list[str]:
        selection = read_selection(str(prompt.messages[-1]["content"]))
        if selection is not None:
            return await self._from_selection(*selection)
        if results is None:
            return [reply_to(question)]
        asked = AskedWords(question)
        sources = [
            Source(each["number"], each["score"], each["title"], each["section"], tuple(units(each["text"])), rank)
            for rank, each in enumerate(results)
        ]
        chosen = choose(asked, await self._scored(asked, sources))
        if not chosen:
            return [NOT_IN_DOCUMENTS]
        said = (each for each in prompt.messages if each["role"] == "assistant")
        is_noticed = any(NOTICE in str(each.get("content")) for each in said)  # not every answer says that it quotes
        return [*compose(asked, chosen), *([] if is_noticed else [NOTICE])]

    async def _from_selection(self, text: str, question: str) -> list[str]:
        """Quote the selection if a sentence of it has to do with the question."""
        asked = AskedWords(question)
        scored = await self._scored(asked, [Source(1, 1.0, "", "", tuple(units(text)))])
        cosines = await self._cosines(question, [item.unit.text for item in scored])
        calibration = self.embedder.calibration
        relevant = [
            item
            for item, cosine in zip(scored, cosines, strict=True)
            if (words := word_fit(asked.words, item.unit.text)) == 1
            or calibration.relevance(calibration.evidence(cosine, words)) >= SELECTION_RELEVANCE
        ]
        return compose(asked, choose(asked, relevant)) or [NOT_IN_SELECTION]

    async def _scored(self, asked: AskedWords, sources: Sequence[Source]) -> list[ScoredUnit]:
        """Score the units by meaning and words; of many, only those that words alone make likely."""
        found = candidates(asked, sources)
        held = rarities(in_context(*each) for each in found)
        weighed = [(fit(asked, *each, held, len(found)), standing(asked, *each), each) for each in found]
        weighed = sorted(weighed, key=lambda each: -(FLOOR + each[0]) * each[1])[:MOST_COMPARED]
        cosines = await self._cosines(asked.text, [in_context(*each) for *_, each in weighed])
        return [
            ScoredUnit(source, unit, (MEANING * cosine + (1 - MEANING) * words) * weight)
            for (words, weight, (source, unit)), cosine in zip(weighed, cosines, strict=True)
        ]

    async def _cosines(self, question: str, texts: Sequence[str]) -> list[float]:
        """Compare meaning; without the embedder, words alone have to do."""
        if not texts:
            return []
        try:
            wanted = await self.embedder.embed_query(question)
            vectors = await self.embedder.embed_passages(texts)
        except EmbeddingUnavailable:
            return [0.0] * len(texts)
        return [sum(map(mul, wanted, vector)) for vector in vectors]


def _queries(question: str, results: list[dict[str, Any]] | None, *, is_first: bool) -> list[str]:
    """Return what to search: the parts of a question that joins a few, of which one search may have found only some.

    Where nothing was searched it is the question, unless that is small talk.
    """
    if results is None:
        return [] if is_small_talk(question, is_first=is_first) else [question]
    if not results:
        return []
    parts = [part.strip(" ,") for part in _JOINT.split(question)]
    parts = [part for part in parts if stems(part)]
    return parts if 1 < len(parts) <= MOST_PARTS else []


def _read(messages: Sequence[ChatMessage]) -> tuple[str, list[dict[str, Any]] | None, bool]:
    """Return the newest question, what was found for it (None where nothing was searched), and whether we searched."""
    found: list[list[dict[str, Any]]] = []
    for message in reversed(messages):
        if message["role"] == "user":
            content = str(message["content"])
            given, question = read_passages(content) or (None, content)
            results = [*(given or ()), *(result for results in reversed(found) for result in results)]
            merged = {(result["number"], result["text"]): result for result in results}  # some are found again
            return question, list(merged.values()) if found or given is not None else None, bool(found)
        if message["role"] == "tool":
            data: dict[str, Any] = json.loads(message["content"])["data"] or {}
            found.append(data.get("results", []))
    return "", None, False
