"""The chat model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from pydantic_core import from_json

from adapters.openai.client import EndpointDialect, OpenAITimeouts, Watch, connect, place
from adapters.openai.failures import WebPage, diagnose, failures
from adapters.openai.reading import Events, Reading
from adapters.retry import SERVICE, LoadPacer, RetryPolicy, Transient
from adapters.vendor_errors import quoted
from core.errors import Misconfigured, ModelUnavailable
from core.events import Observer, Retried, unobserved
from core.model import ModelTurn, Prompt, Restarted, TextDelta, ToolSpec

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream

TIMEOUTS = OpenAITimeouts()
DRAINING = 0.1  # seconds for what comes after the end
FIRST_WORDS = 40  # characters
SHORT = 1 / 30  # of a breath until the first words are there, since readers wait for them
MUCH = 15 * 1024  # bytes: the client gives 16 kB at a time, so behind such a piece the next one waits already
GREETING = Prompt(({"role": "user", "content": "Say OK."},))


class OpenAIChat:
    """Streams turns; a broken attempt is taken back and made again, and never taken for an answer."""

    reads_history = True  # a language model words a follow-up as a full query by itself

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str | None = None,
        retries: RetryPolicy = SERVICE,
        timeouts: OpenAITimeouts = TIMEOUTS,
        observer: Observer = unobserved,
    ) -> None:
        self._model = model
        self._api_key = api_key
        self._base_url = base_url
        self._retries = replace(retries.observed(observer, partial(Retried, "chat model")), judge=self._judge)
        self._timeouts = timeouts
        self._pacer = LoadPacer(timeouts.breath, timeouts.longest_breath)
        self._dialect = EndpointDialect(model)
        self._client: AsyncOpenAI | None = None

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[TextDelta | Restarted | ModelTurn, None]:
        """Yield text as it comes, then the turn; closing the generator closes the connection."""
        retrying = self._retries.begin()
        while True:
            shown = False
            trouble: Exception | None = None
            try:
                with self._pacer.counted():
                    async with aclosing(self._attempt(prompt, tools)) as pieces:
                        async for piece in pieces:
                            shown = True
                            yield piece
            except failures() as error:
                trouble = error
            if trouble is None:
                return
            wait = retrying.wait_after(trouble)
            if wait is None:
                raise ModelUnavailable(diagnose(trouble, self._model).sentence) from quoted(trouble, self._api_key)
            if shown:
                yield Restarted()
            await self._retries.sleep(wait)

    async def check(self) -> str:
        """Ask for a word, which proves the address, the key, the model's name and the account at once."""
        trouble: Exception | None = None
        try:
            async with aclosing(self._attempt(GREETING, ())) as pieces:
                async for _ in pieces:
                    pass
        except failures() as error:
            trouble = error
        if trouble is None:
            return f"{self._model} at {place(self._base_url)}"
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

    async def _attempt(self, prompt: Prompt, tools: Sequence[ToolSpec]) -> AsyncGenerator[TextDelta | ModelTurn, None]:
        """Ask once; raises whatever the client library raises, and `BrokenAnswer`."""
        reading = Reading(self._model, [tool.name for tool in tools])
        async with (
            aclosing(await self._open(prompt, tools)) as stream,
            aclosing(self._texts(stream, reading)) as texts,
        ):
            async for text in texts:
                if text:
                    yield TextDelta(text)
        rest = reading.rest()
        if rest:
            yield TextDelta(rest)
        turn = reading.turn()
        self._dialect.remember(reading.extras)
        yield turn

    async def _texts(self, stream: AsyncStream[object], reading: Reading) -> AsyncGenerator[str, None]:
        """Read the answer into *reading*, and yield its text."""
        kind, watch = stream.response.headers.get("content-type", ""), Watch(self._timeouts)
        pieces = stream.response.aiter_bytes()
        if kind.startswith("application/json"):
            whole = bytearray()
            async for piece in pieces:
                watch.saw(piece, is_news=True)
                whole += piece
            yield reading.take_whole(json.loads(whole))
            return
        if "html" in kind:
            raise WebPage
        async with aclosing(self._streamed(pieces, reading, watch)) as texts:
            async for text in texts:
                yield text

    async def _streamed(
        self, pieces: AsyncIterator[bytes], reading: Reading, watch: Watch
    ) -> AsyncGenerator[str, None]:
        """Yield the text of all events that came together as one piece: whoever is behind catches up in one step.

        Once the answer has ended, nothing can break it any more.
        """
        events, length = Events(), 0
        try:
            async for piece in pieces:
                news = events.feed(piece)
                text, trouble = _read(news, reading)
                watch.saw(piece, is_news=bool(news))
                length += len(text)
                yield text
                if trouble is not None:
                    raise trouble
                if events.ended:
                    break
                if len(piece) < MUCH and (seconds := self._pacer.seconds):  # what comes meanwhile is one piece
                    await asyncio.sleep(seconds if length > FIRST_WORDS else seconds * SHORT)
                if news:
                    watch.resume()
            await _drain(pieces)
        except failures():
            if not reading.finished:
                raise

    async def _open(self, prompt: Prompt, tools: Sequence[ToolSpec]) -> AsyncStream[object]:
        """Send the request, again without what the endpoint says it does not understand.

        The time limit is for the whole of a refusal, too, which the client reads before it raises it.
        """
        if self._client is None:
            await asyncio.to_thread(import_module, "openai")  # a second of work, which must not stop everything else
        if self._client is None:
            self._client = connect(self._api_key, self._base_url, self._timeouts)
        client = self._client
        limit = self._timeouts.connect + self._timeouts.read
        from openai import AsyncStream, BadRequestError, UnprocessableEntityError

        while True:
            body = self._dialect.body(prompt, tools)
            try:
                async with asyncio.timeout(limit):
                    return await client.post(
                        "/chat/completions", body=body, cast_to=object, stream=True, stream_cls=AsyncStream[object]
                    )
            except (BadRequestError, UnprocessableEntityError) as error:
                if not self._dialect.concede(body, error.response.text):
                    raise


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read the last bytes after the end, so that the connection can be used again."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAINING):
            async for _ in pieces:
                pass


def _read(events: Sequence[bytes], reading: Reading) -> tuple[str, Exception | None]:
    """Return the text of the events up to the first that is broken, and what is wrong with that one.

    What the quicker reader of JSON minds, such as half of an emoji, the other one may take.
    """
    text = ""
    try:
        for data in events:
            try:
                event = from_json(data, cache_strings="keys")
            except ValueError:
                event = json.loads(data.decode())
            text += reading.take(event)
    except failures() as error:
        return text, error
    return text, None
