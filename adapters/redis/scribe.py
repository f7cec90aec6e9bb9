"""Runs the scripts of the inbox, and seals what people wrote."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pydantic import ValidationError

from adapters.redis.connection import translated
from adapters.redis.seal import Seal
from core.model import MessageRef, Value

if TYPE_CHECKING:
    from redis.asyncio import Redis

PREFIX = "footnote:inbox:{inbox}:"  # the braces keep all keys on one node of a cluster
READY = f"{PREFIX}ready"

Kind = TypeVar("Kind", bound=Value)
Script: TypeAlias = "Callable[..., Awaitable[Any]]"
Words: TypeAlias = tuple[str | bytes | int, ...]


class Scribe:
    """Each script is one step, which happens wholly or not at all; what is not used for *life* goes."""

    def __init__(self, client: Redis, seal: Seal, life: timedelta) -> None:
        self.client = client
        self._seal = seal
        self._life = life // timedelta(milliseconds=1)

    def script(self, text: str) -> Script:
        """Return what runs a script with its first words; raises `StoreUnavailable`."""
        registered = self.client.register_script(text)

        async def run(*words: str | bytes | int) -> object:
            with translated():
                return await registered([READY], [PREFIX, self._life, *words])

        return run

    def named(self, name: str, prelude: str) -> Script:
        """Return what runs the script of a file after *prelude*, with the words that its first line names."""
        text = lua(name)
        named, run = re.findall(r"\w+", text[len("local") : text.index("=")]), self.script(prelude + text)

        async def given(**words: str | bytes | int) -> object:
            return await run(*(words[each] for each in named))

        return given

    def sealed(self, message: MessageRef, field: str, value: Value) -> bytes:
        """Seal a value, so that it can be read as this field of this message only."""
        return self._seal.encrypt(value.model_dump_json(), place=f"{PREFIX}question:{message} {field}")

    def unsealed(self, message: MessageRef, field: str, sealed: bytes | None, kind: type[Kind]) -> Kind | None:
        """Read a value; None if there is none, its key is gone, or another version wrote it in another form."""
        text = self._seal.decrypt(sealed, place=f"{PREFIX}question:{message} {field}") if sealed else None
        try:
            return kind.model_validate_json(text) if text else None
        except ValidationError:
            return None


@cache
def lua(name: str) -> str:
    """Return the text of a script."""
    return resources.files(__package__ or "").joinpath("scripts", f"{name}.lua").read_text()
