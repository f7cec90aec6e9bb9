"""Gives the words of a message as a reader sees them: names in place of ids."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from core.model import without_controls

EVERYONE = "everyone"
_TOKEN = re.compile(r"<(?P<sign>[@#!]?)(?P<name>[^<>|]*)(?:\|(?P<label>[^<>]*))?>(?P<after>[:,]?)")
_CROWDS = ("channel", "here", EVERYONE)
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))  # Slack writes no others, and the last one comes last


def words(text: str, *, mine: str = "") -> str:
    """Take the mention of *mine* out, and write all else that stands in angle brackets as what is shown for it."""

    def shown(token: re.Match[str]) -> str:
        return "" if (token["sign"], token["name"]) == ("@", mine) else _shown(token) + token["after"]

    text = _TOKEN.sub(shown, without_controls(text))
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()


def mentions(text: str) -> tuple[str, ...]:
    """Give the ids of all who are addressed: people, groups of them, and everyone."""
    return tuple(dict.fromkeys(filter(None, map(_mentioned, _TOKEN.finditer(text)))))


def _mentioned(token: re.Match[str]) -> str:
    match token["sign"], token["name"].partition("^"):
        case "@", (user, _, _):
            return user
        case "!", ("subteam", _, group):
            return group
        case "!", (crowd, _, _) if crowd in _CROWDS:
            return EVERYONE
        case _:
            return ""


def _shown(token: re.Match[str]) -> str:
    name, label = token["name"], token["label"] or ""
    match token["sign"], name.partition("^"):
        case "@", _:
            return _named("@", label or "someone")
        case "#", _:
            return _named("#", label or "channel")
        case "!", ("date", _, moment):
            return label or _date(moment.partition("^")[0])
        case "!", ("subteam", _, _):
            return _named("@", label or "group")
        case "!", _:
            return _named("@", label or name)
        case _:
            return label or name.removeprefix("mailto:")


def _named(sign: str, name: str) -> str:
    return sign + name.removeprefix(sign)


def _date(seconds: str) -> str:
    """Give a moment in words that a model understands; what is none as it stands."""
    try:
        return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return seconds
