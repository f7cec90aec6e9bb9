"""Events and interactions, in the forms in which the app gets them."""

from __future__ import annotations

from dataclasses import dataclass

from tests.servers.slack.messages import Message
from tests.servers.slack.shape import Json
from tests.servers.slack.workspaces import Workspace

EVENTS, COMMANDS, INTERACTIVE = "events_api", "slash_commands", "interactive"
VERIFICATION_TOKEN = "verification-token-of-the-tests"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that the app is told, if it subscribed to events of this *name*."""

    workspace: Workspace
    name: str
    data: Json
    about: Message | None = None
    is_shared: bool = False


def event_callback(event: Event, event_id: str, at: float) -> Json:
    """Give the envelope of an event."""
    workspace = event.workspace
    authorization: Json = {
        "enterprise_id": workspace.enterprise_id,
        "team_id": workspace.team_id,
        "user_id": workspace.bot.id,
        "is_bot": True,
        "is_enterprise_install": workspace.is_enterprise_install,
    }
    whole: Json = {
        "token": VERIFICATION_TOKEN,
        "team_id": workspace.team_id,
        "context_team_id": workspace.team_id,
        "context_enterprise_id": workspace.enterprise_id,
        "api_app_id": workspace.app_id,
        "event": event.data,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": int(at),
        "authorizations": [authorization],
        "is_ext_shared_channel": event.is_shared,
        "event_context": f"4-{event_id}",
    }
    return whole if workspace.enterprise_id is None else {**whole, "enterprise_id": workspace.enterprise_id}
