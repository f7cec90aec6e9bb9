"""Faults in an order that a seed decides, several at a time, and what became of the questions."""

from __future__ import annotations

import asyncio
import contextlib
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.faults.audit import Ending, Wrong
from tests.faults.kinds import KINDS, ONE_STORE, Unmet
from tests.faults.people import DEEDS
from tests.faults.report import Piece
from tests.faults.rig import LISTENERS, Rig, rig
from tests.faults.scan import leaks
from tests.faults.store import FSYNCS

AT_ONCE = 2  # faults, and as many people who do something beside
OTHERS = 2  # who ask beside each of them
PAUSES = (0.0, 2.0)  # seconds before somebody does
SETTLED_AFTER = 25  # faults, after which everything comes to rest and is looked at
JOURNAL = "journal.log"
MANY = 2  # times that the model is given a question, of which the journal tells
REST = 120.0  # seconds for that


def kinds_of(chance: random.Random, count: int, *, doubled: bool) -> Sequence[str]:
    """Choose kinds of faults; a store with a replica cannot be cut off from one process alone.

    Of few, no two are of the same kind.
    """
    offered = [name for name in KINDS if not (doubled and name in ONE_STORE)]
    if count <= len(offered):
        return chance.sample(offered, count)
    return [chance.choice(offered) for _ in range(count)]


async def play(
    seed: int, number: int, count: int, *, doubled: bool, say: Callable[[str], None], kept: Path | None = None
) -> Piece:
    """Play one piece of a schedule in an installation of its own; *kept* gets what shows how one went wrong."""
    chance = random.Random(f"{seed}:{number}")
    piece = Piece(seed, number, fsync="" if doubled else FSYNCS[number % len(FSYNCS)])
    began = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        installed = Path(folder) / "installed"
        several = number % 2 == 0
        async with rig(installed, doubled=doubled, fsync=piece.fsync or FSYNCS[0], several=several) as running:
            running.record.journal = Path(folder) / JOURNAL
            names = kinds_of(chance, count, doubled=doubled)
            for start in range(0, count, SETTLED_AFTER):
                await _together(running, piece, names[start : start + SETTLED_AFTER], chance)
                await _rest(running, piece)
                say(
                    f"{start + SETTLED_AFTER:>5} faults, {len(running.asked):,} questions, {piece.wrongs or 'all well'}"
                )
            for leak in leaks(installed, running.secrets()):
                piece.wrongs.setdefault(leak.kind.value, []).append(leak.what)
            piece.questions = len(running.asked)
            piece.recoveries, piece.after_loss = running.record.recoveries, running.record.after_loss
            piece.starts = sum(each.starts for each in running.host.processes.values())
        if piece.wrongs and kept is not None:
            _keep(Path(folder), Piece.path(kept, seed, number).with_suffix(""))
    piece.seconds = time.monotonic() - began
    return piece


def _keep(folder: Path, kept: Path) -> None:
    """Copy the journal, and what each process has said."""
    kept.mkdir(parents=True, exist_ok=True)
    for path in (folder / JOURNAL, *folder.glob("installed/processes/*.log")):
        shutil.copy(path, kept)


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

    turns = asyncio.Semaphore(AT_ONCE)

    async def live(name: str, own: random.Random) -> None:
        async with turns:
            await asyncio.sleep(own.uniform(*PAUSES))
            running.record.tell(f"somebody: {name}")
            for _ in range(OTHERS):
                running.ask(own.choice(LISTENERS))
            piece.deeds[name] += await DEEDS[name](running, own)

    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(happen(name, random.Random(chance.random())))
            group.create_task(live(chance.choice(list(DEEDS)), random.Random(chance.random())))


def _times(past: Sequence[int]) -> dict[str, int]:
    """Count the questions by how often the model was given each."""
    return {str(times): past.count(times) for times in sorted({*past} - {0})}


async def _wrongs(running: Rig) -> Sequence[Wrong]:
    """Give all that is wrong, once it is noticed what was deleted unheard, which takes a look at every thread."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(REST):
            while await running.is_remembering():  # noqa: ASYNC110 - nobody tells when it was looked for
                await asyncio.sleep(PAUSES[1])
    return await running.wrongs()


async def _rest(running: Rig, piece: Piece) -> None:
    """Wait until nothing is left to do, let people try again, and look at everything once."""
    try:
        await running.settled(seconds=REST)
        running.deeds.excused.update(running.ended(Ending.EXCUSED))
        piece.deeds["an answer tried again"] += running.retry()
        await running.settled(seconds=REST)
    except TimeoutError as error:
        piece.wrongs.setdefault("left unfinished", []).append(str(error))
    for wrong in await _wrongs(running):
        found = piece.wrongs.setdefault(wrong.kind.value, [])
        if wrong.what not in found:
            found.append(wrong.what)
            running.record.tell(f"wrong: {wrong}")
            where = wrong.what.partition(":")[0]
            scene = running.scenes().get(where)
            platform, _, place = where.partition(" ")
            running.record.tell(scene)
            for trace in running.on(platform).traces(place) if scene is not None else ():
                running.record.tell(f"there: {trace}")
    running.deeds.excused.update(running.ended(Ending.EXCUSED))
    piece.excused, piece.unheard = len(running.deeds.excused), len(running.ended(Ending.UNHEARD))
    piece.gone = len(running.ended(Ending.GONE))
    for number in (*running.ended(Ending.GONE), *(each for each in running.asked if running.model.given(each) > MANY)):
        running.record.tell(f"look: {running.asked[number]}, given {running.model.given(number)} times")
    model, lost = running.model, {number for number in running.asked if running.losses(number, is_open=True)}
    piece.given = _times([model.given_in_all(number) for number in running.asked])
    piece.given_kept = _times([model.given(number) for number in running.asked if number not in lost])
    piece.given_lost = _times([model.given(number) for number in lost])
    untouched = [number for number, asked in running.asked.items() if asked.name not in running.record.touched]
    piece.untouched, piece.apologies = len(untouched), len(running.deeds.excused.intersection(untouched))
    piece.slow = running.model.streamed
    running.pending.clear()
    running.record.open.clear()
