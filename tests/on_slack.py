"""Slack with somebody who mentions the bot there, in a workspace that knows streams, or in one that does not."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, TypeVar

from aiohttp import ClientSession

from adapters.slack.api import open_session
from adapters.slack.people import People
from adapters.slack.platform import SlackChat
from adapters.slack.workspaces import OneWorkspace
from core.events import Observer, PossiblyDoubled
from core.messages import SEARCHING
from core.model import Claim, Interaction, MessageRef, Person, Question, ReplyAddress, ThreadRef
from tests.adapters.slack.reader import live, texts
from tests.platforms import ChatPlatform, Trouble
from tests.servers.slack import (
    Channel,
    Handled,
    Lost,
    Message,
    Reply,
    Reset,
    SlackServer,
    Streaming,
    limit,
)
from tests.servers.slack.shape import Json
from tests.servers.slack.users import User
from tests.servers.slack.workspaces import Workspace

KindT = TypeVar("KindT", bound="OnSlack")

ASKED = "What is a robot?"
POST = "chat.postMessage"
START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
UPDATE = "chat.update"
READING = frozenset({"auth.test", "conversations.replies", "users.info"})
APART = 0.001
OVER = timedelta(minutes=31)  # after which nobody can answer by the address that came with a command


class OnSlack(ChatPlatform):
    """A mention in a channel, whose answer is streamed into its thread."""

    longest = 4_000
    whole, draft = POST, START
    faults: ClassVar = {
        Trouble.RESET: Reset(),
        Trouble.LOST: Lost(),
        Trouble.BUSY: Reply(503, {"ok": False, "error": "service_unavailable"}),
        Trouble.TOO_FAST: limit(0.01),
    }
    lacks: frozenset[str] = frozenset()
    posts_apart = APART

    def __init__(self, server: SlackServer, session: ClientSession) -> None:
        self.server = server
        self.workspace: Workspace = server.add_workspace()
        self.workspace.lacks.update(self.lacks)
        self.channel = server.add_channel(self.workspace)
        self.ada = server.add_member(self.workspace)
        self.admin = server.add_member(self.workspace, "admin", is_admin=True)
        self.session = session
        super().__init__(server.platform.changes.tell)

    @property
    def doubtful(self) -> list[MessageRef]:
        """The questions with a message that may stand there twice."""
        return [event.question for event in self.events if isinstance(event, PossiblyDoubled)]

    def speaks(self, *, observer: Observer, now: Callable[[], datetime], **_: Any) -> SlackChat:
        """Speak by the token of the workspace."""
        workspaces = OneWorkspace(self.session, self.workspace.token, self.server.api_url)
        given: dict[str, Any] = {"edits_apart": APART, "posts_apart": self.posts_apart}
        return SlackChat(workspaces, People(workspaces), observer=observer, now=now, **given)

    async def asks(self) -> Claim:
        """Mention the bot."""
        return self.claim(self.mention())

    def mention(self, by: User | None = None) -> Message:
        """Write a message that mentions the bot."""
        text = f"{self.server.mention(self.workspace.bot)} {ASKED}"
        return self.server.post_as(by or self.ada, self.channel, text)

    def claim(self, asked: Message, **more: Any) -> Claim:
        """Hold a question as a worker does."""
        place = self.thread(asked.root_ts, asked.channel_id)
        message = MessageRef(thread=place, id=asked.ts)
        question = self.question(message, author=Person(id=asked.user_id))
        return Claim(question, address=ReplyAddress(thread=place, message=message), **more)

    def commanded(self) -> Claim:
        """Use the command for an answer that one person sees, and hold the question as a worker does."""
        used = self.server.slash(self.ada, self.channel, "/footnote", f"ask --private {ASKED}").payload
        message = MessageRef(thread=self.thread(used["trigger_id"]), id=used["trigger_id"])
        over = datetime.now(UTC) + timedelta(minutes=29)
        way = Interaction(id=used["trigger_id"], token=used["response_url"], expires_at=over)
        address = ReplyAddress(thread=message.thread, interaction=way)
        return Claim(self.question(message, visibility="private"), address=address)

    def thread(self, thread: str, channel: str = "") -> ThreadRef:
        """Name a thread of the channel, or of another one."""
        place = channel or self.channel.id
        return ThreadRef(platform="slack", workspace=self.workspace.team_id, channel=place, thread=thread)

    def question(self, message: MessageRef, **more: Any) -> Question:
        """Ask, just now."""
        usual: dict[str, Any] = {"author": Person(id=self.ada.id), "asked_at": datetime.now(UTC)}
        return Question.create(message=message, text=ASKED, **{**usual, **more})

    def answers(self, claim: Claim) -> list[Message]:
        """Give what the bot has said in the thread of the question, as it can be read there."""
        place: Channel = self.server.platform.channels[claim.message.thread.channel]
        return self.server.messages(place, by=self.workspace.bot, thread_ts=claim.message.thread.thread)

    def stands(self, claim: Claim) -> list[str]:
        """Give what people read."""
        return [message.shown for message in self.answers(claim)]

    def signs(self, claim: Claim) -> list[str]:
        """Look for streams, for what the session shows, and for the reaction that stands for it."""
        place, platform = (claim.message.thread.channel, claim.message.thread.thread), self.server.platform
        session, status = platform.sessions.get(place), platform.statuses.get(place)
        open_ = [said for said in self.answers(claim) if said.stream and said.stream.state is Streaming.OPEN]
        return [
            *("streaming" for _ in open_),
            *([session.status] if session and session.status != "active" else []),
            *([status.words] if status else []),
            *(name for name in self.reactions(claim) if name == "eyes"),
        ]

    def changes(self) -> list[str]:
        """Look at the requests; a sign that appears is none."""
        return [one.method for one in self.server.requests if one.method not in READING and not _is_sign(one.body)]

    def warnings(self, claim: Claim) -> int:
        """Count the bot's own reactions."""
        return self.reactions(claim).count("warning")

    def reactions(self, claim: Claim) -> list[str]:
        """Give the bot's own reactions to the question."""
        message = self.server.platform.messages[claim.message.thread.channel, claim.message.id]
        return [name for name, who in message.reactions.items() for user in who if user == self.workspace.bot.id]

    def told(self) -> list[str]:
        """Look at the requests."""
        return [str(one.body["text"]) for one in self.server.requests if one.method == POST and one.body.get("text")]

    def alarms(self) -> list[str]:
        """Look at every text that was sent."""
        return [alarm for handled in self.server.requests for alarm in _alarms(handled)]

    def removes_answer(self, claim: Claim) -> None:
        """Delete it."""
        self.server.delete_as(self.ada, self.answers(claim)[0])

    def replies(self, claim: Claim) -> None:
        """Say something in the thread."""
        self.server.post_as(self.ada, self.channel, "Thank you.", claim.message.thread.thread)

    def forbids(self, claim: Claim) -> None:
        """Take the bot out of the channel."""
        self.server.remove_bot(self.channel, self.workspace)


