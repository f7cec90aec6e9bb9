"""Two chat models as one: the second answers while the first does not work."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from adapters.retry import SKIPPED, Gate
from core.errors import ModelUnavailable, PromptTooLong, ShutOut
from core.events import FellBack, Observer, unobserved
from core.model import Handover, ModelTurn, Prices, Prompt, Restarted, TextDelta, ToolSpec
from core.ports import ChatModel

TOO_SMALL = "The first chat model cannot read as much as this question needs."


class FallbackChat:
    """Asks the *second* model where the *first* is away, has too much to do, or is gone.

    What another model would refuse too is the first one's to refuse, and so is a prompt that is too long, unless it
    cannot be cut to what the first one reads. The first is asked again with each turn, unless it has just broken off an
    answer: it keeps by itself from asking a service that failed again and again. Whoever counts is told when the second
    writes, and its *prices*.
    """

    def __init__(
        self,
        first: ChatModel,
        second: ChatModel,
        observer: Observer = unobserved,
        prices: Prices | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._first = first
        self._second = second
        self._observer = observer
        self._prices = prices
        self.is_away = False  # whether the second one wrote the last turn
        self._rest = Gate(policy=SKIPPED, clock=clock)  # after an answer that the first broke off

    only_quotes = False

    @property
    def reads_history(self) -> bool:
        """Whether both word a follow-up by themselves."""
        return self._first.reads_history and self._second.reads_history

    @property
    def most_tokens(self) -> int:
        """The most tokens that either of them writes."""
        return max(self._first.most_tokens, self._second.most_tokens)

    @property
    def context_tokens(self) -> int | None:
        """What the one reads that is likely to be asked next."""
        return (self._second if self.is_away else self._first).context_tokens

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[ToolSpec], may_call: bool = True
    ) -> AsyncGenerator[TextDelta | Restarted | Handover | ModelTurn, None]:
        """Yield what the first model says, or take it back and yield what the second says."""
        was_shown, given_up = False, self._unasked(prompt)
        try:
            if given_up is None:
                async with aclosing(self._first.stream(prompt, tools=tools, may_call=may_call)) as pieces:
                    async for piece in pieces:
                        self.is_away, was_shown = False, True
                        yield piece
                self._rest.open()
                return
        except ModelUnavailable as error:
            given_up = self._given_up(error, was_shown=was_shown)
        self.is_away = True
        self._observer(FellBack("chat model", str(given_up)))
        yield Handover(self._prices)
        try:
            async with aclosing(self._second.stream(prompt, tools=tools, may_call=may_call)) as pieces:
                async for piece in pieces:
                    yield piece
        except ModelUnavailable as error:
            error.wait = min(filter(None, (given_up.wait, error.wait)), default=None)  # until either may help
            error.is_lasting = given_up.is_lasting and error.is_lasting
            if was_shown and isinstance(error, PromptTooLong):  # which is said to those alone who have seen nothing
                raise ModelUnavailable(str(error), is_final=True) from error
            raise

    def _unasked(self, prompt: Prompt) -> ModelUnavailable | None:
        """Return why the first is not even asked, if it is not."""
        if prompt.is_for_another:
            return ModelUnavailable(TOO_SMALL)
        try:
            self._rest.check()
        except ShutOut as resting:
            return ModelUnavailable(resting.reason, wait=resting.wait)
        return None

    def _given_up(self, error: ModelUnavailable, *, was_shown: bool) -> ModelUnavailable:
        """Return why the first is given up. Raises it where the second is not asked, or not yet."""
        if isinstance(error, PromptTooLong):
            known, its = self._second.context_tokens, error.limit or self._first.context_tokens
            error.is_final = bool(known and its and known <= its)
        if error.is_final or isinstance(error, PromptTooLong):
            raise error
        if was_shown:
            self._rest.shut(str(error))
        return error
