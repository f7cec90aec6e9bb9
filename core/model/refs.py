"""Where something was said, who said it, and where an answer goes; and what all values have in common."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal, Self, TypeAlias
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict, Field

from core.errors import InvalidInput


class Value(BaseModel):
    """A frozen value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Ref(Value):
    """Names something on a platform; its string form is the key for stores, locks and logs."""

    kind: ClassVar[str]
    form: ClassVar[str]

    def __str__(self) -> str:
        """Return the parts of `form`, each percent-encoded, so that parsing is exact."""
        return ":".join(quote(part, safe="") if isinstance(part, str) else str(part) for _, part in self)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the string form back; `InvalidInput` if it is not one."""
        names, parts = cls.form.split(":"), [unquote(part) for part in text.split(":")]
        if len(parts) != len(names) or not all(parts):
            raise InvalidInput(f"{text!r} is not a {cls.kind}; it looks like {cls.form}.", field=names[-1])
        found: dict[str, object] = dict(zip(names, parts, strict=True))
        if "message" in found:  # whose place is a reference of its own
            found = {"id": found.pop("message"), "thread": found}
        return cls.model_validate(found)


class WorkspaceRef(Ref):
    """One server or workspace on one platform; within it, a person is known by one id."""

    kind = "server or workspace"
    form = "platform:workspace"
    platform: str = Field(min_length=1)
    workspace: str = Field(min_length=1)

    @property
    def communities(self) -> tuple[WorkspaceRef, ...]:
        """What somebody who asks here may be a member of: an organization, if it is named too, and the workspace.

        Direct messages, whose names begin with `@`, are in none.
        """
        parts = () if self.workspace.startswith("@") else self.workspace.split("/")
        return tuple(WorkspaceRef(platform=self.platform, workspace=part) for part in parts if part)


class ChannelRef(Ref):
    """One place on one platform where people write, with all its threads."""

    kind = "channel"
    form = "platform:workspace:channel"
    platform: str = Field(min_length=1)
    workspace: str = Field(min_length=1)
    channel: str = Field(min_length=1)

    @property
    def home(self) -> WorkspaceRef:
        """The server or workspace that it is in."""
        return WorkspaceRef(platform=self.platform, workspace=self.workspace)


class ThreadRef(ChannelRef):
    """One conversation on one platform."""

    kind = "thread"
    form = "platform:workspace:channel:thread"
    thread: str = Field(min_length=1)


class MessageRef(Ref):
    """One message; what a question is claimed and remembered by."""

    kind = "message"
    form = "platform:workspace:channel:thread:message"
    thread: ThreadRef
    id: str = Field(min_length=1)

    @property
    def names(self) -> tuple[MessageRef, ...]:
        """What an event may call it: a thread can begin with a message that stands in a channel itself."""
        begun = self.thread.model_copy(update={"thread": self.id})
        return (self, MessageRef(thread=begun, id=self.id)) if self.thread.thread == self.thread.channel else (self,)


AnyPlace: TypeAlias = WorkspaceRef | ChannelRef
"""A workspace, a channel with all its threads, or one thread."""


class Person(Value):
    """Somebody who asks."""

    id: str
    name: str = ""


class Message(Value):
    """One line as the model or the platform sees it; whose it is goes to no model, and is there to be forgotten by.

    No id means that nobody knows, or that words of several people are in it.
    """

    role: Literal["user", "assistant"]
    text: str
    author: str = ""
    author_id: str = ""
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
