"""Discord with somebody who asks there: by a mention, or by a command."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, TypeVar

from discord import AutoShardedClient
from discord.http import Route

from adapters.discord.connection import connect
from adapters.discord.platform import DiscordChat
from core.model import Claim, Interaction, MessageRef, Person, Question, ReplyAddress, ThreadRef
from tests.adapters.discord.reader import live, previews
from tests.platforms import ChatPlatform, Trouble
from tests.servers.discord import Channel, DiscordServer, Lost, Message, Permission, Reply, Reset, User
from tests.servers.discord.messages import SUPPRESS_EMBEDS
from tests.servers.discord.server import Handled
from tests.servers.discord.shape import Json

KindT = TypeVar("KindT", bound="OnDiscord")

ASKED = "What is a robot?"
POST = "POST /channels/{channel}/messages"
ORIGINAL = "PATCH /webhooks/{application}/{token}/messages/@original"
OVER = timedelta(minutes=16)  # after which nobody can answer a command in its own name


class OnDiscord(ChatPlatform):
    """A mention in a channel, whose answer is a thread."""

    longest = 2_000
    whole = draft = POST
    faults: ClassVar = {
        Trouble.RESET: Reset(),
        Trouble.LOST: Lost(),
        Trouble.BUSY: Reply(503, {"message": "busy"}),
        Trouble.TOO_FAST: Reply(
            429, {"retry_after": 0.01, "global": False}, {"Via": "1.1 google", "Retry-After": "0.01"}
        ),
    }

    def __init__(self, server: DiscordServer, client: AutoShardedClient, channel: Channel, ada: User) -> None:
        self.server = server
        self.client = client
        self.channel = channel
        self.ada = ada
        super().__init__(server.platform.changes.tell)

    def speaks(self, **options: Any) -> DiscordChat:
        """Speak by the client."""
        return DiscordChat(self.client, **options)

    async def asks(self) -> Claim:
        """Mention the bot."""
        return self.claim(self.mention())

    def mention(self) -> Message:
        """Write a message that mentions the bot."""
        return self.server.post_as(self.ada, self.channel, ASKED, mentions=[self.server.bot])

    def claim(self, asked: Message, **more: Any) -> Claim:
        """Hold a question as a worker does, for an answer that opens a thread on the message."""
        place = self.thread(str(asked.id))
        message = MessageRef(thread=place, id=str(asked.id))
        return Claim(self.question(message), address=ReplyAddress(thread=place, message=message), **more)

    def thread(self, thread: str) -> ThreadRef:
        """Name a thread of the channel."""
        guild = str(self.channel.guild_id or "@me")
        return ThreadRef(platform="discord", workspace=guild, channel=str(self.channel.id), thread=thread)

    def question(self, message: MessageRef, **more: Any) -> Question:
        """Ask, just now."""
        ada = Person(id=str(self.ada.id))
        return Question.create(message=message, text=ASKED, author=ada, asked_at=datetime.now(UTC), **more)

    def answers(self, claim: Claim) -> list[Message]:
        """Give what the bot says in the thread of the question and in the channel, deleted messages too."""
        places = {int(claim.message.thread.thread), int(claim.message.thread.channel)}
        return [
            message
            for message in self.server.platform.messages.values()
            if message.channel_id in places and message.author_id == self.server.bot.id
        ]

    def stands(self, claim: Claim) -> list[str]:
        """Give the texts."""
        return [message.content for message in self.answers(claim) if message.content and not message.deleted]

    def signs(self, claim: Claim) -> list[str]:
        """Look for answers that are still to come; that the bot types goes by itself."""
        return ["thinking" for message in self.answers(claim) if message.thinking and not message.deleted]

    def changes(self) -> list[str]:
        """Look at the requests."""
        routes = [handled.route for handled in self.server.requests]
        return [route for route in routes if not route.startswith("GET") and not route.endswith("/typing")]

    def warnings(self, claim: Claim) -> int:
        """Count the bot's own reactions."""
        reactions = self.server.platform.messages[int(claim.message.id)].reactions
        return len(reactions.get("⚠️", ()))

    def told(self) -> list[str]:
        """Look at the requests."""
        posts = [handled for handled in self.server.requests if handled.route.startswith("POST")]
        bodies: list[Json] = [handled.received.body or {} for handled in posts]
        return [str(body["content"]) for body in bodies if body.get("content")]

    def alarms(self) -> list[str]:
        """Look at every text that was sent."""
        return [alarm for handled in self.server.requests for alarm in _alarms(handled)]

    def removes_answer(self, claim: Claim) -> None:
        """Delete it."""
        self.server.delete_as(self.ada, self.answers(claim)[0])

    def replies(self, claim: Claim) -> None:
        """Say something in the thread."""
        self.server.post_as(self.ada, self.server.platform.channels[int(claim.message.thread.thread)], "Thank you.")

    def forbids(self, claim: Claim) -> None:
        """Hide the channel."""
        self.server.deny(self.channel, Permission.VIEW_CHANNEL)


