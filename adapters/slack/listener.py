"""The app that hears what happens on Slack, and what becomes of its events; nothing is answered here.

The app answers Slack when a listener is over. What fails is not acknowledged, so that Slack sends it again.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse

from adapters.chat.background import BackgroundTasks
from adapters.chat.catch_up import CatchUp
from adapters.chat.intake import Intake
from adapters.chat.services import ExpiringSet, Joined, settle_communities
from adapters.retry import NOT_NOW, PATIENT
from adapters.slack.api import respond, tell
from adapters.slack.events import PLATFORM, Json, line_of, moment, read_event
from adapters.slack.history import KNOWN, SlackHistory
from adapters.slack.workspaces import NotInstalled, Workspace, Workspaces, workspace_of
from core.errors import PostingFailed, StoreUnavailable, Unavailable
from core.events import unobserved
from core.messages import NOT_INSTALLED, NOT_YOURS
from core.model import ChannelRef, Person, Question, Stopped, ThreadRef, WorkspaceRef

if TYPE_CHECKING:
    from slack_bolt.context.async_context import AsyncBoltContext
    from slack_bolt.request.async_request import AsyncBoltRequest
    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.chat.intake import TextCommand
    from adapters.chat.services import ChatServices

NAME = "slack_bolt.footnote"  # below the name of the library, so that what is logged goes the same way
TAKEN, WRONG, AWAY = 200, 500, 503
MESSAGES = ("app_mention", "message")
REVOKED = "team_access_revoked"  # an organization has taken some of its workspaces from the app
GONE = ("app_uninstalled", "tokens_revoked", REVOKED)
DELETED = ("channel_deleted", "group_deleted")
STOPPED, OPENED, ENTERED = "agent_session_stopped", "app_home_opened", "member_joined_channel"
HEARD = (*MESSAGES, STOPPED, OPENED, ENTERED, *GONE, *DELETED)  # the types of events that something comes of
LAST_RETRY = 3  # after which Slack gives an event up
NOTED_EVERY = timedelta(minutes=1)  # more often, when a channel was heard last is not written down
_RETRY = "x-slack-retry-num"  # over sockets too, where the library writes it
_ANY = re.compile("")


@dataclass
class Authorize(AsyncAuthorize):
    """Says for whom an event is. The library's own way would ask Slack about each of them."""

    workspaces: Workspaces

    async def __call__(
        self,
        *,
        context: AsyncBoltContext,
        enterprise_id: str | None,
        team_id: str | None,
        user_id: str | None,
        **_: Any,
    ) -> AuthorizeResult:
        """Return the bot of a workspace. Raises `NotInstalled`, or `PostingFailed`: then the event comes again."""
        given: dict[str, Any] = {"team_id": team_id, "enterprise_id": enterprise_id, "user_id": user_id}
        name = workspace_of({**given, "is_enterprise_install": context.is_enterprise_install})
        workspace = await self.workspaces.find(name)
        return AuthorizeResult(
            **given, bot_id=workspace.bot_id, bot_user_id=workspace.bot_user_id, bot_token=workspace.client.token
        )


def make_app(
    workspaces: Workspaces, client: AsyncWebClient, *, failed: Callable[[Exception], None] = unobserved
) -> AsyncApp:
    """Return an app without listeners, for requests whose signature was verified, and for sockets.

    Slack is answered when a listener is over, and at once where nobody listens. What a listener could not do is not
    acknowledged, so that Slack sends it again; *failed* hears of it. The client's session is what all requests share.
    """
    logger = logging.getLogger(NAME)
    logger.setLevel(logging.ERROR)  # it warns of settings in the environment that it need not know of
    app = AsyncApp(
        name=NAME,
        logger=logger,
        client=client,
        authorize=Authorize(workspaces),
        request_verification_enabled=False,
        process_before_response=True,
        raise_error_for_unhandled_request=True,  # else Slack would be told that there is nobody
        ssl_check_enabled=False,  # it would be answered without a signature
        ignoring_self_events_enabled=False,  # it takes a deletion for the deed of whoever wrote what is deleted
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )

    async def on_error(error: Exception, context: AsyncBoltContext) -> BoltResponse:
        if isinstance(error, NotInstalled):  # whoever has used something is told
            with suppress(PostingFailed):
                told = {"text": NOT_INSTALLED, "replace_original": False}
                await respond(context.client, context.response_url or "", told)
        if isinstance(error, NotInstalled | BoltUnhandledRequestError):
            return BoltResponse(status=TAKEN, body="")
        failed(error)
        return BoltResponse(status=AWAY if isinstance(error, Unavailable | PostingFailed) else WRONG, body="")

    app.error(on_error)
    return app


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackHooks:
    """What only Slack asks for; what is left out is done without.

    `running` returns the question that a thread waits for, and `is_moderator` whether somebody, by workspace and id,
    may stop what others asked. `sharing` hears of a channel, by workspace and id, whether people of other companies can
    read it, and `joining` who comes into one. `uninstalled` takes note of a workspace that the bot was thrown out of.
    """

    running: Callable[[ThreadRef], Awaitable[Question | None]] | None = None
    is_moderator: Callable[[str, str], Awaitable[bool]] | None = None
    sharing: Callable[..., object] | None = None
    joining: Callable[[str, str, str], object] | None = None
    text_command: TextCommand | None = None
    uninstalled: Callable[[str], Awaitable[object]] | None = None


