"""People who ask on Discord, and what they see of the answers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from tests.faults.audit import Scene, Shown
from tests.faults.community import LATEST, STOPS, VOTES, Asked
from tests.servers.discord import DiscordServer, Interaction, Message
from tests.servers.discord.platform import Changes

THREAD_STARTER = 21  # a message without words, which shows the one that a thread is about


@dataclass
class OnDiscord:
    """A guild with one channel."""

    server: DiscordServer = field(default_factory=DiscordServer)
    name: str = "discord"
    _asked: dict[str, list[Asked]] = field(default_factory=dict[str, list[Asked]])
    _channels: dict[str, int] = field(default_factory=dict[str, int])
    _used: dict[str, Interaction] = field(default_factory=dict[str, Interaction])

    def __post_init__(self) -> None:
        """Let people in."""
        self.guild = self.server.add_guild()
        self.channel = self.server.add_channel(self.guild)
        self.ada = self.server.add_member(self.guild, "Ada")
        self.faults = self.server.faults

    @property
    def changes(self) -> Changes:
        """The platform's."""
        return self.server.platform.changes

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Serve."""
        async with self.server:
            yield

    def settings(self) -> dict[str, str]:
        """Give the addresses and the token."""
        return {
            "DISCORD_TOKEN": self.server.token,
            "DISCORD_API_URL": self.server.api_url,
            "DISCORD_GATEWAY_URL": self.server.gateway_url,
            "DISCORD_MESSAGE_CONTENT": "true",
        }

    def is_heard(self) -> bool:
        """Look for a shard, and for the commands."""
        return bool(self.server.gateway.connected) and bool(self.server.platform.commands.get(None))

    def drop(self) -> None:
        """Cut those of shards."""
        self.server.gateway.drop()

    def ask(self, number: int, text: str, place: str = "") -> Asked:
        """Mention the bot; in the channel, the answer opens a thread on the message."""
        where = self.channel
        if place:
            if place not in self._channels:
                self._channels[place] = self.server.thread_as(self.ada, self.channel, place).id
            where = self.server.platform.channels[self._channels[place]]
        message = self.server.post_as(self.ada, where, text, mentions=[self.server.bot])
        return self._note(Asked(number, self.name, place or str(message.id), str(message.id)))

    def command(self, number: int, text: str) -> Asked:
        """Use the command, whose response is the answer."""
        used = self.server.slash(self.ada, self.channel, "ask", question=text)
        self._used[f"/{used.id}"] = used
        return self._note(Asked(number, self.name, f"/{used.id}", ""))

    def _note(self, asked: Asked) -> Asked:
        self._asked.setdefault(asked.place, []).append(asked)
        return asked

    def message_of(self, asked: Asked) -> str:
        """Take the message, or the response to a command."""
        used = self._used.get(asked.place)
        return asked.message if used is None else str(used.original_id or "")

    def scene(self, place: str) -> Scene:
        """Look into a thread, or at the response to a command."""
        asked = self._asked[place]
        found = self._said(place)
        return Scene(
            asked=tuple(one.number for one in asked),
            shown=tuple(_shown(message) for message in found),
            warned=frozenset(one.number for one in asked if self._is_warned(one, found)),
            unheard=frozenset(one.number for one in asked if self._is_unheard(one)),
        )

    def _is_unheard(self, asked: Asked) -> bool:
        """Say whether it is too late to acknowledge a command."""
        used = self._used.get(asked.place)
        age = (self.server.platform.clock.now() - used.at).total_seconds() if used is not None else 0.0
        return used is not None and used.acknowledged is None and age > LATEST

    def _said(self, place: str) -> list[Message]:
        """Look into a thread, and for replies in the channel; what a response has no room for stands below it."""
        platform, used = self.server.platform, self._used.get(place)
        about = used.original_id if used is not None else int(place) if place.isdigit() else None
        below = [one for one in platform.messages_in(self.channel, by=self.server.bot) if one.reference]
        replies = [one for one in below if one.reference and one.reference[1] == about]
        if used is not None:
            found = [platform.messages[one] for one in (used.original_id, *used.follow_ups) if one is not None]
            return [*(one for one in found if not one.deleted), *replies]
        channel = platform.channels.get(self._channels.get(place, about or 0))
        inside = platform.messages_in(channel, by=self.server.bot) if channel else []
        return [*replies, *inside]

    def _is_warned(self, asked: Asked, found: Sequence[Message]) -> bool:
        """Look at the question; a command has its response in the place of one."""
        if asked.place in self._used:
            return any("⚠️" in message.reactions or "⚠️" in message.content for message in found)
        return "⚠️" in self.server.platform.messages[int(asked.message)].reactions

    def strays(self) -> list[str]:
        """Look at everything that the bot has said."""
        known = {message.id for place in self._asked for message in self._said(place)}
        return [
            message.content
            for message in self.server.platform.messages.values()
            if message.author_id == self.server.bot.id
            and not message.deleted
            and message.id not in known
            and message.kind != THREAD_STARTER
        ]


def _shown(message: Message) -> Shown:
    controls = message.custom_ids
    return Shown(
        message.content,
        is_open=message.thinking or message.content == "…" or any(one.startswith(STOPS) for one in controls),
        is_whole=any(one.startswith(VOTES) for one in controls),
    )
