"""Communities with the bot in them, each on its platform: people act, and what they see can be read."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from adapters.chat.posting import Controls
from adapters.openai import OpenAIChat
from adapters.redis.connection import connect
from bot.app import Bot
from bot.roles import Role
from bot.settings import Settings
from bot.wiring.stores import open_stores
from core.agent import Agent
from core.events import Event, State, StateChanged
from tests.fakes.shelf import Shelf
from tests.servers.discord import Channel, DiscordServer, Interaction, Message, Permission, User
from tests.servers.openai import KEY, MODEL, ChatServer
from tests.waiting import wait_until

SECRET = "a secret that is long enough for a test"
PATIENCE = 10.0


class Community(Protocol):
    """What every platform offers; a question is known by the id that the platform gave it."""

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

    def ask(self, text: str = "What is a robot?", *, below: str | None = None) -> str:
        """Let Ada mention the bot, as a reply to what Bob says if something is to stand *below* it."""
        ...

    def follow_up(self, asked: str, text: str) -> str:
        """Let Ada write on, where she was answered, without a mention."""
        ...

    def chat(self, asked: str, text: str) -> None:
        """Let Bob write there to Ada."""
        ...

    def edit(self, asked: str, text: str) -> None:
        """Let Ada change her question."""
        ...

    def delete(self, asked: str) -> None:
        """Let Ada delete her question."""
        ...

    def repeat(self, asked: str) -> None:
        """Let the platform tell of the question once more."""
        ...

    def said(self, asked: str) -> list[str]:
        """Give what the bot says in answer to a question and below, as it stands."""
        ...

    def warned(self, asked: str) -> bool:
        """Say whether there is a warning on the question."""
        ...

    def controls(self, asked: str) -> Controls:
        """Say what the newest message of the bot there offers."""
        ...

    async def press(self, asked: str) -> str:
        """Let Ada press the first button of that message; give what she alone is told, if anything."""
        ...

    async def command(self, name: str, *, at: str | None = None, moderates: bool = False, **options: Any) -> str:
        """Let somebody use a command, where a question was answered or in the channel; give the reply."""
        ...

    async def ask_from(self, text: str, question: str) -> str:
        """Let Ada ask something of a message with this *text* alone; give the reply."""
        ...

    def expel(self) -> None:
        """Throw the bot out."""
        ...


@dataclass
class DiscordCommunity:
    """A guild with one channel."""

    server: DiscordServer = field(default_factory=DiscordServer)

    def __post_init__(self) -> None:
        """Let people in."""
        self.guild = self.server.add_guild()
        self.channel = self.server.add_channel(self.guild)
        self.ada, self.bob = (self.server.add_member(self.guild, name) for name in ("Ada", "Bob"))
        self.moderator = self.server.add_member(self.guild, "Mod", permissions=Permission.MANAGE_GUILD)

    def open(self) -> contextlib.AbstractAsyncContextManager[object]:
        """Run the platform while the block runs."""
        return self.server

    def settings(self) -> dict[str, str]:
        """Give the settings with which the bot is there."""
        return {
            "DISCORD_TOKEN": self.server.token,
            "DISCORD_API_URL": self.server.api_url,
            "DISCORD_GATEWAY_URL": self.server.gateway_url,
            "DISCORD_MESSAGE_CONTENT": "true",
        }

    async def ready(self) -> None:
        """Wait until the bot hears what is written."""
        await self.server.connected(seconds=PATIENCE)

    async def until(self, is_true: Callable[[], object], *, what: str) -> None:
        """Return as soon as *is_true* says so."""
        await self.server.until(is_true, what=what, seconds=PATIENCE)

    def ask(self, text: str = "What is a robot?", *, below: str | None = None) -> str:
        """Let Ada mention the bot."""
        said = self.server.post_as(self.bob, self.channel, below) if below else None
        posted = self.server.post_as(self.ada, self.channel, text, mentions=[self.server.bot], reply_to=said)
        return str(posted.id)

    def follow_up(self, asked: str, text: str) -> str:
        """Write in the thread."""
        return str(self.server.post_as(self.ada, self._thread(asked), text).id)

    def chat(self, asked: str, text: str) -> None:
        """Write to Ada."""
        self.server.post_as(self.bob, self._thread(asked), text, mentions=[self.ada])

    def edit(self, asked: str, text: str) -> None:
        """Change the question, the mention included."""
        self.server.edit_as(self.ada, self._message(asked), f"{self.server.bot.mention} {text}")

    def delete(self, asked: str) -> None:
        """Delete the question."""
        self.server.delete_as(self.ada, self._message(asked))

    def repeat(self, asked: str) -> None:
        """Tell of it as after a reconnect."""
        self.server.repeat(self._message(asked))

    def said(self, asked: str) -> list[str]:
        """Read the thread on the question."""
        return [message.content for message in self._of_bot(asked)]

    def warned(self, asked: str) -> bool:
        """Look at the reactions."""
        return "⚠️" in self._message(asked).reactions

    def controls(self, asked: str) -> Controls:
        """Look at the buttons."""
        ids = self._of_bot(asked)[-1].custom_ids if self._of_bot(asked) else []
        return _offered(ids[0]) if ids else Controls.NONE

    async def press(self, asked: str) -> str:
        """Press the first button."""
        message = self._of_bot(asked)[-1]
        return await self._told(self.server.press(self.ada, message, message.custom_ids[0]))

    async def command(self, name: str, *, at: str | None = None, moderates: bool = False, **options: Any) -> str:
        """Use a slash command; the moderators' ones have a name in front."""
        place = self._thread(at) if at else self.channel
        who, whole = (self.moderator, f"footnote-admin {name}") if moderates else (self.ada, name)
        await self.until(lambda: self.server.platform.commands.get(None), what="the commands")
        return await self._told(self.server.slash(who, place, whole, **options))

    async def ask_from(self, text: str, question: str) -> str:
        """Use the message's menu, and fill in the form."""
        message = self.server.post_as(self.bob, self.channel, text)
        await self.until(lambda: self.server.platform.commands.get(None), what="the commands")
        shown = self.server.menu(self.ada, message, "Answer from this message")
        await self.until(lambda: shown.modal, what="a form")
        return await self._told(self.server.submit(self.ada, shown, {"question": question}))

    def expel(self) -> None:
        """Kick it from the guild."""
        self.server.kick_bot(self.guild)

    async def _told(self, interaction: Interaction) -> str:
        """Wait for the end of what the bot says to an interaction: it has words, and none that stop it."""
        await self.until(lambda: interaction.acknowledged, what="a sign of life")
        if interaction.acknowledged and interaction.acknowledged.kind in (6, 7):
            return ""
        await self.until(lambda: self._words(interaction), what="a reply")
        return self._words(interaction)

    def _words(self, interaction: Interaction) -> str:
        ids = [interaction.original_id, *interaction.follow_ups]
        found = [self.server.platform.messages[one] for one in ids if one is not None]
        is_written = not any(_offered(name) is Controls.STOP for one in found for name in one.custom_ids)
        return "\n".join(one.content for one in found if one.content) if is_written else ""

    def _thread(self, asked: str) -> Channel:
        return self.server.platform.channels[int(asked)]

    def _message(self, asked: str) -> Message:
        return self.server.platform.messages[int(asked)]

    def _of_bot(self, asked: str) -> list[Message]:
        bot: User = self.server.bot
        return [
            one
            for one in self.server.platform.messages.values()
            if one.channel_id == int(asked) and one.author_id == bot.id and one.content and not one.deleted
        ]


