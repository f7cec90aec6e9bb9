"""What goes to Cohere, and what is made of its vectors."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys

import pytest
from aiohttp import web

from adapters.cohere import CohereEmbedder, CohereReranker
from core.errors import EmbeddingUnavailable, Misconfigured
from core.model import Calibration
from tests.adapters.cohere.conftest import DIMENSION, QUICK
from tests.fakes.embedder import HashEmbedder
from tests.servers.cohere import KEY, CohereServer
from tests.servers.service import Hang, Received, Reply
from tests.waiting import wait_until


async def test_a_query_is_asked_for_as_a_query_and_in_base64(server: CohereServer, embedder: CohereEmbedder) -> None:
    """One request carries all that Cohere has to know."""
    await embedder.embed_query("What is a robot?")

    (request,) = server.received
    assert (request.method, request.path, request.headers["Authorization"]) == ("POST", "/v2/embed", f"Bearer {KEY}")
    assert request.body == {
        "model": "embed-v4.0",
        "texts": ["What is a robot?"],
        "input_type": "search_query",
        "embedding_types": ["base64"],
        "truncate": "END",
        "output_dimension": DIMENSION,
    }


async def test_passages_are_sent_as_documents_ninety_six_at_a_time(
    server: CohereServer, embedder: CohereEmbedder
) -> None:
    """Cohere refuses more than 96, and its client does not split them; the order stays."""
    texts = [f"passage number {number}" for number in range(200)]

    vectors = await embedder.embed_passages(texts)

    sizes = sorted(len(request.body["texts"]) for request in server.received)
    assert (sizes, {request.body["input_type"] for request in server.received}) == ([8, 96, 96], {"search_document"})
    expected = await HashEmbedder(DIMENSION, 512).embed_passages(texts)
    assert [list(vector) for vector in vectors] == [pytest.approx(vector, abs=1e-6) for vector in expected]


class CrowdServer(CohereServer):
    """Answers nothing before four requests are there, and counts how many are there at once."""

    def __init__(self) -> None:
        super().__init__()
        self.here = 0
        self.most = 0
        self._four = asyncio.Event()

    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Wait for the others."""
        self.here += 1
        self.most = max(self.most, self.here)
        if self.here == 4:
            self._four.set()
        await self._four.wait()
        self.here -= 1
        return await super().answer(request, received)


async def test_four_batches_are_on_the_way_at_once_and_no_more() -> None:
    """Many passages are embedded side by side, within a bound."""
    async with CrowdServer() as server:
        embedder = CohereEmbedder("embed-v4.0", dimension=DIMENSION, api_key=KEY, base_url=server.url)
        vectors = await embedder.embed_passages(["text"] * 96 * 8)
        await embedder.aclose()

    assert (len(vectors), len(server.received), server.most) == (96 * 8, 8, 4)


async def test_vectors_have_length_1_whatever_cohere_sends(embedder: CohereEmbedder) -> None:
    """The server's vectors are three times as long."""
    assert math.hypot(*await embedder.embed_query("robot arms")) == pytest.approx(1.0)


async def test_an_older_model_is_not_asked_for_a_dimension(server: CohereServer) -> None:
    """The models before embed-v4 have one dimension and refuse the question."""
    embedder = CohereEmbedder("embed-english-v3.0", dimension=1024, api_key=KEY, base_url=server.url)

    vector = await embedder.embed_query("robot")
    await embedder.aclose()

    assert (len(vector), "output_dimension" in server.received[0].body) == (1024, False)


async def test_empty_and_broken_text_is_replaced_before_it_is_sent(
    server: CohereServer, embedder: CohereEmbedder
) -> None:
    """Cohere refuses texts without anything in them, and JSON cannot hold half a character."""
    await embedder.embed_passages(["", " \n", "\u200b\ufeff", "\ud800 half"])

    assert server.received[0].body["texts"] == [".", ".", ".", "? half"]


async def test_a_text_too_long_is_cut_to_the_window(server: CohereServer, embedder: CohereEmbedder) -> None:
    """What is behind the window is not even sent."""
    await embedder.embed_passages(["robot " * 600, "x" * 50_000])

    assert server.received[0].body["texts"] == [("robot " * 512).rstrip(), "x" * 512 * 5]


