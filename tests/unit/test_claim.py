"""What a worker holds, and how it hears that it has to end early."""

from __future__ import annotations

import asyncio

import pytest

from core.model import MOST_ATTEMPTS, Cancellation, Claim, Interruption, Withdrawal
from tests.builders import question


@pytest.mark.parametrize(
    ("first", "second", "counts"),
    [
        (Interruption.STOPPED, Interruption.EDITED, Interruption.EDITED),
        (Interruption.DELETED, Interruption.EDITED, Interruption.DELETED),
        (Interruption.LOST, Interruption.STOPPED, Interruption.LOST),
    ],
)
async def test_the_stronger_reason_counts(first: Interruption, second: Interruption, counts: Interruption) -> None:
    """In whichever order they come."""
    cancelled = Cancellation()
    cancelled.set(first)
    cancelled.set(second)

    assert (cancelled.reason, await cancelled.wait()) == (counts, counts)


async def test_whoever_waits_is_woken() -> None:
    """Nothing has happened before, and the reason is there afterwards."""
    cancelled = Cancellation()
    waiting = asyncio.create_task(cancelled.wait())
    await asyncio.sleep(0)

    assert (cancelled.is_set(), cancelled.reason, waiting.done()) == (False, None, False)
    cancelled.set(Interruption.STOPPED)
    assert await waiting is Interruption.STOPPED
    assert cancelled.is_set()


def test_each_claim_has_a_cancellation_of_its_own() -> None:
    """And two of the same question are equal nevertheless."""
    one, other = Claim(question()), Claim(question())
    one.cancelled.set(Interruption.STOPPED)

    assert (one, other.cancelled.is_set()) == (other, False)


def test_the_last_attempt_is_known() -> None:
    """For questions and for answers that are taken back."""
    message = question().message
    last = [Claim(question(), attempt=n).is_last_attempt for n in range(1, MOST_ATTEMPTS + 1)]

    assert last == [False, False, True]
    assert last == [Withdrawal(message, attempt=n).is_last_attempt for n in range(1, MOST_ATTEMPTS + 1)]
    assert Claim(question()).message == message
