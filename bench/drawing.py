"""Times the reading and drawing of an answer that is drawn with every delta: twice as long, about twice the time.

python -m bench.drawing
"""

from __future__ import annotations

import time
from collections.abc import Callable

from adapters.chat.platform import Renderer
from adapters.discord.dialect import DiscordRenderer
from adapters.slack.dialect import SlackRenderer
from core.answering.citations import Footnotes, Sources
from core.answering.markup import MarkupReader

DELTA = 4  # characters
ROUNDS = 5
RENDERERS: dict[str, Callable[[], Renderer]] = {"discord": DiscordRenderer, "slack": SlackRenderer}
SHAPES = {
    "list": "- An item with **some** words in it.\n",
    "nested list": "  - An item with **some** words.\n",
    "table": "| a cell | another `cell` |\n",
    "quote": "> A line of a quote.\n>\n",
    "code": "    value = call(argument)\n",
    "paragraphs": "A paragraph of some words and more.\n\n",
    "backticks": "a ` b\n\n",
    "sources of its own": "- [1] A page\n",
}
BEGINNINGS = {
    "nested list": "- Begin\n",
    "table": "| A | B |\n|---|---|\n",
    "code": "```py\n",
    "sources of its own": "Sources:\n\n",
}


def seconds(shape: str, length: int, renderer: Renderer) -> float:
    """Give the CPU seconds for an answer of so many characters, drawn with every delta."""
    text = (BEGINNINGS.get(shape, "") + SHAPES[shape] * (length // len(SHAPES[shape]) + 1))[:length]
    reader = MarkupReader(Footnotes(Sources()))
    begun = time.process_time()
    for at in range(0, length, DELTA):
        reader.feed(text[at : at + DELTA])
        renderer.sketch(reader)
    return time.process_time() - begun


def main() -> None:
    """Print a line for each platform and shape."""
    for platform, make in RENDERERS.items():
        for shape in SHAPES:
            rounds = [[seconds(shape, size, make()) for size in (4_000, 8_000)] for _ in range(ROUNDS)]
            short, long = map(min, zip(*rounds, strict=True))  # the least, as others only ever add to it
            print(f"{platform} {shape}: 4,000 characters {short:.3f} s, 8,000 {long:.3f} s, {long / short:.2f} times")


if __name__ == "__main__":
    main()
