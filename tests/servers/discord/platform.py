"""All that the platform knows: guilds, channels, messages, commands, interactions; and who may see and do what."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.servers.discord import refusals
from tests.servers.discord.channels import Channel, ChannelKind
from tests.servers.discord.clock import ServerClock, Snowflakes
from tests.servers.discord.guilds import Guild, Member, Role, User
from tests.servers.discord.interactions import Interaction
from tests.servers.discord.mentions import USER
from tests.servers.discord.messages import STARTER, Message
from tests.servers.discord.permissions import IN_A_DM, NOTHING, Overwrite, Permission, combine
from tests.servers.discord.shape import Json


@dataclass(frozen=True, slots=True)
class Event:
    """Something that sessions are told, if they asked for events of that *intent* (0: everybody is).

    `blank` is what a session without the content of messages is told in place of `data`.
    """

    name: str
    data: Json
    guild_id: int | None = None
    intent: int = 0
    blank: Json | None = None


class Changes:
    """Wakes whoever waits for something to become true."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Event] = []

    def tell(self) -> None:
        """Something has changed."""
        for event in self._waiting:
            event.set()

    async def until(self, is_true: Callable[[], object], seconds: float, what: str) -> None:
        """Return as soon as *is_true* says so. Raises `AssertionError` when the time is over."""
        woken = asyncio.Event()
        self._waiting.append(woken)
        try:
            async with asyncio.timeout(seconds):
                while not is_true():
                    woken.clear()
                    await woken.wait()
        except TimeoutError as error:
            raise AssertionError(f"{what} did not come within {seconds:g} s") from error
        finally:
            self._waiting.remove(woken)


FILE_LIFE = 86_400  # seconds


def _seal(until: int) -> str:
    return hashlib.sha256(f"of the tests {until}".encode()).hexdigest()


@dataclass(slots=True)
class Typing:
    """The bot let people see that it types."""

    channel_id: int
    at: float


