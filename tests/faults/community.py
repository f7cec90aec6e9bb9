"""People who ask on each platform, and what they see of the answers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from tests.faults.audit import Scene
from tests.servers.discord.platform import Changes
from tests.servers.faults import Faults

VOTES, STOPS, RETRIES = ("footnote:up", "footnote:vote"), ("footnote:stop",), ("footnote:retry",)
NAMES = ("Zerlina Quoss", "Wystan Brakk", "Oriel Vantongeren", "Ludmilla Pfx")
FORGOTTEN = "I no longer remember"
LATEST = 3.0  # seconds after which platforms say that a command was not heard


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that somebody asked, and the id that the platform gave it; empty where that comes later."""

    number: int
    platform: str
    place: str
    message: str

    @property
    def is_command(self) -> bool:
        """Whether a command asked it."""
        return self.place.startswith("/")

    @property
    def name(self) -> str:
        """What it is called before it has an id."""
        return f"q{self.number}"


class Community(Protocol):
    """People on a platform; a *place* is a name of ours for where questions are answered together."""

    name: str
    faults: Faults

    @property
    def changes(self) -> Changes:
        """What wakes whoever waits for something to become so."""
        ...

    def open(self) -> contextlib.AbstractAsyncContextManager[None]:
        """Run the platform while the block runs."""
        ...

    def settings(self) -> dict[str, str]:
        """Give the settings with which the bot is there."""
        ...

    def secrets(self) -> Iterable[str]:
        """Give what must not be written anywhere: tokens, and the names of people."""
        ...

    def is_heard(self) -> bool:
        """Say whether the bot hears what is written."""
        ...

    def drop(self) -> None:
        """Cut the connections over which the bot hears."""
        ...

    def ask(self, number: int, text: str, place: str = "", how: str = "") -> Asked:
        """Mention the bot: in a channel, or in a thread of people that has a name of ours.

        A `newcomer` asks nothing else, and whoever does so `direct` is alone with the bot.
        """
        ...

    def command(self, number: int, text: str, *, private: bool = False) -> Asked:
        """Ask by a command, which the platform tells the bot once, and only if it is there."""
        ...

    def edit(self, asked: Asked, number: int, text: str) -> Asked:
        """Let a message ask something else."""
        ...

    def delete(self, asked: Asked) -> None:
        """Delete the message that asks."""
        ...

    def press(self, asked: Asked, names: tuple[str, ...]) -> bool:
        """Press a button that stands below a question, if it is there."""
        ...

    def forget(self, asked: Asked) -> Callable[[], bool]:
        """Let whoever asked be forgotten; give whether the bot has said that it is done."""
        ...

    def repeat(self, asked: Asked) -> None:
        """Tell the bot of a question once more."""
        ...

    def scene(self, place: str) -> Scene:
        """Give what is to be seen in a place."""
        ...

    def traces(self, place: str) -> list[str]:
        """Give all that the platform knows of the bot's messages in a place, also of those that are gone."""
        ...

    def message_of(self, asked: Asked) -> str:
        """Give the id by which the bot knows a question; empty while it cannot know it."""
        ...

    def strays(self) -> list[str]:
        """Give what the bot has said where nobody asked."""
        ...
