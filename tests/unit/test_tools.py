"""Functions as tools of a model: schemas from signatures, and whatever arguments a model may write."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from core.answering.tools import Tool, Toolbox, ToolError, asked_for
from core.errors import LeaseLost
from core.events import Event, ServiceFailed, ToolCalled, unobserved
from core.model import ToolRecord, ToolSpec
from tests.builders import question
from tests.fakes.chat import call
from tests.fakes.clock import Clock
from tests.portion import examples


async def add(
    a: Annotated[int, Field(description="One number.")], b: Annotated[int, Field(description="Another.")] = 1
) -> Mapping[str, Any]:
    """Add two numbers."""
    if b == 13:
        raise ToolError("13 is not added here. Take another number.")
    return {"sum": a + b, "note": "größer"}


async def ping() -> Mapping[str, Any]:  # noqa: D103 - a tool may have no description
    return {}


def make_toolbox(events: list[Event] | None = None) -> Toolbox:
    """Two tools for one question; each call takes two seconds by the clock."""
    seen: list[Event] = [] if events is None else events
    return Toolbox([Tool(add), Tool(ping)], question=question().message, clock=Clock(step=2.0), observer=seen.append)


async def told(name: str, arguments: str) -> Any:
    """Give the text that the model is told after one call."""
    [message] = await make_toolbox().call([call(arguments, name=name)])
    return message["content"]


def failure(error: str) -> str:
    """Give what tells the model that something went wrong."""
    return json.dumps({"success": False, "data": None, "error": error}, ensure_ascii=False)


def test_a_schema_comes_from_the_signature() -> None:
    """Types, descriptions and defaults are there, and nothing else is allowed."""
    assert Tool(add).spec == ToolSpec(
        name="add",
        description="Add two numbers.",
        parameters={
            "type": "object",
            "additionalProperties": False,
            "required": ["a"],
            "properties": {
                "a": {"type": "integer", "description": "One number."},
                "b": {"type": "integer", "description": "Another.", "default": 1},
            },
        },
    )


def test_a_tool_without_arguments_and_description_is_a_tool() -> None:
    """Its schema is an empty object."""
    assert Tool(ping).spec == ToolSpec(
        name="ping", description="", parameters={"type": "object", "additionalProperties": False, "properties": {}}
    )


async def test_a_result_goes_back_as_readable_json() -> None:
    """Letters of all languages stay letters."""
    assert await told("add", '{"a": 2}') == '{"success": true, "data": {"sum": 3, "note": "größer"}, "error": null}'


async def test_no_arguments_at_all_are_none() -> None:
    """Some models write nothing where a tool takes nothing."""
    assert await told("ping", "") == '{"success": true, "data": {}, "error": null}'


async def test_all_that_is_wrong_with_the_arguments_is_told_at_once() -> None:
    """The model can mend it in one go."""
    assert await told("add", '{"a": "two", "c": 1}') == failure(
        "Bad arguments for add: a: Input should be a valid integer, unable to parse string as an integer; "
        "c: Extra inputs are not permitted. Call it again with corrected arguments."
    )


async def test_a_tool_can_speak_to_the_model() -> None:
    """What it raises for the model is the model's to read."""
    assert await told("add", '{"a": 1, "b": 13}') == failure("13 is not added here. Take another number.")


ANYTHING = st.one_of(
    st.text(max_size=40),
    st.text(alphabet=st.characters(exclude_categories=()), max_size=10),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc") | st.text(), inner),
        max_leaves=8,
    ).map(json.dumps),
    st.fixed_dictionaries({"a": st.integers(), "b": st.integers() | st.text(max_size=4)}).map(json.dumps),
)


@given(arguments=ANYTHING)
@settings(max_examples=examples(100), deadline=None)
def test_no_arguments_make_a_tool_raise(arguments: str) -> None:
    """Whatever a model writes, the tool gives back an envelope of three keys."""
    envelope = json.loads(asyncio.run(told("add", arguments)))

    assert envelope.keys() == {"success", "data", "error"}
    assert envelope["success"] == (envelope["error"] is None) == (envelope["data"] is not None)


@given(arguments=ANYTHING.filter(lambda text: text.isprintable()))
@settings(max_examples=examples(40), deadline=None)
def test_what_is_asked_for_can_always_be_shown(arguments: str) -> None:
    """It is a string, empty where there is no query."""
    assert asked_for(call(arguments)) == ""


