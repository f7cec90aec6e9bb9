"""Whether Slack lets the bot in, and with what."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from adapters.retry import CONNECTING, RetryPolicy, Transient
from adapters.slack.client.failures import Denied, translated
from adapters.slack.intake.installing import SCOPES
from core.errors import Misconfigured, PostingFailed, RateLimited, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.client.workspaces import OneWorkspace

BOT_TOKEN_REFUSED = (
    "Slack does not accept the bot's token. Copy the Bot User OAuth Token again from the OAuth & Permissions page of "  # noqa: S105 - a sentence
    "the app."
)
APP_TOKEN_REFUSED = (
    "Slack does not accept the app-level token. Copy it again from the Basic Information page of the app, "  # noqa: S105 - a sentence
    "and give it the scope connections:write."
)
SOCKET_MODE_OFF = "Socket Mode is switched off for the app. Switch it on, on the page Socket Mode of the app."
LACKING = (
    "The bot lacks the scopes {scopes}. Take them over from manifest.json on the page App Manifest of the app, "
    "and install the app again."
)
REFUSED = frozenset(
    {
        "invalid_auth",
        "not_authed",
        "account_inactive",
        "token_revoked",
        "token_expired",
        "not_allowed_token_type",
        "missing_scope",
        "no_permission",
    }
)
OFF = frozenset({"socket_mode_disabled", "link_disabled", "socket_mode_not_enabled"})


async def log_in(workspace: OneWorkspace, retries: RetryPolicy = CONNECTING) -> None:
    """Find out whose token it is, as soon as Slack can be reached. Raises `Misconfigured`."""
    await replace(retries, judge=partial(judge, refusal=BOT_TOKEN_REFUSED)).call(workspace.only)


async def check(client: AsyncWebClient, *, app_token: str | None) -> str:
    """Look at the tokens; give who the bot is, where, and how it is heard."""
    untyped: Any = client
    try:
        said = await translated(untyped.auth_test())
    except PostingFailed as failure:
        raise _told(failure, BOT_TOKEN_REFUSED) from failure
    headers = cast("Mapping[str, Any]", said.headers)
    given = str({name.lower(): value for name, value in headers.items()}.get("x-oauth-scopes", ""))
    if lacking := sorted(set(SCOPES) - {scope.strip() for scope in given.split(",")}):
        raise Misconfigured(LACKING.format(scopes=", ".join(lacking)))
    who = f"{said.get('user')} in {said.get('team')}"
    if app_token is None:
        return f"{who}, to be heard over HTTP"
    try:
        await translated(untyped.apps_connections_open(app_token=app_token))
    except PostingFailed as failure:
        raise _told(failure, APP_TOKEN_REFUSED) from failure
    return f"{who}, heard in Socket Mode"


def _told(failure: PostingFailed, refusal: str) -> Misconfigured | Unavailable:
    try:
        raise_if_lasting(failure, refusal)
    except Misconfigured as lasting:
        return lasting
    return Unavailable(f"Slack cannot be reached ({reason_of(failure)}). Try again in a moment.")


def raise_if_lasting(failure: Exception, refusal: str) -> None:
    """Raise what trying again does not help: what the operator has to change."""
    if not isinstance(failure, Denied):
        return
    if failure.code in OFF:
        raise Misconfigured(SOCKET_MODE_OFF) from failure
    if failure.code in REFUSED:
        raise Misconfigured(refusal) from failure


def judge(failure: Exception, *, refusal: str) -> Transient | None:
    """Return what may pass; None for mistakes of ours. Raises `Misconfigured` for what the operator has to change."""
    from aiohttp import ClientError

    raise_if_lasting(failure, refusal)
    if not isinstance(failure, PostingFailed | ClientError | OSError):
        return None
    return Transient(reason_of(failure), (failure.wait or None) if isinstance(failure, RateLimited) else None)


def reason_of(failure: Exception) -> str:
    """Return in a word or two why there is no connection."""
    match failure:
        case TimeoutError():
            return "time-out"
        case Denied(code=code):
            return f"Slack says {code}"
        case PostingFailed():
            return str(failure)
        case _:
            return "no connection"
