"""The chat model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from adapters.openai.asking import Asking
from adapters.openai.client import OpenAILimits
from adapters.openai.connection import Connection
from adapters.openai.dialect import BOUNDS, EndpointDialect
from adapters.openai.failures import BUSY_STATUSES, diagnose, failures
from adapters.openai.reading import Reading
from adapters.openai.refusals import LONGEST_PAUSE, NO_ROOM, PAUSES, compared, refusal_of
from adapters.retry import SERVICE, CircuitBreaker, Gate, Retrying, RetryPolicy, Transient
from adapters.vendors import quoted
from core.answering.context import size_of
from core.errors import ModelUnavailable, PromptTooLong, ShutOut
from core.events import Observer, Retried, ServiceSaid, unobserved
from core.model import ModelTurn, Prompt, Restarted, TextDelta, ToolSpec

LIMITS = OpenAILimits()
PROBING = 30.0  # seconds that a question waits for others that go first, once a pause is over
USUAL_TOKENS = 8_192  # that a model writes at once where nobody has said how many it may
LOADING = 2.0  # seconds after which a model that is still loading is asked again
GIVEN_UP = 0.5  # of its patience: a model that has said nothing by the time that somebody leaves has failed
SAYS_NOTHING = frozenset({401, 402, 403, 429})  # about the form of a request
AGAIN = Restarted()


class OpenAIChat:
    """Streams turns; a broken attempt is taken back and made again, and never taken for an answer."""

    only_quotes = False
    reads_history = True  # a language model words a follow-up as a full query by itself

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str | None = None,
        retries: RetryPolicy = SERVICE,
        limits: OpenAILimits = LIMITS,
        observer: Observer = unobserved,
    ) -> None:
        self.model = model
        self.base_url = base_url
        self.dialect = EndpointDialect(model, limits.tokens, limits.context, clock=retries.clock)
        self.connection = Connection(model, api_key, base_url, limits)
        self._api_key = api_key
        self._observer = observer
        self._retries = replace(retries.observed(observer, partial(Retried, "chat model")), judge=self._judge)
        self.limits = limits
        self._breaker = CircuitBreaker("chat model", observer, GIVEN_UP * limits.patience, clock=retries.clock)
        self._gate = Gate(clock=retries.clock)
        self._asked_until = 0.0  # which may be longer than the gate is shut

    @property
    def context_tokens(self) -> int | None:
        """The most tokens of a prompt and its answer: what is set, or what the service has said by now."""
        return self.dialect.context

    @property
    def most_tokens(self) -> int:
        """The most tokens that it writes in one turn."""
        return self.dialect.most_tokens or USUAL_TOKENS

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[ToolSpec], may_call: bool = True
    ) -> AsyncGenerator[TextDelta | Restarted | ModelTurn, None]:
        """Yield text as it comes, then the turn; closing the generator closes the connection."""
        asking = Asking(prompt, tools, may_call, begun=self._retries.clock())
        retrying, pacer = Retrying(self._retries), self.connection.pacer
        while True:
            shown = False
            pacer.count(1)
            try:
                await self._admitted()
                with self._breaker.watched(self._outage) as works:
                    async with aclosing(self.attempt(asking)) as pieces:
                        async for piece in pieces:
                            works()
                            shown = True
                            yield piece
            except failures() as error:
                trouble = error
            else:
                return
            finally:
                pacer.count(-1)
            asking.was_shown = asking.was_shown or shown
            wait = await self._wait_after(asking, retrying, trouble, shown=shown)
            if shown:
                yield AGAIN
            await self._retries.sleep(wait)

    async def _wait_after(self, asking: Asking, retrying: Retrying, trouble: Exception, *, shown: bool) -> float:
        """Return the seconds before the next attempt. Raises `ModelUnavailable` where there is to be none."""
        self._tell(asking, trouble)
        if not shown and self.learns(asking, trouble):
            return 0.0
        waited = self._retries.clock() - asking.begun
        if asking.was_loading and waited < self.limits.loading:
            return LOADING
        is_late = not asking.was_shown and waited >= self.limits.patience
        wait = None if is_late else retrying.wait_after(trouble)
        if wait is None:
            raise await self.unavailable(asking, trouble) from self.cause(trouble)
        return wait

    async def attempt(self, asking: Asking) -> AsyncGenerator[TextDelta | Restarted | ModelTurn, None]:
        """Ask once; raises whatever the client library raises, and `BrokenAnswer`."""
        dialect, names, is_shut = self.dialect, [tool.name for tool in asking.tools], self._gate.is_shut
        reading = asking.reading = Reading(self.model, names, asking.may_call, is_heard=dialect.heard > 0)
        is_plain = asking.slips > (1 if asking.may_call else 0)  # after which its tools are left out
        body = dialect.body(asking.prompt, asking.tools, may_call=asking.may_call, is_plain=is_plain)
        asking.body = {name: said for name, said in body.items() if name not in asking.left_out}
        try:
            async with aclosing(self.connection.texts(asking.body, reading)) as texts:
                async for text in texts:
                    if text:
                        yield TextDelta(text)
                    elif text is None:
                        yield Restarted(goes_on=True)
        except failures() as error:
            raise compared(error, asking.sent(self._api_key, *self.connection.endpoint.secrets)) from None
        rest, turn = reading.finish()
        if rest:
            yield TextDelta(rest)
        self._gate.open(is_certain=is_shut)
        yield dialect.remembering(turn, reading)

    async def aclose(self) -> None:
        """Close the connections that are kept for later."""
        await self.connection.aclose()

    def learns(self, asking: Asking, trouble: Exception) -> bool:
        """Return whether another request would be made now, without what the endpoint has just refused."""
        refusal = refusal_of(trouble)
        if refusal is None or refusal.status in SAYS_NOTHING or diagnose(trouble, self.model).is_slip:
            return False
        bounds = [bound for bound in BOUNDS if bound in asking.body]
        if not bounds or not NO_ROOM.search(refusal.words):
            return self.dialect.concede(asking.body, refusal)
        self.dialect.learn_context(refusal.limit)
        if self.most_tokens >= asking.body[bounds[0]]:
            asking.left_out = BOUNDS  # behind a long conversation; the next one is short again
        return True

    async def unavailable(self, asking: Asking, trouble: Exception) -> ModelUnavailable:
        """Return the error for whoever asked; it is about length only where nothing was shown before."""
        failure, refusal = diagnose(trouble, self.model), refusal_of(trouble)
        wait = failure.passing.wait if failure.passing else None
        error = ModelUnavailable(failure.sentence, wait=wait, is_final=failure.is_final)
        error.is_lasting = failure.lasting and failure.passing is None and not failure.is_long
        if refusal and failure.is_long:
            limit = refusal.limit or await self.connection.listed_context()
            self.dialect.learn_context(limit or self.dialect.guessed(size_of(asking.body["messages"])))
            error = error if asking.was_shown else PromptTooLong(failure.sentence, limit=limit)
        error.detail = refusal.told if refusal else ""
        return error

    def cause(self, trouble: Exception) -> Exception:
        """Return what was raised as the cause of an error, with none of what was sent."""
        refusal = refusal_of(trouble)
        return quoted(trouble, self._api_key, said=refusal.told if refusal else None)

    def _judge(self, error: Exception) -> Transient | None:
        """Return what may pass soon enough for whoever waits."""
        failure = diagnose(error, self.model)
        return failure.passing if failure.again else None

    def _outage(self, error: Exception) -> Transient | None:
        """Return what shows that the service does not work, which the model's own mistakes and its loading do not."""
        failure = diagnose(error, self.model)
        return None if failure.is_slip or failure.is_loading else failure.passing

    async def _admitted(self) -> None:
        """Wait for the end of a short pause that the service has asked for. Raises `ShutOut` for a longer one."""
        waited = 0.0
        while True:
            try:
                return self._gate.check()
            except ShutOut as shut:
                left = shut.wait
            waited += left
            if left > self._retries.longest or waited > PROBING:
                raise ShutOut(max(left, self._asked_until - self._retries.clock()))
            await self._retries.sleep(left)

    def _tell(self, asking: Asking, trouble: Exception) -> None:
        """Tell the operator what a service said, and begin the pause that it asks for, for all questions at once."""
        refusal, failure = refusal_of(trouble), diagnose(trouble, self.model)
        asking.slips += failure.is_slip
        is_known, asking.was_loading = asking.was_loading and failure.is_loading, failure.is_loading
        if refusal is None or is_known:
            return
        self._observer(ServiceSaid("chat model", refusal.told))
        if refusal.wait and refusal.status in BUSY_STATUSES and failure.passing:
            self._asked_until = self._retries.clock() + refusal.wait
            self._gate.shut(failure.passing.reason, min(refusal.wait, PAUSES.get(refusal.status, LONGEST_PAUSE)))
