"""Text to the numbers that the model reads."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from adapters.minilm.files import VOCABULARY
from adapters.minilm.once import Once

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FIRST, LAST = 101, 102  # [CLS] and [SEP]
WINDOW = 254  # the model was trained on 256 tokens, of which two are the marks
GAP = re.compile(r"[ \t\n\r]+")
WORD_LIMIT = 64  # characters; a longer word is rare, and is not remembered
WORDS = 1 << 15  # how many words are remembered


class WordPieces:
    """BERT's uncased WordPiece tokens; the vocabulary is loaded at first use."""

    def __init__(self) -> None:
        """Take nothing: there is one vocabulary."""
        self._tokenizer = Once(_load)
        self._pieces_of_word = lru_cache(WORDS)(self._pieces)

    def count(self, text: str) -> int:
        """Count the tokens of a text of any length.

        No token crosses white space, so that each word is cut once and then remembered: this is many times faster
        than cutting the whole text.
        """
        return sum(
            self._pieces_of_word(word) if len(word) <= WORD_LIMIT else self._pieces(word) for word in GAP.split(text)
        )

    def window(self, text: str) -> list[int]:
        """Give the tokens that the model reads, between its two marks."""
        return [FIRST, *self._cut(text)[:WINDOW], LAST]

    def _pieces(self, word: str) -> int:
        return len(self._cut(word))

    def _cut(self, text: str) -> list[int]:
        readable = text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair has no UTF-8 form
        return self._tokenizer.get().encode(readable, add_special_tokens=False).ids


def _load() -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(VOCABULARY.read())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