class OnSlackByEdits(OnSlack):
    """The same in a workspace that knows neither streams nor sessions, where drafts are edits."""

    draft = POST
    lacks = frozenset({START, "agents.sessions.setStatus", "agents.sessions.rename"})

    def forbids(self, claim: Claim) -> None:
        """Archive the channel too: whoever is not in it can still edit."""
        super().forbids(claim)
        self.channel.is_archived = True


class OnSlackPrivately(OnSlack):
    """A command in a channel, whose answer one person sees, by the address that came with it."""

    async def asks(self) -> Claim:
        """Use the command."""
        self._earlier = len(self._told())
        return self.commanded()

    def answers(self, claim: Claim) -> list[Message]:
        """Give what that person was told since."""
        return self._told()[self._earlier :]

    def _told(self) -> list[Message]:
        return [one for one in self.server.messages(self.channel) if one.seen_by == self.ada.id]


@contextlib.asynccontextmanager
async def on_slack(kind: type[KindT]) -> AsyncGenerator[KindT]:
    """Set the scene; nothing is connected to listen, as a worker's surface needs nothing of the kind."""
    waits = list[float]()
    async with SlackServer() as server, open_session(waits.append) as session:
        scene = kind(server, session)
        scene.waits = waits
        yield scene


def _is_sign(body: Json) -> bool:
    """Say whether a request shows that an answer is on its way, rather than taking that away."""
    return body.get("status") in ("processing", SEARCHING) or body.get("name") == "eyes"


def _alarms(handled: Handled) -> list[str]:
    """Give what is live in a request, and say whether it may show a preview."""
    body = handled.body
    said = [str(body.get(name) or "") for name in ("text", "markdown_text", "title", "status")]
    said += texts(body.get("blocks") or [])
    found = [alarm for text in said for alarm in live(text)]
    may_unfurl = handled.method == POST and (body.get("unfurl_links"), body.get("unfurl_media")) != (False, False)
    return [*found, *([f"{handled.method} may show previews"] if may_unfurl else [])]
