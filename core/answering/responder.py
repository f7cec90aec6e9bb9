"""The use case: answer one question in one thread."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import datetime

from core.answering.agent import Agent, answer_id
from core.community.admission import Admission
from core.errors import StoreUnavailable
from core.events import Answered, ErrorType, MemoryFailed, Observer, Passed, State, StateChanged, Step, unobserved
from core.messages import FAILED
from core.model import Answer, Claim, Conversation, Delivery, Progress, Question, Reaction, Status, Turn
from core.ports import ConversationStore, Deliveries, Surface

_ERRORS: dict[Status, ErrorType] = {
    Status.UNAVAILABLE: "retrieval",
    Status.FAILED: "generation",
    Status.NO_CONTEXT: "no_context",
    Status.REFUSED: "validation",
}


class Responder:
    """Loads the conversation, lets the agent answer and the surface draw, and remembers the turn where it can."""

    def __init__(
        self,
        agent: Agent,
        conversations: ConversationStore | None,
        *,
        now: Callable[[], datetime],
        deliveries: Deliveries | None = None,
        admission: Admission | None = None,
        observer: Observer = unobserved,
    ) -> None:
        self._agent = agent
        self._conversations = conversations
        self._deliveries = deliveries
        self._admission = admission
        self._now = now
        self._observer = observer

    async def respond(self, claim: Claim, surface: Surface) -> Answer:
        """Answer the claimed question on *surface*; an answer without memory is better than none.

        A stop ends the answer where it is; any other reason to end early is for whoever called, to cancel this.
        """
        question = claim.question
        self._state(question, State.RECEIVED)
        self._state(question, State.VALIDATING)
        answer = await self._refuse(claim, surface) or await self._answer(claim, surface)
        if answer.is_failure or answer.lexical_only:
            await self._warn(claim, surface)
        self._observer(Answered.of(question.message, answer))
        error = _ERRORS.get(answer.status)
        self._observer(StateChanged(question.message, State.ERROR if error else State.COMPLETE, error))
        return answer

    async def apologize(self, claim: Claim, surface: Surface) -> None:
        """Tell that the question was given up, after it has failed too often."""
        question = claim.question
        answer = Answer(id=answer_id(question), text=FAILED, status=Status.FAILED)
        await surface.reply(claim, _only(answer))
        await self._warn(claim, surface)
        self._observer(Answered.of(question.message, answer))

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
        await self._unwarn(claim, surface)
        delivery = await surface.reply(claim, _only(answer))
        self._pass(claim.question, Step.SHOWN)
        await self._record(claim, delivery)

    async def _warn(self, claim: Claim, surface: Surface) -> None:
        """Mark the question, if it is still ours."""
        if await self._holds(claim):
            await surface.react(claim.message, Reaction.WARNING)

    async def _unwarn(self, claim: Claim, surface: Surface) -> None:
        """Take away the mark of an earlier try, which found no answer; what goes wrong in this one marks it anew."""
        if (claim.is_inherited or claim.delivery.messages) and await self._holds(claim):
            await surface.unreact(claim.message, Reaction.WARNING)

    async def _holds(self, claim: Claim) -> bool:
        return self._deliveries is None or await self._deliveries.holds(claim)

    async def _refuse(self, claim: Claim, surface: Surface) -> Answer | None:
        """Return why the question is not answered, unless this was said just now; None if it is to be answered."""
        refusal = await self._admission.refusal(claim) if self._admission else None
        if refusal is None:
            return None
        answer = Answer(id=answer_id(claim.question), text=refusal.sentence, status=Status.REFUSED)
        if refusal.is_told:
            await self._record(claim, await surface.reply(claim, _only(answer)))
        return answer

    async def _answer(self, claim: Claim, surface: Surface) -> Answer:
        await self._unwarn(claim, surface)
        conversation = await self._load(claim.question)
        return await self._draw(claim, conversation, surface)

    async def _draw(self, claim: Claim, conversation: Conversation | None, surface: Surface) -> Answer:
        """Let the surface show the run, and give the answer at its end; what breaks it is an event too.

        What nobody could read is not remembered, and a surface that can show nothing need not begin with the run.
        """
        outcome: list[Answer] = []
        try:
            async with aclosing(self._watched(claim, conversation, outcome)) as progress:
                delivery = await surface.reply(claim, progress)
        except Exception:
            self._observer(StateChanged(claim.question.message, State.ERROR, "generation"))
            raise
        self._pass(claim.question, Step.SHOWN)
        await self._record(claim, delivery)
        if not outcome:
            return Answer(id=answer_id(claim.question), text="", status=Status.REFUSED)
        if delivery.messages and _is_worth_remembering(outcome[0]):
            await self._append(claim.question, outcome[0])
        return outcome[0]

    async def _watched(
        self, claim: Claim, conversation: Conversation | None, outcome: list[Answer]
    ) -> AsyncGenerator[Progress, None]:
        """Pass the progress on, and keep the answer at its end."""
        run = self._agent.run(claim.question, conversation, cancelled=claim.cancelled)
        async with aclosing(run):
            async for item in run:
                if isinstance(item, Answer):
                    outcome.append(item)
                yield item

    async def _load(self, question: Question) -> Conversation | None:
        """Return what was said before; an answer that this one takes the place of was never said."""
        if self._conversations is None or not _has_memory(question):
            return None
        try:
            conversation = await self._conversations.load(question.thread)
            return conversation.without(question.message) if conversation else None
        except StoreUnavailable:
            self._observer(MemoryFailed(question.message, "load"))
            return None

    async def _record(self, claim: Claim, delivery: Delivery) -> None:
        """Note what was posted, for edits and deletions to come; without the note they find nothing to change."""
        if self._deliveries is None:
            return
        try:
            await self._deliveries.record(claim, delivery)
        except StoreUnavailable:
            self._observer(MemoryFailed(claim.message, "append"))
        else:
            self._pass(claim.question, Step.RECORDED)

    async def _append(self, question: Question, answer: Answer) -> None:
        if self._conversations is None or not _has_memory(question):
            return
        turn = Turn(
            question_ref=question.message,
            question=question.text,
            answer=answer.text,
            citations=answer.citations,
            tool_calls=answer.tool_calls,
            at=self._now(),
            author_id=question.author.id,
            asked_at=question.asked_at,
        )
        try:
            await self._conversations.append(question.thread, turn)
        except StoreUnavailable:
            self._observer(MemoryFailed(question.message, "append"))
        else:
            self._pass(question, Step.REMEMBERED)

    def _pass(self, question: Question, step: Step) -> None:
        self._observer(Passed(question.message, step))

    def _state(self, question: Question, state: State) -> None:
        self._observer(StateChanged(question.message, state))


def _is_worth_remembering(answer: Answer) -> bool:
    """Return whether a follow-up could refer to it: not to a failure, nor to what was stopped before it began."""
    if answer.is_failure or answer.status is Status.REFUSED:
        return False
    return answer.status is not Status.STOPPED or bool(answer.citations)


async def _only(answer: Answer) -> AsyncGenerator[Progress, None]:
    yield answer


def _has_memory(question: Question) -> bool:
    """Return whether the question belongs to a conversation: a selection or a private answer stands alone."""
    return question.selection is None and question.visibility == "thread"
