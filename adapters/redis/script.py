"""Scripts that run on the server, each as one step that happens wholly or not at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, NewType, ParamSpec, TypeVar, cast

from adapters.redis.connection import translated

if TYPE_CHECKING:
    from redis.asyncio import Redis

Given = ParamSpec("Given")
Result = TypeVar("Result")
Key = NewType("Key", str)
"""The name of a key, or the beginning of the names of several; those of one call share a hash tag."""

READING = {"int": "tonumber({})", "bool": "{} == '1'"}


def script(
    declared: Callable[Concatenate[Redis, Given], Awaitable[Result]],
) -> Callable[Concatenate[Redis, Given], Awaitable[Result]]:
    """Return a function that runs the file `scripts/NAME.lua`, where NAME is that of the *declared* function.

    All parameters but the client are keyword-only, and the script finds each under its own name: a `Key` comes from
    KEYS, and what is a number or a truth value here is one there. The function raises `StoreUnavailable`.
    """
    kinds = {name: str(each.annotation) for name, each in signature(declared).parameters.items() if name != "client"}
    keys = [name for name, kind in kinds.items() if kind == Key.__name__]
    words = [name for name in kinds if name not in keys]
    found = [f"local {name} = KEYS[{place}]" for place, name in enumerate(keys, 1)]
    for place, name in enumerate(words, 1):
        found.append(f"local {name} = {READING.get(kinds[name], '{}').format(f'ARGV[{place}]')}")
    body = files("adapters.redis").joinpath("scripts", f"{declared.__name__}.lua").read_text("utf-8")
    text = f"{' '.join(found)}\n{body}"

    async def run(client: Redis, **given: Any) -> Any:
        values = [int(given[name]) if kinds[name] == "bool" else given[name] for name in words]
        with translated():
            return await client.register_script(text)([given[name] for name in keys], values)

    return cast("Callable[Concatenate[Redis, Given], Awaitable[Result]]", run)
