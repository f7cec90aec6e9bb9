"""What stands on a platform of an answer is found there, where the store knows nothing of it any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from adapters.chat.platform import FoundAnswer
from core.errors import Gone, RateLimited
from core.events import Step
from core.messages import NO_CONTEXT
from core.model import Answer, Claim, Delivery, MessageRef, Progress, Reaction, Status
from tests.fakes.surface import drafted
from tests.on_slack import START, OnSlack, OnSlackByEdits
from tests.platforms import ANSWER, Worker, grown, progress
from tests.standing import AnyStanding, standing_on_discord, standing_on_slack

pytestmark = pytest.mark.promise("catches-up")

PLATFORMS = {
    "discord": standing_on_discord,
    "slack": partial(standing_on_slack, OnSlack),
    "slack by edits": partial(standing_on_slack, OnSlackByEdits),
}
PLACES = [
    *(("discord", where) for where in ("channel", "channel without threads", "their thread", "our thread")),
    *(("discord", where) for where in ("direct", "post")),
    *(("slack", where) for where in ("channel", "private channel", "their thread", "our thread", "direct")),
    *(("slack", "direct, further"), ("slack by edits", "channel"), ("slack by edits", "their thread")),
]
LONG_ANSWER = ANSWER.model_copy(update={"text": "word " * 1700})  # within what Discord lets be posted at once
NOTHING_FOUND = Answer(id="a", text=NO_CONTEXT, status=Status.NO_CONTEXT)
EXCUSE = Answer(id="a", text="The documents cannot be searched.", status=Status.UNAVAILABLE)


@pytest.fixture(name="scene", params=PLACES, ids=": ".join)
async def _scene(request: pytest.FixtureRequest) -> AsyncIterator[AnyStanding]:
    platform, where = request.param
    async with PLATFORMS[platform]() as scene:
        scene.where = where
        yield scene


async def broken_off(scene: AnyStanding, claim: Claim, *, parts: int = 1) -> tuple[MessageRef, ...]:
    """Let whoever writes an answer die in the middle of it, with a remark below each message; return what stands."""
    much = f"{'word ' * (scene.chat.longest // 10)}\n\n" * 3

    async def written() -> AsyncIterator[Progress]:
        for number in range(parts):
            yield drafted(f"Robots.\n\n{much * number}And so\n\non")
            await scene.chat.until(lambda number=number: len(scene.stands(claim)) > number)
            scene.remark(claim)
        await asyncio.Event().wait()

    working = asyncio.create_task(scene.chat.surface.reply(claim, written()))
    notes = scene.chat.notes.written
    await scene.chat.until(lambda: notes and len(notes[-1].messages) == parts)
    working.cancel()
    await asyncio.wait({working})
    return notes[-1].messages


@pytest.mark.parametrize("answer", [ANSWER, EXCUSE, LONG_ANSWER])
async def test_an_answer_that_has_come_to_its_end_is_found_with_all_its_messages(
    scene: AnyStanding, answer: Answer
) -> None:
    """An excuse is one, too; and somebody may have said something above it and below."""
    claim = scene.asks()
    scene.remark(claim)
    delivery = await scene.chat.surface.reply(claim, grown(lambda: bool(scene.stands(claim)), answer))
    scene.remark(claim)

    is_failure = answer is EXCUSE
    assert await scene.found(claim) == FoundAnswer(delivery.messages, is_finished=True, is_failure=is_failure)


@pytest.mark.promise("ends-with-answer")
@pytest.mark.parametrize(("answer", "stands"), [(ANSWER, True), (LONG_ANSWER, True), (EXCUSE, False)])
async def test_a_whole_answer_is_known_for_that_to_whoever_has_the_question_next(
    scene: AnyStanding, answer: Answer, stands: bool
) -> None:
    """Whatever the store still has of it, which may be the first message, or nothing."""
    claim = scene.asks()
    again = replace(claim, attempt=2)
    nothing = await scene.chat.surface.standing(again)
    delivery = await scene.chat.surface.reply(claim, grown(lambda: bool(scene.stands(claim)), answer))
    half = replace(again, delivery=Delivery(messages=delivery.messages[:1]))

    assert nothing is None
    for known in (half, again):
        found = await scene.chat.surface.standing(known)
        assert found == (Delivery(messages=delivery.messages) if stands else None)


@pytest.mark.parametrize("platform", ["discord", "slack"])
async def test_a_question_that_got_a_mark_in_place_of_an_answer_waits_for_none(platform: str) -> None:
    """So the next one that found nothing, whose buttons name no question, belongs to the question after it."""
    async with PLATFORMS[platform]() as scene:
        scene.where = "our thread"
        await scene.chat.surface.react(scene.asks(), Reaction.LIMIT)
        claim = scene.asks()
        delivery = await scene.chat.surface.reply(claim, progress(NOTHING_FOUND))

        assert await scene.found(claim) == FoundAnswer(delivery.messages, is_finished=True)


@pytest.mark.promise("ends-with-answer")
async def test_half_an_answer_is_no_whole_one(scene: AnyStanding) -> None:
    """So a failure may take its place."""
    claim = scene.asks()
    messages = await broken_off(scene, claim)

    assert not await scene.chat.surface.standing(replace(claim, attempt=2, delivery=Delivery(messages=messages)))


@pytest.mark.promise("signs-go")
async def test_a_sign_of_work_beside_an_answer_that_was_said_last_goes(scene: AnyStanding) -> None:
    """Whoever wrote it died right after, and the store has lost it; where more was said, somebody may be at that."""
    claim = scene.asks()
    await scene.chat.surface.reply(claim, grown(lambda: bool(scene.stands(claim))))
    stays = scene.work(claim)
    await scene.found(claim)
    signs = scene.chat.signs(claim)
    scene.work(claim)
    scene.remark(claim)
    await scene.found(claim)

    assert (signs, bool(scene.chat.signs(claim))) == ([], stays)


@pytest.mark.parametrize("parts", [1, 2])
async def test_half_an_answer_is_found_as_that(scene: AnyStanding, parts: int) -> None:
    """With all of its messages, though others wrote in between: it is to be finished in its place."""
    claim = scene.asks()
    scene.remark(claim)
    messages = await broken_off(scene, claim, parts=parts)

    assert await scene.found(claim) == FoundAnswer(messages)


@pytest.mark.parametrize("is_whole", [False, True])
async def test_the_first_of_several_messages_is_no_whole_answer(scene: AnyStanding, *, is_whole: bool) -> None:
    """It says that more comes until that stands, also where the first draft fills several at once."""

    async def written() -> AsyncIterator[Progress]:
        yield LONG_ANSWER if is_whole else drafted(f"Robots.\n\n{LONG_ANSWER.text}\n\nAnd so\n\non")
        if not is_whole:
            await asyncio.Event().wait()

    claim, dying = scene.asks(), Worker(scene.chat.notes, Step.POSTING, 2)
    died = await dying.works(scene.chat.surfaced(observer=dying).reply(claim, written()))
    found = await scene.found(claim)

    assert found is not None
    assert (died, len(found.messages), found.is_finished) == (True, 1, False)


@pytest.mark.promise("catches-up")
async def test_what_was_begun_for_a_question_that_was_deleted_is_removed(scene: AnyStanding) -> None:
    """Where its worker died and the store has lost all of it; what others said stays.

    Within a thread, nobody can know to what a stream on Slack belongs that nobody has ended.
    """
    claim = scene.asks()
    begun = await broken_off(scene, claim)
    scene.work(claim)
    is_unknown = scene.chat.draft == START and claim.message.id != claim.message.thread.thread
    scene.delete(claim)
    await scene.remove_rest(claim)

    assert len(scene.stands(claim)) == (len(begun) if is_unknown else 0)
    assert is_unknown or scene.chat.signs(claim) == []


def just_behind(message: str) -> str:
    """Return the id of a message that came next; Discord's have more digits than a float keeps."""
    return str(int(message.partition(".")[0]) + 1)


