"""The job with pydantic-ai, as its documentation shows streaming text; nothing is instrumented."""

# pyright: basic, reportMissingImports=false
# The framework is no dependency of ours: it lives in the benchmark's own environment, which the checker does not see.

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from openai import AsyncOpenAI
from pydantic_ai import Agent, Tool
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from bench.agent.job import KEY, MODEL, Ask, Job, Show, contend


@asynccontextmanager
async def pydantic_agent(job: Job) -> AsyncGenerator[Ask]:
    """Give a way to ask with one agent and one client."""

    async def search(query: str, top_k: int | None = None, chapter: str | None = None) -> str:  # noqa: ARG001 - as the model calls it
        return job.tool.result

    async with AsyncOpenAI(api_key=KEY, base_url=job.url) as client:
        agent = Agent(
            OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client)),
            instructions=job.instructions,
            tools=[Tool.from_schema(search, job.tool.name, job.tool.description, job.tool.parameters)],
        )

        async def ask(show: Show) -> None:
            async with agent.run_stream(job.question) as result:
                async for text in result.stream_text(delta=True):
                    show(text)

        yield ask


if __name__ == "__main__":
    contend(pydantic_agent)
