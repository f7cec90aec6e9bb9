"""Interactions: somebody used a command, a menu, a button or a form, and the bot answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum

from tests.servers.discord.shape import Json

SECONDS_TO_ACKNOWLEDGE = 3.0
SECONDS_OF_TOKEN = 15 * 60.0


class Asked(IntEnum):
    """How an interaction came about."""

    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL = 5


class Answered(IntEnum):
    """How the bot acknowledged one."""

    MESSAGE = 4
    DEFERRED_MESSAGE = 5
    DEFERRED_UPDATE = 6
    UPDATE = 7
    CHOICES = 8
    MODAL = 9


MESSAGES = frozenset({Answered.MESSAGE, Answered.DEFERRED_MESSAGE})


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """The first answer, and when it came."""

    kind: Answered
    data: Json
    at: datetime


@dataclass(slots=True)
class Interaction:
    """What somebody did, and all that the bot did about it.

    `original_id` is the message that the acknowledgement made, or for an update the one that the button is on.
    """

    id: int
    token: str
    kind: Asked
    data: Json
    user_id: int
    channel_id: int
    guild_id: int | None
    at: datetime
    message_id: int | None = None
    acknowledged: Acknowledgement | None = None
    original_id: int | None = None
    follow_ups: list[int] = field(default_factory=list[int])

    @property
    def deferred(self) -> bool:
        """Whether the bot said that it is working on it."""
        kinds = (Answered.DEFERRED_MESSAGE, Answered.DEFERRED_UPDATE)
        return self.acknowledged is not None and self.acknowledged.kind in kinds

    @property
    def modal(self) -> Json | None:
        """The form that the bot answered with."""
        shown = self.acknowledged is not None and self.acknowledged.kind is Answered.MODAL
        return self.acknowledged.data if self.acknowledged is not None and shown else None
