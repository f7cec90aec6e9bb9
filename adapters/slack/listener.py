"""Hears what happens on Slack, and has it taken in; nothing is answered here.

The app answers Slack when a listener is over. What fails is not acknowledged, so that Slack sends it again.
"""

from __future__ import annotations

import re
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from adapters.chat.background import BackgroundTasks
from adapters.chat.catch_up import CatchUp
from adapters.chat.intake import ChatEvent, Intake
from adapters.chat.place_breaker import ExpiringSet
from adapters.slack.channels import read_event
from adapters.slack.events import PLATFORM, Json, line_of, moment_of, workspace_of
from adapters.slack.history import SlackHistory
from adapters.slack.sessions import Sessions, SlackHooks
from adapters.slack.workspaces import NotInstalled, Workspace
from core.model import ChannelRef, WorkspaceRef

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.request.async_request import AsyncBoltRequest

    from adapters.chat.services import ChatServices
    from adapters.slack.workspaces import Workspaces

MESSAGES = ("app_mention", "message")
GONE = ("app_uninstalled", "tokens_revoked")
STOPPED, OPENED = "agent_session_stopped", "app_home_opened"
HEARD = (*MESSAGES, STOPPED, OPENED, *GONE)  # the types of events that something comes of
LAST_RETRY = 3  # after which Slack gives an event up
NOTED_EVERY = timedelta(minutes=1)  # more often, when a channel was heard last is not written down
_RETRY = "x-slack-retry-num"  # over sockets too, where the library writes it
_ANY = re.compile("")


class SlackListener:
    """Hears events, in the order of each thread."""

    def __init__(self, services: ChatServices, workspaces: Workspaces, hooks: SlackHooks) -> None:
        self._services = services
        self._workspaces = workspaces
        self._hooks = hooks
        self._background = BackgroundTasks()
        self._intake = Intake(services, self._background, hooks.text_command)
        self._sessions = Sessions(services, hooks, self._background)
        self._noted = ExpiringSet(services.now, NOTED_EVERY)
        self._catch_up = CatchUp(SlackHistory(services, workspaces), self._intake, services)

    async def close(self) -> None:
        """End what is done beside hearing."""
        await self._background.close()

    def catch_up(self, home: str = "") -> None:
        """Begin to read what was missed, in *home* and wherever something was heard before."""
        self._background.begin(partial(self._catch_up.run, home))

    async def on_message(self, body: dict[str, Any], event: dict[str, Any], request: AsyncBoltRequest) -> None:
        """Hear what was written, changed or deleted."""
        comes_again = _retries(request) < LAST_RETRY

        async def read() -> ChatEvent | None:
            workspace = await self._workspace(body)
            return read_event(event, workspace, comes_again=comes_again) if workspace is not None else None

        await self._intake.take(f"{workspace_of(body)}:{line_of(event)}", read)
        if not self._catch_up.is_running:
            self._note_heard(body, event)

    async def on_stop(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Hear that somebody wants no more of an answer."""
        workspace = await self._workspace(body)
        if workspace is not None:
            await self._sessions.stop(event, workspace)

    async def on_messages_opened(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Greet whoever opens the messages with the bot."""
        workspace = await self._workspace(body)
        if workspace is not None:
            self._sessions.open(str(event["channel"]), workspace)

    async def on_gone(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Forget a workspace that the bot was thrown out of; tokens of people are none of ours."""
        revoked = cast("Json", event.get("tokens") or {})
        if event["type"] != "app_uninstalled" and not revoked.get("bot"):
            return
        home = WorkspaceRef(platform=PLATFORM, workspace=workspace_of(body))
        await self._services.purge(home)
        if self._hooks.uninstalled is not None:
            await self._hooks.uninstalled(home.workspace)
        await self._services.last_heard.forget_workspace(home)

    async def on_anything(self) -> None:
        """Take what nothing comes of, since Slack sends again what nobody takes."""

    def _note_heard(self, body: Json, event: Json) -> None:
        """Note that something was heard in a channel, once in a while, so that whoever starts next begins there."""
        at, channel = moment_of(event), str(event.get("channel") or "")
        if at is None or not channel:
            return
        ref = ChannelRef(platform=PLATFORM, workspace=workspace_of(body), channel=channel)

        async def note() -> None:
            if await self._workspace(body) is not None:
                await self._services.last_heard.note(ref, at)

        if self._noted.add(repr(ref)):
            self._background.begin(note)

    async def _workspace(self, body: Json) -> Workspace | None:
        """Return the way to where an event happened; None where the bot is not any more."""
        try:
            return await self._workspaces.find(workspace_of(body))
        except NotInstalled:
            return None


def install(app: AsyncApp, services: ChatServices, workspaces: Workspaces, hooks: SlackHooks) -> SlackListener:
    """Add the listeners to an app, after all others: what nobody has taken until then is acknowledged by the last."""
    listener = SlackListener(services, workspaces, hooks)
    untyped = cast("Any", app)
    for name in MESSAGES:
        untyped.event(name)(listener.on_message)
    for name in GONE:
        untyped.event(name)(listener.on_gone)
    untyped.event(STOPPED)(listener.on_stop)
    untyped.event(OPENED, matchers=[_is_messages])(listener.on_messages_opened)
    untyped.event(_ANY)(listener.on_anything)
    return listener


async def _is_messages(event: Json) -> bool:
    """Tell the messages from the home, whose opening is an event of the same name."""
    return event.get("tab") == "messages"


def _retries(request: AsyncBoltRequest) -> int:
    """Return how often Slack has sent this before."""
    given = request.headers.get(_RETRY) or ["0"]
    return int(given[0]) if given[0].isdigit() else 0
