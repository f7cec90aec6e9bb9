"""People who ask on Slack, and what they see of the answers."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from slack_sdk.oauth.installation_store import Bot

from adapters.redis.secrets import RedisVault
from adapters.slack.http import PATH
from adapters.slack.oauth import VaultInstallations
from core.messages import LOOKING
from tests.faults.audit import Scene, Shown
from tests.faults.community import FORGOTTEN, LATEST, NAMES, STOPS, VOTES, Asked
from tests.servers.discord.platform import Changes
from tests.servers.slack import Channel, Delivery, Message, SlackServer, Streaming, User, Workspace
from tests.servers.valkey import free_port

WORKSPACES = ("Robots", "Arms")
RESENT_AFTER = (1.0, 6.0, 20.0)  # seconds after which Slack sends again what was not acknowledged; really an hour


@dataclass
class OnSlack:
    """A workspace with two channels, over sockets, or two of them that have installed the bot, which is over HTTP.

    A token of an organization with more is refused by the bot.
    """

    server: SlackServer = field(default_factory=SlackServer)
    name: str = "slack"
    is_several: bool = False
    _asked: dict[str, list[Asked]] = field(default_factory=dict[str, list[Asked]])
    _roots: dict[str, str] = field(default_factory=dict[str, str])
    _used: dict[str, Delivery] = field(default_factory=dict[str, Delivery])
    _places: dict[str, Channel] = field(default_factory=dict[str, Channel])
    _private: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        """Let people in."""
        self.workspaces = [self.server.add_workspace(name) for name in WORKSPACES[: 1 + self.is_several]]
        self.people = {each.team_id: [self.server.add_member(each, name) for name in NAMES] for each in self.workspaces}
        channels = [[self.server.add_channel(each, name) for each in self.workspaces] for name in ("general", "random")]
        self.channels = [*chain.from_iterable(channels)]
        self.faults, self.port = self.server.faults, free_port()

    @property
    def changes(self) -> Changes:
        """The platform's."""
        return self.server.platform.changes

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Serve, and send again what is not acknowledged."""
        async with self.server:
            if self.is_several:
                self.server.deliver_to(f"http://127.0.0.1:{self.port}{PATH}")
            sending = asyncio.create_task(self._send_again())
            try:
                yield
            finally:
                sending.cancel()

    async def _send_again(self) -> None:
        while True:
            await asyncio.sleep(RESENT_AFTER[0] / 2)
            if self.is_heard():
                due = [one for one in self.server.outbox.unacknowledged if _is_due(one, self.server.clock.time())]
                if due:
                    self.server.outbox.repeat(*due)

    @property
    def community(self) -> str:
        """Give the workspaces as the operator allows them."""
        return ",".join(f"slack:{each.team_id}" for each in self.workspaces)

    def settings(self) -> dict[str, str]:
        """Give the address and what opens it."""
        server, api = self.server, {"SLACK_API_URL": self.server.api_url}
        if not self.is_several:
            return {"SLACK_BOT_TOKEN": self.workspaces[0].token, "SLACK_APP_TOKEN": server.app_token, **api}
        client = {"SLACK_CLIENT_ID": server.client_id, "SLACK_CLIENT_SECRET": server.client_secret}
        place = {"HOST": "127.0.0.1", "PORT": str(self.port), "SLACK_SIGNING_SECRET": server.signing_secret}
        return {**client, **place, **api}

    async def install(self, vault: RedisVault) -> None:
        """Let each of several workspaces install the bot."""
        for each in self.workspaces if self.is_several else ():
            ids: dict[str, Any] = {"team_id": each.team_id, "bot_id": each.bot_id, "bot_user_id": each.bot.id}
            bot = Bot(app_id=each.app_id, bot_token=each.token, installed_at=time.time(), **ids)
            await VaultInstallations(vault).async_save_bot(bot)

    def secrets(self) -> Iterable[str]:
        """Give the tokens, the ways back to whoever used a command, and names."""
        platform = self.server.platform
        people = [user.name for user in platform.users.values() if user.name.startswith(NAMES)]
        ours = [self.server.app_token, self.server.client_secret, self.server.signing_secret]
        return [*(each.token for each in self.workspaces), *ours, *people, *platform.response_urls]

    def is_heard(self) -> bool:
        """Look for a socket, or knock."""
        if not self.is_several:
            return bool(self.server.sockets.connected)
        with socket.socket() as knocking:
            return knocking.connect_ex(("127.0.0.1", self.port)) == 0

    def drop(self) -> None:
        """Cut the sockets; of requests, each has a connection of its own."""
        self.server.sockets.drop()

    def ask(self, number: int, text: str, place: str = "", how: str = "") -> Asked:
        """Mention the bot; outside of threads, the answer is a thread on the message."""
        channel, person = self._channel(place, number), self._person(place, number)
        workspace = self._workspace(channel)
        if how:
            person = self.server.add_member(workspace, f"{NAMES[-1]} {number}")
        if how == "direct":
            channel = self.server.direct(workspace, person)
        if place and place not in self._roots:
            self._roots[place] = self.server.post_as(person, channel, "What do you think?").ts
        said = text if how == "direct" else f"{self.server.mention(workspace.bot)} {text}"
        message = self.server.post_as(person, channel, said, self._roots.get(place))
        if not place:
            place = self._roots[message.ts] = message.ts
        self._places[place] = channel
        return self._note(Asked(number, self.name, place, message.ts))

    def command(self, number: int, text: str, *, private: bool = False) -> Asked:
        """Use the command, for which the bot posts a message that says who asks what."""
        channel, flag = self._channel("", number), "--private " if private else ""
        used = self.server.slash(self._person("", number), channel, "/footnote", f"ask {flag}{text}")
        place = f"/{used.id}"
        self._used[place], self._places[place] = used, channel
        if private:
            self._private.add(place)
        return self._note(Asked(number, self.name, place, ""))

    def edit(self, asked: Asked, number: int, text: str) -> Asked:
        """Change it, the mention included."""
        message, author = self._message(asked)
        self.server.edit_as(author, message, f"{self.server.mention(self._bot(asked.place))} {text}")
        changed = replace(asked, number=number)
        self._asked[asked.place] = [changed if one is asked else one for one in self._asked[asked.place]]
        return changed

    def delete(self, asked: Asked) -> None:
        """Delete it."""
        message, author = self._message(asked)
        self.server.delete_as(author, message)

    def press(self, asked: Asked, names: tuple[str, ...]) -> bool:
        """Look at all messages that answer it; Slack's own button stops a stream."""
        for message in self._said(asked.place):
            if names == STOPS and message.stream is not None and message.stream.state is Streaming.OPEN:
                self.server.stop(self._asker(asked), message)
                return True
            for each in message.action_ids:
                if each.startswith(names):
                    self.server.press(self._asker(asked), message, each)
                    return True
        return False

    def forget(self, asked: Asked) -> Callable[[], bool]:
        """Use the command."""
        person = self._message(asked)[1]
        used = self.server.slash(person, self._places[asked.place], "/footnote", "forget me")
        return lambda: any(each.startswith(FORGOTTEN) for each in self._replies(used))

    def _channel(self, place: str, number: int) -> Channel:
        return self._places.get(place) or self.channels[number % len(self.channels)]

    def _workspace(self, channel: Channel) -> Workspace:
        return self.server.platform.workspaces[channel.team_id]

    def _bot(self, place: str) -> User:
        return self._workspace(self._places[place]).bot

    def _person(self, place: str, number: int) -> User:
        return self.people[self._channel(place, number).team_id][number // len(self.channels) % len(NAMES)]

    def _message(self, asked: Asked) -> tuple[Message, User]:
        """Give a question, and who wrote it."""
        message = self.server.platform.messages[self._places[asked.place].id, asked.message]
        return message, self.server.platform.users[message.user_id]

    def _asker(self, asked: Asked) -> User:
        used = self._used.get(asked.place)
        return self.server.platform.users[str(used.payload["user_id"])] if used is not None else self._message(asked)[1]

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
        posted = self.server.messages(self._places[place], by=self._bot(place))
        root = next((one.ts for one in posted if one.text.endswith(f"asks: {text}")), "")
        if root:
            self._roots[place] = root
        return root

    def repeat(self, asked: Asked) -> None:
        """Send both events of the mention again."""
        self.server.outbox.repeat(*self._message(asked)[0].deliveries)

    def scene(self, place: str) -> Scene:
        """Look into a thread, and at what one person was told about a command."""
        if place in self._private:
            return self._private_scene(place)
        asked, root, channel = self._asked[place], self._root(place), self._places[place]
        session = self.server.platform.sessions.get((channel.id, root))
        first = self.server.platform.messages.get((channel.id, root))
        is_there = first is not None and not first.deleted  # of a thread that is gone nobody sees any sign
        told = [Shown(text) for text in self._told(place)]
        messages = [self.server.platform.messages.get((channel.id, self.message_of(one))) for one in asked]
        marks = {one.number: message.reactions if message else {} for one, message in zip(asked, messages, strict=True)}
        return Scene(
            asked=tuple(one.number for one in asked),
            shown=(*told, *map(_shown, self._said(place))),
            removed=tuple(map(_shown, self._removed(root))),
            warned=frozenset(number for number, reactions in marks.items() if told or "warning" in reactions),
            unheard=frozenset(one.number for one in asked if self._is_unheard(one)),
            is_working=(is_there and session is not None and session.status == "processing")
            or bool(is_there and self.server.platform.status_of(channel, root))
            or any("eyes" in reactions for reactions in marks.values()),
        )

    def traces(self, place: str) -> list[str]:
        """Give all that the platform knows of the bot's messages in a place, also of those that are gone."""
        root, channel, platform = self._root(place), self._places[place], self.server.platform
        first = platform.messages.get((channel.id, root))
        signs = platform.sessions.get((channel.id, root)), platform.status_of(channel, root), first and first.reactions
        return [f"signs: {signs}", *(repr(each) for each in (*self._said(place), *self._removed(root)))]

    def _private_scene(self, place: str) -> Scene:
        """Look at what only one person sees: what takes the place of the first words, and what comes below."""
        [asked], used = self._asked[place], self._used[place]
        url = self.server.platform.response_urls[str(used.payload["response_url"]).removeprefix(self.server.url)]
        found = [one for one in self.server.messages(self._places[place]) if one.ephemeral]
        ours = [one for one in found if (one.channel_id, one.ts) == url.original or asked.number in _shown(one).numbers]
        shown = [replace(_shown(one), is_open=one.shown == LOOKING) for one in ours]
        excused = frozenset({asked.number} if any(one.is_excuse for one in shown) else ())
        unheard = frozenset({asked.number} if self._is_unheard(asked) else ())
        return Scene((asked.number,), tuple(shown), warned=excused, unheard=unheard)

    def _told(self, place: str) -> list[str]:
        """Give what came with the acknowledgement of a command, and by its way back."""
        used = self._used.get(place)
        return self._replies(used) if used is not None and place not in self._private else []

    def _replies(self, used: Delivery) -> list[str]:
        path = str(used.payload["response_url"]).removeprefix(self.server.url)
        acknowledgement: dict[str, str] = used.response or {}
        first = acknowledgement.get("text", "")
        return [each for each in (first, *self.server.platform.response_urls[path].posts) if each]

    def _is_unheard(self, asked: Asked) -> bool:
        """Say whether it is too late to acknowledge a command."""
        used = self._used.get(asked.place)
        return used is not None and not used.acked and self.server.clock.time() - used.at > LATEST

    def _removed(self, root: str) -> list[Message]:
        found = self.server.platform.messages.values()
        bots = [each.bot.id for each in self.workspaces]
        return [one for one in found if one.deleted and one.root_ts == root and one.user_id in bots]

    def _said(self, place: str) -> list[Message]:
        """Look into a thread; who was told that there is no answer to a command sees no question there."""
        root = self._root(place)
        found = self.server.messages(self._places[place], by=self._bot(place), thread_ts=root) if root else []
        return [one for one in found if one.ts != root and not one.ephemeral]

    def strays(self) -> list[str]:
        """Look at everything that the bot has said, in whichever workspace, and by whichever token."""
        known = {message.ts for place in self._asked for message in self._said(place)}
        known |= {self._root(place) for place in self._used if not self._told(place)}
        bots = [each.bot.id for each in self.workspaces]
        found = [one for place in self.channels for one in self.server.messages(place) if one.user_id in bots]
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
