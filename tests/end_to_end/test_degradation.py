"""What the reader sees while services are down, and that everything works again once they are back."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.wiring import App, RetryTiming, assemble
from core.events import Event, State, StateChanged, ToolCalled
from core.messages import FAILED, LEXICAL_ONLY, UNAVAILABLE
from core.model import Answer, Claim, Document, Reaction, Status
from tests.builders import question, thread
from tests.fakes.documents import ListSource
from tests.fakes.surface import RecordingSurface, streamed
from tests.fixtures.commands import LIGHTHOUSES, PENGUINS
from tests.servers.openai import Cut
from tests.servers.world import World, everything

QUICK = RetryTiming(retry_wait=0.001)
ASKED = "Which stones do penguins build nests of?"
QUOTE = "Adelie penguins build nests out of small stones"
ZOO = ListSource(
    "zoo",
    [
        Document(source="zoo", url="https://zoo.example/penguins", title="Penguins", text=PENGUINS),
        Document(source="zoo", url="https://zoo.example/lighthouses", title="Lighthouses", text=LIGHTHOUSES),
    ],
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a reader has before their eyes at the end."""

    status: Status
    warned: bool
    says: str
    remembered: bool = True


FINE = Seen(Status.ANSWERED, warned=False, says=QUOTE)
BY_WORDS = Seen(Status.ANSWERED, warned=True, says=LEXICAL_ONLY)
UNSEARCHABLE = Seen(Status.UNAVAILABLE, warned=True, says=UNAVAILABLE, remembered=False)
APOLOGY = Seen(Status.FAILED, warned=True, says=FAILED, remembered=False)
FORGOTTEN = Seen(Status.ANSWERED, warned=False, says=QUOTE, remembered=False)
FORGOTTEN_BY_WORDS = Seen(Status.ANSWERED, warned=True, says=LEXICAL_ONLY, remembered=False)

DOWN_BEFORE = {
    ("qdrant",): UNSEARCHABLE,
    ("cohere",): BY_WORDS,
    ("chat",): APOLOGY,
    ("redis",): FORGOTTEN,
    ("qdrant", "cohere"): UNSEARCHABLE,
    ("qdrant", "chat"): UNSEARCHABLE,
    ("qdrant", "redis"): UNSEARCHABLE,
    ("cohere", "chat"): APOLOGY,
    ("cohere", "redis"): FORGOTTEN_BY_WORDS,
    ("chat", "redis"): APOLOGY,
}

MOMENTS = {"qdrant": State.RETRIEVING, "cohere": State.RETRIEVING, "redis": State.GENERATING, "chat": ToolCalled}


@dataclass(slots=True)
class Desk:
    """A product over all services, where people ask; at a moment of the next question, services may fall."""

    world: World
    app: App
    doomed: set[str]
    ids: itertools.count[int] = field(default_factory=itertools.count)

    async def ask(self, text: str = ASKED) -> tuple[Answer, Seen]:
        """Ask in the one thread, and say what can be seen there."""
        asked = question(text, id=f"m{next(self.ids)}")
        surface = RecordingSurface()
        answer = await self.app.responder.respond(Claim(asked), surface)
        if answer.status is not Status.ANSWERED:
            assert streamed(surface.shown) == "", "half an answer stayed"
        assert self.app.conversations is not None
        warned = surface.reactions == [(asked.message, Reaction.WARNING)]
        assert warned or not surface.reactions
        return answer, Seen(answer.status, warned, answer.text)

    async def remembered(self) -> int:
        """Count the turns that were kept."""
        assert self.app.conversations is not None
        return len((await self.app.conversations.load(thread())).turns)


@asynccontextmanager
async def open_desk(folder: Path, **changes: Any) -> AsyncGenerator[Desk]:
    """Open the product over services that hold two pages, with *changes* of the settings."""
    async with everything(folder / "services") as world:
        doomed: set[str] = set()

        def observe(event: Event) -> None:
            moment = event.state if isinstance(event, StateChanged) else type(event)
            now = {name for name in doomed if MOMENTS[name] == moment}
            doomed.difference_update(now)
            world.fall(*now)

        settings = world.settings(folder / "data").model_copy(update=changes)
        async with assemble(settings, memory=True, observer=observe, timing=QUICK) as app:
            steps = [step async for step in app.ingestion.run(ZOO)]
            assert len(steps) == 3
            yield Desk(world, app, doomed)


def check(seen: Seen, expected: Seen) -> None:
    """Compare all but the memory, which is looked at later."""
    assert (seen.status, seen.warned) == (expected.status, expected.warned)
    assert expected.says in seen.says


def each(table: dict[tuple[str, ...], Seen]) -> pytest.MarkDecorator:
    """Run a test for each line of a table."""
    return pytest.mark.parametrize(("names", "expected"), table.items(), ids=map("+".join, table))


@pytest.mark.promise("degradation")
@each(DOWN_BEFORE)
async def test_services_that_are_down_before_the_question(
    tmp_path: Path, names: tuple[str, ...], expected: Seen
) -> None:
    """The reader sees what the table says, and once everything is back, the next question is answered."""
    async with open_desk(tmp_path) as desk:
        await desk.world.down(*names)
        _, seen = await desk.ask()
        check(seen, expected)

        await desk.world.up()
        assert await desk.remembered() == int(expected.remembered)
        _, seen = await desk.ask()
        check(seen, FINE)
        assert await desk.remembered() == 1 + int(expected.remembered)


@pytest.mark.promise("degradation")
@each(DOWN_BEFORE)
async def test_services_that_fall_while_the_question_is_answered(
    tmp_path: Path, names: tuple[str, ...], expected: Seen
) -> None:
    """The model between search and answer, the search when it begins, the store between reading and writing."""
    async with open_desk(tmp_path) as desk:
        desk.doomed.update(names)
        _, seen = await desk.ask()
        check(seen, expected)

        desk.doomed.clear()
        await desk.world.up()
        assert await desk.remembered() == int(expected.remembered)
        _, seen = await desk.ask()
        check(seen, FINE)


@pytest.mark.promise("degradation")
async def test_a_stream_that_always_breaks_leaves_an_apology_and_nothing_else(tmp_path: Path) -> None:
    """Half an answer was shown and is taken back, each time."""
    async with open_desk(tmp_path) as desk:
        for _ in range(3):
            desk.world.chat.say("Penguins build ", "nests", then=Cut())

        _, seen = await desk.ask()
        check(seen, APOLOGY)

        _, seen = await desk.ask()
        check(seen, FINE)


@pytest.mark.promise("degradation")
async def test_a_stream_that_breaks_once_is_written_anew(tmp_path: Path) -> None:
    """The reader gets the whole answer, without a warning."""
    async with open_desk(tmp_path) as desk:
        desk.world.chat.say("Penguins build [1] ", "nests", then=Cut())

        _, seen = await desk.ask()

        check(seen, FINE)
