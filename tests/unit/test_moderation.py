"""Moderators' orders: who may give them, what they do, and that they are noted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from core.community.moderation import PAGE, Forgetting, Forgotten, Moderation, ModerationStatus, Switch
from core.errors import InvalidInput, NotAllowed, PolicyUnreadable
from core.messages import UNREADABLE
from core.model import Actor, Applied, AuditEntry, Budget, Person, Policy, PolicyFault
from tests.builders import NOON, thread, turn_of
from tests.fakes.conversations import MemoryConversations
from tests.fakes.inbox import MemoryInbox
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.vault import MemoryVault
from tests.fakes.votes import MemoryVotes

ADA = Person(id="p1", name="Ada")
WHO = Person(id="p1")  # names are not stored
MODERATOR = Actor(person=ADA, home=thread().home, may_moderate=True)
STUDENT = MODERATOR.model_copy(update={"may_moderate": False})
ORDERS: dict[str, Callable[[Moderation, Actor], Awaitable[object]]] = {
    "status": lambda moderation, actor: moderation.status(actor),
    "pause": lambda moderation, actor: moderation.pause(actor),
    "resume": lambda moderation, actor: moderation.resume(actor),
    "silence": lambda moderation, actor: moderation.switch(actor, Switch.SILENCE, "7", on=True),
    "auto-answer": lambda moderation, actor: moderation.switch(actor, Switch.AUTO_ANSWER, "7", on=True),
    "budget": lambda moderation, actor: moderation.limit(actor, Budget.parse("person 5 tokens day"), on=True),
    "forget thread": lambda moderation, actor: moderation.forget_thread(actor, thread()),
    "forget person": lambda moderation, actor: moderation.forget_person(actor, "p2"),
    "forget everything": lambda moderation, actor: moderation.forget_everything(actor),
}


@pytest.fixture(name="conversations")
def _conversations() -> MemoryConversations:
    return MemoryConversations(ttl=timedelta(hours=1), now=lambda: NOON)


@pytest.fixture(name="policies")
def _policies() -> MemoryPolicies:
    return MemoryPolicies()


@pytest.fixture(name="moderation")
def _moderation(conversations: MemoryConversations, policies: MemoryPolicies) -> Moderation:
    forgetting = Forgetting(conversations, MemoryVotes(), MemoryInbox(), policies, MemoryVault())
    return Moderation(policies, forgetting, now=lambda: NOON, budgets=[Budget.parse("person 100 questions day")])


@pytest.mark.promise("moderators-only")
@pytest.mark.parametrize("order", ORDERS)
async def test_only_moderators_give_orders(moderation: Moderation, order: str) -> None:
    """Everybody else is refused, nothing happens, and nothing is noted."""
    with pytest.raises(NotAllowed, match="Only moderators"):
        await ORDERS[order](moderation, STUDENT)

    assert await moderation.status(MODERATOR) == ModerationStatus(Policy())


async def test_a_pause_lasts_until_it_is_ended(moderation: Moderation) -> None:
    """Doing it twice is no error, and is noted once."""
    assert [await moderation.pause(MODERATOR), await moderation.pause(MODERATOR)] == [True, False]
    paused = await moderation.status(MODERATOR)
    ended = [await moderation.resume(MODERATOR), await moderation.resume(MODERATOR)]
    resumed = await moderation.status(MODERATOR)

    policy = Policy(paused_by=WHO, paused_at=NOON)
    assert paused == ModerationStatus(policy, (AuditEntry(by=WHO, did="pause", at=NOON),))
    assert ended == [Applied(is_new=True, before=policy), Applied(is_new=False, before=Policy())]
    assert resumed.policy == Policy()
    assert [entry.did for entry in resumed.entries] == ["resume", "pause"]


async def test_new_posts_of_a_channel_are_answered_until_moderators_end_it(moderation: Moderation) -> None:
    """Other channels are not concerned, a pause changes nothing about it, and each change is noted once."""
    changed = [await moderation.switch(MODERATOR, Switch.AUTO_ANSWER, channel, on=True) for channel in ("7", "8", "7")]
    await moderation.pause(MODERATOR)
    both = (await moderation.status(MODERATOR)).policy.auto_answer
    changed += [await moderation.switch(MODERATOR, Switch.AUTO_ANSWER, "7", on=False) for _ in range(2)]
    status = await moderation.status(MODERATOR)

    assert (changed, both) == ([True, True, False, True, False], {"7", "8"})
    assert status.policy == Policy(paused_by=WHO, paused_at=NOON, auto_answer=frozenset({"8"}))
    assert [(entry.did, entry.about) for entry in status.entries] == [
        ("auto-answer off", "7"),
        ("pause", ""),
        ("auto-answer on", "8"),
        ("auto-answer on", "7"),
    ]


@pytest.mark.promise("silent-channels")
async def test_a_channel_is_silent_until_moderators_end_it(moderation: Moderation) -> None:
    """Other channels and a pause are not concerned, each change is noted once, and anybody may know of it."""
    orders = [("7", True), ("c", True), ("7", True), ("7", False), ("7", False)]
    told = [await moderation.switch(MODERATOR, Switch.SILENCE, channel, on=on) for channel, on in orders]
    status = await moderation.status(MODERATOR)

    assert (told, status.policy) == ([True, True, False, True, False], Policy(silent_channels=frozenset({"c"})))
    assert [(entry.did, entry.about) for entry in status.entries] == [
        ("resume channel", "7"),
        ("pause channel", "c"),
        ("pause channel", "7"),
    ]
    assert [status.policy.answers_in(channel) for channel in ("c", "7")] == [False, True]


@pytest.mark.promise("forget")
@pytest.mark.parametrize(
    ("order", "gone", "about"),
    [("forget thread", True, str(thread())), ("forget person", Forgotten(), "p2"), ("forget everything", 1, "")],
)
async def test_what_is_forgotten_is_noted(
    moderation: Moderation, conversations: MemoryConversations, order: str, gone: object, about: str
) -> None:
    """With whom or what it was about, and no text."""
    await conversations.append(thread(), turn_of("What is a robot?"))

    assert await ORDERS[order](moderation, MODERATOR) == gone
    assert (await moderation.status(MODERATOR)).entries == (AuditEntry(by=WHO, did=order, about=about, at=NOON),)


async def test_threads_of_other_workspaces_are_out_of_reach(moderation: Moderation) -> None:
    """Though somebody moderates their own."""
    elsewhere = thread().model_copy(update={"workspace": "other"})

    with pytest.raises(NotAllowed, match="another workspace"):
        await moderation.forget_thread(MODERATOR, elsewhere)


@pytest.mark.promise("unreadable-is-closed")
@pytest.mark.parametrize("order", ["pause", "silence", "auto-answer"])
async def test_what_cannot_be_read_is_not_changed(moderation: Moderation, policies: MemoryPolicies, order: str) -> None:
    """Whoever tries is told what to do, and nothing is noted; what people want forgotten is forgotten all the same."""
    closed = Policy(fault=PolicyFault.DAMAGED)
    policies.set(MODERATOR.home, closed)
    with pytest.raises(PolicyUnreadable, match=UNREADABLE):
        await ORDERS[order](moderation, MODERATOR)

    assert await moderation.status(MODERATOR) == ModerationStatus(closed)
    assert not (await policies.load(MODERATOR.home)).answers_in("c")
    await moderation.forget_everything(MODERATOR)
    assert [entry.did for entry in (await moderation.status(MODERATOR)).entries] == ["forget everything"]


@pytest.mark.promise("unreadable-is-closed")
async def test_resuming_replaces_what_cannot_be_read(moderation: Moderation, policies: MemoryPolicies) -> None:
    """Whoever does it learns what was known of it."""
    closed = Policy(fault=PolicyFault.NEWER, silent_channels=frozenset({"7"}))
    policies.set(MODERATOR.home, closed)

    assert await moderation.resume(MODERATOR) == Applied(is_new=True, before=closed)
    assert (await moderation.status(MODERATOR)).policy == Policy()


async def test_the_log_is_shown_in_pages(moderation: Moderation) -> None:
    """Each says whether there are older entries; before the first there is none."""
    for number in range(PAGE + 1):
        await moderation.forget_person(MODERATOR, str(number))
    pages = [await moderation.status(MODERATOR, page=page) for page in (0, 1, 2, 3)]

    assert [(len(page.entries), page.has_older) for page in pages] == [
        (PAGE, True),
        (PAGE, True),
        (1, False),
        (0, False),
    ]
    assert pages[2].entries[0].about == "0"


@pytest.mark.promise("budgets-are-moderated")
async def test_money_is_limited_only_where_the_operator_has_set_prices(moderation: Moderation) -> None:
    """A limit that is never reached would be none; what was set while there were prices can be lifted."""
    money = Budget.parse("community 20 money month")

    with pytest.raises(InvalidInput, match="limit questions or tokens instead"):
        await moderation.limit(MODERATOR, money, on=True)
    refused = await moderation.status(MODERATOR)
    moderation.has_prices = True
    told = [await moderation.limit(MODERATOR, money, on=True)]
    moderation.has_prices = False
    told.append(await moderation.limit(MODERATOR, money, on=False))

    assert (refused, told) == (ModerationStatus(Policy()), [True, True])


@pytest.mark.promise("budgets-are-moderated")
async def test_moderators_limit_what_is_asked_within_what_the_operator_allows(moderation: Moderation) -> None:
    """More is refused with what is allowed, and not noted; where the operator has set nothing, anything goes."""
    wanted = [Budget.parse(f"person {most} questions day") for most in (101, 100, 20)]
    free = Budget.parse("channel 5000 tokens month")

    with pytest.raises(InvalidInput, match="more than the person who runs me allows"):
        await moderation.limit(MODERATOR, wanted[0], on=True)
    told = [await moderation.limit(MODERATOR, each, on=True) for each in (*wanted[1:], free)]
    told.append(await moderation.limit(MODERATOR, wanted[0], on=False))

    status = await moderation.status(MODERATOR)
    assert (told, status.policy.budgets) == ([True] * 4, (free,))
    assert [(entry.did, entry.about) for entry in reversed(status.entries)] == [
        ("set budget", "person 100 questions day"),
        ("set budget", "person 20 questions day"),
        ("set budget", "channel 5000 tokens month"),
        ("lift budget", "person questions day"),
    ]
