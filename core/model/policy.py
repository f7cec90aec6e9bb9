"""What moderators have set, and what they have done."""

from __future__ import annotations

from datetime import datetime

from core.model.refs import Person, Value, WorkspaceRef


class Policy(Value):
    """How a workspace wants the bot to behave; without one, it answers those who speak to it.

    `auto_answer` are the channels whose new posts are answered although they mention nobody. In `silent_channels` and
    in their threads, nothing is answered.
    """

    paused_by: Person | None = None
    paused_at: datetime | None = None
    auto_answer: tuple[str, ...] = ()
    silent_channels: frozenset[str] = frozenset()

    @property
    def is_paused(self) -> bool:
        """Whether nothing is answered for now."""
        return self.paused_by is not None

    def answers_in(self, channel: str) -> bool:
        """Say whether questions are answered in a channel and in its threads."""
        return not self.is_paused and channel not in self.silent_channels


class Actor(Value):
    """Somebody who gives an order; the platform has said whether they may moderate there."""

    person: Person
    home: WorkspaceRef
    may_moderate: bool


class Deed(Value):
    """Something that a moderator did, for whoever asks later; `about` names what it was done to, without any text."""

    by: Person
    did: str
    about: str = ""
    at: datetime
