"""Two pages in the browser, with which people install the bot in their workspace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings

from adapters.slack.client.failures import translated
from adapters.slack.intake.installations import STATE_LIFE, VaultInstallations, VaultStates
from core.errors import PostingFailed, StoreUnavailable

if TYPE_CHECKING:
    from slack_bolt.request.async_request import AsyncBoltRequest
    from slack_bolt.response import BoltResponse
    from slack_sdk.web.async_client import AsyncWebClient

    from core.ports import Vault

BEGIN = "/slack/install"
END = "/slack/oauth_redirect"
SCOPES = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "reactions:write",
    "usergroups:read",
    "users:read",
)
"""What the bot may do, as `manifest.json` has it too."""
LATER = "The bot cannot be installed at the moment. Try again in a few minutes."
AWAY = 503

Step = Callable[["AsyncBoltRequest"], Awaitable["BoltResponse"]]


def pages(client: AsyncWebClient, vault: Vault, *, client_id: str, client_secret: str) -> Sequence[web.RouteDef]:
    """Return the pages: one that leads to Slack, and one that Slack leads back to."""
    settings = AsyncOAuthSettings(
        client_id=client_id,
        client_secret=client_secret,
        scopes=SCOPES,
        user_scopes=(),
        install_path=BEGIN,
        redirect_uri_path=END,
        installation_store=VaultInstallations(vault),
        installation_store_bot_only=True,
        state_store=VaultStates(vault),
        state_expiration_seconds=int(STATE_LIFE.total_seconds()),
    )
    flow = AsyncOAuthFlow(client=client, settings=settings)
    return [web.get(BEGIN, _page(flow.handle_installation)), web.get(END, _page(flow.handle_callback))]


def _page(step: Step) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def shown(request: web.Request) -> web.Response:
        try:
            return await to_aiohttp_response(await translated(step(await to_bolt_request(request))))
        except (StoreUnavailable, PostingFailed):
            return web.Response(status=AWAY, text=LATER)

    return shown
