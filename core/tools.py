"""A tool is a typed function; its JSON schema comes from its signature, annotations and docstring."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from core.model import ToolSpec

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
