"""Reads where, by whom and on what something was used. Nothing here waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias, cast

from adapters.slack.events import PLATFORM, workspace_of
from adapters.slack.workspaces import name_of
from core.model import Asked, Interaction, MessageRef, Person, ReplyAddress, ThreadRef, WorkspaceRef

Body: TypeAlias = Mapping[str, Any]

URL_LIFE = timedelta(minutes=30) - timedelta(minutes=1)  # Slack's, less what a clock or a call may be late


@dataclass(frozen=True, slots=True)
class Used:
    """A command, a shortcut, a button or a form: who used it where, and the way back to that person.

    `thread` is the one that the pressed or chosen message is in, or would open, and empty where there is none;
    `is_inside` says that the message is in it and not in the channel.
    `way_since` says since when there is a way back, if that is older.
    """

    workspace: str
    user: str
    at: datetime
    name: str = ""
    channel: str = ""
    thread: str = ""
    is_inside: bool = False
    trigger: str = ""
    response_url: str = field(default="", repr=False)
    way_since: datetime | None = None

    @property
    def home(self) -> WorkspaceRef:
        """The workspace."""
        return WorkspaceRef(platform=PLATFORM, workspace=self.workspace)

    @property
    def person(self) -> Person:
        """Who did it."""
        return Person(id=self.user)

    @property
    def thread_ref(self) -> ThreadRef | None:
        """The conversation that goes on there; a channel holds many, and is none."""
        return self.in_thread(self.thread) if self.thread and self.channel else None

    @property
    def private_message(self) -> MessageRef:
        """What only one person sees: it is in no thread, and goes by what Slack calls the one use of it."""
        return MessageRef(thread=self.in_thread(self.trigger), id=self.trigger)

    def in_thread(self, thread: str) -> ThreadRef:
        """Name a thread of the channel."""
        return ThreadRef(platform=PLATFORM, workspace=self.workspace, channel=self.channel, thread=thread)

    def root(self, message: str) -> MessageRef:
        """Name a message of the channel that begins its own thread."""
        return MessageRef(thread=self.in_thread(message), id=message)

    def private_address(self, message: MessageRef) -> ReplyAddress:
        """Return where a private answer goes: by the way back to the person, while that is open, where they look."""
        way = Interaction(id=self.trigger, token=self.response_url, expires_at=(self.way_since or self.at) + URL_LIFE)
        seen = self.in_thread(self.thread) if self.is_inside else message.thread
        return ReplyAddress(thread=seen, interaction=way)


def home_of(body: Body) -> str:
    """Name the workspace, also of an installation for a whole organisation, which sends no team of its own."""
    user, view = _inner(body, "user"), _inner(body, "view")
    team = (
        view.get("app_installed_team_id")
        or _inner(body, "team").get("id")
        or body.get("team_id")
        or user.get("team_id")
        or view.get("team_id")
    )
    enterprise = _inner(body, "enterprise").get("id") or body.get("enterprise_id")
    return name_of(
        str(team or ""),
        str(enterprise or ""),
        is_enterprise_install=body.get("is_enterprise_install") in (True, "true"),  # commands come as forms
    )


def used_by_command(body: Body, at: datetime) -> Used:
    """Read a command, which is used in a channel and in no thread."""
    return Used(
        workspace=home_of(body),
        user=str(body["user_id"]),
        at=at,
        name=str(body.get("user_name") or ""),
        channel=str(body["channel_id"]),
        trigger=str(body["trigger_id"]),
        response_url=str(body.get("response_url") or ""),
    )


def used_by_interaction(body: Body, at: datetime) -> Used:
    """Read a button, a shortcut or a form; a form and the app's home are in no channel."""
    user, message, container = _inner(body, "user"), _inner(body, "message"), _inner(body, "container")
    thread = message.get("thread_ts") or container.get("thread_ts")
    own = message.get("ts") or container.get("message_ts")
    return Used(
        workspace=home_of(body),
        user=str(user["id"]),
        at=at,
        name=str(user.get("name") or user.get("username") or ""),
        channel=str(_inner(body, "channel").get("id") or container.get("channel_id") or ""),
        thread=str(thread or own or ""),
        is_inside=thread not in (None, own),
        trigger=str(body.get("trigger_id") or ""),
        response_url=str(body.get("response_url") or ""),
    )


def used_by_event(body: Body, at: datetime) -> Used:
    """Read the opening of the app's home, to which there is no way back but the home itself."""
    return Used(workspace=workspace_of(body), user=str(_inner(body, "event").get("user") or ""), at=at)


def used_for(asked: Asked) -> Used:
    """Read a command back from the question that it asked."""
    question, way = asked.question, asked.address.interaction if asked.address else None
    return Used(
        workspace=question.thread.workspace,
        user=question.author.id,
        at=question.asked_at,
        channel=question.thread.channel,
        trigger=question.message.id,
        response_url=way.token if way else "",
    )


def _inner(body: Body, key: str) -> Body:
    """Return a part of a payload; Slack leaves out what it does not know, or says null."""
    inner = body.get(key)
    return cast("Body", inner) if isinstance(inner, Mapping) else {}
