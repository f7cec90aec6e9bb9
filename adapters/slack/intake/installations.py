"""In which workspaces the bot was installed, and with which tokens: kept in a vault, renewed before they expire."""

from __future__ import annotations

import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from slack_sdk.errors import SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator

from adapters.chat.keyed_lock import KeyedLock
from adapters.slack.client.connection import connect
from adapters.slack.client.failures import Denied, meaning
from adapters.slack.client.workspaces import NotInstalled, Workspace, parse
from core.errors import StoreUnavailable, Unreachable

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from core.ports import Vault

STATE_LIFE = timedelta(minutes=10)
MARGIN = 120  # minutes before its end at which a token is renewed; Slack gives each twelve hours
KEPT = 300.0  # seconds; another process may have removed or renewed what is kept here
MOST = 1_000  # workspaces


class VaultInstallations(AsyncInstallationStore):
    """Keeps what Slack gave at each installation. The token of whoever installed the bot is not kept."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    async def async_save(self, installation: Installation) -> None:
        """Put an installation in the place of the one before."""
        await self.async_save_bot(installation.to_bot())

    async def async_save_bot(self, bot: Bot) -> None:
        """Keep what is the bot's."""
        is_org_wide = bot.is_enterprise_install
        key = _key((bot.enterprise_id if is_org_wide else bot.team_id) or "")
        await self._vault.save(key, json.dumps(bot.__dict__))

    async def async_find_bot(
        self, *, enterprise_id: str | None, team_id: str | None, is_enterprise_install: bool | None = False
    ) -> Bot | None:
        """Return the installation of a team, or of an organization."""
        kept = await self._vault.load(_key((enterprise_id if is_enterprise_install else team_id) or ""))
        return None if kept is None else Bot(**json.loads(kept))

    async def async_delete_bot(self, *, enterprise_id: str | None, team_id: str | None) -> None:
        """Remove the installation of a team, or of an organization where no team is named."""
        await self._vault.remove(_key(team_id or enterprise_id or ""))


class VaultStates(AsyncOAuthStateStore):
    """Knows the installations that were begun here, so that nobody can be made to finish another's."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    async def async_issue(self, *args: object, **kwargs: object) -> str:
        """Begin one."""
        state = secrets.token_urlsafe(32)
        await self._vault.save(_state(state), "begun", STATE_LIFE)
        return state

    async def async_consume(self, state: str) -> bool:
        """Return whether it was begun here, a short time ago, and was not finished yet."""
        return await self._vault.take(_state(state)) is not None


class InstalledWorkspaces:
    """All workspaces that the bot was installed in; implements `Workspaces`."""

    def __init__(
        self,
        session: ClientSession,
        vault: Vault,
        *,
        client_id: str,
        client_secret: str,
        api_url: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._session = session
        self._api_url = api_url
        self._store = VaultInstallations(vault)
        client = connect(session, api_url=api_url)
        self._rotator = AsyncTokenRotator(client_id=client_id, client_secret=client_secret, client=client)
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, Workspace]] = OrderedDict()
        self._lock = KeyedLock()
        self._unsaved: dict[str, Bot] = {}

    async def find(self, workspace: str) -> Workspace:
        """Return a workspace with a token that is good for some time. Raises `PostingFailed`."""
        if (fresh := self._fresh(workspace)) is not None:
            return fresh
        async with self._lock.hold(workspace):
            return self._fresh(workspace) or await self._found(workspace)  # others may have asked at the same time

    def _fresh(self, workspace: str) -> Workspace | None:
        until, known = self._known.get(workspace, (float("-inf"), None))
        return known if self._clock() < until else None

    async def _found(self, workspace: str) -> Workspace:
        try:
            found = self._workspace(workspace, await self._installed(workspace))
        except StoreUnavailable as away:
            if workspace in self._known:
                return self._known[workspace][1]  # it is a few minutes old, and most likely good
            raise Unreachable("the store of the installations is away") from away
        self._known[workspace] = self._clock() + KEPT, found
        self._known.move_to_end(workspace)
        while len(self._known) > MOST:
            self._known.popitem(last=False)
        return found

    async def uninstalled(self, workspace: str) -> None:
        """Forget the tokens of a workspace that has thrown the bot out. Raises `StoreUnavailable`."""
        self._known.pop(workspace, None)
        self._unsaved.pop(workspace, None)
        team, enterprise = parse(workspace)
        await self._store.async_delete_bot(enterprise_id=enterprise, team_id="" if enterprise else team)

    async def _installed(self, workspace: str) -> Bot:
        bot = self._unsaved.get(workspace) or await self._kept(workspace)
        try:
            renewed = await self._rotator.perform_bot_token_rotation(bot=bot, minutes_before_expiration=MARGIN)
        except Exception as error:  # noqa: BLE001 - the library leaks several families of exceptions
            return await self._unrenewed(workspace, error)
        if renewed is not None:
            self._unsaved[workspace] = renewed  # Slack gives it once
        if workspace in self._unsaved:
            with suppress(StoreUnavailable):
                await self._store.async_save_bot(self._unsaved[workspace])
                del self._unsaved[workspace]
        return renewed or bot

    async def _unrenewed(self, workspace: str, error: Exception) -> Bot:
        """Go on with the old token while it is good, or with what another process was given at the same time."""
        cause = cast("Any", error).api_error if isinstance(error, SlackTokenRotationError) else error
        failure = meaning(cause)
        if failure is None:
            raise error
        now = await self._kept(workspace)
        if (now.bot_token_expires_at or 0) > self._clock():
            return now
        raise NotInstalled("the token has expired, and cannot be renewed") if isinstance(failure, Denied) else failure

    async def _kept(self, workspace: str) -> Bot:
        team, enterprise = parse(workspace)
        bot = await self._store.async_find_bot(
            enterprise_id=enterprise, team_id=team, is_enterprise_install=bool(enterprise)
        )
        if bot is None:
            raise NotInstalled("nobody has installed the bot there")
        return bot

    def _workspace(self, name: str, bot: Bot) -> Workspace:
        team, enterprise = parse(name)
        return Workspace(
            name=name,
            team_id=team,
            enterprise_id=enterprise or bot.enterprise_id or "",
            app_id=bot.app_id or "",
            bot_id=bot.bot_id,
            bot_user_id=bot.bot_user_id or "",
            client=connect(
                self._session, token=bot.bot_token, api_url=self._api_url, team_id=team if enterprise else ""
            ),
        )


def _key(id: str) -> str:  # noqa: A002 - Slack's id of a team or of an organization
    return f"slack:installation:{id}"


def _state(state: str) -> str:
    return f"slack:state:{state}"
