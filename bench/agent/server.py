"""A chat completions server that costs as little as it can: everything it says is rendered before it listens.

It calls the tool first and answers when it is given the result, or passages with the question, in chunks as the real
API frames them. It gives the whole answer at once, or one event every few milliseconds after a start of some more.
`python -m bench.agent.server MILLISECONDS START`, with the job on standard input; prints its port.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from bench.agent.job import MODEL, Job, pin
from bench.agent.question import tokens

_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n"
    b"Connection: keep-alive\r\nx-request-id: req_2f1f9e1c0a7b4f6f\r\nopenai-version: 2020-10-01\r\n\r\n"
)
PASSAGES = b'"<data kind=\\"passages'
_TAIL = b"0\r\n\r\n"


class Script:
    """The two turns as they go over the socket, an HTTP chunk for each event; the last is the usage and the end."""

    def __init__(self, job: Job) -> None:
        call: dict[str, Any] = {"id": "call_7Yb2nWk5", "type": "function"}
        named = {"index": 0, **call, "function": {"name": job.tool.name, "arguments": ""}}
        written = tokens(json.dumps({"query": job.question}))
        pieces = [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in written]
        head = {"role": "assistant", "content": None, "tool_calls": [named], "refusal": None}
        self.calling = turn([head, *pieces], "tool_calls")
        answer = tokens(job.answer)
        head = {"role": "assistant", "content": "", "refusal": None}
        self.answering = turn([head, *({"content": piece} for piece in answer)], "stop")


def turn(deltas: list[dict[str, Any]], reason: str) -> list[bytes]:
    """Give the events of a turn."""
    choices: list[dict[str, Any]] = [
        {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None} for delta in deltas
    ]
    choices.append({"index": 0, "delta": {}, "logprobs": None, "finish_reason": reason})
    usage = {
        "prompt_tokens": 1200,
        "completion_tokens": len(deltas),
        "total_tokens": 1200 + len(deltas),
        "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
    events = [event(choices=[choice], usage=None) for choice in choices]
    return [*events, event(choices=[], usage=usage) + _chunk(b"data: [DONE]\n\n") + _TAIL]


def event(**fields: Any) -> bytes:
    """Give one event, with what all of them have."""
    common = {
        "id": "chatcmpl-CeG3mJ8mQ0Zl5jT9QdX2aXwYb1kqP",
        "object": "chat.completion.chunk",
        "created": 1763708400,
        "model": f"{MODEL}-2024-07-18",
        "service_tier": "default",
        "system_fingerprint": "fp_b547601dbd",
        **fields,
        "obfuscation": "k3VtW8s",
    }
    return _chunk(b"data: " + json.dumps(common, separators=(",", ":")).encode() + b"\n\n")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class Connection(asyncio.Protocol):
    """Answers the requests of one connection, one after the other."""

    def __init__(self, script: Script, pause: float, start: float = 0.0) -> None:
        self._script = script
        self._pause = pause
        self._start = start
        self._received = b""
        self._transport: Any = None
        self._due = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Wait for a whole request."""
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if found and len(body) >= _length(head):
            self._received = b""
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        has_found = b'"tool_call_id"' in body or PASSAGES in body
        events = self._script.answering if has_found else self._script.calling
        if not self._pause:
            self._transport.write(_HEAD + b"".join(events))
            return
        self._begin(events, self._start)

    def _begin(self, events: Sequence[bytes], start: float = 0.0) -> None:
        """Begin with the events after some seconds; the first one only says who speaks, and comes with the second."""
        self._transport.write(_HEAD)
        events = [b"".join(events[:2]), *events[2:]]
        self._due = asyncio.get_running_loop().time() + start
        asyncio.get_running_loop().call_at(self._due, self._say, iter(events))

    def _say(self, events: Iterator[bytes]) -> None:
        """Write the next event, and come back for the one after it."""
        event = next(events, None)
        if event is None or self._transport.is_closing():
            return
        self._transport.write(event)
        self._due += self._pause
        asyncio.get_running_loop().call_at(self._due, self._say, events)


def _length(head: bytes) -> int:
    fields = (line.partition(b":") for line in head.lower().split(b"\r\n"))
    return next(int(value) for name, _, value in fields if name == b"content-length")


async def serve(job: Job, pause: float, start: float) -> None:
    """Listen until the process is ended."""
    script = Script(job)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(script, pause, start), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asked = Job.read()
    pin(asked.core)
    asyncio.run(serve(asked, *(float(milliseconds) / 1000 for milliseconds in sys.argv[1:])))
