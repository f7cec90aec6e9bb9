"""Holds what a model writes against the passages that it was given: by words, numbers, names and code.

No other model is asked, so it costs next to nothing and works without any service. It cannot tell a sentence from its
negation, or from one about a neighbour in the same words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from core.answering.figures import LONG, Figure, figures, has_figures
from core.documents.excerpt import pieces, read_words, sentences, stems
from core.model.markup import NOTE

KEPT, SAFE = 0.2, 0.4  # shares of a sentence's words that let a mark stay, or draw it to where they stand
CLOSE, LEADING = 0.7, 0.9  # of the most that a passage has, which a mark needs to stay, or to be drawn to another one
WORSE = 0.7  # of what speaks for another number, below which a passage has that one in the place of a sentence's
NEAREST, TOGETHER = 2.0, 0.5  # what a word next to a number counts, and all other numbers of a sentence in its part
NUMERAL, CONVERTED = 3, 8.0  # letters, for which a number next to it counts, and another unit than was said
MOST_NUMBERS = 20  # of a sentence, that are looked for at their places
ALIKE = 0.5  # of a sentence's words in one part of a passage, from which on that is in its language
COUNTED = frozenset(map(str, range(1, MOST_NUMBERS + 1)))  # how many items a list may be said to have
SAID, FOUNDED = 0.1, 0.3  # shares below which a sentence is told of, or does not count for the answer as a whole
FEWEST = 3  # words that carry meaning: of less, nobody can say whether a passage holds it
LOOKED_BACK = 600  # characters before a mark in which its sentence begins

_ITEM = re.compile(r"(?:[-*+•]|(?:\d+|#)[.)])\s")
_CODE = re.compile(  # names that are written in one way only
    r"(?<![\w/-])--?[a-zA-Z][\w-]+|(?:(?<![\w/])/|(?<!\w))\w+(?:(?:::|_)\w+)+|(?<![\w/])/\w{2,}(?:/\w+)*|(?<!\w)\w++\(\)|(?<![\w.,])\d+(?!x|[eE]\d|h\d\d\b)[^\W\d_]+\d\w*|(?<![\w.,])[^\W\d]+\d+\w*|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*"
    r"|\b\w+\.(?:py|yaml|yml|xml|cpp|hpp|md|json|toml|txt|sh|urdf|xacro|sdf|js|ts|css|html|ini|cfg|conf|env|launch)\b"
)
_SIGN_OF_CODE = re.compile(r"[_/(:\d]|(?<!\w)-|\w\.\w|\w[A-Z]")  # a word without one of these is no such name
_MAYBE_CODE = re.compile(r"(?<!\S)[^\s_/(:\d-]?[^\s_/(:\d.A-Z-]*+[_/(:\d.A-Z-]\S*+")  # a word that may have one
_RUNNING = re.compile(r"\b(?:[^\W\d_]++[ ,'’]++){7}[^\W\d_]++|[^\W\d_A-Za-z\u00c0-\u024f]{4,}")  # but for Latin letters
_NAME = re.compile(r"[A-Z](?<=[a-z,;:)] [A-Z])(?!['’]|SD\b|UR\b|elsius)[\w'’-]+(?: [A-Z][\w'’-]+)*")
_ABOUT_ITSELF = re.compile(  # an offer, a wish, or that something is in none of the sources
    r"\bI(?:['’](?:d|m|ll)| (?:hope|can|could|would|will|am|may))\b"
    r"|\b(?:[Ll]et|[Tt]ell|[Gg]ive|[Aa]sk|like|want) me\b|\b[Ff]eel free\b"
    r"|\b(?:documents?|documentation|passages?|sources?|sections?|excerpts?|context) (?:do|does|did)(?:n['’]t| not)\b"
)
_LETTERS = "alpha beta gamma delta epsilon theta lambda mu pi rho sigma tau phi psi omega"
_GREEK = dict(zip("αβγδεθλμπρστφψω", _LETTERS.split(), strict=True))
_LOOSE = str.maketrans({**_GREEK, **dict.fromkeys("_\\{}^$*`", "")})


@dataclass(eq=False)
class TextPart:
    """A sentence, an item, a row or a line of code."""

    text: str
    column: int  # where in its line it begins
    words: set[str]
    counts: list[int] = field(default_factory=list[int])  # how many rows or items it leads in
    behind: TextPart | None = None  # what says what it is about: the part before, or what leads in its table or list

    @cached_property
    def figures(self) -> Sequence[Figure]:
        """The numbers in it; most claims have none, and ask for none."""
        counted = [Figure(str(each), dict.fromkeys(self.words, 1.0), is_counted=True) for each in self.counts]
        return [*figures(self.text, _without_code(self.text)), *counted] if has_figures(self.text) else counted


@dataclass
class Statement:
    """What a text says, as far as it can be looked for: words, and what has to stand in a passage just so."""

    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        """Those that carry meaning, without their endings."""
        return frozenset([word[:LONG] for word in self._read[0]])

    @property
    def leaning(self) -> int:
        """How many more of its words speak for English than for another language: 0 if nobody can say."""
        return self._read[2]

    @cached_property
    def is_english(self) -> bool:
        """Whether its words can be compared, as far as anybody can say, for instance of a row of a table."""
        running = " ".join(_RUNNING.findall(self.text))
        return self._read[1] or (read_words(running)[1] if running else self.leaning >= 0)

    @cached_property
    def parts(self) -> Sequence[TextPart]:
        """Its sentences, items, rows and lines of code; a row has the words of its head, and all are counted."""
        parts = [TextPart(each, at, {word[:LONG] for word in stems(each)}) for at, each in pieces(self.text)]
        last: TextPart | None = None
        for kind, held in _runs(part for part in parts if part.words):
            for at, part in enumerate(held):
                behind = held[at - 1] if at and not kind else last
                part.behind = None if behind and behind.text.startswith("#") else behind
            head, rows = (held[0], held[1:]) if kind == "|" else (last, held)
            if kind and head:
                head.counts.append(len(rows))
            for row in rows if kind == "|" else ():
                row.words.update(held[0].words)
            last = held[-1]
        return parts

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """The parts that a word is in."""
        places = dict[str, list[int]]()
        for at, part in enumerate(self.parts):
            for word in part.words:
                places.setdefault(word, []).append(at)
        return places

    def reach(self, weights: Mapping[str, float]) -> Sequence[float]:
        """Return how much the words in each of its parts weigh."""
        found, places = [0.0] * len(self.parts), self.places
        for word, weight in weights.items():
            for at in places.get(word, ()):
                found[at] += weight
        return found

    @cached_property
    def figures(self) -> Sequence[Figure]:
        """The numbers in it."""
        return [figure for part in self.parts for figure in part.figures]

    @cached_property
    def readings(self) -> Mapping[str, Sequence[Figure]]:
        """The same by how they can be read."""
        known = dict[str, list[Figure]]()
        for figure in self.figures:
            for value in {figure.value, figure.amount or figure.value, *figure.others}:
                known.setdefault(value, []).append(figure)
        return known

    def has(self, said: Figure) -> bool:
        """Return whether a number that is said is in it."""
        if said.is_about or "." in said.value:
            return any(map(said.may_be, self.figures))
        return any(said.may_be(each) for by in (said.value, said.amount) for each in self.readings.get(by, ()))

    @cached_property
    def said(self) -> Sequence[Figure]:
        """Those that stand for themselves, and not for how many items follow."""
        counts = COUNTED if self._leads_in else ()
        found = self.figures if has_figures(self.text, is_claim=True) else ()
        return [each for each in found if each.is_said and (each.unit or each.is_named or each.value not in counts)]

    @cached_property
    def code(self) -> frozenset[str]:
        """Names of files, functions, options and the like."""
        words = [one for one in self.text.split() if not one.isalpha() or not one.islower()]  # patterns are slow
        return frozenset(_squeezed(name) for one in words if _SIGN_OF_CODE.search(one) for name in _CODE.findall(one))

    @cached_property
    def squeezed(self) -> str:
        """The text as code is looked for in it."""
        return _squeezed(self.text)

    @cached_property
    def names(self) -> frozenset[str]:
        """Words that begin with a capital within a sentence, which an English text has for names only."""
        return frozenset(word[:LONG] for name in _NAME.findall(self.text) for word in stems(name))

    @cached_property
    def _read(self) -> tuple[list[str], bool, int]:
        return read_words(self.text)

    @cached_property
    def is_checkable(self) -> bool:
        """Whether it says enough to be looked for, asks nothing, and is not only about the answer."""
        is_said = not self._leads_in and len(self.words) >= FEWEST and not _ABOUT_ITSELF.search(self.text)
        return (is_said or bool(self.said or self.code or self.names)) and not self.text.rstrip().endswith("?")

    @property
    def _leads_in(self) -> bool:
        """Whether it only begins what follows, such as a list."""
        return self.text.rstrip().endswith(":")


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
    compares_words: bool = True
    judged: Mapping[str, bool] = field(default_factory=dict[str, bool])  # sentences of which a second model has spoken
    passages: list[Statement] = field(default_factory=list[Statement])
    _numbered: dict[int, list[Statement]] = field(default_factory=dict[int, list[Statement]])
    _is_english: bool = False  # whether one of them is
    _claims: dict[str, Statement] = field(default_factory=dict[str, Statement])
    _supports: dict[tuple[str, int], Support] = field(default_factory=dict[tuple[str, int], Support])
    placed: set[str] = field(default_factory=set[str])  # sentences whose passage is in another language
    _unread: list[Statement] = field(default_factory=list[Statement])
    _leaning: int = 0  # of the answer, as far as it was read, to English
    _before: tuple[str, str] = ("", "")  # a text, and the sentence at its end

    def add(self, number: int, text: str) -> None:
        """Take in a passage."""
        known, passage = self._numbered.setdefault(number, []), _passage(text)
        if passage not in known:
            known.append(passage)
            self.passages.append(passage)
            self._unread.append(passage)
            self._is_english = self._is_english or (self.compares_words and passage.is_english and passage.leaning > 0)
            self._supports.clear()

    def read_ahead(self) -> None:
        """Read one more passage, as the first claim would hold everything up if it had to wait for all of them."""
        _ = self._unread.pop(0).places if self._unread else ()

    def claim(self, sentence: str) -> Statement:
        """Return a sentence as what it says, which is read once, also where a mark stands before its full stop."""
        bare = sentence.removesuffix(".").rstrip()
        text = sentence if bare.endswith("?") else bare
        if text not in self._claims:
            self._claims[text] = Statement(text)
            self._leaning += self._claims[text].leaning if sentence != self.said else 0
        return self._claims[text]

    def compares(self, claim: Statement) -> bool:
        """Return whether words count: if a claim's own do not say its language, those of the answer or question do."""
        leaning = claim.leaning or self._leaning or self.claim(self.said).leaning
        return self._is_english and claim.is_english and leaning > 0

    def claim_before(self, text: str, row: str) -> str:
        """Return the sentence at the end of a visible text, or all of its row; once for all marks that stand there."""
        text = f"{row} | {text}"[-LOOKED_BACK:].replace(NOTE, "").strip(" \n\t|")
        if text != self._before[0]:
            self._before = text, text if row else (sentences(text) or [""])[-1]
        return self._before[1]

    def support(self, claim: Statement, number: int) -> Support:
        """Return how far a passage supports a claim, once for all marks; words close together count for more."""
        key, passages = (claim.text, number), self._numbered.get(number, ())
        if known := self._supports.get(key):
            return known
        found = self._support(claim, passages)
        letters = {word: len(word) for word in claim.words}  # long ones tell more than short ones
        reach = max((part for each in passages for part in each.reach(letters)), default=0)
        most = reach / (sum(letters.values()) or 1)
        has_place = claim.said and (found.is_compared or most >= ALIKE)
        is_exact = found.is_exact and not (has_place and _contradicts(claim, passages))
        share = (found.share + most) / 2 if found.is_compared else 1.0
        return self._supports.setdefault(key, found._replace(is_exact=is_exact, share=share))

    def best(self, claim: Statement, among: Iterable[int]) -> tuple[int, Support]:
        """Return the passage that supports a claim best, of those that can be compared with it if there are any."""
        none = (0, Support(0.0, is_exact=False))
        found = [(each, self.support(claim, each)) for each in among if each in self._numbered] or [none]
        most = LEADING * max(each.share * each.is_compared for _, each in found)
        return max(found, key=lambda one: (one[1].is_exact and one[1].share >= most, one[1].is_compared, one[1].share))

    def place(self, sentence: str, number: int, among: Collection[int]) -> int | None:
        """Return which passage a mark at the end of a sentence names: that one, a better one *among* some, or none."""
        claim = self.claim(sentence)
        if number not in self._numbered or not claim.is_checkable:
            return number
        named = self.support(claim, number)
        if named.is_exact and named.share >= CLOSE:  # as no other can have so much more
            self.placed.update(() if named.is_compared else (claim.text,))
            return number
        other, best = self.best(claim, among)
        if named.is_exact and named.share >= max(KEPT, CLOSE * best.share * best.is_exact):
            return number
        return other if best.is_exact and best.is_compared and best.share >= SAFE else None

    def held(self, claim: Statement, *, enough: float) -> float:
        """Return the share of a claim that one passage holds, or what was said; the first that is *enough* will do.

        It is 0 where none has what has to be there. What a second model says of the words counts for more.
        """
        found = self._support(claim, (*self.passages, self.claim(self.said)))
        if claim.text in self.judged:
            return float(self.judged[claim.text] and found.is_exact)
        if claim.text in self.placed or not (found.is_exact and found.is_compared):
            return float(found.is_exact or claim.text in self.placed)
        self._numbered[0], best = [self.claim(self.said)], 0.0
        for number in sorted(self._numbered, key=lambda each: (claim.text, each) not in self._supports):  # known first
            if best < enough and (held := self.support(claim, number)).is_compared:
                best = max(best, held.share)
        return best

    def _support(self, claim: Statement, known: Collection[Statement]) -> Support:
        is_compared = self.compares(claim) and any(each.is_english for each in known)
        looked_for = (said for said in claim.said if is_compared or not said.is_counted)  # not all numerals are known
        is_exact = all(any(each.has(said) for each in known) for said in looked_for)
        is_exact = is_exact and all(any(code in each.squeezed for each in known) for code in claim.code)
        if not is_compared:
            return Support(1.0, is_exact, is_compared=False)
        found = claim.words - claim.words.difference(*(each.words for each in known))
        for name in claim.names - found:  # which may be cut, as "Dec" is for December
            is_exact = is_exact and any(name[2:] and word.startswith(name) for each in known for word in each.words)
        return Support(sum(map(len, found)) / (sum(map(len, claim.words)) or 1), is_exact)


