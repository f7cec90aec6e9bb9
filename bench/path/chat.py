"""A journey on a chat platform: the bot works as its operator starts it, and somebody beside it asks and asks on."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from bench.path.commands import CommandCounter, Spent
from bench.path.tracer import Tracer
from bot.app import run_bot
from core.events import Event, Passed, Step
from tests.end_to_end.community import Community
from tests.end_to_end.on_discord import DiscordCommunity
from tests.end_to_end.on_slack import SlackCommunity
from tests.servers.openai import KEY, ChatServer
from tests.servers.valkey import alone

COMMUNITIES: dict[str, Callable[[], Community]] = {"discord": DiscordCommunity, "slack": SlackCommunity}
QUESTIONS = ("What do penguins eat?", *("And what do they build nests of?", "And what of their nests?") * 2)
ANSWER = "Adelie penguins build their nests out of small stones, which they also steal from their neighbours [1]."
PACE = 0.05  # seconds between two pieces of a stream, so that an answer is shown while it is written
SECRET = "a secret that is long enough for a benchmark"
PATIENCE = 60.0  # seconds for each answer
QUIET = 1.0  # seconds after an answer, in which the bot does what nobody waits for


class Journey:
    """People, the platform and the model, in a thread beside the bot."""

    def __init__(self, community: Community, tracer: Tracer | CommandCounter) -> None:
        self._community = community
        self._tracer = tracer
        self._settings: Future[dict[str, str]] = Future()
        self._settled: list[Future[None]] = [Future() for _ in QUESTIONS]
        self._stopped: Future[None] = Future()
        self._failure: BaseException | None = None

    @contextmanager
    def beside(self) -> Generator[dict[str, str]]:
        """Let people act while the block runs; yield the settings with which the bot finds everybody.

        Raises what went wrong with them.
        """
        thread = Thread(target=self._run, daemon=True)
        thread.start()
        try:
            yield self._settings.result()
        finally:
            self._stopped.set_result(None)
            thread.join()
        if self._failure is not None:
            raise self._failure

    def hear(self, event: Event) -> None:
        """Note the end of the work on a question; what comes after it the tracer leaves out."""
        if isinstance(event, Passed) and event.step is Step.SETTLED:
            settled = next(future for future in self._settled if not future.done())
            if settled is not self._settled[0]:
                self._tracer.end()
            settled.set_result(None)

    def _run(self) -> None:
        self._tracer.leave_out()
        try:
            asyncio.run(self._people())
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread of the bot
            self._failure = error
            if not self._settings.done():
                self._settings.set_exception(error)
            self._stop_the_bot()

    def _stop_the_bot(self) -> None:
        if not self._stopped.done():
            os.kill(os.getpid(), signal.SIGTERM)

    async def _people(self) -> None:
        async with self._community.open(), ChatServer() as chat:
            chat.pace = PACE
            model = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": chat.base_url}
            self._settings.set_result(self._community.settings() | model)
            await self._community.ready()
            asked = await self._ask(chat, 0, self._community.ask)
            for number in range(1, len(QUESTIONS)):
                await asyncio.sleep(QUIET)
                self._tracer.begin()
                await self._ask(chat, number, lambda text: self._community.follow_up(asked, text))
            self._stop_the_bot()
            await asyncio.wrap_future(self._stopped)

    async def _ask(self, chat: ChatServer, number: int, ask: Callable[[str], str]) -> str:
        chat.say(*(f"{word} " for word in ANSWER.split()))
        asked = ask(QUESTIONS[number])
        async with asyncio.timeout(PATIENCE):
            await asyncio.wrap_future(self._settled[number])
        return asked


def journey(platform: str, tracer: Tracer | CommandCounter, **more: str) -> None:
    """Trace what the bot does for each question but the first."""
    talk = Journey(COMMUNITIES[platform](), tracer)
    with talk.beside() as settings:
        os.environ.update(settings, **more)
        with tracer.installed():
            run_bot((), observer=talk.hear)


def spent(platform: str, data: str, folder: str) -> Spent:
    """Return what a server of Redis, with its files in a *folder*, does for the question that costs it least."""
    os.environ["FOOTNOTE_DATA_DIR"] = data
    with alone(Path(folder)) as node:
        counter = CommandCounter(node)
        journey(platform, counter, REDIS_URL=f"redis://{node.host}/0", FOOTNOTE_SECRET_KEY=SECRET)
    return counter.spent()
