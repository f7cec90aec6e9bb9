"""The sources of one answer: every passage that a tool gave the model, numbered by page section."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence

from core.answering.addresses import URL, trim_url
from core.model import Citation, Hit, Passage
from core.model.markup import Footnote

_RANGE = re.compile(r"(\d+)\s*[-–—]\s*\^?(\d+)|(\d+)")


class Sources:
    """Numbers page sections from 1 in the order in which the tools gave them, over all searches of one question."""

    keeps_numbers = False
    are_quoted = False

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._citations: dict[int, Citation] = {}
        self._urls: set[str] = set()
        self._named: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._numbers)

    @property
    def numbers(self) -> Iterable[int]:
        """All numbers that the model may use."""
        return self._citations.keys()

    def add(self, hit: Hit) -> int:
        """Return the number of the hit's section; the best of its scores is kept."""
        self._urls.add(hit.passage.page_url)
        self._named.update(trim_url(found) for found in URL.findall(hit.passage.text))
        return self.supply(cite(hit, 0))

    def supply(self, citation: Citation) -> int:
        """Return the number of what a tool has found, for the model to cite; the best of its scores is kept."""
        number = self._numbers.setdefault(citation.url, len(self._numbers) + 1)
        known = self._citations.get(number)
        if known is None or citation.relevance_score > known.relevance_score:
            self._citations[number] = citation.model_copy(update={"number": number})
        self._urls.add(citation.url)
        return number

    def citation(self, number: int, *, shown_as: int) -> Citation:
        """Return the footnote for *number* under the number that the reader sees."""
        return self._citations[number].model_copy(update={"number": shown_as})

    def url(self, number: int) -> str:
        """Return the address of the source *number*, empty if it has none."""
        return self._citations[number].url

    def all(self) -> tuple[Citation, ...]:
        """Return every footnote that could be used."""
        return tuple(self._citations.values())

    def leads_to(self, url: str) -> bool:
        """Return whether this is the address of a page that the index returned, so that it can be a link."""
        return url in self._urls

    def names(self, url: str) -> bool:
        """Return whether the text of a passage names this address, so that it may be written, but never clicked."""
        return url in self._named


def selected_text(text: str) -> Sources:
    """Return the one source of a question about a selection: the selected text itself, which has no address."""
    return _Selection(text)


def remembered(citations: Sequence[Citation]) -> Sources:
    """Return the sources of an answer that was given before: its footnotes keep their numbers."""
    return _Remembered(citations)


class _Selection(Sources):
    """Knows one number; the addresses that the selected text names may be written."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._named.update(trim_url(found) for found in URL.findall(text))
        self._numbers[""] = 1
        self._citations[1] = Citation(
            number=1, chapter="", section="", title="The selected text", url="", relevance_score=1.0
        )


class _Remembered(Sources):
    """Knows the numbers of an answer, and takes every address in it for one that may be written."""

    keeps_numbers = True

    def __init__(self, citations: Sequence[Citation]) -> None:
        super().__init__()
        self._citations = {citation.number: citation for citation in citations}
        self._urls.update(citation.url for citation in citations)

    def names(self, url: str) -> bool:
        return True


class Quoted(Sources):
    """The sources of a text that is quoted: its own numbers are words, and the addresses in it may be written."""

    are_quoted = True

    def names(self, url: str) -> bool:
        """Return that every address may be written."""
        return True


class Footnotes:
    """Gives the footnotes of one answer the numbers 1, 2, 3 in order of first use; a number never changes."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.removed_urls = 0
        self._shown: dict[int, int] = {}

    def read(self, mark: str) -> Iterator[Footnote]:
        """Return the footnotes that a mark of the model names, in its order; a range names what it spans."""
        known = sorted(self.sources.numbers)
        for first, last, single in _RANGE.findall(mark.partition("†")[0]):
            low, high = (int(single), int(single)) if single else (int(first), int(last))
            for number in (number for number in known if low <= number <= high):
                shown = number if self.sources.keeps_numbers else len(self._shown) + 1
                yield Footnote(self._shown.setdefault(number, shown), self.sources.url(number))

    def trial(self) -> Footnotes:
        """Return footnotes that begin with the same numbers, and whose further ones do not count."""
        other = Footnotes(self.sources)
        other._shown = dict(self._shown)
        return other

    def citations(self, shown: Container[int]) -> tuple[Citation, ...]:
        """Return the footnotes whose numbers are *shown*, in the order of their numbers."""
        used = sorted((at, number) for number, at in self._shown.items() if at in shown)
        return tuple(self.sources.citation(number, shown_as=at) for at, number in used)


def cite(hit: Hit, number: int) -> Citation:
    """Make a footnote of a hit."""
    passage: Passage = hit.passage
    return Citation(
        number=number,
        chapter=passage.chapter,
        section=passage.section_title,
        title=passage.page_title,
        url=passage.source_url,
        relevance_score=round(hit.score, 4),
    )
