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
    r"(?:#+\s*\d+(?:\.\d+)*[.)]?|\d+[.)]"
    r"|[*_#\s]*(?:step|option|method|phase|part|tip|schritt|étape|paso|passo|stap)\s\d+[*_]*[:.)])\s",
    re.IGNORECASE,
)
_ALIKE = """% percent prozent,ms millisecond,s sec second sekunde sekunden seconde segundo secondo secondi
seconden,min minute minuten minuto minuti minuut,h hour hr stunde stunden heure hora ora ore uur,day tag tage tagen
jour giorno giorni dia dag dagen,week woche wochen semaine semana settimana settimane weken,month monat monate monaten
mois mese mesi maand maanden,year jahr jahre jahren anno anni ano jaar,hz hertz,khz,mhz,ghz,b byte,kb,mb,gb,tb,mm
millimeter millimetre,cm centimeter centimetre zentimeter,m meter metre,km kilometer kilometre,g gram,kg kilogram
kilogramm kilo,v volt,w watt,kw,n,nm,fps,rpm,° degree,°c,rad radian,$ dollar,€ euro"""
# What one of a unit is in another one.
_SCALES = {
    "s": (1, "s"), "ms": (0.001, "s"), "min": (60, "s"), "h": (3600, "s"), "day": (86_400, "s"),
    "week": (604_800, "s"), "month": (1, "month"), "year": (12, "month"), "mm": (0.001, "m"), "cm": (0.01, "m"),
    "m": (1, "m"), "km": (1000, "m"), "g": (0.001, "kg"), "kg": (1, "kg"), "hz": (1, "hz"), "khz": (1000, "hz"),
    "mhz": (1e6, "hz"), "ghz": (1e9, "hz"), "kb": (0.001, "mb"), "mb": (1, "mb"), "gb": (1000, "mb"), "tb": (1e6, "mb"),
    "w": (1, "w"), "kw": (1000, "w"),
}  # fmt: skip
_CLOCK = re.compile(
    r"(\d\d?)(?::(\d\d))?\s?(?:(?:to|and|until|till|-|–)\s?\d\d?(?::\d\d)?\s?)?([ap])\.?m\b", re.IGNORECASE
)
_HOUR = re.compile(r"\d\d?:\d\d")
_BEHIND = re.compile(r"[ \u00a0-]([^\W\d_]{3,13}+)(?! (?:ago|before|earlier|later)\b)")  # which would be reckoned
_PART = re.compile(r"\b(?:(half) (?:an?|of an)|an?) ([a-z]{3,6})( and a half)?\b")
_UNITS = {name: names.split()[0] for names in _ALIKE.split(",") for name in names.split()}
_NUMERALS = """zero,one,two twice,three third,four fourth,five fifth,six sixth,seven seventh,eight eighth,nine ninth,
ten tenth,eleven eleventh,twelve twelfth dozen,thirteen,fourteen,fifteen,sixteen,seventeen,eighteen,nineteen,twenty"""
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}
# Common ones as German, French, Spanish, Portuguese, Italian and Dutch write them.
_ELSEWHERE = """2 zwei deux dos dois duas twee,3 drei trois tres três tre drie,4 vier quatre cuatro quatro quattro,
5 fünf cinq cinco cinque vijf,6 sechs seis sei zes,7 sieben sept siete sete sette zeven,8 acht huit ocho oito otto,
9 neun neuf nueve nove negen,10 zehn dix diez dez dieci tien,11 elf onze undici,12 zwölf douze doce doze dodici twaalf,
15 fünfzehn quinze quince quindici vijftien,20 zwanzig vingt veinte vinte venti twintig,
30 dreissig trente treinta trinta trenta dertig,40 vierzig quarante cuarenta quarenta quaranta veertig,
50 fünfzig cinquante cincuenta cinquenta cinquanta vijftig,60 sechzig soixante sesenta sessenta sessanta zestig,
90 neunzig noventa novanta negentig,100 hundert cien cem cento honderd"""
_WORDS = {
    **_TENS,
    **{name: number for number, names in enumerate(_NUMERALS.split(",")) for name in names.split()},
    **{name: int(names.split()[0]) for names in _ELSEWHERE.split(",") for name in names.split()[1:]},
}
_CARDINALS = frozenset(names.split()[0] for names in _NUMERALS.split(",")[2:])
_ORDINALS = frozenset(name for names in _NUMERALS.split(",") for name in names.split()[1:])
_TELLING = frozenset((*_WORDS, "half", "hour"))
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
    is_said: bool = (
        False  # whether it stands for itself: with a unit or in digits, in no code, not for the order of items
    )
    is_counted: bool = False  # whether it does so as a word
    is_order: bool = False
    is_about: bool = False  # whether it is said to be rounded
    label: str = ""  # the word right before it, as in "port 8080"
    is_named: bool = False  # whether that is a name, as in "ROS 2"
    amount: str = ""  # how much it is in whatever unit it is written, or the time of day

    def may_be(self, found: Figure) -> bool:
        """Return whether one that is said may be one that is *found*, in other words, rounded or cut."""
        if found.is_order and (self.unit or not self.label):
            return False
        if self.amount and self.amount == found.amount:
            return True
        if self.unit and found.unit not in ("", self.unit):
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
    return bool(_DIGIT.search(text)) or not _TELLING.isdisjoint(_LETTERS.findall(text.casefold()))


