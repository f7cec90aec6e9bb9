"""All that the platform knows: workspaces, people, channels, messages, views; and what the app may see and do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.servers.discord.platform import Changes
from tests.servers.slack.channels import Channel, ChannelKind
from tests.servers.slack.clock import Ids, ServerClock, Timestamps
from tests.servers.slack.events import Event
from tests.servers.slack.messages import Message
from tests.servers.slack.refusals import Refusal
from tests.servers.slack.response_urls import ResponseUrl
from tests.servers.slack.sessions import STATUS_LIFE, Prompts, Session, Status
from tests.servers.slack.shape import Json
from tests.servers.slack.users import User
from tests.servers.slack.views import Trigger, View
from tests.servers.slack.workspaces import Installation, Workspace
from tests.servers.uploads import Upload


@dataclass(slots=True)
class StoredFile:
    """A file that somebody has uploaded in a workspace; a deleted one stays here."""

    id: str
    team_id: str
    upload: Upload
    deleted: bool = False


@dataclass
class Platform:
    """The state, in plain dictionaries by id; `tell` sends an event to the app."""

    clock: ServerClock
    tell: Callable[[Event], None]
    subscriptions: set[str]
    mention_first: bool = True  # of the two events of a mention
    workspaces: dict[str, Workspace] = field(default_factory=dict[str, Workspace])
    users: dict[str, User] = field(default_factory=dict[str, User])
    channels: dict[str, Channel] = field(default_factory=dict[str, Channel])
    messages: dict[tuple[str, str], Message] = field(default_factory=dict[tuple[str, str], Message])
    views: dict[str, View] = field(default_factory=dict[str, View])
    homes: dict[str, View] = field(default_factory=dict[str, View])
    triggers: dict[str, Trigger] = field(default_factory=dict[str, Trigger])
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict[str, ResponseUrl])
    sessions: dict[tuple[str, str], Session] = field(default_factory=dict[tuple[str, str], Session])
    statuses: dict[tuple[str, str], Status] = field(default_factory=dict[tuple[str, str], Status])
    titles: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    files: dict[str, StoredFile] = field(default_factory=dict[str, StoredFile])
    url: str = "https://files.slack.com"
    prompts: list[Prompts] = field(default_factory=list[Prompts])
    changes: Changes = field(default_factory=Changes)

    def __post_init__(self) -> None:
        self.new_id = Ids()
        self.new_ts = Timestamps(self.clock)
        self._places: dict[str, list[Message]] = {}
        self._threads: dict[tuple[str, str], list[Message]] = {}

    def add(self, message: Message) -> None:
        """Keep a new message."""
        self.messages[message.channel_id, message.ts] = message
        self._places.setdefault(message.channel_id, []).append(message)
        self._threads.setdefault((message.channel_id, message.root_ts), []).append(message)

    # Lookups for calls, which raise what the platform says

    def channel(self, installation: Installation, channel_id: object) -> Channel:
        """Give a channel that the bot sees. Raises `Refusal`."""
        channel = self.channels.get(str(channel_id or ""))
        if channel is None or not self.sees(installation, channel):
            raise Refusal("channel_not_found")
        return channel

    def sees(self, installation: Installation, channel: Channel) -> bool:
        """Whether the bot sees a channel: a public one of its workspaces, or one that it is in."""
        is_here = not {channel.team_id, *channel.shared_with}.isdisjoint(installation.teams)
        return is_here and (channel.kind is ChannelKind.PUBLIC or installation.bot.id in channel.members)

    def require_member(self, installation: Installation, channel: Channel) -> None:
        """Raise `Refusal` unless the bot is in a channel."""
        if installation.bot.id not in channel.members:
            raise Refusal("not_in_channel")

    def message(self, channel: Channel, ts: object) -> Message:
        """Give a message that is there for everybody. Raises `Refusal`."""
        message = self.messages.get((channel.id, str(ts or "")))
        if message is None or message.deleted or message.ephemeral:
            raise Refusal("message_not_found")
        return message

    def installation_for(self, channel: Channel) -> Workspace | None:
        """Give the workspace whose bot hears what happens in a channel: the one at home there, or a guest."""
        for team_id in (channel.team_id, *sorted(channel.shared_with)):
            workspace = self.workspaces.get(team_id)
            if workspace is not None and workspace.bot.id in channel.members and workspace.installation.revoked is None:
                return workspace
        return None

    def use_trigger(self, trigger_id: object) -> Trigger:
        """Take a trigger, which opens one view within three seconds. Raises `Refusal`."""
        trigger = self.triggers.get(str(trigger_id or ""))
        if trigger is None:
            raise Refusal("invalid_trigger_id")
        if self.clock.ahead - trigger.at > Trigger.LIFE:
            raise Refusal("expired_trigger_id")
        if trigger.used:
            raise Refusal("exchanged_trigger_id")
        trigger.used = True
        return trigger

    # What assertions read

    def messages_in(self, channel: Channel, *, by: User | None = None, thread_ts: str | None = None) -> list[Message]:
        """Give what can be read in a channel, oldest first, what only one person sees included."""
        is_whole = thread_ts is None
        found = self._places.get(channel.id, ()) if is_whole else self._threads.get((channel.id, thread_ts), ())
        return [one for one in found if not one.deleted and (by is None or one.user_id == by.id)]

    def replies_to(self, channel: Channel, thread_ts: str) -> list[Message]:
        """Give what stands below the root of a thread, oldest first."""
        thread = self.messages_in(channel, thread_ts=thread_ts)
        return [one for one in thread if one.ts != thread_ts and not one.ephemeral]

    def status_of(self, channel: Channel, thread_ts: str) -> str:
        """Give the words of the older kind of status that a thread shows now; none is empty."""
        status = self.statuses.get((channel.id, thread_ts))
        is_shown = status is not None and self.clock.time() - status.at < STATUS_LIFE
        return status.words if status is not None and is_shown else ""

    def profile_of(self, user: User) -> Json:
        """Give the short form in which messages from other teams name their author."""
        return {"real_name": user.name, "display_name": user.name, "name": user.name, "team": user.team_id}
