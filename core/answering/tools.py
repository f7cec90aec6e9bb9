"""Tools: typed functions that a model may call, and what runs its calls side by side and records them."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from core.errors import LeaseLost
from core.events import Observer, ServiceFailed, ToolCalled
from core.model import ChatMessage, MessageRef, ToolCall, ToolRecord, ToolSpec

ToolFunction: TypeAlias = Callable[..., Awaitable[Mapping[str, Any]]]


class ToolError(Exception):
    """Something that the model should be told in words, so that it can do better."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What goes back to the model, as JSON text, and whether the call did what it should."""

    text: str
    success: bool


class Tool:
    """A function that the model may call. Its annotations are `Annotated[type, Field(description=...)]`.

    Where it *grounds* an answer, what it returns is enough to answer from, also without a footnote.
    """

    def __init__(self, function: ToolFunction, *, grounds: bool = False) -> None:
        self._function = function
        self.grounds = grounds
        self._arguments, self.spec = _read(getattr(function, "__func__", function))

    async def call(self, arguments: str) -> ToolOutput:
        """Run the function on the model's arguments; whatever is wrong with them is told to the model as text."""
        try:
            values = self._arguments.model_validate_json(arguments or "{}")
            data = await self._function(**values.model_dump())
        except ValidationError as error:
            reasons = (
                f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}"
                for item in error.errors(include_url=False, include_input=False, include_context=False)
            )
            said = f"Bad arguments for {self.spec.name}: {'; '.join(reasons)}. Call it again with corrected arguments."
            return failure(said)
        except ToolError as error:
            return failure(str(error))
        text = json.dumps({"success": True, "data": data, "error": None}, ensure_ascii=False)
        return ToolOutput(text, success=True)


def failure(message: str) -> ToolOutput:
    """Return what tells the model that something went wrong."""
    text = json.dumps({"success": False, "data": None, "error": message}, ensure_ascii=False)
    return ToolOutput(text, success=False)


@lru_cache(maxsize=64)
def _read(function: ToolFunction) -> tuple[type[BaseModel], ToolSpec]:
    """Return the model of the arguments, and what the chat model is told; making them takes longer than most calls.

    The titles that pydantic makes up are left out: they cost tokens and say nothing.
    """
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        name: (hints[name], ... if parameter.default is inspect.Parameter.empty else parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    }
    arguments = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
    schema = arguments.model_json_schema()
    for part in (schema, *schema.get("properties", {}).values()):
        part.pop("title", None)
    return arguments, ToolSpec(function.__name__, inspect.getdoc(function) or "", schema)


class Toolbox:
    """Finds a tool by its name; an unknown name is told to the model, not raised."""

    def __init__(
        self, tools: Sequence[Tool], *, question: MessageRef, clock: Callable[[], float], observer: Observer
    ) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self.specs = tuple(tool.spec for tool in tools)
        self._question = question
        self._clock = clock
        self._observer = observer
        self.records: list[ToolRecord] = []
        self.has_grounds = False

    async def call(self, calls: Sequence[ToolCall]) -> list[ChatMessage]:
        """Run all calls at once; return the results as messages, in the order of the calls."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._call(call)) for call in calls]
        done = [task.result() for task in tasks]
        self.records.extend(record for _, record in done)
        return [
            {"role": "tool", "tool_call_id": call.id, "content": text}
            for call, (text, _) in zip(calls, done, strict=True)
        ]

    async def _call(self, call: ToolCall) -> tuple[str, ToolRecord]:
        """Run a tool; a mistake in it is told to the model in our words, and does not end the question."""
        start = self._clock()
        tool = self._tools.get(call.name)
        try:
            if tool is None:
                output = failure(f"There is no tool {call.name!r}. The tools are: {', '.join(self._tools)}.")
            else:
                output = await tool.call(call.arguments)
                self.has_grounds = self.has_grounds or (tool.grounds and output.success)
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a tool raises, the model can go on without it
            self._observer(ServiceFailed("tool", f"{call.name}: {type(error).__name__}"))
            output = failure(f"{call.name} does not work right now. Go on without it.")
        record = ToolRecord(
            name=call.name,
            arguments=call.arguments,
            success=output.success,
            result_size=len(output.text),
            time_ms=(self._clock() - start) * 1000,
        )
        self._observer(ToolCalled(question=self._question, **record.model_dump()))
        return output.text, record


def asked_for(call: ToolCall) -> str:
    """Return the query of a search call, for showing; empty where the arguments are not what they should be."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return ""
    query = arguments.get("query", "") if isinstance(arguments, dict) else ""  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - the model's JSON
    return query if isinstance(query, str) else ""
