"""How many right numbers are taken for wrong ones because a passage has them in another form.

`python -m bench.forms` writes the numbers in sentences of the documents as people write them, by rule: half for 50 %,
1.5k for 1,500, the seventh week for week 7. Each new sentence is held against the passage that it is from, and each old
one against the passage with the new one in it. The same forms of other numbers have to be found wrong. Then it counts
the items of the lists in sections. Forms were looked at with one half of the pages, and are judged by the other.
"""

from __future__ import annotations

import re
import zlib
from calendar import month_abbr, month_name
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction

from bench.claims import CORPORA, Count
from bench.corpora import need
from bench.report import Row, at_least, at_most, print_rows
from bench.rewording import LONGEST, SHORTEST, Section, sections, usable
from core.answering.claims import Evidence

FULL = 100  # percent
EVERY = 8  # of the many abstracts
FEWEST, MOST = 3, 12  # items of a list that are counted
_NUMERALS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"
)  # fmt: skip
_MONTHS = month_name[1:]
_SHORT = month_abbr[1:]
_FRACTIONS = {
    Fraction(1, 2): "half", Fraction(1, 4): "a quarter", Fraction(3, 4): "three quarters", Fraction(1, 5): "a fifth",
    Fraction(1, 10): "a tenth", Fraction(2, 5): "two fifths", Fraction(3, 5): "three fifths",
    Fraction(4, 5): "four fifths",
}  # fmt: skip
_ROUND = {
    2: "a couple of", 6: "half a dozen", 12: "a dozen", 24: "two dozen", 36: "three dozen", 100: "a hundred",
    1000: "a thousand", 3000: "three thousand",
}  # fmt: skip
_LONG_UNITS = {
    "ms": "milliseconds", "s": "seconds", "min": "minutes", "h": "hours", "kg": "kilograms", "g": "grams",
    "mm": "millimetres", "cm": "centimetres", "m": "metres", "km": "kilometres", "Hz": "hertz", "kHz": "kilohertz",
    "MHz": "megahertz", "GHz": "gigahertz", "KB": "kilobytes", "MB": "megabytes", "GB": "gigabytes", "V": "volts",
    "W": "watts", "N": "newtons", "m/s": "metres per second", "fps": "frames per second", "rad/s": "radians per second",
    "nm": "nanometres", "mg": "milligrams", "ml": "millilitres", "km/h": "kilometres per hour", "°C": "degrees Celsius",
}  # fmt: skip
_SHORT_UNITS = {_LONG_UNITS[short].replace("re", end): short for short in _LONG_UNITS for end in ("re", "er")}
_SPANS = {
    (24, "hours"): ["one day", "a day"], (48, "hours"): ["two days"], (72, "hours"): ["three days"],
    (7, "days"): ["one week", "a week"], (14, "days"): ["two weeks", "a fortnight"], (10, "years"): ["a decade"],
    (12, "months"): ["a year", "one year"], (6, "months"): ["half a year"], (60, "minutes"): ["one hour", "an hour"],
    (90, "minutes"): ["one and a half hours", "an hour and a half"], (30, "minutes"): ["half an hour"],
    (45, "minutes"): ["three quarters of an hour"], (15, "minutes"): ["a quarter of an hour"],
    (60, "seconds"): ["a minute", "one minute"], (30, "seconds"): ["half a minute"], (500, "ms"): ["half a second"],
}  # fmt: skip
_SMALLER = {
    "s": (1000, "ms"), "seconds": (1000, "milliseconds"), "minutes": (60, "seconds"), "hours": (60, "minutes"),
    "days": (24, "hours"), "weeks": (7, "days"), "years": (12, "months"), "kg": (1000, "g"), "g": (1000, "mg"),
    "m": (100, "cm"), "meters": (100, "centimeters"), "cm": (10, "mm"), "km": (1000, "m"), "GB": (1000, "MB"),
    "MB": (1000, "KB"), "kHz": (1000, "Hz"), "GHz": (1000, "MHz"),
}  # fmt: skip
_LARGER = {
    "ms": (1000, "s"), "milliseconds": (1000, "seconds"), "seconds": (60, "minutes"), "minutes": (60, "hours"),
    "hours": (24, "days"), "days": (7, "weeks"), "months": (12, "years"), "g": (1000, "kg"), "mg": (1000, "g"),
    "cm": (100, "m"), "mm": (10, "cm"), "m": (1000, "km"), "MB": (1000, "GB"), "Hz": (1000, "kHz"),
}  # fmt: skip
_N = r"(?<![\w.,:/$€~^-])(\d+(?:,\d{3})*(?:\.\d+)?)"
_END = r"(?![\w%°]|[.,:/^-]\d|-\w)"
_PLAIN = rf"{_N}{_END}(?! ?(?:%|°|percent|x\b|am\b|pm\b|AM\b|PM\b))"
_COUNTED = rf"{_PLAIN}(?= [a-z]{{4,}}s\b)"
_MEASURED = rf"{_N} ?({'|'.join((*_LONG_UNITS, *_SHORT_UNITS, 'days', 'weeks', 'months', 'years'))})(?![\w/%])"
_SHARE = rf"{_N} ?(?:%|percent)(?!\w)"
_RANGE = rf"{_N} ?(?:–|-|to) ?(\d+(?:\.\d+)?){_END}"
_DATE = rf"(?<!\w)(?:(\d\d?)(?:st|nd|rd|th)? ({'|'.join(_MONTHS)})|({'|'.join(_MONTHS)}) (\d\d?)(?:st|nd|rd|th)?)(?!\w)"
_CLOCK = r"(?<![\w:.])(\d\d?):(\d\d)(?![\w:.])"
_WORD = rf"\b({'|'.join([*_NUMERALS[2:], *_TENS])})\b(?= [a-z]{{4,}}s\b)"
_LABELLED = r"\b((?i:week|module|lesson|chapter|step|unit|phase|stage|day)) (\d\d?)(?![\w.]\d|\w)"
_COUNTING = re.compile(rf"\d|{_WORD}")


