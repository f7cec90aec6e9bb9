"""What embedding by Cohere costs whoever waits beside it, and how well its tokens are estimated.

`python -m bench.cohere`. A server in another process answers at once with vectors that were made before; nothing here
says how quick or how good Cohere is. On a busy machine the lag is that of the machine; the CPU time is ours.
"""

from __future__ import annotations

import asyncio
import base64
import json
import multiprocessing
import random
import statistics
import struct
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from aiohttp import web

from adapters.cohere import CohereEmbedder
from adapters.cohere.embedder import count_tokens
from adapters.minilm.embedder import WordPieces
from bench.corpora import need
from bench.report import Row, at_least, at_most, print_rows

PASSAGES = 960
DIMENSION = 1536
ROUNDS = 5
TICK = 0.001
LAG = 20.0
PIECE = 1_500


def serve(address: Connection) -> None:
    """Answer every request for embeddings with as many random vectors as there are texts."""

    async def answer(request: web.Request) -> web.Response:
        texts = (await request.json())["texts"]
        body = {"id": "1", "texts": texts, "embeddings": {"base64": vectors[: len(texts)]}}
        return web.Response(body=json.dumps(body).encode(), content_type="application/json")

    async def run() -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v2/embed", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address.send(f"http://127.0.0.1:{runner.addresses[0][1]}")
        await asyncio.Event().wait()

    numbers = [[random.uniform(-1, 1) for _ in range(DIMENSION)] for _ in range(96)]
    vectors = [base64.b64encode(struct.pack(f"<{DIMENSION}f", *vector)).decode() for vector in numbers]
    asyncio.run(run())


@dataclass(frozen=True, slots=True)
class Lags:
    """By how many ms each sleep of one ms was late; and how many the loop's thread worked meanwhile."""

    late: list[float] = field(default_factory=list[float])
    busy: list[float] = field(default_factory=list[float])


async def lags(work: Callable[[], Awaitable[object]], into: Lags) -> float:
    """Do the *work*, sleeping beside it again and again; give the seconds it took."""

    async def tick() -> None:
        while True:
            begun, worked = time.perf_counter(), time.thread_time()
            await asyncio.sleep(TICK)
            into.late.append((time.perf_counter() - begun - TICK) * 1_000)
            into.busy.append((time.thread_time() - worked) * 1_000)

    ticking = asyncio.create_task(tick())
    begun = time.perf_counter()
    await work()
    took = time.perf_counter() - begun
    ticking.cancel()
    return took


def percentile(values: list[float], share: float) -> float:
    """Give the value that *share* of all do not exceed."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


async def embedding(url: str) -> list[Row]:
    """Embed passages several times; the first call, which imports the client, is told apart."""
    text = "The Jacobian maps joint velocities to the velocity of the hand. " * 24
    texts = [f"{number} {text}" for number in range(PASSAGES)]
    embedder = CohereEmbedder("embed-v4.0", dimension=DIMENSION, api_key="none", base_url=url)
    idle, first, lag = Lags(), Lags(), Lags()
    await lags(lambda: asyncio.sleep(1), idle)
    opening = await lags(lambda: embedder.embed_query("first"), first)
    times = [await lags(lambda: embedder.embed_passages(texts), lag) for _ in range(ROUNDS)]
    await embedder.aclose()
    what = f"{PASSAGES} passages of {DIMENSION} numbers"
    return [
        at_most(f"{what}: lag of the event loop, p99", percentile(lag.late, 0.99), LAG, " ms"),
        at_most(f"{what}: CPU time between two turns of the loop, p99", percentile(lag.busy, 0.99), LAG, " ms"),
        Row(
            f"{what}: lag, median and worst of {len(lag.late)}",
            f"{statistics.median(lag.late):.2g} and {max(lag.late):.3g} ms",
        ),
        Row("nothing: lag, p99", f"{percentile(idle.late, 0.99):.3g} ms"),
        Row(f"{what}: time, median of {ROUNDS}", f"{statistics.median(times):.2f} s"),
        Row("first call, which loads the client: time", f"{opening:.2f} s"),
        Row(
            "first call: lag, p99 and worst",
            f"{percentile(first.late, 0.99):.3g} and {max(first.late):.3g} ms",
        ),
    ]


def tokens() -> list[Row]:
    """Compare the estimate with BERT's word pieces, piece by piece of real pages."""
    exact = WordPieces()
    rows: list[Row] = []
    for name in ("course-physical-ai", "ros2-docs"):
        pages = sorted(path for path in need(name).rglob("*") if path.suffix in {".md", ".mdx", ".rst"})
        texts = [page.read_text("utf-8", "replace") for page in pages[::3]]
        pieces = [text[at : at + PIECE] for text in texts for at in range(0, len(text), PIECE)]
        ratios = [count_tokens(piece) / count for piece in pieces if (count := len(exact.tokens(piece)))]
        enough = sum(ratio >= 1 for ratio in ratios) / len(ratios)
        rows += [
            at_least(f"{name}: pieces whose tokens are not counted too low", enough, 0.95),
            Row(
                f"{name}: estimate over count, mean and lowest of {len(ratios)}",
                f"{statistics.fmean(ratios):.2f} and {min(ratios):.2f}",
            ),
        ]
    return rows


def main() -> None:
    """Print both tables."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    server = context.Process(target=serve, args=(sending,), daemon=True)
    server.start()
    try:
        print_rows("Embedding by Cohere, local server", asyncio.run(embedding(receiving.recv())))
    finally:
        server.terminate()
        server.join()
    print_rows("Tokens, estimated", tokens())


if __name__ == "__main__":
    main()
