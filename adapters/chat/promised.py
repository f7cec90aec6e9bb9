"""Writes down what a platform is told to be on its way before it is, so that a crash in between loses nothing.

Commands have to be acknowledged within seconds, and some things have to be known of the acknowledgement before the
question can be put into the inbox.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar
from uuid import uuid4

from pydantic import ValidationError

from adapters.chat.claim import Claim, TakenOver
from adapters.chat.commands import Tell
from adapters.chat.persevering import BRIEFLY, NOT_NOW, Perseverance
from core.events import Observer, Passed, Step, unobserved
from core.model import Question, Value
from core.ports import Promises
from core.sentences import BROKEN, CANNOT_TAKE, WARNING

Sleep: TypeAlias = Callable[[float], Awaitable[object]]

LONGEST_NOTE = 1.5  # seconds; platforms wait three for the acknowledgement that comes after it
LOOK = 1.0  # seconds between two looks whether others are still at it
NO_STORE = f"{WARNING} {CANNOT_TAKE}"


class Promise(Value):
    """A question that was asked by a command or a form."""

    question: Question


Kind = TypeVar("Kind", bound=Promise)


async def nothing() -> None:
    """Do nothing about what nobody can read, as another version wrote it."""


class Promised(Generic[Kind]):
    """The promises of one kind on one platform. Of several processes, one is at each of them at a time."""

    def __init__(
        self,
        promises: Promises,
        platform: str,
        kind: type[Kind],
        *,
        sleep: Sleep = asyncio.sleep,
        observer: Observer = unobserved,
    ) -> None:
        self._promises = promises
        self._platform = platform
        self._kind = kind
        self._sleep = sleep
        self._observer = observer

    async def note(self, key: str, promise: Kind) -> Claim | None:
        """Write down what will be done, and give the right to do it; None if it is noted already.

        Raises `StoreUnavailable` where nobody knows whether it is; then it must not be promised, and has to be
        forgotten.
        """
        since = time.monotonic()
        if not await self._promises.put(self._platform, key, promise.model_dump_json(), within=LONGEST_NOTE):
            return None
        self._observer(Passed(promise.question.message, Step.PROMISED))
        return Claim(self._promises, self._platform, key, since=since)

    async def keep(self, claim: Claim, promise: Kind, do: Callable[[], Awaitable[object]], tell: Tell) -> None:
        """Do it and take the note away; *tell* why not, where the store or the platform is away for too long."""
        self._observer(Passed(promise.question.message, Step.ACKNOWLEDGED))
        try:
            await Perseverance(self._sleep, BRIEFLY).done(partial(claim.use, do))
        except TakenOver:
            return
        except NOT_NOW:
            await tell(NO_STORE)
        except Exception:
            await tell(f"{WARNING} {BROKEN}")
            await self.forget(claim.key)
            raise
        await self.forget(claim.key)

    async def forget(self, key: str) -> None:
        """Take the note away, as it is done, or never will be."""
        with suppress(*NOT_NOW):
            await Perseverance(self._sleep).done(partial(self._promises.remove, self._platform, key))

    async def take_up(self, do: Callable[[Kind], Awaitable[object]]) -> None:
        """Do what others have promised, as soon as they are not at it any more.

        While the store or the platform is away, this waits for them; what breaks is written into the log.
        """
        with suppress(*NOT_NOW):
            by = uuid4().hex  # what this process has promised itself is left to whoever keeps it here
            claims = [Claim(self._promises, self._platform, key, by=by) for key in await self._standing()]
            taking = [self._take_up(claim, do) for claim in claims]
            for error in await asyncio.gather(*taking, return_exceptions=True):
                if isinstance(error, Exception):
                    context: dict[str, Any] = {"message": "something that was promised broke", "exception": error}
                    asyncio.get_running_loop().call_exception_handler(context)

    async def _take_up(self, claim: Claim, do: Callable[[Kind], Awaitable[object]]) -> None:
        with suppress(*NOT_NOW):
            while text := (await self._standing()).get(claim.key):
                promise = self._read(text)
                with suppress(TakenOver):
                    act = partial(do, promise) if promise else nothing
                    await Perseverance(self._sleep).done(partial(claim.use, act))
                    await self.forget(claim.key)
                    return
                await self._sleep(LOOK)

    def _read(self, text: str) -> Kind | None:
        with suppress(ValidationError):
            return self._kind.model_validate_json(text)
        return None

    async def _standing(self) -> Mapping[str, str]:
        return await Perseverance(self._sleep).done(partial(self._promises.standing, self._platform))
