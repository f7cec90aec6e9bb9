"""Holds what a model writes against the passages that it was given: by words, numbers, names and code.

No other model is asked, so it costs next to nothing and works without any service. It cannot tell a sentence from its
negation, or from one about a neighbour in the same words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

from core.documents.excerpt import read_words, sentences, stems

KEPT, SAFE = 0.2, 0.4  # shares of a sentence's words that let a mark stay, or draw it to where they stand
CLOSE = 0.7  # of the share that the best passage has, which a mark needs to stay where it is
ABOUT = 0.5  # of the share that the best part of a passage has, from which on a part is about the sentence too
TITLES = 2  # parts with which a passage begins: its page's title and its section's
SAID, FOUNDED = 0.1, 0.3  # shares below which a sentence is told of, or does not count for the answer as a whole
LONG = 7  # letters, behind which words are no longer told apart
FEWEST = 3  # words that carry meaning: of less, nobody can say whether a passage holds it
LOOKED_BACK = 600  # characters before a mark in which its sentence begins
NOTE = "\ufffc"  # what stands for a footnote in a visible text

_NUMBER = re.compile(r"(?<![\w.])[vV~]?(\d+(?:[.,:]\d+)*)(?:[ \u00a0-]?(%|°\s?[CF]?|[a-zA-Zµμ]{1,13}))?(?![\w%])")
_DIGITS = re.compile(r"\d+(?:\.\d+)*")
_COUNTED = re.compile(r"\b([A-Z]\w*)[ -]v?\d[\d.]*|^[#\s]*\d+(?:\.\d+)*[.)\s]")  # in "ROS 2", or of a heading
_CODE = re.compile(  # names that are written in one way only
    r"(?<![\w/-])--?[a-zA-Z][\w-]+|(?:(?<![\w/])/)?\w+(?:(?:::|_)\w+)+|(?<![\w/])/\w{2,}(?:/\w+)*|\w+\(\)|(?<![\w.,])[^\W\d]+\d+\w*|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*"
    r"|\b\w+\.(?:py|yaml|yml|xml|cpp|hpp|md|json|toml|txt|sh|urdf|xacro|sdf|js|ts|css|html|ini|cfg|conf|env|launch)\b"
)
_SIGN_OF_CODE = re.compile(r"[_/(:\d]|(?<!\w)-|\w\.\w|\w[A-Z]")  # a word without one of these is no such name
_MAYBE_CODE = re.compile(r"(?<!\S)[^\s_/(:\d-]?[^\s_/(:\d.A-Z-]*+[_/(:\d.A-Z-]\S*+")  # a word that may have one
_RUNNING = re.compile(r"\b(?:[^\W\d_]++[ ,'’]++){7}[^\W\d_]++|[^\W\d_A-Za-z\u00c0-\u024f]{4,}")  # but for Latin letters
_NAME = re.compile(r"[A-Z](?<=[a-z,;:)] [A-Z])[\w'’-]+(?: [A-Z][\w'’-]+)*")
_ALIKE = """% percent,ms millisecond,s sec second,min minute,h hour,day,week,month,year,hz hertz,khz,mhz,ghz,b byte,kb,
mb,gb,tb,mm,cm,m meter metre,km,g,kg,v volt,a,w watt,kw,n,nm,fps,rpm,° degree,°c,rad radian,$ dollar,€ euro"""
_UNITS = {name: names.split()[0] for names in _ALIKE.split(",") for name in names.split()}
_NUMERALS = "one two three four five six seven eight nine ten eleven twelve"
_WORDS = {numeral: str(number) for number, numeral in enumerate(_NUMERALS.split(), 1)}
_LETTERS = "alpha beta gamma delta epsilon theta lambda mu pi rho sigma tau phi psi omega"
_GREEK = dict(zip("αβγδεθλμπρστφψω", _LETTERS.split(), strict=True))
_LOOSE = str.maketrans({**_GREEK, **dict.fromkeys("_\\{}^$*`", "")})
_WORD_NUMBER = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)
_THOUSANDS = re.compile(r",(?=\d{3}(?:\D|\Z))")


@dataclass
class Statement:
    """What a text says, as far as it can be looked for: words, and what has to stand in a passage just so."""

    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        """Those that carry meaning, without their endings."""
        return frozenset(word[:LONG] for word in self._read[0])

    @cached_property
    def letters(self) -> int:
        """How many its words have: long ones tell more than short ones."""
        return sum(map(len, self.words))

    @cached_property
    def is_english(self) -> bool:
        """Whether its words can be compared."""
        return self._read[1] or (bool(self._running) and read_words(self._running)[1])

    @cached_property
    def is_wordless(self) -> bool:
        """Whether it has no running text, so that nobody can say whether it is English."""
        return not self._read[1] and not self._running

    @cached_property
    def parts(self) -> Sequence[Statement]:
        """Its sentences, items, rows and lines of code."""
        return [*map(Statement, sentences(self.text))]

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """The numbers of the parts in which each word stands."""
        places = dict[str, list[int]]()
        for number, part in enumerate(self.parts):
            for word in {word[:LONG] for word in stems(part.text)}:
                places.setdefault(word, []).append(number)
        return places

    @cached_property
    def numbers(self) -> list[tuple[str, str]]:
        """Numbers in digits, each with its unit, or with none, as often as they are written."""
        if not any(map(_DIGITS.search, self._signed)):
            return []

        def without_code(word: re.Match[str]) -> str:
            return _CODE.sub(" ", word[0]) if _SIGN_OF_CODE.search(word[0]) else word[0]

        text = _MAYBE_CODE.sub(without_code, self.text)
        return [(_plain(number), _unit(unit)) for number, unit in _NUMBER.findall(text)]

    @cached_property
    def units(self) -> Mapping[str, list[str]]:
        """The units that each number is written with, also one that is a word."""
        units = dict[str, list[str]]()
        for number, unit in self.numbers + [(_WORDS[word.casefold()], "") for word in _WORD_NUMBER.findall(self.text)]:
            units.setdefault(number, []).append(unit)
        for number in map(_plain, _DIGITS.findall(self.text)):  # in code, or behind a letter
            units.setdefault(number, [""])
        return units

    @cached_property
    def code(self) -> frozenset[str]:
        """Names of files, functions, options and the like."""
        return frozenset(_squeezed(name) for word in self._signed for name in _CODE.findall(word))

    @cached_property
    def squeezed(self) -> str:
        """The text as code is looked for in it."""
        return _squeezed(self.text)

    @cached_property
    def names(self) -> frozenset[str]:
        """Words that begin with a capital within a sentence, which an English text has for names only."""
        return frozenset(word[:LONG] for name in _NAME.findall(self.text) for word in stems(name))

    @cached_property
    def _read(self) -> tuple[list[str], bool]:
        return read_words(self.text)

    @cached_property
    def _running(self) -> str:
        return " ".join(_RUNNING.findall(self.text))

    @cached_property
    def _signed(self) -> list[str]:
        """The words that may be numbers or code; most are neither, and the patterns are slow."""
        return [word for word in _MAYBE_CODE.findall(self.text) if _SIGN_OF_CODE.search(word)]

    @cached_property
    def is_checkable(self) -> bool:
        """Whether it says enough to be looked for, and asks nothing."""
        return (len(self.words) >= FEWEST or bool(self.numbers or self.code)) and not self.text.rstrip().endswith("?")


class Support(NamedTuple):
    """How much of a statement a passage holds: the share of its words, and whether all is there that has to be.

    Without a *comparison* of words the share is whole, as nobody can know.
    """

    share: float
    is_exact: bool
    is_compared: bool = True


@dataclass
class Evidence:
    """The passages of one question by their numbers, and what people *said*, which needs no footnote.

    Words are compared only where both are English: of other languages, or of two, numbers and code are.
    """

    said: str = ""
    judged: Mapping[str, bool] = field(default_factory=dict[str, bool])  # sentences of which a second model has spoken
    _passages: dict[int, list[Statement]] = field(default_factory=dict[int, list[Statement]])
    _all: list[Statement] = field(default_factory=list[Statement])
    _is_english: bool = False  # whether one of them is
    _claims: dict[str, Statement] = field(default_factory=dict[str, Statement])
    _supports: dict[tuple[str, int], Support] = field(default_factory=dict[tuple[str, int], Support])
    _before: tuple[str, str] = ("", "")  # a text, and the sentence at its end

    def __bool__(self) -> bool:
        return bool(self._passages)

    def add(self, number: int, text: str) -> None:
        """Take in a passage."""
        known, passage = self._passages.setdefault(number, []), _passage(text)
        if passage not in known:
            known.append(passage)
            self._all.append(passage)
            self._is_english = self._is_english or passage.is_english
            self._supports.clear()

    def claim(self, sentence: str) -> Statement:
        """Return a sentence as what it says, which is read once, also where a mark stands before its full stop."""
        bare = sentence.removesuffix(".").rstrip()
        text = sentence if bare.endswith("?") else bare
        if text not in self._claims:
            self._claims[text] = Statement(text)
        return self._claims[text]

    def claim_before(self, text: str) -> str:
        """Return the sentence at the end of a visible text, which is looked for once for all marks that stand there."""
        text = text[-LOOKED_BACK:].replace(NOTE, "").strip()
        if text != self._before[0]:
            self._before = text, ([*sentences(text)] or [""])[-1]
        return self._before[1]

    def support(self, claim: Statement, number: int) -> Support:
        """Return how far a passage supports a claim, which is looked for once for all marks behind it."""
        key = claim.text, number
        if key not in self._supports:
            self._supports[key] = self._support_of_parts(claim, self._passages.get(number, ()))
        return self._supports[key]

    def _support_of_parts(self, claim: Statement, passages: Sequence[Statement]) -> Support:
        """Return the same, where words that stand close together count for more."""
        found = self._support(claim, passages)
        if not found.is_compared:
            return found
        letters = [_letters(claim, each) for each in passages]
        most = max(chain(*letters), default=0)
        is_exact = found.is_exact and not (claim.numbers and _contradicts(claim, passages, letters, ABOUT * most))
        return Support((found.share + most / (claim.letters or 1)) / 2, is_exact)

    def best(self, claim: Statement, among: Iterable[int]) -> tuple[int, Support]:
        """Return the passage that supports a claim best, of those that can be compared with it if there are any."""
        found = ((each, self.support(claim, each)) for each in among if each in self._passages)
        none = 0, Support(0.0, is_exact=False)
        return max(found, key=lambda each: (each[1].is_exact, each[1].is_compared, each[1].share), default=none)

    def place(self, sentence: str, number: int, among: Collection[int]) -> int | None:
        """Return which passage a mark at the end of a sentence names: that one, a better one *among* some, or none."""
        claim = self.claim(sentence)
        if number not in self._passages or not claim.is_checkable:
            return number
        named = self.support(claim, number)
        if named.is_exact and named.share >= CLOSE:  # as no other can have so much more
            return number
        other, best = self.best(claim, among)
        if named.is_exact and named.share >= max(KEPT, CLOSE * best.share):
            return number
        return other if best.is_exact and best.is_compared and best.share >= SAFE else None

    def held(self, claim: Statement, *, enough: float) -> float:
        """Return the share of a claim that the passages hold together, with what was said unless that is *enough*.

        It is 0 where something is missing that has to be there. What was said is long, and rarely has to be read. What
        a second model says of the words counts for more than they do.
        """
        if claim.text in self.judged:
            return float(self.judged[claim.text] and self._support(claim, (*self._all, self.claim(self.said))).is_exact)
        found = self._support(claim, self._all)
        if not (found.is_exact and found.share >= enough):
            found = self._support(claim, (*self._all, self.claim(self.said)))
        return found.share if found.is_exact else 0.0

    def _support(self, claim: Statement, known: Collection[Statement]) -> Support:
        is_exact = all(any(_has(each, *number) for each in known) for number in claim.numbers)
        is_exact = is_exact and all(any(code in each.squeezed for each in known) for code in claim.code)
        is_english = self._is_english and claim.is_english
        if not (is_english and any(each.is_english or each.is_wordless for each in known)):
            return Support(1.0, is_exact, is_compared=False)
        missing = claim.words
        for each in known:
            missing -= each.words
            if not missing:
                break
        found = claim.words - missing
        share = sum(map(len, found)) / (claim.letters or 1)
        return Support(share, is_exact and claim.names <= found)

    def compares(self, text: str) -> bool:
        """Return whether a text says enough in words that can be compared with those of the passages."""
        said = self.claim(text)
        return self._is_english and said.is_checkable and said.is_english

    @property
    def texts(self) -> list[str]:
        """The texts of the passages."""
        return [each.text for each in self._all]

    def quotes(self, text: str) -> bool:
        """Return whether a passage has these words."""
        return any(text in each.text for each in self._all)


_passage = lru_cache(1 << 9)(Statement)  # the questions of a day find many of the same passages


def _letters(claim: Statement, passage: Statement) -> Sequence[int]:
    """Return how many letters of a claim's words each part of a passage has."""
    letters, places = [0] * len(passage.parts), passage.places
    for word in claim.words & passage.words:
        for number in places.get(word, ()):
            letters[number] += len(word)
    return letters


