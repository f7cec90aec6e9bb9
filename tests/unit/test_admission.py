"""Who may ask now."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.community.admission import Admission, Refusal
from core.errors import PeopleUnavailable, StoreUnavailable
from core.messages import CLOSED, PAUSED, STRANGERS_READ, SWITCHED_OFF, limit_reached
from core.model import (
    SOON,
    Budget,
    Claim,
    Cost,
    Holder,
    Interaction,
    Period,
    Person,
    Policy,
    PolicyFault,
    Reached,
    ReplyAddress,
    Reservation,
    Telling,
    ThreadRef,
    WorkspaceRef,
    within,
)
from tests.builders import NOON, hit, question, thread
from tests.fakes.clock import Clock
from tests.fakes.dedup import MemoryDedup
from tests.fakes.membership import MemoryMembership
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.quota import MemoryQuota
from tests.fakes.shelf import Shelf
from tests.fakes.visibility import visibility

TEN_MINUTES = 600.0  # seconds after which somebody is told the same again
PAUSE = Policy(paused_by=Person(id="mod"), paused_at=NOON)


class Door:
    """An admission with everything around it, and these budgets of the operator's."""

    def __init__(self, *budgets: Budget, quota: type[MemoryQuota] = MemoryQuota) -> None:
        self.clock = Clock()
        self.policies = MemoryPolicies()
        self.dedup = MemoryDedup()
        self.quota = quota(now=self.clock.now)
        self.membership = MemoryMembership(guests={"guest"})
        self.shelf = Shelf(hit())
        homes = [
            WorkspaceRef(platform=on, workspace=name)
            for on, name in (("test", "w"), ("test", "another"), ("elsewhere", "w"))
        ]
        visible = visibility(self.shelf, *homes, policies=self.policies, memberships={"test": self.membership})
        self._admission = Admission(visible, self.policies, self.quota, self.dedup, now=self.clock.now, budgets=budgets)

    async def knock(self, claim: Claim) -> Refusal | None:
        """Ask to be answered, and be it."""
        admitted = await self._admission.admit(claim)
        if isinstance(admitted, Refusal):
            return admitted
        await self._admission.settle(admitted.reservation, Cost(questions=1))
        return None

    async def admits(self, claim: Claim) -> bool:
        """Ask whether one would be answered."""
        return await self._admission.admits(claim.question)


class AwayPolicies(MemoryPolicies):
    """Nobody can read these."""

    async def load(self, home: WorkspaceRef) -> Policy:
        """Fail."""
        raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")


def claim(id: str = "m1", *, address: ReplyAddress | None = None) -> Claim:  # noqa: A002 - the field's name
    """A question that is to be answered."""
    return Claim(question(id=id), address=address)


def channel(name: str) -> ThreadRef:
    """A thread in another channel."""
    return thread().model_copy(update={"channel": name})


def claim_in(place: ThreadRef) -> Claim:
    """A question in a certain thread."""
    asked = question()
    return Claim(asked.model_copy(update={"message": asked.message.model_copy(update={"thread": place})}))


def guests_claim(id: str = "m1", *, platform: str = "test") -> Claim:  # noqa: A002 - the field's name
    """A question of somebody who is no member."""
    asked = claim_in(thread().model_copy(update={"platform": platform})).question
    message = asked.message.model_copy(update={"id": id})
    return Claim(asked.model_copy(update={"message": message, "author": Person(id="guest")}))


async def test_whoever_asks_is_let_in_and_every_attempt_at_the_same_question_with_it() -> None:
    """An attempt that failed has been counted already."""
    door = Door()

    assert [await door.knock(claim()) for _ in range(3)] == [None, None, None]


@pytest.mark.promise("paused")
async def test_a_paused_workspace_is_told_once_in_a_while() -> None:
    """The same person hears the same once, and again when it may be forgotten."""
    door = Door()
    door.policies.set(thread().home, PAUSE)

    told = [await door.knock(claim("m1"))]
    door.clock.advance(TEN_MINUTES - 1)  # it begins with a period, as the hour does
    told.append(await door.knock(claim("m2")))
    door.clock.advance(1)
    later = await door.knock(claim("m3"))

    assert told == [Refusal("paused", PAUSED), Refusal("paused", PAUSED, Telling.NOTHING)]
    assert later == Refusal("paused", PAUSED)


@pytest.mark.promise("paused")
async def test_whoever_would_be_refused_can_be_known_without_being_told() -> None:
    """So that nobody who is refused is asked to wait; the refusal is told when it comes."""
    door = Door()
    before = await door.admits(claim())
    door.policies.set(thread().home, PAUSE)

    assert (before, await door.admits(claim())) == (True, False)
    assert await door.knock(claim()) == Refusal("paused", PAUSED)


