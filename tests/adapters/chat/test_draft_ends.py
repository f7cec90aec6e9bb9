"""How drafts end: replaced, refused, deleted, or given up by whoever wanted them, with nothing left behind."""

from __future__ import annotations

import asyncio
import gc

import pytest

from adapters.chat.live_message import LiveMessage, Pace
from adapters.chat.platform import Part, Posted, nonce
from core.errors import Gone, PostingFailed, RateLimited, Rejected, Unreachable
from tests.adapters.chat.test_drafts import QUESTION, draft, parts, settled, snapshot
from tests.fakes.poster import DELETED, Thread
from tests.virtual_time import run


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


@pytest.mark.parametrize(
    "failures",
    [
        [Rejected()],
        [Unreachable()] * 6,
        [RateLimited(0.0)] * 6,
        [*[RateLimited(100.0)] * 3, RateLimited(1.0)],  # five minutes, and a second
    ],
)
async def test_a_platform_that_takes_nothing_is_told_to_the_caller(failures: list[PostingFailed]) -> None:
    """Who called knows another way to tell the reader, such as a reaction."""
    platform = Thread(failures=[*failures])
    async with draft(platform) as shown:
        with pytest.raises(PostingFailed) as raised:
            await shown.finish(parts("end"))

    assert raised.value is failures[-1]
    assert platform.shown == []


@pytest.mark.parametrize("failures", [[Rejected()], [Unreachable()] * 6])
async def test_an_answer_that_was_replaced_in_vain_is_told_too(failures: list[PostingFailed]) -> None:
    """There is no third way; a platform that is away is tried as often as before."""
    platform = Thread(messages={"m1": "half"}, failures=[Rejected(), *failures])
    async with draft(platform, Posted("m1")) as shown:
        with pytest.raises(PostingFailed):
            await shown.finish(parts("whole"))

    assert platform.did == ["edit", *["post"] * len(failures)]


async def test_an_answer_that_was_replaced_in_part_is_not_replaced_once_more() -> None:
    """The reader would find the beginning of it again and again."""
    platform = Thread(messages={"m1": "half"}, failures=[None, Rejected(), None, Rejected()])
    async with draft(platform, Posted("m1")) as shown:
        with pytest.raises(Rejected):
            await shown.finish(parts("one", "two"))

    assert platform.did == ["post", "edit", "post", "post"]


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("is_final", [False, True])
async def test_what_is_missing_is_posted_before_the_first_message_looks_whole(*, is_final: bool) -> None:
    """Whoever dies in between leaves half an answer that can be told, also one that an attempt before has begun."""
    platform = Thread(messages={"m1": "half"})
    async with draft(platform, Posted("m1")) as shown:
        if is_final:
            await shown.finish(parts("one", "two"))
        else:
            shown.show(snapshot("one", "two"))
            await settled()

    assert platform.did == ["post", "edit"]


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


@pytest.mark.parametrize("is_finished", [True, False])
async def test_nothing_goes_on_waiting_for_its_turn_once_an_answer_is_over(*, is_finished: bool) -> None:
    """Neither the pace nor the end is waited for any more."""
    platform = Thread()
    before = asyncio.all_tasks()

    async def sleep(_: float) -> None:
        await asyncio.Event().wait()

    pace = Pace(clock=platform.now, sleep=sleep)
    async with LiveMessage(platform, str, pace=pace) as shown:
        for text in ("a", "b"):
            shown.show(snapshot(text))
            await settled()
        if is_finished:
            await shown.finish(parts("end"))
    await settled()

    assert asyncio.all_tasks() == before
    assert platform.shown == (["end"] if is_finished else ["a"])


@pytest.mark.parametrize("is_unsure", [False, True])
async def test_an_answer_that_ends_while_a_shorter_draft_is_shown_loses_no_message(*, is_unsure: bool) -> None:
    """What an attempt before has posted, or may have, is what the end needs: none is removed, or posted for that."""
    begun, going_on = asyncio.Event(), asyncio.Event()

    class Slow(Thread):
        async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
            begun.set()
            await going_on.wait()
            await super().edit(message_id, part, obsolete)

    platform, known = Slow(), 1 if is_unsure else 2
    for number, text in enumerate(("Robots", "move.")):
        await platform.post(Part(text), nonce(QUESTION, number))
    async with draft(platform, *[Posted("m1"), Posted("m2")][:known], is_unsure=is_unsure) as shown:
        shown.show(snapshot("Ro"))
        await begun.wait()
        ending = asyncio.create_task(shown.finish(parts("Robots", "move again.")))
        await settled()
        going_on.set()
        await ending

    assert platform.messages == {"m1": "Robots", "m2": "move again."}
    assert "delete" not in platform.did


async def test_a_call_that_fails_when_nobody_wants_the_answer_is_nobodys_error() -> None:
    """Whoever left has been waited for, and hears nothing of it; nor does the log."""
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    leaving = asyncio.Event()

    class Broken(Thread):
        async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
            await leaving.wait()
            self.calls.append((0.0, "post", part.text))
            raise Unreachable

    platform = Broken()
    async with draft(platform) as shown:
        shown.show(snapshot("a"))
        await settled()
        asyncio.get_running_loop().call_soon(leaving.set)  # when nobody waits for the call but to leave
    assert platform.did == ["post"]
    del shown
    gc.collect()

    assert told == []


def test_a_call_that_takes_too_long_is_given_up_when_nobody_wants_the_answer() -> None:
    """It is waited for first, as it cannot be called back; what comes of it later is nobody's error."""
    going_on = asyncio.Event()

    class Slow(Thread):
        async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
            going_on.set()
            await asyncio.Event().wait()
            return Posted("never")

    async def leave() -> tuple[float, int]:
        clock = asyncio.get_running_loop().time
        async with LiveMessage(Slow(), str) as shown:
            shown.show(snapshot("a"))
            await going_on.wait()
            left = clock()
        return clock() - left, len(asyncio.all_tasks())

    assert run(leave()) == (pytest.approx(5.0), 1)


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


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("was_deleted", [False, True])
async def test_a_further_message_that_is_gone_when_somebody_takes_over_was_perhaps_removed_by_us(
    *, was_deleted: bool
) -> None:
    """Unless the inbox heard that it was deleted; and while it is not needed, nothing is posted in its place."""

    async def asked(_: str) -> bool:
        return was_deleted

    platform = Thread(messages={"m1": "a", "m2": DELETED})
    async with draft(platform, Posted("m1"), Posted("m2"), is_contested=True, was_deleted=asked) as shown:
        shown.show(snapshot("b"))
        await settled()
        before = platform.did
        await shown.finish(parts("c", "d"))

    assert before == ["edit"]
    assert platform.shown == ([] if was_deleted else ["c", "d"])


async def test_a_mistake_in_the_editor_is_not_hidden() -> None:
    """What is no answer of the platform is raised at the end."""
    platform = Thread(messages={})
    async with draft(platform, Posted("unknown")) as shown:
        shown.show(snapshot("a"))
        await settled()
        with pytest.raises(KeyError):
            await shown.finish(parts("b"))
