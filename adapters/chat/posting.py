"""What a platform does with the messages of an answer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from core.model import MessageRef

_NONCE_LENGTH = 24  # characters; Discord allows 25

REMARK, NOTICE = -1, -2  # the numbers of messages beside those of the answer, which are counted from 0


class Controls(StrEnum):
    """What a reader can do with a message of an answer."""

    NONE = ""
    STOP = "stop"
    VOTE = "vote"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Part:
    """A message of an answer as it should be; `below` is small print that stands apart from the text.

    Where a platform wants all of it as words alone too, they are in `plain`.
    """

    text: str
    controls: Controls = Controls.NONE
    below: str = ""
    plain: str = ""


@dataclass(frozen=True, slots=True)
class Posted:
    """A message of ours, and what it shows; None where nobody knows."""

    id: str
    part: Part | None = None


class Poster(Protocol):
    """What a platform does with the messages of one answer. Raises `PostingFailed` of some kind."""

    async def post(self, part: Part, nonce: str) -> Posted:
        """Post a message; for a nonce that was used before, give that message."""
        ...

    async def edit(self, message_id: str, part: Part) -> None:
        """Replace what a message shows; doing it twice is no error."""
        ...

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        ...


def nonce(question: MessageRef, revision: int, number: int) -> str:
    """Return the same mark for the same message of an answer in every process, so that it is posted once."""
    named = f"{question}#{revision}#{number}"
    return hashlib.sha256(named.encode()).hexdigest()[:_NONCE_LENGTH]
