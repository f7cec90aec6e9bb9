"""That many wait is said and written down, whatever happens to whoever says it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from adapters.chat.background import BackgroundTasks, take_over
from adapters.chat.delivery import DeliveryLog
from adapters.chat.platform import NOTICE, Destination, Part, Posted, nonce
from adapters.chat.services import Waits, tell_wait
from core.errors import PeopleUnavailable, PostingFailed, RateLimited, Rejected, RetrievalUnavailable
from core.events import unobserved
from core.messages import AWAITED
from core.model import Asked, Awaited, Claim, Delivery, Question, Stage, WaitNotice
from tests.adapters.chat.test_drafts import Pencil
from tests.builders import NOON, question
from tests.fakes.box import Box
from tests.fakes.poster import DELETED, Thread
from tests.fakes.services import Counter, MemoryServices
from tests.fakes.waiting_room import FULL, WORDS, waits
from tests.waiting import adapters_at_work, at_once, cancelled, wait_until

LONG = RateLimited(3600)  # nobody waits for so long
ASKED = question()
PLACE = ASKED.message.thread
MARK = nonce(ASKED.message, NOTICE)
UNKNOWN = WaitNotice(thread=ASKED.message.thread, nonce=MARK)
KNOWN = UNKNOWN.model_copy(update={"id": "m1"})


async def give(thread: Thread, *, by: Waits, asked: Question = ASKED) -> None:
    """Let somebody ask, and everything happen that can happen."""
    chores = BackgroundTasks()
    chores.begin(partial(tell_wait, by, asked, asked.message.thread, lambda: thread))
    for _ in range(50):
        await at_once(0)
    await chores.close()


@pytest.fixture(name="box")
def _box() -> Box:
    return Box(crowd=FULL)


async def test_the_words_are_noted_before_and_after_they_are_posted(box: Box) -> None:
    """Under a mark of their own; they stay when whoever said them goes."""
    thread = Thread()
    await give(thread, by=waits(box))

    assert (thread.shown, list(thread.nonces), box.notices) == ([WORDS], [MARK], [UNKNOWN, KNOWN])


async def test_they_are_said_once_in_a_while_in_one_place_where_others_hear_of_their_own_turn(box: Box) -> None:
    """After ten minutes they may be said again."""
    thread, by = Thread(), waits(box)
    for number, minutes in enumerate((0, 5, 9, 10)):
        later = replace(by, now=lambda minutes=minutes: NOON + timedelta(minutes=minutes))
        await give(thread, by=later, asked=question(id=f"q{number}"))

    assert thread.shown == [WORDS, AWAITED[Awaited.TURN], AWAITED[Awaited.TURN], WORDS]


class Nap:
    """Sleeps until it is woken, and keeps for how long it should have."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.over = asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        """Sleep."""
        self.seconds.append(seconds)
        await self.over.wait()


@pytest.mark.promise("never-silent")
async def test_where_few_wait_nothing_is_said_at_first() -> None:
    """The answer comes soon; whoever listens may go meanwhile, and nothing is left."""
    thread, box, nap = Thread(), Box(), Nap()
    await give(thread, by=waits(box, sleep=nap))

    assert (nap.seconds, thread.did, box.notices, adapters_at_work()) == ([15.0], [], [], set())


@pytest.mark.promise("never-silent")
async def test_whose_turn_has_not_come_after_a_while_is_told_so() -> None:
    """Each of them, noted like any other notice."""
    thread, box, other = Thread(), Box(), question(id="q2")
    for asked in (ASKED, other):
        await give(thread, by=waits(box), asked=asked)

    assert thread.shown == [AWAITED[Awaited.TURN]] * 2
    assert [(one.nonce, one.id) for one in box.notices] == [
        (nonce(asked.message, NOTICE), name) for asked, said in ((ASKED, "m1"), (other, "m2")) for name in ("", said)
    ]


@pytest.mark.promise("never-silent")
async def test_whose_turn_has_come_meanwhile_and_who_will_not_be_answered_is_told_nothing() -> None:
    """Of the first, it is not even asked whether they would be."""
    thread, box, nap = Thread(), Box(), Nap()

    async def admits(_: Question) -> bool:
        raise AssertionError

    giving = asyncio.create_task(tell_wait(replace(waits(box, sleep=nap), admits=admits), ASKED, PLACE, lambda: thread))
    await at_once(0)
    box.reached[ASKED.message] = Stage.OVER
    nap.over.set()
    await giving
    box.reached.clear()
    await give(thread, by=waits(box, admits=False))

    assert (thread.did, box.notices) == ([], [])


@pytest.mark.promise("never-silent")
@pytest.mark.promise("crash-safe")
async def test_whose_worker_has_died_is_told_so_until_the_question_is_done() -> None:
    """In the end it goes, as that worker may live after all, and not know of it."""
    thread, box = Thread(), Box()
    stages = [Stage.RUNNING, Stage.RUNNING, Stage.LEFT, Stage.RUNNING, Stage.OVER]
    seen = list[list[str]]()

    async def sleep(_: float) -> None:
        seen.append(thread.shown)
        box.reached[ASKED.message] = stages.pop(0)

    await tell_wait(waits(box, sleep=sleep), ASKED, PLACE, lambda: thread)

    assert (seen, thread.shown) == ([[], [], [], *[[AWAITED[Awaited.ATTEMPT]]] * 2], [])


@pytest.mark.promise("never-silent")
async def test_while_the_index_says_nothing_the_turn_of_a_question_is_what_is_waited_for() -> None:
    """Whether that is said at once or not at all; then it is told that nothing can be searched."""
    thread, box, failures = Thread(), Box(), [RetrievalUnavailable("It is away."), TimeoutError()]

    async def away(_: Question) -> bool:
        raise failures.pop()

    for name in ("q1", "q2"):
        await give(thread, by=replace(waits(box), admits=away), asked=question(id=name))

    assert thread.shown == [AWAITED[Awaited.TURN]] * 2


@pytest.mark.promise("never-silent")
@pytest.mark.parametrize("wait", [60.0, None])
async def test_while_the_platform_does_not_say_who_asks_and_reads_along_that_is_what_is_waited_for(
    wait: float | None,
) -> None:
    """And not the turn of the question, which has come; also where it does not say when it will."""
    thread, box = Thread(), Box()

    async def later(_: Question) -> bool:
        raise PeopleUnavailable("Slack says it later.", wait=wait)

    await give(thread, by=replace(waits(box), admits=later))

    assert thread.shown == [AWAITED[Awaited.READERS]]


async def test_who_will_not_be_answered_is_not_told_to_wait(box: Box) -> None:
    """Somebody else is told there."""
    thread, by = Thread(), waits(box)

    await give(thread, by=replace(by, admits=waits(box, admits=False).admits))
    before = list(thread.did)
    await give(thread, by=by)

    assert (before, thread.did) == ([], ["post"])


async def test_who_is_being_answered_is_told_nothing(box: Box) -> None:
    """A worker was quicker."""
    thread = Thread()
    box.taken.add(ASKED.message)
    await give(thread, by=waits(box))

    assert (thread.did, box.notices) == ([], [])


async def test_what_comes_too_late_is_taken_away_at_once(box: Box) -> None:
    """A worker has begun while it was posted, and does not know of it."""

    class Slow(Thread):
        async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
            box.taken.add(ASKED.message)
            return await super().post(part, nonce)

    thread = Slow()
    await give(thread, by=waits(box))

    assert (thread.messages, box.notices) == ({"m1": DELETED}, [UNKNOWN])


@pytest.mark.parametrize(("until", "did"), [(0, []), (1, ["post", "delete"])])
async def test_without_a_store_nothing_is_left_standing(box: Box, until: int, did: list[str]) -> None:
    """Before the words are posted, nothing is said; after that, they are taken away."""
    thread, box.unannounced = Thread(), until
    await give(thread, by=waits(box))

    assert (thread.did, thread.shown) == (did, [])


@pytest.mark.parametrize("failures", [[Rejected("code 1")], [LONG]], ids=["not posted", "not now"])
async def test_what_the_platform_does_not_do_is_let_be(box: Box, failures: Sequence[PostingFailed | None]) -> None:
    """Whoever answers looks for it, and finds nothing."""
    thread = Thread(failures=list(failures))
    await give(thread, by=waits(box))

    assert (thread.did, thread.shown, box.notices) == (["post"], [], [UNKNOWN])


async def test_whoever_has_no_time_to_wait_until_they_are_gone_leaves_no_task_behind() -> None:
    """They are noted still, and whoever takes over takes them away."""
    retracting = asyncio.Event()

    async def retract(_: WaitNotice) -> None:
        retracting.set()
        await asyncio.Event().wait()

    destination = Destination(poster=Thread(), renderer=Pencil(), place=ASKED.message.thread)
    task, delivery = Claim(ASKED), Delivery(notice=KNOWN)
    log = DeliveryLog(task, delivery, None, destination, lambda: NOON, retract, unobserved, unobserved)
    log.begin_retracting()
    closing = asyncio.create_task(log.aclose())
    await retracting.wait()
    await cancelled(closing)

    assert (adapters_at_work(), log.delivery) == (set(), delivery)


@pytest.mark.promise("never-silent")
@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize(("stage", "words"), [(Stage.WAITING, Awaited.TURN), (Stage.LEFT, Awaited.ATTEMPT)])
async def test_who_waits_while_the_process_starts_again_is_told_so(stage: Stage, words: Awaited) -> None:
    """From then on the process knows of it as if it had put it itself; the fifteen seconds are over long ago."""
    asked, thread, box = Asked(question=ASKED), Thread(), Box()
    office = MemoryServices(inbox=Counter(left=[asked]))
    box.reached[asked.message] = office.inbox.reached[asked.message] = stage

    async def below(found: Asked) -> Thread:
        assert found is asked
        return thread

    async def nowhere(_: Asked) -> None:
        raise AssertionError

    told = replace(office.services, waits=replace(waits(box), now=lambda: NOON + timedelta(minutes=1)))
    taking = asyncio.create_task(take_over(told, "test", nowhere, below))
    await wait_until(lambda: bool(thread.shown), what="the words")
    await cancelled(taking)

    assert (thread.shown, [each.asked for each in told.unanswered.values()]) == ([AWAITED[words]], [asked])
