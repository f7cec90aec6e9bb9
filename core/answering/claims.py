"""Holds what a model writes against the passages that it was given: by words, numbers, names and code.

No other model is asked, so it costs next to nothing and works without any service. It cannot tell a sentence from its
negation, or from one about a neighbour in the same words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, repeat
from typing import NamedTuple

from core.documents.excerpt import read_words, sentences, stems

KEPT, SAFE, AHEAD = 0.25, 0.4, 0.3  # shares of a sentence's words that let a mark stay, or move to where more stand
SAID, FOUNDED = 0.1, 0.3  # shares below which a sentence is told of, or does not count for the answer as a whole
LONG = 8  # letters, from which on a word weighs no more
FEWEST = 3  # words that carry meaning: of less, nobody can say whether a passage holds it
LOOKED_BACK = 600  # characters before a mark in which its sentence begins
NOTE = "\ufffc"  # what stands for a footnote in a visible text

_NUMBER = re.compile(r"(?<![\w.])[vV~]?(\d+(?:[.,:]\d+)*)(?:[ \u00a0-]?(%|°\s?[CF]?|[a-zA-Zµμ]{1,13}))?(?![\w%])")
_DIGITS = re.compile(r"\d+(?:\.\d+)*")
_CODE = re.compile(  # names that are written in one way only
    r"(?<![\w/-])--?[a-zA-Z][\w-]+|(?:(?<![\w/])/)?\w+(?:(?:::|_)\w+)+|(?<![\w/])/\w{2,}(?:/\w+)*|\w+\(\)|(?<![\w.,])[^\W\d]+\d+\w*|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*"
    r"|\b\w+\.(?:py|yaml|yml|xml|cpp|hpp|md|json|toml|txt|sh|urdf|xacro|sdf|js|ts|css|html|ini|cfg|conf|env|launch)\b"
)
_SIGN_OF_CODE = re.compile(r"[_/(:\d]|(?<!\w)-|\w\.\w|\w[A-Z]")  # a word without one of these is no such name
_MAYBE_CODE = re.compile(r"(?<!\S)[^\s_/(:\d-]?[^\s_/(:\d.A-Z-]*+[_/(:\d.A-Z-]\S*+")  # a word that may have one
_WORD = re.compile(r"\S+")
_NAME = re.compile(r"[A-Z](?<=[a-z,;:)] [A-Z])[\w'’-]+(?: [A-Z][\w'’-]+)*")
_UNITS = {
    "%": "%", "percent": "%", "ms": "ms", "millisecond": "ms", "s": "s", "sec": "s", "second": "s", "min": "min",
    "minute": "min", "h": "h", "hour": "h", "day": "day", "week": "week", "month": "month", "year": "year", "hz": "hz",
    "hertz": "hz", "khz": "khz", "mhz": "mhz", "ghz": "ghz", "b": "b", "byte": "b", "kb": "kb", "mb": "mb", "gb": "gb",
    "tb": "tb", "mm": "mm", "cm": "cm", "m": "m", "meter": "m", "metre": "m", "km": "km", "g": "g", "kg": "kg",
    "v": "v", "volt": "v", "a": "a", "w": "w", "watt": "w", "kw": "kw", "n": "n", "nm": "nm", "fps": "fps",
    "rpm": "rpm", "°": "°", "degree": "°", "°c": "°c", "rad": "rad", "radian": "rad", "dollar": "$", "euro": "€",
}  # fmt: skip
_WORDS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "θ": "theta", "λ": "lambda", "μ": "mu",
    "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
_LOOSE = str.maketrans({**_GREEK, **dict.fromkeys("_\\{}^$*`", "")})
_WORD_NUMBER = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)
_THOUSANDS = re.compile(r",(?=\d{3}(?:\D|\Z))")


@dataclass
class Statement:
    """What a text says, as far as it can be looked for: words, and what has to stand in a passage just so."""

    text: str
    words: frozenset[str] = field(init=False)  # those that carry meaning, without their endings
    is_english: bool = field(init=False)  # whether its words can be compared

    def __post_init__(self) -> None:
        words, self.is_english = read_words(self.text)
        self.words = frozenset(words)

    @cached_property
    def numbers(self) -> frozenset[tuple[str, str]]:
        """Numbers in digits, each with its unit, or with none."""
        if not any(map(_DIGITS.search, self._signed)):
            return frozenset()
        found = _NUMBER.findall(_WORD.sub(lambda word: _without_code(word[0]), self.text))
        return frozenset((_plain(number), _unit(unit)) for number, unit in found)

    @cached_property
    def units(self) -> Mapping[str, set[str]]:
        """The units that each number is written with, also one that is a word."""
        units = {_WORDS[word.casefold()]: {""} for word in _WORD_NUMBER.findall(self.text)}
        for number, unit in self.numbers:
            units.setdefault(number, set()).add(unit)
        for number in map(_plain, _DIGITS.findall(self.text)):  # in code, or behind a letter
            units.setdefault(number, {""})
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
        return frozenset(word for name in _NAME.findall(self.text) for word in stems(name))

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

    Without a *comparison* of words the share is whole, as nobody can know; it *is sure* that more passages would lower
    no share.
    """

    share: float
    is_exact: bool
    is_compared: bool = True
    is_sure: bool = True


