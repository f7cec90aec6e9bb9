"""What people do on the platform: they write, change, delete, react, come and go."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Iterable
from typing import Any

from tests.servers.slack.channels import Channel, ChannelKind
from tests.servers.slack.deliveries import Delivery
from tests.servers.slack.direct import direct_of
from tests.servers.slack.events import Event
from tests.servers.slack.file_routes import file_payload
from tests.servers.slack.messages import Message, Streaming
from tests.servers.slack.outbox import Outbox
from tests.servers.slack.platform import Platform, StoredFile
from tests.servers.slack.posting import create, delete, edit, react, tell_message
from tests.servers.slack.streams import expire
from tests.servers.slack.users import User
from tests.servers.slack.workspaces import Installation, Workspace
from tests.servers.uploads import Upload


class Acting:
    """People act here, at once; the app hears of it over its sockets, or at its address."""

    platform: Platform
    outbox: Outbox
    app_id: str
    app_token: str

    # Places and people

    def add_workspace(
        self, name: str = "Robots", *, enterprise_id: str | None = None, org_wide: bool = False
    ) -> Workspace:
        """Make a workspace and install the app in it; workspaces of one organisation may share one installation."""
        team_id = self.platform.new_id("T")
        installation = self._shared(enterprise_id) if org_wide else None
        if installation is None:
            bot = User(self.platform.new_id("U"), team_id, "footnote", is_bot=True, enterprise_id=enterprise_id)
            self.platform.users[bot.id] = bot
            installation = Installation(
                bot=bot,
                bot_id=self.platform.new_id("B"),
                token=f"xoxb-{secrets.randbelow(10**10)}-{team_id}",
                app_id=self.app_id,
                enterprise_id=enterprise_id,
                is_enterprise_install=org_wide,
            )
        installation.teams.append(team_id)
        workspace = Workspace(team_id, name, name.lower(), self.app_token, installation)
        self.platform.workspaces[team_id] = workspace
        return workspace

    def _shared(self, enterprise_id: str | None) -> Installation | None:
        for workspace in self.platform.workspaces.values():
            if workspace.is_enterprise_install and workspace.enterprise_id == enterprise_id:
                return workspace.installation
        return None

    def add_channel(
        self,
        workspace: Workspace,
        name: str = "general",
        *,
        private: bool = False,
        bot: bool = True,
        shared_with: Iterable[str] = (),
    ) -> Channel:
        """Make a channel with all people of the workspace in it, and the bot; other teams may share it."""
        kind = ChannelKind.PRIVATE if private else ChannelKind.PUBLIC
        channel = Channel(self.platform.new_id("C"), workspace.team_id, kind, name, shared_with=set(shared_with))
        teams = {workspace.team_id, *channel.shared_with}
        channel.members = {one.id for one in self.platform.users.values() if one.team_id in teams and not one.is_bot}
        if bot:
            channel.members.add(workspace.bot.id)
        self.platform.channels[channel.id] = channel
        return channel

    def add_group_talk(self, workspace: Workspace, *users: User) -> Channel:
        """Begin direct messages between several people and the bot."""
        channel = Channel(self.platform.new_id("C"), workspace.team_id, ChannelKind.SEVERAL, "mpdm")
        channel.members = {workspace.bot.id, *(user.id for user in users)}
        self.platform.channels[channel.id] = channel
        return channel

    def add_member(self, workspace: Workspace, name: str = "ada", *, team_id: str = "", **flags: Any) -> User:
        """Let somebody into a workspace and its channels; *team_id* is another team that the person is at home in.

        The flags are those of accounts: is_admin, is_owner, is_restricted, is_ultra_restricted, is_stranger, locale.
        """
        home = team_id or workspace.team_id
        enterprise_id = None if team_id else workspace.enterprise_id
        user = User(self.platform.new_id("U"), home, name, enterprise_id=enterprise_id, **flags)
        self.platform.users[user.id] = user
        for channel in self.platform.channels.values():
            if channel.team_id == workspace.team_id and channel.kind in (ChannelKind.PUBLIC, ChannelKind.PRIVATE):
                channel.members.add(user.id)
                channel.shared_with |= {team_id} - {""}
        return user

    def join(self, user: User, channel: Channel) -> Delivery:
        """Let somebody come into a channel, of which the app hears that is in it."""
        channel.members.add(user.id)
        data = {"user": user.id, "channel": channel.id, "channel_type": "C", "team": user.team_id}
        workspace = self.platform.installation_for(channel) or self.platform.workspaces[channel.team_id]
        return self._told(Event(workspace, "member_joined_channel", {"type": "member_joined_channel", **data}))

    def add_group(self, workspace: Workspace, *users: User) -> str:
        """Make a group of people; give its id."""
        group_id = self.platform.new_id("S")
        workspace.groups[group_id] = [user.id for user in users]
        return group_id

    def direct(self, workspace: Workspace, user: User) -> Channel:
        """Give the direct messages between the bot and a person."""
        return direct_of(self.platform, workspace, user)

    def remove_bot(self, channel: Channel, workspace: Workspace) -> None:
        """Take the bot out of a channel."""
        channel.members.discard(workspace.bot.id)

    def lock(self, message: Message) -> None:
        """Lock a thread."""
        self.platform.channels[message.channel_id].locked.add(message.root_ts)

    # Words

    @staticmethod
    def mention(user: User) -> str:
        """Give the token that mentions somebody."""
        return user.mention

    def post_as(
        self, user: User, channel: Channel, text: str, thread_ts: str | Message | None = None, **more: Any
    ) -> Message:
        """Write a message, given in the escaped form, perhaps in a thread; *more* are fields of the message."""
        root = thread_ts.root_ts if isinstance(thread_ts, Message) else thread_ts
        message = Message(
            ts=self.platform.new_ts(),
            channel_id=channel.id,
            team_id=user.team_id,
            user_id=user.id,
            text=text,
            thread_ts=root,
            client_msg_id=str(uuid.uuid4()),
            **more,
        )
        channel.members.add(user.id)
        return create(self.platform, channel, message)

    def upload_as(
        self, user: User, channel: Channel, *uploads: Upload, text: str = "", thread_ts: Message | None = None
    ) -> Message:
        """Write a message that files come with; in a channel that is shared with others, events tell little of them."""
        stored = [StoredFile(self.platform.new_id("F"), user.team_id, upload) for upload in uploads]
        self.platform.files |= {file.id: file for file in stored}
        shown = [file_payload(self.platform, file, is_stub=bool(channel.shared_with)) for file in stored]
        return self.post_as(user, channel, text, thread_ts, subtype="file_share", files=shown)

    def forward_as(self, user: User, channel: Channel, message: Message, text: str = "") -> Message:
        """Forward a message, with words of one's own."""
        author = self.platform.users[message.user_id]
        shared: dict[str, Any] = {
            "ts": message.ts,
            "channel_id": message.channel_id,
            "author_id": author.id,
            "author_name": author.name,
            "text": message.text,
            "is_share": True,
            "is_msg_unfurl": True,
            "files": message.files,
        }
        return self.post_as(user, channel, text, attachments=[shared])

    def edit_as(self, user: User, message: Message, text: str) -> list[Delivery]:
        """Change the words of a message; a mention in them is told once more."""
        channel = self.platform.channels[message.channel_id]
        edited = {"user": user.id, "ts": self.platform.new_ts()}
        before = len(message.deliveries)
        edit(self.platform, channel, message, text=text, edited=edited)
        tell_message(self.platform, channel, message, edited)
        return message.deliveries[before:]

    def delete_as(self, user: User, message: Message) -> list[Delivery]:
        """Delete a message."""
        before = len(message.deliveries)
        delete(self.platform, self.platform.channels[message.channel_id], message)
        return message.deliveries[before:]

    def unfurl(self, message: Message, text: str) -> list[Delivery]:
        """Let the platform show a preview of a link, with these words of a page; the message's own stay."""
        before = len(message.deliveries)
        attachment = {"id": 1, "from_url": "https://example.org/", "text": text, "fallback": text}
        edit(self.platform, self.platform.channels[message.channel_id], message, attachments=[attachment])
        return message.deliveries[before:]

    def react_as(self, user: User, message: Message, name: str) -> list[Delivery]:
        """Put a reaction on a message."""
        before = len(message.deliveries)
        react(self.platform, self.platform.channels[message.channel_id], message, name, user.id)
        return message.deliveries[before:]

    # The app itself

    def open_home(self, user: User, tab: str = "home", workspace: Workspace | None = None) -> Delivery:
        """Open the app's home, or its messages."""
        workspace = workspace or self.platform.workspaces[user.team_id]
        channel = direct_of(self.platform, workspace, user)
        home = self.platform.homes.get(user.id)
        data = {"type": "app_home_opened", "user": user.id, "channel": channel.id, "tab": tab}
        beside = {"event_ts": self.platform.new_ts(), **({"view": home.payload()} if home and tab == "home" else {})}
        return self._told(Event(workspace, "app_home_opened", {**data, **beside}))

    def stop(self, user: User, message: Message) -> Delivery:
        """Press the native button that stops what the bot writes in the thread of a message."""
        channel = self.platform.channels[message.channel_id]
        stopped = list[str]()
        for one in self.platform.messages_in(channel, thread_ts=message.root_ts):
            expire(self.platform, one)
            if one.stream is not None and one.stream.state is Streaming.OPEN:
                one.stream.state = Streaming.STOPPED_BY_USER
                stopped.append(one.ts)
        data = {
            "type": "agent_session_stopped",
            "channel": channel.id,
            "thread_ts": message.root_ts,
            "user": user.id,
            "streaming_message_ts": stopped,
            "event_ts": self.platform.new_ts(),
        }
        workspace = self.platform.installation_for(channel) or self.platform.workspaces[channel.team_id]
        return self._told(Event(workspace, "agent_session_stopped", data, message))

    def uninstall(self, workspace: Workspace) -> list[Delivery]:
        """Remove the app from a workspace: its token is dead, and then it is told."""
        workspace.installation.revoked = "account_inactive"
        revoked = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [workspace.bot.id]}}
        gone = {"type": "app_uninstalled"}
        return [self._told(Event(workspace, str(data["type"]), dict(data))) for data in (revoked, gone)]

    def tell(self, workspace: Workspace, data: dict[str, Any]) -> Delivery:
        """Tell the app of an event of any type, whether or not it has subscribed to it."""
        self.outbox.subscriptions.add(str(data["type"]))
        return self._told(Event(workspace, str(data["type"]), data))

    def _told(self, event: Event) -> Delivery:
        before = len(self.outbox.deliveries)
        self.platform.tell(event)
        assert len(self.outbox.deliveries) > before, f"the app has not subscribed to {event.name}"
        return self.outbox.deliveries[-1]
