"""A chat model that costs little, so that hundreds of answers at 60 tokens a second leave the machine to the bot."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from multiprocessing.connection import Connection as Pipe
from typing import Any

from bench.agent.job import pin
from bench.agent.question import job, tokens
from bench.agent.server import PASSAGES, Connection, Script, event, turn
from bench.chat.load import BEGINS, ENDS, NUMBER
from bench.chat.model import Tempo


@dataclass
class Speech:
    """What it says: the same answer, with the question's number at both ends, after a search where it has no passages.

    `spent` is how many seconds it took until the first words, by number.
    """

    tempo: Tempo
    spent: dict[int, float] = field(default_factory=dict[int, float])
    script: Script = field(init=False)
    middle: Sequence[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.script = Script(job())
        self.middle = [_text(token) for token in islice(cycle(tokens(job().answer)), self.tempo.length)]

    def calling(self, name: str, query: str) -> list[bytes]:
        """Give the events of a search."""
        call = {"id": "call_7Yb2nWk5", "type": "function", "function": {"name": name, "arguments": ""}}
        pieces = tokens(json.dumps({"query": query}, ensure_ascii=False))
        parts = [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
        head = {"role": "assistant", "content": None, "tool_calls": [{"index": 0, **call}], "refusal": None}
        return turn([head, *parts], "tool_calls")

    def answering(self, number: int) -> list[bytes]:
        """Give the events of an answer."""
        begins, ends = BEGINS.format(number), ENDS.format(number)
        first = [{"content": token} for token in tokens(f"{begins} ")]
        [*opening, _, _] = turn([{"role": "assistant", "content": "", "refusal": None}, *first], "stop")
        closing = turn([{"content": token} for token in tokens(f"\n\n{ends}")], "stop")
        return [*opening, *self.middle, *closing]


class Paced(Connection):
    """Answers the requests of one connection at the tempo."""

    def __init__(self, speech: Speech) -> None:
        super().__init__(speech.script, 1 / speech.tempo.tokens)
        self._speech = speech
        self._asked_at = 0.0
        self._number = 0
        self._left = 0

    def _answer(self, body: bytes) -> None:
        asked: dict[str, Any] = json.loads(body)
        question = next(str(one["content"]) for one in reversed(asked["messages"]) if one["role"] == "user")
        found = NUMBER.search(question)
        assert found is not None
        self._number, self._asked_at = int(found[1]), time.time()
        if asked["messages"][-1]["role"] == "tool" or PASSAGES in body:
            self._left = 1  # who speaks, and the first word
            events = self._speech.answering(self._number)
        else:
            name = asked["tools"][0]["function"]["name"]
            events = self._speech.calling(name, NUMBER.sub("", question).strip())
            self._left = len(events) - 1
        self._begin(events, self._speech.tempo.start)

    def _say(self, events: Iterator[bytes]) -> None:
        super()._say(events)
        self._left -= 1
        if self._left == 0:
            spent = self._speech.spent
            spent[self._number] = spent.get(self._number, 0.0) + time.time() - self._asked_at


def _text(token: str) -> bytes:
    return event(choices=[{"index": 0, "delta": {"content": token}, "logprobs": None, "finish_reason": None}])


def serve(pipe: Pipe, tempo: Tempo, core: int | None) -> None:
    """Say where the model is, then how long it took, each time that somebody asks; until the pipe is closed."""
    pin(core)
    asyncio.run(_serve(pipe, Speech(tempo)))


async def _serve(pipe: Pipe, speech: Speech) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: Paced(speech), "127.0.0.1", 0, backlog=1_024)
    pipe.send(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    with suppress(EOFError, ConnectionError):
        while True:
            await asyncio.to_thread(pipe.recv)
            pipe.send(speech.spent)
    server.close()
