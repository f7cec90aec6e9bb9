"""The job with LangGraph alone: nodes that call the model's own client and stream what they like, without LangChain."""

# pyright: basic, reportMissingImports=false
# The framework is no dependency of ours: it lives in the benchmark's own environment, which the checker does not see.

from __future__ import annotations

import json
import operator
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from openai import AsyncOpenAI

from bench.agent.job import KEY, MODEL, Ask, Job, Show, contend


class State(TypedDict):
    """The messages so far."""

    messages: Annotated[list[dict[str, Any]], operator.add]


@asynccontextmanager
async def langgraph_nodes(job: Job) -> AsyncGenerator[Ask]:
    """Give a way to ask with one graph and one client."""
    async with AsyncOpenAI(api_key=KEY, base_url=job.url) as client:

        async def agent(state: State) -> State:
            return {"messages": [await _speak(client, job, state["messages"], get_stream_writer())]}

        async def tools(state: State) -> State:
            return {"messages": [_result(job, call) for call in state["messages"][-1]["tool_calls"]]}

        builder = StateGraph(State)
        builder.add_node("agent", agent)
        builder.add_node("tools", tools)
        builder.add_edge(START, "agent")
        builder.add_conditional_edges("agent", _next)
        builder.add_edge("tools", "agent")
        graph = builder.compile()

        async def ask(show: Show) -> None:
            asked: State = {"messages": [{"role": "user", "content": job.question}]}
            async for piece in graph.astream(asked, stream_mode="custom"):
                show(piece)

        yield ask


def _next(state: State) -> str:
    return "tools" if "tool_calls" in state["messages"][-1] else END


def _result(job: Job, call: dict[str, Any]) -> dict[str, Any]:
    json.loads(call["function"]["arguments"])
    return {"role": "tool", "tool_call_id": call["id"], "content": job.tool.result}


async def _speak(
    client: AsyncOpenAI, job: Job, messages: list[dict[str, Any]], write: Callable[[str], None]
) -> dict[str, Any]:
    """Let the model speak once; give its message."""
    body: Any = {"model": MODEL, "stream": True, "stream_options": {"include_usage": True}, "tools": [job.tool.schema]}
    said: Any = [{"role": "system", "content": job.instructions}, *messages]
    text, calls = "", {}
    async for chunk in await client.chat.completions.create(messages=said, **body):
        for choice in chunk.choices:
            if choice.delta.content:
                text += choice.delta.content
                write(choice.delta.content)
            for part in choice.delta.tool_calls or ():
                _add(part, calls)
    message = {"role": "assistant", "content": text or None}
    return {**message, "tool_calls": list(calls.values())} if calls else message


def _add(part: Any, calls: dict[int, dict[str, Any]]) -> None:
    if part.index in calls:
        calls[part.index]["function"]["arguments"] += part.function.arguments
    else:
        calls[part.index] = part.model_dump(exclude={"index"})


if __name__ == "__main__":
    contend(langgraph_nodes)
