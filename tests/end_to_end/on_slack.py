"""A community on Slack: a workspace with one channel, heard over sockets or over HTTP.

Slack knows neither replies nor names of threads, and no commands inside of threads. Somebody who would reply mentions
the bot in a thread on the message, and what is a command in a channel is, in a thread, a shortcut in the menu of its
messages, or the word alone behind a mention.
"""

from __future__ import annotations

import asyncio
import contextlib
import html
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientError, ClientSession

from adapters.chat.platform import Controls
from adapters.slack import dialect
from adapters.slack.commands import ANSWER_FROM, SHOW_SOURCES
from adapters.slack.forms import QUESTION
from adapters.slack.http import PATH
from adapters.slack.interactions import mrkdwn
from adapters.slack.slash import NAME
from core import messages
from tests.end_to_end.community import PATIENCE, Abroad, Room
from tests.servers.slack import Channel, Delivery, Message, SlackServer, Streaming, Upload, User, refuse

CONTROLS = {dialect.VOTE: Controls.VOTE, dialect.RETRY: Controls.RETRY, dialect.STOP: Controls.STOP}
HOST = "127.0.0.1"


@dataclass
class SlackCommunity:
    """A workspace whose bot opens sockets."""

    server: SlackServer = field(default_factory=SlackServer)
    help: str = mrkdwn(messages.help_text(messages.SLACK_FORMS))
    hides_answers: bool = True
    reads_direct: bool = True
    tells_alone: bool = True
    refusal: str = "token_revoked"

    def __post_init__(self) -> None:
        """Let people in."""
        self.workspace = self.server.add_workspace()
        self.channel = self.server.add_channel(self.workspace)
        self.ada, self.bob = (self.server.add_member(self.workspace, name) for name in ("Ada", "Bob"))
        self.moderator = self.server.add_member(self.workspace, "Mod", is_admin=True)
        self.people = {"Ada": self.ada, "Bob": self.bob, "Mod": self.moderator}
        private = self.server.add_channel(self.workspace, "secret", private=True)
        direct = self.server.direct(self.workspace, self.ada)
        self.rooms: dict[Room | Abroad, Channel] = {Room.DIRECT: direct, Room.OWN: private}
        self._places: dict[str, Channel] = {}
        self._talk: Message | None = None
        self._earlier = 0

    def open(self) -> contextlib.AbstractAsyncContextManager[object]:
        """Run the platform while the block runs."""
        return self.server

    def settings(self) -> dict[str, str]:
        """Give the settings with which the bot is there."""
        return {
            "SLACK_BOT_TOKEN": self.workspace.token,
            "SLACK_APP_TOKEN": self.server.app_token,
            "SLACK_API_URL": self.server.api_url,
        }

    async def ready(self) -> None:
        """Wait for a connection of this process, and for the end of those of earlier ones."""
        arrivals = self.server.sockets.arrivals

        def is_heard() -> bool:
            return not any(one.open for one in arrivals[: self._earlier]) and any(
                one.open for one in arrivals[self._earlier :]
            )

        await self.until(is_heard, what="a connection")
        self._earlier = len(arrivals)

    async def until(self, is_true: Callable[[], object], *, what: str) -> None:
        """Return as soon as *is_true* says so."""
        await self.server.until(is_true, what=what, seconds=PATIENCE)

    def ask(
        self,
        text: str = "What is a robot?",
        *,
        by: str = "Ada",
        below: str | None = None,
        room: Room | Abroad = Room.CHANNEL,
    ) -> str:
        """Mention the bot, in a thread on what is below it."""
        root = self.server.post_as(self.bob, self.channel, _written(below)) if below else None
        place = self.rooms.get(room, self.channel)
        if room is Room.SHARED:
            self._talk = root = self._talk or self.server.post_as(self.bob, place, "Let us talk about robots.")
        posted = self.server.post_as(self.people[by], place, self._to_bot(text, place), root)
        self._places[posted.ts] = place
        return posted.ts

    def attach(self, *uploads: Upload, text: str = "", direct: bool = False) -> str:
        """Put them beside it."""
        place = self.rooms[Room.DIRECT] if direct else self.channel
        words = _written(text) if direct else self._to_bot(text)
        posted = self.server.upload_as(self.ada, place, *uploads, text=words)
        self._places[posted.ts] = place
        return posted.ts

    def forward(self, text: str, *uploads: Upload) -> str:
        """Forward it to direct messages."""
        place, said = self.rooms[Room.DIRECT], self.server.upload_as(self.bob, self.channel, *uploads, text=text)
        posted = self.server.forward_as(self.ada, place, said)
        self._places[posted.ts] = place
        return posted.ts

    def quoted(self, text: str) -> str:
        """Give it with a number in the place of a name, which does not come with what was said in a thread."""
        return f"person 1: {text}"

    def follow_up(self, asked: str, text: str, *, by: str = "Ada") -> str:
        """Write in the thread."""
        posted = self.server.post_as(self.people[by], self._place(asked), _written(text), self._message(asked))
        self._places[posted.ts] = self._place(asked)
        return posted.ts

    def address(self, asked: str, text: str, *, by: str = "Ada") -> None:
        """Mention it in the thread."""
        self.server.post_as(self.people[by], self._place(asked), self._to_bot(text), self._message(asked))

    def say(self, text: str, *, by: str = "Ada") -> str:
        """Write in the channel."""
        posted = self.server.post_as(self.people[by], self.channel, _written(text))
        self._places[posted.ts] = self.channel
        return posted.ts

    async def answer_unasked(self, *, on: bool = True) -> str:
        """Use the command in the channel."""
        text = f"admin auto-answer {'on' if on else 'off'} here"
        return await self._told(self.moderator, lambda: self.server.slash(self.moderator, self.channel, NAME, text))

    def chat(self, asked: str, text: str) -> None:
        """Write to Ada."""
        said = f"{self.server.mention(self.ada)} {_written(text)}"
        self.server.post_as(self.bob, self._place(asked), said, self._message(asked))

    def edit(self, asked: str, text: str) -> None:
        """Change the question, the mention included."""
        message = self._message(asked)
        self.server.edit_as(self._author(message), message, self._to_bot(text))

    def delete(self, asked: str) -> None:
        """Delete the question."""
        message = self._message(asked)
        self.server.delete_as(self._author(message), message)

    def delete_answer(self, asked: str, *, part: int = 0) -> None:
        """Delete it."""
        self.server.delete_as(self.moderator, self._of_bot(asked)[part])

    def repeat(self, asked: str) -> None:
        """Send both events of the mention again, as if nobody had acknowledged them."""
        self.server.outbox.repeat(*self._message(asked).deliveries)

    def tell_again(self, asked: str) -> None:
        """Send both events of the mention as for the first time: whoever has heard one of them knows no more of it."""
        self.server.outbox.deliver(*self._message(asked).deliveries)

    def said(self, asked: str) -> list[str]:
        """Read the thread."""
        return [message.shown for message in self._of_bot(asked)]

    def told(self, asked: str) -> list[str]:
        """Read what only the author sees."""
        message = self._message(asked)
        return [one.shown for one in self.server.messages(self._place(asked)) if one.seen_by == message.user_id]

    def has_thread(self, asked: str) -> bool:
        """Look for what the bot says below it."""
        return bool(self._of_bot(asked))

    def public(self) -> list[str]:
        """Read the channel."""
        said = self.server.messages(self.channel, by=self.workspace.bot)
        return [one.shown for one in said if one.root_ts == one.ts and not one.ephemeral]

    def everything(self) -> list[str]:
        """Read the channel."""
        return [one.shown for one in self.server.messages(self.channel, by=self.workspace.bot)]

    def warned(self, asked: str) -> bool:
        """Look at the reactions."""
        return "warning" in self._message(asked).reactions

    def unmark(self, asked: str) -> None:
        """Take all reactions away, of which nobody hears."""
        self._message(asked).reactions.clear()

    def is_limited(self, asked: str) -> bool:
        """Look at the reactions."""
        return "hourglass_flowing_sand" in self._message(asked).reactions

    def unwarned(self) -> int:
        """Count the requests."""
        return len(self.server.requests_to("reactions.remove"))

    def signs(self) -> list[str]:
        """Look for words about waiting, and at what is shown in the place of an answer."""
        platform = self.server.platform
        said = [one.text for one in platform.messages.values() if not one.deleted]
        working = [session.status for session in platform.sessions.values() if session.status != "active"]
        return [*(text for text in said if text.startswith(messages.BUSY)), *working]

    def controls(self, asked: str) -> Controls:
        """Look at the newest message: Slack itself offers to stop one that is being written."""
        newest = self._of_bot(asked)[-1:]
        if any(_is_written(message) for message in newest):
            return Controls.STOP
        return next((CONTROLS[name] for message in newest for name in message.action_ids), Controls.NONE)

    async def press(self, asked: str, *, by: str = "Ada") -> str:
        """Press the first button, or Slack's own that stops what is written."""
        message = self._of_bot(asked)[-1]
        if _is_written(message):
            await self.server.stop(self.people[by], message).acknowledged()
            return ""
        name = message.action_ids[0]
        if CONTROLS[name] is Controls.VOTE:
            return await self._told(self.people[by], lambda: self.server.press(self.people[by], message, name))
        await self.server.press(self.people[by], message, name).acknowledged()
        return ""

    async def command(self, name: str, *, at: str | None = None, moderates: bool = False, **options: Any) -> str:
        """Use the command, or in a thread what stands for it there."""
        who = self.moderator if moderates else self.ada
        if at is None or name == "ask":
            text = _written(self.typed(name, moderates=moderates, **options).removeprefix(f"{NAME} "))
            return await self._told(who, lambda: self.server.slash(who, self.channel, NAME, text))
        root = self._message(at)
        if name == "sources":
            return await self._told(who, lambda: self.server.shortcut(who, self.channel, root, SHOW_SOURCES))
        return await self._told(
            who, lambda: self.server.post_as(who, self.channel, self._to_bot(name), root).deliveries[0]
        )

    async def forget_bob(self) -> str:
        """Use the command."""
        return await self._told(self.bob, lambda: self.server.slash(self.bob, self.channel, NAME, "forget me"))

    def typed(self, name: str, *, moderates: bool = False, **options: Any) -> str:
        """Give the command with its text."""
        words = [NAME, *(["admin"] if moderates else []), name, *(["--private"] if options.get("private") else [])]
        given = {option: value for option, value in options.items() if option != "private"}
        return " ".join([*words, *(option if value is True else str(value) for option, value in given.items())])

    async def ask_from(self, text: str, question: str, *, by: str = "Ada", room: Abroad | None = None) -> str:
        """Use the message's menu, and fill in the form."""
        who, place = self.people[by], self.rooms[room] if room else self.channel
        message = self.server.post_as(who if room else self.bob, place, _written(text))
        await self.server.shortcut(who, place, message, ANSWER_FROM).acknowledged()
        await self.until(lambda: self.server.view_of(who), what="a form")
        form = self.server.view_of(who)
        assert form is not None
        return await self._told(who, lambda: self.server.submit(who, form, {QUESTION: question}), place)

    def alerts(self) -> list[str]:
        """Read the direct messages of the one admin."""
        place = self.server.direct(self.workspace, self.moderator)
        return [one.shown for one in self.server.messages(place, by=self.workspace.bot)]

    def refuse(self, *, the_token: bool) -> None:
        """Refuse every call."""
        if the_token:
            self.server.faults.break_("*", refuse(self.refusal))
        else:
            self.server.faults.mend()

    def refused(self) -> int:
        """Look at the calls."""
        return len(self.server.faults.met)

    def remove(self, asked: str) -> None:
        """Archive the channel; a thread cannot be closed by itself."""
        self.channel.is_archived = True

    def shut_out(self) -> None:
        """Take the bot out of the channel."""
        self.server.remove_bot(self.channel, self.workspace)

    def hide_history(self) -> None:
        """Refuse what reads it."""
        for method in ("conversations.history", "conversations.replies"):
            self.server.faults.break_(method, refuse("missing_scope"))

    def expel(self) -> None:
        """Remove the app from the workspace."""
        self.server.uninstall(self.workspace)

    async def _told(self, who: User, act: Callable[[], Delivery], place: Channel | None = None) -> str:
        """Act, and wait for what the bot then says to that person alone, beside that it is looking for an answer."""
        before = set(self._alone(who, place))

        def new() -> list[str]:
            said = [message.shown for message in self._alone(who, place) if message not in before]
            return [text for text in said if text != messages.LOOKING]

        await act().acknowledged()
        await self.until(new, what="a reply")
        return "\n".join(new())

    def _alone(self, who: User, place: Channel | None = None) -> list[Message]:
        return [one for one in self.server.messages(place or self.channel) if one.seen_by == who.id]

    def _to_bot(self, text: str, place: Channel | None = None) -> str:
        return f"{self.server.mention(self._bot_in(place or self.channel))} {_written(text)}"

    def _bot_in(self, place: Channel) -> User:
        return self.server.platform.workspaces[place.team_id].bot

    def _place(self, asked: str) -> Channel:
        return self._places.get(asked, self.channel)

    def _message(self, asked: str) -> Message:
        return self.server.platform.messages[self._place(asked).id, asked]

    def _author(self, message: Message) -> User:
        return self.server.platform.users[message.user_id]

    def _of_bot(self, asked: str) -> list[Message]:
        thread = self._message(asked).root_ts
        found = self.server.messages(self._place(asked), by=self._bot_in(self._place(asked)), thread_ts=thread)
        return [one for one in found if not one.ephemeral]


