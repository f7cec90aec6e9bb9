"""Calls and the table of the methods that the platform understands."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from tests.servers.slack.channels import Channel
from tests.servers.slack.platform import Platform
from tests.servers.slack.refusals import Refusal, invalid_arguments
from tests.servers.slack.shape import Json
from tests.servers.slack.workspaces import Installation, Workspace

TIERS = {1: 1, 2: 20, 3: 50, 4: 100}
MOST = 1000  # entries on a page


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a method: its arguments, and whose token came with it."""

    args: Mapping[str, Any]
    token: Installation | None
    headers: Mapping[str, str]

    @property
    def installation(self) -> Installation:
        """What the token stands for."""
        if self.token is None:
            raise Refusal("not_authed")
        return self.token

    def text(self, name: str) -> str:
        """Give an argument as text; nothing where there is none."""
        given = self.args.get(name)
        return "" if given is None else str(given)

    def need(self, name: str) -> str:
        """Give an argument that has to be there. Raises `Refusal`."""
        given = self.text(name)
        if not given:
            raise invalid_arguments(f"missing required field: {name}")
        return given

    def flag(self, name: str, *, default: bool) -> bool:
        """Give an argument that is yes or no."""
        given = self.args.get(name)
        return default if given is None else str(given).lower() in ("1", "true")

    def json(self, name: str) -> Any:
        """Give an argument that is JSON, also where it came in a form; None where there is none."""
        given = self.args.get(name)
        if not isinstance(given, str):
            return given
        try:
            return json.loads(given) if given else None
        except ValueError:
            raise invalid_arguments(f"must be valid json: {name}") from None

    def object(self, name: str) -> Json:
        """Give an argument that is an object; an empty one where there is none."""
        given = self.json(name)
        return cast("Json", given) if isinstance(given, dict) else {}

    def channel(self, platform: Platform, name: str = "channel") -> Channel:
        """Give the channel that an argument names. Raises `Refusal`."""
        return platform.channel(self.installation, self.need(name))

    def workspace(self, platform: Platform, channel: Channel | None = None) -> Workspace:
        """Give the workspace that the call is about."""
        teams = self.installation.teams
        team_id = channel.team_id if channel is not None and channel.team_id in teams else self.text("team_id")
        return platform.workspaces[team_id if team_id in teams else teams[0]]


Answer: TypeAlias = Callable[[Platform, Call], Json]


@dataclass(frozen=True, slots=True)
class Route:
    """A method, what answers it, one of the scopes that it needs, and its tier; a tier of 0 is not counted."""

    name: str
    answer: Answer
    scopes: tuple[str, ...] = ()
    tier: int = 3
    needs_token: bool = True


def paged(call: Call, key: str, entries: Sequence[object]) -> Json:
    """Give the page of a list that was asked for, and where the next one begins."""
    start = int(call.text("cursor").removeprefix("next:") or 0)
    end = start + min(int(call.text("limit") or 100), MOST)
    cursor = f"next:{end}" if end < len(entries) else ""
    return {key: [*entries[start:end]], "response_metadata": {"next_cursor": cursor}}
