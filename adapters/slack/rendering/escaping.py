"""Keeps text from meaning anything to Slack but the words that it shows.

Slack reads `<...>` as mentions and links wherever it stands, in code and in Markdown too, and reads an entity once
only: with `<` and `>` written as entities nothing is live.
"""

from __future__ import annotations

import re

from adapters.chat.kept import GAP
from core.model import without_controls

TITLE = 120  # characters

_ENTITY = re.compile(r"&(?=#?\w{1,31};)")
_EVERYONE = re.compile(r"@(?=channel|here|everyone)", re.IGNORECASE)
_LABEL = re.compile(r"\](?=\()")
_SCHEME = re.compile(r":(?=//)|(?<!\w)www\.", re.IGNORECASE)  # what readers' clients make a link of by themselves
_QUOTES = re.compile(r"^(?:[ \t]{0,3}>){1,9}", re.MULTILINE)
_OPEN = re.compile(r"&#?\w{0,31}\Z|@[a-zA-Z]{0,8}\Z|(?<=:)/\Z")


def escaped(text: str) -> str:
    """Write `<` and `>` as entities, and `&` where it would begin one."""
    return _ENTITY.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")


def defused(text: str) -> str:
    """Escape prose: what would mention, link or jump is shown as it is, and a quote stays a quote."""
    text = _apart(text)
    shown: list[str] = []
    at = 0
    for quotes in _QUOTES.finditer(text):
        shown += [escaped(text[at : quotes.start()]), quotes[0]]
        at = quotes.end()
    return "".join([*shown, escaped(text[at:])])


def calling_nobody(text: str) -> str:
    """Keep `@` apart from the words that call everybody, in case that they are read without their mark."""
    return _EVERYONE.sub(f"@{GAP}", text)


def settled(text: str) -> str:
    """Leave off the beginning of an entity, a mention or an address at the end, which more text could complete."""
    return _OPEN.sub("", text)


def plain_text(text: str, limit: int = TITLE) -> str:
    """Give text of a document or a person on one line, so that Slack shows it as it is."""
    line = " ".join(without_controls(text).split())
    line = line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
    return escaped(_apart(line))


def _apart(text: str) -> str:
    """Separate, by characters without width, what would call everybody, link or be an address."""
    return _SCHEME.sub(rf"\g<0>{GAP}", _LABEL.sub(f"]{GAP}", calling_nobody(text)))
