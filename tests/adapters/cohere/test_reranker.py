"""How Cohere's scores become relevances."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.cohere import CohereReranker
from adapters.cohere.reranker import CALIBRATION
from core.errors import Misconfigured, RetrievalUnavailable
from tests.adapters.cohere.conftest import QUICK
from tests.builders import passage
from tests.servers.cohere import KEY, CohereServer
from tests.servers.service import Reply

TEXTS = ("Pancakes need flour.", "The robot arm moves.", "A robot hand is no robot arm at all.")


def results(*scores: tuple[Any, Any]) -> Reply:
    """An answer with these indexes and scores."""
    return Reply(200, {"id": "1", "results": [{"index": index, "relevance_score": score} for index, score in scores]})


async def test_relevances_come_in_the_order_of_the_passages(reranker: CohereReranker, server: CohereServer) -> None:
    """Cohere answers best first and by index; its scores are calibrated like a cosine."""
    server.faults.append(results((2, 0.9), (0, 0.3), (1, 0.0)))

    relevances = await reranker.rerank("robot", [passage(text) for text in TEXTS])

    assert relevances == [CALIBRATION.relevance(score) for score in (0.3, 0.0, 0.9)]


async def test_a_passage_about_something_else_has_the_lowest_relevance(reranker: CohereReranker) -> None:
    """Sharing words with the query counts more than sharing none."""
    relevances = await reranker.rerank("robot arm", [passage(text, page_title="P") for text in TEXTS])

    assert relevances[0] < relevances[1] == relevances[2]


async def test_a_passage_is_sent_under_its_heading(reranker: CohereReranker, server: CohereServer) -> None:
    """The heading says what the text is about."""
    await reranker.rerank("robot", [passage("It acts.")])

    assert server.received[0].body == {
        "model": "rerank-v3.5",
        "query": "robot",
        "documents": ["Robots › What they are\n\nIt acts."],
    }


async def test_more_than_a_thousand_passages_are_sent_in_parts(reranker: CohereReranker, server: CohereServer) -> None:
    """Cohere refuses more at once."""
    relevances = await reranker.rerank("robot", [passage(f"Text {number}.") for number in range(1_001)])

    assert (len(relevances), [len(request.body["documents"]) for request in server.received]) == (1_001, [1_000, 1])


async def test_no_passages_need_no_request(reranker: CohereReranker, server: CohereServer) -> None:
    """Cohere would refuse an empty list."""
    assert (await reranker.rerank("robot", []), server.received) == ([], [])


async def test_odd_text_is_ranked_without_a_crash(reranker: CohereReranker) -> None:
    """An empty query and half a character are replaced before they are sent."""
    assert len(await reranker.rerank("  ", [passage("\ud800"), passage("", page_title="", section_title="")])) == 2


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (results((0, 0.5)), "1 scores for 2 documents"),
        (results((0, 0.5), (0, 0.6)), "names a document twice"),
        (results((0, 0.5), (2, 0.6)), "one that was not sent"),
        (results((0, 0.5), (-1, 0.6)), "one that was not sent"),
        (results((0, 0.5), ("one", 0.6)), "one that was not sent"),
        (results((0, 0.5), (1, 1.5)), "not between 0 and 1"),
        (results((0, 0.5), (1, -0.1)), "not between 0 and 1"),
        (results((0, 0.5), (1, None)), "not between 0 and 1"),
        (Reply(200, b'{"results": [{"index": 0, "relevance_score": NaN}]}'), "not between 0 and 1"),
        (Reply(200, {"id": "1"}), "holds no results"),
        (Reply(200, {"results": ["a", "b"]}), "not Cohere's API"),
        (Reply(200, []), "not Cohere's API"),
    ],
)
async def test_scores_that_do_not_fit_are_no_ranking(
    reranker: CohereReranker, server: CohereServer, reply: Reply, sentence: str
) -> None:
    """A missing or doubled index, or a score out of bounds, is never guessed."""
    server.broken = reply

    with pytest.raises(RetrievalUnavailable, match=sentence):
        await reranker.rerank("robot", [passage(), passage()])


async def test_the_check_names_the_model_and_where_it_is(reranker: CohereReranker, server: CohereServer) -> None:
    """One word is ranked."""
    assert await reranker.check() == f"rerank-v3.5 at {server.url.removeprefix('http://')}"


async def test_the_check_says_which_model_is_unknown(server: CohereServer) -> None:
    """The setting of the reranker is named, not the embedder's."""
    reranker = CohereReranker("rerank-v9", api_key=KEY, base_url=server.url, retries=QUICK)

    with pytest.raises(Misconfigured, match=r"does not know the model rerank-v9\. Check COHERE_RERANK_MODEL"):
        await reranker.check()
    await reranker.aclose()
