"""What the inbox stores in Redis, and for how long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from adapters.redis.inbox_store import PREFIX
from core.model import Asked, Claim, Interaction, ReplyAddress
from tests.adapters.redis.desk import Desk, key_of
from tests.builders import question, thread
from tests.fixtures.redis import all_keys, say
from tests.inboxes import (
    POSTED,
    asked,
    deleted,
    edited,
    fail,
    fall_short,
    quoting,
    retried,
    taken,
)
from tests.past import let_pass

TOKEN = "a-token-with-which-one-speaks-for-us"
WORDS = "What is the secret of robots?"


def private(*, expires_at: datetime) -> Asked:
    """A question that came by an interaction."""
    interaction = Interaction(id="i", token=TOKEN, expires_at=expires_at)
    return Asked(question=question(WORDS), address=ReplyAddress(thread=thread(), interaction=interaction))


@pytest.mark.promise("encrypted")
async def test_nothing_that_people_wrote_and_no_token_is_stored_in_the_clear(desk: Desk) -> None:
    """Whatever a key holds while the question is worked on."""
    async with desk.inbox() as inbox:
        await inbox.put(private(expires_at=datetime(2100, 1, 1, tzinfo=UTC)))
        async with inbox.claim() as task:
            await inbox.record(task, POSTED)
            stored = b"".join(
                [cast("bytes", await say(desk.client, "DUMP", key)) for key in await all_keys(desk.client)]
            )

    assert [word for word in (WORDS, "secret", TOKEN, "reply", "Ada") if word.encode() in stored] == []


async def test_of_an_answered_question_no_text_is_kept(desk: Desk) -> None:
    """But what notices a repetition, and what an edit needs."""
    async with desk.inbox() as inbox:
        await inbox.put(private(expires_at=datetime(2100, 1, 1, tzinfo=UTC)))
        async with inbox.claim() as task:
            await inbox.record(task, POSTED)
        left = await desk.question()

    assert left.keys() == {b"state", b"revision", b"attempts", b"fence", b"concluded", b"delivery", b"address", b"put"}
    assert await desk.client.exists(key_of("interaction", "m1")) == 0


@pytest.mark.promise("retry")
async def test_the_words_of_a_failed_question_are_kept_for_an_hour(desk: Desk) -> None:
    """Sealed, beside what notices a repetition; afterwards nobody can have it tried again."""
    async with desk.inbox() as inbox:
        await inbox.put(private(expires_at=datetime(2100, 1, 1, tzinfo=UTC)))
        await fall_short(inbox)
        kept = key_of("retry", "m1")
        stored, life = cast("bytes", await say(desk.client, "GET", kept)), await desk.client.ttl(kept)
        await let_pass(desk.client, 3600)

        assert stored
        assert WORDS.encode() not in stored
        assert 3590 < life <= 3600
        assert await desk.client.exists(kept) == 0
        assert not await inbox.put(retried(asked()))


@pytest.mark.promise("retry")
async def test_the_words_that_were_kept_go_as_soon_as_they_are_not_needed(desk: Desk) -> None:
    """When they are edited, tried again, or deleted."""
    async with desk.inbox() as inbox:
        for name, signal in (("1", edited("1")), ("2", retried(asked("2"))), ("3", deleted(asked("3")))):
            await inbox.put(asked(name))
            await fall_short(inbox)
            assert await desk.client.exists(key_of("retry", name)) == 1
            await inbox.put(signal)
            assert await desk.client.exists(key_of("retry", name)) == 0
            await taken(inbox)


@pytest.mark.promise("retry")
async def test_of_words_that_have_been_replaced_nothing_is_kept(desk: Desk) -> None:
    """Not even until the newer ones are taken."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            await inbox.put(edited())
            assert await inbox.keep(task)
        kept = await desk.kept("m1")

    assert kept is None


