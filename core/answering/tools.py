"""Tools: typed functions that a model may call, and what runs its calls side by side and records them."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from core.errors import LeaseLost
from core.events import Observer, ServiceFailed, ToolCalled
from core.model import ChatMessage, MessageRef, ToolCall, ToolRecord, ToolSpec

ToolFunction: TypeAlias = Callable[..., Awaitable[Mapping[str, Any]]]


class ToolError(Exception):
    """Something that the model should be told in words, so that it can do better."""


class Tool:
    """A function that the model may call. Its annotations are `Annotated[type, Field(description=...)]`.

    Where it *grounds* an answer, what it returns is enough to answer from, also without a footnote.
    """

    def __init__(self, function: ToolFunction, *, grounds: bool = False) -> None:
        self.function = function
        self.grounds = grounds
        self.arguments, self.spec = _read(getattr(function, "__func__", function))


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


@dataclass
class Toolbox:
    """Runs the calls of a model, and records them; whatever goes wrong is told to the model, not raised."""

    tools: Sequence[Tool]
    question: MessageRef
    clock: Callable[[], float]
    observer: Observer
    records: list[ToolRecord] = field(default_factory=list[ToolRecord])
    has_grounds: bool = False

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
        start, text, error = self.clock(), "", ""
        tool = next((tool for tool in self.tools if tool.spec.name == call.name), None)
        try:
            if tool is None:
                error = f"There is no tool {call.name!r}. The tools are: {', '.join(t.spec.name for t in self.tools)}."
            else:
                values = tool.arguments.model_validate_json(call.arguments or "{}").model_dump()
                data = await tool.function(**values)
                text = json.dumps({"success": True, "data": data, "error": None}, ensure_ascii=False)
                self.has_grounds = self.has_grounds or tool.grounds
        except LeaseLost:
            raise
        except ValidationError as invalid:
            reasons = "; ".join(
                f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}"
                for item in invalid.errors(include_url=False, include_input=False, include_context=False)
            )
            error = f"Bad arguments for {call.name}: {reasons}. Call it again with corrected arguments."
        except ToolError as told:
            error = str(told)
        except Exception as mistake:  # noqa: BLE001 - whatever a tool raises, the model can go on without it
            self.observer(ServiceFailed("tool", f"{call.name}: {type(mistake).__name__}"))
            error = f"{call.name} does not work right now. Go on without it."
        is_done = bool(text)
        text = text or json.dumps({"success": False, "data": None, "error": error}, ensure_ascii=False)
        took = (self.clock() - start) * 1000
        record = ToolRecord(
            name=call.name, arguments=call.arguments, success=is_done, result_size=len(text), time_ms=took
        )
        self.observer(ToolCalled(question=self.question, **record.model_dump()))
        return text, record


def asked_for(call: ToolCall) -> str:
    """Return the query of a search call, for showing; empty where the arguments are not what they should be."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return ""
    query = arguments.get("query", "") if isinstance(arguments, dict) else ""  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - the model's JSON
    return query if isinstance(query, str) else ""
