"""That many wait is said, written down, and taken away again, whatever happens to whoever says it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from adapters.chat.background import BackgroundTasks
from adapters.chat.full_house import LOOKS, FullHouse
from adapters.chat.posting import Poster
from core.errors import Gone, PostingFailed, RateLimited, Rejected, StoreUnavailable
from core.model import Asked, Inbound, InboundKind, Notice, ReplyAddress, Setting
from tests.builders import NOON, question
from tests.fakes.box import Box
from tests.fakes.house import FULL, house
from tests.fakes.naps import Naps
from tests.fakes.notices import MemoryNotices
from tests.fakes.poster import DELETED, Thread
from tests.waiting import wait_until

LONG = RateLimited(3600)  # nobody waits for so long
ASKED = question()
WORDS = "I'm busy; your answer comes in about 40 seconds."


class Diary(MemoryNotices):
    """Remembers each step; fails from the step *until* on."""

    def __init__(self, until: int = 99) -> None:
        super().__init__()
        self.steps: list[str] = []
        self._until = until

    async def put(self, notice: Notice) -> None:
        """Note the id."""
        self._step(f"put {notice.posted or 'unknown'}")
        await super().put(notice)

    async def remove(self, notice: Notice) -> None:
        """Note that."""
        self._step("removed")
        await super().remove(notice)

    def _step(self, name: str) -> None:
        if len(self.steps) >= self._until:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
        self.steps.append(name)


class Listening:
    """A process that listens, in which somebody has asked; its looks last until a test wakes it."""

    def __init__(self, thread: Thread, notices: MemoryNotices) -> None:
        self.box = Box(crowd=FULL, known=[Asked(question=ASKED, address=ReplyAddress(thread=ASKED.message.thread))])
        self.naps = Naps(lambda: None)
        self.tasks = BackgroundTasks()
        self.looks = 0
        self._thread = thread
        self.house = FullHouse(house(self.box, self.naps, notices), self, self.tasks)

    async def poster(self, notice: Notice) -> Poster:
        """Give the thread."""
        assert notice.place == "C1"
        return self._thread

    async def find(self, notice: Notice) -> str | None:
        """Look whether the words stand there."""
        self.looks += 1
        return next((each for each, words in self._thread.messages.items() if words == notice.words), None)

    async def count(self) -> None:
        """Let somebody ask, and everything happen that can happen now."""
        inbound = Inbound(kind=InboundKind.WRITTEN, message=ASKED.message, setting=Setting.CHANNEL)
        self.house.count(inbound, "C1")
        await self.rest()

    async def take_up(self) -> None:
        """Begin as a new process."""
        self.house.take_up(ASKED.message.thread.platform)
        await self.rest()

    async def answer(self) -> None:
        """Let the question be answered, and somebody look."""
        self.box.known.clear()
        self.naps.wake()
        await self.rest()

    async def rest(self) -> None:
        """Let everything happen that can happen now."""
        for _ in range(50):
            await asyncio.sleep(0)


async def test_the_words_are_noted_before_and_after_they_are_posted() -> None:
    """And no more once they are taken away; asking again in the same place changes nothing."""
    thread, diary = Thread(), Diary()
    listening = Listening(thread, diary)
    for _ in range(2):
        await listening.count()
    stood = thread.shown
    await listening.answer()

    assert (stood, thread.shown, listening.looks) == ([WORDS], [], 0)
    assert diary.steps == ["put unknown", "put m1", "removed"]


async def test_they_are_taken_away_when_the_process_is_asked_to_stop() -> None:
    """The question goes on without them."""
    thread, notices = Thread(), MemoryNotices()
    listening = Listening(thread, notices)
    await listening.count()
    await listening.tasks.close()

    assert (thread.messages, notices.kept) == ({"m1": DELETED}, {})


async def test_after_some_minutes_they_are_taken_away_without_an_answer() -> None:
    """What they say is not true any more."""
    thread = Thread()
    listening = Listening(thread, MemoryNotices())
    await listening.count()
    for look in range(LOOKS):
        assert thread.shown, f"gone at look {look}"
        listening.naps.wake()
        await listening.rest()

    assert (thread.shown, len(listening.box.known)) == ([], 1)


@pytest.mark.parametrize(
    ("failures", "did"),
    [
        ([Rejected("code 1")], ["post"]),
        ([LONG], ["post"]),
        ([None, Gone("it is gone")], ["post", "delete"]),
        ([None, Rejected("code 1")], ["post", "delete"]),
    ],
    ids=["not posted", "not now", "gone", "not deleted"],
)
async def test_what_the_platform_does_not_do_is_let_be(
    failures: Sequence[PostingFailed | None], did: list[str]
) -> None:
    """It would not do it later either, so nobody is to try."""
    thread, notices = Thread(failures=list(failures)), MemoryNotices()
    listening = Listening(thread, notices)
    await listening.count()
    await listening.answer()

    assert (thread.did, notices.kept) == (did, {})


@pytest.mark.parametrize("known", [True, False])
async def test_what_a_process_left_that_was_killed_is_taken_up_by_the_next(known: bool) -> None:
    """Also where it died before it knew that its words were posted; whoever connects again does not watch twice."""
    thread, notices = Thread(), MemoryNotices()
    killed = Listening(thread, notices)
    await killed.count()
    if not known:
        notices.kept = {each: notice.model_copy(update={"posted": ""}) for each, notice in notices.kept.items()}
    listening = Listening(thread, notices)
    for _ in range(2):
        await listening.take_up()
    stood = thread.shown
    await listening.answer()

    assert (stood, thread.messages, notices.kept) == ([WORDS], {"m1": DELETED}, {})
    assert (listening.looks, thread.did) == (int(not known), ["post", "delete"])


async def test_what_could_not_be_taken_away_is_left_to_whoever_comes_next() -> None:
    """The platform had no time for it."""
    thread, notices = Thread(failures=[None, LONG]), MemoryNotices()
    listening = Listening(thread, notices)
    await listening.count()
    await listening.answer()
    left = thread.shown
    following = Listening(thread, notices)
    following.box.known.clear()
    await following.take_up()

    assert (left, thread.shown, notices.kept) == ([WORDS], [], {})


async def test_what_was_never_posted_is_not_posted_by_whoever_comes_next() -> None:
    """It was killed before that; the words would come too late."""
    thread, diary = Thread(), Diary()
    notice = Notice(question=ASKED.message, revision=0, place="C1", words=WORDS, at=NOON)
    await diary.put(notice)
    listening = Listening(thread, diary)
    await listening.take_up()

    assert (thread.did, diary.kept, listening.looks) == ([], {}, 1)


async def test_the_second_question_of_a_thread_has_words_of_its_own() -> None:
    """They stand until that one is answered, whatever becomes of the first."""
    thread = Thread()
    listening = Listening(thread, MemoryNotices())
    listening.box.known.insert(0, Asked(question=question(id="m0"), address=ReplyAddress(thread=ASKED.message.thread)))
    await listening.count()
    stood = thread.shown
    listening.box.known.pop(0)
    listening.naps.wake()
    await listening.rest()
    stands = thread.shown
    await listening.answer()

    assert (stood, stands, thread.shown) == ([WORDS], [WORDS], [])


@pytest.mark.parametrize(("until", "calls"), [(0, []), (1, ["post", "delete"]), (2, ["post", "delete"])])
async def test_without_a_store_nothing_is_left_standing(until: int, calls: list[str]) -> None:
    """Before the words are posted, nothing is said; after that, they are taken away all the same."""
    thread = Thread()
    listening = Listening(thread, Diary(until))
    await listening.count()
    await listening.answer()

    assert (thread.did, thread.shown) == (calls, [])


async def test_what_is_not_answered_is_not_taken_away() -> None:
    """Somebody looks, and goes on waiting."""
    thread = Thread()
    listening = Listening(thread, MemoryNotices())
    await listening.count()
    listening.naps.wake()
    await wait_until(lambda: listening.naps.asleep == 1, what="the next look")

    assert thread.shown == [WORDS]
