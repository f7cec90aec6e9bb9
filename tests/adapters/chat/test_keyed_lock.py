"""One thing after the other where order matters."""

from __future__ import annotations

import asyncio

from adapters.chat.background import KeyedLocks


async def test_turns_of_one_kind_keep_the_order_in_which_they_were_asked_for() -> None:
    """Others do not wait for them."""
    locks, done, gate = KeyedLocks(), list[str](), asyncio.Event()

    async def act(key: str, name: str, wait: asyncio.Event | None = None) -> None:
        async with locks.setdefault(key, asyncio.Lock()):
            if wait is not None:
                await wait.wait()
            done.append(name)

    async with asyncio.TaskGroup() as group:
        group.create_task(act("a", "first", gate))
        group.create_task(act("a", "second"))
        group.create_task(act("a", "third"))
        await group.create_task(act("b", "elsewhere"))
        gate.set()

    assert done == ["elsewhere", "first", "second", "third"]


async def test_a_turn_that_fails_lets_the_next_one_come() -> None:
    """Also one that was given up while it waited."""
    locks, gate, done = KeyedLocks(), asyncio.Event(), list[str]()

    async def act(name: str) -> None:
        async with locks.setdefault("a", asyncio.Lock()):
            await gate.wait()
            done.append(name)

    tasks = [asyncio.create_task(act(str(number))) for number in range(3)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    tasks[1].cancel()
    gate.set()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert done == ["2"]
