"""Requests and the table of those that the platform understands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from tests.servers.discord.platform import Platform
from tests.servers.discord.shape import Json

MAJOR = ("channel", "guild", "token")  # what buckets of rate limits are told apart by, beside the route


@dataclass(frozen=True, slots=True)
class Call:
    """A request to a route: the ids from its path, the query, and the body."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    headers: Mapping[str, str]
    files: tuple[str, ...] = ()

    def id(self, name: str) -> int:
        """Give an id from the path."""
        return int(self.path[name])

    @property
    def json(self) -> Json:
        """The body, as an object; nothing where there is none."""
        return cast("Json", self.body) if isinstance(self.body, dict) else {}

    @property
    def list(self) -> list[Json]:
        """The body, as a list; nothing where there is none."""
        return cast("list[Json]", self.body) if isinstance(self.body, list) else []

    @property
    def reason(self) -> str | None:
        """What the audit log is to say."""
        return self.headers.get("X-Audit-Log-Reason")


Answer: TypeAlias = Callable[[Platform, Call], Any]


@dataclass(frozen=True, slots=True)
class Route:
    """A method and a pattern such as `/channels/{channel}/messages`, and what answers it; None is an empty answer."""

    name: str
    answer: Answer
    needs_token: bool = True
    status: int = 200
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        written = re.sub(r"\{(\w+)\}", _group, self.name)
        object.__setattr__(self, "pattern", re.compile(f"^{written}$"))


def _group(found: re.Match[str]) -> str:
    digits = "" if found[1] in ("token", "emoji") else r"\d+"
    return f"(?P<{found[1]}>{digits or '[^/]+'})"


def find(routes: Sequence[Route], method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """Give the route of a request, with the parts of its path."""
    for route in routes:
        found = route.pattern.match(f"{method} {path}")
        if found is not None:
            return route, found.groupdict()
    return None


def place_of(parts: Mapping[str, str]) -> str:
    """Give what tells the buckets of one route apart."""
    return "+".join(parts[name] for name in MAJOR if name in parts)
