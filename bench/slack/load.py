"""What goes from one process of the benchmark to another, beside what all platforms have."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bench.chat.load import Asking, Outcome

WORKSPACES = 20
RATES = (10, 15, 20, 30, 60, 120)


class Way(StrEnum):
    """How an answer was shown: as a stream, as a post that was edited while it grew, or whole at the end."""

    STREAMED = "streamed"
    EDITED = "edited"
    POSTED = "posted once"


@dataclass(frozen=True, slots=True)
class Installed:
    """The bot in a workspace."""

    team_id: str
    token: str
    bot_id: str
    bot_user_id: str


@dataclass(frozen=True, slots=True)
class App:
    """Where Slack is, the secrets of the app, and where it is installed."""

    api: str
    app_id: str
    app_token: str
    client_id: str
    client_secret: str
    signing_secret: str
    installed: tuple[Installed, ...]


@dataclass(frozen=True, slots=True)
class Steady(Asking):
    """The same in all workspaces in turn; what happens goes to the *url*, or over sockets where there is none."""

    url: str = ""


@dataclass(frozen=True, slots=True)
class Ladder:
    """For so many seconds, each of the `RATES` in a workspace of its own, in questions a minute."""

    first: int
    seconds: float
    url: str = ""

    @property
    def counts(self) -> tuple[int, ...]:
        """How many questions that are for each of the rates."""
        return tuple(round(rate * self.seconds / 60) for rate in RATES)


@dataclass(frozen=True, slots=True)
class Step:
    """What came of one of the rates."""

    rate: int
    outcome: Outcome
