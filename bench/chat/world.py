"""The three processes of a benchmark: the platform with the people who ask, the model, and the bot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from bench.chat import figures
from bench.chat.figures import Measured
from bench.chat.load import Asking, Notes, Outcome
from bench.chat.model import SLOW
from bench.report import print_rows

RATE_ALONE = 0.3


@dataclass
class World:
    """The ends of their pipes, and how many questions were asked."""

    crowd: Connection
    model: Connection
    bot: Connection
    asked: int = 0

    def load(self, title: str, asking: Asking) -> None:
        """Put a load on the bot, and print what came of it where there is a title."""
        outcome, notes, spent = self.put(asking, asking.count)
        if title:
            rows = figures.rows(Measured(outcome, notes, spent), has_bars=asking.rate is not None)
            print_rows(title, rows)

    def alone(self, asking: Asking, how: str = "") -> None:
        """Ask a slow model, so that each question is alone, and print what its reader waits for."""
        outcome, notes, spent = self.put(asking, asking.count)
        title = f"{asking.count} questions, each alone{how}; {SLOW.start * 1000:g} ms to the first of 150 tokens, "
        title += f"{SLOW.tokens:g} a second"
        print_rows(title, figures.words(Measured(outcome, notes, spent)))

    def put(self, load: Any, count: int) -> tuple[Any, Notes, dict[int, float]]:
        """Put a load of so many questions on the bot; give what the platform, the bot and the model saw of it."""
        self._notes()
        self.crowd.send(load)
        self.asked += count
        seen: Outcome | Sequence[Outcome] = self.crowd.recv()
        self.model.send("spent")
        return seen, self._notes(), self.model.recv()

    def _notes(self) -> Notes:
        self.bot.send("notes")
        return self.bot.recv()
