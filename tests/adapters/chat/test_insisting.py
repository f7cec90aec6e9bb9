"""Calls that may work the next time are made a few times, with growing waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

import pytest

from adapters.chat.insisting import LONGEST_WAIT, WAITS, insisted
from adapters.chat.posting import Gone, PostingFailed, Refused, TooFast, Unreachable

AWAY = Unreachable("status 503")


class Platform:
    """Fails as it is told to, and works after that."""

    def __init__(self, failures: Iterable[PostingFailed]) -> None:
        self._failures = list(failures)
        self.waits: list[float] = []

    async def call(self) -> str:
        """Fail, or give something."""
        if self._failures:
            raise self._failures.pop(0)
        return "done"

    @property
    def sleep(self) -> Callable[[float], Awaitable[None]]:
        """Wait for nothing, and remember how long."""

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        return sleep


@pytest.mark.parametrize(
    ("failures", "waits"),
    [
        ([], []),
        ([AWAY], [WAITS[0]]),
        ([AWAY, AWAY], list(WAITS)),
        ([TooFast(5.0)], [5.0]),
        ([TooFast(0.0), AWAY], list(WAITS)),
    ],
)
async def test_what_may_pass_is_tried_again(failures: list[PostingFailed], waits: list[float]) -> None:
    """After a short wait, or as long as the platform wants."""
    platform = Platform(failures)

    assert await insisted(platform.call, sleep=platform.sleep) == "done"
    assert platform.waits == waits


@pytest.mark.parametrize(
    ("failures", "tries"),
    [
        ([AWAY, AWAY, Unreachable("the last")], 3),
        ([Refused("code 1")], 1),
        ([AWAY, Gone("it is gone")], 2),
        ([TooFast(LONGEST_WAIT + 1)], 1),
    ],
)
async def test_what_will_not_pass_is_raised(failures: list[PostingFailed], tries: int) -> None:
    """At once, or after the last try; nobody reads what comes much too late."""
    platform = Platform(failures)

    with pytest.raises(type(failures[-1])):
        await insisted(platform.call, sleep=platform.sleep)

    assert len(platform.waits) == tries - 1
