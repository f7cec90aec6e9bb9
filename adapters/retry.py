"""Calls made again after a failure that may pass: what a policy says, and the seconds of each that there is.

A library such as stamina or tenacity would bring the loop, which is the smallest part of this: stamina keeps who sleeps
and who is told for the whole process, and neither knows a sum of waits that several calls share.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from core.errors import RateLimited, ShutOut, StoreUnavailable, Unreachable
from core.events import Event, Observer, Service, ServiceBack, ServiceSkipped, unobserved

Result = TypeVar("Result")

TOKEN_REFUSED = "the token is refused"  # noqa: S105 - for people
NOT_NOW = (Unreachable, RateLimited, StoreUnavailable)
"""How a call to a platform or to the store fails that may work later."""


@dataclass(frozen=True, slots=True)
class Transient:
    """A failure that may pass: a word or two for the log, and for how many seconds the server asks to be left alone."""

    reason: str
    wait: float | None = None


def transient(error: Exception) -> Transient | None:
    """Return what there is to know of a failure of a platform or the store; None for one that will not pass."""
    match error:
        case RateLimited(wait=wait):
            return Transient(str(error), wait or None)  # a limit that is over already must not be run into for ever
        case Unreachable() | StoreUnavailable():
            return Transient(str(error))
        case _:
            return None


def writable(error: Exception) -> Transient | None:
    """Return the same, and None for what a store that works has refused for good, so that other writes can go on."""
    return None if isinstance(error, StoreUnavailable) and error.is_final else transient(error)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When a call is made again, and how one waits for that; times are in seconds.

    `waits` come before the second try, the third and so on, and the last of them before each further one; with *jitter*
    each is a random part of that. What a server asks for takes their place, and one that asks for more than `longest`
    is not asked again: somebody waits. `budget` bounds all waits together. `judge` says which failures may pass, and
    `told` hears of each before its wait, counted from 1.
    """

    waits: tuple[float, ...]
    attempts: int | None = None
    longest: float = math.inf
    budget: float = math.inf
    jitter: bool = False
    judge: Callable[[Exception], Transient | None] = transient
    told: Callable[[int, str], object] = unobserved
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic

    def observed(self, observer: Observer, event: Callable[[int, str], Event]) -> RetryPolicy:
        """Return the same policy, with an *observer* who hears of each failure as an event of a kind."""

        def tell(attempt: int, reason: str) -> None:
            observer(event(attempt, reason))

        return replace(self, told=tell)

    def backoff(self, failures: int) -> float:
        """Return the wait after so many failures in a row, which is none after none."""
        wait = self.waits[min(failures, len(self.waits)) - 1] if failures else 0.0
        return random.uniform(0.0, wait) if self.jitter else wait  # noqa: S311 - no secret hangs on it

    async def call(self, work: Callable[[], Awaitable[Result]], retrying: Retrying | None = None) -> Result:
        """Return what a call returns at last, which has to be one that can be made twice; raise how the last failed.

        What was counted in other calls goes on with *retrying*.
        """
        retrying = retrying or Retrying(self)
        while True:
            try:
                result = await work()
            except Exception as error:
                wait = retrying.wait_after(error)
                if wait is None:
                    retrying.reset()
                    raise
            else:
                retrying.reset()
                return result
            await self.sleep(wait)


