"""The surfaces of the terminal. Each draws progress its own way; what is said is the core's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import IO, TYPE_CHECKING

from adapters.terminal.render import as_json, cleaned, drawn, link_to, plain, styled_nodes
from core.answering.dialect import one_line
from core.answering.markup import shown_blocks
from core.answering.nodes import inert
from core.answering.verdict import DelayedAnswer
from core.messages import WARNING
from core.model import (
    Answer,
    Claim,
    Delivery,
    Drafted,
    PartialAnswer,
    Progress,
    Reaction,
    Restarted,
    SearchFailed,
    Searching,
    Waiting,
    WorkspaceRef,
    without_controls,
)

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

LINE = 60
PAUSE = 1 / 12  # seconds between two drawings


class PlainSurface:
    """Writes the finished answer as plain text: what a pipe has been given cannot be taken back."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Wait for the answer and write it."""
        *_, answer = [item async for item in progress]
        assert isinstance(answer, Answer)  # noqa: S101 - the port promises it
        self._out.write(self._text(answer) + "\n")
        self._out.flush()
        return Delivery(messages=(claim.question.message,))

    async def refuse(self, claim: Claim, sentence: str) -> Delivery:
        """Write the sentence; whoever is at the terminal is the only reader."""
        self._out.write(f"{sentence}\n")
        self._out.flush()
        return Delivery()

    async def standing(self, claim: Claim) -> Delivery | None:
        """Nothing is tried twice here."""
        return None

    async def react(self, claim: Claim, reaction: Reaction) -> None:
        """The warning stands in front of the text already."""

    async def unreact(self, claim: Claim, reaction: Reaction) -> None:
        """Nothing was marked."""

    async def alert(self, home: WorkspaceRef, sentence: str) -> None:
        """Nobody moderates a terminal."""

    def _text(self, answer: Answer) -> str:
        return plain(answer)


class JsonSurface(PlainSurface):
    """Writes one JSON object and nothing else."""

    def _text(self, answer: Answer) -> str:
        return cleaned(json.dumps(as_json(answer), ensure_ascii=False))


class ScreenSurface(PlainSurface):
    """Draws the answer while it comes, then the sources, with links to click."""

    def __init__(self, console: Console) -> None:
        super().__init__(console.file)
        self._console = console

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Show what is going on in a live view, and leave the finished answer in its place."""
        from rich.live import Live

        async def draw() -> None:
            while True:
                live.refresh()
                await asyncio.sleep(PAUSE)

        view = _View()
        # Not by its own thread, in which an answer would be read while more of it is being written.
        with Live(view, console=self._console, transient=True, auto_refresh=False) as live:
            drawing = asyncio.create_task(draw())
            try:
                async for item in progress:
                    view.take(item)
            finally:
                drawing.cancel()
                await asyncio.wait({drawing})
        if view.answer is not None:
            self._console.print(_finished(view.answer))
        return Delivery(messages=(claim.question.message,))


class _View:
    """What the screen shows while an answer is made: a status line, or the end of the text so far.

    Once nothing was new for long, it shows what is waited for too.
    """

    def __init__(self) -> None:
        from rich.spinner import Spinner
        from rich.text import Text

        self._spinner = Spinner("dots", Text("Reading the question …"))
        self._written: PartialAnswer | None = None
        self._waiting = Waiting()
        self._seen_at = asyncio.get_running_loop().time()
        self.answer: Answer | None = None

    def take(self, item: Progress) -> None:
        from rich.text import Text

        self._seen_at = asyncio.get_running_loop().time()
        match item:
            case Waiting():
                self._waiting = item
            case Searching(query):
                self._spinner.text = Text.assemble("Searching for “", styled_nodes(inert(one_line(query, LINE))), "” …")
            case SearchFailed():
                self._spinner.text = f"{WARNING} The search has trouble …"
            case Drafted(written):
                self._written = written
            case Restarted():
                self._written = None
            case Answer():
                self.answer = item

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Return at most a screenful, from the end: what does not fit would otherwise hide the newest words."""
        from rich.console import Group
        from rich.segment import Segment

        height = max(console.height - 2, 1)
        is_late = asyncio.get_running_loop().time() - self._seen_at >= self._waiting.after
        written = DelayedAnswer(self._written, self._waiting.on) if is_late else self._written
        finished, tail = written.read() if written else ((), ())
        blocks = [*finished[-height:], *tail]
        shown: RenderableType = Group(*drawn(blocks)) if blocks else self._spinner
        lines = console.render_lines(shown, options.update(height=None), pad=False)
        for line in lines[-height:]:
            yield from line
            yield Segment.line()


def _finished(answer: Answer) -> RenderableType:
    from rich.console import Group
    from rich.style import Style
    from rich.text import Text

    parts: list[RenderableType] = list(drawn(shown_blocks(answer)))
    named = answer.citations or answer.nearest
    if named:
        parts.append(Text("\nSources" if answer.citations else "\nNearest sections", style="bold"))
    for citation in named:
        mark = f"[{citation.number}] " if answer.citations else "- "
        line = Text(mark, style="none").append_text(
            styled_nodes(inert(without_controls(citation.heading + citation.age)))
        )
        line.append(f"  {citation.relevance_score:.2f}", style="dim")
        parts.append(line)
        url = without_controls(citation.url)
        way = link_to(url)
        if way.link or (url and ":" not in url.partition("/")[0]):  # what runs something is no place to look it up
            parts.append(Text(f"    {url}", style=Style(dim=True) + way, overflow="fold"))
    return Group(*parts, Text(""))
