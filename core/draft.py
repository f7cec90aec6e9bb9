"""The text of an answer while the model writes it: what is shown, what is held back, what is taken back."""

from __future__ import annotations

from collections.abc import Iterator

from core.citations import CitationStream
from core.model import Citation, Progress, Restarted, TextDelta
from core.sources import Sources


class Draft:
    """One attempt at an answer.

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
        self._stream = CitationStream(self.sources)
        self._cited: tuple[Citation, ...] = ()
        self._shown = False
        self._written = ""
        self.text = ""

    @property
    def is_refusal(self) -> bool:
        """Whether the model wrote the word that says there is no answer."""
        return bool(self._unless) and self._unless in self._written

    @property
    def is_blank(self) -> bool:
        """Whether nothing is left to show."""
        return not self.text.strip()

    @property
    def shown(self) -> str:
        """What a reader has before their eyes."""
        return self.text if self._shown else ""

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The footnotes so far."""
        return self._stream.citations

    @property
    def removed_urls(self) -> int:
        """How many addresses were taken out."""
        return self._stream.removed_urls

    def feed(self, piece: str) -> Iterator[Progress]:
        """Take more of the model's text."""
        self._written += piece
        yield from self._show(self._stream.feed(piece))

    def finish(self) -> Iterator[Progress]:
        """Say that the model has finished."""
        yield from self._show(self._stream.finish(), finished=True)

    def take_back(self) -> Iterator[Progress]:
        """Start over; the reader is told if anything was shown."""
        if self._shown:
            yield Restarted()
        self.before = self._written
        self._restart()

    def _show(self, text: str, *, finished: bool = False) -> Iterator[Progress]:
        self.text += text
        if not self._live or self.is_refusal or (self._may_become_refusal() and not finished):
            return
        text = self.text if not self._shown else text
        if text:
            self._shown = True
            yield TextDelta(text, self._cited_so_far())

    def _cited_so_far(self) -> tuple[Citation, ...]:
        """Give the footnotes; they are made anew only when there is another, as pieces of text are many."""
        if self._stream.count != len(self._cited):
            self._cited = self._stream.citations
        return self._cited

    def _may_become_refusal(self) -> bool:
        return bool(self._unless) and self._unless.startswith(self._written.strip())
