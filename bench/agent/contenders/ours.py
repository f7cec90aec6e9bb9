"""The job with our own agent and the adapter for chat completions."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from adapters.openai import OpenAIChat
from bench.agent.job import KEY, MODEL, Ask, Job, Show, contend
from bench.agent.question import Shelf, question
from core.answering.agent import Agent
from core.answering.citations import Sources
from core.answering.dialect import MARKDOWN
from core.answering.tools import Tool
from core.model import Answer, Drafted, Question

INTERVAL = 1.0  # seconds between two drawings, as on a chat platform


@asynccontextmanager
async def ours(job: Job, *, are_checked: bool = True) -> AsyncGenerator[Ask]:
    """Give a way to ask with one agent and one client; whether what is said of the sources is checked is to be told."""
    model = OpenAIChat(MODEL, api_key=KEY, base_url=job.url)
    agent = Agent(model, Shelf(), clock=time.monotonic, tools=None if are_checked else _unchecked)
    asked = question()

    async def ask(show: Show) -> None:
        drawn, shown = 0.0, ""
        async for item in agent.run(asked):
            if isinstance(item, Answer):
                show(item.text.removeprefix(shown))
            elif isinstance(item, Drafted) and time.monotonic() - drawn > INTERVAL:
                written = MARKDOWN.write([block for blocks in item.answer.read() for block in blocks])
                drawn = time.monotonic() if written else drawn
                if written:
                    show(written.removeprefix(shown))
                shown = written

    try:
        yield ask
    finally:
        await model.aclose()


def _unchecked(_: Question, sources: Sources) -> Sequence[Tool]:
    """Have what is said of the sources not checked, as for quotes; who gives more tools has the sources at first."""
    sources.are_checked = False
    return ()


if __name__ == "__main__":
    contend(ours)
