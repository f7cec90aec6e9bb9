"""The bot on Discord under load: how soon it takes a question, shows first words, and what it costs.

`python -m bench.discord`: the real client on the wire to a server with the platform's limits, a chat model that takes
300 ms to start and gives 60 tokens a second, each in a process of its own; the bot with its real index and store.
"""

from __future__ import annotations

import argparse

from bench.chat import model
from bench.chat.load import Asking, process
from bench.chat.world import RATE_ALONE, World
from bench.discord import crowd, product
from bench.discord.crowd import Commands
from bench.discord.product import Addresses

WARM_UP = 20
RATE_OF_WARM_UP = 4.0


def main() -> None:
    """Print a table for a steady load, for one by commands, and for a burst."""
    options = _options()
    tempo = model.SLOW if options.alone else model.Tempo(length=options.tokens)
    with process(model.serve, tempo) as speaking, process(crowd.serve) as asking:
        address = speaking.recv()
        api, gateway, token = asking.recv()
        with process(product.serve, Addresses(api, gateway, token, address), options.seats) as working:
            working.recv()
            _measure(World(asking, speaking, working), options)


def _measure(world: World, options: argparse.Namespace) -> None:
    world.load("", Asking(world.asked, WARM_UP, RATE_OF_WARM_UP))
    if options.alone:
        world.alone(Asking(world.asked, options.alone, RATE_ALONE))
        return
    count = round(options.rate * options.seconds)
    length = f"{options.tokens} tokens an answer, {options.seats} at once"
    title = f"{options.rate:g} questions a second for {options.seconds:g} s, {length}"
    world.load(title, Asking(world.asked, count, options.rate))
    if options.commands:
        title = f"{options.rate:g} questions a second for {options.commands:g} s by /ask, {length}"
        world.load(title, Commands(world.asked, round(options.rate * options.commands), options.rate))
    if options.burst:
        world.load(f"{options.burst} questions at once, {length}", Asking(world.asked, options.burst, None))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.discord", description="The bot on Discord under load.")
    parser.add_argument("--rate", type=float, default=10, help="questions a second")
    parser.add_argument("--seconds", type=float, default=60, help="how long they come so")
    parser.add_argument("--commands", type=float, default=20, help="how many seconds they come by /ask; 0: not at all")
    parser.add_argument("--alone", type=int, default=0, help="so many questions, each by itself, of a slow model")
    parser.add_argument("--burst", type=int, default=200, help="questions at once; 0: none")
    parser.add_argument("--tokens", type=int, default=300, help="the length of an answer")
    parser.add_argument("--seats", type=int, default=256, help="answers that the bot may write at once")
    return parser.parse_args()


if __name__ == "__main__":
    main()
