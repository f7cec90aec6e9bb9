"""The bot on Slack under load: how soon it acknowledges, shows first words, and what becomes of streams.

`python -m bench.slack`: the real client on the wire to a server with the platform's limits, a chat model that takes
300 ms to start and gives 60 tokens a second, each in a process of its own; the bot with its real index and store. Over
sockets first, then over HTTP; and then more and more questions a minute, each time in a workspace of its own.
"""

from __future__ import annotations

import argparse
import socket
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from adapters.slack.http import PATH
from bench.chat import model
from bench.chat.load import process
from bench.chat.world import RATE_ALONE, World
from bench.report import print_rows
from bench.slack import crowd, ladder, plot, product
from bench.slack.load import WORKSPACES, App, Ladder, Steady

RATE_OF_WARM_UP = 4.0


def main() -> None:
    """Print a table for each way to hear Slack, and one for the ladder of rates."""
    options = _options()
    with (
        process(model.serve, model.SLOW if options.alone else model.Tempo(length=options.tokens)) as speaking,
        process(crowd.serve) as asking,
    ):
        address, app, asked = speaking.recv(), asking.recv(), 0
        for port in [port for name, port in (("sockets", 0), ("http", _free_port())) if name in options.by]:
            with _at_work(app, address, options.seats, port) as working:
                world = World(asking, speaking, working, asked)
                _measure(world, options, port)
                asked = world.asked  # the model knows questions by their numbers


@contextmanager
def _at_work(app: App, model_url: str, seats: int, port: int) -> Generator[Connection]:
    with process(product.serve, app, model_url, seats, port) as working:
        working.recv()
        yield working


def _measure(world: World, options: argparse.Namespace, port: int) -> None:
    url = f"http://{product.HOST}:{port}{PATH}" if port else ""
    how, rate = "by HTTP" if port else "by Socket Mode", WORKSPACES * options.rate / 60
    length = f"{options.tokens} tokens an answer, {options.seats} at once"
    world.load("", Steady(world.asked, WORKSPACES, RATE_OF_WARM_UP, url))
    if options.alone:
        world.alone(Steady(world.asked, options.alone, RATE_ALONE, url), f", {how}")
        return
    if options.seconds:
        each = f"{options.rate:g} questions a minute in each of {WORKSPACES} workspaces for {options.seconds:g} s"
        steady = Steady(world.asked, round(rate * options.seconds), rate, url)
        world.load(f"{each}, {how}, {length}", steady)
    if options.ladder:
        _climb(world, Ladder(world.asked, options.ladder, url), options.plot, f"{how}, {length}")


def _climb(world: World, load: Ladder, path: Path | None, how: str) -> None:
    steps, _, _ = world.put(load, sum(load.counts))
    print_rows(f"More and more questions in one workspace for {load.seconds:g} s, {how}", ladder.rows(steps))
    if path is not None:
        path.write_text(plot.svg(ladder.rungs(steps)), "utf-8")


def _free_port() -> int:
    with socket.create_server((product.HOST, 0)) as found:
        return found.getsockname()[1]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.slack", description="The bot on Slack under load.")
    parser.add_argument(
        "--by", nargs="+", choices=("sockets", "http"), default=("sockets", "http"), help="how it hears"
    )
    parser.add_argument("--rate", type=float, default=15, help="questions a minute in each workspace")
    parser.add_argument("--seconds", type=float, default=60, help="how long they come so; 0: not at all")
    parser.add_argument("--alone", type=int, default=0, help="so many questions, each by itself, of a slow model")
    parser.add_argument("--ladder", type=float, default=0, help="seconds for which more and more are asked; 0: none")
    parser.add_argument("--plot", type=Path, help="where the plot of that goes, as SVG")
    parser.add_argument("--tokens", type=int, default=300, help="the length of an answer")
    parser.add_argument("--seats", type=int, default=256, help="answers that the bot may write at once")
    return parser.parse_args()


if __name__ == "__main__":
    main()
