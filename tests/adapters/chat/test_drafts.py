"""Drafts: the newest snapshot wins, the pace is the platform's, and the last state always arrives, once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.live_message import BLANK, PLACE_HOLDER, LiveMessage, Pace, Snapshot
from adapters.chat.platform import Controls, Part, Posted, nonce
from core.errors import PostingFailed, RateLimited, Rejected, Unreachable
from core.model import Answer, MessageRef, PartialAnswer, Progress, Restarted, Searching, Status
from tests.builders import question, thread
from tests.fakes.poster import DELETED, Thread
from tests.fakes.surface import drafted, text_of
from tests.platforms import CITED
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
    return LiveMessage(platform, partial(nonce, QUESTION), messages=list(posted), pace=pace, **left)


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
async def test_the_first_message_of_a_long_answer_says_that_more_comes_until_all_stand() -> None:
    """Also where no draft was shown: whoever writes may die in between, and nothing else tells half an answer."""
    platform = Thread(failures=[None, Unreachable(), Unreachable()])
    shown = list[Controls]()
    async with draft(platform) as live:
        finishing = asyncio.create_task(live.finish(parts("Robots", "act.", "And rest.")))
        while not finishing.done():
            shown += [each for name, each in platform.controls.items() if name == "m1"]
            await asyncio.sleep(0)

    assert platform.did == ["post", "post", "post", "post", "post", "edit"]
    assert list(dict.fromkeys(shown)) == [Controls.STOP, Controls.NONE]
    assert platform.shown == ["Robots", "act.", "And rest."]


@pytest.mark.promise("crash-safe")
async def test_where_another_may_still_edit_every_message_is_edited_once_more_at_the_end() -> None:
    """Although it seems to show what it should."""
    platform = Thread()
    async with draft(platform, is_contested=True) as shown:
        shown.show(snapshot("Robots", "act."))
        await settled()
        await shown.finish(parts("Robots", "act."))

    assert platform.did == ["post", "post", "edit", "edit", "edit"]


@pytest.mark.promise("crash-safe")
async def test_a_message_that_may_have_been_posted_before_is_found_though_none_is_needed() -> None:
    """It goes, since nobody else would remove it."""
    platform = Thread()
    for number, text in enumerate(("Robots", "move.")):
        await platform.post(Part(text), nonce(QUESTION, number))
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


@pytest.mark.promise("bounded-pace")
async def test_a_draft_comes_with_what_makes_it_obsolete_and_the_end_with_nothing() -> None:
    """So a platform can drop what waits there when the whole answer comes, which is never dropped."""
    asked = list[asyncio.Event | None]()

    class Watched(Thread):
        async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
            asked.append(obsolete)
            return await super().post(part, nonce, obsolete)

        async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
            asked.append(obsolete)
            await super().edit(message_id, part, obsolete)

    platform = Watched()
    async with draft(platform) as shown:
        shown.show(snapshot("a"))
        await settled()
        assert [each and each.is_set() for each in asked] == [False]
        await shown.finish(parts("the end", "of it"))

    assert [each and each.is_set() for each in asked] == [True, None, None]


async def test_what_is_unchanged_is_not_sent() -> None:
    """A snapshot that looks the same costs no call, and of many messages only those that changed are edited."""
    platform = Thread()
    async with draft(platform) as shown:
        for texts in (("one",), ("one", "two"), ("one", "two")):
            shown.show(snapshot(*texts))
            await settled()
        await shown.finish(parts("one", "two and three"))

    assert platform.calls == [(0.0, "post", "one"), (1.2, "post", "two"), (2.4, "edit", "two and three")]


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


@pytest.mark.parametrize(
    ("status", "visibility", "controls"),
    [
        (Status.ANSWERED, "thread", Controls.VOTE),
        (Status.ANSWERED, "private", Controls.VOTE),
        (Status.NO_CONTEXT, "thread", Controls.NONE),
        (Status.STOPPED, "thread", Controls.NONE),
        (Status.REFUSED, "thread", Controls.NONE),
        (Status.FAILED, "thread", Controls.RETRY),
        (Status.UNAVAILABLE, "private", Controls.NONE),
    ],
)
async def test_what_can_be_done_with_an_answer_hangs_on_how_it_ended(
    status: Status, visibility: str, controls: Controls
) -> None:
    """Answers can be judged, and what failed can be tried again; but a private question is kept by nobody."""
    platform, ended = Thread(), Answer(id="a", text="So it ended.", status=status, citations=(CITED,))
    asked = question().model_copy(update={"visibility": visibility})

    async def progress() -> AsyncIterator[Progress]:
        yield ended

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


async def test_what_is_known_is_edited_and_nothing_is_posted_to_look_for_more() -> None:
    """Nobody fears that there is a message which was noted nowhere."""
    platform = Thread(messages={"m1": "half of it"})
    async with draft(platform, Posted("m1")) as shown:
        await shown.finish(parts("an answer"))

    assert platform.did == ["edit"]


def test_a_nonce_is_the_same_in_every_process_and_fits() -> None:
    """It depends on the question, its revision and the message's place, and on nothing else."""
    assert nonce(QUESTION, 0) == "058fd91fa16213557dc0d96d"
    assert len({nonce(QUESTION, 0), nonce(QUESTION, 0, 1), nonce(QUESTION, 1)}) == 3


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
@pytest.mark.parametrize(("before", "calls"), [([None], ["post", *["edit"] * 3]), ([], ["post"] * 3)])
async def test_failures_while_writing_cost_snapshots_and_not_the_answer(before: list[None], calls: list[str]) -> None:
    """After three in a row nothing is shown before the end, also where nothing was shown before."""
    platform = Thread(failures=[*before, *[Unreachable()] * 3])
    async with draft(platform) as shown:
        for number in range(9):
            shown.show(snapshot(f"{number}"))
            await settled()
        assert platform.did == calls
        await shown.finish(parts("end"))

    assert platform.shown == ["end"]


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


