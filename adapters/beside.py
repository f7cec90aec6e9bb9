"""What the process that owns the data folder does for commands beside it, over a socket of its user alone."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
from array import array
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, UnixConnector, web
from pydantic import ConfigDict, TypeAdapter

from adapters.unix import socket_folder
from adapters.web import served_at
from core.errors import FootnoteError, Misconfigured, RetrievalUnavailable
from core.model import EVERYTHING, Candidate, EmbeddedPassage, IndexQuery, Outline, Passage, Scope, SourceRecord
from core.ports import PassageIndex

SOCKET = "owner.sock"
GREETING_TIMEOUT = 5.0  # seconds
PATIENCE = 30.0  # seconds without a word, after which a command asks whether the owner lives, and for its answer
LARGEST = 2**30  # bytes: the passages of the longest page
LONGEST_END = 1.0  # seconds that what is under way is given when the owner stops
REFUSED = 422
UNSHARED = "The socket {} for commands beside this one cannot be created. Set FOOTNOTE_DATA_DIR to a local disk."
OTHER_EMBEDDER = (
    "The bot that runs here searches with the embedder {}, and this command with {}. "
    "Give both the same settings, and restart the bot if you have changed them."
)
GONE = "The bot that this command worked with has stopped. Try again."
FROZEN = "The bot that runs here has not answered for {:.0f} seconds. Restart it, and try again."

Finding: TypeAlias = tuple[str, str, str]
"""A line of the doctor: its sign, what it is about, and what it says."""
Reply = TypeVar("Reply")

ERRORS = {kind.__name__: kind for kind in (Misconfigured, RetrievalUnavailable)}
BASE64 = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")


@dataclass(frozen=True, slots=True)
class Method:
    """A method of an index as it is called from outside: what it takes and gives as JSON, and how it is called."""

    takes: TypeAdapter[Any]
    gives: TypeAdapter[Any]
    call: Callable[[PassageIndex, Any], Awaitable[object]]


async def _replace(index: PassageIndex, taken: tuple[str, str, list[Passage], bytes]) -> None:
    source, url, passages, vectors = taken
    await index.replace(source, url, await asyncio.to_thread(_joined, passages, vectors))


METHODS: Mapping[str, Method] = {
    "candidates": Method(
        TypeAdapter(tuple[IndexQuery, int]),
        TypeAdapter(list[Candidate]),
        lambda index, taken: index.candidates(taken[0], limit=taken[1]),
    ),
    "replace": Method(TypeAdapter(tuple[str, str, list[Passage], bytes], config=BASE64), TypeAdapter(None), _replace),
    "prune": Method(
        TypeAdapter(tuple[str, list[str]]),
        TypeAdapter(int),
        lambda index, taken: index.prune(taken[0], keep=taken[1]),
    ),
    "pages": Method(TypeAdapter(str), TypeAdapter(dict[str, str]), lambda index, taken: index.pages(taken)),
    "outline": Method(TypeAdapter(Scope), TypeAdapter(Outline), lambda index, taken: index.outline(taken)),
    "sources": Method(TypeAdapter(None), TypeAdapter(list[SourceRecord]), lambda index, _: index.sources()),
    "stamp": Method(TypeAdapter(tuple[str, str, str]), TypeAdapter(None), lambda index, taken: index.stamp(*taken)),
    "remove": Method(TypeAdapter(str), TypeAdapter(int), lambda index, taken: index.remove(taken)),
    "record": Method(TypeAdapter(SourceRecord), TypeAdapter(None), lambda index, taken: index.record(taken)),
}


@dataclass(frozen=True, slots=True)
class Handshake:
    """What the owner says of itself: its version, what its index was made with, and the address of its store."""

    version: str
    embedder: str = ""
    dimension: int = 0
    store: str = ""

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> Handshake:
        """Return what an owner says, of whom no more than the version need be known: another one may say more."""
        known: dict[str, Any] = {field.name: said[field.name] for field in fields(cls) if field.name in said}
        known.setdefault("version", "?")
        return cls(**known)


@dataclass(frozen=True, slots=True)
class OwnerServer:
    """What the owner shares: its index, and what its doctor finds."""

    welcome: Handshake
    index: PassageIndex
    findings: Callable[[], AsyncIterator[Finding]]

    def shared(self, folder: Path) -> contextlib.AbstractAsyncContextManager[None]:
        """Serve commands at the socket in *folder* while the block runs. Raises `Misconfigured`."""
        routes = [
            web.get("/welcome", self._greet),
            web.post("/index/{method}", self._call),
            web.get("/findings", self._examine),
        ]
        path = folder / SOCKET
        return served_at(path, routes, refusal=UNSHARED.format(path), shutdown_timeout=LONGEST_END, largest=LARGEST)

    async def _greet(self, request: web.Request) -> web.Response:
        _check_user(request)
        return web.json_response(asdict(self.welcome))

    async def _call(self, request: web.Request) -> web.Response:
        _check_user(request)
        method = METHODS[request.match_info["method"]]
        taken = await asyncio.to_thread(method.takes.validate_json, await request.read())  # it may be a long page
        try:
            given = await method.call(self.index, taken)
        except FootnoteError as error:
            return web.json_response({"kind": type(error).__name__, "says": str(error)}, status=REFUSED)
        return web.Response(body=method.gives.dump_json(given), content_type="application/json")

    async def _examine(self, request: web.Request) -> web.StreamResponse:
        _check_user(request)
        response = web.StreamResponse()
        await response.prepare(request)
        async for finding in self.findings():
            await response.write(json.dumps(finding).encode() + b"\n")
        return response


def _check_user(request: web.Request) -> None:
    """Refuse another user, wherever the system says who is there; the socket's mode keeps all others away too."""
    line = request.transport.get_extra_info("socket") if request.transport else None
    if line is not None and hasattr(socket, "SO_PEERCRED"):
        _, user, _ = struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
        if user != os.getuid():
            raise web.HTTPForbidden


