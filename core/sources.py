"""The sources of one answer: every passage that a tool gave the model, numbered by page section."""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.model import Citation, Hit, Passage

URL = re.compile(r"""(?:[a-zA-Z][a-zA-Z0-9+.-]{1,30}://|www\.)[^\s<>"'`\\^{}|\[\]]+""")
_TRAILING = ".,;:!?*_~"


def trim_url(url: str) -> str:
    """Leave off the punctuation that belongs to the sentence, and a closing bracket that was not opened inside."""
    while url:
        if url[-1] in _TRAILING or (url[-1] == ")" and url.count("(") < url.count(")")):
            url = url[:-1]
        else:
            break
    return url


class Sources:
    """Numbers page sections from 1 in the order in which the tools gave them, over all searches of one question."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._citations: dict[int, Citation] = {}
        self._urls: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._numbers)

    @property
    def numbers(self) -> Iterable[int]:
        """All numbers that the model may use."""
        return self._citations.keys()

    def add(self, hit: Hit) -> int:
        """Give the number of the hit's section; the best of its scores is kept."""
        url = hit.passage.source_url
        number = self._numbers.setdefault(url, len(self._numbers) + 1)
        known = self._citations.get(number)
        if known is None or hit.score > known.relevance_score:
            self._citations[number] = cite(hit, number)
        self._urls.add(url)
        self._urls.add(hit.passage.page_url)
        self._urls.update(trim_url(found) for found in URL.findall(hit.passage.text))
        return number

    def citation(self, number: int, *, shown_as: int) -> Citation:
        """Give the footnote for *number* under the number that the reader sees."""
        return self._citations[number].model_copy(update={"number": shown_as})

    def all(self) -> tuple[Citation, ...]:
        """Give every footnote that could be used."""
        return tuple(self._citations.values())

    def knows_url(self, url: str) -> bool:
        """Whether the index supplied this address, as a source or inside a passage."""
        return url in self._urls


def selected_text(text: str) -> Sources:
    """Make the one source of a question about a selection: the selected text itself, which has no address."""
    return _Selection(text)


class _Selection(Sources):
    """Knows one number, and the addresses that the selected text names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._urls.update(trim_url(found) for found in URL.findall(text))
        self._numbers[""] = 1
        self._citations[1] = Citation(
            number=1, chapter="", section="", title="The selected text", url="", relevance_score=1.0
        )


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
