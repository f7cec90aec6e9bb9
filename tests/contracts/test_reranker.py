"""What every reranker promises."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

import pytest
import pytest_asyncio

from adapters.cohere import CohereReranker
from core.ports import Reranker
from tests.builders import passage
from tests.servers.cohere import KEY, CohereServer

IMPLEMENTATIONS: dict[str, Callable[[str], Reranker]] = {
    "cohere": lambda url: CohereReranker("rerank-v3.5", api_key=KEY, base_url=url),
}
TEXTS = ("Pancakes need flour and milk.", "A gripper closes until it holds the cup.", "Calibrate the camera first.")


@pytest_asyncio.fixture(name="reranker", scope="module", loop_scope="module", params=IMPLEMENTATIONS)
async def _reranker(request: pytest.FixtureRequest) -> AsyncGenerator[Reranker]:
    """Give one implementation after the other, beside a server for those that need one."""
    async with CohereServer() as cohere:
        reranker = IMPLEMENTATIONS[request.param](cohere.url)
        yield reranker
        if isinstance(reranker, CohereReranker):
            await reranker.aclose()


@pytest.mark.asyncio(loop_scope="module")
async def test_each_passage_has_its_own_relevance_wherever_it_stands(reranker: Reranker) -> None:
    """The relevances follow the order of the passages, are between 0 and 1, and do not depend on the order."""
    passages = [passage(text) for text in TEXTS]

    forwards = await reranker.rerank("How does a gripper hold a cup?", passages)
    backwards = await reranker.rerank("How does a gripper hold a cup?", passages[::-1])

    assert list(forwards) == list(backwards)[::-1]
    assert [0 < relevance < 1 for relevance in forwards] == [True] * 3


@pytest.mark.asyncio(loop_scope="module")
async def test_the_passage_about_the_query_is_the_most_relevant(reranker: Reranker) -> None:
    """What the query asks for is above all else."""
    relevances = list(await reranker.rerank("when the gripper holds the cup", [passage(text) for text in TEXTS]))

    assert relevances.index(max(relevances)) == 1


@pytest.mark.asyncio(loop_scope="module")
async def test_nothing_to_rank_gives_nothing(reranker: Reranker) -> None:
    """No passages, no relevances."""
    assert list(await reranker.rerank("gripper", [])) == []


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("text", ["", " \n", "\ud800 half a pair", "\x00\x1b[31m", "\u200b", "🤖" * 600])
async def test_odd_text_is_ranked(reranker: Reranker, text: str) -> None:
    """Broken Unicode and empty text, as query or passage, get a relevance like any text."""
    assert len(await reranker.rerank(text, [passage(text), passage()])) == 2
