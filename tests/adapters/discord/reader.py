"""Reads a message as Discord's clients do: what is code, what can be clicked, what pings or jumps or changes.

Written from Discord's formatting reference, with nothing of the renderer in it: code blocks are three backticks
wherever they stand, tildes are no fence, and whatever is not code is searched for what is live.
"""

from __future__ import annotations

import re

BLOCK = re.compile(r"```(?:([A-Za-z0-9_+\-.#]+?)\n)?\n*([^\n][\s\S]*?)\n*```")
SPAN = re.compile(r"(`+)([\s\S]*?[^`])\1(?!`)")
LIVE = re.compile(
    r"@everyone|@here|<@[!&]?\d+>|<#\d+>|</[^:<>]+:\d+>|<id:\w+(?::\d+)?>|<t:-?\d+(?::\w)?>|<a?:\w+:\d+>"
    r"|discord(?:app)?\.(?:gg|com/invite)/\w|\|\|[\s\S]+?\|\|"
)
MASKED = re.compile(r"(?<!\\)\[((?:\[[^\]]*\]|[^\[\]]|\](?=[^\[]*\]))*)\]\(\s*<?((?:\([^)]*\)|[^\s\\]|\\.)*?)>?\)")
QUIET = re.compile(r"<(https?://[^\s<>]+)>")
LOUD = re.compile(r"(?:https?|steam|discord)://[^\s<]+[^<.,:;\"')\]\s]", re.IGNORECASE)


def without_code(message: str) -> str:
    """Give a message with a space in the place of each piece of code."""
    shown: list[str] = []
    at = 0
    while at < len(message):
        if message[at] == "\\" and re.match(r"\\[^0-9A-Za-z\s]", message[at:]):
            shown.append(message[at : at + 2])
            at += 2
        elif code := (BLOCK.match(message, at) or SPAN.match(message, at)):
            shown.append(" ")
            at = code.end()
        else:
            shown.append(message[at])
            at += 1
    return "".join(shown)


def live(message: str) -> list[str]:
    """Give what pings, jumps, hides, shows a picture or tells a time."""
    return LIVE.findall(without_code(message))


def links(message: str) -> set[str]:
    """Give the addresses that can be clicked and show no preview."""
    text = without_code(message)
    return {found[2] for found in MASKED.finditer(text)} | set(QUIET.findall(text))


def labels(message: str) -> list[str]:
    """Give the texts that stand for an address."""
    return [found[1] for found in MASKED.finditer(without_code(message))]


def previews(message: str) -> list[str]:
    """Give the addresses that would show a preview."""
    text = QUIET.sub(" ", MASKED.sub(r"\1", without_code(message)))
    return LOUD.findall(text)


def words(message: str) -> list[str]:
    """Give the letters and digits that a reader sees, in runs."""
    return re.findall(r"[^\W_]+", re.sub(r"\]\(<[^<>]*>\)", "]", message.replace("\u200b", "")))


def fences(message: str) -> int:
    """Count the marks of code blocks; in a message that stands alone their number is even."""
    return len(re.findall(r"^```", message, re.MULTILINE))
