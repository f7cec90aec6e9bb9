"""What goes on after a platform was answered: in the background, later, in its order, or by whoever takes it over.

A question that is asked by a command or a form is accepted by the inbox before the platform is told that an answer is
on its way; where that goes is known afterwards only, so it is moved into its thread after. A crash loses nothing in
between, and of several processes, one is at it at a time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakValueDictionary

from adapters.chat.platform import NOTICE, nonce
from adapters.chat.services import Unanswered, long_awaited, tell_wait
from adapters.retry import BRIEF, DEFERRED, NOT_NOW, PATIENT, RetryPolicy
from core.errors import PostingFailed, StoreUnavailable
from core.events import LostByStore, Observer, Passed, ServiceFailed, Step, unobserved
from core.messages import AWAITED, BROKEN, CANNOT_TAKE, WARNING
from core.model import Asked, Deleted, Delivery, MessageRef, Signal, Stage, WaitNotice

if TYPE_CHECKING:
    from adapters.chat.platform import Poster
    from adapters.chat.registry import Tell
    from adapters.chat.services import ChatServices

Work: TypeAlias = Callable[[], Awaitable[object]]
Lost: TypeAlias = Callable[[], object]
Find: TypeAlias = Callable[[Asked], Awaitable[Asked | None]]
"""Finds where the answer to what was accepted goes; None where nobody waits for it any more."""
Below: TypeAlias = Callable[[Asked], Awaitable["Poster"]]
"""Finds what says that a question waits, which may be a command's. Raises `PostingFailed`."""
KeyedLocks: TypeAlias = WeakValueDictionary[str, asyncio.Lock]
"""Locks that last as long as somebody holds one or waits: `async with locks.setdefault(key, asyncio.Lock())`."""

MOST = 1_000  # writes that wait, of which the oldest are given up; questions that are remembered here
LATEST = timedelta(minutes=30)  # what is older is nobody's question any more
LONGEST_WRITE = 1.5  # seconds; platforms wait three for the acknowledgement that comes after it
SHARE = 2 / 3  # of the time that it is ours, so that what is broken off has had its effect before others begin
LOOK = 1.0  # seconds between two looks for what others have left
NO_STORE = f"{WARNING} {CANNOT_TAKE}"


