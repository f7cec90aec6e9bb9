"""Takes questions out of the inbox and has them answered, a bounded number at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import datetime, timedelta

from core.answering.responder import Responder
from core.errors import FootnoteError, GivenUp, Misconfigured, StoreUnavailable, Untold
from core.events import Observer, ServiceFailed, TaskFailed, unobserved
from core.model import MOST_ATTEMPTS, REPLACED, Claim, Doubted, Interruption, Task, Turn, Withdrawal, ended_by
from core.ports import ChatSurface, ConversationStore, Inbox

UPDATE_WINDOW = timedelta(minutes=10)  # after which an answered question that is edited keeps its answer
LOST = frozenset({Interruption.LOST})
MOST_APOLOGIES = 2 * MOST_ATTEMPTS
EXHAUSTED = f"It was begun {MOST_ATTEMPTS} times, and came to no end."


class Worker:
    """Answers on whichever of the *surfaces*, by platform, a question came from."""

    def __init__(
        self,
        inbox: Inbox,
        responder: Responder,
        surfaces: Mapping[str, ChatSurface],
        conversations: ConversationStore,
        *,
        now: Callable[[], datetime],
        observer: Observer = unobserved,
    ) -> None:
        self._inbox = inbox
        self._responder = responder
        self._surfaces = surfaces
        self._conversations = conversations
        self._now = now
        self._observer = observer
        self._stopping = asyncio.Event()

    async def run(self, *, seats: int, rest: float = 1.0) -> None:
        """Work on so many tasks at once until `stop`; cancelled, hand everything back at once.

        *rest* are the seconds to wait before the next try when the inbox cannot be reached.
        """
        async with asyncio.TaskGroup() as group:
            for _ in range(seats):
                group.create_task(self._work(rest))

    def stop(self) -> None:
        """Take nothing more; `run` returns once everything under way is done."""
        self._stopping.set()

    async def _work(self, rest: float) -> None:
        """Do one task after the other; what goes wrong with one of them has been told and does not end the work."""
        while not self._stopping.is_set():
            with suppress(Exception):
                async with AsyncExitStack() as held:
                    task = await self._take(held, rest)
                    if task is not None:
                        await self._do(task)

    async def _take(self, held: AsyncExitStack, rest: float) -> Task | None:
        """Wait for a task; None if it is time to stop, or to try again."""
        taking = asyncio.create_task(held.enter_async_context(self._inbox.claim()))
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({taking, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            taking.cancel()
            stopping.cancel()
            await asyncio.wait({taking, stopping})
        if taking.cancelled():
            return None
        if error := taking.exception():
            self._observer(ServiceFailed("inbox", _reason(error)))
            with suppress(TimeoutError):
                async with asyncio.timeout(rest):
                    await self._stopping.wait()
            return None
        return taking.result()

    async def _do(self, task: Task) -> None:
        try:
            _check(task)
            match task:
                case Claim():
                    await self._answer(task)
                case Withdrawal():
                    await self._withdraw(task)
        except Exception as error:
            if task.cancelled.reason is Interruption.LOST:
                return  # whoever has it now sees to it
            is_last = task.is_last_attempt and await self._apologized(task)
            self._observer(TaskFailed(task.message, task.attempt, is_last, _reason(error)))
            if task.is_last_attempt and not is_last:
                raise Untold(_reason(error)) from error
            raise
        finally:
            await self._doubt(task)

    async def _doubt(self, task: Task) -> None:
        """Tell that a request of ours may have come after another worker's last one, if the question was lost."""
        if task.cancelled.reason is not Interruption.LOST or not isinstance(task, Claim):
            return
        if task.question.visibility == "thread":
            with suppress(StoreUnavailable):
                await self._inbox.put(Doubted(question=task.question))

    async def _answer(self, claim: Claim) -> None:
        """Answer, unless the question is replaced, withdrawn or lost meanwhile: then what comes next sees to it."""
        surface = self._surface(claim)
        if await self._is_too_late(claim):
            return
        turn = await self._remembered(claim)
        async with ended_by(claim.cancelled, REPLACED):
            if turn is not None:
                await self._responder.repeat(claim, surface, turn)
                return
            answer = await self._responder.respond(claim, surface)
            if answer.is_failure:
                await self._keep(claim)

    async def _keep(self, claim: Claim) -> None:
        """Keep the words of a question that failed, so that somebody can have it tried again."""
        with suppress(StoreUnavailable):
            await self._inbox.keep(claim)

    async def _withdraw(self, withdrawal: Withdrawal) -> None:
        """Forget the turn, then take back what was posted."""
        surface = self._surface(withdrawal)
        async with ended_by(withdrawal.cancelled, LOST):
            asker = await self._asker(withdrawal)
            await self._conversations.remove(withdrawal.message)
            await surface.withdraw(replace(withdrawal, asker_id=asker))

    async def _asker(self, withdrawal: Withdrawal) -> str:
        """Return who asked, if that is remembered: what they say themselves below an answer is no reason to keep it."""
        conversation = await self._conversations.load(withdrawal.thread)
        turns = conversation.turns if conversation else ()
        return next((turn.author_id for turn in turns if turn.question_ref == withdrawal.message), "")

    async def _apologized(self, task: Task) -> bool:
        """Apologize for a question that nobody will try any more; say whether that is done with.

        The platform may be away, so it is tried a few times; if it may be the apology that ends the process, none is
        made any more.
        """
        if not isinstance(task, Claim) or task.attempt > MOST_APOLOGIES or task.cancelled.is_set():
            return True
        try:
            await self._responder.apologize(task, self._surface(task))
        except Misconfigured:
            return True
        except Exception:  # noqa: BLE001 - whatever it was, the next time it may work
            return task.attempt == MOST_APOLOGIES
        return True

    async def _is_too_late(self, claim: Claim) -> bool:
        """Return whether an answer stays as it is: it is old, or people have gone on from it, and none of it is new."""
        if not claim.is_update or claim.is_inherited:
            return False
        if self._now() - claim.question.asked_at > UPDATE_WINDOW:
            return True
        conversation = await self._conversations.load(claim.thread)
        others = conversation.without(claim.message).turns if conversation else ()
        return any((turn.asked_at or turn.at) > claim.question.asked_at for turn in others)

    async def _remembered(self, claim: Claim) -> Turn | None:
        """Return the turn of a question that a worker had answered before it died: what is remembered was shown before.

        One without footnotes is no great loss, and may have been something else than an answer.
        """
        if not claim.is_inherited or claim.is_update:
            return None
        with suppress(StoreUnavailable):
            conversation = await self._conversations.load(claim.thread)
            turns = conversation.turns if conversation else ()
            return next((each for each in turns if each.question_ref == claim.message and each.citations), None)
        return None

    def _surface(self, task: Task) -> ChatSurface:
        platform = task.thread.platform
        if platform not in self._surfaces:
            raise Misconfigured(f"This worker cannot answer on {platform}. Set what {platform} needs, and start again.")
        return self._surfaces[platform]


def _check(task: Task) -> None:
    """Raise `GivenUp` for what ended every process that had begun it."""
    if task.is_exhausted:
        raise GivenUp(EXHAUSTED)


def _reason(error: BaseException) -> str:
    """Say what went wrong; only our own errors are sentences that quote nobody."""
    return str(error) if isinstance(error, FootnoteError) else type(error).__name__
