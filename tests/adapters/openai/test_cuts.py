"""The network cuts bytes where it likes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from itertools import cycle
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.openai.reading import Reading
from adapters.openai.thoughts import TextFilter
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


AWKWARD = ['"', "\\", '","', '"},{"', "\n\n", "\n\ndata: ", '"content":"', ',"obfuscation":"a"', "{}", "é", "🤖", " "]
ODD: list[dict[str, Any]] = [
    chunk({}),
    chunk({"content": ""}),
    chunk({"role": "assistant", "content": "Well"}),
    chunk({"content": "Hm", "reasoning_content": "?"}),
    chunk({"content": "Hm"}, finish="length"),
    {**chunk({"content": "Hm"}), "model": "another"},
    {"choices": [{"logprobs": {"content": "Hm"}, "delta": {"content": ["Hm"]}}]},
]


@settings(max_examples=examples(300), deadline=None)
@example(texts=["\\◁/THINK▷"], odd=[], is_padded=False, is_broken=False)
@example(texts=[""] * 8 + [',"obfuscation":"a"'], odd=[], is_padded=False, is_broken=True)
@given(
    st.lists(st.lists(st.sampled_from(AWKWARD) | st.text(max_size=9), max_size=4).map("".join), min_size=3),
    st.lists(st.tuples(st.integers(19, 40), st.sampled_from(ODD)), max_size=2),
    st.booleans(),
    st.booleans(),
)
def test_many_events_at_once_say_what_they_say_one_by_one(
    texts: list[str], odd: list[tuple[int, dict[str, Any]]], is_padded: bool, is_broken: bool
) -> None:
    """Also where a text looks like what stands around it, or is no JSON, and where events differ."""
    events = [chunk({"content": text.encode(errors="replace").decode()}) for text in ["So"] * 20 + texts * 9]
    for place, event in odd:
        events[min(place, len(events)) :] = [event, *events[min(place, len(events)) :]]
    padded = [{**event, "obfuscation": "x" * (at % 7)} if is_padded else event for at, event in enumerate(events)]
    written = [json.dumps(event, ensure_ascii=False, separators=(",", ":")) for event in padded]
    written = [text.replace("\\", "") for text in written] if is_broken else written
    data = [f"data: {text}\n\n".encode() for text in written]
    alone, together = Reading("model", ()), Reading("model", ())

    told = _until_broken(alone, data)
    found = _until_broken(together, (b"".join(data[:20]), b"".join(data[20:])))

    assert found == told
    assert (together.finished, together.is_cut, together.model) == (alone.finished, alone.is_cut, alone.model)


def _until_broken(reading: Reading, pieces: Iterable[bytes]) -> tuple[str, type[Exception] | None]:
    """What is shown of an answer in the end, or until one of its pieces is broken, and by what."""
    said = ""
    for piece in pieces:
        text, _, trouble = reading.read(piece)
        said, reading.takes_back = text if reading.takes_back else said + text, False
        if trouble is not None:
            return said, type(trouble)
    return said, None


WORDS = (
    *("A robot acts", " [1].", "\n", " ", "`", "```", "```json\n", "**", "<think>", "</think>", "[THINK]", "[/THINK]"),
    *(
        "<tool_call>",
        "<|DSML|invoke name=",
        "<answer>",
        "</answer>",
        '{"name": "look_up", "arguments": {"query": "x"}}',
        "</tool_call>",
        "look_up",
        '(query="x")',
        "[",
    ),
    *(
        "<|channel|>",
        "analysis",
        "final",
        "<|message|>",
        "<|end|>",
        "assistant",
        " to=functions.",
        "<",
        "<invoke name=",
    ),
)


@given(text=st.lists(st.sampled_from(WORDS), max_size=12).map("".join), sizes=st.lists(st.integers(1, 9), min_size=1))
@settings(max_examples=examples(300), deadline=None)
def test_the_marks_of_a_text_may_be_cut_anywhere(text: str, sizes: list[int]) -> None:
    """What is shown of it in the end, and the calls that it makes, are those of the uncut text."""
    read: list[object] = []
    for pieces in ([text], [piece.decode() for piece in _pieces(text.encode(), sizes)]):
        filtered, seen = TextFilter(("look_up",)), ""
        for piece in filter(None, pieces):
            new = filtered.shown(piece)
            seen, filtered.takes_back = new if filtered.takes_back else seen + new, False
        rest, calls = filtered.finish()
        seen = rest if filtered.takes_back else seen + rest
        read.append((seen, "".join(filtered.said), [(call.name, call.arguments) for call in calls]))
        assert seen == "".join(filtered.said)
    assert read[0] == read[1]
