"""What every policy store and audit log promises."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from adapters.redis.audit import RedisAudit
from adapters.redis.policies import RedisPolicies
from core.model import Deed, Person, Policy, WorkspaceRef
from core.ports import AuditLog, PolicyStore
from tests.builders import NOON, thread
from tests.fakes.moderation import MemoryAudit, MemoryPolicies
from tests.fixtures.redis import clean, place
from tests.portion import FORMS

HOME = thread().home
ELSEWHERE = WorkspaceRef(platform="test", workspace="{other}: w")
ADA = Person(id="p1", name="Ada")
PAUSED = Policy(paused_by=ADA, paused_at=NOON)


@pytest.fixture(name="stores", params=FORMS)
async def _stores(request: pytest.FixtureRequest) -> AsyncIterator[tuple[PolicyStore, AuditLog]]:
    """Give one implementation of each after the other."""
    if request.param == "memory":
        yield MemoryPolicies(), MemoryAudit()
        return
    async with clean(place(request.param, request).url) as client:
        yield RedisPolicies(client), RedisAudit(client)


@pytest.fixture(name="policies")
def _policies(stores: tuple[PolicyStore, AuditLog]) -> PolicyStore:
    return stores[0]


@pytest.fixture(name="audit")
def _audit(stores: tuple[PolicyStore, AuditLog]) -> AuditLog:
    return stores[1]


def deed(number: int) -> Deed:
    """Something that was done."""
    return Deed(by=ADA, did=f"pause {number}", about="p2", at=NOON + timedelta(hours=number))


async def test_nothing_was_set_at_first(policies: PolicyStore) -> None:
    """The usual policy answers."""
    assert await policies.load(HOME) == Policy()
    assert not Policy().is_paused


async def test_a_policy_stays_until_it_is_changed(policies: PolicyStore) -> None:
    """And belongs to one workspace."""
    await policies.save(HOME, PAUSED)
    await policies.save(ELSEWHERE, PAUSED)
    await policies.save(ELSEWHERE, Policy())

    assert (await policies.load(HOME), await policies.load(ELSEWHERE)) == (PAUSED, Policy())
    assert PAUSED.is_paused


async def test_channels_with_answers_for_all_are_part_of_the_policy(policies: PolicyStore) -> None:
    """They stay when other things change, and go when they are taken out."""
    await policies.save(HOME, PAUSED.model_copy(update={"auto_answer": ("7", "8")}))
    kept = await policies.load(HOME)
    await policies.save(HOME, kept.model_copy(update={"auto_answer": ()}))

    assert (kept.auto_answer, await policies.load(HOME)) == (("7", "8"), PAUSED)


async def test_silent_channels_are_part_of_the_policy(policies: PolicyStore) -> None:
    """Nothing is answered in them, as nowhere in a pause."""
    silent = Policy(silent_channels=frozenset({"7", "8"}))
    await policies.save(HOME, silent)
    kept = await policies.load(HOME)

    assert kept == silent
    assert [kept.answers_in(channel) for channel in ("7", "9")] == [False, True]
    assert not PAUSED.answers_in("9")


def test_a_policy_of_earlier_days_can_be_read() -> None:
    """It was stored before channels could be silent."""
    assert Policy.model_validate_json('{"paused_by":null,"paused_at":null,"auto_answer":["7"]}') == Policy(
        auto_answer=("7",)
    )


async def test_deeds_come_back_newest_first(audit: AuditLog) -> None:
    """As many as were asked for, and only those of the workspace."""
    for number in range(4):
        await audit.record(HOME, deed(number))
    await audit.record(ELSEWHERE, deed(9))

    assert list(await audit.recent(HOME, limit=3)) == [deed(3), deed(2), deed(1)]
    assert list(await audit.recent(HOME, limit=0)) == []
    assert list(await audit.recent(ELSEWHERE, limit=9)) == [deed(9)]
