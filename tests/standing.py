"""Places of every platform in which somebody asks, and what is found there of an answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from adapters.chat.platform import BotIdentity, FoundAnswer
from adapters.discord.history import find_answer, remove_rest
from adapters.slack.events import SlackChannel
from adapters.slack.workspaces import OneWorkspace
from core.model import Claim, Inbound, InboundKind, MessageRef, ReplyAddress, Setting
from tests.on_discord import OnDiscord, on_discord
from tests.on_slack import OnSlack, on_slack
from tests.servers.discord import Channel, Permission
from tests.servers.faults import Fault
from tests.servers.service import Reply
from tests.servers.slack import limit
from tests.servers.slack.channels import Channel as SlackChannelOf

LONG = 60.0  # seconds, longer than any client waits

Asking: TypeAlias = Callable[[], Claim]
ChatT = TypeVar("ChatT", bound=OnDiscord | OnSlack)


class Standing(ABC, Generic[ChatT]):
    """A platform with people in it, who ask, chat and moderate; `places` are where they ask."""

    chat: ChatT
    places: Mapping[str, Asking]
    history: str
    limited: Fault
    where: str

    def asks(self) -> Claim:
        """Let somebody ask where the test says."""
        return self.places[self.where]()

    def work(self, claim: Claim) -> bool:
        """Let the sign that the bot works stay in the place of an answer; False where it ends by itself."""
        return False

    @abstractmethod
    def stands(self, claim: Claim) -> Sequence[str]:
        """Return the texts of what the bot has said to a question, in order."""

    async def found(self, claim: Claim, *, revision: int = 0) -> FoundAnswer | None:
        """Look for an answer to a question, as if nobody knew of any."""
        said = Inbound(
            kind=InboundKind.EDITED if revision else InboundKind.WRITTEN,
            message=claim.message,
            setting=Setting.CHANNEL,
            revision=revision,
            author=claim.question.author,
            text=claim.question.text,
            at=datetime.now(UTC),
        )
        return await self.look(said)

    @abstractmethod
    async def look(self, inbound: Inbound) -> FoundAnswer | None:
        """Look on the platform."""

    @abstractmethod
    async def remove_rest(self, claim: Claim) -> None:
        """Have removed what was begun of an answer to a message that is deleted."""

    @abstractmethod
    def remark(self, claim: Claim) -> None:
        """Let somebody say something where an answer goes."""

    def begin(self, claim: Claim) -> None:
        """Open the thread of an answer, where there would be one."""
        assert self.places, "somebody has to be able to ask"

    def counts(self) -> bool:
        """Say whether the thread knows how much was ever said in it, and all that was an answer."""
        return False

    @abstractmethod
    def delete(self, claim: Claim) -> None:
        """Let whoever asked delete the question."""

    @abstractmethod
    def clear(self, claim: Claim) -> None:
        """Let a moderator delete all that the bot has said there."""

    def limit(self) -> None:
        """Let the platform refuse to be read for longer than its client waits."""
        self.chat.server.faults.break_(self.history, self.limited)


class StandingOnDiscord(Standing[OnDiscord]):
    """Channels, threads, posts and direct messages."""

    history = "GET /channels/{channel}/messages"
    limited = Reply(429, {"retry_after": LONG, "global": False}, {"Via": "1.1 google", "Retry-After": f"{LONG}"})

    def __init__(self, chat: OnDiscord) -> None:
        self.chat, self.server, self._opens = chat, chat.server, True
        self.bob = self.server.add_member(self.server.platform.guilds[chat.channel.guild_id or 0], "Bob")
        guild = self.server.platform.guilds[chat.channel.guild_id or 0]
        forum, direct = self.server.add_channel(guild, "help", forum=True), self.server.dm(chat.ada)
        theirs, ours = (
            self.server.thread_as(who, self.server.post_as(self.bob, chat.channel, "So?"))
            for who in (self.bob, self.server.bot)
        )
        self.places = {
            "channel": lambda: chat.claim(chat.mention()),
            "channel without threads": self._below,
            "their thread": partial(self._said, chat.channel, theirs, replies=True),
            "our thread": partial(self._said, chat.channel, ours, replies=False),
            "direct": partial(self._said, direct, direct, replies=True),
            "post": partial(self._post, forum),
        }

    async def look(self, inbound: Inbound) -> FoundAnswer | None:
        """Look where the bot may have answered."""
        return await find_answer(self.chat.client, inbound, opens_threads=self._opens)

    async def remove_rest(self, claim: Claim) -> None:
        """Look where the bot may have answered."""
        await remove_rest(self.chat.client, claim.message)

    def stands(self, claim: Claim) -> Sequence[str]:
        """Leave out what was said before."""
        answers = self.chat.answers(claim)
        return [one.content for one in answers if one.id > int(claim.message.id) and one.content and not one.deleted]

    def remark(self, claim: Claim) -> None:
        """Write in the thread, if there is one."""
        rooms, place = self.server.platform.channels, claim.message.thread
        self.server.post_as(self.bob, rooms.get(int(place.thread)) or rooms[int(place.channel)], "Well.")

    def begin(self, claim: Claim) -> None:
        """Open the thread on a message of the channel."""
        if self.where == "channel":
            self.server.thread_as(self.server.bot, self.server.platform.messages[int(claim.message.id)])

    def counts(self) -> bool:
        """Discord's do, and these have begun with the question."""
        return self.where in ("channel", "post")

    def clear(self, claim: Claim) -> None:
        """Delete it."""
        self.server.delete_as(self.bob, *self.chat.answers(claim))

    def delete(self, claim: Claim) -> None:
        """Delete the message."""
        self.server.delete_as(self.chat.ada, self.server.platform.messages[int(claim.message.id)])

    def _below(self) -> Claim:
        self.server.deny(self.chat.channel, Permission.CREATE_PUBLIC_THREADS)
        self._opens = False
        return self.chat.claim(self.chat.mention())

    def _said(self, channel: Channel, room: Channel, *, replies: bool) -> Claim:
        return self._claim(channel, room, self.server.post_as(self.chat.ada, room, "What?").id, replies=replies)

    def _post(self, forum: Channel) -> Claim:
        post, first = self.server.post_in_forum_as(self.chat.ada, forum, "Stuck", "What?")
        return self._claim(forum, post, first.id, replies=False)

    def _claim(self, channel: Channel, room: Channel, message: int, *, replies: bool) -> Claim:
        guild = str(channel.guild_id or "@me")
        ids = {"workspace": guild, "channel": str(channel.id), "thread": str(room.id)}
        ref = MessageRef(thread=self.chat.thread("1").model_copy(update=ids), id=str(message))
        return Claim(self.chat.question(ref), address=ReplyAddress(thread=ref.thread, message=ref if replies else None))


