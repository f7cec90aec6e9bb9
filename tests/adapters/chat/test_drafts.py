"""Drafts: the newest snapshot wins, the pace is the platform's, and the last state always arrives, once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.delivery import nonce
from adapters.chat.live_message import BLANK, LiveMessage, Pace, Snapshot
from adapters.chat.platform import Controls, Part, Posted
from core.errors import Gone, PostingFailed, RateLimited, Rejected, Unreachable
from core.model import Answer, MessageRef, PartialAnswer, Progress, Restarted, Searching, Status
from tests.builders import question, thread
from tests.fakes.poster import DELETED, Thread
from tests.fakes.surface import drafted, text_of
from tests.portion import examples

QUESTION = MessageRef(thread=thread(), id="m1")


class Pencil:
    """Draws what is certain in one message."""

    def sketch(self, draft: PartialAnswer) -> Sequence[Part]:
        """Write it down."""
        return [Part(text_of(draft))]

    def whole(self, answer: Answer) -> Sequence[Part]:
        """Write it down with an end."""
        return [Part(f"{answer.text} End.")]


def draft(platform: Thread, *posted: Posted, **left: Any) -> LiveMessage:
    """A live message on a platform whose clock is the test's."""
    pace = Pace(clock=platform.now, sleep=platform.sleep)
    return LiveMessage(platform, partial(nonce, QUESTION, 0), messages=list(posted), pace=pace, **left)


def parts(*texts: str) -> list[Part]:
    """Messages without controls."""
    return [Part(text) for text in texts]


def snapshot(*texts: str) -> Snapshot:
    """What the messages should be at some moment."""
    return lambda: parts(*texts)


