"""The use case: answer one question in one thread."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime
from functools import partial
from operator import call
from typing import Any, TypeAlias

from core.answering.agent import Agent
from core.answering.attention import Attention
from core.answering.verdict import answer_id
from core.community.admission import ONE_QUESTION, Admission, Admitted, Refusal
from core.errors import RetrievalUnavailable, ShutOut, StoreUnavailable, Unavailable
from core.events import (
    Answered,
    BudgetAlerted,
    Charged,
    ErrorType,
    MemoryFailed,
    Observer,
    Passed,
    ServiceFailed,
    State,
    StateChanged,
    Step,
    unobserved,
)
from core.messages import FAILED, UNAVAILABLE, budget_alert
from core.model import (
    NOTHING_SPENT,
    Answer,
    BudgetAlert,
    Claim,
    Conversation,
    Cost,
    Delivery,
    Interruption,
    MessageRef,
    Progress,
    Question,
    Reaction,
    Reservation,
    Scope,
    Status,
    Telling,
    Turn,
    WorkspaceRef,
    expiring,
)
from core.ports import ConversationStore, Deliveries, Surface

_ERRORS: dict[Status, ErrorType] = {
    Status.UNAVAILABLE: "retrieval",
    Status.FAILED: "generation",
    Status.NO_CONTEXT: "no_context",
    Status.REFUSED: "validation",
}

Write: TypeAlias = Callable[[], Awaitable[Any]]
Insist: TypeAlias = Callable[[Write], Awaitable[Any]]


@dataclass
class Responder:
    """Loads the conversation, lets the agent answer and the surface draw, and remembers the turn where it can.

    To *insist* is to write again what could not be written, as long as a store may come back.
    """

    agent: Agent
    conversations: ConversationStore | None
    _: KW_ONLY
    now: Callable[[], datetime]
    deliveries: Deliveries | None = None
    admission: Admission | None = None
    attention: Attention | None = None
    insist: Insist = call
    observer: Observer = unobserved

    async def respond(self, claim: Claim, surface: Surface) -> Answer:
        """Answer the claimed question on *surface*; an answer without memory is better than none.

        A stop ends the answer where it is, and the end of its time has the asker told so; any other reason to end early
        is for whoever called, to cancel this.
        """
        message = claim.message
        self.observer(StateChanged(message, State.RECEIVED))
        self.observer(StateChanged(message, State.VALIDATING))
        conversation = await self._conversation(claim)
        admitted = await self._admitted(claim, conversation)
        if isinstance(admitted, Answer):
            answer = admitted
            if not claim.question.is_unasked:
                await self._show(claim, surface, _only(answer), [answer])
        elif isinstance(admitted, Refusal):
            answer = Answer(id=answer_id(claim.question), text=admitted.sentence, status=Status.REFUSED)
            if admitted.telling is Telling.WORDS:
                await self._refuse(claim, surface, admitted.sentence)
            elif admitted.telling is Telling.MARK:
                await self._mark(claim, surface, claim.delivery, Reaction.LIMIT)
            if admitted.alerts:
                await self._alert(admitted.charged or message.thread.home, surface, admitted.alerts)
        else:
            with expiring(claim.cancelled, self.agent.limits.longest - claim.spent):
                answer = await self._counted(claim, surface, conversation, admitted)
            if admitted is None and answer.status is Status.ANSWERED:
                await self._count(claim, surface)
        self.observer(Answered.of(message, answer))
        error = _ERRORS.get(answer.status)
        self.observer(StateChanged(message, State.ERROR if error else State.COMPLETE, error))
        return answer

    async def apologize(self, claim: Claim, surface: Surface) -> None:
        """Tell the asker that the question was given up, after it has failed too often; nobody, where nobody asked."""
        standing = None if claim.question.is_unasked else await surface.standing(claim)
        await self._count(claim, surface, is_answered=standing is not None)
        if standing:
            await surface.unreact(claim, Reaction.WARNING)  # of an apology that a late request has replaced
            await self._is_noted(claim, standing)
        elif not claim.question.is_unasked:
            answer = Answer(id=answer_id(claim.question), text=FAILED, status=Status.FAILED)
            await self._mark(claim, surface, await surface.reply(claim, _only(answer)), Reaction.WARNING)
            self.observer(Answered.of(claim.message, answer))

    async def repeat(self, claim: Claim, surface: Surface, turn: Turn) -> None:
        """Show an answer that is remembered again, where a process that died or slept may have left another state."""
        answer = Answer(
            id=answer_id(claim.question),
            text=turn.answer,
            citations=turn.citations,
            tool_calls=turn.tool_calls,
            status=Status.ANSWERED,
            has_relevant_context=True,
        )
        await self._show(claim, surface, _only(answer), [answer])
        await self._count(claim, surface)

    async def _count(self, claim: Claim, surface: Surface, *, is_answered: bool = True) -> None:
        """Count a question that a process answered which died; not where nobody can say now whose budget it was."""
        with suppress(Unavailable, ShutOut):
            counting = self.admission and partial(self.admission.count, claim, is_answered=is_answered)
            if counting and (counted := await self.insist(counting)):
                self.observer(Charged(claim.message, ONE_QUESTION, counted[0].charged))
                await self._alert(counted[0].home, surface, counted[1])

    async def _admitted(self, claim: Claim, conversation: Conversation | None) -> Admitted | Refusal | Answer | None:
        """Ask whether a question is answered and from what; None is from everything, as at a terminal.

        It is an answer at once that nothing can be searched where nobody can say what may be read. For one that is
        written already, that was said before, and nothing is searched any more.
        """
        if self.admission is None:
            return None
        most = self.agent.most(claim.question, conversation)
        if claim.question.is_doubtful and self.attention is not None:
            most += self.attention.most(claim.question, conversation)
        admitted: Admitted | Refusal | Answer | None = None
        try:
            admitted = await self.admission.admit(claim, most + ONE_QUESTION)
        except RetrievalUnavailable as error:
            self.observer(ServiceFailed("index", str(error)))
            if claim.delivery.answer is None:
                admitted = Answer(id=answer_id(claim.question), text=UNAVAILABLE, status=Status.UNAVAILABLE)
        if claim.is_redelivered and isinstance(admitted, Answer | Refusal):
            with suppress(Unavailable, ShutOut):  # a worker that died may have set something aside
                await self.insist(partial(self.admission.count, claim, is_answered=False))
        return admitted

    async def _show(
        self, claim: Claim, surface: Surface, progress: AsyncGenerator[Progress, None], outcome: Sequence[Answer]
    ) -> Delivery:
        """Draw an answer, and note what was posted, for edits and deletions to come; return that.

        It is nothing where another worker has the question by now: whatever that one does shall stand.
        The mark of an earlier try is taken away first, and an *outcome* that is none marks it anew. A whole answer
        stays as it is until there is another one: a store that went back in time may not know of it.
        """
        if claim.is_redelivered or claim.delivery.is_marked:
            await surface.unreact(claim, claim.delivery.mark)
        standing = await surface.standing(claim) if claim.is_redelivered else None
        if standing is not None:
            async with aclosing(progress):
                *_, last = [item async for item in progress]
            if isinstance(last, Answer) and last.is_failure:
                await self._count(claim, surface)
                return standing if await self._is_noted(claim, standing) else Delivery()
            progress = _only(last)  # and nothing is unknown beside a whole answer
            found = {"messages": standing.messages, "trying": None}
            claim = replace(claim, delivery=claim.delivery.model_copy(update=found))
        async with aclosing(progress):
            delivery = await surface.reply(claim, progress)
        self.observer(Passed(claim.message, Step.SHOWN))
        if outcome and (outcome[0].is_failure or outcome[0].lexical_only):
            return await self._mark(claim, surface, delivery, Reaction.WARNING)
        return delivery if await self._is_noted(claim, delivery) else Delivery()

    async def _refuse(self, claim: Claim, surface: Surface, sentence: str) -> None:
        """Tell the asker why there is no answer, and note what stands of one to earlier words."""
        if claim.delivery.is_marked:
            await surface.unreact(claim, claim.delivery.mark)
        delivery = await surface.refuse(claim, sentence)
        self.observer(Passed(claim.message, Step.SHOWN))
        await self._is_noted(claim, delivery)

    async def _mark(self, claim: Claim, surface: Surface, delivery: Delivery, mark: Reaction) -> Delivery:
        """Mark a question, unless nobody asked it; it is noted before, so that the *mark* can be taken away."""
        if claim.delivery.is_marked and claim.delivery.mark is not mark:
            await surface.unreact(claim, claim.delivery.mark)
        delivery = delivery.model_copy(update={"is_marked": not claim.question.is_unasked, "mark": mark})
        if not await self._is_noted(claim, delivery, insist=self.insist):
            return Delivery()
        if delivery.is_marked:
            await surface.react(claim, mark)
        return delivery

    async def _is_noted(self, claim: Claim, delivery: Delivery, insist: Insist = call) -> bool:
        """Note what was posted; return False where it is not ours to note."""
        if self.deliveries is None:
            return True
        noting = insist(partial(self.deliveries.record, claim, delivery))
        return await self._keep(claim.message, noting, Step.RECORDED)

    async def _conversation(self, claim: Claim) -> Conversation | None:
        """Return what is remembered, if it can be read.

        An answer that this one takes the place of was never said.
        """
        memory, question = self._memory(claim.question), claim.question
        try:
            conversation = await memory.load(question.message.thread) if memory else None
        except StoreUnavailable:
            self.observer(MemoryFailed(question.message, "load"))
            return None
        turns = [turn for turn in conversation.turns if turn.question_ref != question.message] if conversation else []
        return conversation and conversation.model_copy(update={"turns": tuple(turns)})

    def _memory(self, question: Question) -> ConversationStore | None:
        """Return what remembers a question; others than those of a thread stand alone."""
        return self.conversations if question.selection is None and question.visibility == "thread" else None

    async def _counted(
        self, claim: Claim, surface: Surface, conversation: Conversation | None, admitted: Admitted | None
    ) -> Answer:
        """Answer from what may be read now, and settle what that has cost, however it ends.

        It counts as a question once there is an answer, or there would have been one, had nobody changed or deleted
        the question meanwhile; what goes wrong on our side is none.
        """
        spent, reservation, scope = list[Cost](), None, None
        claim.written.clear()
        if admitted:
            reservation, scope = admitted.reservation, claim.question.scope.within(admitted.sources)
            conversation = conversation and conversation.within(admitted.sources)
        run = self._run(claim, conversation, scope, spent)
        try:
            answer = Answer(id=answer_id(claim.question), text="", status=Status.REFUSED)
            if await self._is_asked(claim, conversation, scope, spent):
                answer = await self._answer(claim, surface, conversation, run)
        except BaseException:
            is_replaced = claim.cancelled.reason in (Interruption.EDITED, Interruption.DELETED)
            counts = is_replaced and bool(spent)
            with suppress(StoreUnavailable):  # also where it was the store that ended it, and is back soon
                await self.insist(partial(self._settle, claim, reservation, spent, counts=counts, is_heard=False))
            raise
        counts = bool(claim.written) and not answer.is_failure
        with suppress(StoreUnavailable):  # then what was set aside ends by itself
            alerts = await self.insist(partial(self._settle, claim, reservation, spent, counts=counts))
            if alerts and reservation:
                await self._alert(reservation.home, surface, alerts)
        return answer

    async def _is_asked(
        self, claim: Claim, conversation: Conversation | None, scope: Scope | None, spent: list[Cost]
    ) -> bool:
        """Return whether the bot is asked; what is doubtful, and of which nothing stands, is left alone otherwise."""
        if not claim.question.is_doubtful or claim.delivery.standing or claim.delivery.answer is not None:
            return True
        given = claim.question, conversation, scope or claim.question.scope, spent.append, claim.waiting
        return self.attention is not None and await self.attention.is_asked(*given)

    async def _settle(
        self, claim: Claim, reservation: Reservation | None, spent: list[Cost], *, counts: bool, is_heard: bool = True
    ) -> Sequence[BudgetAlert]:
        """Count what an answer has cost, once; return what moderators should hear. Raises `StoreUnavailable`."""
        if self.admission is None or reservation is None:
            return ()
        cost = sum(spent, Cost(questions=int(counts)))
        alerts = await self.admission.settle(reservation, cost, is_heard=is_heard)
        if cost != NOTHING_SPENT:
            self.observer(Charged(claim.message, cost, reservation.charged))
        return alerts

    async def _alert(self, home: WorkspaceRef, surface: Surface, alerts: Sequence[BudgetAlert]) -> None:
        """Tell moderators that a budget of the community is nearly used up, or is."""
        for alert in alerts:
            self.observer(BudgetAlerted(str(home), str(alert.budget), alert.percent))
            await surface.alert(home, budget_alert(alert))

    async def _answer(
        self, claim: Claim, surface: Surface, past: Conversation | None, run: AsyncGenerator[Progress, None]
    ) -> Answer:
        """Let the surface show the run, and return the answer at its end; what breaks it is an event too.

        Where nobody asked, it is shown once it is whole, and only with sources. What nobody could read is not
        remembered.
        """
        question, memory, outcome = claim.question, self._memory(claim.question), claim.written
        try:
            if claim.question.is_unasked and not await _is_worth_showing(run):
                return outcome[0]
            begun = self.agent.clock()
            shown = _only(outcome[0]) if claim.question.is_unasked else run
            delivery = await self._show(claim, surface, shown, outcome)
            took = (self.agent.clock() - begun) * 1000
        except Exception as error:
            if not isinstance(error, StoreUnavailable | ShutOut):  # which is no failure of the model
                self.observer(StateChanged(claim.message, State.ERROR, "generation"))
            raise
        if not outcome:
            return Answer(id=answer_id(question), text="", status=Status.REFUSED)
        posting = max(took - (0 if claim.question.is_unasked else outcome[0].total_time_ms), 0)
        outcome[0] = outcome[0].model_copy(update={"posting_time_ms": round(posting, 1)})
        if memory and delivery.messages:
            await self._remember(memory, past, question, outcome[0], delivery.messages)
            names = [name for message in delivery.messages for name in message.names]
            if self.deliveries and await self.deliveries.has_gone(names):  # deleted while it was written
                await memory.remove(question.message)
        return outcome[0]

    async def _run(
        self, claim: Claim, conversation: Conversation | None, scope: Scope | None, spent: list[Cost]
    ) -> AsyncGenerator[Progress, None]:
        """Yield what happens while the question is answered, once a surface asks for it.

        Keep what is written, and what each turn and search has *spent*. What a worker had written that died is all.
        """
        if claim.delivery.answer is not None:
            claim.written.append(claim.delivery.answer)
            yield claim.delivery.answer
            return
        waiting = claim.waiting
        waiting.after = self.agent.limits.silence
        yield waiting
        claim.begun.set()
        running = self.agent.run(
            claim.question, conversation, cancelled=claim.cancelled, waiting=waiting, spent=spent.append, scope=scope
        )
        async with aclosing(running) as run:
            async for item in run:
                if isinstance(item, Answer):
                    claim.written.append(item)
                yield item

    async def _keep(self, message: MessageRef, writing: Awaitable[bool | None], step: Step) -> bool:
        """Wait until something is kept, which ends nothing if it could not be; False where it is not ours to keep."""
        try:
            if await writing is False:
                return False
            self.observer(Passed(message, step))
        except StoreUnavailable:
            self.observer(MemoryFailed(message, "append"))
        return True

    async def _remember(
        self,
        memory: ConversationStore,
        past: Conversation | None,
        question: Question,
        answer: Answer,
        messages: tuple[MessageRef, ...],
    ) -> None:
        """Keep a turn that a follow-up could refer to: no failure, nor what was stopped before it said anything."""
        was_cut = answer.status is Status.STOPPED and not answer.citations
        if answer.is_failure or answer.status is Status.REFUSED or was_cut:
            return
        turn = Turn.of(question, answer, messages, at=self.now(), past=past.turns if past else ())
        writing = self.insist(partial(memory.append, question.message.thread, turn))
        await self._keep(question.message, writing, Step.REMEMBERED)


async def _is_worth_showing(run: AsyncGenerator[Progress, None]) -> bool:
    """Let a run come to its end, and return whether that is an answer with sources."""
    async with aclosing(run):
        *_, last = [item async for item in run]
    return isinstance(last, Answer) and last.status is Status.ANSWERED and bool(last.citations)


async def _only(item: Progress) -> AsyncGenerator[Progress, None]:
    yield item
