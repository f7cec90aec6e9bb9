"""Counting tokens without Cohere's tokenizers, which would have to be downloaded: an estimate, rather too high.

The older models read word pieces of BERT's kind, the newer ones byte pairs of larger vocabularies, which need fewer. So
the estimate was fitted to the former: five letters of a word are a token, two of a word in capitals, and every digit
and other mark. `python -m bench.cohere` compares it with BERT's own count over real documents.
"""

from __future__ import annotations

import re
from itertools import accumulate

TOKENS = re.compile(
    r"[A-Z]{1,2}(?![a-z])"  # abbreviations and constants
    r"|[A-Z][a-z]{0,4}|[a-z]{1,5}"  # words; camelCase is two
    r"|[^\sA-Za-z]"  # digits and all other marks
)
WIDE = re.compile(r"[^\s\u0000-\u07ff]")  # 机 and 🤖 count twice, é and я once
PLACEHOLDER = "."  # Cohere refuses texts without anything in them


def count_tokens(text: str) -> int:
    """Estimate how many tokens the text takes, without the marks around it."""
    wide = 0 if text.isascii() else len(WIDE.findall(text))
    return len(TOKENS.findall(text)) + wide


def cut(text: str, room: int) -> str:
    """Return the beginning of the text that takes at most *room* tokens."""
    if count_tokens(text) <= room:
        return text
    costs = accumulate(2 if WIDE.match(token) else 1 for token in TOKENS.findall(text))
    beyond = (token.start() for token, cost in zip(TOKENS.finditer(text), costs, strict=True) if cost > room)
    return text[: next(beyond)].rstrip()


def sendable(text: str) -> str:
    """Replace half characters, which no JSON can hold, and put one mark in a text with nothing to see in it."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    seen = any(character.isprintable() and not character.isspace() for character in whole)
    return whole if seen else PLACEHOLDER
