"""The chat model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from adapters.openai.client import OpenAILimits, connect, place
from adapters.openai.failures import WebPage, diagnose, failures
from adapters.openai.reading import Reading, Watch, is_object
from adapters.retry import SERVICE, CircuitBreaker, LoadPacer, Retrying, RetryPolicy, Transient
from adapters.vendor_errors import quoted
from core.errors import Misconfigured, ModelUnavailable
from core.events import Observer, Retried, unobserved
from core.model import ChatMessage, ModelTurn, Prompt, Restarted, TextDelta, ToolSpec

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream

LIMITS = OpenAILimits()
DRAINING = 0.1  # seconds for what comes after the end
FIRST_WORDS = 40  # characters
SHORT = 1 / 30  # of the interval until the first words are there, since readers wait for them
MUCH = 15 * 1024  # bytes: the client gives 16 kB at a time, so behind such a piece the next one waits already
SIGNATURES_KEPT = 1_000  # calls; those of an answer are needed until it is written, seconds later
UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}
BOUNDS = ("max_tokens", "max_completion_tokens")  # the one that more services know, and that of newer models
GREETING = Prompt(({"role": "user", "content": "Say OK."},))


USUAL_TOKENS = 8_192  # that a model writes at once where nobody has said how many it may
_ON_LENGTH = re.compile(r"max_(?:completion_)?tokens", re.IGNORECASE)
_NO_ROOM = re.compile(r"context (?:length|window)|in the completion", re.IGNORECASE)


class OpenAIChat:
    """Streams turns; a broken attempt is taken back and made again, and never taken for an answer."""

    context_tokens: int | None = None
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
        self._model = model
        self._api_key = api_key
        self._base_url = base_url
        self._retries = replace(retries.observed(observer, partial(Retried, "chat model")), judge=self._judge)
        self._breaker = CircuitBreaker("chat model", observer, clock=retries.clock)
        self._limits = limits
        self.most_tokens = limits.tokens or USUAL_TOKENS
        self._pacer = LoadPacer(limits.interval, limits.longest_interval)
        self._dialect = EndpointDialect(model, limits.tokens)
        self._client: AsyncOpenAI | None = None

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[ToolSpec], may_call: bool = True
    ) -> AsyncGenerator[TextDelta | Restarted | ModelTurn, None]:
        """Yield text as it comes, then the turn; closing the generator closes the connection."""
        retrying = Retrying(self._retries)
        while True:
            shown = False
            self._pacer.count(1)
            try:
                with self._breaker.watched(self._judge) as works:
                    async with aclosing(self._attempt(prompt, tools, may_call=may_call)) as pieces:
                        async for piece in pieces:
                            works()
                            shown = True
                            yield piece
            except failures() as error:
                trouble = error
            else:
                return
            finally:
                self._pacer.count(-1)
            wait = retrying.wait_after(trouble)
            if wait is None:
                raise ModelUnavailable(diagnose(trouble, self._model).sentence) from quoted(trouble, self._api_key)
            if shown:
                yield Restarted()
            await self._retries.sleep(wait)

    async def check(self) -> str:
        """Ask for a word, which proves the address, the key, the model's name and the account at once."""
        try:
            async with aclosing(self._attempt(GREETING, ())) as pieces:
                async for _ in pieces:
                    pass
            return f"{self._model} at {place(self._base_url)}"
        except failures() as error:
            trouble = error
        failure = diagnose(trouble, self._model)
        kind = Misconfigured if failure.lasting else ModelUnavailable
        raise kind(failure.sentence) from quoted(trouble, self._api_key)

    async def aclose(self) -> None:
        """Close the connections that are kept for later."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _judge(self, error: Exception) -> Transient | None:
        return diagnose(error, self._model).passing

    async def _attempt(
        self, prompt: Prompt, tools: Sequence[ToolSpec], *, may_call: bool = True
    ) -> AsyncGenerator[TextDelta | ModelTurn, None]:
        """Ask once; raises whatever the client library raises, and `BrokenAnswer`.

        Once the answer has ended, nothing can break it any more.
        """
        reading = Reading(self._model, [tool.name for tool in tools])
        async with aclosing(await self._open(prompt, tools, may_call=may_call)) as stream:
            kind, pieces = stream.response.headers.get("content-type", ""), stream.response.aiter_bytes()
            if "html" in kind:
                raise WebPage("a web page in place of an answer")
            texts = (self._whole if kind.startswith("application/json") else self._streamed)(pieces, reading)
            try:
                async with aclosing(texts):
                    async for text in texts:
                        if text:
                            yield TextDelta(text)
                with contextlib.suppress(TimeoutError):  # the last bytes, so that the connection can be used again
                    async with asyncio.timeout(DRAINING):
                        async for _ in pieces:
                            pass
            except failures():
                if not reading.finished:
                    raise
        rest, turn = reading.finish()
        if rest:
            yield TextDelta(rest)
        self._dialect.remember(reading.extras)
        yield turn

    async def _whole(self, pieces: AsyncIterator[bytes], reading: Reading) -> AsyncGenerator[str, None]:
        """Yield the text of an answer that came in one piece although a stream was asked for."""
        watch, whole = Watch(self._limits), bytearray()
        async for piece in pieces:
            watch.saw(piece, is_news=True)
            whole += piece
        yield reading.take_whole(json.loads(whole))

    async def _streamed(self, pieces: AsyncIterator[bytes], reading: Reading) -> AsyncGenerator[str, None]:
        """Yield the text of all events that came together as one piece: whoever is behind catches up in one step."""
        watch, length = Watch(self._limits), 0
        async for piece in pieces:
            text, events, trouble = reading.read(piece)
            watch.saw(piece, is_news=events > 0)
            length += len(text)
            yield text
            if trouble is not None:
                raise trouble
            if reading.ended:
                return
            if len(piece) < MUCH and (seconds := self._pacer.seconds):  # what comes meanwhile is one piece
                await asyncio.sleep(seconds if length > FIRST_WORDS else seconds * SHORT)
            if events:
                watch.heard = time.monotonic()

    async def _open(self, prompt: Prompt, tools: Sequence[ToolSpec], *, may_call: bool) -> AsyncStream[object]:
        """Send the request, again without what the endpoint says it does not understand.

        The time limit is for the whole of a refusal, too, which the client reads before it raises it.
        """
        if self._client is None:
            await asyncio.to_thread(import_module, "openai")  # a second of work, which must not stop everything else
        if self._client is None:
            self._client = connect(self._api_key, self._base_url, self._limits)
        client = self._client
        limit = self._limits.connect + self._limits.read
        from openai import AsyncStream, BadRequestError, UnprocessableEntityError

        left_out: tuple[str, ...] = ()
        while True:
            written = self._dialect.body(prompt, tools, may_call=may_call)
            body = {name: said for name, said in written.items() if name not in left_out}
            try:
                async with asyncio.timeout(limit):
                    return await client.post(
                        "/chat/completions", body=body, cast_to=object, stream=True, stream_cls=AsyncStream[object]
                    )
            except (BadRequestError, UnprocessableEntityError) as error:
                refusal = error.response.text
                if _NO_ROOM.search(refusal) and any(bound in body for bound in BOUNDS):
                    left_out = BOUNDS  # behind a long conversation; the next one is short again
                elif not self._dialect.concede(body, refusal):
                    raise


class EndpointDialect:
    """Writes requests for one endpoint, and learns from its refusals what it understands."""

    def __init__(self, model: str, tokens: int | None = None) -> None:
        self._model = model
        self._tokens = tokens
        self._bounds = BOUNDS if tokens else ()
        self._asks_usage = True
        self._signs = False
        self._extras: OrderedDict[str, Any] = OrderedDict()

    def body(self, prompt: Prompt, tools: Sequence[ToolSpec], *, may_call: bool = True) -> dict[str, Any]:
        """Write a request for a streamed turn."""
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [self._message(message) for message in prompt.messages],
            "stream": True,
        }
        for bound in self._bounds[:1]:
            body[bound] = self._tokens
        if self._asks_usage:
            body["stream_options"] = {"include_usage": True}
        if tools:
            functions = (
                {"name": spec.name, "description": spec.description, "parameters": spec.parameters} for spec in tools
            )
            body["tools"] = [{"type": "function", "function": function} for function in functions]
            body["tool_choice"] = "auto" if may_call else "none"
        return body

    def concede(self, body: Mapping[str, Any], refusal: str) -> bool:
        """Leave out what the endpoint refused of *body*, from now on; return whether another body would be written now.

        It counts what was sent, not what is known: of several requests at once, each has to be sent again.
        """
        bound = next((bound for bound in BOUNDS if bound in body), None)
        if bound and _ON_LENGTH.search(refusal):  # it is not known, or more than the model can write
            self._bounds = tuple(other for other in self._bounds if other != bound)
            return True
        if "stream_options" in body and ("stream_options" in refusal or "include_usage" in refusal):
            self._asks_usage = False
            return True
        calls = [call for message in body["messages"] for call in message.get("tool_calls") or ()]
        if "thought_signature" in refusal and not all("extra_content" in call for call in calls):
            self._signs = True
            return True
        return False

    def remember(self, extras: Mapping[str, Any]) -> None:
        """Keep what the service wants back with its tool calls, such as the signature of a Gemini thought, by id."""
        self._extras.update(extras)
        while len(self._extras) > SIGNATURES_KEPT:
            self._extras.popitem(last=False)

    def _message(self, message: ChatMessage) -> ChatMessage:
        """Return a message with the signatures of its calls, and with no arguments where they are no JSON.

        Several services parse the arguments of earlier calls, and refuse the conversation if they cannot.
        """
        calls: list[dict[str, Any]] = []
        for written in message.get("tool_calls") or ():
            call: dict[str, Any] = written
            function = call["function"]
            if not is_object(function["arguments"]):
                call = {**call, "function": {**function, "arguments": "{}"}}
            extra = self._extras.get(call["id"], UNSIGNED if self._signs else None)
            calls.append({**call, "extra_content": extra} if extra else call)
        return {**message, "tool_calls": calls} if calls else message
