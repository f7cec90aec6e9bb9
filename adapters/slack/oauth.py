"""Installing the bot in further workspaces: two pages in the browser, and tokens that are kept and renewed."""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.errors import SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator

from adapters.chat.background import LOOK, BackgroundTasks, KeyedLocks
from adapters.chat.services import CommunityGates, Recent
from adapters.slack.api import LONGEST_CALL, Denied, Unauthorized, connect, meaning, translated
from adapters.slack.events import PLATFORM
from adapters.slack.workspaces import NotInstalled, Workspace, parse
from core.errors import PostingFailed, StoreUnavailable, Unreachable
from core.messages import CANNOT_INSTALL
from core.model import Kept, WorkspaceRef

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from slack_bolt.response import BoltResponse
    from slack_sdk.web.async_client import AsyncWebClient

    from core.ports import Dedup, Vault

BEGIN = "/slack/install"
END = "/slack/oauth_redirect"
SCOPES = (
    *("app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write", "commands"),
    *("files:read", "groups:history", "groups:read", "im:history", "im:read", "mpim:history", "mpim:read"),
    *("reactions:write", "usergroups:read", "users:read"),
)
"""What the bot may do, as `manifest.json` has it too."""
AWAY = 503
STATE_LIFE = timedelta(minutes=10)
MARGIN = 7_200.0  # seconds before its end at which a token is renewed; Slack gives each twelve hours
TURN = 600.0  # seconds in which one process tries to renew a token, once; its try is over long before
ALWAYS = 2**31  # minutes: whether a token is to be renewed is decided here
MOST = 1_000  # workspaces
THROWN_OUT = frozenset({"account_inactive", "token_revoked", "invalid_auth"})


def install_pages(
    client: AsyncWebClient,
    vault: Vault,
    *,
    client_id: str,
    client_secret: str,
    installed: Callable[[], Awaitable[object]] | None = None,
) -> Sequence[web.RouteDef]:
    """Return the pages: one that leads to Slack, and one that Slack leads back to, after which it is *installed*."""
    settings = AsyncOAuthSettings(
        client_id=client_id,
        client_secret=client_secret,
        scopes=SCOPES,
        user_scopes=(),
        install_path=BEGIN,
        redirect_uri_path=END,
        installation_store=VaultInstallations(vault, installed),
        installation_store_bot_only=True,
        state_store=SignedStates(client_secret),
        state_expiration_seconds=int(STATE_LIFE.total_seconds()),
    )
    flow = AsyncOAuthFlow(client=client, settings=settings)
    return [web.get(BEGIN, _page(flow.handle_installation)), web.get(END, _page(flow.handle_callback))]


def _page(
    step: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]],
) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def shown(request: web.Request) -> web.Response:
        asked = AsyncBoltRequest(body="", query=request.query_string, headers=cast("Any", request.headers))
        try:
            return await to_aiohttp_response(await translated(step(asked)))
        except (StoreUnavailable, PostingFailed):
            return web.Response(status=AWAY, text=CANNOT_INSTALL)

    return shown


@dataclass
class VaultInstallations(AsyncInstallationStore):
    """Keeps what Slack gave at each installation. The token of whoever installed the bot is not kept."""

    vault: Vault
    installed: Callable[[], Awaitable[object]] | None = None

    async def async_save(self, installation: Installation) -> None:
        """Keep an installation instead of the one before. Raises `StoreUnavailable`."""
        await self.async_save_bot(installation.to_bot())
        if self.installed is not None:
            await self.installed()

    async def async_save_bot(self, bot: Bot) -> None:
        """Keep the part of an installation that is the bot's. Raises `StoreUnavailable`."""
        id_ = bot.enterprise_id if bot.is_enterprise_install else bot.team_id
        await self.vault.save(_key(id_), json.dumps(bot.__dict__))


INSTALLATION = "slack:installation:"


def _key(id_: str | None) -> str:
    return f"{INSTALLATION}{id_ or ''}"  # of a team or of an organization


def _installation(workspace: str) -> str:
    """Return the id of what has installed the bot: a workspace, or its organization."""
    team, enterprise = parse(workspace)
    return enterprise or team


@dataclass
class SignedStates(AsyncOAuthStateStore):
    """Knows the installations that were begun here, so that nobody can be made to finish another's.

    A state is a time and our signature, and only the browser that has it as a cookie can finish with it; so nothing of
    it is kept, however many begin. What it leads to, Slack's code, works once.
    """

    secret: str

    async def async_issue(self, *args: object, **kwargs: object) -> str:
        """Begin an installation, and return what its way back has to bear."""
        begun = f"{secrets.token_urlsafe(16)}.{int(time.time())}"
        return f"{begun}.{self._signature(begun)}"

    async def async_consume(self, state: str) -> bool:
        """Return whether it was begun here, a short time ago."""
        begun, _, signature = state.rpartition(".")
        is_ours = hmac.compare_digest(signature.encode(), self._signature(begun).encode())
        return is_ours and time.time() - int(begun.rpartition(".")[2]) < STATE_LIFE.total_seconds()

    def _signature(self, begun: str) -> str:
        return hmac.new(self.secret.encode(), f"slack state {begun}".encode(), sha256).hexdigest()


