"""Keeps text from meaning anything to Discord but the words that it shows."""

from __future__ import annotations

import re

from adapters.chat.kept import GAP

_EVERYONE = re.compile(r"@(?=everyone|here)", re.IGNORECASE)
_ANGLE = re.compile(r"<(?=[a-zA-Z/@#:&!])")  # mentions, commands, times, emoji, addresses
_LABEL = re.compile(r"\](?=\()")
_SCHEME = re.compile(r":(?=//)")
INVITE = re.compile(r"(discord(?:app)?)\.(?=gg/|com/invite)", re.IGNORECASE)
_SPOILER = re.compile(r"\|(?=\|)")
_TILDES = re.compile(r"~{3,}")


def defused(text: str) -> str:
    """Separate, by characters without width, what would ping, link, jump, hide or show an emoji; the rest stays."""
    text = _EVERYONE.sub(f"@{GAP}", text)
    text = _ANGLE.sub(f"<{GAP}", text)
    text = _LABEL.sub(f"]{GAP}", text)
    text = _SCHEME.sub(f":{GAP}", text)
    text = INVITE.sub(rf"\1{GAP}.", text)
    text = _SPOILER.sub(f"|{GAP}", text)
    return _TILDES.sub(lambda found: GAP.join(found[0]), text)