async def test_cancelling_closes_the_connection(server: CohereServer, embedder: CohereEmbedder) -> None:
    """Nobody pays for an answer that nobody waits for."""
    server.broken = Hang()
    asking = asyncio.create_task(embedder.embed_query("robot"))
    await wait_until(lambda: bool(server.received), what="the request")
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)

    await asyncio.wait_for(server.hung_up.wait(), 1)


async def test_when_one_batch_fails_the_others_are_left(server: CohereServer, embedder: CohereEmbedder) -> None:
    """One request is refused; the rest is not waited for."""
    server.faults.append(Reply(401, {"message": "invalid api token"}))
    server.broken = Hang()

    with pytest.raises(EmbeddingUnavailable):
        await embedder.embed_passages(["text"] * 96 * 6)

    assert len(server.received) <= 4


async def test_a_closed_embedder_opens_again(embedder: CohereEmbedder) -> None:
    """Closing lets go of connections, of nothing else."""
    before = await embedder.embed_query("robot")
    await embedder.aclose()

    assert await embedder.embed_query("robot") == before


async def test_the_check_names_the_model_and_where_it_is(server: CohereServer, embedder: CohereEmbedder) -> None:
    """One word is embedded: that proves the key, the model and the dimension."""
    assert await embedder.check() == f"embed-v4.0 (256 dimensions) at {server.url.removeprefix('http://')}"
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("model", "dimension", "key", "sentence"),
    [
        ("embed-v4.0", 256, "wrong", "Cohere refused the key. Check COHERE_API_KEY."),
        ("embed-v4.0", 256, "", "Cohere refused the key. Check COHERE_API_KEY."),
        ("embed-v9", 256, KEY, "Cohere does not know the model embed-v9. Check COHERE_EMBED_MODEL."),
        ("embed-v4.0", 300, KEY, "Cohere refused the request. Check COHERE_EMBED_MODEL and COHERE_DIMENSION."),
        (
            "embed-english-v3.0",
            256,
            KEY,
            "Cohere's answer cannot be used: its vectors have 1024 dimensions instead of 256. Check COHERE_DIMENSION.",
        ),
    ],
)
async def test_the_check_says_which_setting_is_wrong(
    server: CohereServer, model: str, dimension: int, key: str, sentence: str
) -> None:
    """A wrong key, model or dimension is the operator's to change; a question gets the same sentence as unavailable."""
    embedder = CohereEmbedder(model, dimension=dimension, api_key=key, base_url=server.url, retries=QUICK)

    with pytest.raises(Misconfigured) as refused:
        await embedder.check()
    with pytest.raises(EmbeddingUnavailable) as unavailable:
        await embedder.embed_query("robot")
    await embedder.aclose()

    assert (str(refused.value), str(unavailable.value)) == (sentence, sentence)


async def test_the_client_reads_no_settings_of_its_own(
    server: CohereServer, monkeypatch: pytest.MonkeyPatch, embedder: CohereEmbedder
) -> None:
    """Neither another key nor another address is picked up."""
    for name in ("CO_API_KEY", "COHERE_API_KEY"):
        monkeypatch.setenv(name, "somebody-elses")
    monkeypatch.setenv("CO_API_URL", "http://127.0.0.1:9")

    await embedder.embed_query("robot")

    assert [request.headers["Authorization"] for request in server.received] == [f"Bearer {KEY}"]


def test_importing_and_making_the_adapters_loads_no_vendor() -> None:
    """Who does not ask Cohere does not pay for its client."""
    program = (
        "import sys\n"
        "from adapters.cohere import CohereEmbedder, CohereReranker\n"
        "CohereEmbedder('embed-v4.0', dimension=256, api_key='k'), CohereReranker('rerank-v3.5', api_key='k')\n"
        "print([name for name in ('cohere', 'httpx', 'numpy') if name in sys.modules])\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_a_measured_calibration_can_be_given() -> None:
    """The one in the code was never measured."""
    measured = Calibration(midpoint=0.4, slope=30.0)

    embedder = CohereEmbedder("embed-v4.0", dimension=256, api_key=KEY, calibration=measured)

    assert (embedder.calibration, embedder.name) == (measured, "embed-v4.0-256")
    assert CohereReranker("rerank-v3.5", api_key=KEY)