@dataclass
class Evidence:
    """The passages of one question by their numbers, and what people *said*, which needs no footnote.

    Words are compared only where both are English: of other languages, or of two, numbers and code are.
    """

    said: str = ""
    judged: Mapping[str, bool] = field(default_factory=dict[str, bool])  # sentences of which a second model has spoken
    _passages: dict[int, list[Statement]] = field(default_factory=dict[int, list[Statement]])
    _claims: dict[str, Statement] = field(default_factory=dict[str, Statement])
    _placed: dict[tuple[str, int], int | None] = field(default_factory=dict[tuple[str, int], int | None])
    _shares: dict[str, float] = field(default_factory=dict[str, float])  # of claims, which passages are known to hold
    _before: tuple[str, str] = ("", "")  # a text, and the sentence at its end

    def __bool__(self) -> bool:
        return bool(self._passages)

    def add(self, number: int, text: str) -> None:
        """Take in a passage."""
        known, passage = self._passages.setdefault(number, []), _passage(text)
        if passage not in known:
            known.append(passage)
            self._placed.clear()

    def claim(self, sentence: str) -> Statement:
        """Return a sentence as what it says, which is read once, also where a mark stands before its full stop."""
        bare = sentence.removesuffix(".").rstrip()
        text = sentence if bare.endswith("?") else bare
        claim = self._claims.get(text)
        if claim is None:
            claim = self._claims[text] = Statement(text)
        return claim

    def claim_before(self, text: str) -> str:
        """Return the sentence at the end of a visible text, which is looked for once for all marks that stand there."""
        text = text[-LOOKED_BACK:].replace(NOTE, "").strip()
        if text != self._before[0]:
            self._before = text, ([*sentences(text)] or [""])[-1]
        return self._before[1]

    def support(self, claim: Statement, number: int) -> Support:
        """Return how far a passage supports a claim."""
        found = _support(claim, self._passages.get(number, ()))
        if found.is_exact and found.is_sure:
            self._shares[claim.text] = max(found.share, self._shares.get(claim.text, 0.0))
        return found

    def best(self, claim: Statement, among: Iterable[int]) -> tuple[int, Support]:
        """Return the passage that supports a claim best."""
        found = ((each, self.support(claim, each)) for each in among if each in self._passages)
        return max(found, key=lambda each: (each[1].is_exact, each[1].share), default=(0, Support(0.0, is_exact=False)))

    def place(self, sentence: str, number: int, among: Collection[int]) -> int | None:
        """Return which passage a mark at the end of a sentence names: that one, a better one *among* some, or none."""
        key = sentence, number
        if key not in self._placed:
            self._placed[key] = self._place(self.claim(sentence), number, among)
        return self._placed[key]

    def _place(self, claim: Statement, number: int, among: Collection[int]) -> int | None:
        if number not in self._passages or not claim.is_checkable:
            return number
        named = self.support(claim, number)
        if named.is_exact and named.share >= SAFE:
            return number
        other, best = self.best(claim, among)
        if best.is_exact and best.share >= SAFE and (not named.is_exact or best.share - named.share >= AHEAD):
            return other
        return number if named.is_exact and named.share >= KEPT else None

    def held(self, claim: Statement, *, enough: float) -> float:
        """Return the share of a claim that the passages hold together, with what was said unless that is *enough*.

        It is 0 where something is missing that has to be there. What was said is long, and rarely has to be read. What
        a second model says of the words counts for more than they do.
        """
        if claim.text in self.judged:
            is_exact = self.judged[claim.text] and _support(claim, (*self._all(), self.claim(self.said))).is_exact
            return float(is_exact)
        if (share := self._shares.get(claim.text, 0.0)) >= enough:
            return share
        passages = tuple(self._all())
        found = _support(claim, passages)
        if not (found.is_exact and found.is_sure and found.share >= enough):
            found = _support(claim, (*passages, self.claim(self.said)))
        return found.share if found.is_exact else 0.0

    def compares(self, text: str) -> bool:
        """Return whether a text says enough in words that can be compared with those of the passages."""
        said = self.claim(text)
        return said.is_checkable and said.is_english and any(each.is_english for each in self._all())

    @property
    def texts(self) -> list[str]:
        """The texts of the passages."""
        return [each.text for each in self._all()]

    def quotes(self, text: str) -> bool:
        """Return whether a passage has these words."""
        return any(text in each.text for each in self._all())

    def _all(self) -> Iterator[Statement]:
        return chain.from_iterable(self._passages.values())


