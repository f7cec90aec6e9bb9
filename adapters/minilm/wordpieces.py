"""Text to the numbers that the model reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING

from adapters.minilm.files import VOCABULARY
from adapters.minilm.once import Once

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FIRST, LAST = 101, 102  # [CLS] and [SEP]
WINDOW = 254  # the model was trained on 256 tokens, of which two are the marks
# A mark, or what stands between marks and gaps. The brackets are no marks here: they are part of names like [CLS].
WORD = re.compile(r"[!-/:-@\\^-`{-~]|[^ \t\n\r!-/:-@\\^-`{-~]+")
WORD_LIMIT = 64  # characters; a longer word is rare, and is not remembered
WORDS = 1 << 14  # how many words are remembered


class WordPieces:
    """BERT's uncased WordPiece tokens; the vocabulary is loaded at first use.

    No token crosses white space or a punctuation mark, and documents repeat their words: each word is cut once and
    then remembered, which gives the same tokens as cutting whole texts, in a fraction of the time.
    """

    def __init__(self) -> None:
        """Take nothing: there is one vocabulary."""
        self._tokenizer = Once(_load)
        self._remembered = lru_cache(WORDS)(self._cut)

    def count(self, text: str) -> int:
        """Count the tokens of a text of any length."""
        return sum(map(len, self._words(text)))

    def window(self, text: str) -> list[int]:
        """Give the tokens that the model reads, between its two marks."""
        return [FIRST, *islice(chain.from_iterable(self._words(text)), WINDOW), LAST]

    def _words(self, text: str) -> Iterator[Sequence[int]]:
        for word in WORD.findall(text):
            yield self._remembered(word) if len(word) <= WORD_LIMIT else self._cut(word)

    def _cut(self, word: str) -> Sequence[int]:
        readable = word.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair has no UTF-8 form
        return tuple(self._tokenizer.get().encode(readable, add_special_tokens=False).ids)


def _load() -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(VOCABULARY.read())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
