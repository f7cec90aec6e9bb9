"""The job with our own agent and the adapter for chat completions."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from adapters.openai import OpenAIChat
from bench.agent.job import KEY, MODEL, Ask, Job, Show, contend
from bench.agent.question import Shelf, question
from core.agent import Agent
from core.model import TextDelta


@asynccontextmanager
async def ours(job: Job) -> AsyncGenerator[Ask]:
    """Give a way to ask with one agent and one client."""
    model = OpenAIChat(MODEL, api_key=KEY, base_url=job.url)
    agent = Agent(model, Shelf(), clock=time.monotonic)
    asked = question()

    async def ask(show: Show) -> None:
        async for item in agent.run(asked):
            if isinstance(item, TextDelta):
                show(item.text)

    try:
        yield ask
    finally:
        await model.aclose()


if __name__ == "__main__":
    contend(ours)