_passage = lru_cache(1 << 9)(Statement)  # the questions of a day find many of the same passages


class NumberPlace(NamedTuple):
    """Where a number stands: in which part of the passages, and how much of a claim is there or just before."""

    figure: Figure
    part: TextPart
    reach: float
    beside: set[str]  # which numbers of the claim are in that part


def _contradicts(claim: Statement, passages: Sequence[Statement]) -> bool:
    """Return whether more of a claim, and of what is around a number of it, is around another number."""
    times = {word: sum(len(each.places.get(word, ())) for each in passages) for word in claim.words}
    weights = {word: len(word) / many for word, many in times.items() if many}
    places = [*_places(claim, passages, weights)]
    for at, said in enumerate(claim.said[:MOST_NUMBERS]):
        own, others = list[tuple[float, NumberPlace]](), list[tuple[float, NumberPlace]]()
        for place in places:
            together = TOGETHER * len(place.beside - {said.value}) / len(claim.said)
            score = place.reach * (1 + together) + _near(said, place.figure, weights)
            if said.may_be(place.figure):
                own.append((score + CONVERTED * said.is_converted(place.figure), place))
            elif said.could_be(place.figure) and not any(map(place.figure.is_named_in, claim.said)):
                others.append((score, place))
        own.sort(key=lambda each: -each[0])
        again = sum(each.value == said.value and each.unit in ("", said.unit) for each in claim.said[:at])
        if not own or any(_outdoes(said, other, own, again) for other in others):
            return True
    return False


