"""Everything that goes wrong between Cohere and us, by name."""

from __future__ import annotations

import base64
import math
import struct
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from adapters.cohere import CohereEmbedder, CohereReranker
from core.errors import EmbeddingUnavailable, FootnoteError, Misconfigured, RetrievalUnavailable
from core.events import Event, Retried
from tests.adapters.cohere.conftest import DIMENSION, QUICK
from tests.builders import passage
from tests.servers.cohere import CohereServer, encoded
from tests.servers.service import Fault, Hang, Reply, Reset, Trickle

PASSING: dict[str, tuple[Fault, str]] = {
    "408": (Reply(408, {"message": "request time-out"}), "status 408"),
    "429 without Retry-After": (Reply(429, {"message": "slow down"}), "status 429"),
    "429 with Retry-After": (Reply(429, {"message": "slow down"}, {"Retry-After": "0"}), "status 429"),
    "429 with a nonsensical Retry-After": (Reply(429, {}, {"Retry-After": "soon"}), "status 429"),
    "500": (Reply(500, {"message": "oops"}), "status 500"),
    "502 in HTML": (Reply(502, "<html>Bad Gateway</html>", {"Content-Type": "text/html"}), "status 502"),
    "503": (Reply(503, {"message": "busy"}), "status 503"),
    "504": (Reply(504, {"message": "late"}), "status 504"),
    "reset": (Reset(), "connection"),
}
LASTING: dict[str, tuple[Reply, str, type[FootnoteError]]] = {
    "401": (Reply(401, {"message": "invalid api token"}), "Check COHERE_API_KEY", Misconfigured),
    "403": (Reply(403, {"message": "forbidden"}), "Check COHERE_API_KEY", Misconfigured),
    "402": (Reply(402, {"message": "payment required"}), "billing page", Misconfigured),
    "404": (Reply(404, {"message": "model not found"}), "Check COHERE_EMBED_MODEL", Misconfigured),
    "400 about the model": (Reply(400, {"message": "invalid model"}), "Check COHERE_EMBED_MODEL", Misconfigured),
    "422": (Reply(422, {"message": "input_type"}), "refused the request", Misconfigured),
    "501": (Reply(501, {"message": "not implemented"}), "status 501", EmbeddingUnavailable),
    "HTML with status 200": (Reply(200, "<html>Welcome</html>"), "Check COHERE_BASE_URL", Misconfigured),
    "a redirect": (Reply(307, "", {"Location": "http://127.0.0.1:9/"}), "Check COHERE_BASE_URL", Misconfigured),
    "429 with a long Retry-After": (
        Reply(429, {"message": "monthly limit"}, {"Retry-After": "3600"}),
        "request limit",
        EmbeddingUnavailable,
    ),
    "429 until a date": (
        Reply(429, {}, {"Retry-After": format_datetime(datetime.now(UTC) + timedelta(hours=1))}),
        "request limit",
        EmbeddingUnavailable,
    ),
}
VECTOR = [1.0] * DIMENSION


def floats(numbers: Sequence[float]) -> str:
    """Write numbers as base64."""
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def answer(*vectors: Any) -> dict[str, Any]:
    """An answer with these as base64."""
    return {"id": "1", "texts": [], "embeddings": {"base64": list(vectors)}}


UNUSABLE: dict[str, tuple[Any, str]] = {
    "wrong dimension": (answer(floats([1.0] * 7)), "have 7 dimensions instead of 256. Check COHERE_DIMENSION"),
    "half a number": (answer(base64.b64encode(b"abcdef").decode()), "have 1.5 dimensions instead of 256"),
    "too many": (answer(encoded(VECTOR), encoded(VECTOR)), "2 vectors for 1 texts"),
    "none": (answer(), "0 vectors for 1 texts"),
    "no base64": ({"id": "1", "embeddings": {"float": [VECTOR]}}, "no vectors in base64"),
    "no embeddings": ({"id": "1"}, "no vectors in base64"),
    "a list": ([], "not Cohere's API"),
    "null": (None, "no vectors in base64"),
    "not base64": (answer("%%%"), "are not base64"),
    "null in the list": (answer(None), "are not base64"),
    "NaN": (answer(floats([*VECTOR[:-1], math.nan])), "not a number"),
    "infinite": (answer(floats([*VECTOR[:-1], math.inf])), "not a number"),
    "zeros": (answer(floats([0.0] * DIMENSION)), "nothing but zeros"),
}


@pytest.mark.parametrize("name", PASSING)
async def test_a_failure_that_passes_is_tried_again(
    server: CohereServer, embedder: CohereEmbedder, events: list[Event], name: str
) -> None:
    """Two failures are survived, and told."""
    fault, reason = PASSING[name]
    server.faults.extend([fault, fault])

    assert len(await embedder.embed_query("robot")) == DIMENSION
    assert events == [Retried("embedder", 1, reason), Retried("embedder", 2, reason)]


