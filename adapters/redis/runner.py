"""Scripts that run on the server, each as one step that happens wholly or not at all.

A script is a function of `script` in a file of the folder `scripts`; those that share code are in one file. What is
sent is the text of the files, the same for all of their scripts, so that a server has to be told it once.
"""

from __future__ import annotations

import re
from contextlib import suppress
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias

from adapters.redis.connection import translated
from adapters.redis.failure import NEWER
from core.errors import StoreUnavailable

if TYPE_CHECKING:
    from redis.asyncio import Redis

Argument: TypeAlias = str | bytes | int | float
VERSION = b"1"  # of all that is stored; what was stored before there was a number is of the first
VERSION_KEY = "footnote:version"
SCRIPT = re.compile(r"^function script\.(?P<name>\w+)\((?P<arguments>.*)\)$", re.MULTILINE)


class ScriptRunner:
    """Runs the scripts of some files; each file finds the local functions of those before it."""

    def __init__(self, client: Redis, *files: str) -> None:
        folder = resources.files("adapters.redis").joinpath("scripts")
        text = "\n".join(folder.joinpath(f"{name}.lua").read_text("utf-8") for name in ("prelude", *files))
        self._client = client
        self._is_checked = False
        self._script = client.register_script(f"{text}\nreturn run(unpack(ARGV))\n")
        self._names = {str(each["name"]): str(each["arguments"]).split(", ") for each in SCRIPT.finditer(text)}

    async def __call__(self, script: str, *keys: str, **given: Argument) -> Any:
        """Return what a script does with those of the arguments that it names. Raises `StoreUnavailable`.

        The keys of one call share a hash tag; the first may be the beginning of the names of all others. What is a
        number or a truth value here is one there.
        """
        if not self._is_checked:
            await check_version(self._client)
            self._is_checked = True
        kinds, values = "", list[Argument]()
        for value in (given[name] for name in self._names[script] if name):
            kinds += "b" if isinstance(value, bool) else "n" if isinstance(value, int | float) else "s"
            values.append(int(value) if isinstance(value, bool) else value)
        with translated():
            return await self._script(keys, [script, kinds, *values])


async def check_version(client: Redis) -> None:
    """Note the version of what is stored where none is noted yet. Raises `StoreUnavailable` if it is not ours.

    A version that stores something in another form raises the number, and brings what is older into its own form here,
    as one step, before it notes its number.
    """
    with translated():
        found = await client.get(VERSION_KEY)
    if found not in (None, VERSION):
        raise StoreUnavailable(NEWER)
    if found is None:
        with suppress(StoreUnavailable), translated():  # a server that is full can still be read
            await client.set(VERSION_KEY, VERSION, nx=True)
