"""Messages, as they are and as they were."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from tests.servers.discord.mentions import Pings
from tests.servers.discord.shape import Json
from tests.servers.uploads import Upload

SUPPRESS_EMBEDS = 1 << 2
EPHEMERAL = 1 << 6
LOADING = 1 << 7
COMPONENTS_V2 = 1 << 15
REPLY, COMMAND_ANSWER, STARTER = 19, 20, 21  # kinds
PREVIEWED = re.compile(r"(?<!<)https?://[^\s<>)\]]+")


@dataclass(frozen=True, slots=True)
class Edit:
    """What a message was given by one edit; `allowed_mentions` is None where the request left it out."""

    content: str
    flags: int
    allowed_mentions: Json | None
    pings: Pings
    at: datetime


@dataclass(slots=True)
class Message:
    """A message; a deleted one stays here, where assertions can read it.

    `seen_by` is the one person who sees an ephemeral message. `pings` are those whom the message itself notified;
    those whom an edit would notify are in `edits`. `mentioned` are those of the text as it is now.
    """

    id: int
    channel_id: int
    guild_id: int | None
    author_id: int
    content: str
    at: datetime
    kind: int = 0
    nonce: str | None = None
    flags: int = 0
    embeds: list[Json] = field(default_factory=list[Json])
    components: list[Json] = field(default_factory=list[Json])
    allowed_mentions: Json | None = None
    pings: Pings = field(default_factory=Pings)
    mentioned: Pings = field(default_factory=Pings)
    files: tuple[str, ...] = ()
    uploads: tuple[Upload, ...] = ()
    reference: tuple[int, int] | None = None
    forwarded: Message | None = None
    interaction_id: int | None = None
    webhook_id: int | None = None
    seen_by: int | None = None
    edits: list[Edit] = field(default_factory=list[Edit])
    reactions: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    thread_id: int | None = None
    deleted: bool = False

    @property
    def edited_at(self) -> datetime | None:
        """When it was edited last."""
        return self.edits[-1].at if self.edits else None

    @property
    def suppresses_embeds(self) -> bool:
        """Whether the message as it is now shows no previews of links."""
        return bool(self.flags & SUPPRESS_EMBEDS)

    @property
    def ephemeral(self) -> bool:
        """Whether only one person sees it."""
        return bool(self.flags & EPHEMERAL)

    @property
    def thinking(self) -> bool:
        """Whether it stands for an answer that is still to come."""
        return bool(self.flags & LOADING)

    @property
    def previews(self) -> list[str]:
        """The addresses of which the platform would show a preview."""
        return [] if self.suppresses_embeds else PREVIEWED.findall(self.content)

    @property
    def custom_ids(self) -> list[str]:
        """The ids of the buttons and other controls, in order."""
        return [found for row in self.components for found in custom_ids_of(row)]


def custom_ids_of(component: Json) -> list[str]:
    """Give the ids in a component and in what lies in it."""
    own = [component["custom_id"]] if "custom_id" in component else []
    inner: list[Json] = [
        *component.get("components", []),
        *([component["component"]] if "component" in component else []),
    ]
    return own + [found for part in inner for found in custom_ids_of(part)]
