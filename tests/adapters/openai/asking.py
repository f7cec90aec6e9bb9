"""Short ways to ask the model behind the server."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.openai import OpenAIChat, OpenAILimits
from adapters.retry import RetryPolicy, doubling
from core.events import Observer, unobserved
from core.model import Handover, ModelTurn, Prompt, Restarted, TextDelta, ToolCall, ToolSpec
from tests.servers.openai import KEY, MODEL, ChatServer

QUICK = RetryPolicy(doubling(0.001, 8.0), attempts=3, longest=8.0, jitter=True)
PATIENT = OpenAILimits(connect=5.0, first=30.0, read=30.0)
IMPATIENT = OpenAILimits(connect=5.0, first=0.6, read=0.6)
SEARCH = ToolSpec(
    "search_documents",
    "Search the documents.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
ASKED = Prompt(({"role": "system", "content": "Cite."}, {"role": "user", "content": "What is a robot?"}))

Item = TextDelta | Restarted | Handover | ModelTurn


def model_of(
    server: ChatServer, *, api_key: str = KEY, limits: OpenAILimits = PATIENT, observer: Observer = unobserved
) -> OpenAIChat:
    """The real client against the server, quick to try again."""
    return OpenAIChat(MODEL, api_key=api_key, base_url=server.base_url, retries=QUICK, limits=limits, observer=observer)


async def ask(model: OpenAIChat, prompt: Prompt = ASKED, tools: Sequence[ToolSpec] = (SEARCH,)) -> list[Item]:
    """Everything that the model yields; neighbouring text is joined, since the network decides what comes together."""
    items: list[Item] = []
    async for item in model.stream(prompt, tools=tools):
        if isinstance(item, TextDelta) and items and isinstance(items[-1], TextDelta):
            items[-1] = TextDelta(items[-1].text + item.text)
        else:
            items.append(item)
    return items


async def ask_into(items: list[Item], model: OpenAIChat) -> None:
    """Put everything that the model yields into *items*, for tests where it ends with an error."""
    async for item in model.stream(ASKED, tools=()):
        items.append(item)  # noqa: PERF401 - what came before the error counts too


async def turn_of(model: OpenAIChat, prompt: Prompt = ASKED, tools: Sequence[ToolSpec] = (SEARCH,)) -> ModelTurn:
    """The turn alone, which has to be the last item and the only turn."""
    *before, last = await ask(model, prompt, tools)
    assert isinstance(last, ModelTurn)
    assert not [item for item in before if isinstance(item, ModelTurn)]
    return last


def shown(items: Sequence[Item]) -> str:
    """What a reader has before their eyes in the end."""
    text = ""
    for item in items:
        match item:
            case TextDelta(piece):
                text += piece
            case Restarted() | Handover():
                text = ""
            case ModelTurn():
                pass
    return text


def calls_of(turn: ModelTurn) -> list[tuple[str, str]]:
    """The calls without their ids."""
    return [(call.name, call.arguments) for call in turn.tool_calls]


def search(query: str, *, id: str) -> ToolCall:  # noqa: A002 - the field's name
    """A call of the search tool as its arguments are usually written."""
    return ToolCall(id=id, name="search_documents", arguments=f'{{"query": "{query}"}}')
