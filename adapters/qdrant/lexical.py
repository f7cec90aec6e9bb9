"""Turns text into the sparse vectors of BM25, the same for the embedded index and the server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qdrant_edge import SparseVector

AVERAGE_LENGTH = 120.0  # tokens of a passage after stop words; see `python -m bench.retrieval --lengths`
_IDENTIFIER = re.compile(r"\b(?=\w*(?:[a-z][A-Z]|_\w))[A-Za-z_]\w{3,60}\b")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class LexicalEncoder:
    """Words, stemmed, without stop words; identifiers count whole and by their parts."""

    def __init__(self) -> None:
        from qdrant_edge import Bm25, Bm25Config, Language, StopwordsSet, TokenizerType

        self._bm25 = Bm25(
            Bm25Config(
                avg_len=AVERAGE_LENGTH,
                tokenizer=TokenizerType.Word,
                language="english",
                lowercase=True,
                ascii_folding=True,
                stopwords=StopwordsSet(languages={Language.English}, custom=QUESTION_WORDS),
            )
        )

    def passage(self, text: str) -> SparseVector:
        """Weigh the words of something that can be found."""
        return self._bm25.embed_document(_with_parts(text))

    def query(self, text: str) -> SparseVector:
        """Name the words of something that is looked for."""
        return self._bm25.embed_query(_with_parts(text))


QUESTION_WORDS = set(
    {"how", "what", "why", "which", "where", "when", "who", "does", "do", "did", "can", "could", "should", "would"}
    | {"explain", "describe", "tell", "give", "name", "own", "words", "please", "using", "use", "between", "your"}
)


def _with_parts(text: str) -> str:
    """Put the parts of `camelCase` and `snake_case` names behind the text, so that a part finds the whole."""
    parts = [part for name in _IDENTIFIER.findall(text) for part in _PARTS.findall(name)]
    return f"{text}\n{' '.join(parts)}" if parts else text
