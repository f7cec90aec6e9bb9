"""A chat model's service on a real socket: chat completions as OpenAI frames them, scripted or answering by itself."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from aiohttp import web

from tests.servers.openai_brain import answer_by_itself
from tests.servers.openai_requests import Refusal, refusal_of, size_of
from tests.servers.openai_shapes import Rule
from tests.servers.service import Received, Service, abort

KEY = "sk-test-0123456789abcdef"
MODEL = "gpt-4o-mini"
CREATED = 1_767_265_200
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection is reset here."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Nothing more comes from here on, until the client hangs up."""


@dataclass(frozen=True, slots=True)
class End:
    """The stream ends here, properly, but without all that should still come."""


@dataclass(frozen=True, slots=True)
class Forever:
    """The same comes over and over, until the client hangs up."""

    piece: bytes


Step: TypeAlias = dict[str, Any] | bytes | Cut | Stall | End | Forever
ERROR_EVENT: dict[str, Any] = {"error": {"message": "The server had an error.", "type": "server_error", "code": None}}


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """One answer: text in pieces and tool calls, or the steps themselves.

    `then` comes in place of the end of a stream, or of the second half of an answer that is no stream. `pace` are the
    seconds between two pieces, where they are not the server's.
    """

    texts: tuple[str, ...] = ()
    calls: tuple[dict[str, Any], ...] = ()
    finish: str = "stop"
    then: Step | None = None
    steps: tuple[Step, ...] | None = None
    pace: float | None = None