@pytest.mark.promise("paused")
async def test_whoever_may_have_been_told_is_told_again_where_nobody_can_say() -> None:
    """A store that is away holds back no sentence."""
    door = Door()
    door.policies.set(thread().home, PAUSE)
    door.dedup.fails = True

    assert [await door.knock(claim(f"m{number}")) for number in range(2)] == [Refusal("paused", PAUSED)] * 2


@pytest.mark.promise("silent-channels")
async def test_nothing_is_answered_in_a_silent_channel_and_everything_elsewhere() -> None:
    """Its threads and private questions are part of it. One is told once for each channel, and a command always."""
    door = Door()
    door.policies.set(thread().home, Policy(silent_channels=frozenset({"c", "d"})))
    interaction = Interaction(id="1", token="t", expires_at=NOON + timedelta(minutes=15))
    command = claim("m5", address=ReplyAddress(thread=thread(), interaction=interaction))
    away = thread().model_copy(update={"workspace": "another"})

    told = [await door.knock(one) for one in (claim_in(thread()), claim_in(thread("2")), command)]
    others = [await door.knock(claim_in(place)) for place in (channel("d"), channel("e"), away)]

    assert told == [
        Refusal("silent:c", SWITCHED_OFF),
        Refusal("silent:c", SWITCHED_OFF, Telling.NOTHING),
        Refusal("silent:c", SWITCHED_OFF),
    ]
    assert others == [Refusal("silent:d", SWITCHED_OFF), None, None]


@pytest.mark.promise("unreadable-is-closed")
@pytest.mark.parametrize("fault", PolicyFault)
async def test_nothing_is_answered_where_nobody_can_say_what_is_wanted(fault: PolicyFault) -> None:
    """It is told once in a while like other refusals, and comes before what could be read."""
    door = Door()
    door.policies.set(thread().home, PAUSE.model_copy(update={"fault": fault}))

    told = [await door.knock(claim(f"m{number}")) for number in range(2)]
    door.clock.advance(TEN_MINUTES)

    assert told == [Refusal("closed", CLOSED), Refusal("closed", CLOSED, Telling.NOTHING)]
    assert await door.knock(claim("m3")) == Refusal("closed", CLOSED)


@pytest.mark.promise("bounded-asking")
async def test_whoever_asks_too_much_is_told_how_long_to_wait() -> None:
    """Once; then by a mark. Whoever used a command always is, which would seem to think for ever otherwise."""
    once = Budget(holder=Holder.PERSON, period=Period.MINUTE, most=1)
    door = Door(once)
    interaction = Interaction(id="1", token="t", expires_at=NOON + timedelta(minutes=15))
    command = claim("m4", address=ReplyAddress(thread=thread(), interaction=interaction))
    await door.knock(claim("m1"))

    refused = [await door.knock(each) for each in (claim("m2"), claim("m3"), command)]
    door.clock.advance(60)

    sentence = limit_reached(Reached(once, NOON + timedelta(minutes=1)), NOON)
    tellings = (Telling.WORDS, Telling.MARK, Telling.WORDS)
    assert refused == [Refusal("limit", sentence, telling) for telling in tellings]
    assert await door.knock(claim("m2")) is None


@pytest.mark.promise("bounded-asking")
async def test_moderators_may_lower_a_budget_and_set_what_the_operator_has_not() -> None:
    """And not raise what the operator has."""
    operators = Budget(holder=Holder.PERSON, most=2), Budget(holder=Holder.COMMUNITY, most=4)
    door = Door(*operators)
    lower, raised, new = (
        Budget(holder=Holder.PERSON, most=1),
        Budget(holder=Holder.COMMUNITY, most=9),
        Budget(holder=Holder.CHANNEL, most=3),
    )
    door.policies.set(thread().home, Policy(budgets=(lower, raised, new)))

    admitted = [await door.admits(claim(f"m{number}")) for number in range(2)]
    await door.knock(claim("m1"))

    assert within(operators, (lower, raised, new)) == (lower, operators[1], new)
    assert admitted == [True, True]
    assert (await door.admits(claim("m1")), await door.admits(claim("m2"))) == (True, False)


@pytest.mark.promise("members-only")
async def test_a_guest_is_refused_politely_and_told_once_in_a_while() -> None:
    """Where there are members; elsewhere everybody may ask."""
    door = Door()

    told = [await door.knock(guests_claim(f"m{number}")) for number in range(2)]

    kind = "strangers:c"
    assert told == [Refusal(kind, STRANGERS_READ), Refusal(kind, STRANGERS_READ, Telling.NOTHING)]
    assert await door.knock(guests_claim(platform="elsewhere")) is None


