"""Where something was said, who said it, and where an answer goes; and what all values have in common."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict, Field

from core.errors import InvalidInput


class Value(BaseModel):
    """A frozen value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class WorkspaceRef(Value):
    """One server or workspace on one platform; within it, a person is known by one id."""

    platform: str = Field(min_length=1)
    workspace: str = Field(min_length=1)

    def __str__(self) -> str:
        """Return `platform:workspace`, each part percent-encoded."""
        return ":".join(quote(part, safe="") for part in (self.platform, self.workspace))

    @classmethod
    def parse(cls, text: str) -> WorkspaceRef:
        """Read the string form back; `InvalidInput` if it is not one."""
        platform, _, workspace = text.partition(":")
        if not platform or not workspace or ":" in workspace:
            message = f"{text!r} is not a server or workspace; it looks like platform:workspace."
            raise InvalidInput(message, field="workspace")
        return cls(platform=unquote(platform), workspace=unquote(workspace))


class ChannelRef(Value):
    """One place on one platform where people write, with all its threads."""

    platform: str = Field(min_length=1)
    workspace: str = Field(min_length=1)
    channel: str = Field(min_length=1)

    @property
    def home(self) -> WorkspaceRef:
        """The server or workspace that the channel is in."""
        return WorkspaceRef(platform=self.platform, workspace=self.workspace)


class ThreadRef(Value):
    """One conversation on one platform; its string form is the key for stores, locks and logs."""

    platform: str = Field(min_length=1)
    workspace: str = Field(min_length=1)
    channel: str = Field(min_length=1)
    thread: str = Field(min_length=1)

    def __str__(self) -> str:
        """Return `platform:workspace:channel:thread`, each part percent-encoded, so that parsing is exact."""
        return ":".join(quote(part, safe="") for part in (self.platform, self.workspace, self.channel, self.thread))

    @property
    def home(self) -> WorkspaceRef:
        """The server or workspace that the thread is in."""
        return WorkspaceRef(platform=self.platform, workspace=self.workspace)

    @classmethod
    def parse(cls, text: str) -> ThreadRef:
        """Read the string form back; `InvalidInput` if it is not one."""
        parts = [unquote(part) for part in text.split(":")]
        if len(parts) != 4 or not all(parts):  # noqa: PLR2004 - the four fields
            message = f"{text!r} is not a thread; it looks like platform:workspace:channel:thread."
            raise InvalidInput(message, field="thread")
        return cls(platform=parts[0], workspace=parts[1], channel=parts[2], thread=parts[3])


class MessageRef(Value):
    """One message; the key that a question is claimed and remembered by."""

    thread: ThreadRef
    id: str = Field(min_length=1)

    def __str__(self) -> str:
        """Return the thread's string form with the message's id behind it."""
        return f"{self.thread}:{quote(self.id, safe='')}"

    @classmethod
    def parse(cls, text: str) -> MessageRef:
        """Read the string form back; `InvalidInput` if it is not one."""
        thread, _, name = text.rpartition(":")
        if not name:
            message = f"{text!r} is not a message; it looks like platform:workspace:channel:thread:message."
            raise InvalidInput(message, field="message")
        return cls(thread=ThreadRef.parse(thread), id=unquote(name))


class Person(Value):
    """Somebody who asks."""

    id: str
    name: str = ""


class Message(Value):
    """One line as the model or the platform sees it."""

    role: Literal["user", "assistant"]
    text: str
    author: str = ""
    at: datetime | None = None


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
        """Return what is left of the address: an interaction that has expired leads nowhere."""
        if self.interaction is None or self.interaction.expires_at > now:
            return self
        return self.model_copy(update={"interaction": None})