class SlackListener:
    """Hears events, in the order of each thread; what is done beside is in its `background`, which has to be closed."""

    def __init__(self, services: ChatServices, workspaces: Workspaces, hooks: SlackHooks) -> None:
        self._services = services
        self._workspaces = workspaces
        self._hooks = hooks
        self.background = BackgroundTasks()
        self._intake = Intake(services, self.background, hooks.text_command)
        self._noted = ExpiringSet(services.now, NOTED_EVERY)  # the channels
        self._heard: dict[str, tuple[ChannelRef, datetime]] = {}  # the channels, those that were heard last at the end
        self._catch_up = CatchUp(SlackHistory(services, workspaces), self._intake, services)

    async def settle(self, joined: Callable[[], Awaitable[Joined]], *, is_own: bool = False) -> None:
        """Have it decided which of those *joined* may use the bot, as soon as the store is there."""

        async def write() -> None:
            await self._services.know_store()
            await settle_communities(self._services, PLATFORM, await joined(), is_own=is_own)

        await self._intake.later(write)

    def catch_up(self, home: str = "") -> None:
        """Begin to read what was missed, in *home* and wherever something was heard before."""
        self.background.begin(partial(self._catch_up.run, home))

    def regain(self, home: str = "") -> None:
        """Give a store that was emptied what is known of where something was heard, and begin to read what it lacks."""
        self.background.begin(partial(self._regain, home))

    async def on_message(self, body: dict[str, Any], event: dict[str, Any], request: AsyncBoltRequest) -> None:
        """Hear what was written, changed or deleted, and note once in a while that a channel was heard.

        What cannot be looked up now is left to Slack, which sends it again, and after the last time to the background;
        what only the store is missing for is tried there at once.
        """
        name, (retried, *_) = workspace_of(body), request.headers.get(_RETRY) or ["0"]
        comes_again = not retried.isdigit() or int(retried) < LAST_RETRY
        if self._hooks.sharing is not None and "is_ext_shared_channel" in body:
            is_external = body["is_ext_shared_channel"] is True
            self._hooks.sharing(name, str(event.get("channel") or ""), is_external=is_external)
        read = partial(read_event, event, self._workspaces, name, comes_again=comes_again, has_come=retried != "0")
        line, take = f"{name}:{line_of(event)}", self._intake.take if comes_again else self._intake.take_last
        try:
            await take(line, read)
        except StoreUnavailable:
            if retried == "0":  # Slack may send it again only after minutes
                again = partial(take, line, partial(read, has_come=True))
                self.background.begin(partial(replace(PATIENT, sleep=self._services.sleep).call, again))
            raise
        at, channel = moment(event.get("event_ts") or event.get("ts")), str(event.get("channel") or "")
        if at is not None and channel:
            ref = ChannelRef(platform=PLATFORM, workspace=name, channel=channel)
            self._heard.pop(str(ref), None)
            self._heard[str(ref)] = ref, at
            if len(self._heard) > KNOWN:
                del self._heard[next(iter(self._heard))]
            if not self._catch_up.running and self._noted.add(str(ref)):
                self.background.begin(partial(self._note, ref, at))

    async def on_stop(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Stop the answer that a thread waits for, for whoever asked, and for moderators.

        Whether somebody is one is looked up while nobody waits. Raises `StoreUnavailable`.
        """
        workspace = await self._find(workspace_of(body))
        if workspace is None or self._hooks.running is None:
            return
        channel, thread = str(event["channel"]), str(event["thread_ts"])
        ref = ThreadRef(platform=PLATFORM, workspace=workspace.name, channel=channel, thread=thread)
        question = await self._hooks.running(ref)
        if question is None:
            return
        stopped = Stopped(message=question.message, by=Person(id=str(event["user"])))
        if stopped.by.id == question.author.id:
            await self._services.inbox.put(stopped)
        else:
            self.background.begin(partial(self._stop_for_moderator, stopped, workspace))

    async def on_gone(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Forget where the bot was thrown out, one workspace or several; tokens of people are none of ours."""
        revoked, name = cast("Json", event.get("tokens") or {}), workspace_of(body)
        if not name or (event["type"] == "tokens_revoked" and not revoked.get("bot")):
            return
        organization, is_whole = name.rpartition("/")[0], event["type"] != REVOKED
        homes = [WorkspaceRef(platform=PLATFORM, workspace=name)] if is_whole else []
        if organization and is_whole:
            known = await self._services.policies.workspaces(PLATFORM)
            homes += (home for home in known if home.workspace.startswith(f"{organization}/"))
        teams = cast("Sequence[str]", () if is_whole else event.get("team_ids") or ())
        homes += (WorkspaceRef(platform=PLATFORM, workspace=f"{organization}/{team}") for team in teams)
        for home in homes:
            await self._services.purge(home)
            await self._services.channel_cursor.forget_workspace(home)
        if is_whole and self._hooks.uninstalled is not None:
            await self._hooks.uninstalled(name)

    async def on_joined(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Hear of somebody who has come into a channel, who may be a guest there."""
        if self._hooks.joining is not None:
            self._hooks.joining(workspace_of(body), str(event["channel"]), str(event["user"]))

    async def on_channel_deleted(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Forget a channel that somebody has deleted. Raises `StoreUnavailable`."""
        place = ChannelRef(platform=PLATFORM, workspace=workspace_of(body), channel=str(event["channel"]))
        await self._services.moderation.forgetting.place(place)

    async def on_anything(self) -> None:
        """Acknowledge an event of which nothing comes, since Slack sends again what nobody acknowledges."""

    async def _regain(self, home: str) -> None:
        retry = replace(PATIENT, sleep=self._services.sleep)
        with suppress(*NOT_NOW):
            for channel, at in tuple(self._heard.values()):
                await retry.call(partial(self._note, channel, at))
        await self._catch_up.run(home)

    async def _note(self, channel: ChannelRef, at: datetime) -> None:
        """Note when a channel was heard, so that whoever starts next begins there."""
        if await self._find(channel.workspace) is not None:
            await self._services.channel_cursor.note(channel, at)

    async def _stop_for_moderator(self, stopped: Stopped, workspace: Workspace) -> None:
        is_moderator, thread = self._hooks.is_moderator, stopped.message.thread
        if is_moderator is not None and await is_moderator(workspace.name, stopped.by.id):
            await self._services.inbox.put(stopped)
            return
        place = {"channel": thread.channel, "thread_ts": thread.thread}
        await tell(workspace.client, "chat.postEphemeral", user=stopped.by.id, text=NOT_YOURS, **place)

    async def _find(self, workspace: str) -> Workspace | None:
        """Return the way to where an event happened; None where the bot is not any more. Raises `PostingFailed`."""
        try:
            return await self._workspaces.find(workspace)
        except NotInstalled:
            return None


def install(app: AsyncApp, services: ChatServices, workspaces: Workspaces, hooks: SlackHooks) -> SlackListener:
    """Add the listeners to an app, after all others: what nobody has taken until then is acknowledged by the last."""
    listener = SlackListener(services, workspaces, hooks)
    untyped = cast("Any", app)
    for name in MESSAGES:
        untyped.event(name)(listener.on_message)
    for name in GONE:
        untyped.event(name)(listener.on_gone)
    for name in DELETED:
        untyped.event(name)(listener.on_channel_deleted)
    untyped.event(STOPPED)(listener.on_stop)
    untyped.event(ENTERED)(listener.on_joined)
    untyped.event(_ANY)(listener.on_anything)
    return listener
