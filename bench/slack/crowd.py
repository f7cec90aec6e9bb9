"""Slack and the people who ask, in a process of its own: the tests' server with the limits that the platform has."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection

from bench.chat.load import QUESTIONS, Outcome
from bench.slack.load import RATES, WORKSPACES, App, Installed, Ladder, Steady, Step
from bench.slack.question import Question
from tests.servers.slack import SlackServer, Workspace

CHANNELS = 4  # in each workspace
PEOPLE = 20  # in each workspace
PATIENCE = 90.0  # seconds for the last answers
AFTERWARDS = 3.0  # seconds in which an answer could still come a second time
LOOK = 0.1
LEFT = "answers that still seem to be written when they are there"


class Team:
    """A workspace with some people and some channels, in which everybody asks in turn."""

    def __init__(self, server: SlackServer, name: str) -> None:
        self._server = server
        self.workspace: Workspace = server.add_workspace(name)
        self._people = [server.add_member(self.workspace, f"ada {number}") for number in range(PEOPLE)]
        self._channels = [server.add_channel(self.workspace, f"questions-{number}") for number in range(CHANNELS)]
        self._turn = 0

    @property
    def installed(self) -> Installed:
        """The bot in it."""
        bot = self.workspace
        return Installed(bot.team_id, bot.token, bot.bot_id, bot.bot.id)

    @property
    def places(self) -> set[str]:
        """The ids by which the platform counts calls."""
        return {self.workspace.team_id, *(channel.id for channel in self._channels)}

    def ask(self, number: int) -> Question:
        """Let the next one ask, in the next channel."""
        turn, self._turn = self._turn, self._turn + 1
        person, channel = self._people[turn % PEOPLE], self._channels[turn % CHANNELS]
        bot = self.workspace.bot
        text = f"{self._server.mention(bot)} {QUESTIONS[number % len(QUESTIONS)]} (no. {number})"
        return Question(self._server, number, self._server.post_as(person, channel, text), bot)


class Crowd:
    """The workspaces: those that all ask the same, and one for each rate of the ladder."""

    def __init__(self, server: SlackServer) -> None:
        self._server = server
        self._teams = [Team(server, f"Robots {number}") for number in range(WORKSPACES)]
        self._rungs = [Team(server, f"Robots at {rate}") for rate in RATES]

    @property
    def app(self) -> App:
        """What the bot has to know."""
        server = self._server
        return App(
            api=server.api_url,
            app_id=server.app_id,
            app_token=server.app_token,
            client_id=server.client_id,
            client_secret=server.client_secret,
            signing_secret=server.signing_secret,
            installed=tuple(team.installed for team in (*self._teams, *self._rungs)),
        )

    async def carry_out(self, load: Steady | Ladder) -> Outcome | tuple[Step, ...]:
        """Ask as often as it says, and wait until everything is answered."""
        self._server.deliver_to(load.url)
        match load:
            case Steady():
                return await self._ask(load)
            case Ladder():
                return await self._climb(load)

    async def _ask(self, load: Steady) -> Outcome:
        every = 1 / load.rate if load.rate else 0.0
        due = [(place * every, self._teams[place % WORKSPACES], load.first + place) for place in range(load.count)]
        before, begun = self._seen(), self._server.clock.time()
        questions = await self._put(due)
        return self._outcome([one for _, one in questions], before, begun, self._teams)

    async def _climb(self, load: Ladder) -> tuple[Step, ...]:
        numbers = iter(range(load.first, load.first + sum(load.counts)))
        due = [
            (place * 60 / rate, rung, next(numbers))
            for rate, rung, count in zip(RATES, self._rungs, load.counts, strict=True)
            for place in range(count)
        ]
        before, begun = self._seen(), self._server.clock.time()
        questions = await self._put(sorted(due, key=lambda each: each[0]))
        return tuple(
            Step(rate, self._outcome([one for team, one in questions if team is rung], before, begun, [rung]))
            for rate, rung in zip(RATES, self._rungs, strict=True)
        )

    async def _put(self, due: Sequence[tuple[float, Team, int]]) -> list[tuple[Team, Question]]:
        """Put each question when it is due, and wait for the answers."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        put = list[tuple[Team, Question]]()
        for at, team, number in due:
            await asyncio.sleep(max(begun + at - loop.time(), 0))
            put.append((team, team.ask(number)))
        await _answered([one for _, one in put])
        await asyncio.sleep(AFTERWARDS)
        return put

    def _seen(self) -> tuple[int, int]:
        return len(self._server.requests), len(self._server.limits.refused)

    def _outcome(
        self, questions: Sequence[Question], before: tuple[int, int], begun: float, teams: Sequence[Team]
    ) -> Outcome:
        asked = tuple(one.asked() for one in questions)
        bots = {team.workspace.bot.id for team in teams}
        places = {place for team in teams for place in team.places}
        requests, refused = self._server.requests[before[0] :], self._server.limits.refused[before[1] :]
        ways = Counter(one.way for one in asked)
        return Outcome(
            asked,
            max((one.last for one in asked if one.last), default=begun) - begun,
            dict(Counter(handled.method for handled in requests if handled.bot in bots)),
            dict(Counter(limited.method for limited in refused if limited.place in places)),
            acknowledging="event until it is acknowledged",
            unacknowledged=sum(one.unacknowledged for one in questions),
            more=(
                ("how answers were shown", "; ".join(f"{way}: {count}" for way, count in ways.items())),
                (LEFT, str(sum(one.is_left_at_work for one in questions))),
            ),
        )


async def _answered(put: Sequence[Question]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while put := [one for one in put if not one.asked().is_answered]:  # noqa: ASYNC110 - each event would be too often
                await asyncio.sleep(LOOK)


def serve(pipe: Connection) -> None:
    """Say what the bot has to know, then carry out each load that comes; until the pipe is closed."""
    asyncio.run(_serve(pipe))


async def _serve(pipe: Connection) -> None:
    async with SlackServer() as server:
        server.limits.on = True
        crowd = Crowd(server)
        pipe.send(crowd.app)
        with suppress(EOFError, ConnectionError):
            while True:
                pipe.send(await crowd.carry_out(await asyncio.to_thread(pipe.recv)))