class InstalledWorkspaces:
    """All workspaces that the bot was installed in; implements `Workspaces`.

    What was found is kept for some minutes, as another process may have removed or renewed it. Tokens are renewed in
    the `background`, so that nobody waits for it, and by one process at a time, as its *notes* tell the others. The
    *gates* report which tokens are refused. What a store has lost that this process knows is given back to it, as
    nobody would install the bot again who is left without a word.
    """

    def __init__(  # noqa: PLR0913 - what an app has
        self,
        session: ClientSession,
        vault: Vault,
        notes: Dedup,
        *,
        client_id: str,
        client_secret: str,
        api_url: str | None = None,
        gates: CommunityGates | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._session = session
        self._gates = gates or CommunityGates("Slack")
        self._api_url = api_url
        self._store = VaultInstallations(vault)
        self._notes = notes
        client = connect(session, api_url=api_url)
        self._rotator = AsyncTokenRotator(client_id=client_id, client_secret=client_secret, client=client)
        self._clock = clock
        self._known = Recent[Workspace](MOST, clock)
        self._locks = KeyedLocks()
        self._unsaved: dict[str, Bot] = {}
        self._seen: dict[str, Bot] = {}  # by what has installed it
        self.background = BackgroundTasks()

    async def find(self, workspace: str) -> Workspace:
        """Return a workspace with the token that is kept, which is renewed if it ends soon. Raises `PostingFailed`."""
        if (known := self._good(workspace)) is not None:
            return known
        async with self._locks.setdefault(workspace, asyncio.Lock()):
            if (known := self._good(workspace)) is not None:  # others may have asked at the same time
                return known
            known = self._known.get(workspace, or_older=True)
            try:
                bot = self._unsaved.get(workspace) or await self._kept(workspace)
            except StoreUnavailable as away:
                if known is not None:
                    return known  # it is a few minutes old, and most likely good
                raise Unreachable("the store of the installations is away") from away
            if workspace in self._unsaved or self._seconds_left(bot) < MARGIN:
                self.background.begin(partial(self._renew, workspace, bot))
            if known is None or known.client.token != bot.bot_token:
                if known is not None:  # another token, which nobody has refused
                    known.gate.open(is_certain=True)
                known = self._workspace(workspace, bot)
            return self._known.put(workspace, known)

    async def joined(self) -> Sequence[tuple[WorkspaceRef, str]]:
        """Return the workspaces and organizations that have installed the bot, the first one first, with their names.

        Raises `StoreUnavailable`.
        """
        found: list[tuple[float, str, str]] = []
        for key in await self._store.vault.keys(INSTALLATION):
            id_, bot = key.removeprefix(INSTALLATION), await self._read(key)
            if bot is not None:
                self._seen[id_] = bot
            name = (bot.team_name or bot.enterprise_name or "") if bot else ""
            found.append((bot.installed_at if bot else inf, id_, name))
        return [(WorkspaceRef(platform=PLATFORM, workspace=id_), name) for _, id_, name in sorted(found) if id_]

    async def put_back(self) -> None:
        """Give the store what it has lost, where Slack still takes it. Raises `StoreUnavailable`."""
        for installation in tuple(self._seen):
            with suppress(PostingFailed):  # it is found once somebody writes there
                await self._kept(installation)

    async def guard(self, kept_for: Callable[[], Awaitable[Kept]]) -> None:
        """Give a store that is emptied what it has lost, until this is cancelled."""
        mark = ""
        while True:
            with suppress(StoreUnavailable):
                found = (await kept_for()).mark
                if not mark:
                    await self.joined()  # so that it knows them all, whoever has written by now
                elif mark != found:
                    await self.put_back()
                mark = found
            await asyncio.sleep(LOOK)

    async def uninstalled(self, workspace: str) -> None:
        """Forget the tokens of a workspace that has thrown the bot out. Raises `StoreUnavailable`."""
        async with self._renewing(workspace):  # a token that is renewed just now is kept first
            self._seen.pop(_installation(workspace), None)
            self._known.drop(workspace)
            self._unsaved.pop(workspace, None)
            await self._store.vault.remove(_key(_installation(workspace)))
            self._gates.leave(WorkspaceRef(platform=PLATFORM, workspace=_installation(workspace)))

    def _good(self, workspace: str) -> Workspace | None:
        """Return a workspace as it was found lately; None for one whose token was refused, which may be another now."""
        known = self._known.get(workspace)
        return None if known is None or known.gate.is_shut else known

    def _workspace(self, name: str, bot: Bot) -> Workspace:
        team, enterprise = parse(name)
        home = WorkspaceRef(platform=PLATFORM, workspace=_installation(name))
        gate = self._gates.of(home, bot.team_name or bot.enterprise_name or "")
        given: dict[str, Any] = {"token": bot.bot_token, "api_url": self._api_url, "gate": gate}
        given["team_id"] = team if enterprise else ""
        return Workspace(
            name=name,
            team_id=team,
            enterprise_id=enterprise or bot.enterprise_id or "",
            app_id=bot.app_id or "",
            bot_id=bot.bot_id,
            bot_user_id=bot.bot_user_id or "",
            client=connect(self._session, **given),
            once=connect(self._session, **given, repeats=False),
            gate=gate,
        )

    def _seconds_left(self, bot: Bot) -> float:
        """Return for how long a token is good: for ever where it does not end."""
        return inf if bot.bot_token_expires_at is None else bot.bot_token_expires_at - self._clock()

    def _renewing(self, workspace: str) -> asyncio.Lock:
        return self._locks.setdefault(f"{workspace} renewal", asyncio.Lock())

    async def _renew(self, workspace: str, bot: Bot) -> None:
        """Renew a token, and keep what Slack gives once, as soon as it can be kept.

        Of all processes, whatever their clocks say, the first tries once, and another only after a while; until then,
        they look each time whether it is done. Raises `PostingFailed` or `StoreUnavailable`.
        """
        async with self._renewing(workspace):
            if workspace not in self._unsaved:
                if self._seconds_left(bot) >= MARGIN:
                    return  # what had to be kept has been kept meanwhile
                key = _key(_installation(workspace))
                if not await self._notes.hold(f"{key}:renewal", uuid4().hex, seconds=TURN):
                    self._known.age(workspace)
                    return
                kept = await self._read(key)
                if kept and kept.bot_token != bot.bot_token:  # it was renewed since it was read
                    self._known.age(workspace)
                    return
                self._unsaved[workspace] = await self._renewed(bot)
                self._known.drop(workspace)
            await self._store.async_save_bot(self._unsaved[workspace])
            self._seen[_installation(workspace)] = self._unsaved.pop(workspace)

    async def _renewed(self, bot: Bot) -> Bot:
        """Return the bot with another token. Raises `PostingFailed`."""
        try:
            async with asyncio.timeout(LONGEST_CALL):
                always = self._rotator.perform_bot_token_rotation(bot=bot, minutes_before_expiration=ALWAYS)
                return await always or bot
        except Exception as error:
            cause = cast("Any", error).api_error if isinstance(error, SlackTokenRotationError) else error
            raise meaning(cause) or error from error

    async def _read(self, key: str) -> Bot | None:
        """Return what is kept of an installation, if anything. Raises `StoreUnavailable`."""
        kept: dict[str, Any] = json.loads(await self._store.vault.load(key) or "{}")
        return Bot(**kept) if kept else None

    async def _kept(self, workspace: str) -> Bot:
        """Return what is kept, or was before the store lost it. Raises `PostingFailed` or `StoreUnavailable`."""
        installation = _installation(workspace)
        known = self._seen.get(installation)
        if bot := await self._read(_key(installation)):
            if known is not None and _is_older(bot, known):  # given back by a process that had no other
                await self._store.async_save_bot(bot := known)
            self._seen[installation] = bot
            return bot
        if known is not None and await self._is_taken(known):
            async with self._renewing(workspace):
                if self._seen.get(installation) is known:  # else it was thrown out just now
                    await self._store.async_save_bot(known)
                    return known
        self._seen.pop(installation, None)
        if installation:  # else it is of no workspace
            self._gates.leave(WorkspaceRef(platform=PLATFORM, workspace=installation))
        raise NotInstalled("nobody has installed the bot there")

    async def _is_taken(self, bot: Bot) -> bool:
        """Return whether Slack still knows a token: another process may have heard that the bot was thrown out.

        One that has only ended can be renewed. Raises `PostingFailed`.
        """
        client: Any = connect(self._session, token=bot.bot_token, api_url=self._api_url)
        try:
            await translated(client.auth_test())
        except (Denied, Unauthorized) as refusal:
            return refusal.code not in THROWN_OUT
        return True


def _is_older(bot: Bot, than: Bot) -> bool:
    """Return whether a token of the same installation was renewed since."""
    return bot.installed_at == than.installed_at and (than.bot_token_expires_at or 0) > (bot.bot_token_expires_at or 0)
