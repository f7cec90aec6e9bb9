"""What requests meet in place of the right answer, by route."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.servers.service import Hang, Reply, Reset

EVERY = "*"


@dataclass(frozen=True, slots=True)
class Lost:
    """The request is carried out, and the connection reset before the answer is sent."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The request waits for the event, and then goes on as it should."""

    until: asyncio.Event


Fault: TypeAlias = Reply | Reset | Hang | Lost | Hold


@dataclass
class Faults:
    """Waiting in a line for each route; `*` is every route. `met` are those that requests ran into."""

    met: list[Fault] = field(default_factory=list[Fault])
    _lines: dict[str, list[Fault]] = field(default_factory=dict[str, list[Fault]])
    _broken: dict[str, Fault] = field(default_factory=dict[str, Fault])

    def add(self, route: str, *faults: Fault) -> None:
        """Let the next requests of a route meet these, one each."""
        self._lines.setdefault(route, []).extend(faults)

    def break_(self, route: str, fault: Fault) -> None:
        """Let every request of a route meet this, until it is mended."""
        self._broken[route] = fault

    def mend(self) -> None:
        """Let everything work."""
        self._lines.clear()
        self._broken.clear()

    def take(self, route: str) -> Fault | None:
        """Give what a request of this route meets, and keep it on record."""
        lines = (self._lines.get(name) for name in (route, EVERY))
        fault = next((line.pop(0) for line in lines if line), self._broken.get(route, self._broken.get(EVERY)))
        if fault is not None:
            self.met.append(fault)
        return fault
