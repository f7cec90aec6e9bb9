"""`footnote doctor`: what is there, what is missing, and what to do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from bot.commands.session import Session, session
from bot.outcome import OK
from bot.settings import slips_of_settings
from core.errors import FootnoteError, Misconfigured
from core.model import without_controls

TROUBLE = 1
PATIENCE = 20.0  # seconds for each look


class Sign(StrEnum):
    """What stands in front of a finding."""

    WELL = "ok"
    ADVICE = "??"
    WRONG = "!!"


COLOURS = {Sign.WELL: "green", Sign.ADVICE: "yellow", Sign.WRONG: "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    sign: Sign
    name: str
    says: str


def examine() -> int:
    """Look at everything and print a line each; the code is 1 if anything that is needed is missing."""
    with session("footnote doctor", tells_slips=False) as opened:
        return opened.run(_examine(opened))


async def _examine(opened: Session) -> int:
    from rich.console import Console

    console = Console()
    is_well = True
    async for finding in _findings(opened):
        is_well = is_well and finding.sign is not Sign.WRONG
        console.print(f"[{COLOURS[finding.sign]}]{finding.sign}[/]  [bold]{finding.name}[/]  ", end="")
        console.print(without_controls(finding.says), markup=False, highlight=False, soft_wrap=True)
    return OK if is_well else TROUBLE


async def _findings(opened: Session) -> AsyncIterator[Finding]:
    """Look at one part after the other, so that none makes another seem slow."""
    yield Finding(Sign.WELL, "settings", f"data folder {opened.settings.data_dir.resolve()}")
    for slip in slips_of_settings():
        yield Finding(Sign.ADVICE, "settings", str(slip))
    looks: list[tuple[str, Callable[[], Awaitable[str]]]] = [
        *((check.name, check.look) for check in opened.app.checks),
        ("index", lambda: _index(opened)),
    ]
    for name, look in looks:
        yield await _look(name, look)


async def _look(name: str, look: Callable[[], Awaitable[str]]) -> Finding:
    """Look twice, since the first time loads libraries and connects; an error's sentence says what to do."""
    try:
        async with asyncio.timeout(PATIENCE):
            await look()
            start = time.monotonic()
            says = await look()
    except FootnoteError as error:
        return Finding(Sign.WRONG, name, str(error))
    except TimeoutError:
        return Finding(Sign.WRONG, name, f"No answer within {PATIENCE:.0f} seconds. Check its address.")
    return Finding(Sign.WELL, name, f"{says} ({(time.monotonic() - start) * 1000:.0f} ms)")


async def _index(opened: Session) -> str:
    outline = await opened.app.index.outline()
    if not outline.passages:
        raise Misconfigured("There are no documents yet. Read some first: footnote ingest FOLDER")
    return f"{outline.pages} pages, {outline.passages} passages from {', '.join(outline.sources)}"
