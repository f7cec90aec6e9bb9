"""The one tool-calling loop: the model searches and writes; the code decides what may be shown."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass
from math import ceil

from core.answering.citations import Footnotes, Sources, selected_text
from core.answering.context import (
    BYTES_PER_TOKEN,
    MOST_RESTARTS,
    TOOLS,
    Limits,
    PromptWriter,
    TokenMeter,
    cost_of,
    earlier_questions,
    readable_bytes,
    size_of,
    stands_alone,
)
from core.answering.dialect import MARKDOWN
from core.answering.markup import MarkupReader
from core.answering.prompts import NOT_IN_DOCUMENTS, NOT_IN_SELECTION, REPAIR
from core.answering.review import Reviewer
from core.answering.smalltalk import is_small_talk
from core.answering.tools import SearchTool, Tool, Toolbox, asked_for
from core.answering.verdict import AnswerDraft, Verdict, about_itself, answer_id, has_places, judge, stopped
from core.errors import ModelUnavailable, PromptTooLong
from core.events import InventionsRemoved, Observer, Service, ServiceFailed, State, StateChanged, unobserved
from core.messages import EXPIRED, Practices, no_answer
from core.model import (
    Answer,
    Awaited,
    Cancellation,
    Conversation,
    Cost,
    Handover,
    Interruption,
    ModelTurn,
    Prices,
    Progress,
    Question,
    Restarted,
    Scope,
    SearchFailed,
    Searching,
    Status,
    TextDelta,
    ToolCall,
    Usage,
    Waiting,
    until,
)
from core.ports import ChatModel, Retriever

SEARCH = SearchTool.search_documents.__name__
STOP = frozenset({Interruption.STOPPED, Interruption.EXPIRED})
SERVICES: Mapping[Awaited, Service] = {
    Awaited.TURN: "inbox",
    Awaited.MODEL: "chat model",
    Awaited.SEARCH: "index",
    Awaited.EMBEDDER: "embedder",
    Awaited.RERANKER: "reranker",
}
LATE_SERVICE = "A question took longer than {:g} seconds in all, and was waiting for this at the end."
MOST_CALLS = 8  # of one turn; a model that asks for more has lost its way
MOST_REFUSALS = 3  # of prompts that are too long


@dataclass
class Agent:
    """Answers questions; keeps nothing of them but a better estimate of tokens.

    The model has the *tools* beside the search; what one of them adds to the sources can be cited. The *prices* are
    those of the first model, and the *dearest* what is set aside where another may write. A *reviewer* judges answers
    of which else words and numbers decide. Searches are counted where a service *bills searches*.
    """

    model: ChatModel
    retriever: Retriever
    _: KW_ONLY
    clock: Callable[[], float]
    observer: Observer = unobserved
    limits: Limits = Limits()
    prices: Prices | None = None
    dearest: Prices | None = None
    bills_searches: bool = False
    reviewer: Reviewer | None = None
    practices: Practices = Practices()
    tools: Callable[[Question, Sources], Sequence[Tool]] | None = None
    bytes_per_token: float = BYTES_PER_TOKEN

    async def run(
        self,
        question: Question,
        conversation: Conversation | None = None,
        *,
        cancelled: Cancellation | None = None,
        spent: Callable[[Cost], object] = unobserved,
        waiting: Waiting | None = None,
        scope: Scope | None = None,
    ) -> AsyncGenerator[Progress, None]:
        """Yield what happens while the question is answered; the last item is the `Answer`.

        The *scope* is what may be searched; without one, all that was picked. Closing the generator early ends the
        model's work at once. So does a stop, after which the answer is what was shown until then. What is being
        *waited* for is kept up to date, and *spent* hears what each turn and search has cost, also if broken off.
        """
        waiting, cancelled = waiting or Waiting(), cancelled or Cancellation()
        run, sentence = Run(self, question, conversation, waiting, spent, scope), ""
        try:
            async with aclosing(until(run.attempts(), cancelled, STOP)) as attempts:
                async for item in attempts:
                    yield item
        except ModelUnavailable as error:
            self.observer(ServiceFailed("chat model", str(error)))
            sentence = no_answer(error)
        if cancelled.reason is Interruption.EXPIRED and not run.is_finished:
            self.observer(ServiceFailed(SERVICES[waiting.on], LATE_SERVICE.format(self.limits.longest)))
            sentence = EXPIRED
        self.bytes_per_token = run.meter.learned(self.bytes_per_token)
        for item in run.conclude(sentence):
            yield item

    def most(self, question: Question, conversation: Conversation | None = None) -> Cost:
        """Return the most that an answer may cost: each turn reads all that those before it brought.

        The turns are one for each round of searches but the first, one to answer, and one to repair that; the last may
        be broken off and made again. Bytes count as tokens by what a service has told.
        """
        rounds, has_search, written = self.limits.tool_rounds - 1, question.selection is None, self.model.most_tokens
        dearest, searches = self.dearest or self.prices, 1 + rounds * MOST_CALLS if has_search else 0
        if not written:
            return cost_of(Usage(), dearest, searches)
        turns = rounds + 2 if has_search else 1
        found = question.top_k * self.limits.excerpt_bytes
        first = size_of(self.writer(question, conversation).write().messages) + TOOLS + found
        before = [*range(turns), *[turns - 1] * (MOST_RESTARTS + self.limits.handovers)]  # of which one did not search
        size = len(before) * first + sum(min(each, rounds) for each in before) * MOST_CALLS * found
        prompts, context = size / self.bytes_per_token + sum(before) * written, self.model.context_tokens
        prompts = min(prompts, len(before) * context) if context else prompts
        usage = Usage(prompt_tokens=ceil(prompts), completion_tokens=len(before) * written)
        return cost_of(usage, dearest, searches) + (self.reviewer.most() if self.reviewer else Cost())

    def writer(self, question: Question, conversation: Conversation | None) -> PromptWriter:
        """Return what writes the prompts of a question, with as much of the conversation as the model can read."""
        said, model = self.limits.history_tokens * self.bytes_per_token, self.model
        return PromptWriter(
            question, conversation, readable_bytes(model.context_tokens, model.most_tokens, self.bytes_per_token), said
        )

    async def answer(self, question: Question, conversation: Conversation | None = None) -> Answer:
        """Return the answer alone: the same loop, drained."""
        *_, last = [item async for item in self.run(question, conversation)]
        assert isinstance(last, Answer)  # noqa: S101 - run() ends with it
        return last


class Run:
    """Answers one question.

    Rules that hold whatever the model does: a question is searched before the model is asked, unless it is small talk;
    nothing is shown before a search has found something relevant; an answer without a valid mark gets one chance to
    name its passages.
    """

    def __init__(
        self,
        agent: Agent,
        question: Question,
        conversation: Conversation | None,
        waiting: Waiting,
        spent: Callable[[Cost], object] = unobserved,
        scope: Scope | None = None,
    ) -> None:
        self._agent, self._question, self._waiting = agent, question, waiting
        selection, limits, only_quotes = question.selection, agent.limits, agent.model.only_quotes
        self._sources = Sources(are_checked=not only_quotes) if selection is None else selected_text(selection)
        self._earlier = earlier_questions(conversation)
        is_talk = not question.attachments and is_small_talk(question.text, is_first=not self._earlier)
        self._is_free = selection is not None or is_talk
        most, costs = None if only_quotes else limits.excerpt_characters, agent.model.most_tokens > 0
        self.meter = TokenMeter(question.message, agent.observer, spent, agent.bytes_per_token, costs, agent.prices)
        given = (agent.retriever, question, self._sources)
        self._search = SearchTool(*given, excerpt_limit=most, scope=scope, waiting=waiting)
        if agent.bills_searches:
            self._search.searched = self.meter.count_search
        tools = (Tool(self._search.search_documents), *(agent.tools(question, self._sources) if agent.tools else ()))
        self._toolbox = Toolbox(tools, question.message, agent.clock, agent.observer)
        self._specs = tuple(tool.spec for tool in tools) if selection is None else ()
        self._writer = agent.writer(question, conversation)
        self._rounds_left = limits.tool_rounds if selection is None else 0
        self._is_grounded = selection is not None  # whether there is something to answer from
        self._start, self._first_token_ms, self._generation_ms = agent.clock(), 0.0, 0.0
        self._draft = AnswerDraft(MarkupReader(Footnotes(self._sources)), is_live=False)
        self._turn = ModelTurn("")
        self._told: Verdict | None = None
        self._repaired = self.is_finished = False

    async def attempts(self) -> AsyncGenerator[Progress, None]:
        """Search, and ask the model until it has written an answer that can be judged. Raises `ModelUnavailable`.

        In between run its tools, or have it name its passages.
        """
        self._told = await about_itself(self._question, self._search, self._agent.practices)
        calls = () if self._is_free or self._told else self._first_search()
        while not self._told:
            for query in (asked_for(call) for call in calls if call.name == SEARCH):
                yield Searching(query)
            if calls and await self._use_tools(calls):
                yield SearchFailed()
            if self._is_hopeless:
                break
            async with aclosing(self._ask_fitting()) as asked:
                async for item in asked:
                    yield item
            calls = self._turn.tool_calls[:MOST_CALLS] if self._rounds_left else ()
            if self._can_be_judged(calls):
                break
            if self._begin_anew(calls):
                yield Restarted()
        self.is_finished = True
        await self._review()

    async def _review(self) -> None:
        """Have an answer from passages reviewed, if anybody does that; readers see it meanwhile."""
        is_none = self._told or self._is_free or self._toolbox.has_grounds or self._draft.is_refusal
        if self._agent.reviewer and not is_none:
            await self._agent.reviewer.review(self._question, self._draft, self.meter)

    def _begin_anew(self, calls: Sequence[ToolCall]) -> bool:
        """Have the model name its passages, if it made no *calls*; return whether anything of its answer was shown."""
        if not calls:
            self._repaired, self._rounds_left = True, 0
            self._writer.add({"role": "assistant", "content": self._draft.text}, {"role": "user", "content": REPAIR})
        return self._restart()

    @property
    def _is_hopeless(self) -> bool:
        """Whether there is nothing that the model could answer from: the index is down, or empty."""
        is_shut = self._search.failed or not self._search.has_documents
        may_know = len(self._toolbox.tools) > 1 and not self._writer.has_more  # another tool, which was not called yet
        return is_shut and not self._is_grounded and not may_know

    def _can_be_judged(self, calls: Sequence[ToolCall]) -> bool:
        """Return whether the model has written its last word: over passages it names some, or says that none helps."""
        if calls:
            return False
        has_passages = self._sources.citations and not self._toolbox.has_grounds
        is_excused, draft = self._repaired or self._is_free or not has_passages, self._draft
        if is_excused or draft.says_no or draft.markup.citations or draft.markup.notes.removed_deeds:
            return True
        # One that says nothing is no better the next time; one of which nothing can be shown may be.
        return not draft.text.strip() if draft.markup.is_blank else has_places(draft.blocks, self._sources)

    def _first_search(self) -> tuple[ToolCall, ...]:
        """Return the search for the question itself, with what was asked before it where it does not stand alone."""
        text = self._question.text
        self._search.earlier = "" if stands_alone(text) else self._earlier
        self._search.knows_earlier = self._agent.model.reads_history
        return (ToolCall(id="", name=SEARCH, arguments=json.dumps({"query": text}, ensure_ascii=False)),)

    async def _ask_fitting(self) -> AsyncGenerator[Progress, None]:
        """Let the model speak once, with less to read or another model where it was too much; may raise the same."""
        for refusals in range(2 * MOST_REFUSALS + 2):
            try:
                async with aclosing(self._ask()) as asked:
                    async for item in asked:
                        yield item
            except PromptTooLong as refused:
                most = readable_bytes(refused.limit, self._agent.model.most_tokens, self._agent.bytes_per_token)
                is_smaller = refusals % (MOST_REFUSALS + 1) < MOST_REFUSALS and self._writer.tighten(most)
                if not is_smaller and (refused.is_final or not self._writer.hand_over()):
                    raise
            else:
                return

    async def _ask(self) -> AsyncGenerator[Progress, None]:
        """Let the model speak once, and show what may be shown."""
        agent, about = self._agent, self._question.message
        agent.observer(StateChanged(about, State.GENERATING))
        self._waiting.on = Awaited.MODEL
        prompt, evidence = self._writer.write(), self._sources.evidence
        said = *(str(each.get("content") or "") for each in prompt.messages[1:-1]), self._question.text
        evidence.said = evidence.said or "\n".join(said)
        if not self._writer.has_more:
            self._search.keep(self._writer.found or ())
        self._restart()
        self._turn, begun, turns = ModelTurn(""), agent.clock(), list[ModelTurn]()
        self.meter.prices = agent.prices
        is_read, has_begun = True, False  # whether the model was given the prompt, as far as anybody knows, and speaks
        try:
            async with aclosing(
                agent.model.stream(prompt, tools=self._specs, may_call=self._rounds_left > 0)
            ) as stream:
                async for item in stream:
                    if not has_begun and not isinstance(item, Handover):
                        has_begun, self._first_token_ms = True, self._first_token_ms + (agent.clock() - begun) * 1000
                    for progress in self._taken(item, turns):
                        yield progress
                    if self._draft.is_over and not turns:
                        break  # which ends the model's work at once
        except ModelUnavailable:
            is_read = bool(self._draft.text)
            raise
        finally:
            self._generation_ms += (agent.clock() - begun) * 1000
            self._end_turn(turns[0] if turns else None, is_read=is_read)

    def _taken(self, item: TextDelta | Restarted | Handover | ModelTurn, turns: list[ModelTurn]) -> Iterable[Progress]:
        """Take what the model says, and return what may be shown of it; at the end, keep the turn."""
        match item:
            case TextDelta(text):
                return self._draft.feed(text)
            case Restarted() | Handover():
                text, was_shown = self._draft.text, self._restart()
                self.meter.change(item, self._writer.newest, text)
                return (Restarted(),) if was_shown else ()
            case turn:
                turns.append(turn)
                self._draft.is_cut = turn.is_cut
                self.meter.reports.append((self._writer.size, turn.usage.prompt_tokens))
                return self._draft.feed("", is_last=not turn.is_cut)

    def _end_turn(self, turn: ModelTurn | None, *, is_read: bool) -> None:
        """Keep what the model has said, and count it, also where nobody else does; one that was cut has no turn."""
        self._turn = turn or ModelTurn(self._draft.text, is_cut=True)
        if is_read:
            self.meter.count(self._writer.newest, self._turn)

    def _restart(self) -> bool:
        """Begin the answer anew; return whether anything of it was shown."""
        was_shown = self._draft.is_shown
        unless = NOT_IN_DOCUMENTS if self._question.selection is None else NOT_IN_SELECTION
        is_live = self._is_free or self._is_grounded
        markup, most = MarkupReader(Footnotes(self._sources)), self._agent.limits.answer_characters
        self._draft = AnswerDraft(markup, is_live=is_live, unless=unless, most=most)
        return was_shown

    async def _use_tools(self, calls: tuple[ToolCall, ...]) -> bool:
        """Run calls, and have the model read their results; return whether the search has just failed.

        What the first search found, which is ours, stands with the question.
        """
        self._rounds_left = max(self._rounds_left - 1, 0)
        self._agent.observer(StateChanged(self._question.message, State.RETRIEVING))
        search, is_ours = self._search, not self._writer.newest.messages
        was_troubled = search.failed or search.lexical_only
        results = await self._toolbox.call(calls)
        self._is_grounded = bool(self._sources.citations) or self._toolbox.has_grounds
        self._sources.may_tell_deeds = any(each.success and each.name != SEARCH for each in self._toolbox.records)
        if is_ours:
            self._writer.found = search.results
            search.earlier = "" if search.knows_earlier else search.earlier  # who knows it words their own queries
        else:
            self._writer.add(self._turn.message(calls), *results)
        return (search.failed or search.lexical_only) and not was_troubled

    def conclude(self, failure: str = "") -> Iterator[Progress]:
        """Yield the end: what was shown is taken back where the answer is not it, then the `Answer`.

        Attempts that have not finished, and of which no sentence tells the *failure*, were stopped.
        """
        agent, question, draft, grounds = self._agent, self._question, self._draft, self._toolbox.has_grounds
        if self.is_finished:
            verdict = self._told or judge(question, draft, self._search, is_free=self._is_free, has_grounds=grounds)
        else:
            verdict = Verdict(Status.FAILED, failure) if failure else stopped(draft)
        notes = draft.markup.notes
        if notes.removed_urls or notes.removed_marks:
            agent.observer(InventionsRemoved(question.message, notes.removed_urls, notes.removed_marks))
        if verdict.status not in (Status.ANSWERED, Status.STOPPED) and draft.is_shown:
            yield Restarted()
        yield Answer(
            id=answer_id(question),
            text=verdict.text if verdict.blocks is None else MARKDOWN.write(verdict.blocks),
            blocks=verdict.blocks,
            sentences=verdict.sentences,
            citations=verdict.citations,
            status=verdict.status,
            has_relevant_context=bool(verdict.citations) or grounds,
            lexical_only=self._search.lexical_only,
            nearest=verdict.nearest,
            model=self.meter.model,
            usage=self.meter.usage,
            cost=self.meter.money if agent.prices else None,
            tool_calls=tuple(self._toolbox.records),
            retrieval_time_ms=round(self._search.retrieval_time_ms, 1),
            first_token_time_ms=round(self._first_token_ms, 1),
            generation_time_ms=round(self._generation_ms, 1),
            total_time_ms=round((agent.clock() - self._start) * 1000, 1),
        )
