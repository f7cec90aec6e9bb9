"""Forms and homes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from tests.servers.slack.shape import Json


@dataclass(slots=True)
class Trigger:
    """What lets an app open a view, once and soon; `at` counts only the time that tests let pass."""

    LIFE: ClassVar[float] = 3.0
    user_id: str
    team_id: str
    at: float
    used: bool = False


@dataclass(eq=False, slots=True)
class View:
    """A view that somebody sees, as the app described it."""

    id: str
    hash: str
    team_id: str
    user_id: str
    given: Json
    root_id: str
    app_id: str
    bot_id: str
    is_open: bool = True
    history: list[Json] = field(default_factory=list[Json])

    @property
    def callback_id(self) -> str:
        """What the app calls it."""
        return str(self.given.get("callback_id") or "")

    @property
    def blocks(self) -> list[Json]:
        """What it is made of."""
        return self.given.get("blocks") or []

    def change(self, given: Json, new_hash: str) -> None:
        """Show something else in it."""
        self.history.append(self.given)
        self.given = given
        self.hash = new_hash

    def payload(self, values: Json | None = None) -> Json:
        """Give the form in which it goes over the socket, with what was filled in."""
        empty: Json = {"private_metadata": "", "callback_id": "", "title": None, "close": None, "submit": None}
        own: Json = {
            "id": self.id,
            "team_id": self.team_id,
            "hash": self.hash,
            "state": {"values": values or {}},
            "root_view_id": self.root_id,
            "previous_view_id": None,
            "app_id": self.app_id,
            "app_installed_team_id": self.team_id,
            "bot_id": self.bot_id,
            "external_id": "",
            "clear_on_close": False,
            "notify_on_close": False,
        }
        return {**own, **empty, **self.given}
