"""What people may do about what is remembered of them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.community.moderation import Forgetting, Forgotten, Moderation, SelfHelp
from core.errors import NotAllowed
from core.model import Actor, Citation, Person, Vote, WorkspaceRef
from tests.builders import NOON, thread, turn_of
from tests.fakes.conversations import MemoryConversations
from tests.fakes.inbox import MemoryInbox
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.vault import MemoryVault
from tests.fakes.votes import MemoryVotes

ADA = Actor(person=Person(id="p1", name="Ada"), home=thread().home, may_moderate=False)
BOB = ADA.model_copy(update={"person": Person(id="p2", name="Bob")})
BOSS = Actor(person=Person(id="p3", name="Boss"), home=thread().home, may_moderate=True)
ELSEWHERE = WorkspaceRef(platform="test", workspace="elsewhere")
SOURCE = Citation(number=1, chapter="", section="Arms", title="Robots", url="https://a.example", relevance_score=0.8)


@pytest.fixture(name="conversations")
def _conversations() -> MemoryConversations:
    return MemoryConversations(ttl=timedelta(hours=1), now=lambda: NOON)


@pytest.fixture(name="votes")
def _votes() -> MemoryVotes:
    return MemoryVotes()


@pytest.fixture(name="policies")
def _policies() -> MemoryPolicies:
    return MemoryPolicies()


@pytest.fixture(name="service")
def _service(conversations: MemoryConversations, votes: MemoryVotes, policies: MemoryPolicies) -> SelfHelp:
    forgetting = Forgetting(conversations, votes, MemoryInbox(), policies, MemoryVault())
    moderation = Moderation(policies, forgetting, now=lambda: NOON)
    return SelfHelp(conversations, forgetting, moderation, MemoryInbox())


async def ask(conversations: MemoryConversations, by: Actor, *, id: str = "m0", cited: bool = False) -> None:  # noqa: A002 - the field's name
    """Keep a turn that somebody has asked for."""
    citations = (SOURCE,) if cited else ()
    turn = turn_of("Why?", id=id).model_copy(update={"author_id": by.person.id, "citations": citations})
    await conversations.append(thread(), turn)


async def test_the_sources_are_those_of_the_last_answer_that_has_any(
    service: SelfHelp, conversations: MemoryConversations
) -> None:
    """A greeting in between takes none away."""
    unknown = await service.sources(thread())
    await ask(conversations, ADA, id="m1", cited=True)
    await ask(conversations, ADA, id="m2")

    assert (unknown, await service.sources(thread())) == ((), (SOURCE,))


@pytest.mark.promise("forget-me")
async def test_whoever_asked_in_a_thread_can_have_it_forgotten(
    service: SelfHelp, conversations: MemoryConversations, policies: MemoryPolicies
) -> None:
    """That is no order of a moderator."""
    await ask(conversations, ADA)

    assert [await service.forget_thread(ADA, thread()), await service.forget_thread(ADA, thread())] == [True, False]
    assert await policies.recent(ADA.home, limit=9) == ()


async def test_somebody_else_cannot(service: SelfHelp, conversations: MemoryConversations) -> None:
    """The conversation stays."""
    await ask(conversations, ADA)

    with pytest.raises(NotAllowed, match="asked in this thread"):
        await service.forget_thread(BOB, thread())
    assert (await conversations.load(thread())).turns


async def test_a_moderator_can_and_it_is_noted(
    service: SelfHelp, conversations: MemoryConversations, policies: MemoryPolicies
) -> None:
    """As with any order."""
    await ask(conversations, ADA)

    assert await service.forget_thread(BOSS, thread())
    assert [entry.did for entry in await policies.recent(BOSS.home, limit=9)] == ["forget thread"]


async def test_a_thread_of_another_workspace_is_nobodys_business(
    service: SelfHelp, conversations: MemoryConversations
) -> None:
    """Ids of people mean nothing there."""
    await ask(conversations, ADA)

    for actor in (ADA, BOSS):
        with pytest.raises(NotAllowed):
            await service.forget_thread(actor.model_copy(update={"home": ELSEWHERE}), thread())
    assert (await conversations.load(thread())).turns


@pytest.mark.promise("forget-me")
async def test_somebody_is_forgotten_in_all_places_that_are_named(
    service: SelfHelp, conversations: MemoryConversations, votes: MemoryVotes
) -> None:
    """Turns and votes are counted; those of others stay."""
    await ask(conversations, ADA, id="m1")
    await ask(conversations, BOB, id="m2")
    for home in (ADA.home, ELSEWHERE):
        for person in ("p1", "p2"):
            await votes.cast(home, Vote(answer_id="a", person_id=person, is_helpful=True, at=NOON))

    assert await service.forget_person([ADA.home, ELSEWHERE], "p1") == Forgotten(turns=1, votes=2)
    left = await conversations.load(thread())
    assert [turn.author_id for turn in (left.turns if left else ())] == ["p2"]
    assert [vote.person_id for vote in (*votes.of(ADA.home), *votes.of(ELSEWHERE))] == ["p2", "p2"]
