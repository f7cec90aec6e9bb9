"""What the store has counted as asked and set aside for questions, which has to be what their answers cost."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from adapters.redis.connection import connect
from core.model import MessageRef
from tests.faults.audit import Kind, Wrong
from tests.faults.store import Store
from tests.fixtures.redis import all_keys

KEYS = "footnote:quota:"
AGAIN, PAUSE = 25, 0.2  # times, and seconds between them: what is still set aside then stays so
MEASURES = 3  # questions, tokens and millionths of money: what was spent, and then what is set aside

Holder = tuple[str, str, str]
"""A community, a day or month, and who is counted there."""


@dataclass(frozen=True, slots=True)
class Hold:
    """What is counted and set aside for one wording of a question, and by whom."""

    message: str
    counted: int = 0
    most: tuple[int, ...] = (0, 0, 0)
    holders: tuple[Holder, ...] = ()


@dataclass(frozen=True, slots=True)
class Spending:
    """All that is stored: holds, and of each holder the numbers."""

    holds: Sequence[Hold] = ()
    spent: Mapping[Holder, Sequence[int]] | None = None

    def counted(self, message: str) -> int:
        """Give how many questions a message counts as, with all that it was edited to."""
        return sum(hold.counted for hold in self.holds if hold.message == message)

    def is_held(self, message: str) -> bool:
        """Say whether anything is still set aside for it."""
        return any(any(hold.most) for hold in self.holds if hold.message == message)


async def spending_of(store: Store) -> Spending:
    """Read it, and again while it changes: what an answer has cost is written down after the answer is shown."""
    before, found = None, await _read(store)
    for _ in range(AGAIN):
        if found == before and not any(any(hold.most) for hold in found.holds):
            break
        await asyncio.sleep(PAUSE)
        before, found = found, await _read(store)
    return found


async def _read(store: Store) -> Spending:
    holds, spent = list[Hold](), dict[Holder, Sequence[int]]()
    async with connect(f"redis://127.0.0.1:{store.node.port}/0") as client:
        for key in sorted(str(key, "utf-8") for key in await all_keys(client) if key.startswith(KEYS.encode())):
            community, _, rest = key.removeprefix(f"{KEYS}{{").partition("}:")
            kind, _, name = rest.partition(":")
            if kind == "hold" and (text := await client.get(key)):
                holds.append(_hold(community, name, json.loads(text)))
            elif kind == "spent":
                fields = cast("Mapping[bytes, bytes]", await client.hgetall(key))
                spent |= {
                    (community, name, str(holder, "utf-8")): [int(number) for number in numbers.split()]
                    for holder, numbers in fields.items()
                    if holder != b"told"
                }
    return Spending(holds, spent)


def _hold(community: str, name: str, stored: Mapping[str, Any]) -> Hold:
    most = tuple(map(int, stored["most"])) if stored["is_live"] else (0,) * MEASURES
    holders = tuple((community, period, holder) for period, names in stored["periods"] for holder in names)
    return Hold(MessageRef.parse(name.rpartition(" ")[0]).id, stored["counted"], most, holders)


def wrongs_of(spending: Spending) -> Iterator[Wrong]:
    """Compare what is counted for each person, channel and community with what their questions count as."""
    asked, held = Counter[Holder](), dict[Holder, list[int]]()
    for hold in spending.holds:
        for holder in hold.holders:
            asked[holder] += hold.counted
            held[holder] = [one + other for one, other in zip(held.get(holder, [0] * MEASURES), hold.most, strict=True)]
    for holder, numbers in (spending.spent or {}).items():
        at = ", ".join(holder)
        if numbers[0] != asked[holder]:
            yield Wrong(Kind.COUNTED, f"{at}: {numbers[0]} questions, which are {asked[holder]}")
        if (found := list(numbers[MEASURES : 2 * MEASURES])) != (wanted := held.get(holder, [0] * MEASURES)):
            yield Wrong(Kind.COUNTED, f"{at}: {found} is set aside, and should be {wanted}")
