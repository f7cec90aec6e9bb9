"""People who ask on each platform, and what they see of the answers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tests.faults.audit import Scene, Shown
from tests.servers.discord import DiscordServer, Interaction
from tests.servers.discord import Message as DiscordMessage
from tests.servers.discord.platform import Changes
from tests.servers.faults import Faults
from tests.servers.slack import Delivery, SlackServer, Streaming
from tests.servers.slack import Message as SlackMessage

VOTES, STOPS = ("footnote:up", "footnote:vote"), ("footnote:stop",)
THREAD_STARTER = 21  # a message without words, which shows the one that a thread is about
RESENT_AFTER = (1.0, 6.0, 20.0)  # seconds after which Slack sends again what was not acknowledged; really an hour
POSTS = {"discord": "POST /channels/{channel}/messages", "slack": "chat.startStream"}
"""What carries the first words of an answer, by platform."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that somebody asked, and the id that the platform gave it; empty where that comes later."""

    number: int
    platform: str
    place: str
    message: str


class Community(Protocol):
    """People on a platform; a *place* is a name of ours for where questions are answered together."""

    name: str
    faults: Faults

    @property
    def changes(self) -> Changes:
        """What wakes whoever waits for something to become so."""
        ...

    def open(self) -> contextlib.AbstractAsyncContextManager[None]:
        """Run the platform while the block runs."""
        ...

    def settings(self) -> dict[str, str]:
        """Give the settings with which the bot is there."""
        ...

    def is_heard(self) -> bool:
        """Say whether the bot hears what is written."""
        ...

    def drop(self) -> None:
        """Cut the connections over which the bot hears."""
        ...

    def ask(self, number: int, text: str, place: str = "") -> Asked:
        """Mention the bot: in the channel, or in a thread of people that has a name of ours."""
        ...

    def scene(self, place: str) -> Scene:
        """Give what is to be seen in a place."""
        ...

    def message_of(self, asked: Asked) -> str:
        """Give the id by which the bot knows a question; empty while it cannot know it."""
        ...

    def strays(self) -> list[str]:
        """Give what the bot has said where nobody asked."""
        ...


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
            shown=tuple(_on_discord(message) for message in found),
            warned=frozenset(one.number for one in asked if self._is_warned(one, found)),
        )

    def _said(self, place: str) -> list[DiscordMessage]:
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

    def _is_warned(self, asked: Asked, found: Sequence[DiscordMessage]) -> bool:
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


def _on_discord(message: DiscordMessage) -> Shown:
    controls = message.custom_ids
    return Shown(
        message.content,
        is_open=message.thinking or message.content == "…" or any(one.startswith(STOPS) for one in controls),
        is_whole=any(one.startswith(VOTES) for one in controls),
    )


@dataclass
class OnSlack:
    """A workspace with one channel, over sockets."""

    server: SlackServer = field(default_factory=SlackServer)
    name: str = "slack"
    _asked: dict[str, list[Asked]] = field(default_factory=dict[str, list[Asked]])
    _roots: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        """Let people in."""
        self.workspace = self.server.add_workspace()
        self.channel = self.server.add_channel(self.workspace)
        self.ada = self.server.add_member(self.workspace, "Ada")
        self.faults = self.server.faults

    @property
    def changes(self) -> Changes:
        """The platform's."""
        return self.server.platform.changes

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Serve, and send again what is not acknowledged."""
        async with self.server:
            sending = asyncio.create_task(self._send_again())
            try:
                yield
            finally:
                sending.cancel()

    async def _send_again(self) -> None:
        while True:
            await asyncio.sleep(RESENT_AFTER[0] / 2)
            if self.server.sockets.connected:
                due = [one for one in self.server.outbox.unacknowledged if _is_due(one, self.server.clock.time())]
                if due:
                    self.server.outbox.repeat(*due)

    def settings(self) -> dict[str, str]:
        """Give the address and the tokens."""
        return {
            "SLACK_BOT_TOKEN": self.workspace.token,
            "SLACK_APP_TOKEN": self.server.app_token,
            "SLACK_API_URL": self.server.api_url,
        }

    def is_heard(self) -> bool:
        """Look for a socket."""
        return bool(self.server.sockets.connected)

    def drop(self) -> None:
        """Cut the sockets."""
        self.server.sockets.drop()

    def ask(self, number: int, text: str, place: str = "") -> Asked:
        """Mention the bot; in the channel, the answer is a thread on the message."""
        if place and place not in self._roots:
            self._roots[place] = self.server.post_as(self.ada, self.channel, "What do you think?").ts
        said = f"{self.server.mention(self.workspace.bot)} {text}"
        message = self.server.post_as(self.ada, self.channel, said, self._roots.get(place))
        if not place:
            place = self._roots[message.ts] = message.ts
        asked = Asked(number, self.name, place, message.ts)
        self._asked.setdefault(place, []).append(asked)
        return asked

    def message_of(self, asked: Asked) -> str:
        """Take the message."""
        return asked.message

    def scene(self, place: str) -> Scene:
        """Look into a thread."""
        asked, root = self._asked[place], self._roots[place]
        session = self.server.platform.sessions.get((self.channel.id, root))
        messages = [self.server.platform.messages[self.channel.id, one.message] for one in asked]
        is_working = session is not None and session.status == "processing"
        return Scene(
            asked=tuple(one.number for one in asked),
            shown=tuple(_on_slack(message) for message in self._said(place)),
            warned=frozenset(
                one.number for one, message in zip(asked, messages, strict=True) if "warning" in message.reactions
            ),
            is_working=is_working
            or bool(self.server.platform.status_of(self.channel, root))
            or any("eyes" in message.reactions for message in messages),
        )

    def _said(self, place: str) -> list[SlackMessage]:
        return self.server.messages(self.channel, by=self.workspace.bot, thread_ts=self._roots[place])

    def strays(self) -> list[str]:
        """Look at everything that the bot has said."""
        known = {message.ts for place in self._asked for message in self._said(place)}
        found = self.server.messages(self.channel, by=self.workspace.bot)
        return [message.shown for message in found if message.ts not in known]


def _on_slack(message: SlackMessage) -> Shown:
    is_open = message.stream is not None and message.stream.state is Streaming.OPEN
    return Shown(
        message.shown,
        is_open=is_open or any(one.startswith(STOPS) for one in message.action_ids),
        is_whole=any(one.startswith(VOTES) for one in message.action_ids),
    )


def _is_due(delivery: Delivery, now: float) -> bool:
    """Say whether it is time to send something again."""
    times = max(0, len(delivery.attempts) - 1)
    return times < len(RESENT_AFTER) and now - delivery.at > RESENT_AFTER[times]
