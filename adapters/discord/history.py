"""Reads what was said on Discord lately, for what was missed while the bot was away."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

from discord import StageChannel, TextChannel, Thread, VoiceChannel
from discord.utils import time_snowflake

from adapters.chat.catch_up import HistoryPlace, LateEvent, Missed, Round
from adapters.chat.intake import LATEST
from adapters.discord.poster import TO_READ, rights_in, translated
from core.messages import WARNING

if TYPE_CHECKING:
    from discord import AutoShardedClient

    from adapters.chat.services import ChatServices
    from adapters.discord.events import Json

Room: TypeAlias = TextChannel | VoiceChannel | StageChannel | Thread

AT_ONCE = 3  # channels that are read at a time
PAGE = 100  # messages: as many as Discord gives
PAGES = 3  # of one channel
TOO_MANY = f"more than {PAGE * PAGES} messages in one place"


@dataclass(frozen=True, slots=True)
class DiscordHistory:
    """Implements `History` for the guilds that a client knows; *late* takes what was said as the event that it was."""

    client: AutoShardedClient
    late: Callable[[Json], LateEvent]
    services: ChatServices

    async def places(self, home: str, round_: Round) -> AsyncGenerator[HistoryPlace]:
        """Yield where something was said lately that the bot may read; Discord is not asked for that.

        Those come first where something was said last: what was missed is among the newest.
        """
        guild, since = self.client.get_guild(int(home)), time_snowflake(self.services.now() - LATEST)
        known: Sequence[Room] = ()
        if guild is not None:
            known = (*guild.text_channels, *guild.voice_channels, *guild.stage_channels, *guild.threads)
        late = [room for room in known if (room.last_message_id or 0) > since]
        busy = [room for room in late if TO_READ.isdisjoint(rights_in(room).missing)]
        for room in sorted(busy, key=lambda one: one.last_message_id or 0, reverse=True):
            yield HistoryPlace(partial(self._read, room, since))

    async def _read(self, room: Room, since: int, round_: Round) -> Missed:
        """Return what was said from a snowflake on; what somebody was refused an answer to is left out."""
        found: list[Json] = []

        async def page() -> list[Json]:
            before = int(found[-1]["id"]) if found else None
            return cast("list[Json]", await translated(self.client.http.logs_from(room.id, PAGE, before=before)))

        for _ in range(PAGES):
            more = await round_.retry.call(page)
            found += (message for message in more if int(message["id"]) > since)
            if len(more) < PAGE or int(more[-1]["id"]) <= since:
                break
        else:
            round_.cut(TOO_MANY)
        missed: list[LateEvent] = []
        for message in reversed(found):
            is_edited = bool(message.get("edited_timestamp"))
            marks = cast("list[Json]", message.get("reactions") or [])
            if not is_edited and any(mark["me"] and mark["emoji"]["name"] == WARNING for mark in marks):
                continue  # somebody was told already that there will be no answer to these words, and to try again
            name = "MESSAGE_UPDATE" if is_edited else "MESSAGE_CREATE"
            guild = {"guild_id": str(room.guild.id)}  # which only events have
            missed.append(self.late({"t": name, "d": {**message, **guild}}))
        return Missed(missed)
