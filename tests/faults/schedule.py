"""Faults in an order that a seed decides, several at a time, and what became of the questions."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.faults.audit import Ending
from tests.faults.kinds import KINDS, ONE_STORE, Unmet
from tests.faults.report import Piece
from tests.faults.rig import Rig, rig

AT_ONCE = 2  # faults
SETTLED_AFTER = 25  # faults, after which everything comes to rest and is looked at
REST = 120.0  # seconds for that


def kinds_of(chance: random.Random, count: int, *, doubled: bool) -> Sequence[str]:
    """Choose kinds of faults; a store with a replica cannot be cut off from one process alone."""
    offered = [name for name in KINDS if not (doubled and name in ONE_STORE)]
    return [chance.choice(offered) for _ in range(count)]


async def play(seed: int, number: int, count: int, *, doubled: bool, say: Callable[[str], None]) -> Piece:
    """Play one piece of a schedule in an installation of its own."""
    chance = random.Random(f"{seed}:{number}")
    piece = Piece(seed, number)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with rig(Path(folder), doubled=doubled) as running:
            names = kinds_of(chance, count, doubled=doubled)
            for start in range(0, count, SETTLED_AFTER):
                await _together(running, piece, names[start : start + SETTLED_AFTER], chance)
                await _rest(running, piece)
                say(
                    f"{start + SETTLED_AFTER:>5} faults, {len(running.asked):,} questions, {piece.wrongs or 'all well'}"
                )
            piece.questions = len(running.asked)
            piece.recoveries, piece.journal = running.record.recoveries, running.record.journal
            piece.starts = sum(each.starts for each in running.host.processes.values())
    piece.seconds = time.monotonic() - began
    return piece


async def _together(running: Rig, piece: Piece, names: Sequence[str], chance: random.Random) -> None:
    """Let faults happen, a few of them at a time; each has chances of its own, whichever comes first."""
    seats = asyncio.Semaphore(AT_ONCE)

    async def happen(name: str, own: random.Random) -> None:
        async with seats:
            running.record.tell(f"begins: {name}")
            try:
                await KINDS[name](running, own)
            except Unmet:
                piece.unmet += 1
            else:
                piece.faults[name] += 1
            running.record.tell(f"is over: {name}")

    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(happen(name, random.Random(chance.random())))


async def _rest(running: Rig, piece: Piece) -> None:
    """Wait until nothing is left to do, and look at everything; what was looked at is looked at once."""
    try:
        await running.settled(seconds=REST)
    except TimeoutError as error:
        piece.wrongs.setdefault("left unfinished", []).append(str(error))
    for wrong in running.wrongs():
        found = piece.wrongs.setdefault(wrong.kind.value, [])
        if wrong.what not in found:
            found.append(wrong.what)
    piece.excused, piece.unheard = len(running.ended(Ending.EXCUSED)), len(running.ended(Ending.UNHEARD))
    running.pending.clear()
