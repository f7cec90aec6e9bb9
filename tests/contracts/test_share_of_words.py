"""What every index says of the words of a query: how much of them a passage has, whatever else there is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.model import IndexQuery
from core.ports import PassageIndex
from tests.contracts.test_passage_index import EMBEDDER, INDEXES, page, put


@pytest.fixture(name="index", params=INDEXES, ids=lambda make: make.__name__)
async def _index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[PassageIndex]:
    """An empty index of each kind."""
    async with request.param(tmp_path) as index:
        yield index


async def share(index: PassageIndex, text: str) -> float:
    """Give the share of the words of a query that the best passage has."""
    found = await index.candidates(IndexQuery(text, None), limit=5)
    return max((each.lexical or 0.0 for each in found), default=0.0)


@pytest.mark.promise("abstains")
async def test_a_passage_with_all_words_has_the_whole_share(index: PassageIndex) -> None:
    """One that lacks some has less, and one that lacks most has little."""
    await put(index, page("a", "Grippers hold fruit.", "Wheels turn.", "Legs walk."))

    whole, most, some = [
        await share(index, text)
        for text in ("grippers hold fruit", "grippers hold zeppelins", "grippers moor zeppelins")
    ]

    assert whole == pytest.approx(1.0)
    assert 0.1 < some < most < 0.8


async def test_words_that_are_there_once_in_a_long_passage_are_held(index: PassageIndex) -> None:
    """However little they weigh there, and by whichever list the passage was found."""
    text = "Grippers hold fruit. " + "Wheels turn around their axles, and legs walk over stones. " * 9
    await put(index, page("a", text, "Grippers, grippers, grippers.", "Legs walk."))

    vector = await EMBEDDER.embed_query("grippers hold fruit")
    found = {
        each.passage.text: each for each in await index.candidates(IndexQuery("grippers hold fruit", vector), limit=5)
    }

    assert found[text].held == pytest.approx(1.0)
    assert 0.1 < found["Grippers, grippers, grippers."].held < 0.5
    assert found["Legs walk."].held == 0.0


async def test_the_title_of_a_page_has_a_share_of_its_own(index: PassageIndex) -> None:
    """All passages of the page have it, whatever they say themselves, and by whichever list they were found."""
    titles = ("Grippers that hold fruit", "Grippers", "Wheels")
    for number, title in enumerate(titles):
        await put(index, page(f"page {number}", "Grippers hold fruit.", "Fruit falls.", page_title=title))

    async def named(text: str, *, by_meaning: bool = True) -> list[set[float]]:
        vector = await EMBEDDER.embed_query(text) if by_meaning else None
        found = await index.candidates(IndexQuery(text, vector), limit=10)
        return [{round(each.named, 6) for each in found if each.passage.page_title == title} for title in titles]

    (whole,), (some,), (none,) = await named("grippers hold fruit")
    assert (whole, none) == (1.0, 0.0)
    assert 0.1 < some < 0.8
    assert await named("grippers hold fruit", by_meaning=False) == [{whole}, {some}, {none}]
    assert await named("zeppelins") == [{0.0}, {0.0}, {0.0}]


async def test_a_word_that_has_come_is_no_longer_one_of_no_passage(index: PassageIndex) -> None:
    """What the words weigh is not remembered beyond a change of the documents."""
    await put(index, page("a", "Grippers hold fruit."))
    before = await share(index, "grippers moor zeppelins")
    await put(index, page("b", "Masts moor zeppelins and grippers."))

    assert before < 0.5
    assert await share(index, "grippers moor zeppelins") > 0.8
