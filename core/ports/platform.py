"""Where answers appear."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from core.model import Claim, Delivery, MessageRef, Progress, Question, Reaction, Withdrawal


class Surface(Protocol):
    """A platform where people read answers."""

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Draw *progress* until its last item, the `Answer`, which replaces all that was shown before.

        Return the messages that carry it; where nothing can be shown, those that were posted before. Raises
        `PostingFailed` if the platform cannot be reached, or does not take the answer.
        """
        ...

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Mark a message; doing it twice is no error. Raises nothing: a mark that cannot be set is left out."""
        ...

    async def unreact(self, to: MessageRef, reaction: Reaction) -> None:
        """Take a mark of ours away, if it is there. Raises nothing."""
        ...


class ChatSurface(Surface, Protocol):
    """A platform where questions can be deleted, by those who asked them or by others."""

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Take back what was posted, unless others than the asker have replied to it; doing it twice is no error.

        Raises `PostingFailed` if the platform cannot be reached.
        """
        ...


class Membership(Protocol):
    """Knows who belongs to the community whose documents are asked about. Raises `PeopleUnavailable`."""

    async def is_guest(self, question: Question) -> bool:
        """Return whether whoever asks is a guest of the place, or a stranger to it."""
        ...