@dataclass(slots=True)
class Retrying:
    """A *policy* at work, for calls that share what it counts: failures in a row, and the seconds waited in all."""

    policy: RetryPolicy
    _failures: int = field(default=0, init=False)
    _waited: float = field(default=0.0, init=False)

    async def call(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Return what a call returns at last; raise how the last one failed."""
        return await self.policy.call(work, self)

    def wait_after(self, error: Exception) -> float | None:
        """Count a failure, and return the seconds to wait before the next try; None if there is to be none."""
        policy, failure = self.policy, self.policy.judge(error)
        self._failures += 1
        if failure is None or self._failures >= (policy.attempts or math.inf):
            return None
        wait = policy.backoff(self._failures) if failure.wait is None else failure.wait
        if (failure.wait or 0.0) > policy.longest or self._waited + wait > policy.budget:
            return None
        self._waited += wait
        policy.told(self._failures, failure.reason)
        return wait

    def reset(self) -> None:
        """Begin with the first wait again."""
        self._failures = 0


def doubling(first: float, longest: float) -> tuple[float, ...]:
    """Return waits that double from the first to the longest one."""
    waits = [first]
    while waits[-1] < longest:
        waits.append(min(waits[-1] * 2, longest))
    return tuple(waits)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to be left alone, in whichever form it says so; None if it does not."""
    said = {name.lower(): value for name, value in headers.items()}
    milliseconds = _number(said.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = said.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        then = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max((then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if number >= 0 and math.isfinite(number) else None


# A service that an answer is made with: a person waits.
SERVICE = RetryPolicy(doubling(0.5, 8.0), attempts=3, longest=8.0, jitter=True)
INDEX = RetryPolicy(doubling(0.5, 8.0), attempts=4, longest=8.0, jitter=True)

# A website, whose pages nobody waits for, and a source that could not be read, unless it is read oftener anyway.
SITE = RetryPolicy((5.0, 20.0), attempts=3, longest=120.0)
SOURCE = RetryPolicy((900.0,))

# A word or a mark beside an answer: all tries are within the three seconds that platforms wait, and who is asked for
# more than half a minute says it too late for anybody to read.
QUICK = RetryPolicy((0.5, 2.0), attempts=3, longest=30.0)
ACKNOWLEDGEMENT = RetryPolicy((0.0,), attempts=2, longest=0.0)

# What somebody waits to hear the end of, and what nobody waits for.
BRIEF = RetryPolicy((5.0,), budget=10.0)
PATIENT = RetryPolicy((5.0,), budget=600.0)

# The way to a platform, for as long as it takes.
CONNECTING = RetryPolicy((1.0, 2.0, 5.0, 10.0, 30.0, 60.0))

# What a platform refuses altogether, such as all that comes from an address, or with a token.
SHUT_OUT = RetryPolicy(doubling(1.0, 60.0))

# A service that failed again and again, and is skipped.
SKIPPED = RetryPolicy(doubling(10.0, 60.0))

# The store: a signal, for which a platform waits a second at least; the note of a post; what is remembered of an
# answer; what is written once it is back; and what workers are told.
SIGNAL = RetryPolicy((0.05, 0.3), attempts=3)
NOTE = RetryPolicy((0.25,))
MEMORY = RetryPolicy((0.25, 1.0), budget=10.0)
DEFERRED = RetryPolicy(doubling(0.25, 15.0), judge=writable)
NEWS = RetryPolicy((1.0,))


@dataclass(slots=True)
class Gate:
    """Keeps all that is done with one token from a platform that lets it do nothing for now.

    When the time is over one call goes first, and the others follow once it has been let in. `shut_out` hears why it is
    shut, each time if the token `was_good` once, as it is if anything was let in, and `let_in` that it is open again.
    """

    shut_out: Callable[[str], object] = unobserved
    let_in: Callable[[], object] = unobserved
    policy: RetryPolicy = SHUT_OUT
    clock: Callable[[], float] = time.monotonic
    _shut_until: float = field(default=-math.inf, init=False)
    _times: int = field(default=0, init=False)
    was_good: bool = False
    reason: str = field(default="", init=False)
    _is_tried: bool = field(default=False, init=False)

    @property
    def is_shut(self) -> bool:
        """Whether nothing was let in since it was shut."""
        return self._times > 0

    def shut(self, reason: str, seconds: float | None = None) -> None:
        """Let nothing pass for so many *seconds*, or, where nobody says how many, the longer the more often it is.

        Several calls that were under way together, and are all refused, count once.
        """
        is_again = self._is_tried or self.clock() >= self._shut_until
        self._times, self._is_tried = self._times + is_again, False
        wait = self.policy.backoff(self._times) if seconds is None else seconds
        self._shut_until, self.reason = max(self._shut_until, self.clock() + wait), reason
        if self.was_good:
            self.shut_out(reason)

    def open(self, *, is_certain: bool = False) -> None:
        """Let everything pass: the platform has let something in, and not only what it was sent before.

        Where it *is certain*, what was sent before shows it as well.
        """
        self.was_good = self.was_good or not self.is_shut or self._is_tried
        if self._is_tried or (is_certain and self.is_shut):
            self._shut_until, self._times, self._is_tried = -math.inf, 0, False
            self.let_in()

    def check(self, *, is_sent: bool = True) -> None:
        """Raise `ShutOut` for what would not be let in now; what *is_sent* otherwise is what goes first."""
        if self._times and (left := self._shut_until - self.clock()) > 0:
            raise ShutOut(left, self.reason)
        if self._times and is_sent:
            self._shut_until, self._is_tried = self.clock() + self.policy.backoff(1), True


class Skipped(Exception):
    """A call that was not made, as the service has failed again and again; it says so in a sentence."""


IN_A_ROW = 5  # failed calls, after which a service is skipped
AT_LEAST = 5.0  # seconds since the first of them, so that what passes soon ends no call that would have worked
NO_ANSWER = "no answer in time"


@dataclass(slots=True)
class CircuitBreaker:
    """Keeps calls from a *service* that fails again and again, so that nobody waits for it in vain.

    After a while one call goes first, and as long as it is under way the others are still skipped; once it has worked,
    all are made again. A call that somebody broke off after so many seconds of *patience* has failed too: whoever waits
    gives up before a call does; unless the service was seen to work meanwhile. The *observer* hears when it is skipped
    and when it is back, each once.
    """

    service: Service
    observer: Observer = unobserved
    patience: float = math.inf
    clock: Callable[[], float] = time.monotonic
    _gate: Gate = field(init=False)
    reason: str = field(default="", init=False)
    _failed: int = field(default=0, init=False)
    _worked: int = field(default=0, init=False)
    _since: float = field(default=0.0, init=False)
    _is_probed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._gate = Gate(policy=SKIPPED, clock=self.clock, let_in=lambda: self.observer(ServiceBack(self.service)))

    @contextmanager
    def watched(self, judge: Callable[[Exception], Transient | None]) -> Generator[Callable[[], None]]:
        """Watch one call; yield what says that it works, if that is known before its end. Raises `Skipped`.

        A failure counts where *judge* says that it may pass: otherwise the service has answered.
        """
        is_probe = self._gate.is_shut
        if is_probe:
            self._probe()
        began, worked = self.clock(), self._worked
        try:
            yield self._works
        except Exception as error:
            failure = judge(error)
            self._fails(failure.reason, is_probe=is_probe) if failure else self._works()
            raise
        except BaseException:
            if self._worked == worked and self.clock() - began >= self.patience:
                self._fails(NO_ANSWER, is_probe=is_probe)
            raise
        else:
            self._works()
        finally:
            self._is_probed = self._is_probed and not is_probe

    def _probe(self) -> None:
        """Let one call through if it is time. Raises `Skipped`."""
        skipped = Skipped(f"The {self.service} failed again and again ({self.reason}), so it is skipped.")
        if self._is_probed:
            raise skipped
        try:
            self._gate.check()
        except ShutOut:
            raise skipped from None
        self._is_probed = True

    def _works(self) -> None:
        self._failed, self._worked = 0, self._worked + 1
        self._gate.open(is_certain=True)

    def _fails(self, reason: str, *, is_probe: bool) -> None:
        self.reason = reason
        self._since = self._since if self._failed else self.clock()
        self._failed += 1
        was_shut = self._gate.is_shut
        if is_probe or (not was_shut and self._failed >= IN_A_ROW and self.clock() - self._since >= AT_LEAST):
            self._gate.shut(reason)
            if not was_shut:
                self.observer(ServiceSkipped(self.service, reason))


@dataclass(slots=True)
class LoadPacer:
    """So many seconds *for_each* that is counted at the time, and never more than the *longest*."""

    for_each: float = 0.0
    longest: float = math.inf
    seconds: float = field(default=0.0, init=False)
    _counted: int = field(default=0, init=False)

    def count(self, more: int) -> None:
        """Count so many more; fewer, where it is negative."""
        self._counted += more
        self.seconds = min(self._counted * self.for_each, self.longest)
