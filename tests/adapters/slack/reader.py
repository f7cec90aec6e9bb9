"""Reads a message as Slack does: what mentions somebody, and what can be clicked.

Written from Slack's formatting reference, with nothing of the renderer in it. `<...>` counts wherever it stands, since
Slack finds it in code and in Markdown too; entities are read once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

LIVE = re.compile(r"<[@#!][^<>\n]*>|@(?:channel|here|everyone)", re.IGNORECASE)
SMALL = re.compile(r"<((?!mailto:)[a-zA-Z][a-zA-Z0-9+.-]*:[^<>|]+)(?:\|([^<>]*))?>")
BLOCK = re.compile(r"^(`{3,}|~{3,})([^\n`]*)\n([\s\S]*?)(?:^\1[ \t]*$|\Z)", re.MULTILINE)
SPAN = re.compile(r"(?<!`)(`+)(?!`)([^\n]*?[^`\n])\1(?!`)")
LINK = re.compile(r"(?<!\\)\[((?:\\.|\[[^\[\]]*\]|[^\[\]\\])*)\]\(([^()\s]*)\)")
BARE = re.compile(r"(?:https?|slack)://[^\s<>|]+")


def without_code(message: str) -> str:
    """Give Markdown with a space in the place of each piece of code."""
    return SPAN.sub(" ", BLOCK.sub(" ", re.sub(r"\\[`\[\\]", lambda found: f"{found[0][0]} ", message)))


def live(message: str) -> list[str]:
    """Give what mentions a person, a group or a channel."""
    outside = [found for found in LIVE.findall(without_code(message)) if found.startswith("@")]
    return [*(found for found in LIVE.findall(message) if found.startswith("<")), *outside]


def links(message: str) -> set[str]:
    """Give the addresses that can be clicked, in Markdown and in small print."""
    text = without_code(message)
    bare = BARE.findall(LINK.sub(" ", SMALL.sub(" ", text)))
    return {found[2] for found in LINK.finditer(text)} | {found[1] for found in SMALL.finditer(message)} | set(bare)


def labels(message: str) -> list[str]:
    """Give the texts that stand for an address."""
    return [*(found[1] for found in LINK.finditer(without_code(message))), *(f[2] for f in SMALL.finditer(message))]


def words(message: str) -> list[str]:
    """Give the letters and digits that a reader sees, in runs."""
    text = re.sub(r"&(lt|gt|amp);", " ", LINK.sub(r"\1 ", message))
    return re.findall(r"[^\W_]+", text.replace("\u200b", ""))


def texts(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Give every text in a message's blocks."""
    for block in blocks:
        for key, value in block.items():
            if key in ("text", "value") and isinstance(value, str):
                yield value
            elif isinstance(value, dict):
                yield from texts([cast("dict[str, Any]", value)])
            elif isinstance(value, list):
                yield from texts(cast("list[dict[str, Any]]", value))


def fences(message: str) -> int:
    """Count the marks of code blocks; in a message that stands alone their number is even."""
    return len(re.findall(r"^```", message, re.MULTILINE))