Other = Callable[[Fraction], Fraction]


def other(number: Fraction) -> Fraction:
    """Return another number of about the same size, of which there are the same forms."""
    return number + (5 if number % 10 == 0 and number <= FULL else 1)


def forms(sentence: str, wrong: Other = Fraction) -> Iterator[tuple[str, str]]:
    """Yield a sentence with each of its numbers in turn in each form that it may have, with the name of the form."""
    for name, pattern, written in _RULES:
        for found in re.finditer(pattern, sentence):
            texts = list[str]()
            with suppress(ValueError, IndexError, KeyError, ZeroDivisionError):  # which has no such form, or no more
                texts.extend(written(found, wrong))
            for text in texts:
                if text and text != found[0]:
                    yield name, sentence[: found.start()] + text + sentence[found.end() :]


def _value(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


def _decimal(number: Fraction) -> str:
    text = f"{float(number):.6f}".rstrip("0").rstrip(".")
    if Fraction(text) != number:
        raise ValueError(number)
    return text


def _word(number: Fraction) -> str:
    if number != int(number) or not 0 <= number < 1_000:
        raise ValueError(number)
    n = int(number)
    if n < 20:
        return _NUMERALS[n]
    if n < 100:
        return _TENS[n // 10 - 2] + (f"-{_NUMERALS[n % 10]}" if n % 10 else "")
    return f"{_NUMERALS[n // 100]} hundred" + (f" and {_word(Fraction(n % 100))}" if n % 100 else "")


def _whole(number: Fraction) -> int:
    if number != int(number):
        raise ValueError(number)
    return int(number)


def _percent(found: re.Match[str], wrong: Other) -> Iterator[str]:
    number = wrong(_value(found[1]))
    yield from (f"{_decimal(number)}{sign}" for sign in (" percent", " %", "%", " per cent"))
    yield f"a share of {_decimal(number / FULL)}"
    yield f"{_word(number)} percent"


def _share(found: re.Match[str], wrong: Other) -> Iterator[str]:
    number = FULL / wrong(_value(found[1]))
    if 1 / number in _FRACTIONS:
        yield _FRACTIONS[1 / number]
    if number > 1:
        yield f"one in {_word(number)}"
        yield f"1 in {_whole(number)}"
        yield f"1 out of {_whole(number)}"


def _thousands(found: re.Match[str], wrong: Other) -> Sequence[str]:
    n = wrong(_value(found[1]))
    if n < 1000 or 1900 <= n <= 2100 or n % 100:
        raise ValueError(n)
    if n >= 1_000_000:
        return [f"{_decimal(n / 1_000_000)} million", f"{_decimal(n / 1_000_000)}M"]
    return [f"{_decimal(n / 1000)}k", f"{_decimal(n / 1000)} thousand", f"{_decimal(n / 1000)}K"]


def _groups(found: re.Match[str], wrong: Other) -> Sequence[str]:
    n = wrong(_value(found[1]))
    if _whole(n) < 1000 or 1900 <= n <= 2100:
        raise ValueError(n)
    return [str(n), f"{int(n):,}", f"{int(n):,}".replace(",", " "), f"{int(n):,}".replace(",", "\u202f")]


def _as_word(found: re.Match[str], wrong: Other) -> Iterator[str]:
    number = wrong(_value(found[1]))
    if number > 1 and not re.search(r"[A-Z]\w* \Z", found.string[: found.start()]):
        yield _word(number)
        yield _ROUND[_whole(number)]


def _digits(found: re.Match[str], wrong: Other) -> Sequence[str]:
    word = found[1]
    n = _NUMERALS.index(word) if word in _NUMERALS else 10 * (_TENS.index(word) + 2)
    return [str(_whole(wrong(Fraction(n))))]


def _fraction(found: re.Match[str], wrong: Other) -> Sequence[str]:
    given = _value(found[1])
    n = given + (wrong(Fraction(1)) - 1)
    if n == int(n):
        raise ValueError(n)
    whole, part = divmod(n, 1)
    names = {Fraction(1, 2): ("1/2", "½"), Fraction(1, 4): ("1/4", "¼"), Fraction(3, 4): ("3/4", "¾")}
    small, sign = names[part]
    if not whole:
        return [small, sign, _decimal(n).removeprefix("0"), f"{_decimal(n)}0"]
    return [
        f"{whole} {small}",
        f"{whole}{sign}",
        f"{_word(Fraction(whole))} and a half" if part == Fraction(1, 2) else "",
        f"{_decimal(n)}0",
    ]


def _power(found: re.Match[str], wrong: Other) -> Sequence[str]:
    n = wrong(_value(found[1]) * 1000) / 1000 if "." in found[1] else wrong(_value(found[1]))
    if not n or 0.001 < n < 10_000 or "," in found[1]:
        raise ValueError(n)
    head, _, tail = f"{float(n):e}".partition("e")
    head = head.rstrip("0").rstrip(".")
    power = str(int(tail))
    high = power.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return [f"{head}e{power}", f"{head}×10^{power}", f"{head} × 10{high}", f"{head}E{power}"]


def _range(found: re.Match[str], wrong: Other) -> Sequence[str]:
    a, b = wrong(_value(found[1])), wrong(_value(found[2]))
    if a >= b:
        raise ValueError(a)
    a, b = _decimal(a), _decimal(b)
    return [
        f"{a}–{b}",
        f"{a}-{b}",
        f"{a} to {b}",
        f"{a} – {b}",
        f"between {a} and {b}",
        f"from {a} up to {b}",
        f"{a}..{b}",
        f"{_word(Fraction(a))} to {_word(Fraction(b))}" if "." not in a + b and int(b) < 100 else "",
    ]


def _names(found: re.Match[str], wrong: Other) -> Sequence[str]:
    n = (
        _decimal(wrong(_value(found[1])))
        if "." not in found[1]
        else str(_decimal(_value(found[1]) + wrong(Fraction(1)) - 1))
    )
    short = _SHORT_UNITS.get(found[2], found[2])
    name = _LONG_UNITS.get(short, found[2])
    return [
        f"{n} {short}",
        f"{n}{short}",
        f"{n} {name}",
        f"{n}-{name.removesuffix('s')}" if " " not in name else "",
        f"{n} {name.replace('metre', 'meter').replace('litre', 'liter')}",
    ]


def _converted(found: re.Match[str], wrong: Other) -> Sequence[str]:
    n = wrong(_value(found[1]))
    made: list[str] = []
    for table, divides in ((_SMALLER, False), (_LARGER, True)):
        if found[2] in table:
            many, unit = table[found[2]]
            value = n / many if divides else n * many
            try:
                if 0.01 <= value < 100_000:
                    made.append(f"{_decimal(value)} {unit}")
            except ValueError:
                pass
    return made or [""]


def _unit_words(found: re.Match[str], wrong: Other) -> Sequence[str]:
    n = wrong(_value(found[1]))
    short = _SHORT_UNITS.get(found[2], found[2])
    return [f"{_word(n)} {_LONG_UNITS.get(short, found[2])}"]


def _special(found: re.Match[str], wrong: Other) -> Sequence[str]:
    return _SPANS[_whole(wrong(_value(found[1]))), found[2]]


def _nth(n: int) -> str:
    return f"{n}th" if n in (11, 12, 13) else f"{n}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th') }"


def _date(found: re.Match[str], wrong: Other) -> Sequence[str]:
    day, month = int(found[1] or found[4]), _MONTHS.index(found[2] or found[3])
    day = _whole(wrong(Fraction(day)))
    return [
        f"{_MONTHS[month]} {day}",
        f"{_MONTHS[month]} {_nth(day)}",
        f"{_nth(day)} {_MONTHS[month]}",
        f"{day} {_MONTHS[month]}",
        f"the {_nth(day)} of {_MONTHS[month]}",
        f"{_SHORT[month]} {day}",
    ]


def _clock(found: re.Match[str], wrong: Other) -> Sequence[str]:
    hour, minute = _whole(wrong(Fraction(int(found[1])))), found[2]
    half = "pm" if hour >= 12 else "am"
    short = hour % 12 or 12
    past = "" if minute == "00" else f":{minute}"
    return [
        f"{short}{past} {half}",
        f"{short}{past}{half}",
        f"{short}{past} {half[0]}.m.",
        f"{short} o'clock" if not past and hour < 13 else "",
        f"{hour}h{minute}",
        f"{hour}.{minute}",
    ]


def _ordinal(found: re.Match[str], wrong: Other) -> Sequence[str]:
    n = _whole(wrong(Fraction(int(found[2]))))
    return [
        f"the {_ORDINALS[n - 1]} {found[1].lower()}",
        f"the {_nth(n)} {found[1].lower()}",
        f"{found[1]} {_word(Fraction(n))}",
        f"{found[1]} no. {n}",
        f"{found[1]} #{n}",
    ]


_RULES: Sequence[tuple[str, str, Callable[[re.Match[str], Other], Iterable[str]]]] = [
    ("percent", _SHARE, _percent),
    ("shares", _SHARE, _share),
    ("thousands", _PLAIN, _thousands),
    ("groups of digits", _PLAIN, _groups),
    ("words", _COUNTED, _as_word),
    ("digits", _WORD, _digits),
    ("fractions", r"(?<![\w.,:/$€~^-])(\d*\.(?:5|25|75|50))" + _END, _fraction),
    ("powers", _PLAIN, _power),
    ("ranges", _RANGE, _range),
    ("units", _MEASURED, _names),
    ("other units", _MEASURED, _converted),
    ("words with units", _MEASURED, _unit_words),
    ("spans of time", _MEASURED, _special),
    ("dates", _DATE, _date),
    ("times of day", _CLOCK, _clock),
    ("ordinals", _LABELLED, _ordinal),
]  # fmt: skip


def passages(half: int) -> Iterator[Section]:
    """Yield the sections of one half of the pages."""
    for corpus, folder in {**CORPORA, "scifact": "scifact"}.items():
        for each in sections(corpus, need(folder.partition("/")[0]) / folder.partition("/")[2]):
            is_fit = SHORTEST <= len(each.text) <= LONGEST and zlib.crc32(each.page.encode()) % 2 == half
            if is_fit and not (corpus == "scifact" and int(each.page) % EVERY):
                yield each


def is_held(sentence: str, passage: str) -> bool:
    """Return whether a sentence keeps its mark."""
    evidence = Evidence()
    evidence.add(1, passage)
    return evidence.place(sentence.removesuffix("."), 1, (1,)) == 1


def judged(half: int) -> list[Row]:
    """Return what becomes of the forms of numbers in one half of the pages."""
    lost, reverse, caught, items = (Count(Counter(), Counter()) for _ in range(4))
    for each in passages(half):
        text = f"# {each.page_title}\n# {each.title}\n\n{each.text}"
        for said in (said for said in usable(each.text) if _COUNTING.search(said) and is_held(said, text)):
            for name, new in forms(said):
                lost.add(name, is_so=not is_held(new, text))
                reverse.add(name, is_so=not is_held(said, text.replace(said, new)))
            for name, new in forms(said, other):
                caught.add(name, is_so=not is_held(new, text))
        title, many = each.title.lstrip("0123456789. "), listed(each.text)
        if FEWEST <= many <= MOST and title[:1].isalpha():
            items.add("lost", is_so=not is_held(f"{title} lists {many} points", text))
            items.add("caught", is_so=not is_held(f"{title} lists {many + 2} points", text))
    rows = [
        Row(
            f"{name}: right ones that lose their mark; the other way round; wrong ones that lose it",
            f"{lost.share(name):.1f} of {lost.of[name]:,}; {reverse.share(name):.1f}; {caught.share(name):.1f} %",
        )
        for name in lost.of
    ]
    return [
        *rows,
        at_most(f"right forms that lose their mark, of {lost.of.total():,}", _total(lost), 5, " %"),
        at_most("the same, where the passage has the other form", _total(reverse), 5, " %"),
        at_most(f"right numbers of items, of {items.of['lost']:,}, that lose it", items.share("lost"), 5, " %"),
        at_least("wrong numbers of items that lose it", items.share("caught"), 90, " %"),
    ]


def _total(count: Count) -> float:
    return 100 * count.yes.total() / max(count.of.total(), 1)


def listed(text: str) -> int:
    """Return how many items the only list of a section has, without those in it; 0 if there is none, or more."""
    runs, column = list[int](), -1
    for line in re.sub(r"```.*?```", "", text, flags=re.DOTALL).split("\n"):
        item = re.match(r"( *)(?:[-*+]|\d+\.) \S", line)
        if item and (column < 0 or len(item[1]) <= column):
            runs += [0] if column < 0 else []
            column, runs[-1] = len(item[1]), runs[-1] + 1
        elif line.strip() and not item and not line.startswith(" "):
            column = -1
    return runs[0] if len(runs) == 1 else 0


if __name__ == "__main__":
    print_rows("Right numbers in other forms, half of the pages", judged(0))
    print_rows("Right numbers in other forms, the other half", judged(1))
