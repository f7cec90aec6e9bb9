"""Who may use the bot: only in communities that are allowed is anything answered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.community.admission import UNDECIDED, Admission, Admitted, Refusal
from core.community.visibility import Visibility
from core.errors import StoreUnavailable, Unavailable
from core.messages import NOT_ALLOWED
from core.model import (
    Audience,
    Claim,
    Interaction,
    Person,
    Policy,
    ReplyAddress,
    SourceRecord,
    Telling,
    ThreadRef,
    WorkspaceRef,
)
from tests.builders import NOON, hit, question, thread
from tests.fakes.communities import MemoryCommunities
from tests.fakes.dedup import MemoryDedup
from tests.fakes.membership import MemoryMembership
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.quota import MemoryQuota
from tests.fakes.shelf import Shelf

TOLD, NOT_TOLD = (Refusal("waiting", NOT_ALLOWED, telling) for telling in (Telling.WORDS, Telling.NOTHING))


def home(name: str) -> WorkspaceRef:
    """A community."""
    return WorkspaceRef(platform="test", workspace=name)


HOME, OTHER, ORGANIZATION = map(home, ("w", "other", "E1"))


class Gate:
    """An admission before which people stand in their communities."""

    def __init__(self, communities: MemoryCommunities) -> None:
        self.policies = MemoryPolicies()
        self.membership = MemoryMembership()
        shelf, members = Shelf(hit()), {"test": self.membership}
        shelf.records["docs"] = SourceRecord(name="docs", audience=Audience(everyone=True))
        visibility = Visibility(shelf, communities, self.policies, memberships=members)
        quota = MemoryQuota(now=lambda: NOON)
        self.admission = Admission(visibility, self.policies, quota, MemoryDedup(), now=lambda: NOON)

    async def knock(self, name: str, id: str = "m1", **fields: object) -> Refusal | None:  # noqa: A002 - the field's name
        """Ask in the community of a name."""
        admitted = await self.admission.admit(replace(asked(name, id), **fields))
        return None if isinstance(admitted, Admitted) else admitted


def asked(name: str, id: str = "m1") -> Claim:  # noqa: A002 - the field's name
    """A question in the community of a name."""
    place = ThreadRef(platform="test", workspace=name, channel="c", thread="1")
    found = question(id=id)
    return Claim(found.model_copy(update={"message": found.message.model_copy(update={"thread": place})}))


@pytest.mark.promise("operator-decides")
async def test_the_first_who_asks_where_nobody_may_is_told_and_nobody_else() -> None:
    """In each community, also when the same question is tried again; after an order it is answered, or not any more."""
    communities = MemoryCommunities(HOME)
    gate = Gate(communities)

    told = [
        await gate.knock(name, id_) for name, id_ in (("w", "m0"), ("other", "m1"), ("other", "m2"), ("other", "m1"))
    ]
    told += [await gate.knock("third", "m3")]
    assert told == [None, TOLD, NOT_TOLD, TOLD, TOLD]
    assert (await communities.load()).waiting == (OTHER, home("third"))

    await communities.allow(OTHER)
    assert await gate.knock("other", "m4") is None
    await communities.remove(OTHER)
    assert [await gate.knock("other", id_) for id_ in ("m5", "m6")] == [TOLD, NOT_TOLD]


@pytest.mark.promise("operator-decides")
async def test_who_used_a_command_always_hears_why() -> None:
    """They would see that the bot thinks, and then nothing."""
    gate = Gate(MemoryCommunities(HOME))
    interaction = Interaction(id="1", token="t", expires_at=NOON)
    address = ReplyAddress(thread=thread(), interaction=interaction)

    assert [await gate.knock("other", id_, address=address) for id_ in ("m1", "m2")] == [TOLD, TOLD]


@pytest.mark.promise("silence-unasked")
async def test_nobody_is_told_who_did_not_ask_and_the_first_who_asks_is() -> None:
    """Where moderators wanted answers without a mention before the operator took the bot away."""
    gate = Gate(communities := MemoryCommunities(HOME))
    unasked = asked("other").question.model_copy(update={"is_unasked": True})

    assert await gate.knock("other", question=unasked) == NOT_TOLD
    assert (await communities.load()).waiting == ()
    assert await gate.knock("other", "m2") == TOLD


async def test_nothing_else_is_asked_before() -> None:
    """Neither moderators nor the platform have a word where the operator has said none."""
    gate = Gate(MemoryCommunities(HOME))
    gate.policies.set(OTHER, Policy(paused_by=Person(id="mod"), paused_at=NOON))
    gate.membership.fails = True

    assert await gate.knock("other") == TOLD


async def test_an_organization_is_allowed_with_all_of_its_workspaces() -> None:
    """Or one of them alone; whoever asks in another one waits for the whole, as it has the bot."""
    whole, part = MemoryCommunities(ORGANIZATION), MemoryCommunities(HOME)

    assert [await Gate(whole).knock(name) for name in ("E1/w", "E1/v", "w")] == [None, None, TOLD]
    assert [await Gate(part).knock(name) for name in ("E1/w", "E1/v", "w")] == [None, TOLD, None]
    assert (await part.load()).waiting == (ORGANIZATION,)


async def test_direct_messages_belong_to_no_community() -> None:
    """So none has to be allowed for them, and none waits."""
    communities = MemoryCommunities()

    assert await Gate(communities).knock("@me") is None
    assert (await communities.load()).waiting == ()


async def test_a_question_is_tried_again_while_nothing_is_decided() -> None:
    """It may come before the bot knows where it is; with communities in the settings, there is nothing to wait for."""
    undecided, named = MemoryCommunities(), MemoryCommunities(named=[HOME])

    with pytest.raises(Unavailable, match=UNDECIDED[:20]):
        await Gate(undecided).knock("w")
    assert (await undecided.load()).waiting == ()
    await undecided.settle("test", [HOME])
    assert await Gate(undecided).knock("w") is None
    assert [await Gate(named).knock(name) for name in ("w", "other")] == [None, TOLD]


async def test_a_question_is_tried_again_where_the_store_does_not_say() -> None:
    """Nobody is taken for a stranger, or for none."""
    communities = MemoryCommunities(HOME)
    communities.fails = True

    with pytest.raises(StoreUnavailable):
        await Gate(communities).knock("w")


async def test_nobody_is_noted_where_it_is_only_asked_whether_one_would_be_answered() -> None:
    """Whoever is told that many wait is not told that nobody may ask."""
    communities = MemoryCommunities(HOME)
    gate = Gate(communities)

    assert [await gate.admission.admits(asked(name).question) for name in ("w", "other")] == [True, False]
    assert (await communities.load()).waiting == ()
