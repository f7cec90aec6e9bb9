"""Discord on a real socket, for the real client."""

from __future__ import annotations

from tests.servers.discord.channels import Channel, ChannelKind
from tests.servers.discord.guilds import Guild, Member, Role, User
from tests.servers.discord.interactions import Answered, Interaction
from tests.servers.discord.messages import Edit, Message
from tests.servers.discord.permissions import Permission
from tests.servers.discord.server import TOKEN, DiscordServer, Handled
from tests.servers.faults import Fault, Hold, Lost
from tests.servers.service import Hang, Reply, Reset, Trickle
from tests.servers.uploads import Upload

__all__ = [
    "TOKEN",
    "Answered",
    "Channel",
    "ChannelKind",
    "DiscordServer",
    "Edit",
    "Fault",
    "Guild",
    "Handled",
    "Hang",
    "Hold",
    "Interaction",
    "Lost",
    "Member",
    "Message",
    "Permission",
    "Reply",
    "Reset",
    "Role",
    "Trickle",
    "Upload",
    "User",
]
