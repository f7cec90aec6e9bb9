"""A listener that is connected to Slack, and what is said to it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from adapters.retry import CONNECTING
from adapters.slack.api import connect, open_session
from adapters.slack.listener import SlackHooks, SlackListener, install, make_app
from adapters.slack.sockets import SocketPool
from adapters.slack.workspaces import OneWorkspace, Workspaces
from core.ports import Inbox
from tests.fakes.services import bundle
from tests.servers.slack import Channel, Message, SlackServer, User, Workspace
from tests.waiting import at_once

SOCKETS = 2
AT_ONCE = replace(CONNECTING, sleep=at_once)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a test happens."""

    server: SlackServer
    workspace: Workspace
    channel: Channel
    ada: User

    @property
    def bot(self) -> User:
        """The bot."""
        return self.workspace.bot

    def ask(self, text: str, *, thread: Message | None = None, by: User | None = None) -> Message:
        """Mention the bot in the channel."""
        return self.server.post_as(by or self.ada, self.channel, f"{self.bot.mention} {text}", thread)

    def direct(self, text: str) -> Message:
        """Write to the bot."""
        return self.server.post_as(self.ada, self.server.direct(self.workspace, self.ada), text)

    def bot_says(self, text: str, thread: Message | None = None) -> Message:
        """Let the bot write something, as an answer or the beginning of a thread."""
        return self.server.post_as(self.bot, self.channel, text, thread, bot_id=self.workspace.installation.bot_id)

    def said(self) -> Sequence[str]:
        """What the bot has said everywhere, to all or to one person."""
        return [one.text for one in self.server.platform.messages.values() if one.user_id == self.bot.id]


@pytest.fixture(name="place")
async def place_fixture() -> AsyncIterator[Place]:
    """A workspace that the bot is in, with a channel and a member."""
    async with SlackServer() as server:
        workspace = server.add_workspace()
        yield Place(server, workspace, server.add_channel(workspace), server.add_member(workspace))


def _now(server: SlackServer) -> datetime:
    return datetime.fromtimestamp(server.clock.time(), UTC)


@contextlib.asynccontextmanager
async def listening(
    place: Place,
    box: Inbox,
    *,
    catches_up: bool = False,
    workspaces: Workspaces | None = None,
    hooks: SlackHooks | None = None,
    **services: Any,
) -> AsyncGenerator[SlackListener]:
    """Run a listener that is connected over two sockets, and reads at each new connection what it has missed."""
    server = place.server
    async with open_session() as session:
        client = connect(session, api_url=server.api_url)
        workspaces = workspaces or OneWorkspace(session, place.workspace.token, server.api_url)
        app = make_app(workspaces, client)
        given: dict[str, Any] = {"name": "Slack", "now": partial(_now, server), **services}
        listener = install(
            app,
            bundle(box, **given),
            workspaces,
            hooks or SlackHooks(),
        )

        def connected(_: str) -> None:
            if catches_up:
                listener.catch_up(place.workspace.team_id)

        pool = SocketPool(client, server.app_token, app.async_dispatch, retries=AT_ONCE, connected=connected)
        running = asyncio.create_task(pool.run())
        try:
            await server.connected(SOCKETS)
            yield listener
        finally:
            await listener.background.close()
            running.cancel()
            await asyncio.wait({running})
