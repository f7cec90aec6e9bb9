"""Scripts that run on the server, each as one step that happens wholly or not at all.

A script is a function of `script` in a file of the folder `scripts`; those that share code are in one file. What is
sent is the text of the files, the same for all of their scripts, so that a server has to be told it once.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias

from adapters.redis.connection import translated

if TYPE_CHECKING:
    from redis.asyncio import Redis

Argument: TypeAlias = str | bytes | int | float
SCRIPT = re.compile(r"^function script\.(?P<name>\w+)\((?P<arguments>.*)\)$", re.MULTILINE)


class ScriptRunner:
    """Runs the scripts of some files; each file finds the local functions of those before it."""

    def __init__(self, client: Redis, *files: str) -> None:
        folder = resources.files("adapters.redis").joinpath("scripts")
        text = "\n".join(folder.joinpath(f"{name}.lua").read_text("utf-8") for name in ("prelude", *files))
        self._script = client.register_script(f"{text}\nreturn run(unpack(ARGV))\n")
        self._names = {str(each["name"]): str(each["arguments"]).split(", ") for each in SCRIPT.finditer(text)}

    async def __call__(self, script: str, *keys: str, **given: Argument) -> Any:
        """Return what a script does with those of the arguments that it names. Raises `StoreUnavailable`.

        The keys of one call share a hash tag; the first may be the beginning of the names of all others. What is a
        number or a truth value here is one there.
        """
        kinds, values = "", list[Argument]()
        for value in (given[name] for name in self._names[script] if name):
            kinds += "b" if isinstance(value, bool) else "n" if isinstance(value, int | float) else "s"
            values.append(int(value) if isinstance(value, bool) else value)
        with translated():
            return await self._script(keys, [script, kinds, *values])