class StandingOnSlack(Standing[OnSlack]):
    """Channels, threads that somebody has begun, or the bot, and direct messages."""

    history = "conversations.replies"
    limited = limit(LONG)

    def __init__(self, chat: OnSlack) -> None:
        self.chat, self.server = chat, chat.server
        self.bob = self.server.add_member(chat.workspace, "Bob")
        private = self.server.add_channel(chat.workspace, "secret", private=True)
        direct = self.server.direct(chat.workspace, chat.ada)
        bot = {"bot_id": chat.workspace.installation.bot_id}
        theirs = self.server.post_as(self.bob, chat.channel, "So?")
        ours = self.server.post_as(chat.workspace.bot, chat.channel, "Ada asks: So?", **bot)
        asked = self.server.post_as(chat.ada, direct, "Who?")
        self.places = {
            "channel": partial(self._said, chat.channel),
            "private channel": partial(self._said, private),
            "their thread": partial(self._said, chat.channel, theirs.ts),
            "our thread": partial(self._said, chat.channel, ours.ts),
            "direct": partial(self._said, direct),
            "direct, further": partial(self._said, direct, asked.ts),
        }

    def work(self, claim: Claim) -> bool:
        """Begin with the session once more, where there are any."""
        session = self.server.platform.sessions.get((claim.message.thread.channel, claim.message.thread.thread))
        if session is not None:
            session.set("processing")
        return session is not None

    async def look(self, inbound: Inbound) -> FoundAnswer | None:
        """Look in the thread."""
        workspaces = OneWorkspace(self.chat.session, self.chat.workspace.token, self.server.api_url)
        channel = SlackChannel(await workspaces.only(), BotIdentity(self.chat.workspace.bot.id))
        return await channel.find_answer(inbound, opens_threads=True)

    async def remove_rest(self, claim: Claim) -> None:
        """Look in the thread."""
        workspaces = OneWorkspace(self.chat.session, self.chat.workspace.token, self.server.api_url)
        await SlackChannel(await workspaces.only(), BotIdentity(self.chat.workspace.bot.id)).remove_rest(claim.message)

    def stands(self, claim: Claim) -> Sequence[str]:
        """Leave out what was said before."""
        return [one.shown for one in self.chat.answers(claim) if one.ts > claim.message.id]

    def remark(self, claim: Claim) -> None:
        """Write in the thread."""
        thread = claim.message.thread
        self.server.post_as(self.bob, self.server.platform.channels[thread.channel], "Well.", thread.thread)

    def clear(self, claim: Claim) -> None:
        """Delete it."""
        for message in self.chat.answers(claim):
            if message.ts > claim.message.id:
                self.server.delete_as(self.bob, message)

    def delete(self, claim: Claim) -> None:
        """Delete the message."""
        key = claim.message.thread.channel, claim.message.id
        self.server.delete_as(self.chat.ada, self.server.platform.messages[key])

    def _said(self, channel: SlackChannelOf, thread: str | None = None) -> Claim:
        return self.chat.claim(self.server.post_as(self.chat.ada, channel, "What?", thread))


AnyStanding: TypeAlias = StandingOnDiscord | StandingOnSlack


@asynccontextmanager
async def standing_on_discord() -> AsyncGenerator[StandingOnDiscord]:
    """Set the scene on Discord."""
    async with on_discord(OnDiscord) as chat:
        yield StandingOnDiscord(chat)


@asynccontextmanager
async def standing_on_slack(kind: type[OnSlack]) -> AsyncGenerator[StandingOnSlack]:
    """Set the scene on Slack, with streams or without."""
    async with on_slack(kind) as chat:
        yield StandingOnSlack(chat)
