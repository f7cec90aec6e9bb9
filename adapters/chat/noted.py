"""Has the messages of an answer noted before and after they are posted, so that a crash leaves none unknown."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from types import TracebackType
from typing import Self

from adapters.chat.held import Held
from adapters.chat.posting import Part, Posted, Poster
from adapters.retry import NOTE
from core.errors import LeaseLost, PostingFailed, StoreUnavailable, Unreachable
from core.events import Step
from core.model import Delivery, WaitNotice

LONGEST_RETRACTING = 5.0  # seconds; the thread is held as long


class Noted:
    """A `Poster` for a task that is held. That something is posted is noted before; which id it has, beside the rest.

    *showing* is called each time before something appears, and *named* makes a delivery of ids. Nothing is posted that
    could not be noted before, as nobody would find it after a crash: a post waits for its note as long as the task is
    held. A note that is refused, as another worker has the task, is `LeaseLost`.
    What was said below the question while it waited is taken away by *retract* once something of the answer stands.
    """

    def __init__(
        self,
        poster: Poster,
        held: Held,
        *,
        named: Callable[[Sequence[str]], Delivery],
        now: Callable[[], datetime],
        showing: Callable[[], object] = lambda: None,
        retract: Callable[[WaitNotice], Awaitable[object]] | None = None,
    ) -> None:
        self._poster = poster
        self._held = held
        self._named = named
        self._now = now
        self._showing = showing
        self._ids = [message.id for message in held.task.delivery.messages]
        self._leaving = [message.id for message in held.task.delivery.leaving]
        self._trying = held.task.delivery.trying
        self._notice = held.task.delivery.notice if retract else None
        self._retract = retract
        self._retracting: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._is_old = False
        self._is_written = False
        self._is_lost = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._begin_retracting()
        if self._retracting is not None:
            await asyncio.wait({self._retracting}, timeout=LONGEST_RETRACTING)
            self._retracting.cancel()
        if self._writing is not None:
            await self._writing  # what is noted after this has to come after it

    async def post(self, part: Part, nonce: str) -> Posted:
        """Post a message once it is noted that one is posted; what may have been posted before stays noted as well."""
        self._showing()
        before, self._trying = self._trying, self._trying or self._now()
        await self._until_noted()
        self._held.passed(Step.POSTING)
        try:
            posted = await self._poster.post(part, nonce)
        except Unreachable:
            raise  # it may be there
        except PostingFailed:
            self._trying = before
            raise
        self._held.passed(Step.POSTED)
        self._trying = None
        self._add(posted.id)
        self._begin_retracting()
        return posted

    async def edit(self, message_id: str, part: Part) -> None:
        """Replace what a message shows, and have it noted if it is not."""
        self._showing()
        if message_id not in self._ids:
            self._add(message_id)
        self._held.passed(Step.EDITING)
        await self._poster.edit(message_id, part)
        self._held.passed(Step.EDITED)
        self._begin_retracting()

    async def delete(self, message_id: str) -> None:
        """Remove a message once it is noted that we do; the next worker would take it for a reader's wish otherwise."""
        if message_id not in self._leaving:
            self._leaving.append(message_id)
            self._ids = [name for name in self._ids if name != message_id]
            await self._until_noted()
        await self._poster.delete(message_id)

    def _begin_retracting(self) -> None:
        if self._notice is not None and self._retracting is None:
            self._retracting = asyncio.create_task(self._take_away(self._notice))

    async def _take_away(self, notice: WaitNotice) -> None:
        """Remove what is not true any more; what the platform does not do now, it would not do later either."""
        assert self._retract is not None  # noqa: S101 - there is no notice without it
        with suppress(PostingFailed):
            await self._retract(notice)
        self._notice = None
        self._note()

    def _add(self, message_id: str) -> None:
        if message_id not in self._ids:
            self._ids.append(message_id)
        self._note()

    async def _until_noted(self) -> None:
        """Wait until the newest state is written. Raises `LeaseLost` if the task is not held any more."""
        await NOTE.call(self._write_newest)

    async def _write_newest(self) -> None:
        await asyncio.shield(self._note())
        if self._is_lost:
            raise LeaseLost("another worker has the question")
        if not self._is_written:
            await self._held.check()
            raise StoreUnavailable("The note could not be written.")

    def _note(self) -> asyncio.Task[None]:
        """Have the newest state written, after what is being written; give the task that does it."""
        self._is_old = True
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        return self._writing

    async def _write(self) -> None:
        while self._is_old and not self._is_lost:
            self._is_old = self._is_written = False
            is_complete = self._trying is None
            leaving = self._named(self._leaving).messages
            delivery = self._named(self._ids).model_copy(
                update={"leaving": leaving, "trying": self._trying, "notice": self._notice}
            )
            try:
                with suppress(StoreUnavailable):
                    await self._held.record(delivery)
                    self._is_written = True
                    if is_complete:
                        self._held.passed(Step.NOTED)
            except LeaseLost:
                self._is_lost = True