async def settled() -> None:
    """Let every task do what it can do now."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_an_answer_is_posted_once_and_edited() -> None:
    """Readers see one message grow."""
    platform = Thread()
    async with draft(platform) as shown:
        for text in ("Robots", "Robots sense", "Robots sense and act."):
            shown.show(snapshot(text))
            await settled()
        posted = await shown.finish(parts("Robots sense and act [1]."))

    assert platform.did == ["post", "edit", "edit", "edit"]
    assert posted == (Posted("m1", Part("Robots sense and act [1].")),)
    assert platform.shown == ["Robots sense and act [1]."]


@pytest.mark.promise("crash-safe")
async def test_where_another_may_still_edit_every_message_is_edited_once_more_at_the_end() -> None:
    """Although it seems to show what it should."""
    platform = Thread()
    async with draft(platform, is_contested=True) as shown:
        shown.show(snapshot("Robots", "act."))
        await settled()
        await shown.finish(parts("Robots", "act."))

    assert platform.did == ["post", "post", "edit", "edit"]


@pytest.mark.promise("crash-safe")
async def test_a_message_that_may_have_been_posted_before_is_found_though_none_is_needed() -> None:
    """It goes, since nobody else would remove it."""
    platform = Thread()
    for number, text in enumerate(("Robots", "move.")):
        await platform.post(Part(text), nonce(QUESTION, 0, number))
    async with draft(platform, Posted("m1"), is_unsure=True) as shown:
        await shown.finish(parts("Robots"))

    assert (platform.shown, platform.messages) == (["Robots"], {"m1": "Robots", "m2": DELETED})


@pytest.mark.promise("bounded-pace")
async def test_snapshots_come_no_faster_than_the_pace_and_the_newest_wins() -> None:
    """Whatever is written in between is skipped; the end waits for no pace."""
    platform = Thread()
    async with draft(platform) as shown:
        for number in range(5):
            shown.show(snapshot(f"{number}"))
            shown.show(snapshot(f"{number}+"))
            await settled()
        await shown.finish(parts("end"))

    assert platform.calls == [
        (0.0, "post", "0+"),
        (1.2, "edit", "1+"),
        (2.4, "edit", "2+"),
        (3.6, "edit", "3+"),
        (4.8, "edit", "4+"),
        (4.8, "edit", "end"),
    ]


async def test_what_is_unchanged_is_not_sent() -> None:
    """A snapshot that looks the same costs no call, and of many messages only those that changed are edited."""
    platform = Thread()
    async with draft(platform) as shown:
        shown.show(snapshot("one", "two"))
        await settled()
        shown.show(snapshot("one", "two"))
        await settled()
        await shown.finish(parts("one", "two and three"))

    assert platform.calls == [(0.0, "post", "one"), (0.0, "post", "two"), (1.2, "edit", "two and three")]


async def test_snapshots_that_are_not_sent_are_not_drawn() -> None:
    """Drawing costs more than the text that a model adds in between."""
    platform = Thread()
    drawn: list[int] = []

    def drawing(number: int) -> list[Part]:
        drawn.append(number)
        return parts(str(number))

    async with draft(platform) as shown:
        for number in range(100):
            shown.show(partial(drawing, number))
        await settled()
        await shown.finish(parts("end"))

    assert drawn == [99]


@pytest.mark.parametrize(("visibility", "controls"), [("thread", Controls.RETRY), ("private", Controls.NONE)])
async def test_what_failed_can_be_tried_again_where_it_is_kept(visibility: str, controls: Controls) -> None:
    """A private question is kept by nobody."""
    platform, failed = Thread(), Answer(id="a", text="It failed.", status=Status.FAILED)
    asked = question().model_copy(update={"visibility": visibility})

    async def progress() -> AsyncIterator[Progress]:
        yield failed

    async with draft(platform) as shown:
        await shown.draw(progress(), Pencil(), asked)

    assert platform.controls == {"m1": controls}


@pytest.mark.promise("posted-once")
async def test_a_post_whose_confirmation_was_lost_is_not_repeated() -> None:
    """The same nonce gives the message that is there, which then gets the newer text."""
    platform = Thread(failures=[Unreachable()], lost=True)
    async with draft(platform) as shown:
        shown.show(snapshot("old"))
        await settled()
        await shown.finish(parts("new"))

    assert platform.messages == {"m1": "new"}


@pytest.mark.promise("posted-once")
async def test_a_post_whose_confirmation_was_lost_is_found_and_removed() -> None:
    """The answer got shorter meanwhile, and nobody knew of its second message."""
    platform = Thread(failures=[None, *[Unreachable()] * 3], lost=True)
    async with draft(platform) as shown:
        shown.show(snapshot("one", "two"))
        await settled()
        await shown.finish(parts("one"))

    assert platform.messages == {"m1": "one", "m2": DELETED}


@pytest.mark.promise("posted-once")
async def test_another_process_edits_what_was_posted_before() -> None:
    """A second attempt at an answer uses the messages of the first."""
    platform = Thread(messages={"m1": "half of it"})
    async with draft(platform, Posted("m1")) as shown:
        shown.show(snapshot("an answer"))
        await settled()
        await shown.finish(parts("an answer", "and more"))

    assert platform.messages == {"m1": "an answer", "m2": "and more"}


def test_a_nonce_is_the_same_in_every_process_and_fits() -> None:
    """It depends on the question, its revision and the message's place, and on nothing else."""
    assert nonce(QUESTION, 0, 0) == "058fd91fa16213557dc0d96d"
    assert len({nonce(QUESTION, 0, 0), nonce(QUESTION, 1, 0), nonce(QUESTION, 0, 1)}) == 3


@pytest.mark.promise("final-state")
async def test_an_edit_whose_confirmation_was_lost_is_made_again() -> None:
    """Nobody knows what the message shows, even if it is what it showed before."""
    platform = Thread(failures=[None, Unreachable()], lost=True)
    async with draft(platform) as shown:
        shown.show(snapshot("a"))
        await settled()
        shown.show(snapshot("b"))
        await settled()
        await shown.finish(parts("a"))

    assert platform.shown == ["a"]


