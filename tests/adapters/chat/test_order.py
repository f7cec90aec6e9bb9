"""One thing after the other where order matters, and chores that nobody waits for."""

from __future__ import annotations

import asyncio
from functools import partial

from adapters.chat.chores import Chores
from adapters.chat.order import Order
from adapters.chat.posting import Refused


async def test_turns_of_one_kind_keep_the_order_in_which_they_were_asked_for() -> None:
    """Others do not wait for them."""
    order, done, gate = Order(), list[str](), asyncio.Event()

    async def act(key: str, name: str, wait: asyncio.Event | None = None) -> None:
        async with order.turn(key):
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
    order, gate, done = Order(), asyncio.Event(), list[str]()

    async def act(name: str) -> None:
        async with order.turn("a"):
            await gate.wait()
            done.append(name)

    tasks = [asyncio.create_task(act(str(number))) for number in range(3)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    tasks[1].cancel()
    gate.set()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert done == ["2"]


async def test_chores_may_be_refused_and_end_with_their_owner() -> None:
    """Nobody hears of a refusal."""
    chores, begun, ended = Chores(), asyncio.Event(), list[str]()

    async def refused() -> None:
        raise Refused("code 50001")

    async def endless(name: str) -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    chores.begin(refused)
    chores.begin(partial(endless, "one"))
    await begun.wait()
    await chores.close()

    assert ended == ["one"]
