"""Communities with the bot in them, each on its platform: people act, and what they see can be read."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from adapters.chat.platform import Controls
from adapters.openai import OpenAIChat
from adapters.redis.connection import connect
from adapters.retry import SERVICE, RetryPolicy
from bot.app import Bot
from bot.roles import Role, shares
from bot.settings import Settings
from bot.wiring.stores import open_stores
from core.answering.agent import Agent, Limits
from core.answering.review import Reviewer
from core.events import Event, State, StateChanged
from tests.fakes.shelf import Shelf
from tests.servers.openai import KEY, MODEL, ChatServer
from tests.servers.uploads import Upload
from tests.waiting import wait_until

SECRET = "a secret that is long enough for a test"
PATIENCE = 10.0
ANSWER = "A robot acts in the world"


class Room(StrEnum):
    """Where people ask; `OWN` is a forum on Discord, and a private channel on Slack, where `REPLY` is one as any."""

    CHANNEL = "the channel"
    SHARED = "a thread that Bob began"
    REPLY = "a channel without threads"
    DIRECT = "direct messages"
    OWN = "what only this platform has"
    ABROAD = "another community"


class Abroad(StrEnum):
    """Where Eve is heard, who is no member of the community: see `strangers.py`."""

    CHANNEL = "a channel that others than its members read"
    DIRECT = "a stranger's direct messages"


class Community(Protocol):
    """What every platform offers; a question is known by the id that the platform gave it.

    `help` is what the bot says to somebody who asks what it can do, and `hides_answers` says that only who used a
    command sees the answer where the bot may not write. Where it `reads_direct`, the bot can read late what was said to
    it alone, and where it `tells_alone`, say something to one person in a channel who has used no command.
    """

    help: str
    hides_answers: bool
    reads_direct: bool
    tells_alone: bool

    def open(self) -> contextlib.AbstractAsyncContextManager[object]:
        """Run the platform while the block runs."""
        ...

    def settings(self) -> dict[str, str]:
        """Give the settings with which the bot is there."""
        ...

    async def ready(self) -> None:
        """Wait until the bot hears what is written."""
        ...

    async def until(self, is_true: Callable[[], object], *, what: str) -> None:
        """Return as soon as *is_true* says so."""
        ...

    def ask(
        self,
        text: str = "What is a robot?",
        *,
        by: str = "Ada",
        below: str | None = None,
        room: Room | Abroad = Room.CHANNEL,
    ) -> str:
        """Let somebody mention the bot, where that belongs to what Bob says if something is to stand *below* it.

        In rooms other than the channel, all that is said there counts as said to a question.
        """
        ...

    def attach(self, *uploads: Upload, text: str = "", direct: bool = False) -> str:
        """Let Ada mention the bot beside files, or write to it directly."""
        ...

    def forward(self, text: str, *uploads: Upload) -> str:
        """Let Ada forward to the bot what Bob says in the channel, with his files."""
        ...

    def quoted(self, text: str) -> str:
        """Give what Bob says as it is told to the model, with what is known there of who he is."""
        ...

    def follow_up(self, asked: str, text: str, *, by: str = "Ada") -> str:
        """Let somebody write on, where Ada was answered, without a mention."""
        ...

    def address(self, asked: str, text: str, *, by: str = "Ada") -> None:
        """Let somebody mention the bot where Ada was answered."""
        ...

    def say(self, text: str, *, by: str = "Ada") -> str:
        """Let somebody write in the channel, to nobody."""
        ...

    async def answer_unasked(self, *, on: bool = True) -> str:
        """Let a moderator have questions in the channel answered unasked, or no longer; give the reply."""
        ...

    def chat(self, asked: str, text: str) -> None:
        """Let Bob write there to Ada."""
        ...

    def edit(self, asked: str, text: str) -> None:
        """Let whoever asked change the question."""
        ...

    def delete(self, asked: str) -> None:
        """Let whoever asked delete the question."""
        ...

    def delete_answer(self, asked: str, *, part: int = 0) -> None:
        """Let a moderator delete a message of the bot's there."""
        ...

    def repeat(self, asked: str) -> None:
        """Let the platform tell of the question once more."""
        ...

    def tell_again(self, asked: str) -> None:
        """Let the platform tell of the question again, as if it had not, so late that it takes no post for another."""
        ...

    def said(self, asked: str) -> list[str]:
        """Give what the bot says in answer to a question and below, as it stands."""
        ...

    def told(self, asked: str) -> list[str]:
        """Give what the bot says to whoever asked beside an answer, as it stands: alone, or where they have asked."""
        ...

    def has_thread(self, asked: str) -> bool:
        """Say whether there is a thread on a question."""
        ...

    def public(self) -> list[str]:
        """Give what the bot says in the channel itself, before everybody."""
        ...

    def everything(self) -> list[str]:
        """Give all that the bot says in the channel and in its threads, to one person alone as well."""
        ...

    def warned(self, asked: str) -> bool:
        """Say whether there is a warning on the question."""
        ...

    def unmark(self, asked: str) -> None:
        """Let the question bear nothing, as if nobody had come to that."""
        ...

    def is_limited(self, asked: str) -> bool:
        """Say whether the question bears the sign of a limit."""
        ...

    def unwarned(self) -> int:
        """Count how often the bot has asked the platform to take a warning away."""
        ...

    def signs(self) -> list[str]:
        """Name what tells people everywhere that the bot is busy, or at work."""
        ...

    def controls(self, asked: str) -> Controls:
        """Say what the newest message of the bot there offers."""
        ...

    async def press(self, asked: str, *, by: str = "Ada") -> str:
        """Let somebody press the first button of that message; give what they alone are told, if anything."""
        ...

    async def command(self, name: str, *, at: str | None = None, moderates: bool = False, **options: Any) -> str:
        """Let somebody use a command, where a question was answered or in the channel; give the reply."""
        ...

    async def forget_bob(self) -> str:
        """Let Bob be forgotten, as he wishes; give the reply."""
        ...

    def typed(self, name: str, *, moderates: bool = False, **options: Any) -> str:
        """Give what somebody writes to use a command."""
        ...

    async def ask_from(self, text: str, question: str, *, by: str = "Ada", room: Abroad | None = None) -> str:
        """Let somebody ask something of a message with this *text* alone, in the channel or abroad; give the reply."""
        ...

    def alerts(self) -> list[str]:
        """Give what the bot has told moderators where they alone read it."""
        ...

    def refuse(self, *, the_token: bool) -> None:
        """Take the bot's token no more, or again."""
        ...

    def refused(self) -> int:
        """Count the requests that were refused for that."""
        ...

    def remove(self, asked: str) -> None:
        """Close for good the place where a question was asked."""
        ...

    def shut_out(self) -> None:
        """Let the bot see nothing of the channel any more."""
        ...

    def hide_history(self) -> None:
        """Let the bot read nothing of what was said before."""
        ...

    def expel(self) -> None:
        """Throw the bot out."""
        ...


