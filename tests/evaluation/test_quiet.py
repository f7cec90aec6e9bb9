"""The situations of `quiet_*.jsonl`: what people say in threads of the bot's, to it and to each other."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from adapters.minilm import MiniLM
from adapters.qdrant import EdgeIndex
from bench.quiet import PARTS, found, judged, situations
from core.documents.retrieval import HybridRetriever
from tests.fixtures.commands import copy_data


@pytest.fixture(name="retriever")
async def _retriever(ingested_docs: Path, tmp_path: Path) -> AsyncGenerator[HybridRetriever]:
    """Search these pages, which half of the sixth part is about."""
    data = copy_data(ingested_docs, tmp_path / "data")
    embedder = MiniLM(data / "models")
    index = EdgeIndex(data / "index", embedder=embedder.name, dimension=embedder.dimension)
    yield HybridRetriever(embedder, index, clock=time.monotonic)
    await index.aclose()


@pytest.mark.promise("quiet-among-people")
def test_people_are_left_alone_and_questions_are_answered() -> None:
    """No more of all situations are mistaken than when the rule was judged; what is said to the bot is answered."""
    people, direct, among = judged(PARTS)

    assert [people.all, direct.all, among.all] == [1496, 214, 1062]
    assert [len(people.answered) <= 10, len(direct.answered), len(among.answered) >= 979] == [True, 214, True]


@pytest.mark.promise("quiet-among-people")
async def test_with_search_hardly_anybody_is_interrupted_and_a_model_sees_what_may_be_a_question(
    retriever: HybridRetriever,
) -> None:
    """At most 2 % of what people say is answered so; a model judges at most half of it, and 95 % of the questions.

    Without it those questions that these pages answer are answered.
    """
    people, _, among = judged(["sixth"])
    interrupted, answered = [await found(retriever, kind) for kind in (people, among)]
    remarks, _, questions = judged(["sixth"], judges=True)
    seen, reached = [await found(retriever, kind, judges=True) for kind in (remarks, questions)]

    assert interrupted.share <= 2
    assert len(answered.answered) >= 10
    assert seen.share <= 50
    assert reached.share >= 95


@pytest.mark.parametrize("part", PARTS)
def test_half_of_the_situations_are_people_among_themselves(part: str) -> None:
    """In each part, and in many languages; hardly any situation is in two of them."""
    found = situations(part)

    assert sum(not each.is_for_bot for each in found) >= len(found) / 2
    assert len({each.language for each in found}) >= (15 if len(found) > 120 else 10)
    texts = [(each.text, each.comes_from, each.after) for other in PARTS for each in situations(other)]
    assert len(set(texts)) >= len(texts) - 9
