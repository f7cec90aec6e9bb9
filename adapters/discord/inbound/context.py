"""Reads what a question refers to: the messages that it replies to, and what was said before it in a thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from adapters.discord.client.poster import translated
from adapters.discord.inbound.event import Json, Place, Self, answered, line
from core.errors import PostingFailed
from core.model import Message

if TYPE_CHECKING:
    from discord.http import HTTPClient

CHAIN = 5  # messages: the one replied to, and those before it
RECALLED = 20  # messages of a thread that people were having
_STARTER = 21  # the type of the message that stands in a thread for the one that it was opened on


@dataclass(frozen=True, slots=True)
class Context:
    """Reads around a message by request; what cannot be read is left out."""

    http: HTTPClient
    me: Self
    place: Place

    async def completed(self, data: Json) -> Json:
        """Give a message with the one that it replies to, which Discord leaves out at times."""
        if not answered(data) or "referenced_message" in data:
            return data
        return {**data, "referenced_message": await self._fetched(data)}

    async def read(self, data: Json, *, recalls: bool) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
        """Give what was said before a message if it *recalls* that, and what it replies to; no message is in both.

        Of each, the oldest comes first.
        """
        chain = await self._chain(data)
        known = {said["id"] for said in chain}
        before = [said for said in await self._recalled(data) if said["id"] not in known] if recalls else []
        return self._lines(before), self._lines(chain)

    def _lines(self, messages: Sequence[Json]) -> tuple[Message, ...]:
        return tuple(filter(None, (line(said, me=self.me, place=self.place) for said in messages)))

    async def _chain(self, data: Json) -> Sequence[Json]:
        """Give the message replied to and those before it, oldest first."""
        said: list[Json] = []
        before = await self._before(data)
        while before is not None and len(said) < CHAIN:
            said.append(before)
            before = await self._before(before) if len(said) < CHAIN else None
        return said[::-1]

    async def _recalled(self, data: Json) -> Sequence[Json]:
        """Give what was said last in the place before a message, oldest first."""
        reading = self.http.logs_from(int(self.place.id), RECALLED, before=int(data["id"]))
        try:
            found = cast("list[dict[str, Any]]", await translated(reading))
        except PostingFailed:
            return ()
        whole = [each.get("referenced_message") or each if each.get("type") == _STARTER else each for each in found]
        return whole[::-1]

    async def _before(self, data: Json) -> Json | None:
        """Give the message that one replies to; None if it is no reply, or to one that is gone."""
        if not answered(data):
            return None
        return data["referenced_message"] if "referenced_message" in data else await self._fetched(data)

    async def _fetched(self, data: Json) -> Json | None:
        try:
            found = await translated(self.http.get_message(int(self.place.id), int(answered(data))))
        except PostingFailed:
            return None
        return cast("dict[str, Any]", found)
