"""Writes down what a platform is told to be on its way before it is, so that a crash in between loses nothing.

Commands have to be acknowledged within seconds, and some things have to be known of the acknowledgement before the
question can be put into the inbox.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import ValidationError

from adapters.chat.attempting import Tell
from adapters.chat.persevering import BRIEFLY, LONGEST, NOT_NOW, Perseverance
from adapters.chat.posting import Unreachable
from core.events import Observer, Passed, Step, unobserved
from core.model import Question, Value
from core.ports import Promises
from core.sentences import BROKEN, CANNOT_TAKE, WARNING

Sleep: TypeAlias = Callable[[float], Awaitable[object]]

LONGEST_NOTE = 1.5  # seconds; platforms wait three for the acknowledgement that comes after it
LONGEST_TRY = 2 / 3  # of the time of a claim, so that what is broken off has had its effect before others begin
LOOK = 1.0  # seconds between two looks whether others are still at it
NO_STORE = f"{WARNING} {CANNOT_TAKE}"


class Promise(Value):
    """A question that was asked by a command or a form."""

    question: Question


Kind = TypeVar("Kind", bound=Promise)


class TakenOver(Exception):
    """Another process is about to do it, or has done it."""


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

    async def note(self, key: str, promise: Kind) -> bool:
        """Write down what will be done; False if that is so already.

        Raises `StoreUnavailable` where nobody knows whether it is; then it must not be promised, and has to be
        forgotten.
        """
        is_new = await self._promises.put(self._platform, key, promise.model_dump_json(), within=LONGEST_NOTE)
        if is_new:
            self._observer(Passed(promise.question.message, Step.PROMISED))
        return is_new

    async def keep(self, key: str, promise: Kind, do: Callable[[], Awaitable[object]], tell: Tell) -> None:
        """Do it and take the note away; *tell* why not, where the store or the platform is away for too long."""
        self._observer(Passed(promise.question.message, Step.ACKNOWLEDGED))
        try:
            await self._do(key, do, BRIEFLY)
        except TakenOver:
            return
        except NOT_NOW:
            await tell(NO_STORE)
        except Exception:
            await tell(f"{WARNING} {BROKEN}")
            await self.forget(key)
            raise
        await self.forget(key)

    async def forget(self, key: str) -> None:
        """Take the note away, as it is done, or never will be."""
        with suppress(*NOT_NOW):
            await Perseverance(self._sleep).done(partial(self._promises.remove, self._platform, key))

    async def take_up(self, do: Callable[[Kind], Awaitable[object]]) -> None:
        """Do what others have promised, as soon as they are not at it any more.

        While the store or the platform is away, this waits for them; what breaks is written into the log.
        """
        with suppress(*NOT_NOW):
            taking = [self._take_up(key, do) for key in await self._standing()]
            for error in await asyncio.gather(*taking, return_exceptions=True):
                if isinstance(error, Exception):
                    context: dict[str, Any] = {"message": "something that was promised broke", "exception": error}
                    asyncio.get_running_loop().call_exception_handler(context)

    async def _take_up(self, key: str, do: Callable[[Kind], Awaitable[object]]) -> None:
        with suppress(*NOT_NOW):
            while text := (await self._standing()).get(key):
                with suppress(TakenOver):
                    if promise := self._read(text):
                        await self._do(key, partial(do, promise), LONGEST)
                    await self.forget(key)
                    return
                await self._sleep(LOOK)

    def _read(self, text: str) -> Kind | None:
        with suppress(ValidationError):  # another version wrote it
            return self._kind.model_validate_json(text)
        return None

    async def _do(self, key: str, do: Callable[[], Awaitable[object]], seconds: float) -> None:
        await Perseverance(self._sleep, seconds).done(partial(self._try, key, do))

    async def _try(self, key: str, do: Callable[[], Awaitable[object]]) -> None:
        """Do it once, unless somebody else is at it."""
        if not await self._promises.claim(self._platform, key):
            raise TakenOver
        try:
            async with asyncio.timeout(self._promises.lasting * LONGEST_TRY):
                await do()
        except TimeoutError as error:
            raise Unreachable("it took too long") from error

    async def _standing(self) -> Mapping[str, str]:
        return await Perseverance(self._sleep).done(partial(self._promises.standing, self._platform))