class OnDiscordByCommand(OnDiscord):
    """A command in a channel, whose response is the answer."""

    whole = draft = ORIGINAL
    drafts_once = True

    async def asks(self) -> Claim:
        """Use the command; the response is promised at once."""
        return await self.commanded()

    async def commanded(self, *, is_private: bool = False, **more: Any) -> Claim:
        """Use the command, and hold the question as a worker does."""
        platform = self.server.platform
        platform.commands[None] = [{"id": "1", "name": "ask", "type": 1, "options": []}]
        used = self.server.slash(self.ada, self.channel, "ask")
        route = Route("POST", "/interactions/{id}/{token}/callback", id=used.id, token=used.token)
        body = {"type": 5, "data": {"flags": 64 if is_private else 0}}
        await self.client.http.request(route, json=body)
        name = str(used.id if is_private else used.original_id)
        place = self.thread(name)
        message = MessageRef(thread=place, id=name)
        interaction = Interaction(id=str(used.id), token=used.token, expires_at=used.at + timedelta(minutes=14))
        address = ReplyAddress(thread=place, message=None if is_private else message, interaction=interaction)
        asked = self.question(message, visibility="private" if is_private else "thread")
        return Claim(asked, address=address, **more)

    def replies(self, claim: Claim) -> None:
        """Reply to the response."""
        response = self.server.platform.messages[int(claim.message.id)]
        self.server.post_as(self.ada, self.channel, "Thank you.", reply_to=response)

    def forbids(self, claim: Claim) -> None:
        """Hide the channel when the response cannot be changed any more."""
        super().forbids(claim)
        self.server.clock.advance(OVER.total_seconds())


class OnDiscordPrivately(OnDiscordByCommand):
    """The same, whose response and what follows it one person sees."""

    async def asks(self) -> Claim:
        """Use the command for that."""
        return await self.commanded(is_private=True)


@contextlib.asynccontextmanager
async def on_discord(kind: type[KindT]) -> AsyncGenerator[KindT]:
    """Set the scene; the client is logged in, without a gateway, as a worker's is."""
    async with DiscordServer() as server:
        guild = server.add_guild()
        channel, ada = server.add_channel(guild), server.add_member(guild)
        waits = list[float]()
        addresses: dict[str, Any] = {"api_url": server.api_url, "gateway_url": server.gateway_url}
        client = connect(AutoShardedClient, message_content=False, waited=waits.append, **addresses)
        await client.login(server.token)
        scene = kind(server, client, channel, ada)
        scene.waits = waits
        try:
            yield scene
        finally:
            await client.close()


def _alarms(handled: Handled) -> list[str]:
    body: Json = handled.received.body or {}
    if "content" not in body:
        return []
    text, found = str(body["content"]), list[str]()
    if body.get("allowed_mentions") != {"parse": []}:
        found.append(f"{handled.route} may ping")
    is_kept = handled.route.startswith("PATCH /channels")  # such an edit leaves the flag as it was
    if not is_kept and not int(body.get("flags") or 0) & SUPPRESS_EMBEDS:
        found.append(f"{handled.route} may show previews")
    return [*found, *live(text), *previews(text)]