async def test_text_that_is_taken_back_leaves_an_ellipsis() -> None:
    """A broken attempt disappears; what comes then goes into the same message."""
    platform = Thread()
    async with draft(platform) as shown:
        shown.show(snapshot("wrong", "and long"))
        await settled()
        shown.show(snapshot())
        await settled()
        assert platform.shown == [BLANK.text, PLACE_HOLDER.text]
        await shown.finish(parts("right", "and long"))

    assert platform.messages == {"m1": "right", "m2": "and long"}


async def test_a_message_that_is_left_over_goes_at_the_end_and_not_before() -> None:
    """Who writes anew what another worker had begun needs as many messages again, mostly."""
    platform = Thread(messages={"m1": "of before", "m2": "of before"})
    async with draft(platform, Posted("m1"), Posted("m2")) as shown:
        shown.show(snapshot("new"))
        await settled()
        assert platform.shown == ["new", PLACE_HOLDER.text]
        await shown.finish(parts("new"))

    assert platform.messages == {"m1": "new", "m2": DELETED}


async def test_a_nonce_whose_message_was_deleted_is_left_out() -> None:
    """The platform would give the deleted message for it."""
    platform = Thread(messages={"m1": DELETED}, nonces={nonce(QUESTION, 0): "m1"})
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


async def test_progress_is_drawn_as_it_comes_and_replaced_by_the_answer() -> None:
    """What a broken stream had shown is taken back, and the last word is the answer's."""
    platform = Thread()
    answer = Answer(id="a1", text="Robots act [1].", status=Status.ANSWERED)

    async def progress() -> AsyncIterator[Progress]:
        for item in (Searching("robots"), drafted("It wanders. Ro "), Restarted(), drafted("Ro "), answer):
            yield item
            await settled()

    async with draft(platform) as shown:
        drawn = await shown.draw(progress(), Pencil(), question())

    assert drawn == answer
    assert [text for _, _, text in platform.calls] == ["It wanders. Ro", BLANK.text, "Ro", "Robots act [1]. End."]


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

    async def story() -> Thread:
        platform = Thread(failures=list(failures), lost=lost)
        async with draft(platform) as shown:
            for texts in snapshots:
                shown.show(snapshot(*texts))
                await settled()
            await shown.finish(parts(*end))
        return platform

    assert asyncio.run(story()).shown == end
