"""Places that come about when they are first asked for."""

from __future__ import annotations

from tests.servers.slack.channels import Channel, ChannelKind
from tests.servers.slack.platform import Platform
from tests.servers.slack.users import User
from tests.servers.slack.workspaces import Workspace


def direct_of(platform: Platform, workspace: Workspace, user: User) -> Channel:
    """Give the channel of direct messages between the bot and a person."""
    members = {user.id, workspace.bot.id}
    for channel in platform.channels.values():
        if channel.is_direct and channel.members == members:
            return channel
    channel = Channel(platform.new_id("D"), workspace.team_id, ChannelKind.DIRECT, "directmessage", members)
    platform.channels[channel.id] = channel
    return channel