def _contradicts(
    claim: Statement, passages: Iterable[Statement], letters: Iterable[Sequence[int]], enough: float
) -> bool:
    """Return whether parts with *enough* letters of a claim have other numbers with its units, but not its own."""
    names, near, others, before = {*_COUNTED.findall(claim.text)}, list[Statement](), set[str](), 0

    def is_said(found: re.Match[str]) -> bool:
        return found[1] in names or any(_plain(each) in claim.units for each in _DIGITS.findall(found[0]))

    def counted(part: Statement) -> Statement:
        text = _COUNTED.sub(lambda found: found[0] if is_said(found) else " ", part.text)
        return part if text == part.text else Statement(text)

    for passage, shared in zip(passages, letters, strict=True):
        for number, (part, own) in enumerate(zip(passage.parts, shared, strict=True)):
            is_near = max(own, before) >= enough or number < TITLES or part.text[0] == "#"
            if is_near and part.units:  # what comes next may have it too, as in "It has five."
                near.append(counted(part))
                numbers = near[-1].numbers if own >= enough else ()
                others |= {unit for one, unit in numbers if not claim.units.keys() >= {*_DIGITS.findall(one)}}
            before = own
    digits = [number for number, _ in claim.numbers]
    lacking = (each for each in claim.numbers if each[1] in others)
    return any(not any(_has(part, *each, times=digits.count(each[0])) for part in near) for each in lacking)


def _has(passage: Statement, number: str, unit: str, times: int = 1) -> bool:
    """Return whether a passage has a number so many times, with that unit as far as it has any."""
    units = passage.units.get(number, ())
    return len(units) >= times and (not unit or unit in units or "" in units)


def _squeezed(text: str) -> str:
    """Return a text without what one name is written with here and not there, such as in a formula."""
    return text.casefold().translate(_LOOSE)


def _plain(number: str) -> str:
    number = _THOUSANDS.sub("", number).replace(",", ".")
    return number.rstrip("0").rstrip(".") if number.count(".") == 1 and ":" not in number else number


def _unit(word: str) -> str:
    word = word.replace(" ", "").casefold().replace("μ", "µ")
    return _UNITS.get(word) or _UNITS.get(word.removesuffix("s"), "")