def test_the_query_of_a_call_is_what_it_asks_for() -> None:
    """Only a text can be a query."""
    written = ('{"query": "robots"}', '{"query": 5}', '["query"]', "{", "[" * 200_000, "{}")

    assert [asked_for(call(arguments)) for arguments in written] == ["robots", "", "", "", "", ""]


async def test_results_and_records_keep_the_order_of_the_calls() -> None:
    """An unknown tool is an answer like any other."""
    events: list[Event] = []
    toolbox = make_toolbox(events)
    calls = [call('{"a": 1}', name="add", id="1"), call("{}", name="subtract", id="2"), call("", name="ping", id="3")]

    messages = await toolbox.call(calls)

    unknown = failure("There is no tool 'subtract'. The tools are: add, ping.")
    texts = ['{"success": true, "data": {"sum": 2, "note": "größer"}, "error": null}', unknown]
    texts.append('{"success": true, "data": {}, "error": null}')
    assert messages == [
        {"role": "tool", "tool_call_id": id_, "content": text} for id_, text in zip("123", texts, strict=True)
    ]
    assert toolbox.records == [
        ToolRecord(name=name, arguments=one.arguments, success=good, result_size=len(text), time_ms=2000.0)
        for one, name, good, text in zip(calls, ("add", "unknown", "ping"), (True, False, True), texts, strict=True)
    ]
    assert events == [
        ToolCalled(question().message, each.name, given, each.success, each.result_size, each.time_ms)
        for each, given in zip(toolbox.records, ({"a": "int"}, {}, {}), strict=True)
    ]


@pytest.mark.parametrize(
    ("arguments", "sizes"),
    [
        ('{"a": "my secret", "b": 4242}', {"a": "9 characters", "b": "int"}),
        ('["my secret"]', {"unknown": "13 characters"}),
        ("my secret {", {"unknown": "11 characters"}),
        ('{"a": {"my": "secret"}, "b": ["my secret", "another secret"]}', {"a": "1 items", "b": "2 items"}),
        ('{"a": 1e99, "my_secret": 1, "another": "secret"}', {"a": "float", "unknown": "2 arguments"}),
        ('{"a": true, "b": null}', {"a": "bool", "b": "NoneType"}),
        ('{"a": %s}' % ("4" * 5_000), {"unknown": "5007 characters"}),
    ],
)
async def test_an_event_tells_how_large_arguments_are(arguments: str, sizes: Mapping[str, str]) -> None:
    """By the tool's own names for them, and never what they say, however the model arranged it."""
    events: list[Event] = []
    await make_toolbox(events).call([call(arguments, name="add")])

    assert [event.arguments for event in events if isinstance(event, ToolCalled)] == [sizes]


def test_the_toolbox_lists_its_tools() -> None:
    """The model is told of each."""
    assert [tool.spec.name for tool in make_toolbox().tools] == ["add", "ping"]


async def broken() -> Mapping[str, Any]:
    """Break."""
    raise RuntimeError("postgres://user:secret@db")


async def test_a_mistake_in_a_tool_is_told_to_the_model_and_nothing_of_its_words() -> None:
    """The question goes on without it, and whoever runs the bot hears what kind of mistake it was."""
    events: list[Event] = []
    toolbox = Toolbox([Tool(broken)], question=question().message, clock=Clock(), observer=events.append)

    [message] = await toolbox.call([call("{}", name="broken")])

    assert message["content"] == failure("broken does not work right now. Go on without it.")
    assert ServiceFailed("tool", "broken: RuntimeError") in events
    assert "secret" not in f"{message}{events}"
    assert (toolbox.records[0].success, toolbox.has_grounds) == (False, False)


@pytest.mark.parametrize("error", [LeaseLost("taken over"), asyncio.CancelledError()])
async def test_a_lost_lease_and_a_cancellation_end_the_call(error: BaseException) -> None:
    """They are no business of the model's."""

    async def lost() -> Mapping[str, Any]:
        """Lose it."""
        raise error

    toolbox = Toolbox([Tool(lost)], question=question().message, clock=Clock(), observer=unobserved)
    calling = asyncio.ensure_future(toolbox.call([call("{}", name="lost")]))
    await asyncio.wait([calling])

    assert calling.cancelled() or calling.exception() is error


async def test_a_result_that_grounds_an_answer_is_remembered() -> None:
    """One that has failed is none."""
    toolbox = Toolbox([Tool(ping, grounds=True)], question=question().message, clock=Clock(), observer=unobserved)

    await toolbox.call([call('{"x": 1}', name="ping")])
    before = toolbox.has_grounds
    await toolbox.call([call("", name="ping")])

    assert (before, toolbox.has_grounds) == (False, True)
