"""What happened on a platform, before anything is decided."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from core.model.places import Message, MessageRef, Person, ThreadRef
from core.model.value import Value


class InboundKind(StrEnum):
    """What was done to a message."""

    WRITTEN = "written"
    EDITED = "edited"
    DELETED = "deleted"


class Setting(StrEnum):
    """The kind of place that a message stands in."""

    CHANNEL = "channel"
    THREAD = "thread"
    DIRECT = "direct"


class Inbound(Value):
    """What a platform's event means; of a deleted message no more than its place is known.

    `message` names the thread that an answer would belong to, also where that has yet to be opened. `revision` grows
    with each edit. `mentions` are the ids of those who are named in `text`. `is_reply_to` is the id of whoever wrote
    the message replied to, empty where it is no reply; `quoted` is that message and those before it, oldest first.
    """

    kind: InboundKind
    message: MessageRef
    setting: Setting
    revision: int = 0
    author: Person | None = None
    text: str = ""
    mentions: tuple[str, ...] = ()
    is_reply_to: str = ""
    reply_to: MessageRef | None = None
    quoted: tuple[Message, ...] = ()
    at: datetime | None = None

    @property
    def thread(self) -> ThreadRef:
        """The conversation that the message belongs to, or would open."""
        return self.message.thread

    @property
    def author_id(self) -> str:
        """Who wrote it; empty where nobody can know."""
        return self.author.id if self.author else ""
