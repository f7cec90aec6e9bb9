"""Who uses a command, a shortcut, a button or a form on Slack, where, and the way back to that person."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from adapters.chat.registry import CommandContext
from adapters.retry import NOT_NOW, QUICK
from adapters.slack.api import respond, tell
from adapters.slack.dialect import SLACK
from adapters.slack.events import PLATFORM
from adapters.slack.slash import ADMIN, DIRECT_MESSAGE, NAME
from adapters.slack.workspaces import workspace_of
from core.errors import PostingFailed, Rejected
from core.messages import SLACK_FORMS, Drawing
from core.model import Actor, Asked, Asker, MessageRef, Person, ThreadRef, WorkspaceRef

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.chat.services import ChatServices
    from adapters.slack.people import People
    from adapters.slack.workspaces import Workspaces

Body: TypeAlias = Mapping[str, Any]

URL_LIFE = timedelta(minutes=30) - timedelta(minutes=1)  # Slack's, less what a clock or a call may be late
_BOLD = re.compile(r"\*\*(.+?)\*\*")


def mrkdwn(sentence: str) -> str:
    """Return one of our sentences in Slack's dialect, which writes bold text with one star."""
    return _BOLD.sub(r"*\1*", sentence)


def since(moment: datetime) -> str:
    """Return a moment as each reader's own clock shows it."""
    return f"<!date^{int(moment.timestamp())}^{{date_short_pretty}}, {{time}}|{moment:%Y-%m-%d %H:%M} UTC>"


DRAWING = Drawing(
    plain=SLACK.on_one_line,
    moment=since,
    bullet="•",
    resume=f"`{NAME} {ADMIN} resume`",
    page=f"`{NAME} {ADMIN} status {{}}`",
    group="<!subteam^{}>".format,
)


@dataclass(frozen=True, slots=True)
class SlackServices:
    """What all that people use works with: the services of every platform, and the ways to Slack itself."""

    chat: ChatServices
    workspaces: Workspaces
    people: People
    client: AsyncWebClient  # without a token


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionContext:
    """A command, a shortcut, a button or a form: who used it where, and the way back to that person.

    `thread_ts` is the thread that the pressed or chosen message is in, or would open, and empty where there is none;
    `is_inside` says that the message is in it and not in the channel. Only that person reads what they are told, unless
    it is not `is_private`. `url_since` says since when there is a `response_url`, if that is older.
    """

    slack: SlackServices
    home: WorkspaceRef
    person: Person
    at: datetime
    channel: str = ""
    thread_ts: str = ""
    is_inside: bool = False
    is_private: bool = True
    trigger: str = ""
    response_url: str = field(default="", repr=False)
    url_since: datetime | None = None

    @property
    def command(self) -> CommandContext:
        """What the commands of all platforms work with; a channel holds many conversations, and is none."""
        return CommandContext(
            services=self.slack.chat,
            person=self.person,
            homes=(self.home,),  # which the direct messages belong to
            thread=self.in_thread(self.thread_ts) if self.thread_ts and self.channel else None,
            is_direct=self.channel.startswith(DIRECT_MESSAGE),
            actor=self.actor,
            asker=Asker(home=self.home, person_id=self.person.id, channel=self.channel, is_alone=self.is_private),
            drawing=DRAWING,
            forms=SLACK_FORMS,
            dialect=SLACK,
        )

    def in_thread(self, thread: str) -> ThreadRef:
        """Return a thread of the channel."""
        return ThreadRef(platform=PLATFORM, workspace=self.home.workspace, channel=self.channel, thread=thread)

    @property
    def private_message(self) -> MessageRef:
        """What only one person sees: it is in no thread, and goes by what Slack calls the one use of it."""
        return MessageRef(thread=self.in_thread(self.trigger), id=self.trigger)

    async def actor(self) -> Actor:
        """Return who uses it with the right to moderate; where Slack does not say, there is none."""
        try:
            profile = await self.slack.people.profile(self.home.workspace, self.person.id)
            may_moderate = await self.slack.people.is_moderator(self.home.workspace, self.person.id)
        except Rejected:
            return Actor(person=self.person, home=self.home, may_moderate=False)
        person = Person(id=self.person.id, name=profile.name)
        return Actor(person=person, home=self.home, may_moderate=may_moderate, is_admin=profile.is_admin)

    async def tell(self, text: str, *, replaces: bool = False) -> bool:
        """Tell that person alone; *replaces* what the acknowledgement showed. A reader who is gone misses it.

        Returns False where Slack cannot be reached now.
        """
        body: dict[str, object] = {
            "text": mrkdwn(text),
            "response_type": "ephemeral",
            "replace_original": replaces,
            "unfurl_links": False,
            "unfurl_media": False,
        }
        if self.is_inside:
            body["thread_ts"] = self.thread_ts
        post = partial(respond, self.slack.client, self.response_url, body)
        try:
            await QUICK.call(post)
        except PostingFailed as failure:
            return not isinstance(failure, NOT_NOW)
        return True

    async def open_form(self, form: Mapping[str, Any]) -> None:
        """Show a form. Raises `PostingFailed`, also where it is too late, or was done before."""
        client = (await self.slack.workspaces.find(self.home.workspace)).client
        await tell(client, "views.open", trigger_id=self.trigger, view=form)


