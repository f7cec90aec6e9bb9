"""Whoever runs the bot hears once that a platform is gone, and once that it is back."""

from __future__ import annotations

import pytest

from adapters.chat.services import Presence
from core.events import Connected, ConnectionLost, Event


@pytest.mark.promise("tells-how-it-is")
def test_a_platform_is_gone_while_any_way_to_it_is_closed() -> None:
    """However often a way is said to be closed; what was never closed comes back with its name only."""
    told = list[Event]()
    presence = Presence("Slack", told.append)

    presence.expect("sockets")
    presence.back("log in")
    presence.lost("log in", "HTTP 503")
    presence.lost("log in", "rate limit")
    presence.back("sockets", "Footnote")
    presence.lost("gate", "the token is refused")
    presence.back("log in")
    presence.back("gate")
    presence.back("gate")

    assert told == [ConnectionLost("Slack", "HTTP 503"), Connected("Slack", "Footnote")]
