"""The four trials, each with a fresh server: how soon, how quick, in which order, and back after a crash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.inbox.arena import Arena, Happened, arena
from bench.inbox.job import Parcel, Setup

SLOTS = 50
WARM_UP = 50
SOON, EVERY = 500, 0.01  # jobs, seconds between two
QUICK = 2_000  # jobs
ORDERED, KEYS, STEPS = 100, 5, (0.002, 0.01, 0.005)  # jobs, keys, seconds that one takes
LEASE = 4.0  # seconds
LOST, LONG = 5, 60.0  # jobs that a worker has when it is killed, seconds that one takes
WAITED = 5 * LEASE


@dataclass(frozen=True, slots=True)
class Quick:
    """What a backlog came to: jobs a second, and for each job commands and bytes of the server."""

    rate: float
    commands: float
    sent: float


@dataclass(frozen=True, slots=True)
class Order:
    """Of jobs with the same key: begun before the one before had ended, and begun before one that was put earlier."""

    overlapping: int
    misplaced: int


@dataclass(frozen=True, slots=True)
class Back:
    """Seconds from the crash until each job of the dead worker was begun again; where it needed another job, *after*.

    Empty where that did not come.
    """

    alone: tuple[float, ...]
    after: tuple[float, ...] = ()


def soon(contender: str) -> list[float]:
    """Put jobs one after the other; give the milliseconds from before each put until it is begun."""
    with arena(contender, Setup("", SLOTS)) as ring:
        ring.work()
        ring.put([Parcel(number, f"k{number}") for number in range(WARM_UP + SOON)], every=EVERY)
        assert ring.until(lambda: len(ring.times("ended")) == WARM_UP + SOON)
        put, begun = ring.times("put"), ring.times("begun")
    return [(begun[number][0] - put[number][0]) * 1000 for number in range(WARM_UP, WARM_UP + SOON)]


def quick(contender: str) -> Quick:
    """Put many jobs, then let one worker do them; each job has a key of its own and takes no time."""
    with arena(contender, Setup("", SLOTS)) as ring:
        before = ring.spent()
        ring.put([Parcel(number, f"k{number}") for number in range(QUICK)])
        ring.work()
        assert ring.until(lambda: len(ring.times("ended")) == QUICK)
        spent = ring.spent() - before
        begun = min(at for times in ring.times("begun").values() for at in times)
        ended = max(at for times in ring.times("ended").values() for at in times)
    return Quick(QUICK / (ended - begun), spent.commands / QUICK, spent.sent / QUICK)


def order(contender: str) -> Order:
    """Let two workers do jobs of a few keys, of which some take longer than the next."""
    with arena(contender, Setup("", SLOTS, by_key=True)) as ring:
        ring.work()
        ring.work()
        parcels = [Parcel(number, f"k{number % KEYS}", STEPS[number // KEYS % len(STEPS)]) for number in range(ORDERED)]
        ring.put(parcels)
        assert ring.until(lambda: len(ring.times("ended")) == ORDERED)
        told = ring.happened()
    return Order(*(sum(found) for found in zip(*(_disorder(told, key) for key in range(KEYS)), strict=True)))


def _disorder(told: Sequence[Happened], key: int) -> tuple[int, int]:
    """Count what overlaps and what is misplaced in the jobs of a key."""
    running, latest, overlapping, misplaced = 0, -1, 0, 0
    for one in told:
        if one.number < 0 or one.number % KEYS != key:
            continue
        if one.what == "begun":
            overlapping += running > 0
            misplaced += one.number < latest
            latest = max(latest, one.number)
        running += {"begun": 1, "ended": -1}.get(one.what, 0)
    return overlapping, misplaced


def back(contender: str) -> Back:
    """Kill a worker that has jobs while another one is there; put nothing, and then one more job."""
    with arena(contender, Setup("", SLOTS, lease=LEASE)) as ring:
        ring.work()
        ring.put([Parcel(number, f"k{number}", LONG) for number in range(LOST)])
        assert ring.until(lambda: len(ring.times("begun")) == LOST)
        ring.work()
        killed = ring.kill(0)
        if ring.until(lambda: _are_back(ring), WAITED):
            return Back(_again(ring, killed))
        ring.put([Parcel(LOST, "another")])
        found = ring.until(lambda: _are_back(ring), WAITED)
        return Back((), _again(ring, killed) if found else ())


def _are_back(ring: Arena) -> bool:
    return all(len(times) > 1 for number, times in ring.times("begun").items() if number < LOST)


def _again(ring: Arena, killed: float) -> tuple[float, ...]:
    return tuple(times[1] - killed for number, times in ring.times("begun").items() if number < LOST)
