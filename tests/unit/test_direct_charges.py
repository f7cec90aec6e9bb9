"""What is asked outside of all communities counts in the budgets of one to which the asker belongs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.community.admission import Admission, Admitted, Refusal
from core.model import Audience, Budget, Claim, Cost, Holder, Policy, SourceRecord, WorkspaceRef
from tests.builders import hit, thread
from tests.fakes.clock import Clock
from tests.fakes.dedup import MemoryDedup
from tests.fakes.membership import MemoryMembership
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.quota import MemoryQuota
from tests.fakes.shelf import Shelf
from tests.fakes.visibility import visibility
from tests.unit.test_admission import claim, claim_in

ALONE = WorkspaceRef(platform="test", workspace="@me")
HOMES = {name: WorkspaceRef(platform="test", workspace=name) for name in ("empty", "w", "another")}


def direct_door(members: Sequence[str], *, readers: str = "w", most: int = 9) -> Admission:
    """Admit to what these communities read, and all; the asker is in some of them, and one allows a person little."""
    shelf, clock = Shelf(hit()), Clock()
    shelf.records["open"] = SourceRecord(name="open", audience=Audience(everyone=True))
    audience = Audience(communities=frozenset(HOMES[each] for each in readers.split()))
    shelf.records["docs"] = SourceRecord(name="docs", audience=audience)
    policies = MemoryPolicies({"test:w": Policy(budgets=(Budget.parse(f"person {most} questions day"),))})
    membership = MemoryMembership(members=[(HOMES[each], "p1") for each in members])
    visible = visibility(shelf, *HOMES.values(), policies=policies, memberships={"test": membership})
    budgets = [Budget(holder=Holder.COMMUNITY, most=1)]
    return Admission(visible, policies, MemoryQuota(now=clock.now), MemoryDedup(), now=clock.now, budgets=budgets)


def direct(id: str = "d1") -> Claim:  # noqa: A002 - the field's name
    """A question outside of all communities."""
    asked = claim_in(thread().model_copy(update={"workspace": ALONE.workspace})).question
    return Claim(asked.model_copy(update={"message": asked.message.model_copy(update={"id": id})}))


@pytest.mark.promise("bounded-asking")
@pytest.mark.parametrize(
    ("readers", "members", "charged"),
    [
        ("another", ("empty", "w", "another"), "another"),
        ("w another", ("empty", "w", "another"), "w"),
        ("", ("w", "another"), "w"),
        ("w", ("empty",), "empty"),
        ("w", (), None),
    ],
)
async def test_direct_messages_are_charged_to_the_first_community_whose_documents_are_read(
    readers: str, members: Sequence[str], charged: str | None
) -> None:
    """Or at least to one that the asker belongs to; all others share a pool of their own."""
    door = direct_door(members, readers=readers)

    admitted, beside = await door.admit(direct()), await door.admit(claim())

    assert isinstance(admitted, Admitted)
    assert admitted.reservation.home == (HOMES[charged] if charged else ALONE)
    assert isinstance(beside, Admitted) == (charged != "w")


@pytest.mark.promise("bounded-asking")
@pytest.mark.promise("budgets-are-moderated")
async def test_direct_messages_count_in_what_moderators_allow_there() -> None:
    """Its moderators hear of it, and whoever asks sees it; nobody is sent away for what others have asked elsewhere."""
    door = direct_door(["w"])
    admitted = await door.admit(direct())
    assert isinstance(admitted, Admitted)
    told = await door.settle(admitted.reservation, Cost(questions=1))
    refused = await door.admit(direct("d2"))
    spending = await door.spending(ALONE, person_id="p1")

    assert [each.percent for each in told] == [100]
    assert isinstance(refused, Refusal)
    assert (refused.kind, refused.charged) == ("limit", HOMES["w"])
    assert await door.admits(direct("d2").question) is False
    assert [(str(use.budget), use.spent) for use in spending.uses] == [
        ("community 1 questions day", 1),
        ("person 9 questions day", 1),
    ]
