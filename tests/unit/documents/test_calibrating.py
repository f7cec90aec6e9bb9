"""Measuring where relevance begins with the documents that are there."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from core.documents.calibrating import FEWEST, FOREIGN, curves, fit
from core.documents.chunking import embedding_text
from core.errors import InvalidInput
from core.model import Calibration, EmbeddedPassage, Passage
from tests.builders import passage
from tests.fakes.embedder import HashEmbedder
from tests.fakes.index import MemoryIndex

WORDS = ("gripper", "wheel", "leg", "camera", "battery", "motor", "joint", "sensor", "arm", "cable")


async def documents(sections: int) -> MemoryIndex:
    """Fill an index with so many sections under headings of their own, that share a word with what others ask."""
    index, embedder = MemoryIndex(), HashEmbedder()
    for number in range(sections):
        heading = f"The {WORDS[number % 10]} number{number}"
        url = f"https://docs.example/{number}"
        one = passage(f"{heading} is how robots act.", url=url, passage_id=str(uuid.uuid5(uuid.NAMESPACE_URL, url)))
        one = replace(one, section_title=heading)
        [vector] = await embedder.embed_passages([embedding_text(one)])
        await index.replace("docs", url, [EmbeddedPassage(one, vector)])
    return index


class HalfReranker:
    """Is sure of what shares the query's last word, and nearly sure of the contrary of all else."""

    name, calibration = "half", Calibration(midpoint=0.2, slope=10.0)

    async def rerank(self, query: str, passages: Sequence[Passage]) -> Sequence[float]:
        """Score as a model would whose scores are .9 and .1."""
        return [self.calibration.relevance(0.9 if query.rpartition(" ")[2] in one.text else 0.1) for one in passages]


async def test_headings_are_told_from_other_questions() -> None:
    """The boundary that was measured lies between both, for the embedder and for the reranker."""
    measured = await curves(await documents(40), HashEmbedder(), HalfReranker())

    assert [curve.name for curve in measured] == [HashEmbedder().name, "half"]
    for curve in measured:
        right, foreign = curve.shares(curve.fitted, 0.5)
        assert len(curve.foreign) == len(FOREIGN)
        assert right > 0.9
        assert foreign < 0.1
    assert 0.1 < measured[1].fitted.midpoint < 0.9


async def test_fewer_pass_a_higher_threshold() -> None:
    """The curve falls from nearly all to few."""
    [curve] = await curves(await documents(40), HashEmbedder(), None)

    shares = [curve.shares(curve.fitted, number / 10) for number in range(1, 10)]

    assert all(one[0] >= other[0] and one[1] >= other[1] for one, other in pairwise(shares))


async def test_too_few_documents_are_not_measured_with() -> None:
    """What a handful of headings say means nothing."""
    with pytest.raises(InvalidInput, match=f"and {FEWEST} are needed"):
        await curves(await documents(FEWEST - 1), HashEmbedder(), None)


@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_a_curve_lies_between_both_kinds(gap: float) -> None:
    """Also where nothing lies between them, and it could be as steep as one likes."""
    right, wrong = [0.5 + gap + each / 100 for each in range(20)], [0.4 + each / 100 for each in range(20)]

    midpoint, slope = fit(right, wrong)

    assert 0.5 < midpoint < 0.6 + gap
    assert 0 < slope <= 40


@pytest.mark.parametrize("rise", [None, 5.0])
def test_what_a_relevance_was_made_of_can_be_had_back(rise: float | None) -> None:
    """On both sides of the boundary."""
    curve = Calibration(midpoint=0.4, slope=20.0, rise=rise)

    assert [curve.evidence_of(curve.relevance(each)) for each in (0.1, 0.4, 0.8)] == pytest.approx([0.1, 0.4, 0.8])