@dataclass
class Town:
    """A community, the bot's model and documents, and the bot itself, which can be started and stopped."""

    community: Community
    chat: ChatServer
    shelf: Shelf
    redis_url: str
    folder: Path
    events: list[Event] = field(default_factory=list[Event])
    limits: Limits = Limits()
    retries: RetryPolicy = SERVICE
    is_reviewed: bool = False  # by the same model

    @contextlib.asynccontextmanager
    async def bot(self, *roles: Role, **settings: str) -> AsyncGenerator[Bot]:
        """Let the bot work, or take some of its roles, put together as the product puts it together."""
        values: dict[str, Any] = {
            **self.community.settings(),
            "REDIS_URL": self.redis_url,
            "FOOTNOTE_DATA_DIR": str(self.folder),
            "FOOTNOTE_SECRET_KEY": SECRET,
            **settings,
        }
        read = Settings(**values)
        given: dict[str, Any] = {"retries": self.retries, "observer": self.events.append}
        model = OpenAIChat(MODEL, api_key=KEY, base_url=self.chat.base_url, **given)
        async with open_stores(read) as stores:
            async with stores.inbox() as inbox:
                await inbox.kept_for()  # of what was asked before that is first looked at, a new store is not certain
            reviewer = Reviewer(model) if self.is_reviewed else None
            agent = Agent(model, self.shelf, clock=lambda: 0.0, limits=self.limits, reviewer=reviewer)
            bot = Bot(read, agent, stores, self.events.append, self.shelf)
            running = asyncio.create_task(bot.run(shares(roles, read)))
            if roles != (Role.WORKER,):
                await self.community.ready()
            try:
                yield bot
            finally:
                bot.stop()
                await running
                await model.aclose()

    async def sees(self, asked: str, words: str, *, times: int = 1) -> str:
        """Wait until the bot has said *words* in so many messages there, complete; give the last of them."""

        def complete() -> list[str]:
            said = [text for text in self.community.said(asked) if words in text]
            return said if self.community.controls(asked) is not Controls.STOP else []

        await self.community.until(lambda: len(complete()) >= times, what=f"{words!r} below {asked}")
        return complete()[-1]

    async def hears(self, asked: str, words: str) -> str:
        """Wait until whoever asked is told *words* beside an answer; return all that was said."""

        def found() -> str:
            return next((said for said in self.community.told(asked) if words in said), "")

        await self.community.until(found, what=f"{words!r} beside {asked}")
        return found()

    async def forgets(self, asked: str) -> None:
        """Wait until nothing of the conversation that a question began is stored."""
        async with asyncio.timeout(PATIENCE):
            while await self.is_remembered(asked):  # noqa: ASYNC110 - another process tells of nothing
                await asyncio.sleep(0.005)

    async def is_remembered(self, asked: str) -> bool:
        """Say whether anything of the conversation that a question began is stored."""
        thread = next(e.question.thread for e in self.events if isinstance(e, StateChanged) and e.question.id == asked)
        async with connect(self.redis_url) as client:
            return bool(await client.exists(f"footnote:conversation:{{{thread}}}"))

    async def mutes(self, asked: str, *, on: bool) -> None:
        """Wait until the thread that a question began is muted, or is not."""
        thread = next(e.question.thread for e in self.events if isinstance(e, StateChanged) and e.question.id == asked)
        async with connect(self.redis_url) as client, asyncio.timeout(PATIENCE):
            while bool(await client.hexists(f"footnote:attendance:{{{thread}}}", "muted")) is not on:  # noqa: ASYNC110 - another process tells of nothing
                await asyncio.sleep(0.005)

    async def remembers(self, asked: str) -> None:
        """Wait until the bot has nothing more to do about a question."""
        ends = (State.COMPLETE, State.ERROR)
        await wait_until(
            lambda: any(
                isinstance(event, StateChanged) and event.question.id == asked and event.state in ends
                for event in self.events
            ),
            what="the end of the work",
        )


def pause(town: Town) -> None:
    """Let the model pause in the middle of its next answer."""
    town.chat.pauses_before = b"And then"
    town.chat.goes_on.clear()
    town.chat.say(f"{ANSWER} [1].", " And then", " it rests [1].")


def go_on(town: Town) -> None:
    """Let it pause no more."""
    town.chat.pauses_before = b""
    town.chat.goes_on.set()


@contextlib.asynccontextmanager
async def half_written(town: Town, room: Room = Room.CHANNEL, *, by: str = "Ada") -> AsyncGenerator[str]:
    """Ask, and let the model pause in the middle of its answer until the block is over."""
    pause(town)
    asked = town.community.ask(by=by, room=room)
    await town.community.until(lambda: any(ANSWER in said for said in town.community.said(asked)), what="a draft")
    try:
        yield asked
    finally:
        go_on(town)
