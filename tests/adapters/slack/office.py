"""An app with commands, shortcuts, buttons and forms on one connection, over stores in memory."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, cast

from adapters.chat.platform import Part
from adapters.slack.api import connect, open_session, tell
from adapters.slack.commands import SlackCommands, install
from adapters.slack.dialect import blocks_of
from adapters.slack.listener import make_app
from adapters.slack.people import People
from adapters.slack.sockets import SocketConnection
from adapters.slack.workspaces import OneWorkspace
from core.model import Question, ThreadRef, WorkspaceRef
from tests.fakes.communities import MemoryCommunities
from tests.fakes.services import MemoryServices
from tests.servers.slack import Channel, Delivery, Message, SlackServer, User, View, Workspace


@dataclass
class Office(MemoryServices):
    """What stands behind the commands, and the app that has them."""

    server: SlackServer
    workspace: Workspace
    ada: User
    boss: User
    channel: Channel

    @classmethod
    @contextlib.asynccontextmanager
    async def at_work(cls) -> AsyncGenerator[Office]:
        """Open a server with a workspace, a channel, somebody in it, and a moderator."""
        async with SlackServer() as server:
            workspace = server.add_workspace()
            ada, boss = server.add_member(workspace), server.add_member(workspace, "bo<ss", is_admin=True)
            communities = MemoryCommunities(WorkspaceRef(platform="slack", workspace=workspace.team_id))
            yield cls(server, workspace, ada, boss, server.add_channel(workspace), communities=communities)

    @contextlib.asynccontextmanager
    async def open(self, *, moderators: str = "") -> AsyncGenerator[SlackCommands]:
        """Run an app that is connected; at the end, all that was begun has been done."""
        async with open_session() as session:
            client = connect(session, token=self.workspace.token, api_url=self.server.api_url)
            workspaces = OneWorkspace(session, self.workspace.token, self.server.api_url)
            app = make_app(workspaces, client)
            people = People(workspaces, moderators=moderators, policies=self.policies)
            self.memberships["slack"] = people
            commands = install(app, self.services, workspaces, people)
            opened: Any = await cast("Any", client).apps_connections_open(app_token=self.server.app_token)
            link = await SocketConnection.open(session, str(opened["url"]), app.async_dispatch)
            try:
                yield commands
            finally:
                await link.close()
                await commands.background.finish()

    async def post(self, channel: Channel, part: Part, question: Question, root: Message) -> Message:
        """Post a message of an answer in a thread, as whoever answers does."""
        async with open_session() as session:
            client = connect(session, token=self.workspace.token, api_url=self.server.api_url)
            said = await tell(
                client,
                "chat.postMessage",
                channel=channel.id,
                thread_ts=root.root_ts,
                text=part.text,
                blocks=blocks_of(part, question),
            )
        return self.server.platform.messages[channel.id, str(said["ts"])]

    async def use(self, user: User, text: str, channel: Channel | None = None) -> str:
        """Use the command, and wait for what the bot says to that person alone."""
        channel = channel or self.channel
        before = len(self.told(user, channel))
        await self.server.slash(user, channel, "/footnote", text).acknowledged()
        await self.server.until(lambda: len(self.told(user, channel)) > before, what="a reply")
        return self.told(user, channel)[-1].text

    def told(self, user: User, channel: Channel | None = None) -> list[Message]:
        """Give what the bot has said to one person alone."""
        return [one for one in self.server.messages(channel or self.channel) if one.seen_by == user.id]

    async def form(self, user: User, delivery: Delivery) -> View:
        """Wait for the form that the bot shows to the one who used something, and give it."""
        await delivery.acknowledged()
        await self.server.until(lambda: self.server.view_of(user), what="a form")
        view = self.server.view_of(user)
        assert view is not None
        return view

    def home(self) -> WorkspaceRef:
        """Name the workspace."""
        return WorkspaceRef(platform="slack", workspace=self.workspace.team_id)

    def thread(self, channel: Channel, thread: Message | str) -> ThreadRef:
        """Name a thread, by its first message or in words."""
        root = thread.root_ts if isinstance(thread, Message) else thread
        return ThreadRef(platform="slack", workspace=self.workspace.team_id, channel=channel.id, thread=root)
