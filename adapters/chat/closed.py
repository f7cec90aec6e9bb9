"""Remembers the places that have refused what was posted, so that no answers are written that nobody can read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from adapters.chat.recent import Recent
from core.model import Claim, Reaction
from core.ports import Surface


class Closed:
    """Channels and threads that were closed to the bot not long ago; a channel that is closed closes its threads.

    *refused* hears of the first claim that a place refuses. Who used a command gets the answer in the command's own
    name, which needs no right in the place: such claims are told each time, and never kept out.
    """

    def __init__(self, refused: Callable[[Claim], object], now: Callable[[], datetime]) -> None:
        self._refused = refused
        self._places = Recent(now)

    def refused(self, claim: Claim) -> None:
        """Take note that the place of a question takes no posts."""
        is_first = claim.message.id == claim.thread.thread  # such a question stands in the channel itself
        if _by_command(claim) or self._places.add(_channel(claim) if is_first else str(claim.thread)):
            self._refused(claim)

    async def keeps_out(self, claim: Claim, surface: Surface) -> bool:
        """Say whether an answer to the claim would be refused, and then mark the question."""
        if _by_command(claim) or (_channel(claim) not in self._places and str(claim.thread) not in self._places):
            return False
        await surface.react(claim.message, Reaction.WARNING)
        return True


def _channel(claim: Claim) -> str:
    return str(claim.thread.model_copy(update={"thread": claim.thread.channel}))


def _by_command(claim: Claim) -> bool:
    return claim.address is not None and claim.address.interaction is not None