@lru_cache(1 << 9)  # the questions of a day find many of the same passages
def _passage(text: str) -> Statement:
    return Statement(text)


def _support(claim: Statement, passages: Iterable[Statement]) -> Support:
    known = tuple(passages)
    is_exact = all(any(_has(each, *number) for each in known) for number in claim.numbers)
    is_exact = is_exact and all(any(code in each.squeezed for each in known) for code in claim.code)
    if not (claim.is_english and any(each.is_english for each in known)):
        return Support(1.0, is_exact, is_compared=False, is_sure=not claim.is_english)
    found = frozenset[str]().union(*(claim.words & each.words for each in known))
    is_exact = is_exact and claim.names <= found
    share = 1.0 if found and found == claim.words else _weight(found) / (_weight(claim.words) or 1)
    return Support(share, is_exact)


def _has(passage: Statement, number: str, unit: str) -> bool:
    """Return whether a passage has a number with that unit, as far as it has any where it stands, as in a table."""
    units = passage.units.get(number, ())
    return bool(units) and (not unit or unit in units or "" in units)


def _weight(words: Iterable[str]) -> int:
    return sum(map(min, map(len, words), repeat(LONG)))


def _without_code(word: str) -> str:
    return _CODE.sub(" ", word) if _SIGN_OF_CODE.search(word) else word


def _squeezed(text: str) -> str:
    """Return a text without what one name is written with here and not there, such as in a formula."""
    return text.casefold().translate(_LOOSE)


def _plain(number: str) -> str:
    number = _THOUSANDS.sub("", number).replace(",", ".")
    return number.rstrip("0").rstrip(".") if number.count(".") == 1 and ":" not in number else number


def _unit(word: str) -> str:
    word = word.replace(" ", "").casefold().replace("μ", "µ")
    return _UNITS.get(word) or _UNITS.get(word.removesuffix("s"), "")
