"""One way to reach an endpoint, with every time limit said aloud, and what is sent to it.

Of the environment, only what belongs to the machine counts: its proxies and its certificates.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from adapters.openai.failures import EndlessAnswer
from adapters.openai.reading import is_object
from core.model import ChatMessage, Prompt, ToolSpec

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from openai import AsyncOpenAI


OFFICIAL = "https://api.openai.com/v1"
NO_KEY = "none"  # the client insists on one; endpoints without keys ignore it
READ_AHEAD = 64  # bytes
LARGEST = 32 * 1024 * 1024  # bytes, most of them the framing of tokens
SIGNATURES_KEPT = 1_000  # calls; those of an answer are needed until it is written, seconds later
UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}


@dataclass(frozen=True, slots=True)
class OpenAITimeouts:
    """How many seconds to wait for a connection, for the next piece of an answer, and for the whole of it.

    Between two pieces it rests for a *breath* for each answer that is written at the time, so that what comes meanwhile
    is one piece: readers see a few states of an answer, and small pieces cost time for nothing where many are written.
    """

    connect: float = 5.0
    read: float = 30.0
    whole: float = 900.0
    breath: float = 0.0
    longest_breath: float = 0.7


def connect(api_key: str, base_url: str | None, timeouts: OpenAITimeouts) -> AsyncOpenAI:
    """Return a client that connects when it is first used, and repeats nothing by itself.

    A login in the address is left out: the key is sent in its place, and both cannot be.
    """
    from httpx2 import Timeout
    from openai import AsyncOpenAI, DefaultAioHttpClient

    parts = urlsplit(base_url or OFFICIAL)
    timeout = Timeout(timeouts.read, connect=timeouts.connect)
    http = DefaultAioHttpClient(timeout=timeout)
    if timeouts.breath:
        _leave_to_the_system(http)
    client = AsyncOpenAI(
        api_key=api_key or NO_KEY,
        admin_api_key="",
        organization="",
        project="",
        webhook_secret="",
        base_url=parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl(),
        timeout=timeout,
        max_retries=0,
        http_client=http,
    )
    # Empty values keep the environment's out, but would be sent as empty headers.
    client.organization = None
    client.project = None
    client._custom_headers = {}  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - nothing public keeps OPENAI_CUSTOM_HEADERS out
    return client


def _leave_to_the_system(http: AsyncClient) -> None:
    """Have what comes during a breath left to the system, which then has it ready in one piece.

    As it is, the library wakes up for each token and takes it up. With so small a buffer it stops reading after the
    fifth piece of a chunked answer, until somebody wants more; only a session can be told so, which each of the
    transports makes, the one of each proxy too.
    """
    from aiohttp import ClientSession, TCPConnector

    def session(transport: Any) -> ClientSession:
        limits = transport.limits
        connector = TCPConnector(
            limit=limits.max_connections, keepalive_timeout=limits.keepalive_expiry, ssl=transport.ssl_context
        )
        return ClientSession(connector=connector, read_bufsize=READ_AHEAD)

    for transport in filter(None, (http._transport, *http._mounts.values())):  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - nothing public leads to them
        cast("Any", transport).client = partial(session, transport)


def place(base_url: str | None) -> str:
    """Name the host, and the port if it is a special one, but nothing else of the address, which may hold a secret."""
    parts = urlsplit(base_url or OFFICIAL)
    host = parts.hostname or "an unnamed host"
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{parts.port}" if parts.port else host


class Watch:
    """Is told of every piece; whoever sends nothing at all is met by the client's own time limit.

    Services keep a line open by comments, so that bytes alone are no sign of an answer.
    """

    def __init__(self, timeouts: OpenAITimeouts) -> None:
        self._timeouts = timeouts
        self._begun = self._heard = time.monotonic()
        self._size = 0

    def saw(self, piece: bytes, *, is_news: bool) -> None:
        """Count a piece. Raises `TimeoutError` or `EndlessAnswer` for one too many."""
        now = time.monotonic()
        self._size += len(piece)
        if self._size > LARGEST or now - self._begun > self._timeouts.whole:
            raise EndlessAnswer
        self._heard = now if is_news else self._heard
        if now - self._heard > self._timeouts.read:
            raise TimeoutError

    def resume(self) -> None:
        """Go on after a reader who took their time."""
        self._heard = time.monotonic()


class EndpointDialect:
    """Writes requests for one endpoint, and learns from its refusals what it understands."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._asks_usage = True
        self._signs = False
        self._extras: OrderedDict[str, Any] = OrderedDict()

    def body(self, prompt: Prompt, tools: Sequence[ToolSpec]) -> dict[str, Any]:
        """Write a request for a streamed turn."""
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [self._message(message) for message in prompt.messages],
            "stream": True,
        }
        if self._asks_usage:
            body["stream_options"] = {"include_usage": True}
        if tools:
            functions = (
                {"name": spec.name, "description": spec.description, "parameters": spec.parameters} for spec in tools
            )
            body["tools"] = [{"type": "function", "function": function} for function in functions]
            body["tool_choice"] = "auto"
        return body

    def concede(self, body: Mapping[str, Any], refusal: str) -> bool:
        """Leave out what the endpoint refused of *body*, from now on; return whether another body would be written now.

        It counts what was sent, not what is known: of several requests at once, each has to be sent again.
        """
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
