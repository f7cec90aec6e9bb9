"""Hears what happens on Slack, and puts what is for the bot into the inbox; nothing is answered here.

The app answers Slack when a listener is over. What fails is not acknowledged, so that Slack sends it again.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from adapters.chat.chores import Chores
from adapters.chat.order import Order
from adapters.slack.client.workspaces import NotInstalled, Workspace
from adapters.slack.inbound.attending import Attending
from adapters.slack.inbound.catch_up import CatchUp
from adapters.slack.inbound.event import PLATFORM, Json, line_of, workspace_of
from adapters.slack.inbound.greeting import Greeting
from adapters.slack.inbound.hearing import Hearing, Told
from adapters.slack.inbound.stopping import Stopping
from core.model import WorkspaceRef

if TYPE_CHECKING:
    from slack_bolt.app.async_app import AsyncApp
    from slack_bolt.request.async_request import AsyncBoltRequest

    from adapters.slack.inbound.ports import Ports

MESSAGES = ("app_mention", "message")
GONE = ("app_uninstalled", "tokens_revoked")
STOPPED, OPENED = "agent_session_stopped", "app_home_opened"
HEARD = (*MESSAGES, STOPPED, OPENED, *GONE)  # the types of events that something comes of

LAST_RETRY = 3  # after which Slack gives an event up
_RETRY = "x-slack-retry-num"  # over sockets too, where the library writes it
_ANY = re.compile("")


class Listener:
    """Hears events, in the order of each thread."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._order = Order()
        self._chores = Chores()
        self._hearing = Hearing(ports, self._chores)
        self._stopping = Stopping(ports, self._chores)
        self._greeting = Greeting(ports, self._chores)
        self._attending = Attending(ports, self._chores)
        self._catch_up = CatchUp(ports, self._hear_late)

    async def close(self) -> None:
        """End what is done beside hearing."""
        await self._chores.close()

    def catch_up(self, home: str = "") -> None:
        """Begin to read what was missed, in *home* and wherever something was heard before."""
        self._chores.begin(partial(self._catch_up.run, home))

    async def on_message(self, body: dict[str, Any], event: dict[str, Any], request: AsyncBoltRequest) -> None:
        """Hear what was written, changed or deleted."""
        async with self._order.turn(f"{workspace_of(body)}:{line_of(event)}"):
            workspace = await self._workspace(body)
            if workspace is not None:
                await self._hearing.hear(Told(event, workspace, comes_again=_retries(request) < LAST_RETRY))
                if not self._catch_up.is_running:
                    self._attending.note(event, workspace)

    async def on_stop(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Hear that somebody wants no more of an answer."""
        workspace = await self._workspace(body)
        if workspace is not None:
            await self._stopping.hear(event, workspace)

    async def on_messages_opened(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Greet whoever opens the messages with the bot."""
        workspace = await self._workspace(body)
        if workspace is not None:
            self._greeting.begin(str(event["channel"]), workspace)

    async def on_gone(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Forget a workspace that the bot was thrown out of; tokens of people are none of ours."""
        revoked = cast("Json", event.get("tokens") or {})
        if event["type"] != "app_uninstalled" and not revoked.get("bot"):
            return
        home = WorkspaceRef(platform=PLATFORM, workspace=workspace_of(body))
        if self._ports.purge is not None:
            await self._ports.purge(home)
        if self._ports.uninstalled is not None:
            await self._ports.uninstalled(home.workspace)
        if self._ports.last_heard is not None:
            await self._ports.last_heard.forget_workspace(home)

    async def on_anything(self) -> None:
        """Take what nothing comes of, since Slack sends again what nobody takes."""

    async def _hear_late(self, told: Told) -> None:
        async with self._order.turn(f"{told.workspace.name}:{line_of(told.event)}"):
            await self._hearing.hear(told)

    async def _workspace(self, body: Json) -> Workspace | None:
        """Find the way to where an event happened; None where the bot is not any more."""
        try:
            return await self._ports.workspaces.find(workspace_of(body))
        except NotInstalled:
            return None


def install(app: AsyncApp, ports: Ports) -> Listener:
    """Add the listeners to an app, after all others: what nobody has taken until then is acknowledged by the last."""
    listener = Listener(ports)
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
    """Count how often Slack has sent this before."""
    given = request.headers.get(_RETRY) or ["0"]
    return int(given[0]) if given[0].isdigit() else 0
