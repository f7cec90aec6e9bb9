"""Writes down what a platform is told to be on its way before it is, so that a crash in between loses nothing.

Commands have to be acknowledged within seconds, and some things have to be known of the acknowledgement before the
question can be put into the inbox.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from pydantic import ValidationError

from adapters.chat.attempting import Tell, attempted
from adapters.chat.persevering import BRIEFLY, NOT_NOW, Perseverance
from core.errors import StoreUnavailable
from core.model import Value
from core.ports import Promises
from core.sentences import CANNOT_TAKE, WARNING

Kind = TypeVar("Kind", bound=Value)
Sleep: TypeAlias = Callable[[float], Awaitable[object]]

LONGEST_NOTE = 1.5  # seconds; platforms wait three for the acknowledgement that comes after it
NO_STORE = f"{WARNING} {CANNOT_TAKE}"


class Promised(Generic[Kind]):
    """The promises of one kind on one platform."""

    def __init__(self, promises: Promises, platform: str, kind: type[Kind], sleep: Sleep = asyncio.sleep) -> None:
        self._promises = promises
        self._platform = platform
        self._kind = kind
        self._sleep = sleep

    async def note(self, key: str, what: Kind) -> bool:
        """Write down what will be done; False if that is so already.

        Raises `StoreUnavailable` where it cannot be, and then it must not be promised.
        """
        return await self._promises.put(self._platform, key, what.model_dump_json(), within=LONGEST_NOTE)

    async def keep(self, key: str, do: Callable[[], Awaitable[object]], tell: Tell) -> None:
        """Do it and take the note away; *tell* why not, where the store or the platform is away for too long."""
        await attempted(partial(self._done, do), tell)
        await self._forget(key)

    async def _done(self, do: Callable[[], Awaitable[object]]) -> str | None:
        try:
            await Perseverance(self._sleep, BRIEFLY).done(do)
        except NOT_NOW:
            return NO_STORE
        return None

    async def _forget(self, key: str) -> None:
        """Take the note away, as it is done, or never will be."""
        with suppress(StoreUnavailable):
            await Perseverance(self._sleep).done(partial(self._promises.remove, self._platform, key))

    async def take_up(self, do: Callable[[Kind], Awaitable[object]], *, after: float) -> None:
        """Do what somebody has promised who is gone; whoever is there gets so many seconds to do it.

        While the store or the platform is away, this waits for them.
        """
        with suppress(*NOT_NOW):
            if before := await self._standing():
                await self._sleep(after)
                for key, text in (await self._standing()).items():
                    if key in before:
                        await self._take_up(key, text, do)

    async def _take_up(self, key: str, text: str, do: Callable[[Kind], Awaitable[object]]) -> None:
        with suppress(ValidationError):  # another version wrote it
            what = self._kind.model_validate_json(text)
            await Perseverance(self._sleep).done(lambda: do(what))
        await self._forget(key)

    async def _standing(self) -> Mapping[str, str]:
        return await Perseverance(self._sleep).done(partial(self._promises.standing, self._platform))
