"""A process dies at every step of a question, and people see one whole answer each time."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.faults.audit import Ending
from tests.faults.kinds import WORKED, hang_and_kill, stop_at
from tests.faults.points import ACCEPTING, COMMANDED, LISTENING, MENTIONED
from tests.faults.rig import LISTENERS, Rig, rig
from tests.portion import by_turns

BEGUN = ("step taken", "state generating", "step edited", "step shown", "step recorded")
FROZEN = ("step posting", "tokens used")


@pytest.mark.timeout(300)
@pytest.mark.promise("crash-safe")
@pytest.mark.promise("asked-once")
@pytest.mark.promise("in-order")
async def test_whatever_dies_at_whatever_step_every_question_is_answered_once(tmp_path: Path) -> None:
    """Processes die while other questions are under way, and the store and the model break too."""
    async with rig(tmp_path) as running:
        await kill_listeners(running)
        await kill_workers(running)
        unheard = await kill_behind_commands(running)
        await freeze_workers(running)
        await running.settled()
        excused = running.ended(Ending.EXCUSED)
        asked = await break_services(running)
        await running.settled()

        assert {one["point"] for one in running.host.tells("met")} == {*LISTENING, *WORKED}
        assert await running.wrongs() == []
        assert excused == []
        assert running.ended(Ending.UNHEARD) == unheard
        assert set(running.ended(Ending.EXCUSED)) <= asked


async def kill_listeners(rig: Rig) -> None:
    """Between the platform and the inbox, a process that comes back is told again, or looks for itself."""
    for point, platform in product(MENTIONED, LISTENERS):
        await stop_at(rig, point, rig.ask(platform))


async def kill_workers(rig: Rig) -> None:
    """Each time another question waits in the same thread, or the answer opens a thread of its own."""
    for at, (point, platform) in enumerate(by_turns(WORKED, LISTENERS)):
        await rig.patience()
        place = f"people at {point}" if at % 4 in (0, 3) else ""
        await stop_at(rig, point, rig.ask(platform, place))
        if place:
            rig.ask(platform, place)


async def kill_behind_commands(rig: Rig) -> list[int]:
    """A question that a command asks is accepted before anybody works on it, and its answer has to come.

    A command that is used while nobody listens never reaches the bot, which people are told by the platform. So they
    are where one is accepted and not acknowledged; Slack's is answered all the same. Give those of Discord.
    """
    unheard: list[int] = []
    for point, platform in [*product(COMMANDED, LISTENERS), *by_turns(BEGUN, LISTENERS)]:
        await rig.patience()
        asked = rig.command(platform)
        await stop_at(rig, point, asked)
        if (point, platform) == (ACCEPTING[0], "discord"):
            unheard.append(asked.number)
        if point in LISTENING:
            await rig.settled()
            await rig.ready()
    return unheard


async def freeze_workers(rig: Rig) -> None:
    """A worker that was frozen for longer than its lease goes on where it was, and may not do anything any more."""
    for point, platform in zip(FROZEN, LISTENERS, strict=True):
        await rig.patience()
        await stop_at(rig, point, rig.ask(platform), freeze=True)


async def break_services(rig: Rig) -> set[int]:
    """The store crashes, and a worker dies over a model that writes no more; give what was asked when it did.

    Whoever asks while there is no store may be told so, where the platform does not ask again.
    """
    asked = [rig.ask(platform) for platform in LISTENERS]
    await rig.store.crash()
    await hang_and_kill(rig, rig.ask("slack"))
    return {one.number for one in asked}
