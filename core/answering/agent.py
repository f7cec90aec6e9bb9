"""The one tool-calling loop: the model searches and writes; the code decides what may be shown."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass
from hashlib import sha256

from core.answering.citations import Footnotes, Sources, selected_text
from core.answering.dialect import MARKDOWN
from core.answering.markup import MarkupReader
from core.answering.prompts import BYTES_PER_TOKEN, NOT_IN_SELECTION, REPAIR, history, learned, opening
from core.answering.tools import SearchTool, Tool, Toolbox, asked_for
from core.answering.verdict import AnswerDraft, Verdict, is_small_talk, judge, stopped
from core.errors import ModelUnavailable
from core.events import Observer, Service, ServiceFailed, State, StateChanged, TokensUsed, UrlsRemoved, unobserved
from core.messages import EXPIRED, FAILED
from core.model import (
    Answer,
    Awaited,
    Cancellation,
    ChatMessage,
    Conversation,
    Cost,
    Interruption,
    ModelTurn,
    Prices,
    Progress,
    Prompt,
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
BREAKS_OFF = "The chat model's service broke off its answers too often. Try again in a moment."
MOST_CALLS = 8  # of one turn; a model that asks for more has lost its way
MOST_RESTARTS = 2  # of turns that were broken off, in all: each is paid for, and so is set aside for
WIDEST = 3  # bytes of a character, in scripts of which a token is about one character
FRAME = 500  # bytes around an excerpt: where it stands, its score, and its share of what was looked for
TOOLS = 2_500  # bytes that describe the tools, and that ask for a repair


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one answer may go; one of so many characters is some seven messages on Discord.

    After so many seconds of *silence* whoever reads is told what is waited for. The *longest* is what a question takes
    in all, however often it is tried.
    """

    tool_rounds: int = 4
    excerpt_characters: int = 500
    answer_characters: int = 12_000
    history_tokens: int = 100_000
    silence: float = 15.0
    longest: float = 300.0


@dataclass
class Agent:
    """Answers questions; keeps nothing of them but a better estimate of tokens.

    The model has the *tools* beside the search; what one of them adds to the sources can be cited.
    """

    model: ChatModel
    retriever: Retriever
    _: KW_ONLY
    clock: Callable[[], float]
    observer: Observer = unobserved
    limits: Limits = Limits()
    prices: Prices | None = None
    tools: Callable[[Question, Sources], Sequence[Tool]] | None = None
    bytes_per_token: float = BYTES_PER_TOKEN

    async def run(
        self,
        question: Question,
        conversation: Conversation | None = None,
        *,
        cancelled: Cancellation | None = None,
        spent: Callable[[Usage], object] = unobserved,
        waiting: Waiting | None = None,
        scope: Scope | None = None,
    ) -> AsyncGenerator[Progress, None]:
        """Yield what happens while the question is answered; the last item is the `Answer`.

        The *scope* is what may be searched; without one, all that was picked. Closing the generator early ends the
        model's work at once. So does a stop, after which the answer is what was shown until then. What is being
        *waited* for is kept up to date, and *spent* hears what each turn has cost, also of one that is broken off.
        """
        waiting, cancelled = waiting or Waiting(), cancelled or Cancellation()
        run, sentence = Run(self, question, conversation, waiting, spent, scope), ""
        try:
            async with aclosing(until(run.attempts(), cancelled, STOP)) as attempts:
                async for item in attempts:
                    yield item
        except ModelUnavailable as error:
            self.observer(ServiceFailed("chat model", str(error)))
            sentence = FAILED
        if cancelled.reason is Interruption.EXPIRED and not run.is_finished:
            self.observer(ServiceFailed(SERVICES[waiting.on], LATE_SERVICE.format(self.limits.longest)))
            sentence = EXPIRED
        for prompt, usage in run.asked:
            self.bytes_per_token = learned(self.bytes_per_token, _size(prompt), usage.prompt_tokens)
        for item in run.conclude(sentence):
            yield item

    def most(self, question: Question, conversation: Conversation | None = None) -> Usage:
        """Return the most tokens that an answer may take: each turn reads all that those before it brought.

        The turns are one for each round of tools, one that comes without a search, one to answer, and one to repair
        that; the last may be broken off and made again. Bytes count as tokens by what a service has told.
        """
        if not (written := self.model.most_tokens):
            return Usage()
        turns = self.limits.tool_rounds + 3 if question.selection is None else 1
        found = MOST_CALLS * question.top_k * (WIDEST * self.limits.excerpt_characters + FRAME)
        first = _size(opening(question, self.fitting(question, conversation))) + TOOLS
        before = [*range(turns), *[turns - 1] * MOST_RESTARTS]  # how many each reads, of which one has not searched
        size = len(before) * first + sum(max(each - 1, 0) for each in before) * found
        prompts = size / self.bytes_per_token + sum(before) * written
        return Usage(prompt_tokens=math.ceil(prompts), completion_tokens=len(before) * written)

    def cost(self, usage: Usage) -> Cost:
        """Return what tokens count for in budgets, without the question itself."""
        money = self.prices.cost(usage) if self.prices else 0.0
        return Cost(tokens=usage.prompt_tokens + usage.completion_tokens, money=money)

    def fitting(self, question: Question, conversation: Conversation | None) -> tuple[ChatMessage, ...]:
        """Return as much of a conversation as fits in front of a question."""
        size = sum(len(str(message["content"]).encode(errors="replace")) for message in opening(question, ()).messages)
        return history(conversation, budget=self.limits.history_tokens * self.bytes_per_token - size)

    async def answer(self, question: Question, conversation: Conversation | None = None) -> Answer:
        """Return the answer alone: the same loop, drained."""
        *_, last = [item async for item in self.run(question, conversation)]
        assert isinstance(last, Answer)  # noqa: S101 - run() ends with it
        return last