async def test_an_answer_below_another_message_that_was_deleted_goes_on(scene: AnyStanding) -> None:
    """Such as what was said while the question waited."""
    claim = scene.asks()
    messages = await broken_off(scene, claim)
    before = MessageRef(thread=claim.message.thread, id=just_behind(claim.message.id))
    await scene.remove_rest(replace(claim, question=claim.question.model_copy(update={"message": before})))

    assert len(scene.stands(claim)) == len(messages)


async def test_a_whole_answer_to_a_question_that_was_deleted_stays(scene: AnyStanding) -> None:
    """As people may have read it, and gone on from it."""
    claim = scene.asks()
    await scene.chat.surface.reply(claim, progress(ANSWER))
    shown = list(scene.stands(claim))
    scene.delete(claim)
    await scene.remove_rest(claim)

    assert (list(scene.stands(claim)), len(shown)) == (shown, 1)


async def test_an_answer_is_found_for_the_newest_words_of_a_question(scene: AnyStanding) -> None:
    """Whoever edits a question changes the answer to the words before."""
    asked = scene.asks()
    claim = replace(asked, question=asked.question.model_copy(update={"revision": 7}))
    delivery = await scene.chat.surface.reply(claim, progress(ANSWER))

    assert await scene.found(claim, revision=7) == FoundAnswer(delivery.messages, is_finished=True)


