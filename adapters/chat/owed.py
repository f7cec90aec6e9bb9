"""What people did to their questions while the store was away; it is written as soon as that is back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

from adapters.chat.chores import Chores
from core.errors import StoreUnavailable

Work: TypeAlias = Callable[[], Awaitable[object]]

MOST = 1_000  # works; of more, the oldest are given up
FIRST_WAIT, LONGEST_WAIT = 0.25, 15.0  # seconds between two tries, of which each waits twice as long


class Owed:
    """Does works in the order in which they came, those that cannot be done now among them."""

    def __init__(
        self, chores: Chores, *, most: int = MOST, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._chores = chores
        self._sleep = sleep
        self._works: deque[Work] = deque(maxlen=most)
        self._is_paying = False

    async def do(self, work: Work) -> None:
        """Do a work, or take it as owed if the store is away, or if others wait for it."""
        if not self._works:
            try:
                await work()
            except StoreUnavailable:
                pass
            else:
                return
        self._works.append(work)
        if not self._is_paying:
            self._is_paying = True
            self._chores.begin(self._pay)

    async def _pay(self) -> None:
        wait = FIRST_WAIT
        try:
            while self._works:
                await self._sleep(wait)
                wait = min(wait * 2, LONGEST_WAIT)
                with suppress(StoreUnavailable):
                    await self._pay_all()
        except Exception:
            self._chores.begin(self._pay)  # the rest is owed all the same
            raise
        self._is_paying = False

    async def _pay_all(self) -> None:
        while self._works:
            work, is_away = self._works[0], False
            try:
                await work()
            except StoreUnavailable:
                is_away = True
                raise
            finally:
                if not is_away and self._works[0] is work:  # it is not, if it was given up meanwhile
                    self._works.popleft()
