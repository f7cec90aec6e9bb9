"""The numbers of a text, each with what stands around it, so that one can be told from another one in its place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import numeric

from core.documents.excerpt import stems

LONG = 7  # letters, behind which words are no longer told apart
AROUND = 4  # words on each side of a number that are its own
FULL = 100  # percent, from which on a share is no other number's
ROUNDED = 0.05  # of a number, by which "about" may miss it
_DIGITS = r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\w|[.,]\d)|\d+(?:[.,:]\d+)*"
_NUMBER = re.compile(rf"(?<![\w.])[vV~]?({_DIGITS})(?:\$?[ \u00a0-]?(%|°\s?[CF]?|[a-zA-Zµμ]{{1,13}}))?(?![\w%])")
_FORMULA = re.compile(r"\S\$(?!\d)")  # the end of one; without it, a dollar is a price
_ORDER = re.compile(  # what counts headings and items
    r"(?:#+\s*\d+(?:\.\d+)*[.)]?|\d+[.)]"
    r"|[*_#\s]*(?:step|option|method|phase|part|tip|schritt|étape|paso|passo|stap)\s\d+[*_]*[:.)])\s",
    re.IGNORECASE,
)
_ALIKE = """% percent prozent,ms millisecond,s sec second sekunde sekunden seconde segundo secondo secondi
seconden,min minute minuten minuto minuti minuut,h hour hr stunde stunden heure hora ora ore uur,day tag tage tagen
jour giorno giorni dia dag dagen,week woche wochen semaine semana settimana settimane weken,fortnight,decade,
month monat monate monaten mois mese mesi maand maanden,year jahr jahre jahren anno anni ano jaar,hz hertz,
khz kilohertz,mhz megahertz,ghz gigahertz,b byte,kb kilobyte,mb megabyte,gb gigabyte,tb terabyte,
mm millimeter millimetre,cm centimeter centimetre zentimeter,m meter metre,km kilometer kilometre,mg milligram,g gram,
kg kilogram kilogramm kilo,l liter litre,ml milliliter millilitre,v volt,w watt,kw,n newton,nm,fps,rpm,° degree,°c,
rad radian,$ dollar,€ euro"""
# What one of a unit is in another one.
_SCALES = {
    "s": (1, "s"), "ms": (0.001, "s"), "min": (60, "s"), "h": (3600, "s"), "day": (86_400, "s"),
    "week": (604_800, "s"), "fortnight": (1_209_600, "s"), "month": (1, "month"), "year": (12, "month"),
    "decade": (120, "month"), "mm": (0.001, "m"), "cm": (0.01, "m"), "m": (1, "m"), "km": (1000, "m"),
    "mg": (1e-6, "kg"), "g": (0.001, "kg"), "kg": (1, "kg"), "l": (1, "l"), "ml": (0.001, "l"), "°c": (1, "°"),
    "hz": (1, "hz"), "khz": (1000, "hz"), "mhz": (1e6, "hz"), "ghz": (1e9, "hz"), "kb": (0.001, "mb"), "mb": (1, "mb"),
    "gb": (1000, "mb"), "tb": (1e6, "mb"), "w": (1, "w"), "kw": (1000, "w"), "%": (0.01, ""),
}  # fmt: skip
_CLOCK = re.compile(
    r"(\d\d?)(?::(\d\d))?\s?(?:(?:to|and|until|till|-|–)\s?\d\d?(?::\d\d)?\s?)?([ap])\.?m\b", re.IGNORECASE
)
_HOUR = re.compile(r"(\d\d?)(?:[:h](\d\d)|(?:\.(\d\d))?\s(?:o['’]clock|Uhr))(?!\w)")
_BEHIND = re.compile(r"[ \u00a0-]([^\W\d_]{3,13}+)(?! (?:ago|before|earlier|later)\b)")  # which would be reckoned
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\s([^\W\d_]{3,})")
_PART = re.compile(r"\ban? ([a-z]{3,9})( and a half)?\b")
_SPANS = re.compile(r"hour|day|week|month|year|minute|second|decade|night")
_UNITS = {name: names.split()[0] for names in _ALIKE.split(",") for name in names.split()}
_NUMERALS = """zero,one first single,two second twice couple pair both double doubled,three third triple,four fourth,
five fifth,six sixth,seven seventh,eight eighth,nine ninth,ten tenth,eleven eleventh,twelve twelfth dozen,thirteen,
fourteen,fifteen,sixteen,seventeen,eighteen,nineteen,twenty"""
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}
# Common ones as German, French, Spanish, Portuguese, Italian and Dutch write them.
_ELSEWHERE = """2 zwei deux dos dois duas twee,3 drei trois tres três tre drie,4 vier quatre cuatro quatro quattro,
5 fünf cinq cinco cinque vijf,6 sechs seis sei zes,7 sieben sept siete sete sette zeven,8 acht huit ocho oito otto,
9 neun neuf nueve nove negen,10 zehn dix diez dez dieci tien,11 elf onze undici,12 zwölf douze doce doze dodici twaalf,
15 fünfzehn quinze quince quindici vijftien,20 zwanzig vingt veinte vinte venti twintig,
30 dreissig trente treinta trinta trenta dertig,40 vierzig quarante cuarenta quarenta quaranta veertig,
50 fünfzig cinquante cincuenta cinquenta cinquanta vijftig,60 sechzig soixante sesenta sessenta sessanta zestig,
90 neunzig noventa novanta negentig,100 hundert cien cem cento honderd"""
_MANIFOLD = {
    "dozen": 12, "dozens": 12, "hundred": 100, "thousand": 1000, "million": 1e6, "billion": 1e9, "tausend": 1000,
    "millionen": 1e6, "mille": 1000, "millions": 1e6, "mil": 1000, "millones": 1e6, "milhões": 1e6, "milioni": 1e6,
    "duizend": 1000, "miljoen": 1e6, "k": 1000, "m": 1e6,
}  # fmt: skip
_SHARES = {"half": 0.5, "third": 1 / 3, "quarter": 0.25, "fifth": 0.2, "tenth": 0.1}
_WORDS = {
    **_TENS,
    **{name: number for number, names in enumerate(_NUMERALS.split(",")) for name in names.split()},
    **{name: int(names.split()[0]) for names in _ELSEWHERE.split(",") for name in names.split()[1:]},
}
_CARDINALS = frozenset(names.split()[0] for names in _NUMERALS.split(",")[2:])
_ORDINALS = frozenset(name for names in _NUMERALS.split(",") for name in names.split()[1:])
_RANKS = frozenset(name for name in _ORDINALS if name.endswith(("st", "nd", "rd", "th")))
_TELLING = frozenset((*_WORDS, *_SHARES, "quarters", "hour", "day", "week", "month", "year"))
_ROUNDING = frozenset(("about", "around", "roughly", "approximately", "nearly", "almost", "over", "under", "than"))
_TOKEN = re.compile(rf"(?<![^\W_])[vV]?({_DIGITS})|\d+(?:\.\d+)*|[^\W\d_]+(?:-(?:{'|'.join(_WORDS)})\b)?")
_DIGIT, _LETTERS = re.compile(r"[\d½¼¾⅓⅔⅛]"), re.compile(r"[^\W\d_]+")
_WHOLE = re.compile(r"\d+(?:\.\d+)*")
_NUMERAL = rf"(?:{'|'.join(_WORDS)})(?:-(?:{'|'.join(_WORDS)}))?"
_MANY = "|".join(each for each in _MANIFOLD if len(each) > 1)
_COMPOUND = re.compile(  # numbers of several parts
    rf"""(?<![\w.,/^-])(?=[\d.½¼¾⅓⅔⅛]|(?:an?|{"|".join((*_WORDS, *_SHARES))})s?\b)(?:
      (?:(?P<factor>\d+(?:\.\d+)?)\s?(?:[x×·*]|\\times|\\cdot)\s?)?
        (?P<base>[1-9]\d{{0,2}})(?:\^\{{?(?P<power>[-−]?\d{{1,2}})\}}?|(?P<high>⁻?[⁰¹²³⁴-⁹]{{1,2}}))
      | (?P<short>\d+(?:\.\d+)?[eE][-−+]?\d{{1,2}})
      | (?:(?P<whole>\d+)\s)?(?P<over>\d{{1,2}})[/⁄](?P<under>\d{{1,2}})(?![/\d])
      | (?P<ones>\d*)(?P<sign>[½¼¾⅓⅔⅛])
      | (?P<tail>\.\d+)
      | (?P<some>\d+|{_NUMERAL})\s(?:in|(?:out\s)?of)\s(?:every\s)?(?P<all>\d+(?:,\d{{3}})*|{_NUMERAL})
      | (?:(?P<parts>an?|{_NUMERAL})\s|(?=half|quarter))(?P<part>{"|".join(_SHARES)})s?(?!\sa?\s?dozen)
      | (?P<lead>half\sa|an?|{_DIGITS}|{_NUMERAL})(?P<more>\sand\sa\shalf)?
        (?P<many>(?:[\s-](?:{_MANY})(?!\w)(?:(?:\sand)?\s{_NUMERAL}(?!\w))?)+|(?-i:[kKM]))?
    )(?!\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_FORMING = re.compile(  # a sign of one
    r"[\d\s½¼¾⅓⅔⅛](?:(?<=\d)(?:[/^⁻⁰¹²³⁴-⁹kKMeE]|\s(?:in|of|out)\s)|(?<=\s)\.\d|(?<=[½¼¾⅓⅔⅛]))"
)
_FORMS = frozenset((*_SHARES, "quarters", "one", *_MANY.split("|")))
_MEASURE = re.compile(r"\$?(?:(?:\sof)?\san?\b)?[\s-]?(%|°\s?[CF]?|[a-zA-Zµμ]{1,13})(?!\w)")
_THOUSANDS = re.compile(r",(?=\d{3}(?:\D|\Z))|[ \u00a0\u202f]")


class Figure(NamedTuple):
    """A number where it stands, in digits or as a word."""

    value: str
    around: Mapping[str, float]  # the words around it, the nearer the more
    unit: str = ""
    others: Collection[str] = ()  # how it can be read too, as in "(2,1)"
    is_said: bool = False  # whether it stands for itself: with a unit or in digits, not in code or for an order
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

    def is_converted(self, found: Figure) -> bool:
        """Return whether one that is *found* is as much in another form."""
        return self.amount == found.amount != "" and (self.value, self.unit) != (found.value, found.unit)

    def is_named_in(self, said: Figure) -> bool:
        """Return whether one that is said is this one, of the same name."""
        return (self.value, self.unit) == (said.value, said.unit) and (not self.is_named or self.label == said.label)

    @property
    def is_version(self) -> bool:
        """Whether it has three parts, as no quantity has."""
        return self.value.count(".") > 1

    def _rounds(self, found: Figure) -> bool:
        if not self.is_about or self.is_version or found.is_version or ":" in self.value + found.value:
            return False
        said, given = float(self.value), float(found.value)
        return abs(said - given) <= ROUNDED * given and len(self.value.strip("0.")) < len(found.value.strip("0."))


def has_figures(text: str, *, is_claim: bool = False) -> bool:
    """Return whether a text has numbers; most have none, and are not read for them.

    If it *is a claim*, only those count that may stand for themselves, which takes digits or a unit.
    """
    if _DIGIT.search(text):
        return True
    words = _LETTERS.findall(text.casefold())
    return not _TELLING.isdisjoint(words) and (not is_claim or "%" in text or "°" in text or any(map(_unit, words)))


def figures(text: str, bare: str) -> Iterator[Figure]:
    """Yield the numbers of a sentence, an item or a row, of which *bare* has blanks where it has code."""
    signs = "€" if _FORMULA.search(text) else "$€"
    units = {at.start(1): _sign(text, at.start(), signs) or _unit(at[2] or "") for at in _NUMBER.finditer(bare)}
    order, last, here = _ORDER.match(text), None, -1
    tokens = [(token, _word(token[0])) for token in _TOKEN.finditer(text)]
    is_formed = _FORMING.search(bare) or not _FORMS.isdisjoint([token[0].casefold() for token, _ in tokens])
    wholes = [*_compounds(bare)] if is_formed else ()
    words = [word for _, word in tokens if word]
    for token, word in tokens:
        before, last = last, token
        here += bool(word)
        figure = None
        if token[0][-1].isdecimal():
            figure = _figure(text, token, before, units, order)
        elif word and _is_numeral(word):
            figure = _worded(text, token, before, word)
        if at := bisect_right(wholes, token.start(), key=lambda each: each.start):
            figure = wholes[at - 1].of(figure, token.start())
        if figure:
            yield figure._replace(around=_around(words, here))
    for name, more in _PART.findall(text) if _SPANS.search(text) else ():
        if unit := _UNITS.get(name):  # what is only "an hour" may be meant for each of them
            value = "1.5" if more else "1"
            yield Figure(value, {}, unit, is_said=bool(more), is_counted=bool(more), amount=_amount(value, unit))


class Compound(NamedTuple):
    """A number of several parts, such as "1.5 million", "three quarters" or "1 in 10", and where it stands."""

    start: int
    end: int
    amount: str
    unit: str
    is_sign: bool  # such as "½"
    is_bare: bool  # whether none of its parts is a number by itself

    def of(self, part: Figure | None, start: int) -> Figure | None:
        """Return a number in it, which may be found by all of it; where there is none, all of it as one."""
        if start >= self.end:
            return part
        if part:
            is_said = part.is_said or (part.value != "0" and bool(self.unit))
            return part._replace(unit=self.unit, amount=self.amount, is_said=is_said, is_order=False)
        if not self.is_bare or start != self.start:
            return None
        is_said = bool(self.unit) or self.is_sign
        return Figure(self.amount.partition(" ")[0], {}, self.unit, is_said=is_said, amount=self.amount)


def _compounds(text: str) -> Iterator[Compound]:
    for at in _COMPOUND.finditer(text):
        value = _reckoned(at.groupdict(""))
        if value is not None:
            value = value if value == round(value, 9) else round(value, 2)  # a third
            behind = _MEASURE.match(text, at.end())
            unit = _unit(behind[1]) if behind else ""
            amount = _amount(f"{value:.9f}".rstrip("0").rstrip("."), unit)
            is_bare = not re.search(r"\d", at[0]) and _WORDS.keys().isdisjoint(_LETTERS.findall(at[0].casefold()))
            yield Compound(at.start(), at.end(), amount, unit, bool(at["sign"]), is_bare)


def _reckoned(at: Mapping[str, str]) -> float | None:
    """Return how much a number of several parts is; nothing if it is only one."""
    if at["base"]:
        power = at["power"] or "".join("-" if each == "⁻" else str(int(numeric(each))) for each in at["high"])
        return _read(at["factor"] or "1") * float(at["base"]) ** int(power.replace("−", "-"))
    if short := at["short"] or at["tail"]:
        return float(short.replace("−", "-"))
    if at["sign"]:
        return _read(at["ones"] or "0") + numeric(at["sign"])
    if at["part"]:
        return _read(at["parts"] or "a") * _SHARES[at["part"].casefold()]
    if over := at["over"] or at["some"]:
        share = _read(over) / (_read(at["under"] or at["all"]) or 1)
        return _read(at["whole"] or "0") + share if 0 < share < 1 else None
    return _multiplied(at["lead"], at["more"], at["many"]) if at["more"] or at["many"] else None


def _multiplied(lead: str, more: str, many: str) -> float:
    total, here = 0.0, _read(lead) + (0.5 if more else 0)
    for word in many.casefold().replace("-", " ").split():
        if word in _MANIFOLD:
            here = (here or 1) * _MANIFOLD[word]
            total, here = (total, here) if word == "hundred" else (total + here, 0.0)
        elif word != "and":
            here += _read(word)
    return total + here


def _read(number: str) -> float:
    """Return how much digits or words are."""
    number = number.casefold()
    if number[-1].isdecimal():
        plain = _plain(number)
        return 0.0 if plain.count(".") > 1 or ":" in plain else float(plain)
    if number.startswith("half"):
        return 0.5
    return float(sum(_WORDS.get(each, 1) for each in number.split("-")))


def _worded(text: str, token: re.Match[str], before: re.Match[str] | None, word: str) -> Figure:
    """Return a number that is written as a word; with a unit it stands for itself, as in digits."""
    beside = before[0].casefold() if before and not text[before.end() : token.start()].strip() else ""
    behind = _BEHIND.match(text, token.end())
    unit = "" if beside in _WORDS or word in _ORDINALS else _unit(behind[1] if behind else "")
    value = str(sum(map(_WORDS.__getitem__, word.split("-"))))
    label = _word(behind[1]) if behind and word in _RANKS else ""
    return Figure(
        value,
        {},
        unit,
        is_said=bool(unit) and word not in ("zero", "one"),
        is_counted=word in _CARDINALS or bool(unit),
        is_order=word in _RANKS,
        is_about=beside in _ROUNDING,
        label=label,
        amount=_amount(value, unit),
    )


def _figure(
    text: str, token: re.Match[str], before: re.Match[str] | None, units: Mapping[int, str], order: re.Match[str] | None
) -> Figure:
    start = token.start(1) if token[1] else token.start()
    is_order = order is not None and start < order.end()
    is_beside = before is not None and not text[before.end() : token.start()].strip(" -#\u00a0")
    beside = before[0] if before and is_beside else ""
    ordered = _ORDINAL.match(text, token.end())
    label = _word(ordered[1] if ordered else beside) if ordered or beside else ""
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
        is_named=bool(label) and not ordered and beside[0].isupper(),
        amount=(not unit and _clock(text, start)) or _amount(value, unit),
    )


def _amount(value: str, unit: str) -> str:
    """Return how much a number of a unit is in another one that all of its kind have; nothing if there is none."""
    if value.count(".") > 1 or ":" in value or (unit == "%" and float(value) >= FULL):
        return ""
    scale, common = _SCALES.get(unit, (1, unit))
    return f"{float(value) * scale:.9g} {common}".rstrip()


def _clock(text: str, start: int) -> str:
    """Return the time of day that begins there, as 24 hours have it; nothing if it is none."""
    if at := _CLOCK.match(text, start):
        return f"{int(at[1]) % 12 + 12 * (at[3] in 'pP')}:{at[2] or '00'}"
    at = _HOUR.match(text, start)
    return f"{int(at[1])}:{at[2] or at[3] or '00'}" if at else ""


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
