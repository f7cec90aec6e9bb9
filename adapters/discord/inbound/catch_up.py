"""Reads what was said while the bot was away, and hears it late."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from discord import StageChannel, TextChannel, Thread, VoiceChannel
from discord.utils import time_snowflake

from adapters.discord.client.poster import translated
from adapters.discord.inbound.permissions import reads
from adapters.retry import NOT_NOW, PATIENT, Retrying
from core.errors import PostingFailed
from core.events import CatchUpCutShort
from core.sentences import WARNING

if TYPE_CHECKING:
    from discord import Guild
    from discord.http import HTTPClient

    from adapters.discord.inbound.event import Json
    from adapters.discord.inbound.ports import Ports

Place: TypeAlias = TextChannel | VoiceChannel | StageChannel | Thread
Hear: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[object]]

LATEST = timedelta(minutes=30)  # what is older is nobody's question any more
AT_ONCE = 3  # places that are read at a time
PAGE = 100  # messages: as many as Discord gives
PAGES = 3  # of one place
TOO_MANY = f"more than {PAGE * PAGES} messages in one place"


class CatchUp:
    """Hears what was missed in a guild; the inbox knows what was heard before, so nothing is answered twice."""

    def __init__(self, http: HTTPClient, hear: Hear, ports: Ports) -> None:
        self._http = http
        self._hear = hear
        self._ports = ports
        self._seats = asyncio.Semaphore(AT_ONCE)
        self._running: set[int] = set()
        self._again: set[int] = set()

    async def run(self, guild: Guild) -> None:
        """Read every place where something was said lately; called while it runs, it runs once more at the end."""
        if guild.id in self._running:
            self._again.add(guild.id)
            return
        self._running.add(guild.id)
        try:
            await self._read(guild)
            while guild.id in self._again:
                self._again.discard(guild.id)
                await self._read(guild)
        finally:
            self._running.discard(guild.id)
            self._again.discard(guild.id)

    async def _read(self, guild: Guild) -> None:
        since, retrying = time_snowflake(self._ports.now() - LATEST), replace(PATIENT, sleep=self._ports.sleep).begin()
        places = _busy_places(guild, since)
        read = await asyncio.gather(*(self._read_place(place, since, retrying) for place in places))
        if reason := next(filter(None, read), ""):
            self._ports.observer(CatchUpCutShort("Discord", reason))

    async def _read_place(self, place: Place, since: int, retrying: Retrying) -> str:
        """Hear what was said in a place; give why not all of it, if it is there to be read."""
        try:
            async with self._seats:
                said, reason = await self._said(place, since, retrying)
                for message in said:
                    if _is_refused(message):
                        continue
                    missed = {**message, "guild_id": str(place.guild.id)}  # which only events have
                    event = "MESSAGE_UPDATE" if message.get("edited_timestamp") else "MESSAGE_CREATE"
                    await retrying.call(partial(self._hear, {"t": event, "d": missed}))
                return reason
        except NOT_NOW as failure:
            return str(failure)
        except PostingFailed:
            pass  # nobody can do anything about it
        return ""

    async def _said(self, place: Place, since: int, retrying: Retrying) -> tuple[Sequence[Json], str]:
        """Give the newest messages after a moment, oldest first, and why not all of them, if there are more."""
        found: list[Json] = []

        async def page() -> list[Json]:
            before = int(found[-1]["id"]) if found else None
            return cast("list[Json]", await translated(self._http.logs_from(place.id, PAGE, before=before)))

        for _ in range(PAGES):
            more = await retrying.call(page)
            found += (message for message in more if int(message["id"]) > since)
            if len(more) < PAGE or int(more[-1]["id"]) <= since:
                return found[::-1], ""
        return found[::-1], TOO_MANY


def _is_refused(message: Json) -> bool:
    """Say whether somebody was told already that there will be no answer to these words, and asked to try again."""
    marks = cast("list[Json]", message.get("reactions") or [])
    is_marked = any(mark["me"] and mark["emoji"]["name"] == WARNING for mark in marks)
    return is_marked and not message.get("edited_timestamp")


def _busy_places(guild: Guild, since: int) -> Sequence[Place]:
    """Give the places where something was said after a moment and that the bot may read; nothing is asked for that.

    Those come first where something was said last: what was missed is among the newest.
    """
    places = (*guild.text_channels, *guild.voice_channels, *guild.stage_channels, *guild.threads)
    busy = [place for place in places if (place.last_message_id or 0) > since and reads(place)]
    return sorted(busy, key=lambda place: place.last_message_id or 0, reverse=True)
