"""The kinds of faults: what each one breaks, and that it is whole again when it is over."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from tests.faults.community import Asked
from tests.faults.points import COMMANDED, LISTENING, MENTIONED, POINTS
from tests.faults.rig import LEASE, LISTENERS, WORKERS, Rig
from tests.faults.store import Lone
from tests.servers.faults import EVERY, Lost
from tests.servers.openai import Cut, Stall
from tests.servers.service import Reply, Reset

Fault: TypeAlias = Callable[[Rig, random.Random], Awaitable[None]]

WORKED = tuple(point for point in POINTS if point not in LISTENING)
PATIENCE = 30.0  # seconds for a process to come to where it is stopped
BY_COMMAND, IN_THE_CHANNEL, SLOWLY = 0.2, 0.6, 0.1  # of all questions, of those by a mention, and of all answers
UNWRITTEN = {"always": 0.0, "everysec": 1.0, "no": 3.0}  # seconds that are lost without power; with "no", rather 30
SKIPPED = 20.0  # seconds for which a worker may skip what failed again and again, once more at its next try
AWAY = (0.3, 1.5)  # seconds that a service is not there
ACCEPTED = {
    "discord": (
        "POST /channels/{channel}/messages",
        "PATCH /channels/{channel}/messages/{message}",
        "POST /interactions/{interaction}/{token}/callback",
    ),
    "slack": ("chat.startStream", "chat.postMessage", "chat.stopStream"),
}
"""What platforms carry out without anybody hearing of it."""
UNHEARD = (Lost(), Lost(Reply(502, {"message": "bad gateway"})))


class Unmet(Exception):
    """What was to be broken was not there: other faults had come first."""


async def stop_at(rig: Rig, point: str, asked: Asked, *, freeze: bool = False) -> None:
    """Stop the process that comes to a point with a question, which has just been asked, and wait for that."""
    order = rig.order(point, asked, freeze=freeze)
    try:
        async with asyncio.timeout(PATIENCE):
            await rig.host.until(lambda: rig.host.tells("met", order=order.name))
    except TimeoutError as error:
        raise Unmet(point) from error
    finally:
        order.unlink(missing_ok=True)
    rig.record.hurt(asked.name)
    if freeze:
        [met] = rig.host.tells("met", order=order.name)
        await asyncio.sleep(LEASE * 1.5)
        rig.host.signal(str(met["name"]), signal.SIGCONT)


async def killed_at_a_step(rig: Rig, chance: random.Random) -> None:
    """A process dies between two steps, with a question on either platform, asked in any way."""
    point = chance.choice(POINTS)
    if point in LISTENING:
        ways = [way for way, points in ((rig.command, COMMANDED), (rig.ask, MENTIONED)) if point in points]
        await stop_at(rig, point, chance.choice(ways)(chance.choice(LISTENERS)))
    else:
        await stop_at(rig, point, _asked(rig, chance))


async def frozen_at_a_step(rig: Rig, chance: random.Random) -> None:
    """A worker stops between two steps for longer than its lease, and goes on as if nothing had happened."""
    await stop_at(rig, chance.choice(WORKED), _asked(rig, chance), freeze=True)


async def killed_any_time(rig: Rig, chance: random.Random) -> None:
    """A process dies at any moment."""
    await _busy(rig, chance)
    rig.host.signal(chance.choice((*LISTENERS, *WORKERS)), signal.SIGKILL)


async def frozen_any_time(rig: Rig, chance: random.Random) -> None:
    """A process stops at any moment, for a while that may be longer than its lease."""
    await _busy(rig, chance)
    name = chance.choice((*LISTENERS, *WORKERS))
    rig.host.signal(name, signal.SIGSTOP)
    await asyncio.sleep(chance.uniform(0.5, 2.0) * LEASE)
    rig.host.signal(name, signal.SIGCONT)


async def restarted(rig: Rig, chance: random.Random) -> None:
    """A process is asked to stop, as a host does when it brings a new version."""
    await _busy(rig, chance)
    rig.host.signal(chance.choice((*LISTENERS, *WORKERS)), signal.SIGTERM)


async def cut_off_from_the_store(rig: Rig, chance: random.Random) -> None:
    """One process cannot reach Redis for a while that may be longer than its lease; others can."""
    await _busy(rig, chance)
    way = _lone(rig).ways[chance.choice((*LISTENERS, *WORKERS))]
    with rig.record.outage():
        await way.cut()
        await asyncio.sleep(chance.uniform(0.2, 2.0) * LEASE)
        await way.mend()


async def store_crashed(rig: Rig, chance: random.Random) -> None:
    """Redis dies and comes back with what it has written down, or its replica takes its place."""
    await _busy(rig, chance)
    with rig.record.outage():
        await rig.store.crash()


async def store_without_power(rig: Rig, chance: random.Random) -> None:
    """Redis dies with its machine, and what it had not written down yet is lost."""
    await _busy(rig, chance)
    seconds = chance.uniform(0.0, UNWRITTEN[rig.fsync])
    with rig.record.outage():
        began = await _lone(rig).lose_power(seconds)
        if seconds:
            rig.record.lose(time.monotonic() - began)  # it may have taken long to start again


async def store_emptied(rig: Rig, chance: random.Random) -> None:
    """Somebody empties Redis."""
    await _busy(rig, chance)
    with rig.record.outage():
        await _lone(rig).empty()
        rig.record.lose()


async def store_restarted_empty(rig: Rig, chance: random.Random) -> None:
    """Redis comes back with nothing, as without a disk."""
    await _busy(rig, chance)
    with rig.record.outage():
        await _lone(rig).restart_empty()
        rig.record.lose()


async def store_emptied_in_mid_answer(rig: Rig, chance: random.Random) -> None:
    """Redis is emptied while an answer is written, and at this moment the platform tells of the question again."""
    asked = rig.ask(chance.choice(LISTENERS))
    await _reached(rig.model.slow_down(asked.number))
    await asyncio.sleep(chance.uniform(0.0, 2.0))
    with rig.record.outage():
        await _lone(rig).empty()
        rig.record.lose()
        rig.on(asked.platform).repeat(asked)


async def store_frozen(rig: Rig, chance: random.Random) -> None:
    """Redis takes connections and does nothing for a while."""
    await _busy(rig, chance)
    with rig.record.outage():
        await rig.store.freeze(chance.uniform(0.2, 1.5) * LEASE)


async def index_away(rig: Rig, chance: random.Random) -> None:
    """Qdrant is not there for a while."""
    with rig.record.outage():
        await rig.qdrant.down()
        await _busy(rig, chance)
        await asyncio.sleep(chance.uniform(*AWAY))
        await rig.qdrant.up()
        rig.record.follow(SKIPPED)


async def model_cut(rig: Rig, chance: random.Random) -> None:
    """The connection to the chat model ends in the middle of an answer."""
    asked = _asked(rig, chance)
    rig.model.trouble(asked.number, Cut())
    rig.record.touch(asked.name)


async def model_hangs_and_worker_dies(rig: Rig, chance: random.Random) -> None:
    """The chat model writes half of an answer and then nothing, and its worker dies over that."""
    await hang_and_kill(rig, _asked(rig, chance))


async def hang_and_kill(rig: Rig, asked: Asked) -> None:
    """Let the model hang over a question that has just been asked, and kill whoever waits for it."""
    rig.record.touch(asked.name)
    try:
        await _reached(rig.model.trouble(asked.number, Stall()))
    finally:
        rig.model.troubles.pop(asked.number, None)  # or it would hang later, and nobody would die over it
    holder = rig.holder(asked)
    if holder:
        rig.host.signal(holder, signal.SIGKILL)


async def _reached(event: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            await event.wait()
    except TimeoutError as error:
        raise Unmet from error


async def answers_of_the_platform_lost(rig: Rig, chance: random.Random) -> None:
    """A platform carries something out, and nobody hears of it."""
    asked = _asked(rig, chance)
    rig.on(asked.platform).faults.add(chance.choice(ACCEPTED[asked.platform]), chance.choice(UNHEARD))
    rig.record.touch(asked.name)


async def platform_away(rig: Rig, chance: random.Random) -> None:
    """A platform drops its connections, and resets those that are made, for a while."""
    community = rig.on(chance.choice(LISTENERS))
    await _busy(rig, chance)
    with rig.record.outage(), rig.attention.lapse(community.name):
        community.faults.break_(EVERY, Reset())
        community.drop()
        await asyncio.sleep(chance.uniform(*AWAY))
        community.faults.mend()


KINDS: dict[str, Fault] = {
    "SIGKILL between two steps": killed_at_a_step,
    "SIGKILL at any moment": killed_any_time,
    "SIGSTOP between two steps, longer than the lease": frozen_at_a_step,
    "SIGSTOP at any moment": frozen_any_time,
    "SIGTERM": restarted,
    "a process cut off from Redis": cut_off_from_the_store,
    "Redis crashed": store_crashed,
    "Redis frozen": store_frozen,
    "Redis without power": store_without_power,
    "Redis emptied": store_emptied,
    "Redis restarted empty": store_restarted_empty,
    "Redis emptied in mid-answer, and the question told again": store_emptied_in_mid_answer,
    "Qdrant away": index_away,
    "the model's stream cut": model_cut,
    "the model hangs, and its worker dies": model_hangs_and_worker_dies,
    "a platform's answer lost": answers_of_the_platform_lost,
    "a platform away": platform_away,
}

ONE_STORE = frozenset(name for name in KINDS if "Redis" in name and name != "Redis crashed")


def _lone(rig: Rig) -> Lone:
    assert isinstance(rig.store, Lone)
    return rig.store


def _asked(rig: Rig, chance: random.Random) -> Asked:
    """Let somebody ask: by a command, by a mention, or in a thread of people; some answers take seconds."""
    platform = chance.choice(LISTENERS)
    if chance.random() < BY_COMMAND:
        asked = rig.command(platform)
    elif chance.random() < IN_THE_CHANNEL:
        asked = rig.ask(platform)
    else:
        asked = rig.ask(platform, f"people {chance.randrange(1_000_000)}")
    if chance.random() < SLOWLY:
        rig.model.slow_down(asked.number)
    return asked


async def _busy(rig: Rig, chance: random.Random) -> None:
    """Let some questions be under way, at whatever point."""
    for _ in range(chance.randint(1, 3)):
        _asked(rig, chance)
    await asyncio.sleep(chance.uniform(0.0, 1.5))
