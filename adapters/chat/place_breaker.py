"""Remembers the places that have refused what was posted, so that no answers are written that nobody can read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from core.events import Observer, PlaceRefused
from core.model import Claim, Reaction
from core.ports import Surface

LASTING = timedelta(minutes=5)  # within which people change what is wrong, so that it is worth another try


class ExpiringSet:
    """Names that were added not long ago, in the memory of the process."""

    def __init__(self, now: Callable[[], datetime], lasting: timedelta = LASTING) -> None:
        self._now = now
        self._lasting = lasting
        self._until: dict[str, datetime] = {}

    def add(self, name: str) -> bool:
        """Add a name; return whether it is a new one. One that is known lasts no longer for it."""
        now = self._now()
        self._until = {known: until for known, until in self._until.items() if until > now}
        is_new = name not in self._until
        self._until.setdefault(name, now + self._lasting)
        return is_new

    def __contains__(self, name: str) -> bool:
        """Return whether a name was added not long ago."""
        until = self._until.get(name)
        return until is not None and until > self._now()


class PlaceBreaker:
    """Channels and threads that refused a post not long ago; a channel that is shut shuts its threads.

    The *observer* hears of the first claim that a place refuses. Who used a command gets the answer in the command's
    own name, which needs no right in the place: such claims are told each time, and never kept out.
    """

    def __init__(self, observer: Observer, now: Callable[[], datetime]) -> None:
        self._observer = observer
        self._shut = ExpiringSet(now)

    def trip(self, claim: Claim) -> None:
        """Take note that the place of a question takes no posts."""
        is_first = claim.message.id == claim.thread.thread  # such a question stands in the channel itself
        if _by_command(claim) or self._shut.add(_channel(claim) if is_first else str(claim.thread)):
            self._observer(PlaceRefused(claim.message))

    async def keeps_out(self, claim: Claim, surface: Surface) -> bool:
        """Return whether an answer to the claim would be refused, and then mark the question."""
        if _by_command(claim) or (_channel(claim) not in self._shut and str(claim.thread) not in self._shut):
            return False
        await surface.react(claim.message, Reaction.WARNING)
        return True


def _channel(claim: Claim) -> str:
    return str(claim.thread.model_copy(update={"thread": claim.thread.channel}))


def _by_command(claim: Claim) -> bool:
    return claim.address is not None and claim.address.interaction is not None
