"""What is removed of a person and of a workspace, and in which order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from core.community.moderation import Forgetting, Forgotten
from core.errors import StoreUnavailable
from core.model import Asked, Claim, Delivery, Interruption, Person, Policy, Tally, Vote, Withdrawal
from tests.builders import NOON, thread, turn_of
from tests.fakes.conversations import MemoryConversations
from tests.fakes.inbox import MemoryInbox
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.vault import MemoryVault
from tests.fakes.votes import MemoryVotes
from tests.inboxes import asked, deleted, taken

HOME = thread().home
SET = Policy(paused_by=Person(id="p1", name="Ada"), paused_at=NOON, auto_answer=frozenset({"7"}))
WAYS: dict[str, Callable[[Forgetting], Awaitable[object]]] = {
    "person": lambda forgetting: forgetting.person(HOME, "p1"),
    "thread": lambda forgetting: forgetting.place(thread()),
    "workspace": lambda forgetting: forgetting.place(HOME),
    "farewell": lambda forgetting: forgetting.farewell(HOME),
}


class Office:
    """All that is remembered, with something in each place."""

    def __init__(self) -> None:
        self.inbox = MemoryInbox()
        self.conversations = MemoryConversations(ttl=timedelta(hours=1), now=lambda: NOON)
        self.votes = MemoryVotes()
        self.policies = MemoryPolicies({str(HOME): SET})
        self.vault = MemoryVault(now=lambda: NOON)
        self.forgetting = Forgetting(self.conversations, self.votes, self.inbox, self.policies, self.vault)

    async def fill(self) -> None:
        """Let somebody ask, be answered, and vote."""
        await self.inbox.put(asked())
        await self.conversations.append(thread(), turn_of("Why?").model_copy(update={"author_id": "p1"}))
        await self.votes.cast(HOME, Vote(answer_id="a1", person_id="p1", is_helpful=True, at=NOON))

    async def left(self) -> tuple[int, int, Tally]:
        """Say what is there."""
        turns = (await self.conversations.load(thread())).turns
        return await self.inbox.waiting(), len(turns), await self.votes.count(HOME)


@pytest.fixture(name="office")
async def _office() -> Office:
    office = Office()
    await office.fill()
    return office


@pytest.mark.promise("forget-person")
@pytest.mark.promise("forget-workspace")
@pytest.mark.parametrize(("way", "gone"), [("person", Forgotten(turns=1, votes=1)), ("workspace", 1), ("farewell", 1)])
async def test_everything_is_removed_wherever_it_is(office: Office, way: str, gone: object) -> None:
    """What waits, what is remembered, and what was thought of it."""
    assert await WAYS[way](office.forgetting) == gone
    assert await office.left() == (0, 0, Tally())


@pytest.mark.promise("forget-workspace")
@pytest.mark.parametrize(("way", "policy"), [("workspace", SET), ("farewell", Policy())])
async def test_what_moderators_have_set_goes_with_the_bot_only(office: Office, way: str, policy: Policy) -> None:
    """Forgetting what people said is no reason to answer again where that was paused."""
    await WAYS[way](office.forgetting)

    assert await office.policies.load(HOME) == policy


@pytest.mark.promise("forget-workspace")
@pytest.mark.parametrize("way", WAYS)
async def test_what_is_remembered_too_late_is_taken_back(office: Office, way: str) -> None:
    """A run that was under way has written its turn afterwards: a withdrawal comes after it."""
    async with office.inbox.claim() as task:
        await WAYS[way](office.forgetting)
        await office.conversations.append(thread(), turn_of("What is m1?", id="m1"))

    assert await taken(office.inbox) == Withdrawal(task.message, fence=2)


@pytest.mark.promise("forget-workspace")
@pytest.mark.parametrize("way", WAYS)
async def test_what_waits_is_removed_first(office: Office, way: str) -> None:
    """Otherwise it would be answered and remembered after everything else has gone."""
    office.conversations.fails = True
    with pytest.raises(StoreUnavailable):
        await WAYS[way](office.forgetting)

    assert await office.inbox.waiting() == 0


@pytest.mark.promise("forget-person")
@pytest.mark.promise("forget-workspace")
@pytest.mark.parametrize("way", WAYS)
async def test_a_store_that_had_lost_what_is_forgotten_forgets_it_once_it_is_back(office: Office, way: str) -> None:
    """A worker puts it back, or a platform tells another process of it; what is asked later stays, and so do votes."""
    office.forgetting.now = lambda: NOON
    await WAYS[way](office.forgetting)
    await office.forgetting.tell()
    later = asked("2").question.model_copy(update={"asked_at": NOON + timedelta(seconds=1)})
    other = replace(office.forgetting)
    await other.learn()
    for each in (office.forgetting, other):
        put = [Asked(question=one, delivery=known) for one in (asked().question, later) for known in (None, Delivery())]
        assert [each.heed(one) for one in put] == [None, deleted(asked(), Delivery()), *put[2:]]

    await office.fill()
    await office.inbox.put(Asked(question=later))
    await other.again()
    assert await office.left() == (1, 0, Tally(helpful=1))


@pytest.mark.promise("forget-person")
async def test_an_answer_to_somebody_else_begins_anew_without_the_turns_that_are_forgotten(office: Office) -> None:
    """A model was given them; where nothing is removed, it goes on."""
    signal = asked("2", in_thread="2")
    by_bob = signal.question.model_copy(update={"author": Person(id="p2")})
    before = {"question_ref": asked("1", in_thread="2").message, "author_id": "p1"}
    await office.conversations.append(thread("2"), turn_of("Who?").model_copy(update=before))
    await taken(office.inbox)
    await office.inbox.put(signal.model_copy(update={"question": by_bob}))
    async with office.inbox.claim() as task:
        await office.forgetting.person(HOME, "p3")
        untouched = task.cancelled.reason
        await office.forgetting.person(HOME, "p1")

    assert (untouched, task.cancelled.reason) == (None, Interruption.EDITED)
    assert await taken(office.inbox) == Claim(by_bob, fence=2)
