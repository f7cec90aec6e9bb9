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
            return failure(_explain(error, self.spec))
        except ToolError as error:
            return failure(str(error))
        return ToolOutput(_envelope(success=True, data=data), success=True)


def failure(message: str) -> ToolOutput:
    """Tell the model what went wrong."""
    return ToolOutput(_envelope(success=False, error=message), success=False)


def _envelope(*, success: bool, data: Mapping[str, Any] | None = None, error: str | None = None) -> str:
    return json.dumps({"success": success, "data": data, "error": error}, ensure_ascii=False)


@lru_cache(maxsize=64)
def _read(function: ToolFunction) -> tuple[type[BaseModel], ToolSpec]:
    """Return the model of the arguments, and what the chat model is told; making them takes longer than most calls."""
    arguments = _arguments_model(function)
    return arguments, ToolSpec(
        name=function.__name__,
        description=inspect.getdoc(function) or "",
        parameters=_schema(arguments),
    )


def _arguments_model(function: ToolFunction) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        name: (hints[name], ... if parameter.default is inspect.Parameter.empty else parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    }
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema without the titles that pydantic makes up: they cost tokens and say nothing."""
    schema = model.model_json_schema()
    schema.pop("title", None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)
    return schema


def _explain(error: ValidationError, spec: ToolSpec) -> str:
    reasons = (
        f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False, include_context=False)
    )
    return f"Bad arguments for {spec.name}: {'; '.join(reasons)}. Call it again with corrected arguments."


class Toolbox:
    """Finds a tool by its name; an unknown name is told to the model, not raised."""

    def __init__(
        self, tools: Sequence[Tool], *, question: MessageRef, clock: Callable[[], float], observer: Observer
    ) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._question = question
        self._clock = clock
        self._observer = observer
        self.records: list[ToolRecord] = []
        self.has_grounds = False

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told about the tools."""
        return tuple(tool.spec for tool in self._tools.values())

    async def call(self, calls: Sequence[ToolCall]) -> list[ChatMessage]:
        """Run all calls at once; give the results as messages, in the order of the calls."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._call(call)) for call in calls]
        done = [task.result() for task in tasks]
        self.records.extend(record for _, record in done)
        return [
            {"role": "tool", "tool_call_id": call.id, "content": output.text}
            for call, (output, _) in zip(calls, done, strict=True)
        ]

    async def _call(self, call: ToolCall) -> tuple[ToolOutput, ToolRecord]:
        start = self._clock()
        tool = self._tools.get(call.name)
        output = await self._output(tool, call) if tool else failure(self._unknown(call.name))
        self.has_grounds = self.has_grounds or bool(tool and tool.grounds and output.success)
        record = ToolRecord(
            name=call.name,
            arguments=call.arguments,
            success=output.success,
            result_size=len(output.text),
            time_ms=(self._clock() - start) * 1000,
        )
        self._observer(ToolCalled(question=self._question, **record.model_dump()))
        return output, record

    async def _output(self, tool: Tool, call: ToolCall) -> ToolOutput:
        """Run a tool; a mistake in it is told to the model in our words, and does not end the question."""
        try:
            return await tool.call(call.arguments)
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a tool raises, the model can go on without it
            self._observer(ServiceFailed("tool", f"{call.name}: {type(error).__name__}"))
            return failure(f"{call.name} does not work right now. Go on without it.")

    def _unknown(self, name: str) -> str:
        return f"There is no tool {name!r}. The tools are: {', '.join(self._tools)}."


def asked_for(call: ToolCall) -> str:
    """Return the query of a search call, for showing; empty where the arguments are not what they should be."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return ""
    query = arguments.get("query", "") if isinstance(arguments, dict) else ""  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - the model's JSON
    return query if isinstance(query, str) else ""


def as_message(text: str, calls: Sequence[ToolCall]) -> ChatMessage:
    """Return the model's own turn back to it, as the chat format wants it before the results."""
    return {
        "role": "assistant",
        "content": text or None,
        "tool_calls": [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ],
    }
