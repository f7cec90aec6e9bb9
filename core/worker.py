"""Takes questions out of the inbox and has them answered, a bounded number at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta

from core.answering.responder import Responder
from core.errors import (
    ApologyFailed,
    DeadLettered,
    FootnoteError,
    Misconfigured,
    PeopleUnavailable,
    ShutOut,
    StoreUnavailable,
)
from core.events import Observer, ServiceFailed, TaskFailed, unobserved
from core.model import (
    MOST_ENDINGS,
    NOT_KEPT,
    REPLACED,
    Claim,
    Delivery,
    Interruption,
    Recheck,
    Status,
    Task,
    Turn,
    Withdrawal,
    ended_by,
)
from core.ports import ChatSurface, ConversationStore, Inbox

UPDATE_WINDOW = timedelta(minutes=10)  # after which an answered question that is edited keeps its answer
LOST = frozenset({Interruption.LOST})
EXHAUSTED = "It was started too often, and never finished."


@dataclass
class Worker:
    """Answers on whichever of the *surfaces*, by platform, a question came from.

    Each is there once the bot has logged in; it raises `ShutOut` where that takes longer than a start usually does, so
    that questions on other platforms need not wait for it.
    """

    inbox: Inbox
    responder: Responder
    surfaces: Mapping[str, Callable[[], Awaitable[ChatSurface]]]
    conversations: ConversationStore
    _: KW_ONLY
    now: Callable[[], datetime]
    observer: Observer = unobserved
    _stopping: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def run(self, *, concurrency: int, rest: float = 1.0) -> None:
        """Work on so many tasks at once until `stop`; cancelled, hand everything back at once.

        *rest* are the seconds to wait before the next try when the inbox cannot be reached.
        """
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
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
        taking = asyncio.create_task(held.enter_async_context(self.inbox.claim()))
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
            self.observer(ServiceFailed("inbox", _reason(error)))
            with suppress(TimeoutError):
                async with asyncio.timeout(rest):
                    await self._stopping.wait()
            return None
        return taking.result()

    async def _do(self, task: Task) -> None:
        try:
            if task.attempt > task.most_attempts:
                raise DeadLettered(EXHAUSTED)  # noqa: TRY301 - it is told like whatever fails
            await self._carry_out(task)
        except Exception as error:
            if task.cancelled.reason is Interruption.LOST:
                return  # whoever has it now sees to it
            if isinstance(error, ShutOut) or self._is_put_off(task, error):
                raise
            is_last = task.is_last_attempt and await self._apologized(task)
            self.observer(TaskFailed(task.message, task.attempt, is_last, _reason(error)))
            if task.is_last_attempt and not is_last:
                raise ApologyFailed(_reason(error)) from error
            raise
        finally:
            # A request of ours may have come after the last one of the worker that has it now.
            is_lost = task.cancelled.reason is Interruption.LOST
            if is_lost and isinstance(task, Claim) and task.question.visibility == "thread":
                answer = next((each for each in task.written if each.citations), None)
                with suppress(StoreUnavailable):
                    await self.inbox.put(Recheck(question=task.question, answer=answer))

    def _is_put_off(self, task: Task, error: Exception) -> bool:
        """Return whether a question waits until a platform says who reads along, if half its time is left to answer."""
        if not isinstance(error, PeopleUnavailable) or error.wait is None:
            return False
        if task.spent + error.wait >= self.responder.agent.limits.longest / 2:
            error.wait = None
        return error.wait is not None

    async def _carry_out(self, task: Task) -> None:
        """Answer, or take back; what is deleted meanwhile is taken back at once: only we may know what stands there."""
        if isinstance(task, Claim):
            await self._answer(task)
            if task.cancelled.reason is not Interruption.DELETED:
                return
            task = replace(self.inbox.withdrawal(task), asker_id=task.question.author.id)
        await self._withdraw(task)

    async def _answer(self, claim: Claim) -> None:
        """Answer, unless the question is replaced, withdrawn or lost meanwhile: then what comes next sees to it.

        An answer to be updated stays as it is if it is old, or people have gone on from it, and none of it is new,
        unless they were told to wait. What a worker had answered to these words before it died is shown again, since
        what is remembered was shown before; one without footnotes is no great loss, and may have been something else.
        """
        asked_at, turn = claim.question.asked_at, None
        if claim.is_update and not claim.is_redelivered and claim.delivery.notice is None:
            if self.now() - asked_at > UPDATE_WINDOW:
                return
            others = [each for each in await self._turns(claim) if each.question_ref != claim.message]
            if any((each.asked_at or each.at) > asked_at for each in others):
                return
        elif claim.is_redelivered and not claim.is_update:
            with suppress(StoreUnavailable):
                mine = (each for each in await self._turns(claim) if each.question_ref == claim.message)
                words = (claim.question.text, NOT_KEPT)
                turn = next((each for each in mine if each.citations and each.question in words), None)
        async with ended_by(claim.cancelled, REPLACED):
            surface = await self._surface(claim)
            if turn is not None:
                await self.responder.repeat(claim, surface, turn)
                return
            answer = await self.responder.respond(claim, surface)
            is_shown = answer.citations or (answer.status is Status.REFUSED and answer.text)
            if claim.question.is_unasked and claim.delivery.standing and not is_shown:
                await self._fall_silent(claim)
            elif answer.is_failure and not claim.question.is_unasked:
                with suppress(StoreUnavailable):  # the words are kept, so that somebody can have it tried again
                    await self.inbox.keep(claim)

    async def _fall_silent(self, claim: Claim) -> None:
        """Take back an answer that nobody asked for, to whose new words there is none."""
        gone = Withdrawal(claim.message, claim.question.author.id, delivery=claim.delivery, was_released=True)
        await self._withdraw(replace(gone, fence=claim.fence, cancelled=claim.cancelled))
        if self.responder.deliveries is not None:
            await self.responder.deliveries.record(claim, Delivery())

    async def _withdraw(self, withdrawal: Withdrawal) -> None:
        """Forget the turn, then take back what was posted.

        What people who are remembered as the askers say themselves below an answer is no reason to keep it.
        """
        async with ended_by(withdrawal.cancelled, LOST):
            turns = await self._turns(withdrawal)
            askers = [turn.author_id for turn in turns if turn.question_ref == withdrawal.message]
            surface = await self._surface(withdrawal)  # before anything is forgotten: another worker may have to do it
            await self.conversations.remove(withdrawal.message)
            await surface.withdraw(replace(withdrawal, asker_id=next(iter(askers), withdrawal.asker_id)))

    async def _turns(self, task: Task) -> Sequence[Turn]:
        return (await self.conversations.load(task.message.thread)).turns

    async def _apologized(self, task: Task) -> bool:
        """Apologize for a question that nobody will try any more; return whether that is done with.

        The platform may be away, so it is tried a few times; if it may be the apology that ends the process, none is
        made any more.
        """
        if not isinstance(task, Claim) or task.attempt > MOST_ENDINGS or task.cancelled.reason in REPLACED:
            return True
        try:
            await self.responder.apologize(task, await self._surface(task))
        except Misconfigured:
            return True
        except ShutOut:
            raise
        except Exception:  # noqa: BLE001 - whatever it was, the next time it may work
            return task.attempt == MOST_ENDINGS
        return True

    async def _surface(self, task: Task) -> ChatSurface:
        platform = task.message.thread.platform
        if platform not in self.surfaces:
            raise Misconfigured(f"This worker cannot answer on {platform}. Set what {platform} needs, and start again.")
        return await self.surfaces[platform]()


def _reason(error: BaseException) -> str:
    """Return what went wrong; only our own errors are sentences that quote nobody."""
    return str(error) if isinstance(error, FootnoteError) else type(error).__name__
