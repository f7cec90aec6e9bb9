"""When a call is made again, and how long one waits for that."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.retry import (
    ACKNOWLEDGEMENT,
    BRIEF,
    CONNECTING,
    DEFERRED,
    INDEX,
    NEWS,
    NOTE,
    PATIENT,
    QUICK,
    SERVICE,
    SHUT_OUT,
    SIGNAL,
    Gate,
    Retrying,
    RetryPolicy,
    doubling,
    retry_after,
)
from core.errors import Gone, PostingFailed, RateLimited, Rejected, ShutOut, StoreUnavailable, Unreachable
from tests.fakes.clock import Clock
from tests.portion import examples
from tests.virtual_time import run

AWAY = Unreachable("status 503")
SECONDS = st.floats(0.0, 100.0)


@dataclass
class Platform:
    """Fails as it is told to, and works after that; sleeping takes no time."""

    failures: list[Exception]
    waits: list[float] = field(default_factory=list[float])
    told: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    async def call(self) -> str:
        """Fail, or give something."""
        if self.failures:
            raise self.failures.pop(0)
        return "done"

    def under(self, policy: RetryPolicy) -> RetryPolicy:
        """The same policy, of which everything is written down."""
        return replace(policy, sleep=self._sleep, told=self._tell)

    def _tell(self, number: int, reason: str) -> None:
        self.told.append((number, reason))

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest.mark.parametrize(
    ("failures", "waits"),
    [
        ([], []),
        ([AWAY], [QUICK.waits[0]]),
        ([AWAY, AWAY], list(QUICK.waits)),
        ([RateLimited(5.0)], [5.0]),
        ([RateLimited(0.0), AWAY], list(QUICK.waits)),
        ([StoreUnavailable("The data store cannot be reached.")], [QUICK.waits[0]]),
    ],
)
async def test_what_may_pass_is_tried_again(failures: list[Exception], waits: list[float]) -> None:
    """After a short wait, or as long as the platform wants."""
    platform = Platform(failures)

    assert await platform.under(QUICK).call(platform.call) == "done"
    assert platform.waits == waits


@pytest.mark.parametrize(
    ("failures", "tries"),
    [
        ([AWAY, AWAY, Unreachable("the last")], 3),
        ([Rejected("code 1")], 1),
        ([AWAY, Gone("it is gone")], 2),
        ([RateLimited(QUICK.longest + 1)], 1),
        ([ValueError("a mistake of ours")], 1),
    ],
)
async def test_what_will_not_pass_is_raised(failures: list[Exception], tries: int) -> None:
    """At once, or after the last try; nobody reads what comes much too late."""
    platform, last = Platform(failures), failures[-1]

    with pytest.raises(type(last)) as raised:
        await platform.under(QUICK).call(platform.call)

    assert (raised.value, len(platform.waits)) == (last, tries - 1)


@pytest.mark.parametrize(
    ("policy", "waits"),
    [
        (SERVICE, [0.5, 1.0]),
        (INDEX, [0.5, 1.0, 2.0]),
        (QUICK, [0.5, 2.0]),
        (ACKNOWLEDGEMENT, [0.0]),
        (BRIEF, [5.0, 5.0]),
        (PATIENT, [5.0] * 8),
        (CONNECTING, [1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 60.0, 60.0]),
        (SIGNAL, [0.05, 0.3]),
        (NOTE, [0.25] * 8),
        (DEFERRED, [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0]),
        (NEWS, [1.0] * 8),
    ],
)
async def test_each_call_is_tried_for_as_long_as_somebody_waits_for_it(policy: RetryPolicy, waits: list[float]) -> None:
    """A person, a platform or nobody; of what has no end, or a late one, these are the first waits."""
    platform = Platform([AWAY] * 8)

    with suppress(Unreachable):
        await replace(platform.under(policy), jitter=False).call(platform.call)

    assert platform.waits == waits


@pytest.mark.parametrize(("policy", "seconds"), [(SERVICE, 8.0), (INDEX, 8.0), (BRIEF, 10.0), (PATIENT, 600.0)])
async def test_a_server_may_ask_for_so_many_seconds_and_no_more(policy: RetryPolicy, seconds: float) -> None:
    """Whoever is asked for more gives up at once."""
    patient, busy = Platform([RateLimited(seconds)]), Platform([RateLimited(seconds + 0.5)])

    assert await patient.under(policy).call(patient.call) == "done"
    with pytest.raises(RateLimited):
        await busy.under(policy).call(busy.call)
    assert (patient.waits, busy.waits) == ([seconds], [])


def test_after_no_failure_there_is_no_wait() -> None:
    """Whoever counts the failures can ask in any case."""
    assert QUICK.backoff(0) == 0.0


@pytest.mark.parametrize("policy", [SERVICE, INDEX])
def test_calls_that_fail_together_are_not_made_again_together(policy: RetryPolicy) -> None:
    """Otherwise what was too much for a service would be too much once more."""
    assert len({policy.backoff(1) for _ in range(20)}) > 1


POLICIES = st.builds(
    RetryPolicy,
    waits=st.lists(SECONDS, min_size=1, max_size=4).map(tuple),
    attempts=st.none() | st.integers(1, 6),
    longest=SECONDS | st.just(inf),
    budget=SECONDS | st.just(inf),
    jitter=st.booleans(),
)


@given(policy=POLICIES, wishes=st.lists(st.none() | SECONDS, max_size=8))
@settings(deadline=None, max_examples=examples(400))
def test_every_policy_keeps_to_what_it_says(policy: RetryPolicy, wishes: Sequence[float | None]) -> None:
    """Each wait is what was asked for, or what the policy says, less its jitter; and no bound is passed."""
    failures: list[Exception] = [AWAY if wish is None else RateLimited(wish) for wish in wishes]
    platform = Platform(list(failures))
    ended: str | Exception
    try:
        ended = run(platform.under(policy).call(platform.call))
    except PostingFailed as failure:
        ended = failure
    tries = len(platform.waits) + 1

    for number, (wait, wish) in enumerate(zip(platform.waits, wishes, strict=False), start=1):
        backoff = policy.waits[min(number, len(policy.waits)) - 1]
        assert wait == (wish or backoff) or (policy.jitter and not wish and wait <= backoff)
        assert (wish or 0.0) <= policy.longest
    assert tries <= (policy.attempts or inf)
    assert sum(platform.waits) <= policy.budget
    assert platform.told == [(number, str(failure)) for number, failure in enumerate(failures[: tries - 1], start=1)]
    assert ended == ("done" if tries > len(failures) else failures[tries - 1])
    if isinstance(ended, Exception):
        wish = wishes[tries - 1] or 0.0
        wait = wish or policy.waits[min(tries, len(policy.waits)) - 1]
        assert tries == policy.attempts or wish > policy.longest or sum(platform.waits) + wait > policy.budget


async def test_a_library_may_have_failures_of_its_own() -> None:
    """Its caller says which of them pass, and may raise something better for those that do not."""

    def judge(error: Exception) -> None:
        raise LookupError("say it better") from error

    platform = Platform([KeyError("theirs")])

    with pytest.raises(LookupError, match="say it better"):
        await replace(platform.under(QUICK), judge=judge).call(platform.call)


async def test_calls_may_share_the_time_that_is_waited_and_not_the_failures_in_a_row() -> None:
    """What has worked meanwhile begins with a short wait again; all waits together end somewhere."""
    platform = Platform([AWAY, AWAY])
    retrying = Retrying(platform.under(RetryPolicy((1.0, 2.0), budget=6.0)))
    await retrying.call(platform.call)
    platform.failures = [AWAY]
    await retrying.call(platform.call)
    platform.failures = [AWAY, AWAY]

    with pytest.raises(Unreachable):
        await retrying.call(platform.call)

    assert (platform.waits, [number for number, _ in platform.told]) == ([1.0, 2.0, 1.0, 1.0], [1, 2, 1, 1])


async def test_whoever_is_cancelled_waits_no_more() -> None:
    """Nothing is tried after that."""
    waiting, calls = asyncio.Event(), list[None]()

    async def sleep(_: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    async def call() -> None:
        calls.append(None)
        raise AWAY

    task = asyncio.create_task(replace(QUICK, sleep=sleep).call(call))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert len(calls) == 1


def test_what_is_refused_together_counts_once() -> None:
    """So that a crowd of answers under way keeps nobody out for longer than one would; one that goes first counts."""
    clock, waits = Clock(), list[float]()
    gate = Gate(clock=clock)
    for _ in range(3):
        gate.check()
        for _ in range(20):
            gate.shut("refused")
        with pytest.raises(ShutOut) as caught:
            gate.check()
        waits.append(caught.value.wait)
        clock.advance(caught.value.wait)

    assert tuple(waits) == SHUT_OUT.waits[:3]


@given(st.floats(1e-3, 100.0), st.floats(1e-3, 100.0))
def test_waits_double_up_to_the_longest(first: float, longest: float) -> None:
    """A first one that is longer than that stands alone."""
    waits = doubling(first, longest)

    assert (waits[0], waits[-1]) == (first, max(first, longest))
    assert all(later == min(2 * earlier, longest) for earlier, later in pairwise(waits))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:00 GMT"}, 0.0),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:00 -0000"}, 0.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
    ],
)
def test_the_wait_that_a_server_asks_for_is_read_in_all_its_forms(
    headers: Mapping[str, str], seconds: float | None
) -> None:
    """What cannot be understood is no wish."""
    assert retry_after(headers) == seconds