@pytest.mark.promise("retry")
async def test_of_a_kept_question_nothing_is_left_once_it_is_deleted(desk: Desk) -> None:
    """Neither words nor token."""
    async with desk.inbox() as inbox:
        await inbox.put(private(expires_at=datetime(2100, 1, 1, tzinfo=UTC)))
        await fall_short(inbox)
        await inbox.put(deleted(asked()))
        keys = [await desk.client.exists(key_of(kind, "m1")) for kind in ("retry", "interaction")]

        assert (keys, b"text" in await desk.question()) == ([0, 0], False)


@pytest.mark.promise("forget-person")
async def test_of_a_forgotten_person_neither_words_nor_a_name_are_left(desk: Desk) -> None:
    """Only that there was a question."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        await inbox.forget(thread().home, "p1")
        names = [key for key in await all_keys(desk.client) if b"person" in key or b"workspace" in key]

        assert (names, (await desk.question()).keys()) == ([], {b"state", b"revision", b"attempts", b"deleted", b"put"})


@pytest.mark.promise("forget-workspace")
async def test_of_a_forgotten_workspace_neither_words_nor_names_are_left(desk: Desk) -> None:
    """Of those who wait, of those who were answered, and of those whose question failed."""
    async with desk.inbox() as inbox:
        for name in ("1", "2", "3"):
            await inbox.put(asked(name))
        await taken(inbox)
        await fall_short(inbox)
        await inbox.forget(thread().home)
        kinds = {key.removeprefix(PREFIX.encode()).partition(b":")[0] for key in await all_keys(desk.client)}
        fields = set[bytes]().union(*[await desk.question(name) for name in ("1", "2", "3")])

    assert kinds <= {b"question", b"ready", b"thread", b"signals", b"clock"}
    assert fields == {b"state", b"revision", b"attempts", b"fence", b"concluded", b"address", b"deleted", b"put"}


async def test_a_token_goes_when_it_expires(desk: Desk) -> None:
    """The question is answered all the same, in its thread."""
    async with desk.inbox() as inbox:
        await inbox.put(private(expires_at=datetime.now(UTC) - timedelta(seconds=1)))
        task = await taken(inbox)

    assert task == Claim(question(WORDS), fence=1, address=ReplyAddress(thread=thread()))


async def test_what_is_heard_of_other_messages_is_forgotten_soon(desk: Desk) -> None:
    """Every deletion of a message that was no question leaves a trace, for minutes and not for days."""
    async with desk.inbox() as inbox:
        await inbox.put(deleted(asked("m1")))
        await inbox.put(edited("m2"))
        await inbox.put(asked("m3"))
        lives = [await desk.client.ttl(key_of("question", name)) for name in ("m1", "m2", "m3")]

    assert [life <= 600 for life in lives] == [True, True, False]


@pytest.mark.promise("retry")
async def test_the_words_of_what_was_given_up_are_kept_for_a_day(desk: Desk) -> None:
    """So that an operator can have it tried again; afterwards nobody can."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        for _ in range(3):
            await fail(inbox, ValueError())
        kept = key_of("retry", "m1")
        stored, life = await desk.client.exists(kept), await desk.client.ttl(kept)
        await let_pass(desk.client, 86_400)

        assert (stored, 86_390 < life <= 86_400, await desk.client.exists(kept)) == (1, True, 0)
        assert b"text" not in await desk.question()
        assert not await inbox.put(retried(asked()))


@pytest.mark.promise("nothing-of-bystanders")
async def test_what_others_wrote_leaves_nothing_behind(desk: Desk) -> None:
    """However a question has ended: not even for whoever has the key."""
    names = ("answered", "fell short", "given up")
    async with desk.inbox() as inbox:
        for name in names:
            await inbox.put(quoting(asked(name)))
        await taken(inbox)
        await fall_short(inbox)
        for _ in range(3):
            await fail(inbox, ValueError())
        kept = [await desk.kept(name) for name in names]
        texts = [b"text" in await desk.question(name) for name in names]

    assert kept == [None, *(asked(name).question.model_dump_json() for name in names[1:])]
    assert texts == [False] * 3
