"""Words and sentences of plain text, as far as comparing a passage with a query needs them."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+", re.UNICODE)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"'”’)\]*_]*\s+(?=[\"'“‘(\[*_`]*[^\sa-z])|\n+")
_STOP_WORDS = """a about above after again all also am an and any are as at be because been before being below between
both but by can could did do does doing don down during each few for from further get give had has have having he her
here hers him his how i if in into is it its itself just let make me more most my name no nor not now of off on once one
only or other our out over own same say she should so some such tell than that the their them then there these they this
those through to too under until up us use used using very was way we were what when where which while who whom whose
why will with within without would you your"""
_STOP = frozenset(_STOP_WORDS.split())


def stems(text: str) -> list[str]:
    """Give the words that carry meaning, lower-case, with common English endings cut off."""
    return [_stem(word) for word in _WORD.findall(text.casefold()) if word not in _STOP]


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:  # noqa: PLR2004 - a stem of three letters still tells words apart
            return word[: -len(ending)]
    return word


def sentences(text: str) -> list[str]:
    """Cut running text into sentences; a line break ends one too."""
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence and sentence.strip()]
