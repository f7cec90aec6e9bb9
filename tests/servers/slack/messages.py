"""Messages, as they are and as they were."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, cast

from tests.servers.slack.shape import Json

if TYPE_CHECKING:
    from tests.servers.slack.deliveries import Delivery

LIVE = re.compile(r"<[!@#][^<>]*>")
STREAM_LIFE = 300.0  # s, after which a stream is dead although nobody stopped it


class Streaming(StrEnum):
    """Where a streamed message stands."""

    OPEN = "open"
    STOPPED = "stopped"
    STOPPED_BY_USER = "stopped_by_user"
    DIED = "died"


@dataclass(slots=True)
class Stream:
    """A message that is written while people look."""

    started_at: float
    recipient_user_id: str | None
    recipient_team_id: str | None
    by_chunks: bool | None = None
    state: Streaming = Streaming.OPEN
    appended: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Edit:
    """What a message was given by one change, and when."""

    text: str
    blocks: list[Json]
    markdown: str
    at: float


@dataclass(eq=False, slots=True)
class Message:
    """A message; a deleted one stays here, where assertions can read it.

    `text` is what notifications and screen readers get, `markdown` what was given as such or streamed, and `blocks`
    stand below it. `seen_by` is the one person who sees an ephemeral message. `unfurls` says whether previews of its
    links would be shown.
    """

    ts: str
    channel_id: str
    team_id: str
    user_id: str
    text: str = ""
    blocks: list[Json] = field(default_factory=list[Json])
    markdown: str = ""
    thread_ts: str | None = None
    bot_id: str | None = None
    app_id: str | None = None
    subtype: str | None = None
    client_msg_id: str | None = None
    metadata: Json | None = None
    attachments: list[Json] = field(default_factory=list[Json])
    files: list[Json] = field(default_factory=list[Json])
    seen_by: str | None = None
    unfurls: bool = True
    is_tombstone: bool = False
    edited: Json | None = None
    stream: Stream | None = None
    reactions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    edits: list[Edit] = field(default_factory=list[Edit])
    deliveries: list[Delivery] = field(default_factory=list["Delivery"])
    deleted: bool = False

    @property
    def root_ts(self) -> str:
        """The timestamp of the thread that the message is in, or would begin."""
        return self.thread_ts or self.ts

    @property
    def ephemeral(self) -> bool:
        """Whether only one person sees it."""
        return self.seen_by is not None

    @property
    def shown(self) -> str:
        """The words that people see, as they were sent: markdown and the texts of blocks, or else the text."""
        return "\n".join(part for part in (self.markdown, *texts_of(self.blocks)) if part) or self.text

    @property
    def live(self) -> list[str]:
        """The tokens in it that would mention somebody, wherever they stand."""
        return LIVE.findall("\n".join((self.text, self.markdown, *texts_of(self.blocks))))

    @property
    def action_ids(self) -> list[str]:
        """The ids of the buttons and other controls, in order."""
        return [str(element["action_id"]) for element in elements_of(self.blocks) if "action_id" in element]


def texts_of(blocks: object) -> list[str]:
    """Give every text that stands somewhere in blocks."""
    if isinstance(blocks, list):
        return [text for part in cast("list[object]", blocks) for text in texts_of(part)]
    if not isinstance(blocks, dict):
        return []
    parts = cast("Json", blocks)
    own = [parts["text"]] if isinstance(parts.get("text"), str) else []
    return own + [text for part in parts.values() for text in texts_of(part)]


def elements_of(blocks: list[Json]) -> list[Json]:
    """Give the elements of blocks, each with the id of its block."""
    found: list[Json] = []
    for block in blocks:
        inner: list[Json] = [*block.get("elements", [])]
        inner += [block[name] for name in ("element", "accessory") if name in block]
        found += [{**element, "block_id": block.get("block_id", "")} for element in inner]
    return found
