"""The one tool-calling loop: the model searches and writes; the code decides what may be shown."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from hashlib import sha256

from core.answering.citations import Sources, selected_text
from core.answering.prompts import NOT_IN_SELECTION, REPAIR, TokenEstimate, history, opening
from core.answering.search import SearchTool
from core.answering.tools import Tool, Toolbox, asked_for
from core.answering.verdict import AnswerDraft, Verdict, is_small_talk, judge, stopped
from core.errors import ModelUnavailable
from core.events import Observer, ServiceFailed, State, StateChanged, TokensUsed, UrlsRemoved, unobserved
from core.messages import FAILED
from core.model import (
    Answer,
    Cancellation,
    Conversation,
    Interruption,
    ModelTurn,
    Prices,
    Progress,
    Prompt,
    Question,
    Restarted,
    SearchFailed,
    Searching,
    Status,
    TextDelta,
    ToolCall,
    Usage,
    until,
)
from core.ports import ChatModel, Retriever

STOP = frozenset({Interruption.STOPPED})
MOST_CALLS = 8  # of one turn; a model that asks for more has lost its way


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one answer may go."""

    tool_rounds: int = 4
    excerpt_characters: int = 500
    history_tokens: int = 100_000


@dataclass(frozen=True, slots=True)
class Equipment:
    """What a run works with."""

    model: ChatModel
    search: SearchTool
    toolbox: Toolbox
    clock: Callable[[], float]
    observer: Observer
    tool_rounds: int
    prices: Prices | None


class Agent:
    """Answers questions; keeps nothing of them but a better estimate of tokens."""

    def __init__(  # noqa: PLR0913 - each is a choice of its own
        self,
        model: ChatModel,
        retriever: Retriever,
        *,
        clock: Callable[[], float],
        observer: Observer = unobserved,
        limits: Limits | None = None,
        prices: Prices | None = None,
        tools: Callable[[Question, Sources], Sequence[Tool]] | None = None,
    ) -> None:
        """Return the model the *tools* beside the search; what one of them supplies to the sources can be cited."""
        self._model = model
        self._retriever = retriever
        self._clock = clock
        self._observer = observer
        self._limits = limits or Limits()
        self._prices = prices
        self._tools = tools
        self._estimate = TokenEstimate()

    async def run(
        self,
        question: Question,
        conversation: Conversation | None = None,
        *,
        cancelled: Cancellation | None = None,
    ) -> AsyncGenerator[Progress, None]:
        """Yield what happens while the question is answered; the last item is the `Answer`.

        Closing the generator early ends the model's work at once. So does a stop, after which the answer is what was
        shown until then.
        """
        run = self._prepare(question, conversation)
        failed = False
        try:
            async with aclosing(until(run.attempts(), cancelled or Cancellation(), STOP)) as attempts:
                async for item in attempts:
                    yield item
        except ModelUnavailable as error:
            self._observer(ServiceFailed("chat model", str(error)))
            failed = True
        for prompt, usage in run.asked:
            size = len(json.dumps(prompt.messages, ensure_ascii=False).encode(errors="replace"))
            self._estimate.learn(size, usage.prompt_tokens)
        for item in run.conclude(failed=failed):
            yield item

    async def answer(self, question: Question, conversation: Conversation | None = None) -> Answer:
        """Return the answer alone: the same loop, drained."""
        *_, last = [item async for item in self.run(question, conversation)]
        assert isinstance(last, Answer)  # noqa: S101 - run() ends with it
        return last

    def _prepare(self, question: Question, conversation: Conversation | None) -> Run:
        earlier = ""
        if conversation and not self._model.reads_history:
            turns = conversation.turns
            earlier = next((turn.question for turn in reversed(turns) if not is_small_talk(turn.question)), "")
        sources = Sources()
        limit = self._limits.excerpt_characters
        search = SearchTool(self._retriever, question, sources, earlier=earlier, excerpt_limit=limit)
        tools = (search.tool, *(self._tools(question, sources) if self._tools else ()))
        always = (message["content"] for message in opening(question, ()).messages)
        budget = self._limits.history_tokens - self._estimate.tokens(*always)
        equipment = Equipment(
            self._model,
            search,
            Toolbox(tools, question=question.message, clock=self._clock, observer=self._observer),
            self._clock,
            self._observer,
            self._limits.tool_rounds,
            self._prices,
        )
        return Run(
            question, opening(question, history(conversation, budget=budget, estimate=self._estimate)), equipment
        )