@dataclass
class SlackOverHttp(SlackCommunity):
    """The same, where Slack sends signed requests to an address of the bot's."""

    def __post_init__(self) -> None:
        """Choose a port."""
        super().__post_init__()
        with socket.create_server((HOST, 0)) as chosen:
            self.url = f"http://{HOST}:{chosen.getsockname()[1]}"

    def settings(self) -> dict[str, str]:
        """Give a secret in the place of the token for sockets."""
        others = {name: value for name, value in super().settings().items() if name != "SLACK_APP_TOKEN"}
        port = self.url.rpartition(":")[2]
        return {**others, "SLACK_SIGNING_SECRET": self.server.signing_secret, "HOST": HOST, "PORT": port}

    async def ready(self) -> None:
        """Wait for a sign of life, and send requests there."""
        async with ClientSession() as session, asyncio.timeout(PATIENCE):
            while not await _is_alive(session, f"{self.url}/live"):  # noqa: ASYNC110 - what begins tells nobody here
                await asyncio.sleep(0.005)
        self.server.deliver_to(f"{self.url}{PATH}")


async def _is_alive(session: ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as response:
            return response.ok
    except (ClientError, OSError):
        return False


def _is_written(message: Message) -> bool:
    """Say whether a message is a stream that still grows."""
    return message.stream is not None and message.stream.state is Streaming.OPEN


def _written(text: str) -> str:
    """Give words as Slack's own editor sends them."""
    return html.escape(text, quote=False)
