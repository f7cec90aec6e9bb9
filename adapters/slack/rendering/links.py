"""Writes links for Slack: in Markdown, and in the dialect of small print."""

from __future__ import annotations

import re

from adapters.chat.links import without_scheme

_UNSAFE = re.compile(r"[<>|()\[\]\s\\`*\"'^{}]|@(?=channel|here|everyone)", re.IGNORECASE)
_ENTITY_END = re.compile(r"(&#?\w{1,31});")
_MARKS = re.compile(r"[\\_*~`\[\]|]")


def target(url: str) -> str:
    """Write what follows a link's label in Markdown."""
    return f"]({address(url)})"


def bare(url: str) -> str:
    """Write an address in Markdown so that it can be clicked; it is its own label."""
    label = without_scheme(address(url)).removesuffix("/")
    label = _MARKS.sub(lambda found: f"\\{found[0]}", label)
    return f"[{label}{target(url)}"


def small(url: str, label: str) -> str:
    """Write a link for small print; the *label* is escaped already."""
    return f"<{address(url)}|{label.replace('|', '¦')}>"


def address(url: str) -> str:
    """Write characters that would end a link or begin an entity as their codes, which lead to the same page."""
    url = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), url)
    return _ENTITY_END.sub(r"\1%3B", url)
