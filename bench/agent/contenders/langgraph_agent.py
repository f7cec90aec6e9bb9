"""The job with LangGraph, as its documentation shows an agent made of two nodes that streams messages; no tracing."""

# pyright: basic, reportMissingImports=false
# The framework is no dependency of ours: it lives in the benchmark's own environment, which the checker does not see.

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from langchain_core.messages import SystemMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from bench.agent.job import KEY, MODEL, Ask, Job, Show, contend


@asynccontextmanager
async def langgraph_agent(job: Job) -> AsyncGenerator[Ask]:
    """Give a way to ask with one graph and one client."""

    async def search(query: str, top_k: int | None = None, chapter: str | None = None) -> str:  # noqa: ARG001 - as the model calls it
        return job.tool.result

    tool = StructuredTool.from_function(
        coroutine=search, name=job.tool.name, description=job.tool.description, args_schema=job.tool.parameters
    )
    model = ChatOpenAI(model=MODEL, api_key=KEY, base_url=job.url, stream_usage=True).bind_tools([tool])
    system = SystemMessage(job.instructions)

    async def agent(state: MessagesState) -> dict:
        return {"messages": [await model.ainvoke([system, *state["messages"]])]}

    builder = StateGraph(MessagesState)
    builder.add_node("agent", agent)
    builder.add_node("tools", ToolNode([tool]))
    builder.add_edge(START, "agent")
    builder.add_conditional_edges("agent", tools_condition)
    builder.add_edge("tools", "agent")
    graph = builder.compile()

    async def ask(show: Show) -> None:
        asked = {"messages": [{"role": "user", "content": job.question}]}
        async for message, metadata in graph.astream(asked, stream_mode="messages"):
            if metadata["langgraph_node"] == "agent" and message.content:
                show(message.content)

    yield ask


if __name__ == "__main__":
    contend(langgraph_agent)