@pytest.mark.promise("ends-with-answer")
async def test_an_answer_to_words_before_an_edit_is_known_for_that(scene: AnyStanding) -> None:
    """Its buttons know which words it answers, whenever it was shown; the newest one is whole without what it dropped.

    Whoever has the question next may know of that alone, as the store has lost what is newer.
    """
    claim = scene.asks()
    delivery = await scene.chat.surface.reply(claim, progress(LONG_ANSWER))
    edited = round((datetime.now(UTC) + timedelta(minutes=1)).timestamp() * 1000)
    question = claim.question.model_copy(update={"revision": edited})
    updated = replace(claim, delivery=delivery, is_update=True, question=question)
    before = await scene.found(claim, revision=edited)
    stood = await scene.chat.surface.standing(replace(updated, attempt=2))

    shown = await scene.chat.surface.reply(updated, progress(ANSWER))
    after = await scene.found(claim, revision=edited)
    stands = await scene.chat.surface.standing(replace(updated, attempt=2))

    assert before == FoundAnswer(delivery.messages, is_finished=True, is_current=False)
    assert after == FoundAnswer(delivery.messages[:1], is_finished=True)
    assert (stood, stands) == (None, Delivery(messages=shown.messages))


async def test_an_edit_before_anything_was_shown_leaves_one_answer(scene: AnyStanding) -> None:
    """Which does not say that it was updated, and whose message may be older than the edit."""
    claim = scene.asks()
    messages = await broken_off(scene, claim)
    edited = round((datetime.now(UTC) + timedelta(minutes=1)).timestamp() * 1000)
    question = claim.question.model_copy(update={"revision": edited})
    again = replace(claim, delivery=Delivery(messages=messages), question=question)
    delivery = await scene.chat.surface.reply(again, progress(ANSWER))

    assert await scene.found(claim, revision=edited) == FoundAnswer(delivery.messages, is_finished=True)


async def test_nothing_is_found_of_an_answer_that_was_deleted(scene: AnyStanding) -> None:
    """By a moderator; where a thread of its own counts what was ever said in it, nobody shall answer there again."""
    claim = scene.asks()
    await scene.chat.surface.reply(claim, progress(ANSWER))
    scene.clear(claim)

    assert await scene.found(claim) == (None if scene.counts() else FoundAnswer())


@pytest.mark.parametrize("is_begun", [False, True])
async def test_a_question_that_was_deleted_meanwhile_is_not_answered_any_more(
    scene: AnyStanding, is_begun: bool
) -> None:
    """Its words may have been read before, by whoever reads what was said while nobody heard it."""
    claim = scene.asks()
    if is_begun:
        await broken_off(scene, claim)
    scene.delete(claim)

    with pytest.raises(Gone):
        await scene.found(claim)


async def test_a_platform_that_is_busy_has_not_said_that_there_is_none(scene: AnyStanding) -> None:
    """Whoever looks comes again."""
    claim = scene.asks()
    scene.limit()
    with pytest.raises(RateLimited):
        await scene.found(claim)


async def test_where_too_much_was_said_since_nobody_knows(scene: AnyStanding) -> None:
    """An answer may stand further on."""
    claim = scene.asks()
    scene.begin(claim)
    for _ in range(100):
        scene.remark(claim)

    assert await scene.found(claim) is None


async def test_where_nobody_has_answered_nothing_is_found(scene: AnyStanding) -> None:
    """What the bot says to others there is not for whoever asks."""
    before = scene.asks()
    await scene.chat.surface.reply(before, progress(ANSWER))
    claim = scene.asks()
    scene.remark(claim)
    after = scene.asks()
    await scene.chat.surface.reply(after, progress(ANSWER))

    assert await scene.found(claim) == FoundAnswer()
