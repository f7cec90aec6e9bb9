"""Counting tokens without Cohere's tokenizers, which would have to be downloaded: an estimate, rather too high.

The older models read word pieces of BERT's kind, the newer ones byte pairs of larger vocabularies, which need fewer. So
the estimate was fitted to the former: five letters of a word are a token, two of a word in capitals, and every digit
and other mark. `python -m bench.cohere` compares it with BERT's own count over real documents.
"""

from __future__ import annotations

import re

LETTERS = 5  # of a word that are one token
CAPITALS = 2  # of an abbreviation or a constant
BYTES = 2  # of a character that is not ASCII: é and я are one token, 机 and 🤖 two
TOKENS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\sA-Za-z]")  # camelCase is two words
PLACEHOLDER = "."  # Cohere refuses texts without anything in them


def count_tokens(text: str) -> int:
    """Estimate how many tokens the text takes, without the marks around it."""
    return sum(_cost(token) for token in TOKENS.findall(text))


def cut(text: str, room: int) -> str:
    """Give the beginning of the text that takes at most *room* tokens; a longer word is cut inside."""
    for token in TOKENS.finditer(text):
        cost = _cost(token[0])
        if cost > room:
            return text[: token.start() + room * _letters(token[0])].rstrip()
        room -= cost
    return text


def sendable(text: str) -> str:
    """Replace half characters, which no JSON can hold, and give a text with nothing to see in it one mark."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    seen = any(character.isprintable() and not character.isspace() for character in whole)
    return whole if seen else PLACEHOLDER


def _cost(token: str) -> int:
    if not token.isascii():
        return -(-len(token.encode("utf-8", "replace")) // BYTES)
    return -(-len(token) // (_letters(token) or 1))


def _letters(token: str) -> int:
    """Say how many characters of a token in the text make one that is counted; 0 where none can be cut away."""
    if not (token.isascii() and token.isalpha()):
        return 0
    return CAPITALS if len(token) > 1 and token.isupper() else LETTERS