@dataclass
class Platform:
    """The state, in plain dictionaries by id; `tell` sends an event to the sessions."""

    clock: ServerClock
    tell: Callable[[Event], None]
    message_content: bool = True  # the switch in the portal
    cdn: str = "https://cdn.discordapp.com"
    late_edits: int = 0  # how often a message older than an hour may be edited
    users: dict[int, User] = field(default_factory=dict[int, User])
    guilds: dict[int, Guild] = field(default_factory=dict[int, Guild])
    channels: dict[int, Channel] = field(default_factory=dict[int, Channel])
    messages: dict[int, Message] = field(default_factory=dict[int, Message])
    nonces: dict[tuple[int, int, str], Message] = field(default_factory=dict[tuple[int, int, str], Message])
    interactions: dict[int, Interaction] = field(default_factory=dict[int, Interaction])
    commands: dict[int | None, list[Json]] = field(default_factory=dict[int | None, list[Json]])
    installed_by: set[int] = field(default_factory=set[int])
    typing: list[Typing] = field(default_factory=list[Typing])
    changes: Changes = field(default_factory=Changes)

    def __post_init__(self) -> None:
        self.new_id = Snowflakes(self.clock)
        self._places: dict[int, list[Message]] = {}
        self.bot = self.new_user("Footnote", bot=True)
        self.owner = self.new_user("owner")

    def new_user(self, name: str, *, bot: bool = False) -> User:
        """Give somebody an account."""
        user = User(self.new_id(), name, bot)
        self.users[user.id] = user
        return user

    def add(self, message: Message) -> None:
        """Keep a new message, and remember what its nonce posted."""
        self.messages[message.id] = message
        self._places.setdefault(message.channel_id, []).append(message)
        if message.nonce is not None:
            self.nonces[message.channel_id, message.author_id, message.nonce] = message

    # Files

    def signature(self) -> str:
        """Give what the address of a file ends with, which is good for a day."""
        until = int(self.clock.now().timestamp()) + FILE_LIFE
        return f"ex={until:x}&is={until - FILE_LIFE:x}&hm={_seal(until)}&"

    def is_signed(self, query: Mapping[str, str]) -> bool:
        """Whether the address of a file ends as it was given out, and is still good."""
        until = int(query.get("ex", "0"), 16)
        return query.get("hm") == _seal(until) and until > self.clock.now().timestamp()

    # Who may do what

    def permissions(self, user_id: int, channel: Channel) -> Permission:
        """Give what somebody may do in a channel; a thread's permissions are its parent's."""
        if channel.guild_id is None:
            is_here = user_id == channel.recipient_id or (user_id == self.bot.id and not channel.is_private)
            return IN_A_DM if is_here else NOTHING
        guild = self.guilds[channel.guild_id]
        if user_id not in guild.members:
            return NOTHING
        place = self.channels[channel.parent_id] if channel.is_thread and channel.parent_id else channel
        roles = guild.members[user_id].roles
        found = [[guild.id], sorted(roles), [user_id]]
        levels = [[place.overwrites.get(key, Overwrite()) for key in keys] for keys in found]
        return combine(guild.permissions_of(user_id), levels)

    def require(self, channel: Channel, *needed: Permission) -> None:
        """Raise the right `Refusal` unless the bot sees the channel and may do all that is *needed* there."""
        has = self.permissions(self.bot.id, channel)
        if Permission.VIEW_CHANNEL not in has:
            raise refusals.missing_access()
        if any(permission not in has for permission in needed):
            raise refusals.missing_permissions()

    # Lookups for requests, which raise what the platform says

    def channel(self, channel_id: int) -> Channel:
        """Give a channel that the bot sees. Raises `Refusal`."""
        if channel_id not in self.channels:
            raise refusals.unknown_channel()
        channel = self.channels[channel_id]
        self.require(channel)
        return channel

    def message(self, channel: Channel, message_id: int) -> Message:
        """Give a message that is there for everybody. Raises `Refusal`."""
        message = self.messages.get(message_id)
        if message is None or message.deleted or message.channel_id != channel.id or message.seen_by is not None:
            raise refusals.unknown_message()
        return message

    def guild(self, guild_id: int) -> Guild:
        """Give a guild that the bot is in. Raises `Refusal`."""
        guild = self.guilds.get(guild_id)
        if guild is None:
            raise refusals.unknown_guild()
        if self.bot.id not in guild.members:
            raise refusals.missing_access()
        return guild

    # What assertions read

    def messages_in(self, channel: Channel, *, by: User | None = None) -> list[Message]:
        """Give what can be read in a channel, oldest first, what only one person sees included."""
        found = self._places.get(channel.id, ())
        return [one for one in found if not one.deleted and (by is None or one.author_id == by.id)]

    def sent_to(self, thread: Channel) -> int:
        """Count what was ever said in a thread, also if it is deleted by now, without the message that it is about."""
        return sum(one.id != thread.id and one.kind != STARTER for one in self._places.get(thread.id, ()))

    def last_in(self, channel: Channel) -> str | None:
        """Give the id of the newest message of a channel; it stays when the message is deleted."""
        found = [one.id for one in self._places.get(channel.id, ()) if one.seen_by is None]
        return str(found[-1]) if found else None

    def threads_in(self, channel: Channel) -> list[Channel]:
        """Give the threads of a channel, oldest first."""
        return [thread for thread in self.channels.values() if thread.is_thread and thread.parent_id == channel.id]

    def channels_of(self, guild: Guild) -> Iterator[Channel]:
        """Give the channels of a guild that the bot is told about, threads not included."""
        return (c for c in self.channels.values() if c.guild_id == guild.id and not c.is_thread)

    def dm_of(self, user: User) -> Channel:
        """Give the channel of direct messages between the bot and a person; it comes about when first asked for."""
        for channel in self.channels.values():
            if channel.recipient_id == user.id and not channel.is_private:
                return channel
        channel = Channel(self.new_id(), ChannelKind.DM, recipient_id=user.id)
        self.channels[channel.id] = channel
        return channel

    def is_readable(self, message: Message) -> bool:
        """Whether the bot may read the content without the intent for it.

        Its own messages, direct ones and those that mention it; a reply that notifies it counts as a mention, unless
        it replies to the answer of an interaction.
        """
        if message.guild_id is None or message.author_id == self.bot.id:
            return True
        if str(self.bot.id) in USER.findall(message.content):
            return True
        replied = self.messages.get(message.reference[1]) if message.reference else None
        return self.bot.id in message.mentioned.users and replied is not None and replied.interaction_id is None

    def member(self, guild: Guild, user: User, permissions: Permission = NOTHING) -> Member:
        """Let somebody into a guild; *permissions* come with a role of their own."""
        member = guild.members.setdefault(user.id, Member(user))
        if permissions:
            role = Role(self.new_id(), f"role of {user.name}", permissions)
            guild.roles[role.id] = role
            member.roles.add(role.id)
        return member
