"""What people do on the platform: they write, react, press buttons, use commands, and moderate."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from tests.servers.discord.channels import Channel, ChannelKind
from tests.servers.discord.guilds import CHANNEL, ROLE, USER, CommandRule, Guild, Role, User
from tests.servers.discord.intents import Intent
from tests.servers.discord.interactions import Asked, Interaction
from tests.servers.discord.messages import Message
from tests.servers.discord.payloads import (
    channel_payload,
    guild_payload,
    interaction_payload,
    is_brought_along,
    is_offered,
    message_payload,
    role_payload,
    user_payload,
)
from tests.servers.discord.permissions import INVITED, NOTHING, Overwrite, Permission
from tests.servers.discord.platform import Event, Platform
from tests.servers.discord.posting import Marks, create, delete, edit, react, tell, tell_channel
from tests.servers.discord.shape import Json
from tests.servers.discord.threads import Opening, change, open_in, open_on, open_post
from tests.servers.uploads import Upload

Option: TypeAlias = str | int | bool | User | Channel | Role
ALL_MENTIONS = ["users", "roles", "everyone"]
SLASH, MESSAGE_MENU = 1, 3


class Acting:
    """People act here, at once; the bot hears of it through its sessions."""

    platform: Platform

    # Places and people

    def add_guild(self, name: str = "Robots", *, id: int | None = None, permissions: Permission = INVITED) -> Guild:  # noqa: A002 - the field's name
        """Make a guild and invite the bot, with these permissions."""
        guild = Guild(id or self.platform.new_id(), name, self.platform.owner.id)
        self.platform.guilds[guild.id] = guild
        self.platform.member(guild, self.platform.owner)
        self.invite_bot(guild, permissions)
        return guild

    def invite_bot(self, guild: Guild, permissions: Permission = INVITED) -> None:
        """Let the bot in; only of a guild that it was in before is said that it is available."""
        self.platform.member(guild, self.platform.bot, permissions)
        payload = guild_payload(self.platform, guild)
        del payload["unavailable"]
        self.platform.tell(Event("GUILD_CREATE", payload, guild.id, Intent.GUILDS))

    def lose(self, guild: Guild) -> None:
        """Let an outage take a guild away from the bot, which stays a member."""
        data = {"id": str(guild.id), "unavailable": True}
        self.platform.tell(Event("GUILD_DELETE", data, guild.id, Intent.GUILDS))

    def kick_bot(self, guild: Guild) -> None:
        """Throw the bot out."""
        del guild.members[self.platform.bot.id]
        self.platform.tell(Event("GUILD_DELETE", {"id": str(guild.id)}, guild.id, Intent.GUILDS))

    def add_channel(
        self, guild: Guild, name: str = "general", *, forum: bool = False, voice: bool = False, tags: Iterable[str] = ()
    ) -> Channel:
        """Make a channel of text, one for voices with a chat beside it, or a forum with tags."""
        kind = ChannelKind.FORUM if forum else ChannelKind.VOICE if voice else ChannelKind.TEXT
        channel = Channel(self.platform.new_id(), kind, guild.id, name)
        channel.tags = {self.platform.new_id(): tag for tag in tags}
        self.platform.channels[channel.id] = channel
        tell_channel(self.platform, "CHANNEL_CREATE", channel)
        return channel

    def delete_channel(self, channel: Channel) -> None:
        """Remove a channel or a thread, with all that was said in it."""
        del self.platform.channels[channel.id]
        for message in self.platform.messages.values():
            message.deleted = message.deleted or message.channel_id == channel.id
        tell_channel(self.platform, "THREAD_DELETE" if channel.is_thread else "CHANNEL_DELETE", channel)

    def add_member(
        self, guild: Guild, name: str = "Ada", *, permissions: Permission = NOTHING, bot: bool = False
    ) -> User:
        """Let somebody new in; *permissions* are those beyond everybody's."""
        user = self.platform.new_user(name, bot=bot)
        self.platform.member(guild, user, permissions)
        return user

    def add_user(self, name: str = "Ada") -> User:
        """Give an account to somebody who is in no guild."""
        return self.platform.new_user(name)

    def dm(self, user: User) -> Channel:
        """Give the channel in which somebody and the bot are alone."""
        return self.platform.dm_of(user)

    def private(self, user: User) -> Channel:
        """Give a channel in which somebody speaks with other people, and the bot is not."""
        channel = Channel(self.platform.new_id(), ChannelKind.DM, recipient_id=user.id, is_private=True)
        self.platform.channels[channel.id] = channel
        return channel

    def install_for(self, user: User) -> None:
        """Let somebody install the bot for themselves, and so bring it along wherever they are."""
        self.platform.installed_by.add(user.id)

    def deny(self, channel: Channel, permissions: Permission, *, user: User | None = None) -> None:
        """Take permissions from somebody in a channel; from the bot, unless somebody is named."""
        key = (user or self.platform.bot).id
        before = channel.overwrites.get(key, Overwrite())
        channel.overwrites[key] = Overwrite(before.allow & ~permissions, before.deny | permissions)
        tell_channel(self.platform, "CHANNEL_UPDATE", channel)

    def allow(self, channel: Channel, permissions: Permission, *, user: User | None = None) -> None:
        """Give permissions to somebody in a channel; to the bot, unless somebody is named."""
        key = (user or self.platform.bot).id
        before = channel.overwrites.get(key, Overwrite())
        channel.overwrites[key] = Overwrite(before.allow | permissions, before.deny & ~permissions)
        tell_channel(self.platform, "CHANNEL_UPDATE", channel)

    def revoke(self, guild: Guild, permissions: Permission) -> None:
        """Take permissions from everybody's role and the bot's own, in the whole guild."""
        for role_id in (guild.id, *guild.members[self.platform.bot.id].roles):
            role = guild.roles[role_id]
            role.permissions &= ~permissions
            data = {"guild_id": str(guild.id), "role": role_payload(role, 0)}
            self.platform.tell(Event("GUILD_ROLE_UPDATE", data, guild.id, Intent.GUILDS))

    def add_role(self, guild: Guild, name: str = "helpers", *members: User) -> Role:
        """Make a role without permissions, and give it to somebody."""
        role = Role(self.platform.new_id(), name, NOTHING)
        guild.roles[role.id] = role
        data = {"guild_id": str(guild.id), "role": role_payload(role, 1)}
        self.platform.tell(Event("GUILD_ROLE_CREATE", data, guild.id, Intent.GUILDS))
        for user in members:
            guild.members[user.id].roles.add(role.id)
        return role

    def set_command(
        self, guild: Guild, name: str | None, subject: User | Role | Channel | None, *, allowed: bool
    ) -> None:
        """Say in the settings of a guild who may use a command, or where; without a *name*, all of the bot's.

        Without a *subject* it holds for all channels; everyone is the role with the guild's own id.
        """
        about = self.platform.bot.id if name is None else int(self._known(name)["id"])
        kind = ROLE if isinstance(subject, Role) else USER if isinstance(subject, User) else CHANNEL
        rule = CommandRule(guild.id - 1 if subject is None else subject.id, kind, allowed)
        guild.command_rules.setdefault(about, []).append(rule)

    def _known(self, name: str) -> Json:
        return next(command for command in self.platform.commands[None] if command["name"] == name)

    # Messages

    def post_as(
        self,
        user: User,
        channel: Channel,
        text: str,
        *,
        mentions: Iterable[User] = (),
        reply_to: Message | None = None,
        ping: bool = True,
    ) -> Message:
        """Write a message; those in *mentions* are mentioned before the text, and a reply pings unless told not to."""
        whole = " ".join([*(one.mention for one in mentions), text])
        allowed = {"parse": ALL_MENTIONS, "replied_user": ping}
        return create(
            self.platform, channel, {"content": whole, "allowed_mentions": allowed}, Marks(user.id, reply_to=reply_to)
        )

    def upload_as(
        self, user: User, channel: Channel, *uploads: Upload, text: str = "", reply_to: Message | None = None
    ) -> Message:
        """Write a message that files come with; what is in the *text* mentions people."""
        body: Json = {"content": text, "allowed_mentions": {"parse": ALL_MENTIONS, "replied_user": True}}
        return create(self.platform, channel, body, Marks(user.id, reply_to=reply_to, uploads=uploads))

    def forward_as(self, user: User, channel: Channel, message: Message) -> Message:
        """Forward a message, to which the platform lets nobody add words."""
        return create(self.platform, channel, {"content": ""}, Marks(user.id, forwarded=message))

    def edit_as(self, user: User, message: Message, text: str) -> None:
        """Change the text of one's message."""
        assert message.author_id == user.id, f"{user.name} did not write it"
        edit(self.platform, message, {"content": text})

    def unfurl(self, message: Message, *embeds: Json) -> None:
        """Let the platform add previews of links: the sessions hear of an update in which no text has changed."""
        message.embeds = list(embeds)
        tell(self.platform, "MESSAGE_UPDATE", message)

    def repeat(self, message: Message) -> None:
        """Tell the sessions of a message once more, as it may happen when they come back."""
        tell(self.platform, "MESSAGE_CREATE", message)

    def delete_as(self, user: User, *messages: Message) -> None:
        """Delete messages; several at once is what moderators do."""
        delete(self.platform, *messages)

    def react_as(self, user: User, message: Message, emoji: str) -> None:
        """Put a reaction on a message."""
        react(self.platform, message, emoji, user.id)

    # Threads

    def thread_as(self, user: User, place: Channel | Message, name: str = "thread") -> Channel:
        """Open a thread on a message, or in a channel without one."""
        opening = Opening(name, user.id)
        if isinstance(place, Message):
            return open_on(self.platform, place, opening)
        return open_in(self.platform, place, opening)

    def post_in_forum_as(self, user: User, forum: Channel, title: str, text: str) -> tuple[Channel, Message]:
        """Open a post, and give it with its first message."""
        return open_post(self.platform, forum, Opening(title, user.id), {"content": text})

    def change_thread(self, thread: Channel, **changes: Any) -> None:
        """Rename, archive or lock a thread: `name`, `archived`, `locked`."""
        change(self.platform, thread, changes)

    # Interactions

    def press(self, user: User, message: Message, custom_id: str) -> Interaction:
        """Press a button of a message."""
        assert custom_id in message.custom_ids, f"no button {custom_id!r} among {message.custom_ids}"
        data: Json = {"custom_id": custom_id, "component_type": 2}
        channel = self.platform.channels[message.channel_id]
        return self._interact(user, channel, Asked.COMPONENT, data, message_id=message.id)

    def submit(self, user: User, shown: Interaction, values: Mapping[str, str | list[str]]) -> Interaction:
        """Fill in and send the form that the bot answered with; *values* go by the fields' ids."""
        assert shown.modal is not None, "the bot showed no form"
        filled = [_filled(part, values) for part in shown.modal["components"]]
        data: Json = {"custom_id": shown.modal["custom_id"], "components": filled}
        channel = self.platform.channels[shown.channel_id]
        return self._interact(user, channel, Asked.MODAL, data, message_id=shown.message_id)

    def slash(self, user: User, channel: Channel, command: str, /, **options: Option) -> Interaction:
        """Use a slash command, such as `ask` or `footnote-admin status`, with its options."""
        name, *rest = command.split()
        registered = self._registered(user, channel, name, SLASH)
        declared: list[Json] = registered["options"]
        data: Json = {"id": registered["id"], "name": name, "type": SLASH}
        data["options"] = _options(declared, rest, options)
        data["resolved"] = self._resolved(options.values())
        return self._interact(user, channel, Asked.COMMAND, data)

    def _resolved(self, options: Iterable[Option]) -> Json:
        people = {str(one.id): user_payload(one) for one in options if isinstance(one, User)}
        places = {
            str(one.id): {**channel_payload(self.platform, one), "permissions": "0"}
            for one in options
            if isinstance(one, Channel)
        }
        roles = {str(one.id): role_payload(one, 1) for one in options if isinstance(one, Role)}
        named = (("users", people), ("channels", places), ("roles", roles))
        return {kind: found for kind, found in named if found}

    def menu(self, user: User, message: Message, name: str) -> Interaction:
        """Use a command of a message's menu."""
        channel = self.platform.channels[message.channel_id]
        registered = self._registered(user, channel, name, MESSAGE_MENU)
        whole = {str(message.id): message_payload(self.platform, message)}
        data: Json = {"id": registered["id"], "name": name, "type": MESSAGE_MENU, "target_id": str(message.id)}
        return self._interact(user, channel, Asked.COMMAND, {**data, "resolved": {"messages": whole}})

    def repeat_interaction(self, interaction: Interaction) -> None:
        """Tell the sessions of an interaction once more."""
        data = interaction_payload(self.platform, interaction)
        where = None if is_brought_along(self.platform, interaction) else interaction.guild_id
        self.platform.tell(Event("INTERACTION_CREATE", data, where))

    def _registered(self, user: User, channel: Channel, name: str, kind: int) -> Json:
        commands = self.platform.commands
        there = [*commands.get(None, ()), *commands.get(channel.guild_id or 0, ())]
        there = [command for command in there if is_offered(self.platform, command, user, channel)]
        found = [command for command in there if (command["name"], command["type"]) == (name, kind)]
        assert found, f"no command {name!r} among {[command['name'] for command in there]}"
        return found[0]

    def _interact(
        self, user: User, channel: Channel, kind: Asked, data: Json, *, message_id: int | None = None
    ) -> Interaction:
        interaction = Interaction(
            id=self.platform.new_id(),
            token=secrets.token_urlsafe(48),
            kind=kind,
            data=data,
            user_id=user.id,
            channel_id=channel.id,
            guild_id=channel.guild_id,
            at=self.platform.clock.now(),
            message_id=message_id,
        )
        self.platform.interactions[interaction.id] = interaction
        self.repeat_interaction(interaction)
        return interaction


