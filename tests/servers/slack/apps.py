"""Apps of the real library, at the server's other end."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Any

from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest

from tests.servers.listener import Listener
from tests.servers.slack.server import SlackServer

EVENTS = "/slack/events"


def app_of(server: SlackServer, client: Any) -> Any:
    """Make an app without listeners, which acknowledges an event when its listener is done."""
    return AsyncApp(client=client, signing_secret=server.signing_secret, process_before_response=True)


@contextlib.asynccontextmanager
async def by_sockets(server: SlackServer, app: AsyncApp, count: int = 1) -> AsyncGenerator[None]:
    """Connect an app by so many sockets."""
    handlers = [AsyncSocketModeHandler(app, server.app_token) for _ in range(count)]
    for handler in handlers:
        await handler.connect_async()
    await server.connected(count)
    try:
        yield
    finally:
        for handler in handlers:
            await handler.close_async()


@contextlib.asynccontextmanager
async def by_requests(server: SlackServer, app: AsyncApp) -> AsyncGenerator[None]:
    """Let an app receive requests."""

    async def receive(request: web.Request) -> web.StreamResponse:
        asked = AsyncBoltRequest(body=await request.text(), headers=dict(request.headers))
        answer = await app.async_dispatch(asked)
        return web.Response(status=answer.status, text=answer.body, content_type="application/json")

    async with Listener(receive) as listener:
        server.deliver_to(f"{listener.url}{EVENTS}")
        try:
            yield
        finally:
            server.deliver_to("")
            await server.webhooks.close()
