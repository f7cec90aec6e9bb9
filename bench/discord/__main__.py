"""The bot on Discord under load: how soon it takes a question, shows first words, and what it costs.

`python -m bench.discord`: the real client on the wire to a server with the platform's limits, a chat model that takes
300 ms to start and gives 60 tokens a second, each in a process of its own; the bot with its real index and store.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from multiprocessing.connection import Connection

from bench.discord import crowd, figures, model, product
from bench.discord.load import Addresses, Asking, Means, process
from bench.report import print_rows

WARM_UP = 20
RATE_OF_WARM_UP = 4.0


@dataclass
class World:
    """The three processes, and how many questions were asked."""

    crowd: Connection
    model: Connection
    bot: Connection
    asked: int = 0

    def load(self, title: str, count: int, rate: float | None, means: Means = Means.MENTION) -> None:
        """Put a load on the bot and print what came of it."""
        self._notes()
        self.crowd.send(Asking(self.asked, count, rate, means))
        self.asked += count
        outcome = self.crowd.recv()
        self.model.send("spent")
        rows = figures.rows(outcome, self._notes(), self.model.recv(), means=means, has_bars=rate is not None)
        if title:
            print_rows(title, rows)

    def _notes(self) -> figures.Notes:
        self.bot.send("notes")
        return self.bot.recv()


def main() -> None:
    """Print a table for a steady load, for one by commands, and for a burst."""
    options = _options()
    tempo = model.Tempo(length=options.tokens)
    with process(model.serve, tempo) as speaking, process(crowd.serve) as asking:
        address = speaking.recv()
        api, gateway, token = asking.recv()
        with process(product.serve, Addresses(api, gateway, token, address), options.seats) as working:
            working.recv()
            _measure(World(asking, speaking, working), options)


def _measure(world: World, options: argparse.Namespace) -> None:
    world.load("", WARM_UP, RATE_OF_WARM_UP)
    count = round(options.rate * options.seconds)
    length = f"{options.tokens} tokens an answer, {options.seats} at once"
    world.load(f"{options.rate:g} questions a second for {options.seconds:g} s, {length}", count, options.rate)
    if options.commands:
        title = f"{options.rate:g} questions a second for {options.commands:g} s by /ask, {length}"
        world.load(title, round(options.rate * options.commands), options.rate, Means.COMMAND)
    if options.burst:
        world.load(f"{options.burst} questions at once, {length}", options.burst, None)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.discord", description="The bot on Discord under load.")
    parser.add_argument("--rate", type=float, default=10, help="questions a second")
    parser.add_argument("--seconds", type=float, default=60, help="how long they come so")
    parser.add_argument("--commands", type=float, default=20, help="how many seconds they come by /ask; 0: not at all")
    parser.add_argument("--burst", type=int, default=200, help="questions at once; 0: none")
    parser.add_argument("--tokens", type=int, default=300, help="the length of an answer")
    parser.add_argument("--seats", type=int, default=256, help="answers that the bot may write at once")
    return parser.parse_args()


if __name__ == "__main__":
    main()