def _outdoes(
    said: Figure, other: tuple[float, NumberPlace], own: Sequence[tuple[float, NumberPlace]], again: int
) -> bool:
    """Return whether another number is in the place of one that was said *again* so many times."""
    score, (figure, part, *_) = other
    left = own[again:] if part == own[0][1].part else own  # as in "between 12 and 12"
    is_labelled = bool(said.label) and figure.label == said.label  # so its own has to be too, or as good as this one
    return all(
        mine < score * (1 if is_labelled and place.figure.label != said.label else WORSE) for mine, place in left
    )


def _places(claim: Statement, passages: Sequence[Statement], weights: Mapping[str, float]) -> Iterator[NumberPlace]:
    for passage in passages:
        reach = dict[TextPart | None, float](zip(passage.parts, passage.reach(weights), strict=True))
        for part in (each for each in passage.parts if each.figures):
            beside = {each.value for each in part.figures}.intersection(each.value for each in claim.said)
            most = max(
                reach[part], reach.get(part.behind, 0.0)
            )  # and names with digits, such as "X2", which are no words
            most += LONG * sum(name in _squeezed(part.text) for name in claim.code if any(map(str.isdecimal, name)))
            yield from (NumberPlace(figure, part, most, beside) for figure in part.figures)


def _near(said: Figure, found: Figure, weights: Mapping[str, float]) -> float:
    shared = said.around.keys() & found.around.keys()
    return NEAREST * sum(weights.get(each, NUMERAL) * min(said.around[each], found.around[each]) for each in shared)


def _runs(parts: Iterable[TextPart]) -> Sequence[tuple[str, list[TextPart]]]:
    """Return the rows of each table, the items of each list, without what is in them, and what stands between."""
    runs = list[tuple[str, list[TextPart]]]()
    for part in parts:
        kind = "|" if part.text.startswith("|") else "-" if _ITEM.match(part.text) else ""
        last, held = runs[-1] if runs else ("", [])
        if last == "-" and kind != "|" and part.column > held[0].column:
            continue
        if not runs or kind != last:
            runs.append((kind, held := []))
        held.append(part)
    return runs


def _without_code(text: str) -> str:
    """Return a text with blanks where it has names of code."""
    signed = _SIGN_OF_CODE.search
    return _MAYBE_CODE.sub(
        lambda at: _CODE.sub(lambda name: " " * len(name[0]), at[0]) if signed(at[0]) else at[0], text
    )


def _squeezed(text: str) -> str:
    """Return a text without what one name is written with here and not there, such as in a formula."""
    return text.casefold().translate(_LOOSE)
