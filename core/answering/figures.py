"""The numbers of a text, each with what stands around it, so that one can be told from another one in its place."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from core.documents.excerpt import stems

LONG = 7  # letters, behind which words are no longer told apart
AROUND = 4  # words on each side of a number that are its own
ROUNDED = 0.05  # of a number, by which "about" may miss it
_DIGITS = r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\w.,])|\d+(?:[.,:]\d+)*"
_NUMBER = re.compile(rf"(?<![\w.])[vV~]?({_DIGITS})(?:\$?[ \u00a0-]?(%|°\s?[CF]?|[a-zA-Zµμ]{{1,13}}))?(?![\w%])")
_FORMULA = re.compile(r"\S\$(?!\d)")  # the end of one; without it, a dollar is a price
_ORDER = re.compile(  # what counts headings and items
    r"(?:#+\s*\d+(?:\.\d+)*[.)]?|\d+[.)]|[*_#\s]*(?:step|option|method|phase|part|tip|schritt|étape|paso|passo|stap)\s\d+[*_]*[:.)])\s",
    re.IGNORECASE,
)
_ALIKE = """% percent,ms millisecond,s sec second,min minute,h hour,day,week,month,year,hz hertz,khz,mhz,ghz,b byte,kb,
mb,gb,tb,mm,cm,m meter metre,km,g,kg,v volt,w watt,kw,n,nm,fps,rpm,° degree,°c,rad radian,$ dollar,€ euro"""
_UNITS = {name: names.split()[0] for names in _ALIKE.split(",") for name in names.split()}
_NUMERALS = """zero,one,two twice,three third,four fourth,five fifth,six sixth,seven seventh,eight eighth,nine ninth,
ten tenth,eleven eleventh,twelve twelfth dozen,thirteen,fourteen,fifteen,sixteen,seventeen,eighteen,nineteen,twenty"""
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}
_WORDS = _TENS | {name: number for number, names in enumerate(_NUMERALS.split(",")) for name in names.split()}
_CARDINALS = frozenset(names.split()[0] for names in _NUMERALS.split(",")[2:])
_ROUNDING = frozenset(("about", "around", "roughly", "approximately", "nearly", "almost", "over", "under", "than"))
_TOKEN = re.compile(rf"(?<![^\W_])[vV]?({_DIGITS})|\d+(?:\.\d+)*|[^\W\d_]+(?:-(?:{'|'.join(_WORDS)})\b)?")
_DIGIT, _LETTERS = re.compile(r"\d"), re.compile(r"[^\W\d_]+")
_WHOLE = re.compile(r"\d+(?:\.\d+)*")
_THOUSANDS = re.compile(r",(?=\d{3}(?:\D|\Z))|[ \u00a0\u202f]")


class Figure(NamedTuple):
    """A number where it stands, in digits or as a word."""

    value: str
    around: Mapping[str, float]  # the words around it, the nearer the more
    unit: str = ""
    others: Collection[str] = ()  # how it can be read too, as in "(2,1)"
    is_said: bool = False  # whether it stands for itself: in digits, in no code, and not for the order of items
    is_counted: bool = False  # whether it does so as a word
    is_order: bool = False
    is_about: bool = False  # whether it is said to be rounded
    label: str = ""  # the word right before it, as in "port 8080"
    is_named: bool = False  # whether that is a name, as in "ROS 2"

    def may_be(self, found: Figure) -> bool:
        """Return whether one that is said may be one that is *found*, in other words, rounded or cut."""
        if (self.unit and found.unit not in ("", self.unit)) or (found.is_order and (self.unit or not self.label)):
            return False
        is_cut = found.is_version and found.value.startswith(f"{self.value}.")
        return self.value == found.value or self.value in found.others or is_cut or self._rounds(found)

    def could_be(self, found: Figure) -> bool:
        """Return whether one that is *found* could stand in the place of one that is said: it counts the same."""
        is_alike = self.unit == found.unit and self.is_version == found.is_version
        is_same = bool(self.unit) or not (self.is_named or found.is_named) or self.label == found.label
        return (found.is_said or found.is_counted) and is_alike and is_same

    @property
    def is_version(self) -> bool:
        """Whether it has three parts, as no quantity has."""
        return self.value.count(".") > 1

    def _rounds(self, found: Figure) -> bool:
        if not self.is_about or self.is_version or found.is_version or ":" in self.value + found.value:
            return False
        said, given = float(self.value), float(found.value)
        return abs(said - given) <= ROUNDED * given and len(self.value.strip("0.")) < len(found.value.strip("0."))


def has_figures(text: str) -> bool:
    """Return whether a text has numbers; most have none, and are not read for them."""
    return bool(_DIGIT.search(text)) or not _WORDS.keys().isdisjoint(_LETTERS.findall(text.casefold()))


def figures(text: str, bare: str) -> Iterator[Figure]:
    """Yield the numbers of a sentence, an item or a row, of which *bare* has blanks where it has code."""
    signs = "€" if _FORMULA.search(text) else "$€"
    units = {at.start(1): _sign(text, at.start(), signs) or _unit(at[2] or "") for at in _NUMBER.finditer(bare)}
    order, last, here = _ORDER.match(text), None, -1
    tokens = [*_TOKEN.finditer(text)]
    words = [word for token in tokens if (word := _word(token[0]))]
    for token in tokens:
        before, last = last, token
        word = _word(token[0])
        here += bool(word)
        if token[0][-1].isdecimal():
            yield _figure(text, token, before, units, order)._replace(around=_around(words, here))
        elif word and all(each in _WORDS for each in word.split("-")):
            value = str(sum(map(_WORDS.__getitem__, word.split("-"))))
            yield Figure(value, _around(words, here), is_counted=word in _CARDINALS)


def _figure(
    text: str,
    token: re.Match[str],
    before: re.Match[str] | None,
    units: Mapping[int, str],
    order: re.Match[str] | None,
) -> Figure:
    start = token.start(1) if token[1] else token.start()
    is_order = order is not None and start < order.end()
    is_beside = before is not None and not text[before.end() : token.start()].strip(" -#\u00a0")
    beside = before[0] if before and is_beside else ""
    label = _word(beside) if beside else ""
    return Figure(
        _plain(token[1] or token[0]),
        {},
        units.get(start, ""),
        [_plain(each) for each in _WHOLE.findall(_THOUSANDS.sub("", token[0]))],
        is_said=start in units and not is_order,
        is_order=is_order,
        is_about=beside.casefold() in _ROUNDING or text[max(token.start() - 1, 0)] in "~≈",
        label=label,
        is_named=bool(label) and beside[0].isupper(),
    )


def _around(words: Sequence[str], here: int) -> Mapping[str, float]:
    around = dict[str, float]()
    for far in range(1, AROUND + 1):
        for at in (here - far, here + far):
            if 0 <= at < len(words):
                around.setdefault(words[at], 1 / far)
    return around


@lru_cache(1 << 14)
def _word(text: str) -> str:
    """Return a word as it is compared; nothing if it carries no meaning."""
    text = text.casefold()
    if text[-1].isdecimal() or all(each in _WORDS for each in text.split("-")):
        return text
    return (stems(text) or [""])[0][:LONG]


def _plain(number: str) -> str:
    number = _THOUSANDS.sub("", number).replace(",", ".")
    if number.isdecimal():
        return number.lstrip("0") or "0"
    return number.rstrip("0").rstrip(".") if number.count(".") == 1 and ":" not in number else number


def _sign(text: str, start: int, signs: str) -> str:
    """Return the sign of a currency before a number."""
    return text[start - 1] if start and text[start - 1] in signs else ""


def _unit(word: str) -> str:
    word = word.replace(" ", "").casefold().replace("μ", "µ")
    return _UNITS.get(word) or _UNITS.get(word.removesuffix("s"), "")
