"""`footnote doctor`: what is there, what is missing, and what to do."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.commands.session import Session, session
from bot.outcome import OK
from core.errors import FootnoteError
from core.model import without_controls

TROUBLE = 1


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    is_well: bool
    says: str


def examine() -> int:
    """Look at everything and print a line each; the code is 1 if anything that is needed is missing."""
    with session("footnote doctor") as opened:
        findings = opened.run(_findings(opened))
    from rich.console import Console

    console = Console()
    for finding in findings:
        sign = "[green]ok[/]" if finding.is_well else "[red]!![/]"
        console.print(f"{sign}  [bold]{finding.name}[/]  ", end="")
        console.print(without_controls(finding.says), markup=False, highlight=False, soft_wrap=True)
    return OK if all(finding.is_well for finding in findings) else TROUBLE


async def _findings(opened: Session) -> list[Finding]:
    settings = opened.settings
    return [
        Finding("settings", is_well=True, says=f"data folder {settings.data_dir.resolve()}"),
        Finding("chat model", is_well=True, says="none is configured; answers quote the documents"),
        await _look("embedder", lambda: _embedder(opened)),
        await _look("index", lambda: _index(opened)),
        await _look("conversations", lambda: _store(opened)),
    ]


async def _look(name: str, look: Callable[[], Awaitable[str]]) -> Finding:
    """Do a look; an error's sentence says what to do."""
    start = time.monotonic()
    try:
        says = await look()
    except FootnoteError as error:
        return Finding(name, is_well=False, says=str(error))
    return Finding(name, is_well=True, says=f"{says} ({(time.monotonic() - start) * 1000:.0f} ms)")


async def _embedder(opened: Session) -> str:
    embedder = opened.app.embedder
    await embedder.embed_query("Is anybody there?")
    return f"{embedder.name}, {embedder.dimension} numbers"


async def _index(opened: Session) -> str:
    from core.errors import Misconfigured

    outline = await opened.app.index.outline()
    if not outline.passages:
        raise Misconfigured("There are no documents yet. Read some first: footnote ingest FOLDER")
    return f"{outline.pages} pages, {outline.passages} passages from {', '.join(outline.sources)}"


async def _store(opened: Session) -> str:
    from bot.commands.ask import thread_ref
    from bot.wiring import open_conversations

    async with open_conversations(opened.settings) as store:
        await store.load(thread_ref("doctor"))
    return "your Redis server" if opened.settings.redis_url else "private server in the data folder"
