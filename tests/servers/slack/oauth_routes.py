"""Calls with which an app is installed, renews its token, and goes."""

from __future__ import annotations

import base64
from typing import Protocol

from tests.servers.slack.platform import Platform
from tests.servers.slack.refusals import Refusal
from tests.servers.slack.routes import TIERS, Call, Route
from tests.servers.slack.shape import Json
from tests.servers.slack.workspaces import Installation, Workspace

TOKEN_LIFE = 43_200


class App(Protocol):
    """What is known of the app: its secrets, the codes that people brought, and whether its tokens expire."""

    client_id: str
    client_secret: str
    rotates: bool
    codes: dict[str, tuple[Workspace, str]]


def routes(app: App) -> tuple[Route, ...]:
    """Give the routes for an app."""

    def access(platform: Platform, call: Call) -> Json:
        _check_secrets(app, call)
        if call.text("grant_type") == "refresh_token":
            return _refreshed(platform, app, call.text("refresh_token"))
        workspace, user_id = app.codes.pop(call.text("code"), (None, ""))
        if workspace is None:
            raise Refusal("invalid_code")
        workspace.installation.revoked = None
        if app.rotates:
            _rotate(platform, workspace.installation)
        return _installed(workspace, user_id)

    return (Route("oauth.v2.access", access, (), TIERS[4], needs_token=False), *REVOKING)


def _check_secrets(app: App, call: Call) -> None:
    client_id, secret = call.text("client_id"), call.text("client_secret")
    scheme, _, encoded = call.headers.get("Authorization", "").partition(" ")
    if scheme == "Basic":
        client_id, _, secret = base64.b64decode(encoded).decode().partition(":")
    if client_id != app.client_id:
        raise Refusal("invalid_client_id")
    if secret != app.client_secret:
        raise Refusal("bad_client_secret")


def _rotate(platform: Platform, installation: Installation) -> None:
    installation.token = f"xoxe.xoxb-{platform.new_id('t')}"
    installation.refresh_token = f"xoxe-{platform.new_id('r')}"
    installation.expires_at = platform.clock.time() + TOKEN_LIFE


def _refreshed(platform: Platform, app: App, refresh_token: str) -> Json:
    for workspace in platform.workspaces.values():
        if refresh_token and workspace.installation.refresh_token == refresh_token:
            if workspace.installation.revoked is not None:
                break
            _rotate(platform, workspace.installation)
            return _installed(workspace, "")
    raise Refusal("invalid_refresh_token")


def _installed(workspace: Workspace, user_id: str) -> Json:
    installation = workspace.installation
    is_org = installation.is_enterprise_install
    enterprise = None if installation.enterprise_id is None else {"id": installation.enterprise_id, "name": "Robotics"}
    rotation: Json = {}
    if installation.refresh_token is not None:
        rotation = {"refresh_token": installation.refresh_token, "expires_in": TOKEN_LIFE}
    return {
        "app_id": installation.app_id,
        "authed_user": {"id": user_id},
        "scope": ",".join(sorted(installation.scopes)),
        "token_type": "bot",
        "access_token": installation.token,
        "bot_user_id": installation.bot.id,
        "team": None if is_org else {"id": workspace.team_id, "name": workspace.name},
        "enterprise": enterprise,
        "is_enterprise_install": is_org,
        **rotation,
    }


def _revoke(platform: Platform, call: Call) -> Json:
    if not call.flag("test", default=False):
        call.installation.revoked = "token_revoked"
    return {"revoked": not call.flag("test", default=False)}


REVOKING = (Route("auth.revoke", _revoke, (), TIERS[3]),)