class Run:
    """Answers one question.

    Rules that hold whatever the model does: nothing is shown before a search has found something relevant, unless the
    question is small talk; an answer without a search makes the run search once by itself; an answer without a valid
    mark gets one chance to name its passages.
    """

    def __init__(self, question: Question, prompt: Prompt, equipment: Equipment) -> None:
        self._question = question
        self._prompt = prompt
        self._with = equipment
        self._search = equipment.search
        self._sources = equipment.search.sources
        self._small_talk = is_small_talk(question.text)
        self._rounds_left = 0 if question.selection is not None else equipment.tool_rounds
        self._repaired = False
        self._usage = Usage()
        self._model_name = ""
        self._start = equipment.clock()
        self._generation_ms = 0.0
        self._draft = self._new_draft()
        self._turn = ModelTurn("")
        self._is_finished = False
        self.asked: list[tuple[Prompt, Usage]] = []

    async def attempts(self) -> AsyncGenerator[Progress, None]:
        """Ask the model until it has written an answer that can be judged. Raises `ModelUnavailable`."""
        while True:
            async with aclosing(self._ask()) as asked:
                async for item in asked:
                    yield item
            calls = self._calls()
            markup = self._draft.markup
            has_passages = self._sources.citations and not self._with.toolbox.has_grounds
            is_excused = self._repaired or self._small_talk or not has_passages
            if not calls and (is_excused or markup.citations or markup.is_blank):
                break
            for item in self._draft.take_back():
                yield item
            if not calls:
                self._repaired, self._rounds_left = True, 0
                written = {"role": "assistant", "content": self._draft.before}
                self._prompt = Prompt((*self._prompt.messages, written, {"role": "user", "content": REPAIR}))
                continue
            async for item in self._use_tools(calls):
                yield item
            if self._search.failed and not self._is_grounded:
                break
        self._is_finished = True

    async def _ask(self) -> AsyncGenerator[Progress, None]:
        """Let the model speak once, and show what may be shown."""
        self._with.observer(StateChanged(self._question.message, State.GENERATING))
        self._draft = self._new_draft()
        begun = self._with.clock()
        tools = self._with.toolbox.specs if self._rounds_left else ()
        try:
            async with aclosing(self._with.model.stream(self._prompt, tools=tools)) as stream:
                async for item in stream:
                    match item:
                        case TextDelta(text):
                            shown = self._draft.feed(text)
                        case Restarted():
                            shown = self._draft.take_back()
                        case turn:
                            shown = self._draft.feed("", is_last=True)
                            self._turn = turn
                            self._usage += turn.usage
                            self._model_name = turn.model or self._model_name
                            self.asked.append((self._prompt, turn.usage))
                            self._with.observer(TokensUsed(self._question.message, turn.model, turn.usage))
                    for progress in shown:
                        yield progress
        finally:
            self._generation_ms += (self._with.clock() - begun) * 1000

    def _new_draft(self) -> AnswerDraft:
        if self._question.selection is not None:
            return AnswerDraft(selected_text(self._question.selection), live=True, unless=NOT_IN_SELECTION)
        return AnswerDraft(self._sources, live=self._is_grounded or self._small_talk)

    @property
    def _is_grounded(self) -> bool:
        """Whether there is something to answer from."""
        return bool(self._sources.citations) or self._with.toolbox.has_grounds

    def _calls(self) -> tuple[ToolCall, ...]:
        """Return the calls to run: the model's, or a search of our own where an answer came without any."""
        if self._rounds_left and self._turn.tool_calls:
            return self._turn.tool_calls[:MOST_CALLS]
        if self._search.searched or self._is_grounded or self._small_talk or self._question.selection is not None:
            return ()
        arguments = json.dumps({"query": self._question.text}, ensure_ascii=False)
        return (ToolCall(id="search-1", name=self._search.tool.spec.name, arguments=arguments),)

    async def _use_tools(self, calls: tuple[ToolCall, ...]) -> AsyncIterator[Progress]:
        self._rounds_left = max(self._rounds_left - 1, 0)
        self._with.observer(StateChanged(self._question.message, State.RETRIEVING))
        for call in calls:
            if call.name == self._search.tool.spec.name:
                yield Searching(asked_for(call))
        troubled = self._search.troubled
        results = await self._with.toolbox.call(calls)
        if self._search.troubled and not troubled:
            yield SearchFailed()
        wishes = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
        text = self._turn.text if self._turn.tool_calls else ""  # none, not an empty one: some services refuse that
        own = {"role": "assistant", "content": text or None, "tool_calls": wishes}
        self._prompt = Prompt((*self._prompt.messages, own, *results))

    def conclude(self, *, failed: bool) -> Iterator[Progress]:
        """Yield the end: what was shown is taken back where the answer is not it, then the `Answer`.

        Attempts that did not fail and have not finished were stopped.
        """
        has_grounds = self._with.toolbox.has_grounds
        if self._is_finished:
            small_talk = self._small_talk
            verdict = judge(self._question, self._draft, self._search, small_talk=small_talk, has_grounds=has_grounds)
        else:
            verdict = Verdict(Status.FAILED, FAILED) if failed else stopped(self._draft)
        if removed := self._draft.markup.notes.removed_urls:
            self._with.observer(UrlsRemoved(self._question.message, removed))
        if verdict.status not in (Status.ANSWERED, Status.STOPPED):
            yield from self._draft.take_back()
        yield Answer(
            id=answer_id(self._question),
            text=verdict.text,
            blocks=verdict.blocks,
            citations=verdict.citations,
            status=verdict.status,
            has_relevant_context=bool(verdict.citations) or has_grounds,
            lexical_only=self._search.lexical_only,
            nearest=verdict.nearest,
            model=self._model_name,
            usage=self._usage,
            cost=self._with.prices.cost(self._usage) if self._with.prices else None,
            tool_calls=tuple(self._with.toolbox.records),
            retrieval_time_ms=round(self._search.retrieval_time_ms, 1),
            generation_time_ms=round(self._generation_ms, 1),
            total_time_ms=round((self._with.clock() - self._start) * 1000, 1),
        )


def answer_id(question: Question) -> str:
    """Return the name of the answer to a revision of a question, which every attempt gives it anew."""
    return sha256(f"{question.message}#{question.revision}".encode()).hexdigest()[:16]
