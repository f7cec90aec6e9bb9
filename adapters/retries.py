"""Calls to a service made again after a failure that may pass; what several adapters share, free of vendors."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from core.events import Observer, Retried, Service, unobserved

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Passing:
    """A failure that may pass: a word or two for the log, and how many seconds the service asks to be left alone."""

    reason: str
    wait: float | None = None


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call is made again: waits double from the first to the longest, in seconds, each with full jitter."""

    times: int
    first_wait: float = 0.5
    longest_wait: float = 8.0

    def after(self, first_wait: float) -> Retries:
        """Give the same with another first wait."""
        return replace(self, first_wait=first_wait)

    def pause(self, attempt: int, failure: Passing | None) -> float | None:
        """Give the seconds to wait after the failed *attempt*, counted from 1; None if it was the last.

        A service that asks for more than the longest wait is not asked again: a person is waiting.
        """
        if failure is None or attempt > self.times or (failure.wait or 0.0) > self.longest_wait:
            return None
        if failure.wait is not None:
            return failure.wait
        return random.uniform(0.0, min(self.first_wait * 2.0 ** (attempt - 1), self.longest_wait))  # noqa: S311 - jitter

    async def call(
        self,
        service: Service,
        work: Callable[[], Awaitable[Result]],
        *,
        judge: Callable[[Exception], Passing | None],
        observer: Observer = unobserved,
    ) -> Result:
        """Do the *work*, again where *judge* finds that the failure may pass; the last failure is raised as it is."""
        attempt = 1
        while True:
            try:
                return await work()
            except Exception as error:
                failure = judge(error)
                pause = self.pause(attempt, failure)
                if failure is None or pause is None:
                    raise
                observer(Retried(service, attempt, failure.reason))
            await asyncio.sleep(pause)
            attempt += 1


def wished_wait(headers: Mapping[str, str]) -> float | None:
    """Give the seconds that the service asks to be left alone, from any of the forms it may say it in."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
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
