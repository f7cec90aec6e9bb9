"""The sources of one answer, numbered by section, and the addresses in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import ClassVar
from urllib.parse import quote, urlsplit

from core.answering.claims import Evidence
from core.model import Citation, Hit, without_controls
from core.model.markup import Footnote, Inline

LONGEST_URL = 800  # characters of a link: two of them leave room for words in a message
MOST_FOOTNOTES = 100  # of an answer, each of which may be a link of that length
URL = re.compile(r"""(?:[a-zA-Z][a-zA-Z0-9+.-]{1,30}://|www\.)[^\s<>"'`\\^{}|\[\]]+""")
# What an address is made of, in any script but those without spaces, and what a part of a name is made of. Letters
# stand here as capitals and as small ones: to compile this while ignoring case takes a tenth of a second at each start.
_T = r"[^\s`\\\ufffc\u3000-\u9fff\uac00-\ud7af\uff00-\uff0d\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff60\uff62-\uffef]"
_A = r"a-zA-Z\u0130\u0131\u017f\u212a"  # what some take for a Latin letter
_S = (  # letters of other scripts, and what is drawn as, or stands for, a Latin one
    r"\u00a1-\u1fff\u2071\u207f\u2090-\u209c\u2100-\u214f\u2160-\u2188\u24b6-\u24e9\u2c60-\u2dff\ua640-\ua7ff\uab70-\uabbf"
    r"\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff\U0001f130-\U0001f189"
)
_L = rf"[{_A}{_S}\u2c00-\u2fff\uff10-\uff190-9_-]"
_NAME = (
    rf"(?:{_L}{{1,63}}[.．｡]){{1,4}}(?:[{_A}{_S}]{{2,24}}|[xX][nN]--[{_A}0-9-]{{1,59}})"
    r"|\d{1,3}(?:\.\d{1,3}){3}"
)
_ADDRESS = re.compile(  # what readers make a link of by themselves, but for a bare name, which may be that of a file
    rf"[{_A}][{_A}0-9+.-]{{0,30}}:/(?:/{_T}{{1,1000}}|(?:{_NAME})(?:[:/?#]{_T}{{0,1000}})?)"
    rf"|[wWｗＷ]{{3}}\.{_T}{{1,1000}}"
    rf"|{_L}{{0,64}}@(?:{_NAME})(?:[:/?#]{_T}{{0,1000}})?|(?<!{_L})(?:{_NAME})(?:/{_T}{{0,1000}}|:\d{_T}{{0,1000}})"
    rf"|(?<=\w)\.[{_A}]{{2,24}}/{_T}{{1,1000}}|(?<=[^\W_]。)[{_A}]{{2,24}}[/:]{_T}{{1,1000}}|://{_T}{{1,1000}}"
)
_SIGN = re.compile(r"[/@。:](?:(?<!:)|\d)")  # without one of these, or "www.", there is no address
_WWW = re.compile(r"[wWｗＷ]{3}\.")
OPEN_ADDRESS = re.compile(rf"{_T}{{1,1300}}")  # read backwards
_TRAILING = ".,;:!?*_~"
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]{1,30}:)?//|(?=www\.)", re.IGNORECASE)
_PLACE = re.compile(r"(?<![\w.@-])((?:[\w-]{1,63}\.){1,8}[a-z]{2,24})(?![\w.-]*\w)(/\S*|:\d\S*)?", re.IGNORECASE)
_ENDINGS = re.compile(  # the ones that people know an address by; with all of them, `asyncio.run` would look like one
    r"\.(?:com|org|net|edu|gov|mil|int|info|biz|example|io|dev|app|ai|co|gg|me|tv|xyz|site|online|shop"
    r"|eu|us|uk|de|fr|ch|at|nl|it|es|pl|se|no|ru|ua|cn|jp|kr|in|pk|br|ca|au)\Z"
)
_RANGE = re.compile(r"(\d+)\s*[-–—]\s*\^?(\d+)|(\d+)")


@dataclass
class Sources:
    """Numbers page sections from 1 in the order in which the tools gave them, over all searches of one question.

    The *urls* are of pages that the index returned, so that they can be links; those that are *named* in passages may
    be written, but never clicked.
    """

    citations: dict[int, Citation] = field(default_factory=dict[int, Citation])
    urls: set[str] = field(default_factory=set[str])
    named: set[str] = field(default_factory=set[str])
    evidence: Evidence = field(default_factory=Evidence)
    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    keeps_numbers: ClassVar[bool] = False
    are_quoted: ClassVar[bool] = False
    may_tell_deeds: bool = False  # whether something was done, as a tool has said, or these are not a model's words
    are_checked: bool = True  # whether what is said of them is held against them, which quotes need not be
    may_name_all: ClassVar[bool] = False  # whether any address may be written

    def add(self, found: Hit | Citation) -> int:
        """Return the number of what a tool has found, for the model to cite; the best of its scores is kept."""
        url = found.url if isinstance(found, Citation) else visible_url(found.passage.source_url)
        number = self._numbers.setdefault(url, len(self._numbers) + 1)
        if isinstance(found, Hit):
            text = found.passage.text
            self.named.update(map(trim_url, URL.findall(text)) if "://" in text or "www." in text else ())
            if self.are_checked:
                self.evidence.add(number, f"# {found.passage.page_title}\n# {found.passage.section_title}\n\n{text}")
            self.urls.add(visible_url(found.passage.page_url))
            found = cite(found, number)
        elif found.number != number:
            found = found.model_copy(update={"number": number})
        if known := self.citations.get(number):  # what two sections with one address are both under
            parts = zip(known.section.split(" › "), found.section.split(" › "), strict=False)
            shared = " › ".join(one for one, _ in takewhile(lambda both: both[0] == both[1], parts))
            best = known if known.relevance_score >= found.relevance_score else found
            found = best.model_copy(update={"section": shared}) if shared != best.section else best
        self.citations[number] = found
        self.urls.add(url)
        return number

    def names(self, url: str) -> bool:
        """Return whether this address may be written."""
        return self.may_name_all or url in self.named