def _joined(passages: Sequence[Passage], vectors: bytes) -> list[EmbeddedPassage]:
    numbers = array("f", vectors)
    size = len(numbers) // max(len(passages), 1)
    return [EmbeddedPassage(each, numbers[at * size : (at + 1) * size].tolist()) for at, each in enumerate(passages)]


class OwnerClient:
    """The process that owns the data folder, as a command beside it sees it. It is a `PassageIndex` too."""

    def __init__(self, client: ClientSession, welcome: Handshake, patience: float) -> None:
        self._client = client
        self.welcome = welcome
        self._patience = patience

    def check_embedder(self, name: str, dimension: int) -> None:
        """Raise `Misconfigured` where a command makes other vectors than the owner."""
        if (name, dimension) != (self.welcome.embedder, self.welcome.dimension):
            raise Misconfigured(OTHER_EMBEDDER.format(self.welcome.embedder, name))

    async def candidates(self, query: IndexQuery, *, limit: int) -> Sequence[Candidate]:
        """Search the owner's index."""
        return await self._call("candidates", (query, limit))

    async def replace(self, source: str, url: str, passages: Sequence[EmbeddedPassage]) -> None:
        """Replace a page in the owner's index."""
        vectors = array("f", (number for each in passages for number in each.vector))
        await self._call("replace", (source, url, [each.passage for each in passages], vectors.tobytes()))

    async def prune(self, source: str, *, keep: Collection[str]) -> int:
        """Remove pages from the owner's index."""
        return await self._call("prune", (source, list(keep)))

    async def pages(self, source: str) -> Mapping[str, str]:
        """Return what the owner's index holds of *source*."""
        return await self._call("pages", source)

    async def outline(self, scope: Scope = EVERYTHING) -> Outline:
        """Count what the owner's index holds."""
        return await self._call("outline", scope)

    async def sources(self) -> Sequence[SourceRecord]:
        """Return the sources of the owner's index."""
        return await self._call("sources", None)

    async def stamp(self, source: str, url: str, content_hash: str) -> None:
        """Have a page of the owner's index bear another hash."""
        await self._call("stamp", (source, url, content_hash))

    async def remove(self, source: str) -> int:
        """Remove a source from the owner's index."""
        return await self._call("remove", source)

    async def record(self, record: SourceRecord) -> None:
        """Have the owner write down what is known of a source."""
        await self._call("record", record)

    async def findings(self) -> AsyncIterator[Finding]:
        """Yield what the owner finds when it looks at itself. Raises `RetrievalUnavailable` where it has gone."""
        try:
            async with self._client.get("/findings") as response:
                while line := await self._awaited(response.content.readline()):
                    sign, name, says = json.loads(line)
                    yield sign, name, says
        except ClientError as error:
            raise RetrievalUnavailable(GONE) from error

    async def _call(self, name: str, taken: object) -> Any:
        method = METHODS[name]
        try:
            response, body = await self._awaited(self._posted(f"/index/{name}", method.takes.dump_json(taken)))
        except ClientError as error:
            raise RetrievalUnavailable(GONE) from error
        if response.ok:
            return method.gives.validate_json(body)
        raise _failure(response, body)

    async def _posted(self, path: str, taken: bytes) -> tuple[ClientResponse, bytes]:
        async with self._client.post(path, data=taken) as response:
            return response, await response.read()

    async def _awaited(self, reply: Coroutine[Any, Any, Reply]) -> Reply:
        """Return a reply, however long it takes an owner that lives. Raises `RetrievalUnavailable` for a frozen one."""
        task = asyncio.create_task(reply)
        try:
            while not (await asyncio.wait((task,), timeout=self._patience))[0]:
                await _greeting(self._client, within=self._patience)
            return task.result()
        except TimeoutError as error:
            raise RetrievalUnavailable(FROZEN.format(2 * self._patience)) from error
        finally:
            task.cancel()


def _failure(response: ClientResponse, body: bytes) -> FootnoteError:
    if response.status != REFUSED:
        return RetrievalUnavailable(
            "The bot that runs here could not do this. footnote.log in the data folder says why."
        )
    said = json.loads(body)
    return ERRORS.get(said["kind"], RetrievalUnavailable)(said["says"])


async def _greeting(client: ClientSession, *, within: float = GREETING_TIMEOUT) -> Handshake | None:
    """Return what the owner says of itself, or None from another one. Raises `TimeoutError` and what aiohttp does."""
    async with client.get("/welcome", timeout=ClientTimeout(total=within)) as response:
        return Handshake.read(await response.json()) if response.ok else None


@contextlib.asynccontextmanager
async def reached(folder: Path, *, patience: float = PATIENCE) -> AsyncGenerator[OwnerClient | None]:
    """Yield the owner that listens in *folder*, or None where nobody does (yet)."""
    async with contextlib.AsyncExitStack() as stack:
        path = stack.enter_context(socket_folder(folder, SOCKET)) / SOCKET
        connector = UnixConnector(os.fspath(path), limit=0)
        opening = ClientSession("http://owner", connector=connector, timeout=ClientTimeout(total=None))
        client = await stack.enter_async_context(opening)
        welcome = None
        with contextlib.suppress(ClientError, OSError, TimeoutError):
            welcome = await _greeting(client)
        yield None if welcome is None else OwnerClient(client, welcome, patience)