def _filled(part: Json, values: Mapping[str, str | list[str]]) -> Json:
    """Give a form's part as it is sent back: with what was filled in, and without what was only shown."""
    answer: Json = {"type": part["type"], "id": part.get("id", 0)}
    if "components" in part:
        return {**answer, "components": [_filled(inner, values) for inner in part["components"]]}
    if "component" in part:
        return {**answer, "component": _filled(part["component"], values)}
    value = values.get(part.get("custom_id", ""), part.get("value", ""))
    key = "values" if isinstance(value, list) else "value"
    return {**answer, "custom_id": part.get("custom_id"), key: value}


def _options(declared: list[Json], path: list[str], given: Mapping[str, Option]) -> list[Json]:
    """Write the options of a command, those of a subcommand inside of it."""
    by_name = {option["name"]: option for option in declared}
    if path:
        kind = by_name[path[0]]["type"]
        inner = _options(by_name[path[0]].get("options", []), path[1:], given)
        return [{"name": path[0], "type": kind, "options": inner}]
    values = {
        name: str(value.id) if isinstance(value, User | Channel | Role) else value for name, value in given.items()
    }
    for name, value in values.items():
        choices = [choice["value"] for choice in by_name[name].get("choices") or ()]
        assert not choices or value in choices, f"{value!r} is none of {choices}"
    return [{"name": name, "type": by_name[name]["type"], "value": value} for name, value in values.items()]
