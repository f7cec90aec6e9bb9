"""Reads what somebody has written behind the command. Slack knows one command, and what it shall do is its text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

NAME = "/footnote"
MOST_PAGES = 100  # of the log

_PRIVATELY = re.compile(r"(?:--|—|–)private(?!\S)")  # keyboards make one dash of two
_PERSON = re.compile(r"<@(?P<id>[A-Z0-9]+)(?:\|[^<>]*)?>")


class Word(StrEnum):
    """What somebody wants, as it is written."""

    ASK = "ask"
    SOURCES = "sources"
    FORGET = "forget"
    FORGET_ME = "forget me"
    FORGET_THREAD = "forget thread"
    HELP = "help"
    PRIVACY = "privacy"
    STATUS = "admin status"
    PAUSE = "admin pause"
    RESUME = "admin resume"
    PAUSE_HERE = "admin pause here"
    RESUME_HERE = "admin resume here"
    FORGET_PERSON = "admin forget person"
    FORGET_EVERYTHING = "admin forget everything"
    UNKNOWN = ""


EXACT = {str(word): word for word in Word if word not in (Word.ASK, Word.FORGET_PERSON, Word.UNKNOWN)}
FIRST = frozenset(str(word).split()[0] for word in Word if word)


@dataclass(frozen=True, slots=True)
class Order:
    """What somebody wants; `text` is the question, the person's id, the page, or what was not understood."""

    word: Word
    text: str = ""
    is_private: bool = False
    is_confirmed: bool = False


def parsed(text: str) -> Order:
    """Read a command's text. What begins with no known word is a question, unless it is a single word."""
    words = text.split()
    exact = EXACT.get(" ".join(words).lower())
    if exact:
        return Order(exact)
    if not words:
        return Order(Word.HELP)
    first = words[0].lower()
    if first == Word.ASK:
        return _question(text.strip()[len(first) :])
    if first == "admin":
        return _order(words, text)
    is_question = first not in FIRST and (len(words) > 1 or "?" in text)
    return _question(text) if is_question else Order(Word.UNKNOWN, text.strip())


def person_in(text: str) -> str:
    """Give the id of the one person who is named, as Slack writes it; nothing where that is nobody or several."""
    found = [match["id"] for match in _PERSON.finditer(text)]
    return found[0] if len(found) == 1 else ""


def _question(text: str) -> Order:
    text = text.strip()
    if flag := _PRIVATELY.match(text):
        return Order(Word.ASK, text[flag.end() :].strip(), is_private=True)
    return Order(Word.ASK, text)


def _order(words: list[str], text: str) -> Order:
    match [word.lower() for word in words[1:]]:
        case ["forget", "person", *_]:
            return Order(Word.FORGET_PERSON, person_in(text))
        case ["status", page] if page.isdecimal() and 0 < int(page) <= MOST_PAGES:
            return Order(Word.STATUS, page)
        case ["forget", "everything", "confirm"]:
            return Order(Word.FORGET_EVERYTHING, is_confirmed=True)
        case _:
            return Order(Word.UNKNOWN, text.strip())