def _offered(custom_id: str) -> Controls:
    """Say what a button is for."""
    what = custom_id.split(":")[1]
    return Controls.VOTE if what in ("up", "down") else Controls(what)


@dataclass
class Town:
    """A community, the bot's model and documents, and the bot itself, which can be started and stopped."""

    community: Community
    chat: ChatServer
    shelf: Shelf
    redis_url: str
    folder: Path
    events: list[Event] = field(default_factory=list[Event])

    @contextlib.asynccontextmanager
    async def bot(self, **settings: str) -> AsyncGenerator[Bot]:
        """Let the bot work, put together as the product puts it together, on what is stored."""
        values: dict[str, Any] = {
            **self.community.settings(),
            "REDIS_URL": self.redis_url,
            "FOOTNOTE_DATA_DIR": str(self.folder),
            "FOOTNOTE_SECRET_KEY": SECRET,
            **settings,
        }
        read = Settings(**values)
        model = OpenAIChat(MODEL, api_key=KEY, base_url=self.chat.base_url)
        async with open_stores(read) as stores:
            bot = Bot(read, Agent(model, self.shelf, clock=lambda: 0.0), stores, self.events.append)
            running = asyncio.create_task(bot.run(frozenset(Role)))
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

    async def forgets(self, asked: str) -> None:
        """Wait until nothing of the conversation that a question began is stored."""
        thread = next(e.question.thread for e in self.events if isinstance(e, StateChanged) and e.question.id == asked)
        async with connect(self.redis_url) as client, asyncio.timeout(PATIENCE):
            while await client.exists(f"footnote:conversation:{{{thread}}}"):  # noqa: ASYNC110 - another process tells of nothing
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
