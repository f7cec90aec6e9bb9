"""The job with openai-agents, as its documentation shows streaming with a client of one's own; tracing is off."""

# pyright: basic, reportMissingImports=false
# The framework is no dependency of ours: it lives in the benchmark's own environment, which the checker does not see.

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agents import (
    Agent,
    FunctionTool,
    ModelSettings,
    OpenAIChatCompletionsModel,
    RunContextWrapper,
    Runner,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from bench.agent.job import KEY, MODEL, Ask, Job, Show, contend

set_tracing_disabled(True)


@asynccontextmanager
async def agents_sdk(job: Job) -> AsyncGenerator[Ask]:
    """Give a way to ask with one agent and one client."""

    async def search(context: RunContextWrapper, arguments: str) -> str:  # noqa: ARG001 - as the framework calls it
        json.loads(arguments)
        return job.tool.result

    async with AsyncOpenAI(api_key=KEY, base_url=job.url) as client:
        agent = Agent(
            name="Footnote",
            instructions=job.instructions,
            model=OpenAIChatCompletionsModel(model=MODEL, openai_client=client),
            model_settings=ModelSettings(include_usage=True),
            tools=[
                FunctionTool(job.tool.name, job.tool.description, job.tool.parameters, search, strict_json_schema=False)
            ],
        )

        async def ask(show: Show) -> None:
            result = Runner.run_streamed(agent, job.question)
            async for event in result.stream_events():
                if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                    show(event.data.delta)

        yield ask


if __name__ == "__main__":
    contend(agents_sdk)
