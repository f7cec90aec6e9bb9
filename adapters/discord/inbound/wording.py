"""Gives the words of a message as a reader sees them: names in place of ids."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from core.model import without_controls

_USER_OR_ROLE = re.compile(r"<@(!|&)?(\d{1,20})>")
_CHANNEL = re.compile(r"<#(\d{1,20})>")
_EMOJI = re.compile(r"<a?(:\w{1,40}:)\d{1,20}>")
_COMMAND = re.compile(r"<(/[^:<>\n]{1,100}):\d{1,20}>")
_NAVIGATION = re.compile(r"<id:(\w{1,40})(?::\d{1,20})?>")
_TIME = re.compile(r"<t:(-?\d{1,12})(?::[a-zA-Z])?>")


class Wording:
    """Knows the people, roles and channels that a message names; *mine* are the ids that stand for the bot."""

    def __init__(self, message: Mapping[str, Any], *, mine: Collection[str], names: Mapping[str, str]) -> None:
        self._mine = mine
        self._names = {**names, **{str(user["id"]): _name(user) for user in message.get("mentions") or ()}}

    def clean(self, content: str) -> str:
        """Take the bot's own mention out, and write all else that has an id as the name behind it."""
        text = _USER_OR_ROLE.sub(self._named, without_controls(content))
        text = _CHANNEL.sub(lambda found: f"#{self._names.get(found[1], 'channel')}", text)
        text = _COMMAND.sub(r"\1", _EMOJI.sub(r"\1", text))
        text = _TIME.sub(lambda found: _date(int(found[1])) or found[0], _NAVIGATION.sub(r"\1", text))
        return "\n".join(line.rstrip() for line in text.split("\n")).strip()

    def _named(self, found: re.Match[str]) -> str:
        if found[2] in self._mine:
            return ""
        return f"@{self._names.get(found[2], 'role' if found[1] == '&' else 'someone')}"


def _name(user: Mapping[str, Any]) -> str:
    member: Mapping[str, Any] = user.get("member") or {}
    return str(member.get("nick") or user.get("global_name") or user.get("username") or "someone")


def _date(seconds: int) -> str:
    """Give a moment in words that a model understands; nothing if no calendar has it."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return ""
