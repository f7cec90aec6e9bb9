"""People who ask on Discord, and what they see of the answers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from tests.faults.audit import Scene, Shown
from tests.faults.community import FORGOTTEN, LATEST, NAMES, STOPS, VOTES, Asked
from tests.servers.discord import Channel, DiscordServer, Interaction, Message, User
from tests.servers.discord.platform import Changes

THREAD_STARTER = 21  # a message without words, which shows the one that a thread is about


@dataclass(frozen=True, slots=True)
class Room:
    """A channel, and who writes there."""

    channel: Channel
    people: tuple[User, ...]


@dataclass
class OnDiscord:
    """Two guilds with two channels each."""

    server: DiscordServer = field(default_factory=DiscordServer)
    name: str = "discord"
    _asked: dict[str, list[Asked]] = field(default_factory=dict[str, list[Asked]])
    _channels: dict[str, int] = field(default_factory=dict[str, int])
    _used: dict[str, Interaction] = field(default_factory=dict[str, Interaction])
    _rooms: dict[str, Room] = field(default_factory=dict[str, Room])

    def __post_init__(self) -> None:
        """Let people in."""
        self.rooms: list[Room] = []
        for guild in (self.server.add_guild(), self.server.add_guild("Gadgets")):
            people = tuple(self.server.add_member(guild, name) for name in NAMES)
            self.rooms += [Room(self.server.add_channel(guild), people), Room(self.server.add_channel(guild), people)]
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
        """Give the addresses and the token, and that both guilds may use the bot."""
        return {
            "FOOTNOTE_COMMUNITIES": ",".join(f"discord:{guild}" for guild in self.server.platform.guilds),
            "DISCORD_TOKEN": self.server.token,
            "DISCORD_API_URL": self.server.api_url,
            "DISCORD_GATEWAY_URL": self.server.gateway_url,
            "DISCORD_MESSAGE_CONTENT": "true",
        }

    def secrets(self) -> Iterable[str]:
        """Give the token, those of interactions, and names."""
        platform = self.server.platform
        people = [user.name for user in platform.users.values() if user.name.startswith(NAMES)]
        return [self.server.token, *people, *(each.token for each in platform.interactions.values())]

    def is_heard(self) -> bool:
        """Look for a shard, and for the commands."""
        return bool(self.server.gateway.connected) and bool(self.server.platform.commands.get(None))

    def drop(self) -> None:
        """Cut those of shards."""
        self.server.gateway.drop()

    def ask(self, number: int, text: str, place: str = "", how: str = "") -> Asked:
        """Mention the bot; in a channel, the answer opens a thread on the message."""
        room = self._rooms.get(place) or self.rooms[number % len(self.rooms)]
        person, where, mentions = room.people[number % len(NAMES)], room.channel, [self.server.bot]
        if how == "newcomer":
            person = self.server.add_member(self.server.platform.guilds[where.guild_id or 0], f"{NAMES[-1]} {number}")
        if how == "direct":
            person = self.server.add_user(f"{NAMES[0]} {number}")
            where, mentions, place = self.server.dm(person), [], f"direct {number}"
            self._channels[place] = where.id
        elif place and place not in self._channels:
            self._channels[place] = self.server.thread_as(person, where, place).id
        where = self.server.platform.channels[self._channels[place]] if place else where
        message = self.server.post_as(person, where, text, mentions=mentions)
        self._rooms[place or str(message.id)] = Room(where if how == "direct" else room.channel, room.people)
        return self._note(Asked(number, self.name, place or str(message.id), str(message.id)))

    def command(self, number: int, text: str, *, private: bool = False) -> Asked:
        """Use the command, whose response is the answer."""
        room = self.rooms[number % len(self.rooms)]
        person = room.people[number % len(NAMES)]
        used = self.server.slash(person, room.channel, "ask", question=text, **({"private": True} if private else {}))
        self._used[f"/{used.id}"], self._rooms[f"/{used.id}"] = used, room
        return self._note(Asked(number, self.name, f"/{used.id}", ""))

    def edit(self, asked: Asked, number: int, text: str) -> Asked:
        """Change it, the mention included."""
        message, author = self._message(asked)
        self.server.edit_as(author, message, f"{self.server.bot.mention} {text}")
        changed = replace(asked, number=number)
        self._asked[asked.place] = [changed if one is asked else one for one in self._asked[asked.place]]
        return changed

    def delete(self, asked: Asked) -> None:
        """Delete it."""
        message, author = self._message(asked)
        self.server.delete_as(author, message)

    def press(self, asked: Asked, names: tuple[str, ...]) -> bool:
        """Look at all messages that answer it."""
        for message in self._said(asked.place):
            for each in message.custom_ids:
                if each.startswith(names):
                    self.server.press(self._asker(asked), message, each)
                    return True
        return False

    def forget(self, asked: Asked) -> Callable[[], bool]:
        """Use the command."""
        used = self.server.slash(
            self._message(asked)[1], self._rooms[asked.place].channel, "forget", what="everything about me"
        )
        messages = self.server.platform.messages
        return lambda: used.original_id is not None and messages[used.original_id].content.startswith(FORGOTTEN)

    def _message(self, asked: Asked) -> tuple[Message, User]:
        """Give a question, and who wrote it."""
        message = self.server.platform.messages[int(asked.message)]
        return message, self.server.platform.users[message.author_id]

    def _asker(self, asked: Asked) -> User:
        used = self._used.get(asked.place)
        return self.server.platform.users[used.user_id] if used is not None else self._message(asked)[1]

    def _note(self, asked: Asked) -> Asked:
        self._asked.setdefault(asked.place, []).append(asked)
        return asked

    def message_of(self, asked: Asked) -> str:
        """Take the message, or the response to a command."""
        used = self._used.get(asked.place)
        return asked.message if used is None else str(used.original_id or "")

    def repeat(self, asked: Asked) -> None:
        """Tell the sessions of it."""
        self.server.repeat(self.server.platform.messages[int(asked.message)])

    def scene(self, place: str) -> Scene:
        """Look into a thread, or at the response to a command."""
        asked = self._asked[place]
        found = self._said(place)
        return Scene(
            asked=tuple(one.number for one in asked),
            shown=tuple(_shown(message) for message in found),
            removed=tuple(_shown(message) for message in self._removed(place)),
            warned=frozenset(one.number for one in asked if self._is_warned(one, found)),
            unheard=frozenset(one.number for one in asked if self._is_unheard(one)),
        )

    def traces(self, place: str) -> list[str]:
        """Give all that the platform knows of the bot's messages in a place, also of those that are gone."""
        return [repr(each) for each in (*self._said(place), *self._removed(place))]

    def _is_unheard(self, asked: Asked) -> bool:
        """Say whether it is too late to acknowledge a command."""
        used = self._used.get(asked.place)
        age = (self.server.platform.clock.now() - used.at).total_seconds() if used is not None else 0.0
        return used is not None and used.acknowledged is None and age > LATEST

    def _root(self, place: str) -> int | None:
        """Give what the answers of a place belong to: the message that asks, or the response to a command."""
        used = self._used.get(place)
        return used.original_id if used is not None else int(place) if place.isdigit() else None

    def _removed(self, place: str) -> list[Message]:
        """Look at what is gone of a thread, of a response and what follows it, and of the replies in the channel."""
        root, used = self._root(place), self._used.get(place)
        channels = {self._channels.get(place), root} - {None}
        known = {root, *(used.follow_ups if used is not None else ())} - {None}
        gone = [
            one for one in self.server.platform.messages.values() if one.deleted and one.author_id == self.server.bot.id
        ]
        return [
            one
            for one in gone
            if one.id in known or one.channel_id in channels or (one.reference and one.reference[1] == root)
        ]

    def _said(self, place: str) -> list[Message]:
        """Look into a thread, and for replies in the channel; a long response has its rest in a thread on it."""
        platform, used, root = self.server.platform, self._used.get(place), self._root(place)
        response = [platform.messages[one] for one in (root, *used.follow_ups) if one is not None] if used else []
        below = platform.messages_in(self._rooms[place].channel, by=self.server.bot)
        replies = [one for one in below if one.reference and one.reference[1] == root]
        thread = platform.channels.get(self._channels.get(place, root or 0))
        inside = platform.messages_in(thread, by=self.server.bot) if thread else []
        seen = (*replies, *(one for one in inside if not one.ephemeral and one.kind != THREAD_STARTER))
        return [*(one for one in response if not one.deleted), *seen]

    def _is_warned(self, asked: Asked, found: Sequence[Message]) -> bool:
        """Look at the question; a command has its response in the place of one."""
        if asked.place in self._used:
            return any("⚠️" in message.reactions or "⚠️" in message.content for message in found)
        return "⚠️" in self.server.platform.messages[int(asked.message)].reactions

    def strays(self) -> list[str]:
        """Look at everything that the bot has said."""
        known = {message.id for place in self._asked for message in self._said(place)}
        replies = {
            one for used in self.server.platform.interactions.values() for one in (used.original_id, *used.follow_ups)
        }
        known |= replies - {None}
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
