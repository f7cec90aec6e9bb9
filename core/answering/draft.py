"""The text of an answer while the model writes it: what is shown, what is held back, what is taken back."""

from __future__ import annotations

from collections.abc import Iterator

from core.answering.citations import Sources
from core.answering.markup import MarkupReader
from core.model import Drafted, Progress, Restarted


class AnswerDraft:
    """One attempt at an answer, whose `markup` reads it.

    It is shown while it is written only if it is *live*. It is held back as long as it could still become *unless*,
    a word by which the model says that there is no answer. `before` is what the model wrote before it was taken back.
    """

    def __init__(self, sources: Sources, *, live: bool, unless: str = "") -> None:
        self.sources = sources
        self.before = ""
        self._live = live
        self._unless = unless
        self._restart()

    def _restart(self) -> None:
        self.markup = MarkupReader(self.sources)
        self.is_shown = False  # or will be with the next drawing
        self.is_refusal = False  # whether the model wrote the word that says there is no answer
        self._written = ""
        self._held = ""

    def feed(self, piece: str, *, is_last: bool = False) -> Iterator[Progress]:
        """Take more of the model's text; unless it *is_last*, what may become the word for no answer waits."""
        self._written += piece
        if self._unless:
            self.is_refusal = self._unless in self._written
            text = self._held + piece
            sizes = range(0 if is_last else min(len(text), len(self._unless)), 0, -1)
            overlap = next((size for size in sizes if self._unless.startswith(text[-size:])), 0)
            end = 0 if self.is_refusal else len(text) - overlap
            piece, self._held = text[:end], text[end:]
        self.markup.feed(piece)
        if is_last:
            self.markup.finish()
        self.is_shown = self.is_shown or (self._live and bool(piece.strip()))
        if self.is_shown:
            yield Drafted(self.markup)

    def take_back(self) -> Iterator[Progress]:
        """Start over; the reader is told if anything was shown."""
        if self.is_shown:
            yield Restarted()
        self.before = self._written
        self._restart()
