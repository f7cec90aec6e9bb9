"""How much the model reads: set, listed, or told as it refuses a prompt that is too long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from adapters.openai import OpenAIChat, OpenAILimits
from adapters.openai.dialect import LEARNED
from core.answering.agent import Agent
from core.answering.context import size_of
from core.errors import PromptTooLong
from core.model import Prompt, Status, Turn
from tests.adapters.openai.asking import ASKED, QUICK, ask
from tests.builders import conversation, hit, question, turn_of
from tests.fakes.clock import Clock
from tests.fakes.shelf import Shelf
from tests.servers.openai import KEY, MODEL, ChatServer
from tests.servers.openai_refusals import TOO_LONG
from tests.servers.service import Reply

CASES = [pytest.param(*case, id=name) for name, case in TOO_LONG.items()]


@pytest.mark.parametrize(("reply", "limit"), CASES)
async def test_a_prompt_that_is_too_long_is_told_as_one(
    model: OpenAIChat, server: ChatServer, reply: Reply, limit: int | None
) -> None:
    """With the limit, which is known from then on; it is asked again by nobody with the same prompt."""
    server.faults.append(reply)
    with pytest.raises(PromptTooLong, match="OPENAI_CONTEXT_TOKENS") as caught:
        await ask(model)
    assert (caught.value.limit, model.context_tokens, caught.value.is_final) == (limit, limit, True)
    assert [one.method for one in server.received].count("POST") == 1


async def test_a_refusal_in_a_stream_is_one(model: OpenAIChat, server: ChatServer) -> None:
    """As older servers of llama.cpp have it, with status 200."""
    server.faults.append(Reply(200, TOO_LONG["llama.cpp"][0].body))
    with pytest.raises(PromptTooLong) as caught:
        await ask(model)
    assert caught.value.limit == 4096


@pytest.mark.parametrize(
    ("listed", "limit"),
    [
        ({"max_model_len": 4096}, 4096),
        ({"context_length": 32_768, "top_provider": {"context_length": 16_384}}, 16_384),
        ({"context_window": 131_072, "max_completion_tokens": 8192}, 131_072),
        ({"meta": {"n_ctx_train": 32_768, "n_ctx": 2048}}, 2048),
        ({"meta": {"n_ctx_train": 32_768}}, 32_768),
        ({"max_context_length": "many"}, None),
        ({}, None),
    ],
)
async def test_a_limit_that_is_not_told_is_looked_up(
    model: OpenAIChat, server: ChatServer, listed: Mapping[str, Any], limit: int | None
) -> None:
    """In the list of models, where vLLM, OpenRouter, Groq and llama.cpp say it."""
    server.listed = dict(listed)
    server.faults.append(TOO_LONG["Bedrock"][0])
    with pytest.raises(PromptTooLong) as caught:
        await ask(model)
    assert (caught.value.limit, model.context_tokens) == (limit, limit)


async def test_a_service_without_a_list_tells_nothing(model: OpenAIChat, server: ChatServer) -> None:
    """That is no error of its own."""
    server.faults += [TOO_LONG["Bedrock"][0], Reply(404, "<html>", {"Content-Type": "text/html"})]
    with pytest.raises(PromptTooLong) as caught:
        await ask(model)
    assert caught.value.limit is None


async def test_what_was_too_long_is_not_sent_again_where_no_limit_is_told(server: ChatServer) -> None:
    """What is then asked is cut beforehand for a while, but not because of one odd refusal of what was read before."""
    clock, refused = Clock(), list[bool]()

    def rule(body: Mapping[str, Any]) -> Reply | None:
        refused.append(size_of(body["messages"]) > most)
        return TOO_LONG["Bedrock"][0] if refused[-1] else None

    async def refusals_of(*past: Turn) -> int:
        """How often a question in such a conversation is refused before it is answered."""
        refused.clear()
        assert (await agent.answer(question(), conversation(*past))).status is Status.ANSWERED
        return sum(refused)

    model = OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url, retries=replace(QUICK, clock=clock))
    agent, long = Agent(model, Shelf(hit()), clock=clock), turn_of("What?", "It acts. " * 500)
    server.rules.append(rule)
    most = 24_000
    assert [await refusals_of(*[long] * 8) for _ in range(3)] == [1, 0, 0]
    clock.advance(LEARNED)
    assert [await refusals_of(*[long] * 8) for _ in range(3)] == [0, 1, 0]
    clock.advance(LEARNED)
    await refusals_of()
    most = 12_000
    assert [await refusals_of(*[long] * 3) for _ in range(3)] == [1, 1, 0]
    await model.aclose()


async def test_a_limit_is_the_services_and_not_somebodys(model: OpenAIChat, server: ChatServer) -> None:
    """A server that repeats the prompt repeats what people wrote."""
    said = "What if the maximum context length is 300 tokens?"
    message = f"Cannot read: {said} This model's maximum context length is 8192 tokens."
    server.faults.append(Reply(400, {"error": {"message": message}}))
    prompt = Prompt((*ASKED.messages[:1], {"role": "user", "content": said}))
    with pytest.raises(PromptTooLong) as caught:
        await ask(model, prompt)
    assert caught.value.limit in {8192, None}


@pytest.mark.parametrize(("context", "most"), [(4096, 1024), (None, 8192), (1_000_000, 8192)])
async def test_a_small_context_leaves_room_for_what_is_asked(
    server: ChatServer, context: int | None, most: int
) -> None:
    """No answer is asked for that is as long as all that can be read."""
    limits = OpenAILimits(tokens=8192, context=context)
    model = OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url, limits=limits, retries=QUICK)
    server.say("Yes.")
    await ask(model)
    assert (server.received[0].body["max_tokens"], model.most_tokens, model.context_tokens) == (most, most, context)
    await model.aclose()


async def test_a_limit_only_gets_smaller(server: ChatServer) -> None:
    """What is set is not exceeded because a service says that it reads more."""
    limits = OpenAILimits(context=2048)
    model = OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url, limits=limits, retries=QUICK)
    server.faults.append(TOO_LONG["vLLM"][0])
    with pytest.raises(PromptTooLong):
        await ask(model)
    assert model.context_tokens == 2048
    await model.aclose()
