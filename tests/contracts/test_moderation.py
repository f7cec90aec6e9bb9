"""What every policy store promises: orders change it and are noted, both or neither."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from adapters.redis.community import RedisPolicies
from core.model import AuditEntry, ModerationOrder, OrderKind, Person, Policy, WorkspaceRef
from core.ports import PolicyStore
from tests.builders import NOON, thread
from tests.fakes.moderation import MemoryPolicies
from tests.fixtures.redis import clean, place
from tests.portion import FORMS

HOME = thread().home
ELSEWHERE = WorkspaceRef(platform="test", workspace="{other}: w")
ADA = Person(id='p1 "é" </>', name='Zoë "Ada" </>')
KEPT = Person(id=ADA.id)  # of whoever orders anything, which the platform knows by name
PAUSED = Policy(paused_by=KEPT, paused_at=NOON)
SWITCHES = (
    (OrderKind.PAUSE, OrderKind.RESUME),
    (OrderKind.PAUSE_CHANNEL, OrderKind.RESUME_CHANNEL),
    (OrderKind.AUTO_ANSWER_ON, OrderKind.AUTO_ANSWER_OFF),
    (OrderKind.OPEN_CHANNEL, OrderKind.CLOSE_CHANNEL),
    (OrderKind.ADD_MODERATORS, OrderKind.REMOVE_MODERATORS),
)


@pytest.fixture(name="policies", params=FORMS)
async def _policies(request: pytest.FixtureRequest) -> AsyncIterator[PolicyStore]:
    """Give one implementation after the other."""
    if request.param == "memory":
        yield MemoryPolicies()
        return
    async with clean(place(request.param, request).url) as client:
        yield RedisPolicies(client)


async def ordered(policies: PolicyStore, kind: OrderKind, about: str = "", *, hour: int = 0) -> bool:
    """Give an order, and say whether it changed anything."""
    order = ModerationOrder(kind, about)
    return (await policies.apply(HOME, order, by=ADA, at=NOON + timedelta(hours=hour))).is_new


async def noted(policies: PolicyStore) -> list[tuple[str, str]]:
    """Give what was noted, oldest first."""
    return [(entry.did, entry.about) for entry in reversed(await policies.recent(HOME, limit=99))]


async def test_nothing_was_set_at_first(policies: PolicyStore) -> None:
    """The usual policy answers, and nothing is noted."""
    assert await policies.load(HOME) == Policy()
    assert await noted(policies) == []
    assert (Policy().paused_by, Policy().fault, Policy().answers_in("7")) == (None, None, True)


async def test_a_pause_stays_until_it_is_ended(policies: PolicyStore) -> None:
    """It bears the name and the time of whoever gave the first order, and belongs to one workspace."""
    assert await ordered(policies, OrderKind.PAUSE)
    assert not await ordered(policies, OrderKind.PAUSE, hour=1)

    assert (await policies.load(HOME), await policies.load(ELSEWHERE)) == (PAUSED, Policy())
    assert not PAUSED.answers_in("9")
    assert await ordered(policies, OrderKind.RESUME)
    assert await policies.load(HOME) == Policy()


@pytest.mark.promise("silent-channels")
async def test_channels_are_part_of_the_policy(policies: PolicyStore) -> None:
    """They stay when other things change, and go when they are taken out."""
    for kind, about in ((OrderKind.PAUSE_CHANNEL, "7"), (OrderKind.AUTO_ANSWER_ON, "7"), (OrderKind.PAUSE, "")):
        await ordered(policies, kind, about)
    for kind, about in ((OrderKind.AUTO_ANSWER_ON, "a:{b} c"), (OrderKind.RESUME, ""), (OrderKind.PAUSE_CHANNEL, "8")):
        await ordered(policies, kind, about)
    await ordered(policies, OrderKind.RESUME_CHANNEL, "7")
    for kind in (OrderKind.OPEN_CHANNEL, OrderKind.ADD_MODERATORS):
        await ordered(policies, kind, "9")

    policy, nine = await policies.load(HOME), frozenset({"9"})
    assert policy == Policy(
        auto_answer=frozenset({"7", "a:{b} c"}),
        silent_channels=frozenset({"8"}),
        open_channels=nine,
        moderators=nine,
    )
    assert [policy.answers_in(channel) for channel in ("7", "8", "9")] == [True, False, True]


@pytest.mark.promise("orders-hold")
async def test_what_changes_something_is_noted_and_nothing_else(policies: PolicyStore) -> None:
    """With who ordered what and when, newest first; whoever gives an order hears whether it did."""
    told = [
        await ordered(policies, kind, "" if on is OrderKind.PAUSE else "7")
        for on, off in SWITCHES
        for kind in (off, on, on, off, off)
    ]
    entries = await policies.recent(HOME, limit=99)

    assert told == [False, True, False, True, False] * len(SWITCHES)
    assert [entry.did for entry in reversed(entries)] == [kind for switch in SWITCHES for kind in switch]
    assert entries[-1] == AuditEntry(by=KEPT, did="pause", at=NOON)
    assert entries[0] == AuditEntry(by=KEPT, did="remove moderators", about="7", at=NOON)


@pytest.mark.promise("budgets-are-moderated")
async def test_a_budget_is_set_changed_and_lifted(policies: PolicyStore) -> None:
    """Each kind has one limit, the last that was set; what was set that way already is not noted again."""
    orders = (
        (OrderKind.SET_BUDGET, "person 50 questions day"),
        (OrderKind.SET_BUDGET, "person 50 questions day"),
        (OrderKind.SET_BUDGET, "community 2.5 money month"),
        (OrderKind.SET_BUDGET, "person 20 questions day"),
        (OrderKind.LIFT_BUDGET, "community money month"),
        (OrderKind.LIFT_BUDGET, "community money month"),
    )
    told, set_ = list[bool](), list[list[str]]()
    for kind, about in orders:
        told.append(await ordered(policies, kind, about))
        set_.append([str(each) for each in (await policies.load(HOME)).budgets])

    person, money, less = "person 50 questions day", "community 2.5 money month", "person 20 questions day"
    assert set_ == [[person], [person], [money, person], [money, less], [less], [less]]
    assert told == [True, False, True, True, True, False]
    assert await noted(policies) == [order for order, is_new in zip(orders, told, strict=True) if is_new]


@pytest.mark.promise("orders-hold")
async def test_orders_at_the_same_moment_all_hold(policies: PolicyStore) -> None:
    """Each thing that is ordered is set once and noted once, by whichever order came first."""
    channels = [str(number) for number in range(10)]
    told = await asyncio.gather(
        *(
            ordered(policies, kind, about)
            for _ in range(3)
            for kind in (OrderKind.PAUSE_CHANNEL, OrderKind.AUTO_ANSWER_ON)
            for about in channels
        ),
        *(ordered(policies, OrderKind.PAUSE) for _ in range(3)),
    )

    every = frozenset(channels)
    assert await policies.load(HOME) == PAUSED.model_copy(update={"auto_answer": every, "silent_channels": every})
    assert (sum(told), len(await noted(policies)), len(set(await noted(policies)))) == (21, 21, 21)


@pytest.mark.promise("forget")
async def test_orders_to_forget_are_noted_each_time(policies: PolicyStore) -> None:
    """What is set stays as it is."""
    kinds = [kind for kind in OrderKind if kind.startswith("forget")]
    told = [await ordered(policies, kind, "p2") for kind in kinds for _ in range(2)]

    assert (len(kinds), all(told), await policies.load(HOME)) == (3, True, Policy())
    assert await noted(policies) == [(kind, "p2") for kind in kinds for _ in range(2)]


async def test_an_order_says_what_was_set_before(policies: PolicyStore) -> None:
    """Also one that changes nothing."""
    await ordered(policies, OrderKind.PAUSE)
    order = ModerationOrder(OrderKind.RESUME)
    applied = [await policies.apply(HOME, order, by=ADA, at=NOON) for _ in range(2)]

    assert [(each.is_new, each.before) for each in applied] == [(True, PAUSED), (False, Policy())]


async def test_the_log_is_read_newest_first_and_in_pages(policies: PolicyStore) -> None:
    """As much as is asked for, and only of one workspace."""
    for hour in range(4):
        await ordered(policies, OrderKind.FORGET_EVERYTHING, hour=hour)
    order = ModerationOrder(OrderKind.PAUSE)
    await policies.apply(ELSEWHERE, order, by=ADA, at=NOON)

    async def hours(limit: int, skip: int = 0) -> list[int]:
        return [(entry.at - NOON).seconds // 3_600 for entry in await policies.recent(HOME, limit=limit, skip=skip)]

    assert [await hours(3), await hours(3, skip=3), await hours(3, skip=4)] == [[3, 2, 1], [0], []]
    assert [await hours(1), await hours(0)] == [[3], []]
    assert await policies.recent(ELSEWHERE, limit=9) == (AuditEntry(by=KEPT, did="pause", at=NOON),)


@pytest.mark.promise("forget-workspace")
async def test_what_is_set_can_be_removed(policies: PolicyStore) -> None:
    """The log stays, and what was never set can be removed as well."""
    await ordered(policies, OrderKind.PAUSE)
    for home in (HOME, ELSEWHERE):
        await policies.remove(home)

    assert (await policies.load(HOME), await noted(policies)) == (Policy(), [("pause", "")])


async def test_what_can_be_read_is_not_closed(policies: PolicyStore) -> None:
    """Nobody is named who has set something."""
    await ordered(policies, OrderKind.PAUSE)

    assert await policies.closed() == []
