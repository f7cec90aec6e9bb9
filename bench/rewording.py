"""Answers that are made by rule from the sentences of pages, in other words and another order than theirs.

Nobody has to write them, so a further set costs nothing but another seed and other pages; but they stay closer to
their passages than what people and models write.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.corpora import lines, need
from core.answering.claims import Statement
from core.documents.excerpt import sentences

SHORTEST, LONGEST = 300, 2500  # characters of a section that is one passage
PASSAGES, FEWEST, MOST = 4, 5, 8  # of an answer: passages, and sentences
ABSTRACTS = 997  # groups of them, each of which is taken for a page
SHORTENED = 6  # words of a clause that can stand alone
_HEADING = re.compile(r"^(?=#{1,6} )|^(?=\S.*\n(?:=+|-+|~+|\^+)\n)", re.MULTILINE)
_USABLE = re.compile(r"[A-Z`][^$\\|<>#]{40,260}[a-z0-9%)`]\.", re.DOTALL)
_MARKED = re.compile(r":\w+:`|`_|https?:|::|\]\(|\n\s*[-*|:]")
_DIGIT = re.compile(r"\d")
_LEADING = re.compile(
    r"(?:However|For example|For instance|Therefore|Thus|Additionally|In addition|Moreover|Note that|Finally|Then|So"
    r"|But|And|Also|Here|Next|Now|Furthermore|In particular|As a result|In other words|Instead|Again),? (?=\w)"
)
_CLAUSE = re.compile(r", (?=(?:and|but|so|while|whereas|although|because|since) )|; | — ")
_FRONT = re.compile(
    r"(If|When|Once|After|Before|To|In|For|With|On|By|While|Since|From|At) ([^,.]{8,90}), ([^:]{20,})\."
)
_ASIDE = re.compile(r"\s*\([^()]*\)")
_ADVERB = re.compile(r"\b(?!only|early|apply|reply|supply|daily|family|assembly)[a-z]{3,}ly (?=[a-z])")
_WORDS = """use:employ uses:employs used:employed using:employing shows:displays show:display need:require
needs:requires helps:assists large:big allows:lets provides:gives provide:give must:should several:some
start:begin starts:begins create:make creates:makes ensure:guarantee perform:do performs:does obtain:get
obtained:got important:essential demonstrate:show identified:found reduced:lowered increase:rise
increased:raised method:way methods:ways many:numerous various:different also:too because:since
then:afterwards begin:start fast:quick often:frequently usually:normally choose:pick run:execute
runs:executes contains:has contain:have support:back describes:explains whole:entire"""
_OTHER = {word: other for word, _, other in (pair.partition(":") for pair in _WORDS.split())}
_SAME = re.compile(rf"\b(?:{'|'.join(_OTHER)})\b")
_NUMERALS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_NUMERAL = re.compile(rf"\b(?:{'|'.join(_NUMERALS)}) (?=[a-z])")
_THOUSAND = re.compile(r"(?<=\d),(?=\d{3}\b)")
_TIGHT = re.compile(r"(?<=\d)(?=(?:GB|MB|KB|kg|ms|mm|cm|Hz|GHz|MHz)\b)")
_LOOSE = re.compile(r"(?<=\d) (?=(?:GB|MB|KB|kg|ms|mm|cm|Hz|GHz|MHz)\b)")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page with its title."""

    page: str
    page_title: str
    title: str
    text: str


def reworded(sentence: str, chance: random.Random) -> str:
    """Return a sentence in other words that say the same, or nearly."""
    said = " ".join(sentence.split()).replace("**", "").replace("``", "`")
    said = _ASIDE.sub("", _LEADING.sub("", said, count=1))
    said = _ADVERB.sub(lambda found: found[0] if chance.random() < 0.5 else "", said)
    said = _SAME.sub(lambda found: _OTHER[found[0]], said)
    said = _NUMERAL.sub(lambda found: f"{_NUMERALS[found[0].strip()]} " if chance.random() < 0.5 else found[0], said)
    said = _LOOSE.sub("", said) if chance.random() < 0.5 else _TIGHT.sub(" ", said)
    said = _THOUSAND.sub("", said) if chance.random() < 0.5 else said
    said = re.sub(r"(?<=\d) ?%", " percent", said) if chance.random() < 0.5 else said
    said = _shortened(said) if chance.random() < 0.5 else said
    if found := _FRONT.fullmatch(said):
        said = f"{found[3]} {found[1].lower()} {found[2]}."
    return said[:1].upper() + said[1:]


def _shortened(said: str) -> str:
    """Return a sentence without what it says in other clauses than those that have its numbers."""
    clauses = [each.rstrip(".") for each in _CLAUSE.split(said)]
    counted = [each for each in clauses if _DIGIT.search(each)]
    return f"{counted[0]}." if len(counted) == 1 and len(counted[0].split()) >= SHORTENED else said


def sections(corpus: str, root: Path) -> Iterator[Section]:
    """Yield the parts of the pages of a corpus that are neither too short nor too long."""
    if corpus == "scifact":
        for item in lines(need("scifact") / "corpus.jsonl"):
            yield Section(item["id"], item["title"], item["title"], item["text"])
        return
    for path in sorted(each for each in root.rglob("*") if each.suffix in {".md", ".rst"}):
        parts = [part for part in _HEADING.split(path.read_text(encoding="utf-8")) if part.strip()]
        titles = [part.lstrip("# ").partition("\n")[0] for part in parts]
        for part, title in zip(parts, titles, strict=True):
            yield Section(str(path.relative_to(root)), titles[0], title, part)


def usable(text: str) -> list[str]:
    """Return the whole sentences of running text."""
    said = [each for each in sentences(text) if _USABLE.fullmatch(each) and not _MARKED.search(each)]
    return [each for each in said if Statement(each).is_checkable]


def answers(
    corpus: str, root: Path, known: Collection[str], *, half: int, seed: int, most: int
) -> Sequence[tuple[Sequence[Section], str]]:
    """Return passages and an answer made of them, of pages that are not *known*, in one half of all pages."""
    chance, pages = random.Random(f"{seed} {corpus}"), dict[str, list[Section]]()
    for each in sections(corpus, root):
        is_fit = SHORTEST <= len(each.text) <= LONGEST and each.page not in known
        if is_fit and zlib.crc32(each.page.encode()) % 2 == half:
            together = str(int(each.page) % ABSTRACTS) if corpus == "scifact" else each.page
            pages.setdefault(together, []).append(each)
    made = [_answer(held, chance) for _, held in sorted(pages.items())]
    found = [each for each in made if each]
    return chance.sample(found, min(most, len(found)))


def _answer(held: Sequence[Section], chance: random.Random) -> tuple[Sequence[Section], str] | None:
    at = chance.randrange(max(len(held) - PASSAGES, 0) + 1)
    passages = held[at : at + PASSAGES]
    said = [(number, each) for number, part in enumerate(passages, 1) for each in usable(part.text)]
    counted = [each for each in said if _DIGIT.search(each[1])]
    chosen = chance.sample(counted, min(len(counted), FEWEST))
    others = [each for each in said if each not in chosen]
    chosen += chance.sample(others, min(len(others), chance.randint(FEWEST, MOST) - len(chosen)))
    if len(passages) == 1 or len(chosen) < FEWEST or not counted:
        return None
    return passages, " ".join(f"{reworded(each, chance)[:-1]} [{number}]." for number, each in sorted(chosen))
