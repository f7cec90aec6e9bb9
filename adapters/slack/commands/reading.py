"""Reads what people wrote as the words that they saw."""

from __future__ import annotations

import html
import re

from adapters.slack.commands.situation import Body

_TOKEN = re.compile(r"<(?P<sign>[@#!]?)(?P<name>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")


def words(text: str) -> str:
    """Give what somebody wrote, with names for what Slack has put into angle brackets."""
    return html.unescape(_TOKEN.sub(_word, text)).strip()


def words_of(message: Body) -> str:
    """Give the words of a message; its previews and pictures are none of its words."""
    return words(str(message.get("text") or ""))


def _word(token: re.Match[str]) -> str:
    sign = "@" if token["sign"] == "!" else token["sign"]
    return f"{sign}{(token['label'] or token['name']).removeprefix(sign)}"
