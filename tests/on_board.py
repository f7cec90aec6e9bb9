"""A board with somebody who asks there."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from typing import Any, ClassVar

from aiohttp import ClientSession

from adapters.chat.lease import traced
from core.events import unobserved
from core.model import Claim, MessageRef, Person, Question, Reaction, ThreadRef
from tests.board import BoardChat
from tests.platforms import ChatPlatform, Trouble
from tests.servers.board import BOT, BoardServer, Post
from tests.servers.faults import Lost
from tests.servers.service import Reply, Reset
from tests.waiting import wait_until

ASKED = "What is a robot?"
POST = "POST posts"


class OnBoard(ChatPlatform):
    """A question in a thread of its own."""

    longest = 2_000
    whole = draft = POST
    faults: ClassVar = {
        Trouble.RESET: Reset(),
        Trouble.LOST: Lost(),
        Trouble.BUSY: Reply(503),
        Trouble.TOO_FAST: Reply(429, headers={"Retry-After": "0.01"}),
    }

    def __init__(self, server: BoardServer, session: ClientSession) -> None:
        self.server = server
        self.session = session
        super().__init__(unobserved)

    def speaks(self, **_: Any) -> BoardChat:
        """Speak over HTTP."""
        return BoardChat(self.session, self.server.url)

    async def asks(self) -> Claim:
        """Post a question, and hold it as a worker does."""
        post = self.server.post_as("ada", ASKED)
        place = ThreadRef(platform="board", workspace="w", channel="c", thread=post.root)
        message = MessageRef(thread=place, id=post.id)
        return Claim(Question.create(message=message, text=ASKED, author=Person(id="ada"), asked_at=datetime.now(UTC)))

    def answers(self, claim: Claim) -> list[Post]:
        """Give what the bot says in the thread."""
        said = [post for post in self.server.posts.values() if post.root == claim.message.thread.thread]
        return [post for post in said if post.author == BOT and not post.is_deleted]

    def stands(self, claim: Claim) -> list[str]:
        """Give the texts."""
        return [post.text for post in self.answers(claim)]

    def signs(self, claim: Claim) -> list[str]:
        """There are none."""
        return []

    def changes(self) -> list[str]:
        """Look at the requests."""
        return [one.route for one in self.server.requests if not one.route.startswith("GET")]

    def warnings(self, claim: Claim) -> int:
        """Look at the marks."""
        return int(str(Reaction.WARNING) in self.server.posts[claim.message.id].marks)

    def alarms(self) -> list[str]:
        """Look for whoever is called by a text that was sent."""
        sent = [str(one.body.get("text", "")) for one in self.server.requests if one.body]
        return [found for text in sent for found in re.findall(r"@\w+", text)]

    def removes_answer(self, claim: Claim) -> None:
        """Delete its first message."""
        self.answers(claim)[0].is_deleted = True

    def replies(self, claim: Claim) -> None:
        """Say something in the thread, as whoever asked or as somebody else."""
        self.server.post_as("ada", "Thank you.", claim.message.thread.thread)

    def forbids(self, claim: Claim) -> None:
        """Close the thread."""
        self.server.closed.add(claim.message.thread.thread)

    async def until(self, is_true: Callable[[], object]) -> None:
        """Wait for the server's state."""
        await wait_until(lambda: bool(is_true()), what="the state of the board")


@contextlib.asynccontextmanager
async def on_board() -> AsyncGenerator[OnBoard]:
    """Set the scene."""
    waits = list[float]()
    async with BoardServer() as server, ClientSession(trace_configs=[traced(waits.append)]) as session:
        scene = OnBoard(server, session)
        scene.waits = waits
        yield scene
