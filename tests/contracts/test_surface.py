"""What every surface does with an answer, however its platform behaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial

import pytest

from core.errors import LeaseLost, StoreUnavailable
from core.events import Step
from core.model import Answer, Claim, Delivery, Progress, Reaction, Restarted, Searching, Withdrawal
from tests.fakes.surface import drafted
from tests.on_board import on_board
from tests.on_discord import OnDiscord, OnDiscordByCommand, on_discord
from tests.on_slack import OnSlack, OnSlackByEdits, on_slack
from tests.platforms import ANSWER, ChatPlatform, Trouble, Worker, grown, progress
from tests.waiting import wait_until

WRITTEN = (Searching("robot"), drafted("A robot acts. It "), drafted("A robot acts. It moves. And "), ANSWER)
HOSTILE = "@everyone @here <@1> <@!1> <@&1> <#1> <!channel> <!here> <@U1> https://evil.example/x ||hidden|| [1]"


PLATFORMS = {
    "discord": partial(on_discord, OnDiscord),
    "discord, by command": partial(on_discord, OnDiscordByCommand),
    "slack": partial(on_slack, OnSlack),
    "slack, by edits": partial(on_slack, OnSlackByEdits),
    "a board of plain text": on_board,
}


READABLE = ("discord", "slack", "slack, by edits")


@pytest.fixture(name="chat", params=list(PLATFORMS.values()), ids=list(PLATFORMS))
async def _chat(request: pytest.FixtureRequest) -> AsyncIterator[ChatPlatform]:
    async with request.param() as chat:
        yield chat


async def test_the_last_item_is_what_stands_there(chat: ChatPlatform) -> None:
    """Whatever was written before."""
    claim = await chat.asks()

    delivery = await chat.surface.reply(claim, progress(drafted("Robots are made of cheese."), ANSWER))

    (stands,) = chat.stands(claim)
    assert ("A robot acts." in stands, "cheese" in stands) == (True, False)
    assert len(delivery.messages) == 1


async def test_text_appears_while_it_is_written_and_goes_when_it_is_taken_back(chat: ChatPlatform) -> None:
    """Readers see what is written now, and nothing of a broken attempt."""
    claim = await chat.asks()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("Robots are made of cheese.\n\nThey are")
        await chat.until(lambda: any("cheese" in text for text in chat.stands(claim)))
        yield Restarted()
        await chat.until(lambda: not any("cheese" in text for text in chat.stands(claim)))
        yield ANSWER

    await chat.surface.reply(claim, written())

    assert ["A robot acts." in text for text in chat.stands(claim)] == [True]


@pytest.mark.promise("posted-once")
async def test_the_next_attempt_edits_what_the_one_before_has_posted(chat: ChatPlatform) -> None:
    """A question has one answer, whoever gives it in the end."""
    claim = await chat.asks()
    first = await chat.surface.reply(claim, grown(lambda: bool(chat.stands(claim))))
    better = ANSWER.model_copy(update={"text": "A robot moves. [1]"})

    second = await chat.surface.reply(replace(claim, delivery=first, attempt=2), progress(better))

    assert ["A robot moves." in text for text in chat.stands(claim)] == [True]
    assert second == first


@pytest.mark.promise("posted-once")
@pytest.mark.parametrize("revision", [0, 7])
async def test_an_attempt_that_knows_of_no_other_posts_nothing_new(chat: ChatPlatform, revision: int) -> None:
    """The one before may have ended between posting and noting it, and the question was edited since, or was before."""
    claim = await chat.asks()
    await chat.surface.reply(claim, grown(lambda: bool(chat.stands(claim))))
    edited = claim.question.model_copy(update={"revision": revision})
    await chat.surface.reply(replace(claim, question=edited, attempt=2), progress(*WRITTEN))

    assert len(chat.stands(claim)) == 1


@pytest.mark.promise("posted-once")
@pytest.mark.parametrize("ends", [False, True])
async def test_no_message_of_a_long_answer_is_posted_again(chat: ChatPlatform, *, ends: bool) -> None:
    """The store may have been away when further ones were noted; and a command's way back ends, not their thread."""
    claim = await chat.asks()
    long = ANSWER.model_copy(update={"text": "word " * (chat.longest // 3)})
    first = await chat.surface.reply(claim, progress(long))
    stood = chat.stands(claim)
    known = {"delivery": first if ends else Delivery(messages=first.messages[:1])}
    address = claim.address and claim.address.model_copy(update={"interaction": None} if ends else {})
    second = await chat.surface.reply(replace(claim, address=address, attempt=2, **known), progress(long))

    assert (chat.stands(claim), second) == (stood, first)
    assert len(stood) > 1


@pytest.mark.promise("posted-once")
@pytest.mark.promise("final-state")
@pytest.mark.parametrize("trouble", Trouble)
async def test_whatever_happens_on_the_way_the_answer_stands_there_once(chat: ChatPlatform, trouble: Trouble) -> None:
    """Requests that fail are made again, and known again."""
    claim = await chat.asks()
    chat.meets(trouble)

    await chat.surface.reply(claim, progress(ANSWER))

    assert ["A robot acts." in text for text in chat.stands(claim)] == [True]


@pytest.mark.promise("nothing-pings")
@pytest.mark.parametrize("step", [1, 7, 1_000], ids=["by characters", "in pieces", "at once"])
async def test_hostile_text_notifies_nobody_and_shows_no_preview(chat: ChatPlatform, step: int) -> None:
    """In no request, however the text is cut; each request says so by itself, and the text does too."""
    claim = await chat.asks()

    async def written() -> AsyncIterator[Progress]:
        for at in range(0, len(HOSTILE), step):
            yield drafted(HOSTILE[: at + step])
            await asyncio.sleep(0)
        yield drafted(f"{HOSTILE}\n\nAnd")
        await chat.until(lambda: chat.stands(claim))
        yield ANSWER.model_copy(update={"text": HOSTILE})

    delivery = await chat.surface.reply(claim, written())
    await chat.surface.reply(replace(claim, delivery=delivery), progress(drafted(HOSTILE), ANSWER))

    assert chat.alarms() == []


async def test_a_long_answer_is_several_messages_in_order(chat: ChatPlatform) -> None:
    """None is longer than the platform allows, and the sources are in the last one."""
    claim = await chat.asks()
    numbers = [f"Robot number {n}." for n in range(12)]
    text = "\n\n".join(f"{number} {'word ' * 60}[1]" for number in numbers)

    delivery = await chat.surface.reply(claim, progress(ANSWER.model_copy(update={"text": text})))

    stands = chat.stands(claim)
    assert (len(stands) > 1, len(delivery.messages)) == (True, len(stands))
    assert max(map(len, stands)) <= chat.longest
    assert sorted(numbers, key="".join(stands).index) == numbers
    assert ["(docs.example)" in text for text in stands] == [False] * (len(stands) - 1) + [True]


async def test_an_answer_that_somebody_deletes_is_not_posted_again(chat: ChatPlatform) -> None:
    """Who deletes a message of it wants none of it."""
    claim = await chat.asks()
    first = await chat.surface.reply(claim, grown(lambda: bool(chat.stands(claim))))
    chat.removes_answer(claim)

    delivery = await chat.surface.reply(replace(claim, delivery=first), progress(*WRITTEN))

    assert (chat.stands(claim), delivery) == ([], Delivery())


@pytest.mark.promise("refusals-end")
@pytest.mark.parametrize("is_deleted", [False, True])
async def test_nothing_more_is_written_where_nobody_can_read_it(chat: ChatPlatform, *, is_deleted: bool) -> None:
    """Where the bot is shut out, or somebody has deleted what stands there; a model would be paid in vain."""
    claim = await chat.asks()
    stopped = asyncio.Event()

    async def written() -> AsyncGenerator[Progress]:
        try:
            yield drafted("A robot acts. It ")
            await chat.until(lambda: chat.stands(claim))
            (chat.removes_answer if is_deleted else chat.forbids)(claim)
            for number in range(1, 500):
                yield drafted(f"A robot acts. It {'acts ' * number}")
                await asyncio.sleep(0.005)
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with asyncio.timeout(5), aclosing(written()) as writing:
        await chat.surface.reply(claim, writing)

    await stopped.wait()
    assert chat.warnings(claim) == 0 if is_deleted else chat.stands(claim)


async def test_an_answer_that_is_withdrawn_is_gone(chat: ChatPlatform) -> None:
    """All of it; doing it twice is no error."""
    claim = await chat.asks()
    delivery = await chat.surface.reply(claim, grown(lambda: bool(chat.stands(claim))))
    withdrawal = Withdrawal(claim.message, delivery=delivery)

    await chat.surface.withdraw(withdrawal)
    await chat.surface.withdraw(withdrawal)

    assert chat.stands(claim) == []


async def test_an_answer_that_people_have_gone_on_from_stays(chat: ChatPlatform) -> None:
    """What they said would make no sense without it."""
    claim = await chat.asks()
    delivery = await chat.surface.reply(claim, grown(lambda: bool(chat.stands(claim))))
    before = chat.stands(claim)
    chat.replies(claim)

    await chat.surface.withdraw(Withdrawal(claim.message, delivery=delivery))

    assert chat.stands(claim) == before


async def test_what_the_asker_has_said_keeps_no_answer(chat: ChatPlatform) -> None:
    """Whoever takes back a question takes back the thanks for the answer with it."""
    claim = await chat.asks()
    delivery = await chat.surface.reply(claim, grown(lambda: bool(chat.stands(claim))))
    chat.replies(claim)

    await chat.surface.withdraw(Withdrawal(claim.message, delivery=delivery, asker_id=claim.question.author.id))

    assert chat.stands(claim) == []


async def test_a_warning_is_there_once_and_can_be_taken_away(chat: ChatPlatform) -> None:
    """However often it is put there, or taken away."""
    claim = await chat.asks()
    await chat.surface.reply(claim, grown(lambda: bool(chat.stands(claim))))

    await chat.surface.react(claim, Reaction.WARNING)
    await chat.surface.react(claim, Reaction.WARNING)
    warned = chat.warnings(claim)
    await chat.surface.unreact(claim, Reaction.WARNING)
    await chat.surface.unreact(claim, Reaction.WARNING)

    assert (warned, chat.warnings(claim)) == (1, 0)


async def test_nothing_is_shown_any_more_once_nobody_wants_the_answer(chat: ChatPlatform) -> None:
    """Whoever is cancelled leaves things as they are, and nothing running."""
    claim = await chat.asks()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts. It ")
        await chat.until(lambda: chat.stands(claim))
        replying.cancel()
        yield drafted("A robot acts. It is made of cheese.")
        await asyncio.Event().wait()

    replying = asyncio.create_task(chat.surface.reply(claim, written()))
    with pytest.raises(asyncio.CancelledError):
        await replying
    before = chat.stands(claim)
    await chat.surface.react(claim, Reaction.WARNING)

    assert (chat.stands(claim), "cheese" in before[0]) == (before, False)


@pytest.mark.promise("no-orphans")
async def test_a_message_that_is_on_its_way_when_the_answer_is_given_up_is_noted(chat: ChatPlatform) -> None:
    """Nobody could remove it otherwise."""
    claim = await chat.asks()
    go_on = chat.holds()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts.\n\nIt")
        await chat.until(chat.is_met)
        replying.cancel()
        go_on.set()
        await asyncio.Event().wait()

    replying = asyncio.create_task(chat.surface.reply(claim, written()))
    with pytest.raises(asyncio.CancelledError):
        await replying
    noted = chat.notes.written[-1] if chat.notes.written else Delivery()
    await chat.surface.withdraw(Withdrawal(claim.message, delivery=noted))

    assert chat.stands(claim) == []


@pytest.mark.promise("no-orphans")
async def test_messages_are_noted_as_soon_as_they_are_posted(chat: ChatPlatform) -> None:
    """A process that ends before the answer does leaves none that nobody knows of."""
    claim, many = await chat.asks(), 1 if chat.drafts_once else 2
    paragraphs = chat.longest // 220  # which are more than one message, and no more than two

    async def written() -> AsyncIterator[Progress]:
        yield drafted("\n\n".join(f"Robot number {n}. {'word ' * 60}" for n in range(paragraphs)))
        await chat.until(lambda: any(len(note.messages) == many for note in chat.notes.written))
        early.append(chat.notes.written[-1])
        yield ANSWER

    early = list[Delivery]()
    await chat.surface.reply(claim, written())

    assert len(early[0].messages) == many


@pytest.mark.promise("crash-safe")
async def test_nothing_is_posted_that_cannot_be_noted(chat: ChatPlatform) -> None:
    """Nobody would find it after a crash; the answer comes once the store is back."""
    claim, replying = await _begun_without_notes(chat)

    before = len(chat.stands(claim))  # one if there was a response to a command
    chat.notes.failure = None
    await replying

    assert (before < 2, len(chat.stands(claim))) == (True, 2)


@pytest.mark.promise("crash-safe")
async def test_who_loses_a_question_while_nothing_can_be_noted_posts_nothing(chat: ChatPlatform) -> None:
    """Whoever has it by then answers."""
    _, replying = await _begun_without_notes(chat)

    before = chat.changes()
    chat.notes.is_lost = True
    with pytest.raises(LeaseLost):
        await replying

    assert chat.changes() == before


async def _begun_without_notes(chat: ChatPlatform) -> tuple[Claim, asyncio.Task[Delivery]]:
    """Let an answer be shown of two messages while the store is away, and wait until its notes have been refused."""
    chat.notes.failure = StoreUnavailable("The store is away.")
    claim = await chat.asks()
    replying = asyncio.create_task(chat.surface.reply(claim, progress(_long(chat))))
    await wait_until(lambda: chat.notes.refusals > 3, what="a further try")
    return claim, replying


def _long(chat: ChatPlatform) -> Answer:
    """Give an answer of two messages."""
    paragraphs = (f"Robot number {number}. {'word ' * 60}" for number in range(chat.longest // 220))
    return ANSWER.model_copy(update={"text": "\n\n".join(paragraphs)})


@pytest.mark.promise("refusals-end")
async def test_a_place_where_the_bot_may_say_nothing_is_no_failure(chat: ChatPlatform) -> None:
    """Trying again would change nothing."""
    claim = await chat.asks()
    chat.forbids(claim)

    await chat.surface.reply(claim, progress(*WRITTEN))

    assert chat.stands(claim) == []


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize(
    ("step", "times"),
    [(Step.POSTING, 1), (Step.POSTED, 1), (Step.POSTED, 2), (Step.NOTED, 1), (Step.EDITING, 1), (Step.EDITED, 1)],
)
@pytest.mark.parametrize("before", [{"attempt": 2}, {"was_released": True}], ids=["an attempt", "handed back"])
async def test_the_next_worker_finishes_what_one_has_left_that_died(
    chat: ChatPlatform, step: Step, times: int, before: dict[str, int]
) -> None:
    """One complete answer stands there then, and nothing that still seems to be on its way."""
    claim, dying = await chat.asks(), Worker(chat.notes, step, times)
    many = "\n\n".join(f"Robot number {n}. {'word ' * 60}" for n in range(chat.longest // 140))

    async def written() -> AsyncIterator[Progress]:
        yield drafted("Robots are made of cheese.\n\nThey")
        await chat.until(lambda: chat.stands(claim))
        yield drafted(f"Robots are made of cheese.\n\nThey are many.\n\n{many}\n\nAnd")
        await chat.until(lambda: len(chat.stands(claim)) > 2 or chat.drafts_once)
        yield ANSWER.model_copy(update={"text": f"Robots are made of cheese.\n\nThey are many.\n\n{many}"})

    died = await dying.works(chat.surfaced(observer=dying).reply(claim, written()))
    noted = chat.notes.written[-1] if chat.notes.written else Delivery()
    delivery = await chat.surface.reply(replace(claim, delivery=noted, **before), progress(*WRITTEN))

    (stands,) = chat.stands(claim)
    assert (died, "A robot acts." in stands, "cheese" in stands) == (True, True, False)
    assert (len(delivery.messages), chat.signs(claim)) == (1, [])


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("chat", [PLATFORMS[each] for each in READABLE], indirect=True, ids=READABLE)
async def test_nothing_is_posted_only_to_be_removed(chat: ChatPlatform) -> None:
    """It can be read that no other message stands there, which a worker was about to post when it died."""
    claim, dying = await chat.asks(), Worker(chat.notes, Step.POSTING, 2)
    died = await dying.works(chat.surfaced(observer=dying).reply(claim, progress(_long(chat))))
    noted, before = chat.notes.written[-1], len(chat.changes())
    await chat.surface.reply(replace(claim, attempt=2, delivery=noted), progress(ANSWER))

    assert (died, noted.trying is not None, len(chat.stands(claim)), chat.signs(claim)) == (True, True, 1, [])
    assert not [each for each in chat.changes()[before:] if "post" in each.lower() or "start" in each.lower()]


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("known", ["before the removal", "after it", "before all of it, as the store went back"])
async def test_what_a_worker_has_removed_itself_was_removed_by_no_reader(chat: ChatPlatform, known: str) -> None:
    """Two workers have died, and the second one had less to say than the first."""
    claim, long = await chat.asks(), _long(chat)
    first = await chat.surface.reply(claim, progress(long))
    await chat.surface.reply(replace(claim, attempt=2, delivery=first), progress(ANSWER))
    leaving = [note for note in chat.notes.written if note.leaving]
    noted = {"before the removal": leaving[0], "after it": leaving[-1]}.get(known, first)
    longer = long.model_copy(update={"text": f"{long.text}\n\n{long.text}"})
    third = await chat.surface.reply(replace(claim, attempt=3, delivery=noted), progress(longer))

    stands = chat.stands(claim)
    assert (len(stands) > 2, len(third.messages), chat.signs(claim)) == (True, len(stands), [])
    assert ["docs.example" in text for text in stands] == [False] * (len(stands) - 1) + [True]


@pytest.mark.promise("crash-safe")
async def test_who_has_lost_a_question_changes_nothing_any_more(chat: ChatPlatform) -> None:
    """No text, no sign and no mark, whatever it was about to do; nor does it take anything back."""
    claim = await chat.asks()

    async def written() -> AsyncIterator[Progress]:
        yield drafted("A robot acts.\n\nIt")
        await chat.until(lambda: chat.notes.written and chat.stands(claim))
        chat.notes.is_lost = True
        before.extend(chat.changes())
        for number in range(100):
            yield drafted("A robot acts.\n\nIt" + " is made of cheese.\n\nAnd it" * number)
            await asyncio.sleep(0)
        yield ANSWER

    before = list[str]()
    with pytest.raises(LeaseLost):
        await chat.surface.reply(claim, written())
    with pytest.raises(LeaseLost):
        await chat.surface.reply(replace(claim, attempt=2), progress(*WRITTEN))
    with pytest.raises(LeaseLost):
        await chat.surface.withdraw(Withdrawal(claim.message, attempt=2, delivery=chat.notes.written[-1]))
    for mark in Reaction:
        await chat.surface.react(claim, mark)

    assert (chat.changes(), chat.warnings(claim)) == (before, 0)


async def test_a_wait_that_the_platform_asks_for_is_told(chat: ChatPlatform) -> None:
    """Whoever runs the bot sees how often it is held up."""
    claim = await chat.asks()
    chat.meets(Trouble.TOO_FAST)

    await chat.surface.reply(claim, progress(ANSWER))

    assert 0.01 in chat.waits