class BackgroundTasks:
    """Holds on to what is being done, which nothing else does, until it is done or this is closed.

    What breaks is told to the loop, which writes it into the log; failures of the kinds to *ignore* are not, as nothing
    hangs on what is done. Once this is closed, nothing more is begun.
    """

    def __init__(self, *, ignore: tuple[type[Exception], ...] = (PostingFailed, StoreUnavailable)) -> None:
        self._ignored = ignore
        self._tasks: set[asyncio.Future[object]] = set()
        self._is_closed = False

    def begin(self, work: Work) -> None:
        """Do something, unless it is too late for that."""
        if self._is_closed:
            return
        task = asyncio.ensure_future(work())
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def finish(self, within: float | None = None) -> None:
        """Wait until all is done, for so many seconds at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while self._tasks:
                    await asyncio.wait(self._tasks)

    async def close(self, within: float = 0.0) -> None:
        """End what is under way and has not come to its end within so many seconds; cancelled, end it at once."""
        try:
            await self.finish(within)
        finally:
            self._is_closed = True
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Future[object]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, self._ignored):
            context = {"message": "something in the background broke", "exception": error, "task": task}
            task.get_loop().call_exception_handler(context)


class DeferredWrites:
    """Writes in the order in which it was asked to, also what cannot be written while the store is away.

    What the store refuses for good is dropped, which the *observer* hears, and the rest goes on.
    """

    def __init__(
        self,
        tasks: BackgroundTasks,
        *,
        most: int = MOST,
        policy: RetryPolicy = DEFERRED,
        observer: Observer = unobserved,
    ) -> None:
        self._tasks = tasks
        self._observer = observer
        self._policy = policy
        self._writes: deque[Work] = deque(maxlen=most)
        self._is_writing = False

    async def do(self, write: Work) -> None:
        """Write, or keep it for later if the store is away, or if others wait for it."""
        if not self._is_writing:
            with suppress(StoreUnavailable):
                await write()
                return
        self._writes.append(write)
        if not self._is_writing:
            self._is_writing = True
            self._tasks.begin(self._write_all)

    async def _write_all(self) -> None:
        try:
            while self._writes:
                try:
                    await self._policy.call(self._writes.popleft())
                except StoreUnavailable as refused:
                    self._observer(ServiceFailed("inbox", str(refused)))
        except Exception:
            self._tasks.begin(self._write_all)  # the rest is to be written all the same
            raise
        self._is_writing = False


async def accepted(services: ChatServices, asked: Asked) -> float | None:
    """Have a question accepted, and return until when it is to be moved, by the loop's clock; None if it was before.

    Raises `StoreUnavailable` where nobody knows whether it is; then the platform must not be told that an answer is on
    its way, and the question has to be dropped.
    """
    until = asyncio.get_running_loop().time() + services.accepting.accepted_for * SHARE
    if not await services.accepting.accept(asked, within=LONGEST_WRITE):
        return None
    remember(services, asked, is_placed=False)
    return until


async def settle(services: ChatServices, asked: Asked, until: float, find: Find, tell: Tell) -> None:
    """Move what was accepted, once it is acknowledged; *tell* why not, if the store or the platform is away for long.

    What is not done in time is left to whoever takes it over, and so is what nobody can be told now, for which *tell*
    returns False.
    """
    services.observer(Passed(asked.message, Step.ACKNOWLEDGED))
    try:
        await _move(services, asked, until, find)
    except NOT_NOW:
        if await tell(NO_STORE) is not False:
            await drop(services, asked)
    except Exception:
        await tell(f"{WARNING} {BROKEN}")
        await drop(services, asked)
        raise


async def drop(services: ChatServices, asked: Asked) -> None:
    """Withdraw what was accepted, as nobody will answer it."""
    services.unanswered.pop(asked.message, None)
    with suppress(*NOT_NOW):
        await replace(PATIENT, sleep=services.sleep).call(partial(services.inbox.put, Deleted(message=asked.message)))


async def take_over(
    services: ChatServices, platform: str, find: Find, below: Below | None = None, *, lost: Lost = unobserved
) -> None:
    """Move, until this is cancelled, what processes have accepted that died over it or stand still.

    Calls *lost* when the store was emptied meanwhile, once whoever was at a question has put it back; what is answered
    until then is noticed all the same. Before, it tells again what was deleted, which no platform lists. Whoever waits
    for the answer to a command is told so *below* it, and whoever wants a question tried again in their own way; after
    a restart, all of whom no platform tells again are.
    """

    async def tell() -> None:
        with suppress(StoreUnavailable):
            await services.self_help.forgetting.tell()
            await services.communities.load()  # which gives back what this process knows, as workers may know nothing
        for again in list(services.deleted.values()):
            with suppress(*NOT_NOW):
                await replace(PATIENT, sleep=services.sleep).call(again)
        await services.sleep(services.accepting.accepted_for / 2)
        with suppress(*NOT_NOW):  # what was put back meanwhile may be of somebody who is forgotten
            await replace(PATIENT, sleep=services.sleep).call(services.self_help.forgetting.again)
        lost()

    mark, telling = services.store_mark, BackgroundTasks()
    try:
        telling.begin(partial(_tell_untold, services, platform, below, telling))
        while True:
            await take_over_once(services, platform, find)
            with suppress(StoreUnavailable):
                for asked in await _put_back(services):
                    if asked.way:
                        telling.begin(partial(_tell_asker, services, below, asked))
                before, mark.known = mark.known, (await services.inbox.kept_for()).mark
                if before not in ("", mark.known):
                    telling.begin(tell)
            while services.retried:
                telling.begin(partial(_tell_retried, services, *services.retried.popitem()))
            await services.sleep(LOOK)
    finally:
        await telling.close()


async def _tell_untold(services: ChatServices, platform: str, below: Below | None, telling: BackgroundTasks) -> None:
    """Remember, and tell if they wait, those of whom another process knew that has ended."""
    untold = partial(services.accepting.untold, platform)
    found = await replace(PATIENT, sleep=services.sleep).call(untold)
    known = {str(each.asked.message) for each in services.unanswered.values()}
    for asked in found[:MOST]:
        if str(asked.message) not in known:
            services.unanswered[asked.message] = Unanswered(asked, stage=Stage.RUNNING, is_watched=True)
            telling.begin(partial(_tell_asker, services, below, asked))


async def _tell_asker(services: ChatServices, below: Below | None, asked: Asked) -> None:
    """Tell somebody that their question waits, where its answer will be, if it does so for long."""
    if services.waits is not None and below is not None:
        question, poster = asked.question, await below(asked)
        await tell_wait(services.waits, question, asked.message.thread, lambda: poster, question.asked_at)


async def _tell_retried(services: ChatServices, message: MessageRef, tell: Tell) -> None:
    """Tell whoever has wanted a question tried again, alone, if it waits for long."""
    if (waits := services.waits) is not None:
        await waits.sleep(waits.silence)
        if awaited := await long_awaited(waits, message):
            await tell(AWAITED[awaited])


def remember(
    services: ChatServices, *signals: Signal, accepted: MessageRef | None = None, is_placed: bool = True
) -> None:
    """Remember a question of which no platform tells again until it is answered, as the store may lose it."""
    for asked in signals:
        if isinstance(asked, Asked) and len(services.unanswered) < MOST:
            services.unanswered[accepted or asked.message] = Unanswered(asked, is_placed=is_placed)


async def forget_deleted(services: ChatServices, tasks: BackgroundTasks, gone: MessageRef, rest: Work | None) -> None:
    """Forget a deleted answer, and what was said below an unknown question. Raises `StoreUnavailable`."""
    await services.self_help.forget_answer(gone)
    if services.waits is not None:
        tasks.begin(partial(services.waits.retract, gone))
    # The store may have lost that an answer was begun, and nobody else would take it away.
    if rest is not None and (await services.inbox.kept_for()).age < LATEST:
        tasks.begin(partial(replace(PATIENT, sleep=services.sleep).call, rest))


async def _put_back(services: ChatServices) -> Sequence[Asked]:
    """Accept or move once more what this process remembers and the store has lost: nobody else may know of it.

    What somebody has begun is put back by whoever is at it, who has time for that. Returns what waits or takes long.
    """
    known, found = list(services.unanswered.items()), list[Asked]()
    stages = await services.accepting.stages([each.asked.message for _, each in known]) if known else ()
    for (accepted, each), stage in zip(known, stages, strict=True):
        if services.unanswered.get(accepted) is not each:
            continue  # it was moved while the store was asked
        heeded = services.self_help.forgetting.heed(_begun(each.asked))
        if stage is Stage.UNKNOWN and isinstance(heeded, Deleted) and each.is_placed:
            await services.inbox.put(heeded)  # so that somebody takes away what may stand there
        if stage is Stage.OVER or isinstance(heeded, Deleted):
            services.unanswered.pop(accepted, None)
        elif stage is not Stage.UNKNOWN:
            asked_for = services.now() - each.asked.question.asked_at
            is_due = stage is Stage.WAITING or asked_for.total_seconds() >= services.silence
            if is_due and each.is_placed and not each.is_watched:
                found.append(each.asked)
                each.is_watched = True
            each.stage, each.missed = stage, 0
        elif await _is_put_back(services, accepted, each):
            services.observer(LostByStore(each.asked.message, is_put_back=True))
    return found


async def _is_put_back(services: ChatServices, accepted: MessageRef, each: Unanswered) -> bool:
    """Return whether a question is in the store again, without what it quotes: that may be of somebody forgotten."""
    each.missed += 1
    asked = each.asked.model_copy(update={"question": each.asked.question.alone})
    if not each.is_placed:
        return await services.accepting.accept(asked, within=LONGEST_WRITE)
    is_due = each.stage is not Stage.RUNNING or each.missed * LOOK >= services.accepting.accepted_for
    return is_due and await services.accepting.move(accepted, _begun(asked))


def _begun(asked: Asked) -> Asked:
    """Return a question that a worker may have had already, for all the store knows: it looks what stands there."""
    message, revision = asked.message, asked.question.revision
    notice = WaitNotice(thread=message.thread, nonce=nonce(message, NOTICE, revision))  # if there is one
    return asked.model_copy(update={"delivery": Delivery(notice=notice), "age": None})


async def take_over_once(services: ChatServices, platform: str, find: Find) -> None:
    """Move what is to be taken over now; what the store or the platform is away for is left until the next time."""
    async with asyncio.TaskGroup() as moving:
        with suppress(StoreUnavailable):
            while True:
                until = asyncio.get_running_loop().time() + services.accepting.accepted_for * SHARE
                asked = await services.accepting.overdue(platform)
                if asked is None:
                    break
                moving.create_task(_finish(services, asked, until, find))


async def _finish(services: ChatServices, asked: Asked, until: float, find: Find) -> None:
    try:
        await _move(services, asked, until, find, is_left=True)
    except NOT_NOW:
        pass
    except Exception as error:  # noqa: BLE001 - what is broken must keep nothing else from being done
        context: dict[str, Any] = {"message": "a question that was accepted broke", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)
        await drop(services, asked)


async def _move(services: ChatServices, asked: Asked, until: float, find: Find, *, is_left: bool = False) -> None:
    async def act() -> None:
        if found := await find(asked):
            found = _begun(found) if is_left else found  # it was moved before, perhaps, and the store has lost that
            remember(services, found, accepted=asked.message)  # before, as it may be moved without our hearing of it
            await services.accepting.move(asked.message, found)
        else:
            await services.inbox.put(Deleted(message=asked.message))

    if asyncio.get_running_loop().time() < until:  # else this process was frozen, and others may be at it
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await replace(BRIEF, sleep=services.sleep).call(act)
