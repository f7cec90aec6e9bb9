"""The text of an answer while the model writes it: what is shown, what is held back, what is taken back."""

from __future__ import annotations

from collections.abc import Iterator

from core.answering.citations import Sources
from core.answering.markup import MarkupReader
from core.answering.nodes import is_blank
from core.model import Citation, Drafted, Progress, Restarted
from core.model.markup import Block


class AnswerDraft:
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
        self._reader = MarkupReader(self.sources)
        self._shown: Drafted | None = None
        self._pieces: list[str] = []
        self._held = ""

    @property
    def is_refusal(self) -> bool:
        """Whether the model wrote the word that says there is no answer."""
        return bool(self._unless) and self._unless in self._written

    @property
    def is_blank(self) -> bool:
        """Whether nothing is left to show."""
        return is_blank(self.blocks)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The tree of what was written, as far as it is certain."""
        return self._reader.blocks

    @property
    def shown(self) -> tuple[Block, ...]:
        """What a reader has before their eyes, or will have with the next drawing."""
        return self.blocks if self._shown else ()

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The footnotes so far."""
        return self._reader.citations

    @property
    def removed_urls(self) -> int:
        """How many addresses were taken out."""
        return self._reader.removed_urls

    @property
    def _written(self) -> str:
        return "".join(self._pieces)

    def feed(self, piece: str) -> Iterator[Progress]:
        """Take more of the model's text; what may become the word for no answer waits."""
        self._pieces.append(piece)
        if self._unless:
            piece = self._without_refusal(piece)
        self._reader.feed(piece)
        yield from self._show(piece)

    def _without_refusal(self, piece: str) -> str:
        text = self._held + piece
        end = 0 if self.is_refusal else len(text) - _overlap(text, self._unless)
        self._held = text[end:]
        return text[:end]

    def finish(self) -> Iterator[Progress]:
        """Read the rest, since the model has finished."""
        rest = "" if self.is_refusal else self._held
        self._reader.feed(rest)
        self._reader.finish()
        yield from self._show(rest)

    def take_back(self) -> Iterator[Progress]:
        """Start over; the reader is told if anything was shown."""
        if self._shown:
            yield Restarted()
        self.before = self._written
        self._restart()

    def _show(self, more: str) -> Iterator[Progress]:
        if self._live and self._shown is None and more.strip():
            self._shown = Drafted(self._reader)
        if self._shown is not None:
            yield self._shown


def _overlap(text: str, word: str) -> int:
    """Count how many characters at the end of a text could be the beginning of a word."""
    return next((size for size in range(min(len(text), len(word)), 0, -1) if word.startswith(text[-size:])), 0)
