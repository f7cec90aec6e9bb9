"""What goes wrong between the model's service and us, each by its name, with the reason that is reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.servers.openai import DONE, ERROR_EVENT, Cut, End, Step, chunk
from tests.servers.openai_refusals import minimax
from tests.servers.service import Fault, Reply, Reset

HTML = {"Content-Type": "text/html"}
EVENTS = {"Content-Type": "text/event-stream"}
PAGE = "<html><body>Please log in.</body></html>"
EMPTY_ANSWER: dict[str, Any] = {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}


@dataclass(frozen=True, slots=True)
class InPlace:
    """A fault in place of an answer, and the reason that is reported."""

    fault: Fault
    reason: str


@dataclass(frozen=True, slots=True)
class InTheMiddle:
    """Where an answer breaks off, and the reason that is reported."""

    steps: tuple[Step, ...]
    reason: str


IN_PLACE = {
    "429 without Retry-After": InPlace(Reply(429, ERROR_EVENT), "status 429"),
    "429 with Retry-After": InPlace(Reply(429, ERROR_EVENT, {"Retry-After": "0"}), "status 429"),
    "408": InPlace(Reply(408, ERROR_EVENT), "status 408"),
    "500": InPlace(Reply(500, ERROR_EVENT), "status 500"),
    "503 with a page": InPlace(Reply(503, PAGE, HTML), "status 503"),
    "connection reset": InPlace(Reset(), "no connection"),
    "HTML with status 200": InPlace(Reply(200, PAGE, HTML), "a web page instead of an answer"),
    "HTML that is called a stream": InPlace(Reply(200, PAGE, EVENTS), "an answer without an end"),
    "nothing at all": InPlace(Reply(200, "", EVENTS), "an answer without an end"),
    "whole: bad JSON": InPlace(Reply(200, '{"choices": '), "an event that is not JSON"),
    "whole: nothing": InPlace(Reply(200, ""), "an event that is not JSON"),
    "whole: bad UTF-8": InPlace(Reply(200, b'{"choices": "\xff"}'), "an event that is not JSON"),
    "whole: a list": InPlace(Reply(200, []), "JSON that is not an answer"),
    "whole: null choices": InPlace(Reply(200, {"choices": None}), "JSON that is not an answer"),
    "whole: null message": InPlace(Reply(200, {"choices": [{"message": None}]}), "an empty answer"),
    "whole: an error": InPlace(Reply(200, ERROR_EVENT), "JSON that is not an answer"),
    "whole: an error beside choices": InPlace(
        Reply(200, {**EMPTY_ANSWER, **ERROR_EVENT}), "an error instead of an answer"
    ),
    "whole: an error of MiniMax": InPlace(minimax(1002, "rate limit exceeded(RPM)"), "status 429"),
    "whole: an empty answer": InPlace(Reply(200, EMPTY_ANSWER), "an empty answer"),
}
IN_THE_MIDDLE = {
    "connection reset": InTheMiddle((Cut(),), "no connection"),
    "cut inside of an event": InTheMiddle((b'data: {"choices": [{"del', Cut()), "no connection"),
    "no finish reason and no [DONE]": InTheMiddle((End(),), "an answer without an end"),
    "an error event": InTheMiddle((ERROR_EVENT, DONE), "an error instead of an answer"),
    "an error event of another shape": InTheMiddle(({"error": "overloaded"}, DONE), "an error instead of an answer"),
    "an error event of llama.cpp": InTheMiddle((b'error: {"code":500,"message":"Compute error."}\n\n',), "status 500"),
    "an error event of MiniMax": InTheMiddle(({"base_resp": {"status_code": 1013}}, DONE), "status 500"),
    "an error event of FastAPI": InTheMiddle(({"detail": "Overloaded."}, DONE), "an error instead of an answer"),
    "an error as the finish reason": InTheMiddle((chunk({}, finish="error"), DONE), "an error instead of an end"),
    "bad JSON": InTheMiddle((b'data: {"choices": [\n\n', DONE), "an event that is not JSON"),
    "JSON without end": InTheMiddle((b"data: " + b"[" * 100_000 + b"\n\n", DONE), "an event that is not JSON"),
    "bad UTF-8": InTheMiddle((b'data: {"id": "\xff\xfe"}\n\n', DONE), "an event that is not JSON"),
    "an event that is no object": InTheMiddle((b"data: 7\n\n", DONE), "an event that is not an object"),
    "a nameless call": InTheMiddle(
        (chunk({"tool_calls": [{"index": 0, "id": "a"}]}), chunk({}, finish="stop")), "a tool call without a name"
    ),
}