class Run:
    """Answers one question.

    Rules that hold whatever the model does: nothing is shown before a search has found something relevant, unless the
    question is small talk; an answer without a search makes the run search once by itself; an answer without a valid
    mark gets one chance to name its passages.
    """

    def __init__(
        self,
        agent: Agent,
        question: Question,
        conversation: Conversation | None,
        waiting: Waiting,
        spent: Callable[[Usage], object] = unobserved,
        scope: Scope | None = None,
    ) -> None:
        self._agent = agent
        self._spent = spent
        self._question = question
        self._waiting = waiting
        selection = question.selection
        self._sources = sources = Sources() if selection is None else selected_text(selection)
        is_talk = is_small_talk(question.text) and not question.attachments
        self._is_free = selection is not None or is_talk  # whether no search is needed
        earlier = ""
        if conversation and not agent.model.reads_history:
            turns = conversation.turns
            earlier = next((turn.question for turn in reversed(turns) if not is_small_talk(turn.question)), "")
        limits = agent.limits
        limit = limits.excerpt_characters
        self._search = SearchTool(
            agent.retriever, question, sources, earlier=earlier, excerpt_limit=limit, scope=scope, waiting=waiting
        )
        tools = (Tool(self._search.search_documents), *(agent.tools(question, sources) if agent.tools else ()))
        self._toolbox = Toolbox(tools, question.message, agent.clock, agent.observer)
        self._prompt = opening(question, agent.fitting(question, conversation))
        self._rounds_left = limits.tool_rounds if selection is None else 0
        self._is_grounded = selection is not None  # whether there is something to answer from
        self._repaired = False
        self._restarts_left = MOST_RESTARTS
        self._usage = Usage()
        self._model_name = ""
        self._start = agent.clock()
        self._generation_ms = 0.0
        self._draft = AnswerDraft(MarkupReader(Footnotes(sources)), is_live=False)
        self._turn = ModelTurn("")
        self.is_finished = False
        self.asked: list[tuple[Prompt, Usage]] = []

    async def attempts(self) -> AsyncGenerator[Progress, None]:
        """Ask the model until it has written an answer that can be judged. Raises `ModelUnavailable`."""
        while True:
            async with aclosing(self._ask()) as asked:
                async for item in asked:
                    yield item
            calls = self._calls()
            has_passages = self._sources.citations and not self._toolbox.has_grounds
            is_excused = self._repaired or self._is_free or not has_passages
            if not calls and (is_excused or self._draft.markup.citations or self._draft.markup.is_blank):
                break
            written = self._draft.text
            if self._restart():
                yield Restarted()
            if not calls:
                self._repaired, self._rounds_left = True, 0
                more = {"role": "assistant", "content": written}, {"role": "user", "content": REPAIR}
                self._prompt = Prompt((*self._prompt.messages, *more))
                continue
            async for item in self._use_tools(calls):
                yield item
            if self._search.failed and not self._is_grounded:
                break
        self.is_finished = True

    async def _ask(self) -> AsyncGenerator[Progress, None]:
        """Let the model speak once, and show what may be shown."""
        agent, about = self._agent, self._question.message
        agent.observer(StateChanged(about, State.GENERATING))
        self._waiting.on = Awaited.MODEL
        self._restart()
        self._turn, begun = ModelTurn(""), agent.clock()
        tools = tuple(tool.spec for tool in self._toolbox.tools) if self._rounds_left else ()
        turns = list[ModelTurn]()
        is_read = True  # whether the model was given the prompt, as far as anybody knows
        try:
            async with aclosing(agent.model.stream(self._prompt, tools=tools)) as stream:
                async for item in stream:
                    for progress in self._taken(item, turns):
                        yield progress
                    if self._draft.is_cut and not turns:
                        break  # which ends the model's work at once
        except ModelUnavailable:
            is_read = bool(self._draft.text)
            raise
        finally:
            self._generation_ms += (agent.clock() - begun) * 1000
            self._end_turn(turns[0] if turns else None, is_read=is_read)

    def _taken(self, item: TextDelta | Restarted | ModelTurn, turns: list[ModelTurn]) -> Iterable[Progress]:
        """Take what the model says, and return what may be shown of it; at the end, keep the turn."""
        match item:
            case TextDelta(text):
                return self._draft.feed(text)
            case Restarted():
                self._count(self._estimated())
                was_shown, self._restarts_left = self._restart(), self._restarts_left - 1
                if self._restarts_left < 0:
                    raise ModelUnavailable(BREAKS_OFF)
                return (item,) if was_shown else ()
            case turn:
                turns.append(turn)
                self._draft.is_cut = turn.is_cut
                self.asked.append((self._prompt, turn.usage))
                return self._draft.feed("", is_last=not turn.is_cut)

    def _end_turn(self, turn: ModelTurn | None, *, is_read: bool) -> None:
        """Keep what the model has said, and count it, also where nobody else does; one that was cut has no turn."""
        self._turn = turn or ModelTurn(self._draft.text, is_cut=True)
        self._model_name = self._turn.model or self._model_name
        if is_read:
            is_counted = self._turn.usage.prompt_tokens + self._turn.usage.completion_tokens > 0
            self._count(self._turn.usage if is_counted else self._estimated())

    def _count(self, usage: Usage) -> None:
        """Count what was read and written once."""
        self._usage += usage
        self._spent(usage)
        self._agent.observer(TokensUsed(self._question.message, self._model_name, usage))

    def _estimated(self) -> Usage:
        """Return about what the model has read and written where no service tells, as for a turn that was broken off.

        It is nothing for a model that costs nothing.
        """
        if not self._agent.model.most_tokens:
            return Usage()
        said = self._draft.text + "".join(call.name + call.arguments for call in self._turn.tool_calls)
        sizes = _size(self._prompt), len(said.encode(errors="replace"))
        prompt, completion = (round(size / self._agent.bytes_per_token) for size in sizes)
        return Usage(prompt_tokens=prompt, completion_tokens=completion)

    def _restart(self) -> bool:
        """Begin the answer anew; return whether anything of it was shown."""
        was_shown = self._draft.is_shown
        unless = "" if self._question.selection is None else NOT_IN_SELECTION
        is_live = self._is_free or self._is_grounded
        markup, most = MarkupReader(Footnotes(self._sources)), self._agent.limits.answer_characters
        self._draft = AnswerDraft(markup, is_live=is_live, unless=unless, most=most)
        return was_shown

    def _calls(self) -> tuple[ToolCall, ...]:
        """Return the calls to run: the model's, or a search of our own where an answer came without any."""
        if self._rounds_left and self._turn.tool_calls:
            return self._turn.tool_calls[:MOST_CALLS]
        if self._search.searches or self._is_grounded or self._is_free:
            return ()
        arguments = json.dumps({"query": self._question.text}, ensure_ascii=False)
        return (ToolCall(id="search-1", name=SEARCH, arguments=arguments),)

    async def _use_tools(self, calls: tuple[ToolCall, ...]) -> AsyncIterator[Progress]:
        self._rounds_left = max(self._rounds_left - 1, 0)
        self._agent.observer(StateChanged(self._question.message, State.RETRIEVING))
        for call in calls:
            if call.name == SEARCH:
                yield Searching(asked_for(call))
        search = self._search
        was_troubled = search.failed or search.lexical_only
        results = await self._toolbox.call(calls)
        if (search.failed or search.lexical_only) and not was_troubled:
            yield SearchFailed()
        wishes = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
        text = self._turn.text if self._turn.tool_calls else ""  # none, not an empty one: some services refuse that
        own = {"role": "assistant", "content": text or None, "tool_calls": wishes}
        self._prompt = Prompt((*self._prompt.messages, own, *results))
        self._is_grounded = bool(self._sources.citations) or self._toolbox.has_grounds

    def conclude(self, failure: str = "") -> Iterator[Progress]:
        """Yield the end: what was shown is taken back where the answer is not it, then the `Answer`.

        Attempts that have not finished, and of which no sentence tells the *failure*, were stopped.
        """
        agent, question, has_grounds = self._agent, self._question, self._toolbox.has_grounds
        if self.is_finished:
            verdict = judge(question, self._draft, self._search, is_free=self._is_free, has_grounds=has_grounds)
        else:
            verdict = Verdict(Status.FAILED, failure) if failure else stopped(self._draft)
        if removed := self._draft.markup.notes.removed_urls:
            agent.observer(UrlsRemoved(question.message, removed))
        if verdict.status not in (Status.ANSWERED, Status.STOPPED) and self._draft.is_shown:
            yield Restarted()
        yield Answer(
            id=answer_id(question),
            text=verdict.text if verdict.blocks is None else MARKDOWN.write(verdict.blocks),
            blocks=verdict.blocks,
            citations=verdict.citations,
            status=verdict.status,
            has_relevant_context=bool(verdict.citations) or has_grounds,
            lexical_only=self._search.lexical_only,
            nearest=verdict.nearest,
            model=self._model_name,
            usage=self._usage,
            cost=agent.prices.cost(self._usage) if agent.prices else None,
            tool_calls=tuple(self._toolbox.records),
            retrieval_time_ms=round(self._search.retrieval_time_ms, 1),
            generation_time_ms=round(self._generation_ms, 1),
            total_time_ms=round((agent.clock() - self._start) * 1000, 1),
        )


def _size(prompt: Prompt) -> int:
    """Return the bytes of a prompt."""
    return len(json.dumps(prompt.messages, ensure_ascii=False).encode(errors="replace"))


def answer_id(question: Question) -> str:
    """Return the name of the answer to a revision of a question, which every attempt gives it anew."""
    return sha256(f"{question.message}#{question.revision}".encode()).hexdigest()[:16]
