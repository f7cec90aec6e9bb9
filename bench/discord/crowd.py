"""Discord and the people who ask, in a process of its own: the tests' server with the limits that the platform has."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection

from bench.chat.load import BEGINS, ENDS, QUESTIONS, Asked, Asking, Outcome
from core.messages import NO_CONTEXT
from tests.servers.discord import Channel, DiscordServer, Guild, Interaction, Message, User

CHANNELS = 40
THREADS = (50, 300.0)  # that may be opened in one channel, in so many seconds; the platform names no figure
PATIENCE = 90.0  # seconds for the last answers
AFTERWARDS = 3.0  # seconds in which an answer could still come a second time
LOOK = 0.1


class Commands(Asking):
    """The same, asked by a command instead of a mention."""


class Crowd:
    """A guild with some channels, in which each question is asked by somebody else."""

    def __init__(self, server: DiscordServer) -> None:
        self._server = server
        self._guild: Guild = server.add_guild()
        self._channels = [server.add_channel(self._guild, f"questions-{number}") for number in range(CHANNELS)]

    async def ask(self, asking: Asking) -> Outcome:
        """Ask as often as it says, and wait until everything is answered."""
        people = [self._server.add_member(self._guild, f"Ada {number}") for number in range(asking.count)]
        by_command = isinstance(asking, Commands)
        before, refused = len(self._server.requests), len(self._server.limits.refused)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        put = list[Question]()
        for place, person in enumerate(people):
            if asking.rate is not None:
                await asyncio.sleep(max(begun + place / asking.rate - loop.time(), 0))
            put.append(self._put(asking.first + place, person, by_command=by_command))
        await self._answered(put)
        seconds = loop.time() - begun
        await asyncio.sleep(AFTERWARDS)
        return Outcome(
            tuple(one.asked() for one in put),
            seconds,
            dict(Counter(handled.route for handled in self._server.requests[before:])),
            dict(Counter(limited.route for limited in self._server.limits.refused[refused:])),
            acknowledging="interaction until it is deferred" if by_command else "",
            unacknowledged=sum(not one.asked().acknowledged for one in put) if by_command else 0,
        )

    async def _answered(self, put: list[Question]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while put := [one for one in put if not one.asked().is_answered]:  # noqa: ASYNC110 - each event would be too often
                    await asyncio.sleep(LOOK)

    def _put(self, number: int, person: User, *, by_command: bool) -> Question:
        text = f"{QUESTIONS[number % len(QUESTIONS)]} (no. {number})"
        channel = self._channels[number % len(self._channels)]
        at = self._server.clock.time()
        if by_command:
            used = self._server.slash(person, channel, "ask", question=text)
            return Question(self._server, number, at, used)
        return Question(self._server, number, at, self._server.post_as(person, channel, text, mentions=[self._bot]))

    @property
    def _bot(self) -> User:
        return self._server.bot


class Question:
    """A question that was put, and what stands below it."""

    def __init__(self, server: DiscordServer, number: int, at: float, put: Message | Interaction) -> None:
        self._server = server
        self._number = number
        self._at = at
        self._put = put

    def asked(self) -> Asked:
        """Say what came of it so far."""
        said = list(self._said())
        states = [state for message in said for state in _states(message)]
        shown = sorted(at for at, text in states if text)
        ends = ENDS.format(self._number)
        text = "\n".join(message.content for message in said)
        found = Asked(
            number=self._number,
            message=str(self._message or 0),
            at=self._at,
            first=shown[0] if shown else None,
            last=min((at for at, text in states if ends in text), default=None),
            begins=text.count(BEGINS.format(self._number)),
            ends=text.count(ends),
            not_found=text.count(NO_CONTEXT),
        )
        match self._put:
            case Interaction(acknowledged=acknowledged) if acknowledged is not None:
                return replace(found, acknowledged=(acknowledged.at.timestamp(),))
            case _:
                return found

    @property
    def _message(self) -> int | None:
        match self._put:
            case Message(id=found):
                return found
            case Interaction(original_id=found):
                return found

    def _said(self) -> list[Message]:
        """Give what the bot said: in the thread, in answer to the question, or by the command."""
        platform = self._server.platform
        thread = platform.channels.get(self._message or 0)
        place: Channel = platform.channels[self._put.channel_id]
        beside = [one for one in platform.messages_in(place) if self._is_answer(one)]
        return [*beside, *(platform.messages_in(thread, by=platform.bot) if thread else ())]

    def _is_answer(self, message: Message) -> bool:
        """Say whether it is of the answer; of the messages below a response, only the first says what it answers."""
        if message.author_id != self._server.bot.id:
            return False
        is_for_it = self._message in (message.id, (message.reference or (0, 0))[1])
        return is_for_it or ENDS.format(self._number) in message.content


def _states(message: Message) -> list[tuple[float, str]]:
    """Give every state of a message with its time."""
    if not message.edits:
        return [(message.at.timestamp(), message.content)]
    first = (message.at.timestamp(), "" if message.interaction_id else "…")
    return [first, *((edit.at.timestamp(), edit.content) for edit in message.edits)]


def serve(pipe: Connection) -> None:
    """Say where Discord is, then carry out each load that comes; until the pipe is closed."""
    asyncio.run(_serve(pipe))


async def _serve(pipe: Connection) -> None:
    async with DiscordServer() as server:
        server.limits.set("POST /channels/{channel}/messages/{message}/threads", *THREADS)
        crowd = Crowd(server)
        pipe.send((server.api_url, server.gateway_url, server.token))
        with suppress(EOFError, ConnectionError):
            while True:
                pipe.send(await crowd.ask(await asyncio.to_thread(pipe.recv)))