def home_of(body: Body) -> str:
    """Return the workspace, also of an installation for a whole organisation, which sends no team of its own."""
    user, view = _inner(body, "user"), _inner(body, "view")
    team = (
        view.get("app_installed_team_id")
        or _inner(body, "team").get("id")
        or body.get("team_id")
        or user.get("team_id")
        or view.get("team_id")
    )
    enterprise = _inner(body, "enterprise").get("id") or body.get("enterprise_id")
    is_whole = body.get("is_enterprise_install") in (True, "true")  # commands come as forms
    return workspace_of({"team_id": team, "enterprise_id": enterprise, "is_enterprise_install": is_whole})


def by_use(slack: SlackServices, body: Body) -> InteractionContext:
    """Return who uses a command, a button, a shortcut or a form, and where.

    A command is used in no thread, and a form, like the home, is in no channel. Of a command, Slack says in plain
    fields what it else puts into objects.
    """
    user, message, container = _inner(body, "user"), _inner(body, "message"), _inner(body, "container")
    thread = message.get("thread_ts") or container.get("thread_ts")
    own = message.get("ts") or container.get("message_ts")
    channel = _inner(body, "channel").get("id") or container.get("channel_id") or body.get("channel_id")
    return InteractionContext(
        slack=slack,
        home=WorkspaceRef(platform=PLATFORM, workspace=home_of(body)),
        person=Person(id=str(user.get("id") or body["user_id"])),
        at=slack.chat.now(),
        channel=str(channel or ""),
        thread_ts=str(thread or own or ""),
        is_inside=thread not in (None, own),
        trigger=str(body.get("trigger_id") or ""),
        response_url=str(body.get("response_url") or ""),
    )


def by_event(slack: SlackServices, body: Body) -> InteractionContext:
    """Return who has opened the app's home, to whom there is no way back but the home itself."""
    person = Person(id=str(_inner(body, "event").get("user") or ""))
    home = WorkspaceRef(platform=PLATFORM, workspace=workspace_of(body))
    return InteractionContext(slack=slack, home=home, person=person, at=slack.chat.now())


def by_question(slack: SlackServices, asked: Asked) -> InteractionContext:
    """Return who has used a command, by the question that it asked."""
    question, way = asked.question, asked.address.interaction if asked.address else None
    return InteractionContext(
        slack=slack,
        home=question.message.thread.home,
        person=Person(id=question.author.id),
        at=question.asked_at,
        channel=question.message.thread.channel,
        trigger=question.message.id,
        response_url=way.token if way else "",
    )


def _inner(body: Body, key: str) -> Body:
    """Return a part of a payload; Slack leaves out what it does not know, or says null."""
    inner = body.get(key)
    return cast("Body", inner) if isinstance(inner, Mapping) else {}
