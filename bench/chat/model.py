"""The chat model's service at a given pace: it takes a while to start, then gives so many tokens a second."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from aiohttp import web

from bench.agent.question import tokens
from bench.chat.load import BEGINS, ENDS, NUMBER
from tests.servers.openai import ChatServer, ScriptedAnswer, Step
from tests.servers.openai_brain import first_sentence, passages_in
from tests.servers.service import Received


@dataclass(frozen=True, slots=True)
class Tempo:
    """Seconds until the first token of a turn, tokens a second after it, and the tokens of an answer."""

    start: float = 0.3
    tokens: float = 60.0
    length: int = 300


SLOW = Tempo(start=0.5, tokens=80.0, length=140)  # with the words around them, 150


class PacedModel(ChatServer):
    """Quotes passages at length, and searches where it has none; `spent` is how long the first words took.

    An answer bears the number of its question at both ends, so that nothing can be taken for another's.
    """

    def __init__(self, tempo: Tempo) -> None:
        super().__init__()
        self._tempo = tempo
        self.spent: dict[int, float] = {}

    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Answer, and keep no record of it: there are too many."""
        self.received.clear()
        return await super().answer(request, received)

    def _own_answer(self, body: dict[str, Any]) -> ScriptedAnswer:
        number = _number(body)
        found = passages_in(str(body["messages"][-1]["content"]))
        if number is None or not found:
            return super()._own_answer({**body, "messages": [_unnumbered(one) for one in body["messages"]]})
        begins, ends = BEGINS.format(number), ENDS.format(number)
        said = " ".join(f"{first_sentence(each['text'])} [{each['number']}]." for each in found)
        text = tokens(f"{said}\n\n" * self._tempo.length)[: self._tempo.length]
        return ScriptedAnswer((*tokens(f"{begins} "), *text, *tokens(f"\n\n{ends}")))

    async def _written(
        self, request: web.Request, steps: Sequence[Step], kind: str, *, pace: float | None = None
    ) -> web.StreamResponse:
        begun = time.time()
        number = _number(await request.json())
        loop = asyncio.get_running_loop()
        due = loop.time() + self._tempo.start
        response = web.StreamResponse(headers={"Content-Type": f"{kind}; charset=utf-8"})
        await response.prepare(request)
        spent: float | None = None
        for step in steps:
            if _is_token(step):
                await asyncio.sleep(max(due - loop.time(), 0))
                due += 1 / self._tempo.tokens
            await response.write(_bytes(step))
            if spent is None and _is_text(step):
                spent = time.time() - begun
        if number is not None:
            self.spent[number] = self.spent.get(number, 0.0) + (spent or time.time() - begun)
        await response.write_eof()
        return response


def _number(body: dict[str, Any]) -> int | None:
    """Find the number of the question; it stands in the last thing that a person said."""
    said = [message["content"] for message in body["messages"] if message["role"] == "user"]
    found = NUMBER.search(said[-1]) if said else None
    return int(found[1]) if found else None


def _unnumbered(message: dict[str, Any]) -> dict[str, Any]:
    """Leave out the number, so that the search finds for every question what the documents have under its heading."""
    content = message.get("content")
    return {**message, "content": NUMBER.sub("", content).strip()} if isinstance(content, str) else message


def _delta(step: Step) -> dict[str, Any]:
    choices = step.get("choices") if isinstance(step, dict) else None
    return choices[0]["delta"] if choices else {}


def _is_token(step: Step) -> bool:
    return bool(_is_text(step) or _delta(step).get("tool_calls"))


def _is_text(step: Step) -> bool:
    return bool(_delta(step).get("content"))


def _bytes(step: Step) -> bytes:
    return step if isinstance(step, bytes) else b"data: " + json.dumps(step).encode() + b"\n\n"


def serve(pipe: Connection, tempo: Tempo) -> None:
    """Say where the model is, then how long it took, each time that somebody asks; until the pipe is closed."""
    asyncio.run(_serve(pipe, PacedModel(tempo)))


async def _serve(pipe: Connection, model: PacedModel) -> None:
    async with model:
        pipe.send(model.base_url)
        with suppress(EOFError, ConnectionError):
            while True:
                await asyncio.to_thread(pipe.recv)
                pipe.send(model.spent)
