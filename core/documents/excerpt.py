"""Words and sentences of plain text, and the window of whole sentences in a passage that fits a query best."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, zip_longest
from math import fsum

_WORD = re.compile(r"\w+", re.UNICODE)
# Linear: of a run of marks only the first is looked at, and white space is read line by line. It begins with a set of
# characters, between which the engine finds its way quickly; so what stands before a mark is one place further back.
_ENDING = r"""[.!?…。！？\n](?:
        (?<=[.!?…])(?<![.!?…]{3})(?<![\s.*_(][A-Z0-9].)(?<!\be\.g.)(?<!\bi\.e.)  # not an initial, or of a list
        (?<!\A[A-Z0-9].)(?<!\A\d\d.)(?<!\n\d\d.)(?<!\*\d\d.)
        (?<!\bvs.)(?<!\bcf.)(?<!\bal.)(?<!\bDr.)(?<!\bMr.)(?<!\bEq.)(?<!\bFig.)(?<!\betc.)
        [.!?…]*+["'”’)\]*_`]*+       # the end, with what closes after it
        (?=\s++["'“‘(\[*_`$]*[^\sa-z])  # and a new beginning
      | (?<=[。！？])[。！？]*
      | (?<=\n)\n*(?=[^\S\n]*+(?:\n|[-*+>|\#]|\d++[.)]\s|:::|\$\$|[`~]{3}|\Z))  # a new block; a wrapped line goes on
      )"""
_END = re.compile(_ENDING, re.VERBOSE)
_END_BESIDE_FORMULAS = re.compile(rf"{_ENDING} | (?<=\$\$)\s*\n", re.VERBOSE)
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"\n")
_ROW = re.compile(r"^[ \t]*\|.*", re.MULTILINE)
_FOREIGN = re.compile(r"[ß-öø-ɏ]")  # Latin, in small letters, beyond those of English
_STOP_WORDS = """a about above after again all also am an and any are as at be because been before being below between
both but by can could did do does doing don down during each few for from further get give had has have having he her
here hers him his how i if in into is it its itself just let make me more most my name no nor not now of off on once one
only or other our out over own same say she should so some such tell than that the their them then there these they this
those through to too under until up us use used using very was way we were what when where which while who whom whose
why will with within without would you your"""
_STOP = frozenset(_STOP_WORDS.split())
# Words on that list that are common in other languages too, so that they speak for none.
_SHARED = """a all also am an any as at be been by can do for from had has have he her his i if in into is it let me
most my name no nor of off on once one or other over own same so some such than that to too under up us use was way we
were will"""
_TELLING = _STOP.difference(_SHARED.split())
# What holds sentences together in others: German, Dutch, French, Spanish, Portuguese, Italian, Swedish, Danish, Polish,
# Czech, Romanian, Hungarian, Finnish, Turkish and Indonesian; none is common in English texts, as "OS" and "pod" are.
_OTHERS = """aan aber adalah af al alla alle als anche ao aos att até au auch auf aus aux av avec bei bir bis bu być ce
ces cette che chi como con cuando da daha dal dalla dan dans dapat das dass de degli dei del della delle dem den dengan
denn der des deve deze değil di din dit dla doch donde dove du durch een egy ein eine einem einen einer eines ej el ela
ele ella elle eller em en entre er es essa esse est esta este et ett että foi från för gaat geen gli haar han hasta hay
heeft hem het hij hogy hon hvis ich ihm ihn ihr ikke il ile ils inte ist itu için ja jag jak jako je jest jsou kan kann
kein keine kun la las le les leur lo los lui maar mai mais man mas meer met mit muy más na naar nach ne nebo nel nella
nem ni nicht nie niet noch nog nos nous nu nur não när nå och od oder og ogni ohne olarak om onder ook op oraz ou ovat
pada par para pas pe pela pelo pentru perché pero però peut più po pode por pro przez puede può på při quando que quello
quem questa questo qui sa sans sau se sein sem ser ses seu si sich sie sind się sobre som sono sont sotto sous su sua
sul sulla sur sus são są tai también também te tego tidak til till tot tra uit um uma un una unas und une uno unos untuk
vagy van ved veya vid você vom von voor vor vous wat wenn werden wie wird worden wordt wurde ya yang ze zijn zo zu zum
zur är è és że že și"""
_OTHER = frozenset(_OTHERS.split())
_ENDINGS = ("ations", "ation", "ings", "ing", "ys", "ies", "ied", "es", "ed", "s", "e", "y")


def stems(text: str) -> list[str]:
    """Return the words that carry meaning, lower-case, with common English endings cut off."""
    return [_stem(word) for word in _WORD.findall(text.casefold()) if word not in _STOP]


def read_words(text: str) -> tuple[list[str], bool, int]:
    """Return the stems of a text, whether it reads as English, and how many more words speak for that than against it.

    Of an English text, at least every eighth word is one that only holds sentences together, and of those that only one
    language has, English ones are no fewer than others. A letter that English does not have speaks for another one.
    """
    text = text.casefold()
    words = _WORD.findall(text)
    kept = [word for word in words if word not in _STOP]
    others = sum(map(_OTHER.__contains__, words)) + bool(_FOREIGN.search(text))
    leaning = sum(map(_TELLING.__contains__, words)) - others
    is_english = (len(words) - len(kept)) * 8 >= len(words)
    return [_stem(word) for word in kept], is_english and leaning >= 0, leaning


@lru_cache(1 << 14)  # texts repeat their words
def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:  # noqa: PLR2004 - a stem of three letters still tells words apart
            return word[: -len(ending)]
    return word


_LONG_WORD = re.compile(r"(?<![\w-])[A-Za-z][a-z]{4,}(?![\w-])")  # and no name in capitals


def respelled(text: str, passages: Iterable[str], count_tokens: Callable[[str], int]) -> str:
    """Return a text in which a long word becomes the one of the passages that is a slip away, if they have it not.

    One that they write as two words becomes these. A word that is a token of its own is a common one, and is left
    alone, and so is one of which they have another form.
    """
    unsure = [word for word in map(str.casefold, _LONG_WORD.findall(text)) if count_tokens(word) > 1]
    said = "\n".join(map(str.casefold, passages)) if unsure else ""  # each by itself: ASCII alone is folded quickly
    for word in unsure:
        if word not in said:
            alike = re.findall(rf"{word[0]}(?<!\w.)[a-z]{{{len(word) - 2},{len(word)}}}\b", said)
            near = next((each for each, _ in Counter(alike).most_common() if _is_slip(word, each)), word)
            if word in said.replace(" ", "").replace("-", ""):  # which takes little time, and is hardly ever so
                apart = "[ -]?".join((word[1:3], *word[3:-3], word[-3:]))
                near, *_ = *re.findall(rf"{word[0]}(?<!\w.){apart}(?=s?\b)", said), near
            if _stem(near) != _stem(word):
                text = re.sub(rf"\b{word}\b", near, text, flags=re.IGNORECASE)
    return text


def _is_slip(word: str, other: str) -> bool:
    """Return whether one word becomes the other by one slip of a key."""
    same = next(at for at, (one, two) in enumerate(zip_longest(f"{word}.", other)) if one != two)
    old, new = word[same:], other[same:]
    swapped = old[1::-1] + old[2:]
    return new in (old[1:], swapped) or new[1:] in (old, old[1:])


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the places of sentences, with their closing marks; list items, rows and lines of code count as such."""
    spans, here, end = list[tuple[int, int]](), 0, _END_BESIDE_FORMULAS if "$$" in text else _END
    for fence in _FENCED.finditer(text) if "```" in text or "~~~" in text else ():
        spans += _spans(text, here, fence.start(), end)
        spans += _spans(text, fence.start(), fence.end(), _LINE)
        here = fence.end()
    return spans + _spans(text, here, len(text), end)


def _spans(text: str, start: int, end: int, break_after: re.Pattern[str]) -> list[tuple[int, int]]:
    spans = list[tuple[int, int]]()
    for last in (*_ends(text, start, end, break_after), end):
        if part := text[start:last].lstrip():
            spans.append((last - len(part), last - len(part) + len(part.rstrip())))
        start = last
    return spans


def _ends(text: str, start: int, end: int, break_after: re.Pattern[str]) -> Iterator[int]:
    """Yield where sentences end; between two backticks of one line, or in a formula, nothing ends."""
    at, marks, dollars, has_marks = start, 0, 0, "`" in text
    for found in break_after.finditer(text, start, end):
        if break_after is _END_BESIDE_FORMULAS:  # of which none goes on behind an empty line
            dollars += text.count("$$", at, found.end())
            dollars *= "\n\n" not in text[found.start() : found.end() + 1]
        if has_marks:
            line = text.rfind("\n", at, found.start()) + 1
            marks = text.count("`", line or at, found.end()) + (0 if line else marks)
            marks *= not found[0].endswith("\n")
        at = found.end()
        if not (marks % 2 or dollars % 2):
            yield at


def sentences(text: str) -> list[str]:
    """Cut running text into sentences."""
    return [text[start:end] for start, end in sentence_spans(text)]


def pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a text, its items and whole rows, each with its place in its line."""
    here = 0
    for start, end in [*(row.span() for row in _ROW.finditer(text)), (len(text), len(text))]:
        for first, last in sentence_spans(text[here:start]):
            yield here + first - text.rfind("\n", 0, here + first) - 1, text[here + first : here + last]
        if start < end:
            yield 0, text[start:end].strip()
        here = end


def excerpt(text: str, query: str, *, limit: int) -> str:
    """Return at most *limit* characters of *text*: the run of whole sentences that shares most with *query*.

    A sentence counts once for each different word of the query, rare words of the passage more; of equal windows the
    first wins. A sentence longer than the limit is cut between words. A window that begins inside of code begins with
    the line that opens it, so that it is still read as code.
    """
    if len(text) <= limit:
        return text
    windows, wanted = _windows(text, limit), _words(query)
    found = [wanted & words for words, *_ in windows]
    weights = {word: 1 / times for word, times in Counter(chain.from_iterable(found)).items()}
    best, window, known = -1.0, "", 0
    for first, (_, behind, opening, start, end) in enumerate(windows):
        newest, known = found[max(known, first) : behind], behind
        if not newest or (window and not any(newest)):  # no more words than in the window before
            continue
        words = set[str]().union(*found[first:behind])
        score = fsum(map(weights.__getitem__, words))  # exact, so that the order of a set does not matter
        if score > best:
            best, window = score, opening + text[start:end]
        if behind == len(windows):  # all others are a part of it
            break
    return window


@lru_cache(64)  # several passages are compared with a query
def _words(text: str) -> frozenset[str]:
    return frozenset(stems(text))


@lru_cache(256)  # the searches of one question, and the questions of a day, find many of the same passages
def _windows(text: str, limit: int) -> Sequence[tuple[frozenset[str], int, str, int, int]]:
    """Return the window that begins with each sentence: its words, which sentence is behind the window, and its place.

    Before the place is the line that opens the code it is in. No sentence is longer than *limit*.
    """
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        here = start
        while end - here > limit:
            cut = text.rfind(" ", here + 1, here + limit + 1)
            cut = cut if cut > here else here + limit
            spans.append((here, cut))
            here = cut
        spans.append((here, end))
    fences = [(fence.start(), fence.end()) for fence in _FENCED.finditer(text)]
    ends, windows = [end for _, end in spans], list[tuple[frozenset[str], int, str, int, int]]()
    for start, end in spans:
        opening = _opening(text, start, fences)
        behind = bisect_right(ends, start + limit - len(opening))
        windows.append((frozenset(stems(text[start:end])), behind, opening, start, ends[behind - 1]))
    return windows


def _opening(text: str, place: int, fences: Sequence[tuple[int, int]]) -> str:
    """Return the line that opens the code around a place, and the place's indent; nothing outside of code."""
    at = bisect_right(fences, (place, len(text))) - 1
    if at < 0 or place >= fences[at][1]:
        return ""
    line, end, _ = text[slice(*fences[at])].partition("\n")
    if place < fences[at][0] + len(line):
        return ""
    before = text[text.rfind("\n", 0, place) + 1 : place]
    return f"{line}{end}{before}" if before.isspace() else f"{line}{end}"