@pytest.mark.promise("final-state")
async def test_failures_while_writing_cost_snapshots_and_not_the_answer() -> None:
    """After three in a row nothing is shown before the end."""
    platform = Thread(failures=[None, *[Unreachable()] * 3])
    async with draft(platform) as shown:
        for number in range(9):
            shown.show(snapshot(f"{number}"))
            await settled()
        assert platform.did == ["post", *["edit"] * 3]
        await shown.finish(parts("end"))

    assert platform.shown == ["end"]


@pytest.mark.promise("final-state")
@pytest.mark.parametrize("failures", [[Rejected()], [Unreachable()] * 6])
async def test_a_message_that_cannot_be_edited_is_replaced(failures: list[PostingFailed]) -> None:
    """One whole answer is posted, and the half one goes."""
    platform = Thread()
    async with draft(platform) as shown:
        shown.show(snapshot("half"))
        await settled()
        platform.failures.extend(failures)
        posted = await shown.finish(parts("whole"))

    assert platform.messages == {"m1": DELETED, "m2": "whole"}
    assert posted == (Posted("m2", Part("whole")),)


async def test_a_platform_that_refuses_edits_while_writing_is_left_alone() -> None:
    """Asking again would be refused again."""
    platform = Thread(failures=[None, Rejected()])
    async with draft(platform) as shown:
        for number in range(5):
            shown.show(snapshot(f"{number}"))
            await settled()
        assert platform.did == ["post", "edit"]
        await shown.finish(parts("end"))

    assert platform.shown == ["end"]


@pytest.mark.parametrize("failures", [[Rejected()], [Unreachable()] * 6, [RateLimited(100.0)] * 4])
async def test_a_platform_that_takes_nothing_is_told_to_the_caller(failures: list[PostingFailed]) -> None:
    """Who called knows another way to tell the reader, such as a reaction."""
    platform = Thread(failures=[*failures])
    async with draft(platform) as shown:
        with pytest.raises(PostingFailed) as raised:
            await shown.finish(parts("end"))

    assert raised.value is failures[-1]
    assert platform.shown == []


async def test_an_answer_that_was_replaced_in_vain_is_told_too() -> None:
    """There is no third way."""
    platform = Thread(messages={"m1": "half"}, failures=[Rejected(), Rejected()])
    async with draft(platform, Posted("m1")) as shown:
        with pytest.raises(Rejected):
            await shown.finish(parts("whole"))

    assert platform.did == ["edit", "post"]


async def test_who_deletes_a_message_of_the_answer_wants_none_of_it() -> None:
    """The other messages go too, and nothing is posted again."""
    platform = Thread()
    async with draft(platform) as shown:
        shown.show(snapshot("one", "two"))
        await settled()
        platform.messages["m1"] = DELETED
        shown.show(snapshot("one more", "two"))
        await settled()
        posted = await shown.finish(parts("one and all", "two"))

    assert (posted, shown.is_deleted) == ((), True)
    assert platform.messages == {"m1": DELETED, "m2": DELETED}


async def test_text_that_is_taken_back_leaves_an_ellipsis() -> None:
    """A broken attempt disappears; what comes then goes into the same message."""
    platform = Thread()
    async with draft(platform) as shown:
        shown.show(snapshot("wrong", "and long"))
        await settled()
        shown.show(snapshot())
        await settled()
        assert platform.shown == [BLANK.text]
        await shown.finish(parts("right", "and long"))

    assert platform.messages == {"m1": "right", "m2": DELETED, "m3": "and long"}


async def test_a_nonce_whose_message_was_deleted_is_left_out() -> None:
    """The platform would give the deleted message for it."""
    platform = Thread(messages={"m1": DELETED}, nonces={nonce(QUESTION, 0, 0): "m1"})
    async with draft(platform) as shown:
        await shown.finish(parts("answer"))

    assert platform.messages == {"m1": DELETED, "m2": "answer"}


