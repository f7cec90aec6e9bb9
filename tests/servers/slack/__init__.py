"""Slack on a real socket, for the real client."""

from __future__ import annotations

from tests.servers.faults import Fault, Hold, Lost
from tests.servers.service import Hang, Reply, Reset, Trickle
from tests.servers.slack.channels import Channel, ChannelKind
from tests.servers.slack.deliveries import Attempt, Delivery
from tests.servers.slack.messages import Edit, Message, Stream, Streaming
from tests.servers.slack.refusals import limit, refuse
from tests.servers.slack.server import Handled, SlackServer
from tests.servers.slack.users import User
from tests.servers.slack.views import View
from tests.servers.slack.workspaces import SCOPES, Workspace
from tests.servers.uploads import Upload

__all__ = [
    "SCOPES",
    "Attempt",
    "Channel",
    "ChannelKind",
    "Delivery",
    "Edit",
    "Fault",
    "Handled",
    "Hang",
    "Hold",
    "Lost",
    "Message",
    "Reply",
    "Reset",
    "SlackServer",
    "Stream",
    "Streaming",
    "Trickle",
    "Upload",
    "User",
    "View",
    "Workspace",
    "limit",
    "refuse",
]
