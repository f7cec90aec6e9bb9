"""What every embedder promises."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from adapters.cohere import CohereEmbedder
from adapters.minilm import MiniLM
from adapters.minilm.multilingual import Multilingual
from core.model import Vector
from core.ports import Embedder
from tests.fakes.embedder import HashEmbedder
from tests.servers.cohere import KEY, CohereServer

IMPLEMENTATIONS: dict[str, Callable[[Path, str], Embedder]] = {
    "hash": lambda _, __: HashEmbedder(),
    "minilm": lambda folder, _: MiniLM(folder, threads=2),
    "multilingual": lambda folder, _: Multilingual(folder, threads=2),
    "cohere": lambda _, url: CohereEmbedder("embed-v4.0", dimension=256, api_key=KEY, base_url=url),
}
PASSAGES = (
    "The camera is calibrated with a checkerboard, whose corners are found in several pictures.",
    "A gripper closes until its force sensor says that it holds the cup.",
    "",
    "Pancakes need flour, milk and two eggs; let the dough rest for half an hour.",
)


@pytest_asyncio.fixture(name="embedder", scope="module", loop_scope="module", params=IMPLEMENTATIONS)
async def _embedder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Embedder]:
    """Give one implementation after the other, beside a server for those that need one."""
    async with CohereServer() as cohere:
        embedder = IMPLEMENTATIONS[request.param](tmp_path_factory.mktemp("embedder"), cohere.url)
        yield embedder
        if isinstance(embedder, CohereEmbedder):
            await embedder.aclose()


def similarity(one: Vector, other: Vector) -> float:
    """Give the cosine of two vectors of length 1."""
    return sum(a * b for a, b in zip(one, other, strict=True))


@pytest.mark.asyncio(loop_scope="module")
async def test_vectors_have_the_promised_dimension_and_length_1(embedder: Embedder) -> None:
    """Whatever the text, its vector has `dimension` numbers and length 1."""
    vectors = [*await embedder.embed_passages(PASSAGES), *[await embedder.embed_query(text) for text in PASSAGES]]

    assert [(len(vector), math.hypot(*vector)) for vector in vectors] == [
        (embedder.dimension, pytest.approx(1.0, abs=1e-5))
    ] * 8


@pytest.mark.asyncio(loop_scope="module")
async def test_passages_keep_their_order_and_do_not_depend_on_one_another(embedder: Embedder) -> None:
    """Passages embedded together are, to the bit, the passages embedded alone, in the same order."""
    together = await embedder.embed_passages(PASSAGES)

    assert list(together) == [vector for text in PASSAGES for vector in await embedder.embed_passages([text])]


@pytest.mark.asyncio(loop_scope="module")
async def test_no_passages_give_no_vectors(embedder: Embedder) -> None:
    """Embedding nothing gives nothing."""
    assert list(await embedder.embed_passages([])) == []


@pytest.mark.asyncio(loop_scope="module")
async def test_a_query_is_nearest_to_the_passage_about_it(embedder: Embedder) -> None:
    """The passage that a question is about is nearer than all others."""
    query = await embedder.embed_query("How is the camera calibrated?")
    vectors = await embedder.embed_passages(PASSAGES)

    cosines = [similarity(query, vector) for vector in vectors]
    assert cosines.index(max(cosines)) == 0


@pytest.mark.asyncio(loop_scope="module")
async def test_what_is_behind_the_window_is_not_seen(embedder: Embedder) -> None:
    """A text that fills the window has the same vector whatever follows, and another if its last token differs."""
    full = " ".join(["robot"] * embedder.window)
    changed = " ".join([*["robot"] * (embedder.window - 1), "pancake"])
    whole, longer, other = await embedder.embed_passages([full, f"{full} {PASSAGES[3]}", changed])

    assert (embedder.count_tokens(full), longer == whole, other == whole) == (embedder.window, True, False)


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_blank_text_has_no_tokens(embedder: Embedder, text: str) -> None:
    """White space is not counted."""
    assert embedder.count_tokens(text) == 0


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("text", ["\ud800 half a pair", "\x00\x1b[31m\x7f", "\u200b\ufeff", "🤖" * 600, "x" * 50_000])
async def test_odd_text_is_counted_and_embedded(embedder: Embedder, text: str) -> None:
    """Broken Unicode, control characters and endless words get a vector like any text."""
    query, (passage,) = await embedder.embed_query(text), await embedder.embed_passages([text])

    assert embedder.count_tokens(text) >= 0
    assert (len(query), len(passage)) == (embedder.dimension, embedder.dimension)


@pytest.mark.asyncio(loop_scope="module")
async def test_queries_and_passages_can_be_embedded_at_once(embedder: Embedder) -> None:
    """Calls that overlap get what they would get alone."""
    alone = (await embedder.embed_passages(PASSAGES), await embedder.embed_query("Which dough rests?"))

    passages, query = await asyncio.gather(
        embedder.embed_passages(PASSAGES), embedder.embed_query("Which dough rests?")
    )

    assert (passages, query) == alone


def test_the_calibration_puts_the_boundary_at_a_possible_cosine(embedder: Embedder) -> None:
    """Some cosine between 0 and 1 has relevance 0.5, and relevance grows with the cosine."""
    curve = embedder.calibration

    assert 0.0 < curve.midpoint < 1.0
    assert curve.relevance(0.0) < curve.relevance(curve.midpoint) == 0.5 < curve.relevance(1.0)


@pytest.mark.parametrize("make", IMPLEMENTATIONS.values(), ids=IMPLEMENTATIONS)
def test_the_name_is_the_same_each_time(make: Callable[[Path, str], Embedder], tmp_path: Path) -> None:
    """The name does not depend on the process or the folder, so that an index is accepted by the next one."""
    assert make(tmp_path / "one", "http://one").name == make(tmp_path / "other", "http://other").name != ""