@pytest.mark.promise("guests-apart")
async def test_guests_are_answered_where_moderators_have_opened_the_channel() -> None:
    """And in no other."""
    door = Door()
    door.policies.set(thread().home, Policy(open_channels=frozenset({"d"})))
    elsewhere = await door.knock(guests_claim())
    door.policies.set(thread().home, Policy(open_channels=frozenset({"c"})))

    assert (elsewhere, await door.knock(guests_claim())) == (Refusal("strangers:c", STRANGERS_READ), None)
    door.membership.is_unsure = True
    assert await door.knock(claim("m2")) is None  # whoever reads along may do so


@pytest.mark.promise("members-only")
async def test_nobody_is_let_in_whom_nobody_knows() -> None:
    """The question fails, to be tried again; who is a member then is answered."""
    door = Door()
    door.membership.fails = True
    with pytest.raises(PeopleUnavailable):
        await door.knock(claim())
    door.membership.fails = False

    assert await door.knock(claim()) is None


@pytest.mark.promise("paused")
async def test_a_pause_comes_before_all_else() -> None:
    """It needs no platform that says who asks."""
    door = Door()
    door.membership.fails = True
    door.policies.set(thread().home, PAUSE)

    assert await door.knock(guests_claim()) == Refusal("paused", PAUSED)


async def test_a_command_is_always_told() -> None:
    """Otherwise it would seem to think for ever."""
    door = Door()
    door.policies.set(thread().home, PAUSE)
    interaction = Interaction(id="1", token="t", expires_at=NOON + timedelta(minutes=15))
    address = ReplyAddress(thread=thread(), interaction=interaction)

    told = [await door.knock(claim(f"m{number}", address=address)) for number in range(2)]

    assert told == [Refusal("paused", PAUSED), Refusal("paused", PAUSED)]


@pytest.mark.parametrize("away", ["policies", "quota"])
async def test_nobody_is_let_in_while_the_store_cannot_be_read(away: str) -> None:
    """Moderators may have paused the bot, and a budget may be used up; the question is tried again."""
    policies, quota = AwayPolicies() if away == "policies" else MemoryPolicies(), MemoryQuota(now=Clock().now)
    quota.fails = away == "quota"
    admission = Admission(visibility(Shelf(hit())), policies, quota, MemoryDedup(), now=Clock().now)

    for asked in (admission.admit(claim()), admission.admits(claim().question)):
        with pytest.raises(StoreUnavailable):
            await asked


@pytest.mark.parametrize(
    ("budget", "seconds", "reached", "again"),
    [
        ("person 1 questions minute", 40, "That's a lot of questions in a short time.", "40 seconds."),
        ("person 1 questions minute", 150, "That's a lot of questions in a short time.", "2 minutes."),
        (
            "person 1 questions day",
            43_200,
            "You've reached the limit for today.",
            "12 hours, on 2 January at 00:00 UTC.",
        ),
        (
            "channel 1 tokens day",
            3_600,
            "This channel has reached the limit for today.",
            "60 minutes, on 1 January at 13:00 UTC.",
        ),
        (
            "community 1 money month",
            31 * 86_400,
            "This community has reached the limit for this month.",
            "31 days, on 1 February at 12:00 UTC.",
        ),
    ],
)
def test_a_limit_is_said_with_the_time_at_which_it_goes_on(budget: str, seconds: int, reached: str, again: str) -> None:
    """As people say it."""
    limit = Reached(Budget.parse(budget), NOON + timedelta(seconds=seconds))

    assert limit_reached(limit, NOON) == f"{reached} You can ask again in about {again}"


def test_what_is_set_aside_for_others_is_not_used_up() -> None:
    """It is worth while to try again soon, and nobody knows whether there will be room."""
    reached = Reached(Budget.parse("community 1 money month"), NOON + SOON, is_passing=True)

    assert limit_reached(reached, NOON) == (
        "What is left of the limit for this month is set aside for questions I'm still answering. "
        "You can try again in about 60 seconds."
    )


class UnheardQuota(MemoryQuota):
    """A quota that sets something aside, and the first time its answer is lost."""

    async def reserve(self, reservation: Reservation) -> Reached | None:
        """Do it before the connection breaks off."""
        is_first = not self._holds
        reached = await super().reserve(reservation)
        if is_first:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
        return reached


@pytest.mark.promise("bounded-asking")
async def test_what_was_set_aside_unheard_is_given_free_at_once() -> None:
    """Also where whoever asked for it is not at the question any more."""
    door = Door(Budget(holder=Holder.PERSON, most=1), quota=UnheardQuota)
    with pytest.raises(StoreUnavailable):
        await door.knock(Claim(question()))

    assert await door.knock(Claim(question(id="m2"))) is None
