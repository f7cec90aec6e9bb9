"""The way to one endpoint: requests are sent, and what comes back is handed on as text, whichever shape it has."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from adapters.openai.client import CHAT, Endpoint, OpenAILimits, connect
from adapters.openai.failures import failures
from adapters.openai.reading import Reading
from adapters.openai.refusals import WebPage, fields_of
from adapters.openai.watch import Watch
from adapters.retry import LoadPacer

if TYPE_CHECKING:
    from httpx2 import URL, AsyncClient, Response

DRAINING = 0.1  # seconds for the next piece after the end
LATEST = 1.0  # seconds for all that comes after it
FIRST_WORDS = 40  # characters
SHORT = 1 / 30  # of the interval until the first words are there, since readers wait for them
MUCH = 15 * 1024  # bytes: the client gives 16 kB at a time, so behind such a piece the next one waits already
LISTING = 4.0  # seconds for the list of models, which is asked for where a limit is not known
SIZES = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx", "n_ctx_train")
BLANK = b"\xef\xbb\xbf \t\r\n"  # and the mark of the byte order


class Connection:
    """Asks one model of one endpoint, and connects when it is first asked."""

    def __init__(self, model: str, api_key: str, base_url: str | None, limits: OpenAILimits) -> None:
        self._model = model
        self.endpoint = Endpoint.of(base_url, model, api_key)
        self._limits = limits
        self._client: AsyncClient | None = None
        self._chat: URL | None = None
        self.pacer = LoadPacer(limits.interval, limits.longest_interval)

    async def aclose(self) -> None:
        """Close the connections that are kept for later."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def texts(self, body: dict[str, Any], reading: Reading) -> AsyncGenerator[str | None, None]:
        """Send a request, and yield the text of its answer as it comes; None where all of it until then is taken back.

        Raises whatever the client library raises, and `BrokenAnswer`. Once the answer has ended, nothing can break it.
        """
        begun = time.monotonic()
        async with aclosing(await self._open(body)) as response:
            kind, pieces = response.headers.get("content-type", ""), response.aiter_bytes()
            if "html" in kind:
                raise WebPage("a web page instead of an answer")
            with Watch(self._limits, begun=begun) as watch:
                try:
                    head = await self._head(pieces, watch)
                    is_whole = head[:1] in (b"{", b"[") or (not head and kind.startswith("application/json"))
                    come = (self._whole if is_whole else self._streamed)(head, pieces, reading, watch)
                    async with aclosing(come):
                        async for text in come:
                            yield text
                except failures():
                    if not reading.finished:
                        raise
            if reading.ended:
                with suppress(TimeoutError):  # the last bytes, so that the connection can be used again
                    async with asyncio.timeout(DRAINING):
                        async for _ in pieces:
                            pass

    async def _head(self, pieces: AsyncIterator[bytes], watch: Watch) -> bytes:
        """Return the first bytes that are more than blank, by which a stream and a whole answer can be told apart.

        What they are called says nothing: several services call the one the other.
        """
        head = b""
        while not head and (piece := await watch.next(pieces)) is not None:
            watch.saw(piece, is_life=b"\n" in piece, is_news=False)
            head = piece.lstrip(BLANK)
        return head

    async def _streamed(
        self, head: bytes, pieces: AsyncIterator[bytes], reading: Reading, watch: Watch
    ) -> AsyncGenerator[str | None, None]:
        """Yield the text of all events that came together as one piece: whoever is behind catches up in one step."""
        piece, length = head, 0
        while piece is not None:
            text, events, trouble = reading.read(piece)
            watch.saw(piece, is_life=events > 0 or b"\n" in piece, is_news=events > 0)
            if reading.takes_back:
                reading.takes_back = False
                yield None
            length += len(text)
            yield text
            if trouble is not None:
                raise trouble
            if reading.finished:
                yield await self._last(pieces, reading)
            if reading.finished or reading.ended:
                return
            if len(piece) < MUCH and (seconds := self.pacer.seconds):  # what comes meanwhile is one piece
                await asyncio.sleep(seconds if length > FIRST_WORDS else seconds * SHORT)
            if events:
                watch.heard = time.monotonic()
            piece = await watch.next(pieces)

    async def _whole(
        self, head: bytes, pieces: AsyncIterator[bytes], reading: Reading, watch: Watch
    ) -> AsyncGenerator[str, None]:
        """Yield the text of an answer that came in one piece although a stream was asked for."""
        whole = bytearray(head)
        while (piece := await watch.next(pieces)) is not None:
            watch.saw(piece, is_life=True, is_news=True)
            whole += piece
        reading.is_whole = True
        yield reading.take_whole(json.loads(whole))

    async def _last(self, pieces: AsyncIterator[bytes], reading: Reading) -> str:
        """Return what comes right after the end of an answer, such as what it has cost; some services never hang up."""
        texts: list[str] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(LATEST):
                while not reading.ended:
                    async with asyncio.timeout(DRAINING):
                        piece = await anext(pieces, None)
                    if piece is None:
                        break
                    texts.append(reading.read(piece)[0])
        return "".join(texts)

    async def _open(self, body: dict[str, Any]) -> Response:
        """Send a request; the limit is for all of a refusal too, which is read before it is raised."""
        client = await self._connected()
        async with asyncio.timeout(min(self._limits.connect + self._limits.first, self._limits.patience)):
            self._chat = self._chat or client.build_request("POST", CHAT).url  # read once, which takes its time
            response = await client.send(client.build_request("POST", self._chat, content=to_json(body)), stream=True)
            if not response.is_success:
                await response.aread()
                response.raise_for_status()
            return response

    async def listed_context(self) -> int | None:
        """Return how many tokens the model reads, where the list of models says so; None also where there is none."""
        client = await self._connected()
        try:
            async with asyncio.timeout(LISTING):
                response = await client.get("/models")
            listed: Any = response.raise_for_status().json()
        except failures():
            return None
        entries: Any = fields_of(listed).get("data") or listed
        rows = [fields_of(each) for each in entries] if isinstance(entries, list) else []  # pyright: ignore[reportUnknownVariableType] - the service's JSON
        own = [row for row in rows if row.get("id") == self._model] or (rows if len(rows) == 1 else [])
        places = [fields_of(place) for row in own for place in (row, row.get("top_provider"), row.get("meta"))]
        found = ((name, place.get(name)) for place in places for name in SIZES)
        sizes = {name: size for name, size in found if isinstance(size, int) and size > 0}
        if len(sizes) > 1:  # what the server was started with counts, and not what the model was trained with
            sizes.pop("n_ctx_train", None)
        return min(sizes.values(), default=None)

    async def load(self) -> None:
        """Load the client library: a second of work, or many on a busy machine, which must not stop everything else."""
        await asyncio.to_thread(import_module, "openai")

    async def _connected(self) -> AsyncClient:
        if self._client is None:
            await self.load()
        if self._client is None:
            self._client = connect(self.endpoint, self._limits)
        return self._client
