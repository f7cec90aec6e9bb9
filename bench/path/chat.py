"""A journey on a chat platform: the bot works as its operator starts it, and somebody beside it asks and asks on.

People ask in three ways: with a mention, on which a thread is opened, by a command, and by writing on in a thread.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TypeVar

from bench.path.commands import CommandCounter, Spent
from bench.path.tracer import Tracer
from bot.app import run_bot
from core.events import Event, Passed, Step
from tests.end_to_end.community import Community
from tests.end_to_end.on_discord import DiscordCommunity
from tests.end_to_end.on_slack import SlackCommunity
from tests.servers.openai import KEY, ChatServer
from tests.servers.valkey import alone

T = TypeVar("T")

COMMUNITIES: dict[str, Callable[[], Community]] = {"discord": DiscordCommunity, "slack": SlackCommunity}
OPENING = "What do penguins eat?"
ON = ("And what do they build nests of?", "And what of their nests?") * 2
FOLLOW_UPS = [("follow-up", text) for text in ON]
WAYS = [*(("mention", text) for text in ON[2:]), *(("command", text) for text in ON[2:]), *FOLLOW_UPS]
"""How somebody asks, and what, in all ways; less often than may be asked in a minute."""
ANSWER = "Adelie penguins build their nests out of small stones, which they also steal from their neighbours [1]."
PACE = 0.05  # seconds between two pieces of a stream, so that an answer is shown while it is written
SECRET = "a secret that is long enough for a benchmark"
PATIENCE = 60.0  # seconds for each answer
QUIET = 1.0  # seconds after an answer, in which the bot does what nobody waits for


class Journey:
    """People, the platform and the model, in a thread beside the bot; what is asked *on* is traced."""

    def __init__(
        self, community: Community, tracer: Tracer | CommandCounter, on: Sequence[tuple[str, str]] = FOLLOW_UPS
    ) -> None:
        self._community = community
        self._tracer = tracer
        self._on = on
        self._settings: Future[dict[str, str]] = Future()
        self._settled: list[Future[None]] = [Future() for _ in (OPENING, *on)]
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
            asked = await self._ask(chat, 0, partial(self._community.ask, OPENING))
            for number, (way, text) in enumerate(self._on, 1):
                await asyncio.sleep(QUIET)
                self._tracer.begin(way)
                match way:
                    case "mention":
                        await self._ask(chat, number, partial(self._community.ask, text))
                    case "command":
                        (await self._ask(chat, number, partial(self._use, text))).cancel()
                    case _:
                        await self._ask(chat, number, partial(self._community.follow_up, asked, text))
            self._stop_the_bot()
            await asyncio.wrap_future(self._stopped)

    def _use(self, text: str) -> asyncio.Task[str]:
        return asyncio.create_task(self._community.command("ask", question=text))

    async def _ask(self, chat: ChatServer, number: int, ask: Callable[[], T]) -> T:
        chat.say(*(f"{word} " for word in ANSWER.split()))
        asked = ask()
        async with asyncio.timeout(PATIENCE):
            await asyncio.wrap_future(self._settled[number])
        return asked


def journey(
    platform: str,
    tracer: Tracer | CommandCounter,
    on: Sequence[tuple[str, str]] = FOLLOW_UPS,
    **more: str,
) -> None:
    """Trace what the bot does for each question that is asked *on*."""
    talk = Journey(COMMUNITIES[platform](), tracer, on)
    with talk.beside() as settings:
        os.environ.update(settings, **more)
        with tracer.installed():
            run_bot((), observer=talk.hear)


def spent(platform: str, data: str, folder: str) -> Mapping[str, Spent]:
    """Return what a server of Redis, with its files in a *folder*, does for the cheapest question of each way."""
    os.environ["FOOTNOTE_DATA_DIR"] = data
    with alone(Path(folder)) as node:
        counter = CommandCounter(node)
        journey(platform, counter, WAYS, REDIS_URL=f"redis://{node.host}/0", FOOTNOTE_SECRET_KEY=SECRET)
    return counter.spent()
