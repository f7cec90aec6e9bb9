"""Writes links for Discord, which then shows no previews of them."""

from __future__ import annotations

import re

from adapters.chat import links
from adapters.discord.rendering.defuse import INVITE

_UNSAFE = re.compile(r"[()\[\]`\\|*]|~(?=~)|@(?=everyone|here)", re.IGNORECASE)


def usable(url: str) -> bool:
    """Say whether an address can be a link: no invitation, which always has a preview."""
    return links.usable(url) and not INVITE.search(url)


def bare(url: str) -> str:
    """Write an address so that it can be clicked and shows no preview."""
    return f"<{_escaped(url)}>"


def target(url: str) -> str:
    """Write what follows a link's label."""
    return f"](<{_escaped(url)}>)"


def _escaped(url: str) -> str:
    """Write characters that Discord would read as marks as their codes, which lead to the same page."""
    return _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", url)