@pytest.mark.parametrize("name", PASSING)
async def test_after_two_retries_it_is_unavailable(server: CohereServer, embedder: CohereEmbedder, name: str) -> None:
    """The third failure is the last, and the next call works again without a restart."""
    server.broken = PASSING[name][0]
    with pytest.raises(EmbeddingUnavailable):
        await embedder.embed_query("robot")
    asked = len(server.received)
    server.broken = None

    assert (asked, len(await embedder.embed_query("robot"))) == (3, DIMENSION)


@pytest.mark.parametrize("fault", [Hang(), Trickle(), Trickle(500)])
async def test_a_time_out_is_tried_again(
    server: CohereServer, hasty: CohereEmbedder, events: list[Event], fault: Fault
) -> None:
    """The client itself would let it through at once, or wait as long as a byte comes now and then."""
    server.faults.append(fault)

    assert len(await hasty.embed_query("robot")) == DIMENSION
    assert events == [Retried("embedder", 1, "time-out")]


async def test_an_endless_time_out_is_unavailable(server: CohereServer, hasty: CohereEmbedder) -> None:
    """Three tries, then a sentence."""
    server.broken = Hang()

    with pytest.raises(EmbeddingUnavailable, match=r"cannot be reached at 127\.0\.0\.1"):
        await hasty.embed_passages(["robot"])
    assert len(server.received) == 3


async def test_a_server_that_is_down_is_unavailable_until_it_is_back(
    server: CohereServer, embedder: CohereEmbedder
) -> None:
    """Nothing has to be started again on our side."""
    await embedder.embed_query("robot")
    await server.down()
    with pytest.raises(EmbeddingUnavailable, match="cannot be reached"):
        await embedder.embed_query("robot")
    await server.up()

    assert len(await embedder.embed_query("robot")) == DIMENSION


@pytest.mark.parametrize("name", LASTING)
async def test_a_failure_that_lasts_is_not_tried_again(
    server: CohereServer, embedder: CohereEmbedder, name: str
) -> None:
    """A question learns that embedding is unavailable; the check, whether somebody has to act. Each asks once."""
    fault, sentence, of_check = LASTING[name]
    server.broken = fault

    with pytest.raises(EmbeddingUnavailable, match=sentence):
        await embedder.embed_query("robot")
    with pytest.raises(of_check, match=sentence):
        await embedder.check()
    assert len(server.received) == 2


@pytest.mark.parametrize("name", UNUSABLE)
async def test_an_answer_that_holds_no_such_vectors_is_unavailable(
    server: CohereServer, embedder: CohereEmbedder, name: str
) -> None:
    """What cannot be a vector is never taken for one."""
    body, sentence = UNUSABLE[name]
    server.broken = Reply(200, body)

    with pytest.raises(EmbeddingUnavailable, match=sentence):
        await embedder.embed_passages(["robot"])


@pytest.mark.parametrize("name", [*PASSING, *LASTING])
async def test_a_reranker_that_fails_is_unavailable(server: CohereServer, reranker: CohereReranker, name: str) -> None:
    """It fails as the embedder does, under its own error."""
    server.broken = PASSING[name][0] if name in PASSING else LASTING[name][0]

    with pytest.raises(RetrievalUnavailable):
        await reranker.rerank("robot", [passage()])
    assert len(server.received) == (3 if name in PASSING else 1)


SECRET = "co-planted-secret"
ECHOES: dict[str, Fault] = {
    "refused": Reply(401, {"message": f"invalid api token: {SECRET}"}, {"X-Echo": SECRET}),
    "broken": Reply(500, {"message": f"Authorization: Bearer {SECRET}"}, {"X-Echo": SECRET}),
    "HTML": Reply(200, f"<html>{SECRET}</html>", {"X-Echo": SECRET}),
    "reset": Reset(),
}


def traces(error: BaseException) -> str:
    """Everything that an exception and what is behind it can be made to say."""
    chain: list[BaseException] = [error]
    for link in chain:
        chain.extend(one for one in (link.__cause__, link.__context__) if one is not None and one not in chain)
    words = [f"{link!r} {link} {link.args} {vars(link)}" for link in chain]
    return "\n".join([*traceback.format_exception(error), *words])


@pytest.mark.parametrize("name", ECHOES)
async def test_no_secret_is_in_what_is_raised(server: CohereServer, name: str) -> None:
    """The key does not show, even if the service or the client repeats it."""
    server.broken = ECHOES[name]
    embedder = CohereEmbedder("embed-v4.0", dimension=DIMENSION, api_key=SECRET, base_url=server.url, retries=QUICK)
    reranker = CohereReranker("rerank-v3.5", api_key=SECRET, base_url=server.url, retries=QUICK)

    said = [repr(embedder), repr(vars(embedder)), repr(reranker), repr(vars(reranker))]
    for call in (embedder.check(), embedder.embed_query("robot"), reranker.rerank("robot", [passage()])):
        with pytest.raises(FootnoteError) as raised:
            await call
        said.append(traces(raised.value))
    await embedder.aclose()
    await reranker.aclose()

    assert [SECRET in words for words in said] == [False] * 7
