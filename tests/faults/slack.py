"""People who ask on Slack, and what they see of the answers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from tests.faults.audit import Scene, Shown
from tests.faults.community import LATEST, STOPS, VOTES, Asked
from tests.servers.discord.platform import Changes
from tests.servers.slack import Delivery, Message, SlackServer, Streaming

RESENT_AFTER = (1.0, 6.0, 20.0)  # seconds after which Slack sends again what was not acknowledged; really an hour


@dataclass
class OnSlack:
    """A workspace with one channel, over sockets."""

    server: SlackServer = field(default_factory=SlackServer)
    name: str = "slack"
    _asked: dict[str, list[Asked]] = field(default_factory=dict[str, list[Asked]])
    _roots: dict[str, str] = field(default_factory=dict[str, str])
    _used: dict[str, Delivery] = field(default_factory=dict[str, Delivery])

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
        return self._note(Asked(number, self.name, place, message.ts))

    def command(self, number: int, text: str) -> Asked:
        """Use the command, for which the bot posts a message that says who asks what."""
        used = self.server.slash(self.ada, self.channel, "/footnote", f"ask {text}")
        self._used[f"/{used.id}"] = used
        return self._note(Asked(number, self.name, f"/{used.id}", ""))

    def _note(self, asked: Asked) -> Asked:
        self._asked.setdefault(asked.place, []).append(asked)
        return asked

    def message_of(self, asked: Asked) -> str:
        """Take the message, or the one that stands for a command."""
        return asked.message or self._root(asked.place)

    def _root(self, place: str) -> str:
        """Give what begins the thread of a place; empty where nothing does yet."""
        if place in self._roots or place not in self._used:
            return self._roots.get(place, "")
        text = str(self._used[place].payload["text"]).removeprefix("ask ")
        posted = self.server.messages(self.channel, by=self.workspace.bot)
        root = next((one.ts for one in posted if one.text.endswith(f"asks:* {text}")), "")
        if root:
            self._roots[place] = root
        return root

    def scene(self, place: str) -> Scene:
        """Look into a thread, and at what one person was told about a command."""
        asked, root = self._asked[place], self._root(place)
        session = self.server.platform.sessions.get((self.channel.id, root))
        told = [Shown(text) for text in self._told(place)]
        messages = [self.server.platform.messages.get((self.channel.id, self.message_of(one))) for one in asked]
        marks = {one.number: message.reactions if message else {} for one, message in zip(asked, messages, strict=True)}
        return Scene(
            asked=tuple(one.number for one in asked),
            shown=(*told, *map(_shown, self._said(place))),
            warned=frozenset(number for number, reactions in marks.items() if told or "warning" in reactions),
            unheard=frozenset(one.number for one in asked if self._is_unheard(one)),
            is_working=(session is not None and session.status == "processing")
            or bool(root and self.server.platform.status_of(self.channel, root))
            or any("eyes" in reactions for reactions in marks.values()),
        )

    def _told(self, place: str) -> list[str]:
        """Give what came with the acknowledgement of a command, and by its way back."""
        used = self._used.get(place)
        if used is None:
            return []
        path = str(used.payload["response_url"]).removeprefix(self.server.url)
        acknowledgement: dict[str, str] = used.response or {}
        first = acknowledgement.get("text", "")
        return [each for each in (first, *self.server.platform.response_urls[path].posts) if each]

    def _is_unheard(self, asked: Asked) -> bool:
        """Say whether it is too late to acknowledge a command."""
        used = self._used.get(asked.place)
        return used is not None and not used.acked and self.server.clock.time() - used.at > LATEST

    def _said(self, place: str) -> list[Message]:
        """Look into a thread; who was told that there is no answer to a command sees no question there."""
        root = self._root(place)
        found = self.server.messages(self.channel, by=self.workspace.bot, thread_ts=root) if root else []
        return [one for one in found if one.ts != root]

    def strays(self) -> list[str]:
        """Look at everything that the bot has said."""
        known = {message.ts for place in self._asked for message in self._said(place)}
        known |= {self._root(place) for place in self._used if not self._told(place)}
        found = self.server.messages(self.channel, by=self.workspace.bot)
        return [message.shown for message in found if message.ts not in known and not message.ephemeral]


def _shown(message: Message) -> Shown:
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
