"""The server of these tests refuses what the real one refuses, so that a wrong request cannot pass unseen."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.servers.openai import KEY, MODEL, ChatServer

USER = {"role": "user", "content": "Robots?"}
FUNCTION = {"name": "search_documents", "arguments": "{}"}
CALLING = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": FUNCTION}]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "{}"}


async def post(server: ChatServer, body: Any, *, key: str = KEY) -> tuple[int, Any]:
    """Send a request as it is, and give the status and the answer."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{server.base_url}/chat/completions", json=body) as response,
    ):
        return response.status, await response.json()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"messages": []}, "empty array"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "Invalid value: 'robot'"),
        ({"messages": [{"role": "user", "content": None}]}, "got null"),
        ({"messages": [USER, RESULT]}, "must be a response to a preceding message"),
        ({"messages": [USER, CALLING]}, "must be followed by tool messages"),
        ({"messages": [USER, CALLING, USER, RESULT]}, "must be followed by tool messages"),
        ({"stream_options": {"include_usage": True}}, "only allowed when 'stream'"),
        ({"tool_choice": "auto"}, "only allowed when 'tools'"),
        ({"tools": [{"type": "function"}]}, "tools[0].function"),
        ({"tools": [{"type": "function", "function": {"name": "a b", "parameters": {"type": "object"}}}]}, "name"),
        ({"tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": "array"}}}]}, "schema"),
        ({"temper": 1}, "Unrecognized request argument supplied: temper"),
    ],
)
async def test_a_request_of_a_wrong_shape_is_refused(server: ChatServer, changes: dict[str, Any], words: str) -> None:
    """The status is 400, and the words are those of the real service."""
    status, answer = await post(server, {"model": MODEL, "messages": [USER], **changes})
    assert (status, answer["error"]["type"]) == (400, "invalid_request_error")
    assert words in answer["error"]["message"]


async def test_keys_models_and_addresses_are_checked(server: ChatServer) -> None:
    """Each refusal has the code that clients look at."""
    body = {"model": MODEL, "messages": [USER]}
    status, answer = await post(server, body, key="sk-wrong")
    assert (status, answer["error"]["code"]) == (401, "invalid_api_key")
    status, answer = await post(server, {**body, "model": "gpt-0"})
    assert (status, answer["error"]["code"]) == (404, "model_not_found")


async def test_models_are_listed(server: ChatServer) -> None:
    """With the key only."""
    headers = {"Authorization": f"Bearer {KEY}"}
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{server.base_url}/models", headers=headers) as response:
            assert [model["id"] for model in (await response.json())["data"]] == [MODEL]
        async with session.get(f"{server.base_url}/models") as response:
            assert response.status == 401


async def test_a_whole_conversation_is_answered_by_itself(server: ChatServer) -> None:
    """It searches first; what is found is quoted, and nothing found is said."""
    function = {"name": "search_documents", "parameters": {"type": "object"}}
    body: dict[str, Any] = {"model": MODEL, "tools": [{"type": "function", "function": function}]}
    _, answer = await post(server, {**body, "messages": [USER]})
    calls = answer["choices"][0]["message"]["tool_calls"]
    assert [call["function"] for call in calls] == [{"name": "search_documents", "arguments": '{"query": "Robots?"}'}]
    _, answer = await post(server, {**body, "messages": [USER, CALLING, RESULT]})
    assert answer["choices"][0]["message"]["content"] == "I could not find that."
