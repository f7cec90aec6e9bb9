"""The one tool-calling loop: the model searches and writes; the code decides what may be shown."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from core.answering.citations import Sources
from core.errors import ModelUnavailable
from core.events import Observer, ServiceFailed, unobserved
from core.history import TokenEstimate, history
from core.interruption import until
from core.model import Answer, Cancellation, Conversation, Interruption, Prices, Progress, Question
from core.ports import ChatModel, Retriever
from core.prompts import opening
from core.run import Equipment, Run
from core.search_tool import SearchTool
from core.smalltalk import is_small_talk
from core.toolbox import Toolbox
from core.tools import Tool

STOP = frozenset({Interruption.STOPPED})


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one answer may go."""

    tool_rounds: int = 4
    excerpt_characters: int = 500
    history_tokens: int = 100_000


def _none(_question: Question, _sources: Sources) -> Sequence[Tool]:
    return ()


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
        tools: Callable[[Question, Sources], Sequence[Tool]] = _none,
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
        cancelled = cancelled or Cancellation()
        failed = False
        try:
            async with aclosing(until(run.attempts(), cancelled, STOP)) as attempts:
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
        earlier = "" if self._model.reads_history else _question_before(conversation)
        sources, limit = Sources(), self._limits.excerpt_characters
        search = SearchTool(self._retriever, question, sources, earlier=earlier, excerpt_limit=limit)
        tools = [search.tool, *self._tools(question, sources)]
        always = (message["content"] for message in opening(question, ()).messages)
        budget = self._limits.history_tokens - self._estimate.tokens(*always)
        past = history(conversation, budget=budget, estimate=self._estimate)
        equipment = Equipment(
            model=self._model,
            sources=sources,
            search=search,
            toolbox=Toolbox(tools, question=question.message, clock=self._clock, observer=self._observer),
            clock=self._clock,
            observer=self._observer,
            tool_rounds=self._limits.tool_rounds,
            prices=self._prices,
        )
        return Run(question, opening(question, past), equipment)


def _question_before(conversation: Conversation | None) -> str:
    """Return the newest question that was not small talk."""
    turns = conversation.turns if conversation else ()
    return next((turn.question for turn in reversed(turns) if not is_small_talk(turn.question)), "")
