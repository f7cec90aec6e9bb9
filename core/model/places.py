"""Where something was said, and who said it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from urllib.parse import quote, unquote

from pydantic import Field

from core.errors import InvalidInput
from core.model.value import Value


class WorkspaceRef(Value):
    """One server or workspace on one platform; within it, a person is known by one id."""

    platform: str = Field(min_length=1)
    workspace: str = Field(min_length=1)

    def __str__(self) -> str:
        """Give `platform:workspace`, each part percent-encoded."""
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
        """Give `platform:workspace:channel:thread`, each part percent-encoded, so that parsing is exact."""
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
        """Give the thread's string form with the message's id behind it."""
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
