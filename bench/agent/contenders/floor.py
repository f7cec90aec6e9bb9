"""What the job costs at least with aiohttp, the standard library's JSON and asyncio: a loop and events read by hand.

It makes as many calls as ours: the question is given with what was found for it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from bench.agent.job import KEY, MODEL, Ask, Job, Show, contend


@asynccontextmanager
async def floor(job: Job) -> AsyncGenerator[Ask]:
    """Give a way to ask with one HTTP session."""
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {KEY}"}) as session:

        async def ask(show: Show) -> None:
            messages: list[dict[str, Any]] = [
                {"role": "system", "content": job.instructions},
                {"role": "user", "content": job.given},
            ]
            while calls := await _turn(session, job, messages, show):
                results = [{"role": "tool", "tool_call_id": call["id"], "content": _run(job, call)} for call in calls]
                messages += [{"role": "assistant", "content": None, "tool_calls": calls}, *results]

        yield ask


def _run(job: Job, call: dict[str, Any]) -> str:
    json.loads(call["function"]["arguments"])
    return job.tool.result


async def _turn(
    session: aiohttp.ClientSession, job: Job, messages: list[dict[str, Any]], show: Show
) -> list[dict[str, Any]]:
    """Let the model speak once; give its tool calls."""
    body: dict[str, Any] = {
        "model": MODEL,
        "messages": messages,
        "tools": [job.tool.schema],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    calls: dict[int, dict[str, Any]] = {}
    async with session.post(f"{job.url}/chat/completions", json=body) as response:
        rest = b""
        async for piece in response.content.iter_any():
            *events, rest = (rest + piece).split(b"\n\n")
            for event in events:
                if event != b"data: [DONE]":
                    for choice in json.loads(event[6:])["choices"]:
                        _take(choice["delta"], show, calls)
    return list(calls.values())


def _take(delta: dict[str, Any], show: Show, calls: dict[int, dict[str, Any]]) -> None:
    if text := delta.get("content"):
        show(text)
    for part in delta.get("tool_calls") or ():
        if part["index"] in calls:
            calls[part["index"]]["function"]["arguments"] += part["function"]["arguments"]
        else:
            calls[part["index"]] = {"id": part["id"], "type": "function", "function": dict(part["function"])}


if __name__ == "__main__":
    contend(floor)
