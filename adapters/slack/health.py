"""Whether Slack lets the bot in, and with what."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.retry import CONNECTING, TOKEN_REFUSED, RetryPolicy, Transient, transient
from adapters.slack.api import UNAUTHORIZED, Denied, Result, Unauthorized, translated
from adapters.slack.oauth import SCOPES
from adapters.slack.people import members_of
from adapters.slack.workspaces import require_one_workspace
from core.errors import Misconfigured, PostingFailed, Unavailable

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.oauth import InstalledWorkspaces
    from adapters.slack.workspaces import OneWorkspace

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
    "The bot lacks the scopes {scopes}. Copy them from manifest.json to the page App Manifest of the app, "
    "and install the app again."
)
LACKING_THERE = "{}. Have the bot installed there again, from the page /slack/install."
NO_GROUP = (
    "Slack does not know the user group in SLACK_MODERATORS. Set it to the id of one in this workspace, which begins "
    "with S: open the group in Slack, and copy the id from its menu."
)
NOT_ASKED = "Slack did not say ({})"
AT_ONCE = 10  # workspaces that are looked at
NO_SUCH_GROUP = frozenset({"no_such_subteam", "subteam_not_found"})
REFUSED = (
    UNAUTHORIZED | NO_SUCH_GROUP | {"account_inactive", "not_allowed_token_type", "missing_scope", "no_permission"}
)
OFF = frozenset({"socket_mode_disabled", "link_disabled", "socket_mode_not_enabled"})


async def log_in(workspace: OneWorkspace, retries: RetryPolicy = CONNECTING) -> None:
    """Find out whose token it is, as soon as Slack can be reached. Raises `Misconfigured`."""
    await replace(retries, judge=partial(judge, refusal=BOT_TOKEN_REFUSED)).call(workspace.only)


async def check(client: AsyncWebClient, *, app_token: str | None, moderators: str = "") -> str:
    """Return who the bot is, where, and how it is heard; *moderators* is the group of users that it looks at too.

    Raises `Misconfigured`, or `Unavailable`.
    """
    untyped: Any = client
    said: Any = await _checked(untyped.auth_test(), BOT_TOKEN_REFUSED)
    require_one_workspace(said.data)
    if lacking := _lacking_in(said.headers):
        raise Misconfigured(_sentence(lacking))
    who = f"{said.get('user')} in {said.get('team')}"
    if moderators:
        await _checked(members_of(moderators, client), NO_GROUP)
    if app_token is None:
        return f"{who}, over HTTP"
    await _checked(untyped.apps_connections_open(app_token=app_token), APP_TOKEN_REFUSED)
    return f"{who}, over Socket Mode"


async def look_for_group(group: str, workspaces: InstalledWorkspaces) -> Mapping[str, str | None]:
    """Return for each workspace that has installed the bot why its group of users does not count, None where it does.

    It is empty where Slack does not know the group. An organization's group counts in all its workspaces. Raises
    `StoreUnavailable`.
    """

    async def look(workspace: str) -> str | None:
        try:
            await members_of(group, (await workspaces.find(workspace)).client)
        except Denied as denied:
            return "" if denied.code in NO_SUCH_GROUP else NOT_ASKED.format(denied.code)
        except PostingFailed as failure:
            return NOT_ASKED.format(TOKEN_REFUSED if isinstance(failure, Unauthorized) else failure)
        return None

    return await _in_each(workspaces, look)


async def look_for_scopes(workspaces: InstalledWorkspaces) -> str:
    """Return in a sentence which workspaces have installed the bot with fewer scopes than it needs by now, if any.

    Of one where Slack does not tell now, nothing is said. Raises `StoreUnavailable`.
    """

    async def look(workspace: str) -> str | None:
        with suppress(PostingFailed):
            return ", ".join(await _lacking((await workspaces.find(workspace)).client)) or None
        return None

    found = await _in_each(workspaces, look)
    lacking = [f"{name} lacks {scopes}" for name, scopes in found.items() if scopes]
    return LACKING_THERE.format("; ".join(lacking)) if lacking else ""


async def _in_each(
    workspaces: InstalledWorkspaces, look: Callable[[str], Awaitable[str | None]]
) -> Mapping[str, str | None]:
    """Return what a look at each workspace has found, by the workspaces' names."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def found(workspace: str) -> str | None:
        async with turns:
            return await look(workspace)

    joined = await workspaces.joined()
    names = [f"{home.workspace} ({name})" if name else home.workspace for home, name in joined]
    return dict(zip(names, await asyncio.gather(*(found(home.workspace) for home, _ in joined)), strict=True))


async def shortcoming(client: AsyncWebClient) -> str:
    """Return which scopes the bot lacks, in a sentence for the operator, if any. Raises `PostingFailed`."""
    return _sentence(await _lacking(client))


async def _lacking(client: AsyncWebClient) -> Sequence[str]:
    untyped: Any = client
    return _lacking_in((await translated(untyped.auth_test())).headers)


def _sentence(lacking: Sequence[str]) -> str:
    return LACKING.format(scopes=", ".join(lacking)) if lacking else ""


def _lacking_in(headers: Mapping[str, Any]) -> Sequence[str]:
    given = str({name.lower(): value for name, value in headers.items()}.get("x-oauth-scopes", ""))
    return sorted(set(SCOPES) - {scope.strip() for scope in given.split(",")})


async def _checked(call: Awaitable[Result], refusal: str) -> Result:
    try:
        return await translated(call)
    except PostingFailed as failure:
        reason = passing.reason if (passing := judge(failure, refusal=refusal)) else failure
        raise Unavailable(f"Slack cannot be reached ({reason}). Try again in a moment.") from failure


def judge(failure: Exception, *, refusal: str) -> Transient | None:
    """Return what may pass; None for mistakes of ours. Raises `Misconfigured` for what the operator has to change."""
    from aiohttp import ClientError

    match failure:
        case Denied(code=code) | Unauthorized(code=code):
            if code in OFF or code in REFUSED:
                raise Misconfigured(SOCKET_MODE_OFF if code in OFF else refusal) from failure
            return Transient(f"Slack says {code}")
        case PostingFailed():
            return transient(failure) or Transient(str(failure))
        case TimeoutError():
            return Transient("time-out")
        case ClientError() | OSError():
            return Transient("network error")
        case _:
            return None
