"""Slack: an app that listens, over sockets or HTTP, and a surface that speaks, in one workspace or many."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.retry import PATIENT
from bot.settings import Settings, revealed
from bot.wiring.platforms import Platform, PlatformClient
from bot.wiring.services import Advice
from bot.wiring.stores import Stores, open_stores
from core.errors import FootnoteError, Misconfigured, PostingFailed, StoreUnavailable
from core.events import Observer, ServiceFailed, Shortcoming
from core.messages.wording import listed
from core.model import WorkspaceRef
from core.ports import Catalogue

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from aiohttp.web import RouteDef
    from slack_bolt.app.async_app import AsyncApp

    from adapters.chat.services import Joined
    from adapters.redis.inbox import RedisInbox
    from adapters.slack.commands import SlackCommands
    from adapters.slack.listener import SlackHooks
    from adapters.slack.oauth import InstalledWorkspaces
    from adapters.slack.workspaces import OneWorkspace, Workspaces

HEARD = "sockets"  # the way on which the bot hears
LONGEST_END = 10.0  # seconds for what people have used before a stop
GIVEN_BACK = 5.0  # seconds until workers have given an emptied store what they know
MOST_READ = 50  # workspaces in which everything is read again


class SlackPlatform(Platform):
    """What the settings say of Slack; they go together. The *session* is shared by all that is said there.

    The *signs* of life of this process are given by the server that hears Slack, where there is one.
    """

    key = "slack"
    name = "Slack"

    def __init__(
        self,
        settings: Settings,
        observer: Observer,
        session: ClientSession,
        stores: Stores,
        catalogue: Catalogue,
        signs: Sequence[RouteDef] = (),
    ) -> None:
        from adapters.chat.services import CommunityGates
        from adapters.slack.oauth import InstalledWorkspaces
        from adapters.slack.people import People
        from adapters.slack.workspaces import OneWorkspace

        super().__init__(settings, observer, catalogue)
        self._session = session
        self._vault = stores.vault
        self._signs = signs
        self._one: OneWorkspace | None = None
        self._installed: InstalledWorkspaces | None = None
        self._workspaces: Workspaces
        api_url = settings.slack_api_url
        if settings.has_installations:
            id_, secret = _app_of(settings)
            given: dict[str, Any] = {"client_id": id_, "client_secret": secret, "api_url": api_url}
            given["gates"] = CommunityGates(self.name, observer)
            self._installed = InstalledWorkspaces(session, stores.vault, stores.dedup, **given)
            self._workspaces = self._installed
        else:
            self._one = OneWorkspace(session, revealed(settings.slack_bot_token) or "", api_url, self._gate())
            self._workspaces = self._one
        self._people = People(
            self._workspaces,
            moderators=settings.slack_moderators or "",
            policies=stores.policies,
            guests_read=settings.slack_guests,
        )
        self.membership = self._people
        self._entering = asyncio.Lock()

    async def listen(self, stores: Stores, inbox: RedisInbox) -> None:
        """Put what people ask into the inbox, until this is cancelled; comes back by itself after failures."""
        from adapters.chat.background import take_over
        from adapters.slack.commands import install as install_commands
        from adapters.slack.listener import install, make_app

        self._presence.expect(HEARD)
        await self._log_in()
        services = self._services(stores, inbox)
        client = self._client()
        app = make_app(self._workspaces, client, failed=self._failed)
        commands = install_commands(app, services, self._workspaces, self._people)

        async def uninstalled(name: str) -> None:
            if self._installed is not None:
                await self._installed.uninstalled(name)
                await settle()

        hooks = self._hooks(inbox, commands, uninstalled if self._installed else None)
        listener = install(app, services, self._workspaces, hooks)
        home = await self._one.only() if self._one else None
        settle = partial(listener.settle, self._joined, is_own=home is not None)
        await settle()
        async with contextlib.AsyncExitStack() as stack:  # all of it is closed, also where a second stop comes
            stack.push_async_callback(self._finish, inbox)
            stack.push_async_callback(commands.background.close, LONGEST_END)
            stack.push_async_callback(listener.background.close)
            catch_up = partial(listener.catch_up, home.name if home else "")  # of many, those that were heard before

            def regain() -> None:  # what a store that was emptied has lost
                listener.background.begin(partial(self._give_back, settle))
                listener.regain(home.name if home else "")

            taking_over = partial(take_over, services, self.key, commands.find, below=commands.below, lost=regain)
            for work in (self._tell_shortcoming, partial(self._read_all, inbox, listener.catch_up), taking_over):
                listener.background.begin(work)
            await self._hear(app, stores, catch_up, settle, home.title if home else "")

    def _hooks(
        self, inbox: RedisInbox, commands: SlackCommands, uninstalled: Callable[[str], Awaitable[object]] | None
    ) -> SlackHooks:
        """Return what the listener asks of others, and tells them."""
        from adapters.slack.listener import SlackHooks

        return SlackHooks(
            running=inbox.running,
            is_moderator=self._people.is_moderator,
            sharing=self._people.note_sharing,
            joining=self._people.note_joining,
            text_command=commands.said,
            uninstalled=uninstalled,
        )

    async def _give_back(self, settle: Callable[[], Awaitable[object]]) -> None:
        """Give the store the installations that it has lost, and then *settle* again who may use the bot."""
        if self._installed is not None:
            await PATIENT.call(self._installed.put_back)
        await settle()

    async def _read_all(self, inbox: RedisInbox, catch_up: Callable[[str], None]) -> None:
        """Catch up everywhere where the store was emptied just before the start: it knows of nothing that was heard."""
        from adapters.chat.background import LATEST

        if self._installed is None or (await PATIENT.call(inbox.kept_for)).age > LATEST:
            return
        await asyncio.sleep(GIVEN_BACK)
        for home, _ in (await PATIENT.call(self._installed.joined))[:MOST_READ]:
            catch_up(home.workspace)

    async def _tell_shortcoming(self) -> None:
        """Say which scopes are missing, and where; where Slack does not tell now, what needs one says so."""
        from adapters.slack.health import look_for_scopes, shortcoming

        with contextlib.suppress(PostingFailed, StoreUnavailable):
            advice = ""
            if self._one is not None:
                advice = await shortcoming((await self._one.only()).client)
            elif self._installed is not None:
                advice = await look_for_scopes(self._installed)
            if advice:
                self._observer(Shortcoming(self.name, advice))

    @contextlib.asynccontextmanager
    async def client(self, stores: Stores, inbox: RedisInbox) -> AsyncGenerator[PlatformClient]:
        """Yield what answers there; it has to log in first."""
        from adapters.chat.delivery import PlatformSurface
        from adapters.chat.removing import Remover
        from adapters.slack.platform import PACE, SlackChat

        chat = SlackChat(self._workspaces, self._people, observer=self._observer)
        remover = Remover(chat, self.key, stores.removals)
        surface = PlatformSurface(chat, deliveries=inbox, pace=PACE, observer=self._observer, remover=remover)

        async def beside() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(remover.run())
                if self._installed is not None:  # a listener that has just started may know of no installation
                    group.create_task(self._installed.guard(inbox.kept_for))

        try:
            yield PlatformClient(surface, self._log_in, beside)
        finally:
            await self._finish(inbox)

    async def _finish(self, inbox: RedisInbox) -> None:
        """Let tokens be kept: those that are being renewed, as Slack gives each once, and those that the store lost.

        Whoever starts next may know of none. Who is where is of no use any more.
        """
        from adapters.chat.background import LATEST

        await self._people.stop_looking()
        if self._installed is None:
            return
        await self._installed.background.finish(LONGEST_END)
        with contextlib.suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(LONGEST_END):
                if (await inbox.kept_for()).age < LATEST:
                    await self._installed.put_back()

    async def _log_in(self) -> None:
        """Find out whose token it is, once for all that is done here; each installation has one of its own."""
        from adapters.slack.health import log_in

        async with self._entering:
            if self._one is not None:
                await self._entered(partial(log_in, self._one))

    async def _joined(self) -> Joined:
        """Return where the bot is: in the workspace of its token, or wherever somebody has installed it."""
        if self._one is not None:
            home = await self._one.only()
            return [(WorkspaceRef(platform=self.key, workspace=home.name), home.title)]
        return await self._installed.joined() if self._installed else []

    async def _hear(
        self,
        app: AsyncApp,
        stores: Stores,
        catch_up: Callable[[], None],
        settle: Callable[[], Awaitable[object]],
        title: str,
    ) -> None:
        """Hear Slack over sockets, or over HTTP where there is no token for these, and catch up once it is heard.

        The *title* is who the bot is there, where it is in one workspace; of several, it is *settled* who may use it.
        """
        settings = self._settings

        def connected(name: str, place: str = "") -> None:
            self._presence.back(HEARD, f"{title or name}{place}")
            catch_up()

        if (token := revealed(settings.slack_app_token)) is not None:
            from adapters.slack.sockets import SocketPool

            given: dict[str, Any] = {"retries": self._retries(HEARD), "connected": connected}
            await SocketPool(self._client(), token, app.async_dispatch, **given).run()
            return
        from adapters.slack.http import RequestVerifier, serve
        from adapters.slack.oauth import install_pages

        secret = revealed(settings.slack_signing_secret) or ""
        verifier = RequestVerifier(app.async_dispatch, signing_secret=secret, seen=stores.seen, refused=self._failed)
        more = list(self._signs)
        if self._installed is not None:
            id_, secret = _app_of(settings)
            more += install_pages(self._client(), self._vault, client_id=id_, client_secret=secret, installed=settle)
        await serve(
            verifier,
            settings.host,
            settings.port,
            started=lambda port: connected("a server", f", at port {port}"),
            more=more,
        )

    def _failed(self, error: Exception) -> None:
        """Report what was not acknowledged; only our own errors are sentences that quote nobody."""
        said = isinstance(error, FootnoteError)
        self._observer(ServiceFailed("inbox", str(error) if said else type(error).__name__))

    def _client(self) -> Any:
        from adapters.slack.api import connect

        return connect(self._session, api_url=self._settings.slack_api_url)


GROUP_COUNTS = "The user group in SLACK_MODERATORS moderates in {}."
GROUP_UNKNOWN = "It does not exist in {}, where only admins and the groups that they name moderate."
NO_SUCH_GROUP = (
    "No workspace that has installed the bot knows the user group in SLACK_MODERATORS. Set it to the id of one, which "
    "begins with S: open the group in Slack, and copy the id from its menu."
)


async def check_slack(settings: Settings, private: str | None = None) -> str:
    """Return one line on who the bot is on Slack and how it is connected, with the *private* server that may run.

    Raises `Misconfigured`, or `StoreUnavailable`.
    """
    from adapters.slack.api import connect, open_session
    from adapters.slack.health import check

    settings.check_slack()
    moderators = settings.slack_moderators or ""
    async with open_session() as session:
        if settings.has_installations:
            says = f"receives events over HTTP at port {settings.port}, where /slack/install installs it in workspaces"
            return await _with_workspaces(says, moderators, settings, session, private)
        client = connect(session, token=revealed(settings.slack_bot_token) or "", api_url=settings.slack_api_url)
        return await check(client, app_token=revealed(settings.slack_app_token), moderators=moderators)


async def _with_workspaces(
    says: str, group: str, settings: Settings, session: ClientSession, private: str | None
) -> str:
    """Return the line with which workspaces lack scopes, and where a user group moderates, as each has its own."""
    from adapters.slack.health import look_for_group, look_for_scopes
    from adapters.slack.oauth import InstalledWorkspaces

    id_, secret = _app_of(settings)
    given: dict[str, Any] = {"client_id": id_, "client_secret": secret, "api_url": settings.slack_api_url}
    async with open_stores(settings, private) as stores:
        workspaces = InstalledWorkspaces(session, stores.vault, stores.dedup, **given)
        found = dict(await look_for_group(group, workspaces)) if group else dict[str, str | None]()
        lacking = await look_for_scopes(workspaces)
        await workspaces.background.finish(LONGEST_END)  # what renews a token that ends soon
    if found and not any(why != "" for why in found.values()):
        raise Misconfigured(NO_SUCH_GROUP)
    sentences = [says]
    if knowing := [name for name, why in found.items() if why is None]:
        sentences.append(GROUP_COUNTS.format(listed(knowing)))
    if unknown := [name for name, why in found.items() if why == ""]:
        sentences.append(GROUP_UNKNOWN.format(listed(unknown)))
    sentences += [f"{name}: {why}." for name, why in found.items() if why]
    sentences += [lacking] if lacking else []
    line = ". ".join([says, " ".join(sentences[1:])]) if sentences[1:] else says
    return Advice(line) if lacking or len(knowing) < len(found) else line


def _app_of(settings: Settings) -> tuple[str, str]:
    """Return the id and the secret of the app."""
    return revealed(settings.slack_client_id) or "", revealed(settings.slack_client_secret) or ""
