"""Shows an answer while it is written: posts once, then edits at a bounded pace.

Whoever writes the answer calls `show` with each snapshot and never waits. One editor task posts and edits: the newest
snapshot wins. `finish` brings the last one, and returns when the platform has confirmed it.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from math import inf
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

from adapters.chat.platform import Barred, Controls, Part, Posted, Poster, QuestionGone, Renderer
from adapters.retry import LoadPacer
from core.answering.nodes import inlines
from core.answering.verdict import DelayedAnswer
from core.errors import Gone, LeaseLost, PostingFailed, RateLimited, Rejected, ShutOut, Unreachable
from core.model import Answer, Drafted, PartialAnswer, Progress, Question, Restarted, Waiting
from core.model.markup import CodeLine, visible

Result = TypeVar("Result")
Snapshot: TypeAlias = Callable[[], Sequence[Part]]

BLANK = Part("…", Controls.STOP)  # what a message shows whose text was taken back; no platform has empty ones
PLACE_HOLDER = Part("…")  # for a message that only has to be found, and goes at once
FIRST_WORDS = 80  # characters, or a sentence: less would make a notification that says nothing, such as "To"
# The end of a sentence, or a footnote, which stands there. A period within a line may be that of an abbreviation, which
# has few letters, and behind which no sentence begins: there is a number, or a small letter where a script has some.
_END = re.compile(r"(?:[^\W\d]{2}|[)\]\"'”’`])(?:\.[\"'”’)\]]*\n|[!?…][\"'”’)\]]*(?:\s|\Z))|[。！？।؟۔።\ufffc]")
_PERIOD = re.compile(r"(?:[^\W\d]{4}|[^\W\d\0-\u058f]{2}|[)\]\"'”’`])\.[\"'”’)\]]*\s+[\"'“‘„«(\[¿¡]*([^\W\d])")


async def unknown() -> bool:
    """Return that it is not known."""
    return False


@dataclass(frozen=True, slots=True)
class Pace:
    """How often messages change, and how long it is tried, in seconds of its clock unless it says otherwise."""

    interval: float = 1.2  # between two calls at least
    for_each: float = 0.02  # the same for each answer that is written at the time: some 50 calls in a second for all
    longest: float = 10.0  # between two calls, however slow the platform is
    most_failures: int = 3  # failures in a row after which nothing more is shown before the end
    tries: int = 6  # failures at the end after which the messages are given up
    endurance: float = 300.0  # of waits that the platform asks for, in all
    farewell: float = 5.0  # for a post that is under way when nobody wants the answer any more
    soonest: float = 3.0  # after which a reader is told what is waited for who has waited long before that
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep


@dataclass
class LiveMessage:
    """One answer on its way; use it as a context, and end with `draw` or `finish`.

    Its `messages` are in order, and those that are to be replaced are `leaving`: earlier attempts may have left some of
    both, and where it `is_unsure` perhaps a message that nobody knows of, unless `is_all` says that there is none; else
    one is posted in its place, to be removed with it. Where it `is_contested`, a worker that had the question before
    may still change them; so each is edited once more at the end, whatever it seems to show. Whoever deletes a message
    of an answer wants none of it: the others go too, and nothing is posted again; but that worker may have removed what
    went on from the first before the store lost that, which is posted anew where nobody knows that it *was deleted*.
    Answers that share a `pacer` leave one another time. Readers who have seen nothing new for long, who were left
    `silent_for` so many seconds before, are shown what is waited for, as the next draft: whatever comes after it takes
    its place. *written* hears of the whole answer before it is shown.
    """

    poster: Poster
    nonces: Callable[[int], str]
    _: KW_ONLY
    messages: list[Posted] = field(default_factory=list[Posted])
    leaving: list[Posted] = field(default_factory=list[Posted])
    is_unsure: bool = False
    is_all: Callable[[], Awaitable[bool]] = unknown
    is_contested: bool = False
    written: Callable[[Answer], Awaitable[object]] | None = None
    was_deleted: Callable[[str], Awaitable[bool]] | None = None
    refused: asyncio.Future[PostingFailed] | None = None  # what is known of the place before anything is shown
    pace: Pace = Pace()
    pacer: LoadPacer = field(default_factory=LoadPacer)
    silent_for: float = 0.0
    is_deleted: bool = field(default=False, init=False)
    waited: float = field(default=0.0, init=False)  # seconds that the platform asked for
    _drawing: asyncio.Timeout | None = field(default=None, init=False)
    _refusal: PostingFailed | None = field(default=None, init=False)
    _lost: LeaseLost | None = field(default=None, init=False)
    _calling: asyncio.Future[Any] | None = field(default=None, init=False)
    _grows: bool = field(default=True, init=False)
    _posts: int = field(init=False)
    _inherited: set[str] = field(init=False)  # what is perhaps not there any more, for a good reason
    _newest: Snapshot = field(default=tuple, init=False)
    _waiting: Waiting | None = field(default=None, init=False)
    _remark: Snapshot = field(default=tuple, init=False)  # the newest, with what is waited for below it
    _seen_at: float = field(init=False)  # when readers saw something new, by the loop's clock
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _ending: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _interval: float = field(init=False)
    _last_call: float = field(default=-inf, init=False)
    _rest_until: float = field(default=-inf, init=False)
    _editor: asyncio.Task[None] = field(init=False)

    async def __aenter__(self) -> Self:
        self._posts, self._interval = len(self.messages), self.pace.interval
        self._inherited = {message.id for message in self.messages[1:]} if self.is_contested else set()
        self._seen_at = asyncio.get_running_loop().time() - max(self.silent_for, 0.0)
        self.pacer.count(1)
        self._editor = asyncio.create_task(self._edit())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pacer.count(-1)
        self._drawing = None
        self._editor.cancel()
        under_way = [self._editor] if self._calling is None else [self._editor, self._calling]
        # A call cannot be called back any more; whoever knows its message can remove it, or edit it after this. What
        # breaks was raised by `finish`, unless nobody wants the answer any more.
        with suppress(TimeoutError):
            async with asyncio.timeout(self.pace.farewell):
                await asyncio.gather(*under_way, return_exceptions=True)

    async def draw(
        self, progress: AsyncIterator[Progress], renderer: Renderer, question: Question, *, grows: int | None = None
    ) -> Answer:
        """Show the text as it comes, in as many messages as *grows* says, and the answer at the end; return it.

        Raises `PostingFailed`, at once where nothing can be posted any more: nobody would read what is still written.
        """
        self._grows = grows != 0
        try:
            async with asyncio.timeout(None) as self._drawing:
                if self.refused is not None:
                    self.refused.add_done_callback(lambda refused: self._break_off(refused.result()))
                answer = await self._follow(progress, renderer, grows=grows)
                if self.written is not None:
                    await self.written(answer)
        except TimeoutError:
            if self._refusal is None:
                raise
            if self.is_deleted:
                await self.finish(())
            raise self._refusal from None
        controls = Controls.VOTE if answer.is_sourced else Controls.NONE
        if answer.is_failure and question.visibility == "thread":  # one in private is kept by nobody
            controls = Controls.RETRY
        await self.finish(_controlled(renderer.whole(answer), controls))
        return answer

    async def _follow(self, progress: AsyncIterator[Progress], renderer: Renderer, *, grows: int | None) -> Answer:
        """Show what is written, in as many messages as *grows* says, and return the answer."""
        answer: Answer | None = None
        draft: PartialAnswer | None = None

        def remark() -> Sequence[Part]:
            parts = renderer.sketch(DelayedAnswer(draft, self._waiting.on))[: grows or None] if self._waiting else ()
            # Whatever comes next takes their place; the last one bears what stops the answer.
            return [replace(part, is_passing=True) for part in _controlled(parts, Controls.STOP)]

        self._remark = remark
        async for item in progress:
            match item:
                case Waiting():
                    self._wait_with(item)
                case Drafted(written) if grows != 0:
                    draft = written
                    if not self.messages and not is_worth_a_message(written):
                        continue
                    self.show(lambda written=written: _controlled(renderer.sketch(written)[:grows], Controls.STOP))
                case Restarted() if grows != 0:
                    draft = None
                    self.show(tuple)
                case Answer():
                    answer = item
                    self._ending.set()  # so that no draft holds it up
                case _:
                    pass
        assert answer is not None  # noqa: S101 - the port promises it
        return answer

    def show(self, snapshot: Snapshot) -> None:
        """Set how the messages are drawn as they should be by now; most snapshots are never sent, so never drawn.

        One that draws no message means that what was shown is taken back. Raises `LeaseLost` if nothing may be shown.
        """
        if self._lost is not None:
            raise self._lost
        self._newest = snapshot
        self._changed.set()

    def _wait_with(self, waiting: Waiting) -> None:
        """Have readers told from now on what is waited for, where they see nothing new for long."""
        soonest = min(self.pace.soonest, waiting.after)
        self._seen_at = max(self._seen_at, asyncio.get_running_loop().time() + soonest - waiting.after)
        self._waiting = waiting
        self._changed.set()

    async def finish(self, parts: Sequence[Part]) -> tuple[Posted, ...]:
        """Bring the messages to their final state, and return them once the platform has confirmed it.

        Where they cannot be edited any more, the answer is posted anew and the old messages go. Raises
        `PostingFailed` if the platform takes it in no way.
        """
        self._ending.set()
        self._changed.set()
        await self._editor
        await self._settle(parts)
        if self.is_deleted:
            self.leaving, self.messages = [*self.leaving, *self.messages], []
        for message in self.leaving:
            with suppress(PostingFailed):
                await self._call(self.poster.delete(message.id))
        return tuple(self.messages)

    async def _edit(self) -> None:
        """Show snapshots until the end, or until showing them has failed too often."""
        failures, has_shown = 0, False
        while failures < self.pace.most_failures and not self.is_deleted:
            is_silent = await self._has_been_silent()
            interval = max(self._interval, self.pacer.seconds)
            seconds = max(self._last_call + interval, self._rest_until) - self.pace.clock()
            if seconds > 0 and not self._ending.is_set():  # which waits for no pace
                waits = {asyncio.ensure_future(self.pace.sleep(seconds)), asyncio.ensure_future(self._ending.wait())}
                try:
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for wait in waits:
                        wait.cancel()
            if self._ending.is_set():
                return
            parts = self._remark() if is_silent else self._newest() or ((BLANK,) if has_shown else ())
            if not parts:
                continue  # nothing has been written, and what stood there before stays as long
            has_shown = has_shown or not is_silent
            failure = await self._attempt(parts, is_final=False)
            failures = failures + 1 if failure else 0
            self._break_off(failure)
            if isinstance(failure, Rejected | LeaseLost):
                return
            if failure:
                self._changed.set()

    async def _has_been_silent(self) -> bool:
        """Wait for something new to show; return whether readers had nothing new for so long that they are told why."""
        try:
            async with asyncio.timeout_at(self._seen_at + self._waiting.after if self._waiting else None):
                await self._changed.wait()
        except TimeoutError:
            self._seen_at = asyncio.get_running_loop().time()
            return True
        self._changed.clear()
        return False

    def _break_off(self, failure: PostingFailed | None) -> None:
        """Have no more written, unless it is written already, where nobody can be shown it, ever or for long."""
        refusal = QuestionGone("the answer was deleted") if self.is_deleted else failure
        is_long = isinstance(refusal, ShutOut) and refusal.wait > self.pace.endurance
        if not is_long and not isinstance(refusal, Barred | QuestionGone):
            return
        if self._drawing is not None and not self._ending.is_set():
            self._refusal = refusal
            self._drawing.reschedule(asyncio.get_running_loop().time())

    async def _settle(self, parts: Sequence[Part]) -> None:
        """Try until the messages are as they should be, first with those that are there, then with new ones."""
        failures, is_anew = 0, False
        if self.is_contested:
            self.messages = [replace(shown, part=None) for shown in self.messages]
        while not self.is_deleted:
            failure = await self._attempt(parts, is_final=True)
            if failure is None:
                break
            if isinstance(failure, LeaseLost):
                raise failure
            failures += not isinstance(failure, RateLimited) or failure.wait <= 0
            if isinstance(failure, Rejected) or failures >= self.pace.tries or self.waited > self.pace.endurance:
                if is_anew or not self.messages or isinstance(failure, RateLimited):
                    raise failure  # there is nothing to leave, or the platform is busy
                is_anew, failures = True, 0
                self.leaving, self.messages = [*self.leaving, *self.messages], []
            elif isinstance(failure, Unreachable):
                self._rest_until = self.pace.clock() + self._interval * failures

    async def _attempt(self, parts: Sequence[Part], *, is_final: bool) -> PostingFailed | None:
        """Bring the messages to *parts* once the platform has had its rest; return the failure if that did not work."""
        if (seconds := self._rest_until - self.pace.clock()) > 0:
            await self.pace.sleep(seconds)
        try:
            await self._bring(parts, is_final=is_final)
        except Gone:
            self.is_deleted = True
        except RateLimited as failure:
            self.waited += failure.wait
            self._rest_until = self.pace.clock() + failure.wait
            self._interval = min(max(failure.wait, self._interval * 1.5), self.pace.longest)
            return failure
        except PostingFailed as failure:
            if isinstance(failure, LeaseLost):
                self._lost = failure
            return failure
        return None

    async def _bring(self, parts: Sequence[Part], *, is_final: bool) -> None:
        """Make calls until the messages are *parts*; a draft removes none, even if the end comes in the middle."""
        obsolete = None if is_final else self._ending
        # The last message says that more comes until all others stand: so an answer that is broken off can be told.
        if self._grows and len(parts) > 1 and not self.messages:
            self.messages.append(await self._post(replace(parts[0], controls=Controls.STOP), obsolete))
        while self.messages and self.messages[-1].part != Part("") and len(self.messages) < len(parts):
            self.messages.append(await self._post(parts[len(self.messages)], obsolete))
        # Before the end, none is removed that is left over: what is written anew needs it again.
        spare = 0 if is_final else len(self.messages) - len(parts)
        for at, part in enumerate([*parts, *[PLACE_HOLDER] * spare]):
            while at < max(len(self.messages), len(parts)) and not await self._shows(at, part, obsolete):
                pass
        if self.is_unsure and is_final and not await self.is_all():
            self.messages.append(await self._post(PLACE_HOLDER))  # it may be there, where nobody would remove it
        while is_final and len(self.messages) > len(parts):
            with suppress(Gone):
                await self._call(self.poster.delete(self.messages[-1].id))
            self.messages.pop()

    async def _shows(self, at: int, part: Part, obsolete: asyncio.Event | None) -> bool:
        """Let a message show a part; False if it turns out that it is not there any more, and no reader removed it."""
        if at == len(self.messages):
            self.messages.append(await self._post(part, obsolete))
        shown = self.messages[at]
        if shown.part == part:
            return True
        self.messages[at] = replace(shown, part=None)  # until it is confirmed, nobody knows what it shows
        try:
            await self._call(self.poster.edit(shown.id, part, obsolete))
        except Gone:
            if shown.id not in self._inherited or (self.was_deleted and await self.was_deleted(shown.id)):
                raise
            del self.messages[at]
            return False
        self._inherited.discard(shown.id)
        self.messages[at] = replace(shown, part=part)
        self._seen_at = asyncio.get_running_loop().time()
        return True

    async def _post(self, part: Part, obsolete: asyncio.Event | None = None) -> Posted:
        """Post the next message; a nonce whose message was deleted, or is another one of these, is not used again."""
        for _ in range(self.pace.tries):
            try:
                posted = await self._call(self.poster.post(part, self.nonces(self._posts), obsolete))
            except Gone:
                self._posts += 1
                continue
            except Unreachable:
                self.is_unsure = True
                raise
            self._posts += 1
            self.is_unsure = False
            self._seen_at = asyncio.get_running_loop().time()
            if all(posted.id != one.id for one in (*self.leaving, *self.messages)):
                return posted
        raise Rejected("whatever is posted is gone at once")

    async def _call(self, call: Awaitable[Result]) -> Result:
        """Make a call; one that took long was made to wait by its client, and the next ones come more slowly."""
        started = self.pace.clock()
        calling = self._calling = asyncio.ensure_future(call)
        await asyncio.wait([calling])  # which leaves it alone if this is cancelled
        self._last_call = self.pace.clock()
        took = self._last_call - started
        self._interval = min(max(self.pace.interval, took, self._interval * 0.8), self.pace.longest)
        return calling.result()


def is_worth_a_message(draft: PartialAnswer) -> bool:
    """Return whether enough is written for people to be notified of it, who read only its first words."""
    finished, begun = draft.read()
    if any(isinstance(block.leaf, CodeLine) for block in (*finished, *begun)):
        return True
    words = "".join(f"{visible(inlines(each))}\n" for each in finished)
    words += " ".join(visible(inlines(each)) for each in begun)
    is_whole = _END.search(words) or any(not found[1].islower() for found in _PERIOD.finditer(words))
    return len(words) >= FIRST_WORDS or bool(is_whole)


def _controlled(parts: Sequence[Part], last: Controls) -> Sequence[Part]:
    """Let the last message bear the controls, and no other one."""
    return [*parts[:-1], *(replace(part, controls=last) for part in parts[-1:])]
