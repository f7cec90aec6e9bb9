"""The network cuts bytes where it likes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.adapters.openai.asking import ask, model_of
from tests.portion import examples
from tests.servers.openai import DONE, ChatServer, chunk

CALL = [{"index": 0, "id": "a", "function": {"name": "search_documents", "arguments": '{"query": "Öl ⚙️ 机器人"}'}}]
TEXT = ["<think>Hm ", "…</think>", "Ein Röböter ", "🤖 handelt ", "[1], ", "机器人。"]


def _body(line_end: bytes) -> bytes:
    usage: dict[str, Any] = {**chunk({}), "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}
    texts = [chunk({"content": text}) for text in TEXT]
    events = [*texts, chunk({"tool_calls": CALL}), chunk({}, finish="tool_calls"), usage]
    data = [json.dumps(event, ensure_ascii=False) for event in events]
    lines = [": 机器人", "", *(line for text in data for line in (f"data: {text}", ""))]
    return ("\n".join(lines).encode() + b"\n" + DONE).replace(b"\n", line_end)


def _pieces(whole: bytes, sizes: list[int]) -> Iterator[bytes]:
    start = 0
    for size in cycle(sizes):
        if start >= len(whole):
            return
        yield whole[start : start + size]
        start += size


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_the_bytes_of_a_stream_may_be_cut_anywhere(line_end: bytes) -> None:
    """Inside of a character, of a line's end or of a name, the turn is that of the uncut stream."""
    body = _body(line_end)
    with asyncio.Runner() as runner:
        server = ChatServer()
        runner.run(server.up())
        model = model_of(server)

        async def asked(sizes: list[int]) -> object:
            server.cuts = lambda whole: _pieces(whole, sizes)
            server.stream(body)
            return await ask(model)

        uncut = runner.run(asked([len(body)]))

        @settings(max_examples=examples(25), deadline=None)
        @given(st.lists(st.integers(1, 3) | st.integers(1, 400), min_size=1, max_size=12))
        def check(sizes: list[int]) -> None:
            assert runner.run(asked(sizes)) == uncut

        check()
        runner.run(model.aclose())
        runner.run(server.down())
