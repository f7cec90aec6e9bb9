"""`footnote ingest`: documents into the index."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.unix import give_way
from bot.commands.session import Session, session
from bot.outcome import OK, WRONG_INPUT
from bot.wiring import folder
from core.documents.ingest import Summary
from core.errors import InvalidInput
from core.model import without_controls
from core.ports import DocumentSource

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_FAILURES = 20


def ingest_sources(paths: Sequence[Path], *, base_url: str | None, name: str | None, quiet: bool) -> int:
    """Read each source and print what came of it; the code tells whether anything could be read."""
    sources = _sources(paths, base_url, name)
    with session("footnote ingest") as opened:
        if opened.owner is not None or opened.settings.is_shared:  # a bot may be at work beside it
            give_way()
        summaries = [opened.run(_ingest(opened, source, quiet=quiet)) for source in sources]
    return OK if all(summary.pages for summary in summaries) else WRONG_INPUT


def _sources(paths: Sequence[Path], base_url: str | None, name: str | None) -> list[DocumentSource]:
    if name is not None and len(paths) > 1:
        raise InvalidInput("--source names one source; read several one by one.", field="source")
    names = [name or path.resolve().name for path in paths]
    if twice := [one for one, count in Counter(names).items() if count > 1]:
        message = (
            f"Several sources would be called {twice[0]!r}, and each would replace the one before. "
            "Read them one by one, and name them with --source."
        )
        raise InvalidInput(message, field="source")
    return [folder(path, name=one, base_url=base_url) for path, one in zip(paths, names, strict=True)]


async def _ingest(opened: Session, source: DocumentSource, *, quiet: bool) -> Summary:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    summary = Summary()
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(f"Reading {source.name}", total=await source.size())
        async for step in opened.app.ingestion.run(source):
            if isinstance(step, Summary):
                summary = step
            else:
                progress.advance(task)
    _print(console, source.name, summary, quiet=quiet)
    return summary


def _print(console: Console, name: str, summary: Summary, *, quiet: bool) -> None:
    say = partial(console.print, highlight=False, markup=False, soft_wrap=True)
    changed = summary.added or summary.changed or summary.removed or summary.failed
    if not quiet or changed or not summary.pages:
        say(
            f"{name}: {summary.added} added, {summary.changed} changed, {summary.unchanged} unchanged, "
            f"{summary.removed} removed, {len(summary.failed)} failed ({summary.passages} new passages)"
        )
    for failed in summary.failed[:SHOWN_FAILURES]:
        say(without_controls(f"  {failed.name}: {failed.reason}"))
    if len(summary.failed) > SHOWN_FAILURES:
        say(f"  … and {len(summary.failed) - SHOWN_FAILURES} more")
    if not summary.pages:
        say(
            f"Nothing in {name} could be read, so nothing was changed. Footnote reads Markdown, MDX, HTML, "
            "reStructuredText, plain text, PDF, notebooks and Word."
        )
