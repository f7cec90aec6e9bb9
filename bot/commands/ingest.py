"""`footnote ingest`: documents into the index, with a bar while they are read, and then what came of it."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.documents.page import readable
from adapters.minilm import MiniLM
from adapters.unix import give_way
from bot.commands.calibrate import calibrate_services
from bot.commands.session import Session, session
from bot.outcome import OK, WRONG_INPUT
from bot.wiring.documents import origin_of, unknown_macros
from core.documents.ingest import PageDone, PassagesDone, Step, Summary
from core.errors import InvalidInput
from core.messages import counted, listed
from core.model import Origin, SourceRecord, without_controls
from core.ports import DocumentSource

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

SHOWN_FAILURES = 20
KEPT = "{}: stopped; {} are done and kept, and the next run continues from there."
FORMATS = "Markdown, MDX, HTML, reStructuredText, plain text, PDF, notebooks, Word, slides and transcripts"
OVERLAPS = "  It overlaps with {}: a page that is in both is cited only once, and removing one source keeps the other."
KINDS = f"Footnote reads {FORMATS}. "
OPEN = "Check that its pages open in a browser without a login or scripts, and that the site lets robots read them. "
HINTS = {"folder": KINDS, "repository": KINDS, "website": OPEN, "page": OPEN}
SLOWER = "Embedding with {}{}.\n"
REMOVAL = "To remove {}: footnote sources remove {}"


def ingest_sources(
    paths: Sequence[Path], *, base_url: str | None, name: str | None, quiet: bool, macros: Sequence[str] = ()
) -> int:
    """Read each source and print what came of it; the code tells whether anything could be read."""
    sources = _sources(paths, base_url, name, macros)
    with session("footnote ingest") as opened:
        if opened.owner is not None or opened.settings.is_shared:  # a bot may be at work beside it
            give_way()
        embedder = opened.app.embedder
        if isinstance(embedder, MiniLM) and embedder.price and not quiet:
            sys.stderr.write(SLOWER.format(embedder.name, embedder.price))
        summaries = [opened.run(_ingest(opened, one, origin, quiet=quiet)) for one, origin in sources]
        calibrate_services(opened)
    return OK if all(summary.pages for summary in summaries) else WRONG_INPUT


def _sources(
    paths: Sequence[Path], base_url: str | None, name: str | None, macros: Sequence[str]
) -> list[tuple[str, Origin]]:
    if name is not None and len(paths) > 1:
        raise InvalidInput("--source names one source; read several one by one.", field="source")
    names = [readable(name or path.resolve().name) for path in paths]
    if twice := [one for one, count in Counter(names).items() if count > 1]:
        message = (
            f"Several sources would be called {twice[0]!r}, and each would replace the one before. "
            "Read them one by one, and name them with --source."
        )
        raise InvalidInput(message, field="source")
    return [(one, origin_of(str(path), base_url, macros=macros)) for path, one in zip(paths, names, strict=True)]


async def _ingest(opened: Session, name: str, origin: Origin, *, quiet: bool) -> Summary:
    library = opened.app.library
    before = next((record for record in await library.records() if record.name == name), None)
    source = library.opened(name, origin)
    summary = await watched(source, library.read(name, origin, source), before, quiet=quiet)
    await say_overlaps(opened, name, quiet=quiet)
    return summary


async def say_overlaps(opened: Session, name: str, *, quiet: bool) -> None:
    """Print with which sources another one shares its pages, if it does."""
    others = await opened.app.library.overlapping(name)
    if others and not quiet:
        sys.stderr.write(without_controls(OVERLAPS.format(listed(others))) + "\n")


async def watched(
    source: DocumentSource, steps: AsyncGenerator[Step], before: SourceRecord | None, *, quiet: bool, mute: bool = False
) -> Summary:
    """Read to the end and print what came of it; *before* is what was known, which is no news where it is *quiet*.

    Where it is *mute*, whoever calls prints that, in a form of their own.
    """
    from rich.console import Console

    console, summary, done, size = Console(stderr=True), Summary(), 0, None
    with contextlib.suppress(InvalidInput):  # which is raised again, and written down, where it is read
        size = await source.size()
    with _bar(console) as progress:
        task = progress.add_task(f"Reading {source.name}", total=size, passages=0, rate=0.0)
        passages, begun = 0, time.monotonic()
        try:
            async with contextlib.aclosing(steps):
                async for step in steps:
                    match step:
                        case Summary():
                            summary = step
                            continue
                        case PassagesDone():
                            progress.update(task, passages=passages + step.passages)
                            continue
                        case PageDone():
                            done, passages = done + 1, passages + step.passages
                        case _:
                            pass
                    if size is None:  # a website says it once its list of pages is read
                        size = await source.size()
                    rate = (progress.tasks[task].completed + 1) / max(time.monotonic() - begun, 0.001)
                    progress.update(task, advance=1, total=size, passages=passages, rate=rate)
        except asyncio.CancelledError:
            sys.stderr.write(without_controls(KEPT.format(source.name, counted(done, "page"))) + "\n")
            raise
    if not mute:
        _print(console, source.name, summary, before, quiet=quiet)
    return summary


def _bar(console: Console) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),  # all of it fits into 80 characters
        MofNCompleteColumn(),
        TextColumn("pages, {task.fields[rate]:.1f}/s, {task.fields[passages]:,} new passages, left:"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def _print(console: Console, name: str, summary: Summary, before: SourceRecord | None, *, quiet: bool) -> None:
    say = partial(console.print, highlight=False, markup=False, soft_wrap=True)
    if quiet and not _is_news(summary, before):
        return
    say(
        without_controls(
            f"{name}: {summary.added} added, {summary.changed} changed, {summary.unchanged} unchanged, "
            f"{summary.removed} removed, {len(summary.failed)} failed ({summary.passages} new passages)"
        )
    )
    if summary.skipped:
        say(without_controls(f"  {sum(summary.skipped.values()):,} skipped: {', '.join(summary.left_out)}"))
    if summary.macros:
        most = sorted(summary.macros, key=lambda name: (-summary.macros[name], name))
        say(f"  {unknown_macros(most)}")
    for failed in summary.failed[:SHOWN_FAILURES]:
        say(without_controls(f"  {failed.name}: {failed.reason}"))
    if len(summary.failed) > SHOWN_FAILURES:
        say(f"  … and {len(summary.failed) - SHOWN_FAILURES} more")
    if not summary.pages:
        hint = "" if summary.removed else HINTS.get(before.origin.kind if before and before.origin else "folder", "")
        rest = REMOVAL.format("the source as well" if summary.removed else "what was read before", name)
        say(without_controls(f"{summary.problem} {hint}{rest}"))


def _is_news(summary: Summary, before: SourceRecord | None) -> bool:
    """Whether anything has changed since it was read before, in the pages or in what could not be read."""
    if summary.added or summary.changed or summary.removed or not summary.pages:
        return True
    last = before.last if before else None
    failed = [(each.name, each.reason) for each in summary.failed[:SHOWN_FAILURES]]
    known = [(each.name, each.reason) for each in last.failures] if last else []
    return failed != known or len(summary.failed) != (last.failed if last else 0)
