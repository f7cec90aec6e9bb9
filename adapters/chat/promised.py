"""Writes down what a platform is told to be on its way before it is, so that a crash in between loses nothing.

Commands have to be acknowledged within seconds, and some things have to be known of the acknowledgement before the
question can be put into the inbox.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import Generic, TypeAlias, TypeVar

from pydantic import ValidationError

from adapters.chat.posting import PostingFailed
from core.errors import StoreUnavailable
from core.model import Value
from core.ports import Promises

Kind = TypeVar("Kind", bound=Value)
Sleep: TypeAlias = Callable[[float], Awaitable[object]]

LONGEST_NOTE = 0.5  # seconds; platforms wait three, and who has no store is told so afterwards
LONGEST_WORK = 10.0  # seconds after which whoever has promised something has done it, or is gone


class Promised(Generic[Kind]):
    """The promises of one kind on one platform."""

    def __init__(self, promises: Promises, platform: str, kind: type[Kind]) -> None:
        self._promises = promises
        self._platform = platform
        self._kind = kind

    async def note(self, key: str, what: Kind) -> None:
        """Write down what will be done, if there is a store just now."""
        with suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(LONGEST_NOTE):
                await self._promises.put(self._platform, key, what.model_dump_json())

    async def forget(self, key: str) -> None:
        """Take the note away, as it is done."""
        with suppress(StoreUnavailable):
            await self._promises.remove(self._platform, key)

    async def take_up(self, do: Callable[[Kind], Awaitable[object]], sleep: Sleep) -> None:
        """Do what somebody has promised who is gone; what others are about to do is left to them.

        What cannot be done now, as the store or the platform is away, is left to whoever comes next.
        """
        with suppress(StoreUnavailable, PostingFailed):
            before = await self._promises.standing(self._platform)
            if before:
                await sleep(LONGEST_WORK)
                await self._do_all(before.keys(), do)

    async def _do_all(self, keys: Collection[str], do: Callable[[Kind], Awaitable[object]]) -> None:
        standing = await self._promises.standing(self._platform)
        for key in [each for each in standing if each in keys]:
            with suppress(ValidationError):  # another version wrote it
                await do(self._kind.model_validate_json(standing[key]))
            await self._promises.remove(self._platform, key)