class ChatServer(Service):
    """Serves `/v1/chat/completions` and `/v1/models`; what it was asked is in `received`.

    Each good request takes the next scripted answer; with none left, the server answers by itself: it searches for the
    question, then quotes what was found. `cuts` decides in which pieces the bytes of a stream are sent, and `pace` how
    many seconds lie between two of them. What *pauses_before* a piece with these bytes waits until it `goes_on`. The
    `rules` are those of other services, `is_azure` gives it Azure's addresses, and `listed` is what the list of models
    says of each besides its name.
    """

    def __init__(self, *, key: str = KEY, models: Sequence[str] = (MODEL,)) -> None:
        super().__init__()
        self.key = key
        self.models = tuple(models)
        self.script: deque[ScriptedAnswer] = deque()
        self.streams = True
        self.knows_stream_options = True
        self.reports_usage = True
        self.cuts: Callable[[bytes], Iterable[bytes]] | None = None
        self.pace = 0.0
        self.rules: list[Rule] = []
        self.is_azure = False
        self.listed: dict[str, Any] = {}
        self.pauses_before = b""
        self.goes_on = asyncio.Event()
        self._calls_made = 0
        self._seen = ""

    @property
    def base_url(self) -> str:
        """What a client is given as its base URL."""
        return f"{self.url}/v1"

    def say(self, *texts: str, finish: str = "stop", then: Step | None = None) -> None:
        """Script an answer of text; with *then*, something else happens after the last piece."""
        self.script.append(ScriptedAnswer(texts, finish=finish, then=then))

    def call(self, name: str, arguments: Mapping[str, Any] | str, *, text: str = "", then: Step | None = None) -> None:
        """Script a tool call, with arguments as they should be or as a model may write them."""
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        texts = (text,) if text else ()
        self.script.append(ScriptedAnswer(texts, (self._call(name, written),), "tool_calls", then))

    def stream(self, *steps: Step) -> None:
        """Script the events themselves: dicts as `data:`, bytes as they are."""
        self.script.append(ScriptedAnswer(steps=steps))

    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Answer as the real service would."""
        stream_options = self.knows_stream_options
        refusal = refusal_of(
            received, key=self.key, models=self.models, stream_options=stream_options, is_azure=self.is_azure
        )
        if refusal is not None:
            return _refused(refusal)
        if received.method == "GET":
            data = [
                {"id": name, "object": "model", "created": CREATED, "owned_by": "test", **self.listed}
                for name in self.models
            ]
            return web.json_response({"object": "list", "data": data})
        if reply := next((reply for rule in self.rules if (reply := rule(received.body))), None):
            return web.Response(status=reply.status, body=reply.payload, headers={"Content-Type": "application/json"})
        scripted = self.script.popleft() if self.script else self._own_answer(received.body)
        usage = self._usage(received.body, scripted)
        if self.streams and received.body.get("stream"):
            steps = list(self._steps(scripted, received.body, usage))
            return await self._written(request, steps, "text/event-stream", pace=scripted.pace)
        whole = json.dumps(_whole(scripted, received.body["model"], usage)).encode()
        steps = [whole] if scripted.then is None else [whole[: len(whole) // 2], scripted.then]
        return await self._written(request, steps, "application/json")

    def _own_answer(self, body: dict[str, Any]) -> ScriptedAnswer:
        reply = answer_by_itself(body)
        if reply.query is None:
            return ScriptedAnswer(reply.texts)
        call = self._call(reply.tool, json.dumps({"query": reply.query}, ensure_ascii=False))
        return ScriptedAnswer((), (call,), "tool_calls")

    def _call(self, name: str, arguments: str) -> dict[str, Any]:
        self._calls_made += 1
        function = {"name": name, "arguments": arguments}
        return {"id": f"call_{self._calls_made:04}", "type": "function", "function": function}

    def _usage(self, body: dict[str, Any], scripted: ScriptedAnswer) -> dict[str, Any]:
        """Count four bytes as a token; what began the last request too is cached, in the real one's steps."""
        asked = json.dumps(body["messages"], ensure_ascii=False)
        pairs = enumerate(zip(self._seen, asked, strict=False))
        same = next((place for place, (before, now) in pairs if before != now), min(len(self._seen), len(asked)))
        common = same // 4
        self._seen = asked
        prompt = size_of(asked)
        completion = size_of("".join(scripted.texts) + "".join(str(call["function"]) for call in scripted.calls))
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": common // 128 * 128 if common >= 1024 else 0},
        }

    def _steps(self, scripted: ScriptedAnswer, body: dict[str, Any], usage: dict[str, Any]) -> Iterator[Step]:
        if scripted.steps is not None:
            yield from scripted.steps
            return
        model = body["model"]
        yield chunk({"role": "assistant", "content": "" if scripted.texts else None}, model=model)
        for text in scripted.texts:
            yield chunk({"content": text}, model=model)
        for index, call in enumerate(scripted.calls):
            yield from _call_chunks(index, call, model)
        if scripted.then is not None:
            yield scripted.then
            return
        yield chunk({}, finish=scripted.finish, model=model)
        if self.reports_usage and body.get("stream_options", {}).get("include_usage"):
            yield {**chunk({}, model=model), "choices": [], "usage": usage}
        yield DONE

    async def _written(
        self, request: web.Request, steps: Sequence[Step], kind: str, *, pace: float | None = None
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": f"{kind}; charset=utf-8"})
        await response.prepare(request)
        whole = b"".join(_bytes(step) for step in steps)
        for piece in self.cuts(whole) if self.cuts else [_bytes(step) for step in steps]:
            if piece:
                if self.pauses_before and self.pauses_before in piece:
                    await self.goes_on.wait()
                await response.write(piece)
                await asyncio.sleep(
                    self.pace if pace is None else pace
                )  # at least a turn of the loop, in which the client reads it
        match steps[-1]:
            case Cut():
                abort(request)
                raise asyncio.CancelledError
            case Stall():
                await self.hang()
            case Forever(piece):
                await self.repeat(response, piece)
            case _:
                pass
        await response.write_eof()
        return response


def chunk(delta: Mapping[str, Any] | None, *, finish: str | None = None, model: str = MODEL) -> dict[str, Any]:
    """One event of a stream."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": model,
        "choices": [choice],
        "usage": None,
    }


def _call_chunks(index: int, call: dict[str, Any], model: str) -> Iterator[dict[str, Any]]:
    """A call as the real service sends it: id and name first, then the arguments in pieces."""
    function = call["function"]
    first = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
    yield chunk({"tool_calls": [first]}, model=model)
    for start in range(0, len(function["arguments"]), 7):
        piece = {"index": index, "function": {"arguments": function["arguments"][start : start + 7]}}
        yield chunk({"tool_calls": [piece]}, model=model)


def _whole(scripted: ScriptedAnswer, model: str, usage: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "".join(scripted.texts) or None, "refusal": None}
    if scripted.calls:
        message["tool_calls"] = list(scripted.calls)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": CREATED,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": scripted.finish}],
        "usage": usage,
    }


def _bytes(step: Step) -> bytes:
    match step:
        case bytes():
            return step
        case dict():
            return b"data: " + json.dumps(step, ensure_ascii=False).encode() + b"\n\n"
        case _:
            return b""


def _refused(refusal: Refusal) -> web.Response:
    error = {"message": refusal.message, "type": refusal.type, "param": refusal.param, "code": refusal.code}
    return web.json_response({"error": error}, status=refusal.status)
