"""The tools of one question: runs the model's calls side by side and keeps a record of each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence

from core.errors import LeaseLost
from core.events import Observer, ServiceFailed, ToolCalled
from core.model import ChatMessage, MessageRef, ToolCall, ToolRecord, ToolSpec
from core.tools import Tool, ToolOutput, failure


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
