"""What every chat model promises, whether it writes, quotes or follows a script."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence

import pytest

from adapters.extractive import ExtractiveModel
from adapters.openai import OpenAIChat
from core.answering.prompts import opening
from core.model import ModelTurn, Prompt, Restarted, TextDelta, ToolSpec
from core.ports import ChatModel
from tests.builders import question
from tests.fakes.chat import ScriptedChatModel, search, turn
from tests.fakes.embedder import HashEmbedder
from tests.servers.openai import KEY, MODEL, ChatServer

SEARCH = ToolSpec(
    "search_documents",
    "Search the documents.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
ASKED = Prompt(
    ({"role": "system", "content": "Cite."}, {"role": "user", "content": "Which stones do penguins build with?"})
)
FOUND = {
    "number": 1,
    "text": "Penguins build nests out of small stones.",
    "title": "Penguins",
    "section": "Nests",
    "url": "https://zoo.example/penguins#nests",
    "score": 0.9,
}
IMPLEMENTATIONS: dict[str, Callable[[ChatServer], ChatModel]] = {
    "scripted": lambda _: ScriptedChatModel(turn(search("stones")), turn("Out of small ", "stones [1].")),
    "extractive": lambda _: ExtractiveModel(HashEmbedder()),
    "openai": lambda server: OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url),
}


@pytest.fixture(name="model", params=IMPLEMENTATIONS)
async def _model(request: pytest.FixtureRequest) -> AsyncGenerator[ChatModel]:
    """Give one implementation after the other, beside a server for the one that needs it."""
    async with ChatServer() as server:
        model = IMPLEMENTATIONS[request.param](server)
        yield model
        if isinstance(model, OpenAIChat):
            await model.aclose()


async def said(model: ChatModel, prompt: Prompt, tools: Sequence[ToolSpec]) -> tuple[str, ModelTurn]:
    """Give the text that was streamed and the turn, which is the last item and the only turn."""
    *before, last = [item async for item in model.stream(prompt, tools=tools)]
    assert isinstance(last, ModelTurn)
    text = ""
    for item in before:
        assert isinstance(item, TextDelta | Restarted)
        text = text + item.text if isinstance(item, TextDelta) else ""
    return text, last


def after(prompt: Prompt, called: ModelTurn) -> Prompt:
    """Give the prompt with the model's calls and what the tool found."""
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in called.tool_calls
    ]
    data = {"results": [FOUND], "total": 1, "query": "stones"}
    content = json.dumps({"success": True, "data": data, "error": None})
    results = [{"role": "tool", "tool_call_id": call.id, "content": content} for call in called.tool_calls]
    return Prompt((*prompt.messages, {"role": "assistant", "content": None, "tool_calls": calls}, *results))


async def test_a_question_with_passages_becomes_text(model: ChatModel) -> None:
    """With a mark, and without a search: what is there answers it."""
    asked = opening(question("Which stones do penguins build with?"), (), [FOUND])
    if isinstance(model, ScriptedChatModel):  # as its script says
        await said(model, asked, (SEARCH,))
    streamed, answered = await said(model, asked, (SEARCH,))

    assert (answered.text, answered.tool_calls) == (streamed, ())
    assert "[1]" in streamed


async def test_a_question_becomes_a_search_and_the_results_become_text(model: ChatModel) -> None:
    """Calls have ids of their own, the tool's name and JSON; the turn holds the text that was streamed, with a mark."""
    _, called = await said(model, ASKED, (SEARCH,))
    streamed, answered = await said(model, after(ASKED, called), (SEARCH,))

    assert {call.name for call in called.tool_calls} == {"search_documents"}
    assert len({call.id for call in called.tool_calls}) == len(called.tool_calls)
    assert all("query" in json.loads(call.arguments) for call in called.tool_calls)
    assert (answered.text, answered.tool_calls) == (streamed, ())
    assert "[1]" in streamed
    assert answered.model


async def test_a_stream_can_be_closed_before_its_end(model: ChatModel) -> None:
    """Whoever reads may leave; the next question is answered as if nothing had been."""
    _, called = await said(model, ASKED, (SEARCH,))
    stream = model.stream(after(ASKED, called), tools=())
    first = await anext(stream)
    await stream.aclose()

    assert isinstance(first, TextDelta)
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
