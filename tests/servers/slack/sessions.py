"""What an agent lets people see of its work in a thread."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.servers.slack.shape import Json

STATUS_LIFE = 120.0  # s, after which a status without a message goes away


@dataclass(eq=False, slots=True)
class Session:
    """The session of a thread: its title, its status, and the statuses that it has had."""

    status: str
    title: str = ""
    history: list[str] = field(default_factory=list[str])

    def set(self, status: str) -> None:
        """Give it a status."""
        self.status = status
        self.history.append(status)


@dataclass(frozen=True, slots=True)
class Status:
    """The older kind of status: words, which go away by themselves."""

    words: str
    at: float


@dataclass(frozen=True, slots=True)
class Prompts:
    """What was suggested to somebody who opened the messages of the app."""

    channel_id: str
    thread_ts: str | None
    title: str | None
    prompts: list[Json]