def figures(text: str, bare: str) -> Iterator[Figure]:
    """Yield the numbers of a sentence, an item or a row, of which *bare* has blanks where it has code."""
    signs = "€" if _FORMULA.search(text) else "$€"
    units = {at.start(1): _sign(text, at.start(), signs) or _unit(at[2] or "") for at in _NUMBER.finditer(bare)}
    order, last, here = _ORDER.match(text), None, -1
    tokens = [(token, _word(token[0])) for token in _TOKEN.finditer(text)]
    words = [word for _, word in tokens if word]
    for token, word in tokens:
        before, last = last, token
        here += bool(word)
        if token[0][-1].isdecimal():
            yield _figure(text, token, before, units, order)._replace(around=_around(words, here))
        elif word and _is_numeral(word):
            yield _worded(text, token, before, word)._replace(around=_around(words, here))
    for half, name, more in _PART.findall(text) if "half" in text or "hour" in text else ():
        if unit := _UNITS.get(name):  # what is only "an hour" may be meant for each of them
            value = "0.5" if half else "1.5" if more else "1"
            is_said = value != "1"
            yield Figure(value, {}, unit, is_said=is_said, is_counted=is_said, amount=_amount(value, unit))


def _worded(text: str, token: re.Match[str], before: re.Match[str] | None, word: str) -> Figure:
    """Return a number that is written as a word; with a unit it stands for itself, as in digits."""
    beside = before[0].casefold() if before and not text[before.end() : token.start()].strip() else ""
    behind = _BEHIND.match(text, token.end())
    unit = "" if beside in _WORDS or word in _ORDINALS else _unit(behind[1] if behind else "")
    value = str(sum(map(_WORDS.__getitem__, word.split("-"))))
    return Figure(
        value,
        {},
        unit,
        is_said=bool(unit) and word not in ("zero", "one"),
        is_counted=word in _CARDINALS or bool(unit),
        is_about=beside in _ROUNDING,
        amount=_amount(value, unit),
    )


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
    value, unit = _plain(token[1] or token[0]), units.get(start, "")
    return Figure(
        value,
        {},
        unit,
        [_plain(each) for each in _WHOLE.findall(_THOUSANDS.sub("", token[0]))],
        is_said=start in units and not is_order,
        is_order=is_order,
        is_about=beside.casefold() in _ROUNDING or text[max(token.start() - 1, 0)] in "~≈",
        label=label,
        is_named=bool(label) and beside[0].isupper(),
        amount=_amount(value, unit) if unit else _clock(text, start),
    )


def _amount(value: str, unit: str) -> str:
    """Return how much a number of a unit is in another one that all of its kind have; nothing if there is none."""
    if unit not in _SCALES or value.count(".") > 1 or ":" in value:
        return ""
    scale, common = _SCALES[unit]
    return f"{float(value) * scale:.9g} {common}"


def _clock(text: str, start: int) -> str:
    """Return the time of day that begins there, as 24 hours have it; nothing if it is none."""
    if at := _CLOCK.match(text, start):
        return f"{int(at[1]) % 12 + 12 * (at[3] in 'pP')}:{at[2] or '00'}"
    at = _HOUR.match(text, start)
    return at[0].removeprefix("0") if at else ""


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
    if text[-1].isdecimal() or _is_numeral(text):
        return text
    return (stems(text) or [""])[0][:LONG]


def _is_numeral(word: str) -> bool:
    return word in _WORDS or ("-" in word and all(each in _WORDS for each in word.split("-")))


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