class Remembered(Sources):
    """The sources of an answer that was given before: footnotes keep their numbers, and any address may be written."""

    keeps_numbers = may_name_all = may_tell_deeds = True

    def __init__(self, citations: Sequence[Citation]) -> None:
        super().__init__({each.number: each for each in citations}, {each.url for each in citations})


class Quoted(Sources):
    """The sources of a text that is quoted: its own numbers are words, and the addresses in it may be written."""

    are_quoted = may_name_all = may_tell_deeds = True


def selected_text(text: str) -> Sources:
    """Return the one source of a question about a selection, without address; it may be retold, but not its numbers."""
    sources = Sources(named=set(map(trim_url, URL.findall(text))), evidence=Evidence(compares_words=False))
    sources.evidence.add(1, text)
    sources.add(Citation(number=1, chapter="", section="", title="The selected text", url="", relevance_score=1.0))
    return sources


def cite(hit: Hit, number: int) -> Citation:
    """Make a footnote of a hit."""
    passage = hit.passage
    return Citation(
        number=number,
        chapter=passage.chapter,
        section=passage.section_title,
        title=passage.page_title,
        url=visible_url(passage.source_url),
        relevance_score=round(hit.score, 4),
        changed_on=passage.changed_on,
        source=passage.source,
    )


@dataclass
class Footnotes:
    """Gives the footnotes of one answer the numbers 1, 2, 3 in order of first use; a number never changes."""

    sources: Sources
    removed_urls: int = 0
    removed_deeds: int = 0
    removed_marks: int = 0
    given: int = 0
    shown: dict[int, Citation] = field(default_factory=dict[int, Citation])  # by the numbers that the model uses
    head: tuple[object, tuple[tuple[Inline, ...], ...]] = (None, ())  # of a table, as it is and as it was read

    def read(self, mark: str, sentence: str = "") -> Iterator[Footnote]:
        """Return the footnotes that a mark of the model names, in its order; a range names what it spans.

        Behind a *sentence* it names the passage that holds it, or none. Nobody needs hundreds: of more there are none.
        """
        known, shown, evidence = self.sources.citations, self.shown, self.sources.evidence
        for first, last, single in _RANGE.findall(mark.partition("†")[0]):
            low, high = (int(single), int(single)) if single else (int(first), int(last))
            for asked in (low,) if single else sorted(number for number in known if low <= number <= high):
                self.removed_marks += asked not in known
                number = evidence.place(sentence, asked, known) if sentence else asked
                if number is not None and number in known and self.given < MOST_FOOTNOTES:
                    self.given += 1
                    if number not in shown:
                        new = number if self.sources.keeps_numbers else len(shown) + 1
                        cited = known[number]
                        shown[number] = cited if new == number else cited.model_copy(update={"number": new})
                    yield Footnote(shown[number].number, shown[number].url)


def trim_url(url: str) -> str:
    """Leave off the punctuation that belongs to the sentence, and a closing bracket that was not opened inside."""
    end, unclosed = len(url), url.count("(") - url.count(")")
    while end and (url[end - 1] in _TRAILING or (url[end - 1] == ")" and unclosed < 0)):
        end -= 1
        unclosed += url[end] == ")"
    return url[:end]


def addresses(text: str) -> Iterator[re.Match[str]]:
    """Return what readers make a link of by themselves; most texts have no sign of it, and are not searched for it."""
    return _ADDRESS.finditer(text) if _SIGN.search(text) or _WWW.search(text) else iter(())


def visible_url(url: str) -> str:
    """Return an address with what nobody sees in it as codes, which lead to the same page."""
    if url.isascii() and url.isprintable():
        return url
    return "".join(
        one if one.isprintable() and without_controls(one) == one else quote(one, errors="replace") for one in url
    )


def host(url: str) -> str:
    """Return the name of the place that an address leads to, without `www.`; empty if it has none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def names_another_place(label: str, url: str) -> bool:
    """Return whether a label looks like an address with another host than *url*; a name in code does not."""
    home = host(url)
    has_scheme = bool(_SCHEME.search(label))
    for found in _PLACE.finditer(label):
        place = found[1].lower().removeprefix("www.")
        if place != home and (has_scheme or found[2] or _ENDINGS.search(place)):
            return True
    return has_scheme and home not in label.lower()


def without_scheme(url: str) -> str:
    """Leave off the scheme of an address: platforms make no link of a label that has one."""
    return re.sub(r"^[a-z][a-z0-9+.-]{1,30}://", "", url, flags=re.IGNORECASE)
