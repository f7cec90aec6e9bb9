"""What happened to questions: who holds them, what was broken for them, and how soon they were over."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from tests.faults.host import News

MOST_HITS = 3  # processes that may die over a question before it is given up
PUTS_BACK = 10.0  # seconds within which whoever has heard of a question puts it back where the store has lost it
NOTICED = 1.0  # seconds within which the rig sees what is over, and the bot remembers it


@dataclass
class Record:
    """What happened to questions, by the ids of their messages or by their names, and how soon they were over.

    The `journal` is for whoever has to find out why something went wrong. Of the seconds until something was over,
    those are `after_loss` where the store had lost what it knew of the question: the platform has to be read then. What
    is `lost_open` was lost before it was over, and what is `unknown` since when it was asked or taken. The `deaths` of
    each process are by its name.
    """

    hurt_at: dict[str, float] = field(default_factory=dict[str, float])
    hits: Counter[str] = field(default_factory=Counter[str])
    held: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    recoveries: list[float] = field(default_factory=list[float])
    after_loss: list[float] = field(default_factory=list[float])
    journal: Path | None = None
    open: dict[str, float] = field(default_factory=dict[str, float])
    over_at: dict[str, float] = field(default_factory=dict[str, float])
    touched: set[str] = field(default_factory=set[str])
    lost: Counter[str] = field(default_factory=Counter[str])
    lost_open: Counter[str] = field(default_factory=Counter[str])
    unknown: dict[str, float] = field(default_factory=dict[str, float])
    deaths: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    active: dict[str, float] = field(default_factory=dict[str, float])
    _outages: int = 0
    _followed_until: float = 0.0

    @contextlib.contextmanager
    def outage(self) -> Generator[None]:
        """Take note that something is broken that is none of our processes; recovery counts from the end."""
        self._outages += 1
        self.touched |= self.open.keys()
        try:
            yield
        finally:
            self._outages -= 1
            for name in self.open:
                self.touch(name)

    def touch(self, name: str) -> None:
        """Take note that something was broken for a question that is none of our processes."""
        self.touched.add(name)
        self.hurt(name)

    def follow(self, seconds: float) -> None:
        """Take note that what was broken may be skipped for a while, though it is whole again."""
        self._followed_until = max(self._followed_until, time.monotonic() + seconds)

    def begin(self, name: str) -> None:
        """Take note that somebody asks."""
        self.open[name] = time.monotonic()
        if self._outages or time.monotonic() < self._followed_until:
            self.touched.add(name)

    def lose(self, seconds: float = inf) -> None:
        """Take note that the store has lost what it was told in the last seconds."""
        since = time.monotonic() - seconds - NOTICED
        self.lost.update({*self.open, *(name for name, at in self.over_at.items() if at >= since)})
        self.lost.update(question for question, at in self.active.items() if at >= since)
        held = [question for question, at in self.active.items() if at >= time.monotonic() - NOTICED]
        back = since if seconds < inf else _lately()  # what was over after that is open once more
        self.lost_open.update({*self.open, *held, *(each for each, at in self.over_at.items() if at >= back)})
        unknown = {*(name for name, at in self.open.items() if at >= since), *held}
        self.unknown.update(dict.fromkeys(unknown, time.monotonic()))

    def is_unknown(self, asked: str, question: str, process: str, since: float) -> bool:
        """Say whether the store has lost a question, and so has the *process* that has heard of it *since* a moment.

        That one knows for itself what it has heard, and puts it back, for which it has some seconds.
        """
        until = max(self.unknown.get(asked, 0.0), self.unknown.get(question, 0.0)) + PUTS_BACK
        return any(since <= death <= until for death in self.deaths.get(process, ()))

    def tell(self, what: object) -> None:
        """Write down what happens."""
        if self.journal is not None:
            with self.journal.open("a") as file:
                file.write(f"{time.monotonic():.2f} {what}\n")

    def take(self, news: News) -> None:
        """Take note of who holds what, and of what is held when a process stops."""
        self.tell(news)
        match news:
            case {"kind": "taken", "pid": pid, "question": question}:
                self.held.setdefault(pid, set()).add(question)
                self.active[question] = inf
            case {"kind": "settled", "pid": pid, "question": question}:
                self.held.get(pid, set()).discard(question)
                self.hits.pop(question, None)
                self.active[question] = time.monotonic()
            case {"kind": "failed", "pid": pid, "question": question}:
                self.held.get(pid, set()).discard(question)
            case {"kind": "met", "pid": pid, "question": question}:
                self.hurt(question)
                self._lose(pid)
            case {"kind": "ended", "of": pid, "name": name}:
                self.deaths.setdefault(name, []).append(time.monotonic())
                self._lose(pid)
            case _:
                pass

    def hurt(self, question: str) -> None:
        """Take note that something was broken for a question; recovery counts from here."""
        self.hurt_at[question] = time.monotonic()

    def begin_again(self, name: str, question: str) -> None:
        """Take note that somebody has one tried again that was over: nobody had to recover until then."""
        for key in (name, question):
            self.hurt_at.pop(key, None)

    def over(self, name: str, question: str) -> None:
        """Take note of the end of a question."""
        self.tell(f"over: {name}, {question}")
        self.open.pop(name, None)
        self.over_at[name] = time.monotonic()
        if self.hits[question] >= MOST_HITS:
            del self.hits[question]
        if hurt := [self.hurt_at.pop(key) for key in (name, question) if key in self.hurt_at]:
            seconds = time.monotonic() - max(hurt)
            is_lost = self.lost[name] or self.lost[question]
            (self.after_loss if is_lost else self.recoveries).append(seconds)
            self.tell(f"recovered after {seconds:.1f} s: {name}")

    def _lose(self, pid: int) -> None:
        for question in self.held.pop(pid, ()):
            self.hits[question] += 1
            self.hurt(question)


def _lately() -> float:
    return time.monotonic() - NOTICED


@dataclass
class Deeds:
    """What people did about questions, by their numbers.

    `former` are what others were before they were edited, `excused` those that ever had an apology, and `known` those
    that a worker had had before the person who asked was `forgotten`.
    """

    former: dict[int, int] = field(default_factory=dict[int, int])
    withdrawn: set[int] = field(default_factory=set[int])
    stopped: set[int] = field(default_factory=set[int])
    private: set[int] = field(default_factory=set[int])
    excused: set[int] = field(default_factory=set[int])
    known: set[int] = field(default_factory=set[int])
    forgotten: dict[int, Callable[[], bool]] = field(default_factory=dict[int, Callable[[], bool]])