async def test_an_answer_without_snapshots_is_posted_at_once() -> None:
    """Nothing was written before the end."""
    platform = Thread()
    async with draft(platform) as shown:
        shown.show(snapshot())
        await settled()
        await shown.finish(parts("answer"))

    assert platform.calls == [(0.0, "post", "answer")]


async def test_leaving_without_an_end_stops_the_editor() -> None:
    """Whoever is cancelled leaves no task behind."""
    platform = Thread()
    before = asyncio.all_tasks()
    async with draft(platform) as shown:
        shown.show(snapshot("a"))
        await settled()
        shown.show(snapshot("b"))

    assert asyncio.all_tasks() == before
    assert platform.shown == ["a"]


async def test_a_call_that_takes_too_long_is_given_up_when_nobody_wants_the_answer() -> None:
    """It is waited for first, as it cannot be called back; what comes of it later is nobody's error."""
    going_on = asyncio.Event()

    class Slow(Thread):
        async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
            going_on.set()
            await asyncio.Event().wait()
            return Posted("never")

    platform = Slow()
    before = asyncio.all_tasks()
    async with LiveMessage(platform, str, pace=Pace(farewell=0.0)) as shown:
        shown.show(snapshot("a"))
        await going_on.wait()
    await settled()

    assert asyncio.all_tasks() == before


async def test_a_platform_where_every_post_is_gone_at_once_is_left_alone() -> None:
    """No nonce helps there."""

    class Black(Thread):
        async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
            self.calls.append((0.0, "post", nonce))
            raise Gone

    platform = Black()
    async with LiveMessage(platform, str) as shown:
        with pytest.raises(Rejected):
            await shown.finish(parts("a"))

    assert [nonce for _, _, nonce in platform.calls] == ["0", "1", "2", "3", "4", "5"]


async def test_a_mistake_in_the_editor_is_not_hidden() -> None:
    """What is no answer of the platform is raised at the end."""
    platform = Thread(messages={})
    async with draft(platform, Posted("unknown")) as shown:
        shown.show(snapshot("a"))
        await settled()
        with pytest.raises(KeyError):
            await shown.finish(parts("b"))


async def test_progress_is_drawn_as_it_comes_and_replaced_by_the_answer() -> None:
    """What a broken stream had shown is taken back, and the last word is the answer's."""
    platform = Thread()
    answer = Answer(id="a1", text="Robots act [1].", status=Status.ANSWERED)

    async def progress() -> AsyncIterator[Progress]:
        for item in (Searching("robots"), drafted("Ro "), drafted("Ro bats "), Restarted(), drafted("Robots "), answer):
            yield item
            await settled()

    async with draft(platform) as shown:
        drawn = await shown.draw(progress(), Pencil(), question())

    assert drawn == answer
    assert [text for _, _, text in platform.calls] == ["Ro", "Ro bats", BLANK.text, "Robots", "Robots act [1]. End."]


FAILURES = st.sampled_from([None, None, Unreachable(), RateLimited(2.0)])
SNAPSHOTS = st.lists(st.lists(st.text("ab", min_size=1, max_size=3), max_size=3), max_size=6)


@pytest.mark.promise("final-state")
@given(
    snapshots=SNAPSHOTS,
    end=st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=3),
    lost=st.booleans(),
    failures=st.lists(FAILURES, max_size=5),
)
@settings(deadline=None, max_examples=examples(100))
def test_whatever_fails_on_the_way_the_end_is_shown_once(
    snapshots: list[list[str]], end: list[str], lost: bool, failures: list[PostingFailed | None]
) -> None:
    """For every order of snapshots, failures and lost confirmations, readers are left with the end and nothing else."""

    async def run() -> Thread:
        platform = Thread(failures=list(failures), lost=lost)
        async with draft(platform) as shown:
            for texts in snapshots:
                shown.show(snapshot(*texts))
                await settled()
            await shown.finish(parts(*end))
        return platform

    assert asyncio.run(run()).shown == end
