"""Reads what somebody has written behind the command. Slack knows one command, and what it shall do is its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.chat.commands import ASK, command_named, spoken
from adapters.chat.registry import Command, CommandContext, Kind, Option, Values

NAME = "/footnote"
ADMIN = "admin"  # the word in front of the commands of moderators
HERE = "here"  # the channel in which something is written
DIRECT_MESSAGE = "D"  # with which the ids of direct messages begin

_PRIVATELY = re.compile(r"(?:--|—|–)private(?!\S)")  # keyboards make one dash of two
_PERSON = re.compile(r"<@(?P<id>[A-Z0-9]+)(?:\|[^<>]*)?>")
_GROUP = re.compile(r"<!subteam\^(?P<id>[A-Z0-9]+)(?:\|[^<>]*)?>|(?P<plain>S[A-Z0-9]{8,})")
_CHANNEL = re.compile(r"<#(?P<id>[A-Z0-9]+)(?:\|[^<>]*)?>")


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """What somebody wants; `values` are None where the words behind a command do not fit it."""

    command: Command | None
    values: Values | None = field(default_factory=dict[str, Any])

    async def carry_out(self, context: CommandContext) -> str | None:
        """Do it, and return what to say; None where it cannot be done as it is written."""
        if self.command is None or self.command.act is None or self.values is None:
            return None
        return await self.command.act(context, self.values)


def parsed(text: str, *, channel: str = "") -> ParsedCommand:
    """Return what the text of a command asks for, which was written in a *channel*.

    What begins with no known word is a question, unless it is a single word.
    """
    text = text.strip()
    words = text.split()
    if not words or [word.lower() for word in words] in ([ADMIN], [ADMIN, "help"]):
        return ParsedCommand(command_named("help", for_moderators=False))
    first = words[0].lower()
    if first == ASK.name:
        return _question(text[len(first) :])
    is_order = first == ADMIN
    named = words[1:] if is_order else words
    command = command_named(named[0].lower(), for_moderators=is_order) if named else None
    if command is not None:
        return ParsedCommand(command, _values(command, named[1:], channel))
    if is_order or (len(words) == 1 and "?" not in text):
        return ParsedCommand(None)
    return _question(text)


def text_command(text: str) -> ParsedCommand | None:
    """Return the command that is all somebody says to the bot in a thread; None where it is none that belongs there.

    Where Slack shows nothing to one person alone, all in the thread read what is told.
    """
    if command := spoken(text):
        return ParsedCommand(command)
    words = text.lower().split()
    wanted = parsed("forget thread" if words == ["forget"] else " ".join(words)) if words else ParsedCommand(None)
    command = wanted.command
    if command is None or command.act is None or command.for_moderators or command.is_personal:
        return None
    return wanted if wanted.values is not None else None


def _question(text: str) -> ParsedCommand:
    if flag := _PRIVATELY.match(text := text.strip()):
        return ParsedCommand(ASK, {"question": text[flag.end() :].strip(), "private": True})
    return ParsedCommand(ASK, {"question": text})


def _values(command: Command, words: Sequence[str], channel: str) -> Values | None:
    """Return what the words say for the options, in their order; None if a word is left, or one is missing."""
    values: dict[str, Any] = {}
    left = list(words)
    for option in command.options:
        if option.kind is Kind.PERSON and option.name in values.values():  # it is what was chosen, and takes the rest
            values[option.name], left = _person(" ".join(left)), []
        elif left and (value := _value(option, left[0].lower(), left[0], channel)) is not None:
            values[option.name] = value
            left.pop(0)
    is_whole = all(option.name in values for option in command.options if option.is_required)
    return values if is_whole and not left else None


def _value(option: Option, word: str, written: str, channel: str) -> object:
    """Return what a word means for an option; None if nothing."""
    match option.kind:
        case Kind.CHOICE:
            return word if word in option.choices else None
        case Kind.NUMBER:
            return int(word) if word.isdecimal() and 0 < int(word) <= option.most else None
        case Kind.FLAG:
            return {"on": True, "off": False}.get(word) if option.is_required else word == option.name or None
        case Kind.GROUP:
            group = _GROUP.fullmatch(written)
            return group and (group["id"] or group["plain"])
        case Kind.CHANNEL:
            found = _CHANNEL.fullmatch(written)
            here = "" if channel.startswith(DIRECT_MESSAGE) else channel
            return here if word == HERE else found["id"] if found else None
        case _:
            return None


def _person(text: str) -> str:
    """Return the id of the one person who is named, as Slack writes it; nothing where that is nobody or several."""
    found = [match["id"] for match in _PERSON.finditer(text)]
    return found[0] if len(found) == 1 else ""
