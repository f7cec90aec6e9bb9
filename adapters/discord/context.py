"""Reads what a question refers to: the messages that it replies to, and what was said before it in a thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from adapters.discord.inbound import Json, Place, Self, answered, line
from adapters.discord.poster import translated
from adapters.posting import PostingFailed
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

    async def chain(self, data: Json) -> tuple[Message, ...]:
        """Give the message replied to and those before it, oldest first."""
        said: list[Message | None] = []
        before = await self._before(data)
        while before is not None and len(said) < CHAIN:
            said.append(line(before, me=self.me, place=self.place))
            before = await self._before(before) if len(said) < CHAIN else None
        return tuple(filter(None, reversed(said)))

    async def recalled(self, data: Json) -> tuple[Message, ...]:
        """Give what was said last in the place before a message, oldest first."""
        reading = self.http.logs_from(int(self.place.id), RECALLED, before=int(data["id"]))
        try:
            found = cast("list[dict[str, Any]]", await translated(reading))
        except PostingFailed:
            return ()
        whole = [each.get("referenced_message") or each if each.get("type") == _STARTER else each for each in found]
        return tuple(filter(None, (line(each, me=self.me, place=self.place) for each in reversed(whole))))

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
