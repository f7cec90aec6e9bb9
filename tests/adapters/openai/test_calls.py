"""Tool calls in all the fragments that services break them into."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.openai import OpenAIChat
from core.errors import ModelUnavailable
from core.model import ModelTurn, ToolSpec
from tests.adapters.openai.asking import SEARCH, ask, calls_of, turn_of
from tests.servers.openai import DONE, ChatServer, chunk

A, B = '{"query": "arms"}', '{"query": "bolts"}'
FLY = ToolSpec("fly", "Fly.", {"type": "object", "properties": {}})


def piece(arguments: Any = None, *, name: str | None = None, **fields: Any) -> dict[str, Any]:
    """A fragment of a call; what is not named is left out."""
    function = {"name": name, "arguments": arguments}
    return {**fields, "function": {key: value for key, value in function.items() if value is not None}}


ONE = [("search_documents", A)]
TWO = [("search_documents", A), ("search_documents", B)]
N = "search_documents"


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([[piece(A, name=N, index=0, id="a")]], ONE, id="in one piece"),
        pytest.param([[piece(A, name=N)]], ONE, id="without index and id"),
        pytest.param([[piece({"query": "arms"}, name=N, id="a")]], ONE, id="arguments as an object"),
        pytest.param([[piece(name=N, index=0)], [piece(A[:5], index=0)], [piece(A[5:], index=0)]], ONE, id="no id"),
        pytest.param([[piece(name=N, id="a")], [piece(A[:5])], [piece(A[5:])]], ONE, id="no index"),
        pytest.param(
            [[piece(A[:5], name=N, index=0, id="a")], [piece(A[5:], name=N, index=0, id="a")]], ONE, id="all repeated"
        ),
        pytest.param(
            [[piece(A[:5], name=N, index=0)], [piece(A[5:], name=N, index=0)], [piece("", name=N, index=0)]],
            ONE,
            id="name repeated without id, to the end",
        ),
        pytest.param(
            [[piece(name=N, index=0, id="a")], [piece(A[:5], index=0, id="b")], [piece(A[5:], index=0, id="c")]],
            ONE,
            id="a new id with every piece",
        ),
        pytest.param([[piece(name="search_", index=0, id="a")], [piece(A, name="documents", index=0)]], ONE, id="name"),
        pytest.param([[piece(A, name=N, index=0, id="a"), piece(B, name=N, index=1, id="b")]], TWO, id="two at once"),
        pytest.param([[piece(A, name=N, index=0, id="a"), piece(B, name=N, index=0, id="b")]], TWO, id="same index"),
        pytest.param([[piece(A, name=N, index=0)], [piece(B, name=N, index=0)]], TWO, id="same index, no ids"),
        pytest.param([[piece(A, name=N)], [piece(B, name=N)]], TWO, id="two without anything"),
        pytest.param([[piece(A, name=N, id="a")], [piece(B, name=N, id="b")]], TWO, id="two without index"),
        pytest.param([[piece(A, name=N, index=0, id="x"), piece(B, name=N, index=1, id="x")]], TWO, id="the same id"),
        pytest.param(
            [
                [piece(name=N, index=0, id="a"), piece(name=N, index=1, id="b")],
                [piece(A[:5], index=0), piece(B[:5], index=1)],
                [piece(B[5:], index=1), piece(A[5:], index=0)],
            ],
            TWO,
            id="two at the same time",
        ),
        pytest.param(
            [[piece(name=N, id="a"), piece(name=N, id="b")], [piece(A, id="a")], [piece(B, id="b")]],
            TWO,
            id="two by their ids",
        ),
        pytest.param(
            [[piece("{}", name=N, index=0, id="a")], [piece(A[:5], index=0)], [piece(A[5:], index=0)]],
            ONE,
            id="an empty object first",
        ),
        pytest.param(
            [[piece({}, name=N, index=0, id="a")], [piece(A, name=N, index=0, id="a")]], ONE, id="the same, named again"
        ),
        pytest.param(
            [[piece(A[:5], name=N, index=0, id="a")], [piece(A[5:], index=0)], [piece(A, name=N, index=0, id="a")]],
            ONE,
            id="all once more",
        ),
        pytest.param([[piece(A[:5], name=N, index=0)], [piece(A, name=N, index=0)]], ONE, id="all so far each time"),
        pytest.param([[piece(name="fly", index=0, id="a")]], [("fly", "{}")], id="no arguments"),
        pytest.param([[piece(A, index=0, id="functions.search_documents:0")]], ONE, id="named by its id only"),
    ],
)
async def test_calls_are_put_together_whatever_they_come_in(
    model: OpenAIChat, server: ChatServer, events: list[list[dict[str, Any]]], expected: list[tuple[str, str]]
) -> None:
    """Each call has an id that no other has, because its result is sent back under it."""
    deltas = [chunk({"tool_calls": pieces}) for pieces in events]
    server.stream(*deltas, chunk({}, finish="tool_calls"), DONE)
    turn = await turn_of(model, tools=(SEARCH, FLY))
    assert calls_of(turn) == expected
    assert len({call.id for call in turn.tool_calls} - {""}) == len(expected)


async def test_a_call_without_a_name_is_of_the_only_tool(model: OpenAIChat, server: ChatServer) -> None:
    """There is no other that it could be of."""
    server.stream(chunk({"tool_calls": [piece(A, index=0)]}), chunk({}, finish="stop"), DONE)
    assert calls_of(await turn_of(model)) == ONE


async def test_a_call_that_nothing_names_is_a_broken_answer(model: OpenAIChat, server: ChatServer) -> None:
    """It is asked for again, and never half-understood."""
    for _ in range(3):
        server.stream(chunk({"tool_calls": [piece(A, index=0, id="a")]}), chunk({}, finish="tool_calls"), DONE)
    with pytest.raises(ModelUnavailable):
        await ask(model, tools=(SEARCH, FLY))
    assert len(server.received) == 3


@pytest.mark.parametrize("whole", [True, False])
async def test_calls_without_ids_of_two_turns_never_share_one(
    model: OpenAIChat, server: ChatServer, whole: bool
) -> None:
    """Both are in one conversation, and so are their results."""
    server.streams = not whole
    for _ in range(2):
        server.call("search_documents", {"query": "arms"})
        server.script[-1].calls[0]["id"] = None
    first, second = await turn_of(model), await turn_of(model)
    assert isinstance(first, ModelTurn)
    assert first.tool_calls[0].id != second.tool_calls[0].id
