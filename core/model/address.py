"""Where an answer goes."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from core.model.places import MessageRef, ThreadRef
from core.model.value import Value


class Interaction(Value):
    """A command or a button that somebody used; until it expires, whoever has its token may answer in its name."""

    id: str = Field(min_length=1)
    token: str = Field(min_length=1, repr=False)
    expires_at: datetime


class ReplyAddress(Value):
    """A thread, a message that the answer replies to or opens its thread on, or an interaction while that lives."""

    thread: ThreadRef
    message: MessageRef | None = None
    interaction: Interaction | None = None

    def at(self, now: datetime) -> ReplyAddress:
        """Give what is left of the address: an interaction that has expired leads nowhere."""
        if self.interaction is None or self.interaction.expires_at > now:
            return self
        return self.model_copy(update={"interaction": None})
