"""An app that hears everything, for the tests of how things come in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from slack_bolt.app.async_app import AsyncApp

from adapters.slack.api import connect, open_session
from adapters.slack.listener import make_app
from adapters.slack.workspaces import OneWorkspace, Workspaces
from tests.servers.slack import Channel, SlackServer, User, Workspace


@dataclass
class Ears:
    """What came in, and whom to tell. Set `failure` to have it raised, and clear `free` to let listeners wait."""

    changed: Callable[[], None]
    heard: list[str] = field(default_factory=list[str])
    failures: list[Exception] = field(default_factory=list[Exception])
    failure: Exception | None = None
    free: asyncio.Event = field(default_factory=asyncio.Event)

    async def hear(self, event: dict[str, Any]) -> None:
        """Take an event."""
        self.heard.append(str(event.get("text") or event.get("type")))
        self.changed()
        await self.free.wait()
        if self.failure is not None:
            raise self.failure

    def fail(self, error: Exception) -> None:
        """Hear of a listener that failed."""
        self.failures.append(error)
        self.changed()


@dataclass(frozen=True)
class Place:
    """A workspace where the bot can be heard."""

    server: SlackServer
    workspace: Workspace
    channel: Channel
    ada: User
    client: Any
    ears: Ears

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncGenerator[Self]:
        """Run Slack, with somebody in a channel."""
        async with SlackServer() as server, open_session() as session:
            workspace = server.add_workspace()
            channel, ada = server.add_channel(workspace), server.add_member(workspace)
            ears = Ears(server.platform.changes.tell)
            ears.free.set()
            yield cls(server, workspace, channel, ada, connect(session, api_url=server.api_url), ears)

    def app(self, workspaces: Workspaces | None = None) -> AsyncApp:
        """Make an app whose listeners are the ears, and a command that sends a form back with its mistakes."""
        one = OneWorkspace(self.client.session, self.workspace.token, self.server.api_url)
        app: Any = make_app(workspaces or one, self.client, failed=self.ears.fail)

        async def command(ack: Any) -> None:
            await ack(response_action="errors", errors={"question": "It is empty."})

        app.command("/footnote")(command)
        app.event({"type": "message"})(self.ears.hear)
        app.event("app_mention")(self.ears.hear)
        return app
