"""Whether a message is for the bot, where the answer goes, and what goes into the inbox."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.discord.inbound import Place, parse
from adapters.discord.routing import Action, Decision, Reason, Standing, route, signal
from adapters.discord.thread_name import thread_name
from core.errors import InvalidInput
from core.model import Asked, Deleted, Edited, Inbound, Message, Person, Question, ReplyAddress
from tests.adapters.discord.payloads import (
    ADA,
    BOB,
    BOT,
    IN_CHANNEL,
    IN_DIRECT,
    IN_THREAD,
    ME,
    ROBOT,
    THREAD,
    created,
    deleted,
    mentioning,
    message,
    replying,
    updated,
    user,
)

ELSEWHERE = Standing(me=BOT, reads_all=True)
OURS = Standing(me=BOT, threads_we_own={THREAD}, reads_all=True)
BOBS = message("Look at this.", author=user(BOB, "bob"))


def read(event: dict[str, Any], place: Place = IN_CHANNEL) -> Inbound:
    """Read an event that means something."""
    inbound = parse(event, me=ME, place=place)
    assert inbound is not None
    return inbound


@pytest.mark.promise("only-when-asked")
@pytest.mark.parametrize(
    ("event", "place", "standing", "decision"),
    [
        (mentioning(), IN_CHANNEL, ELSEWHERE, Decision(Action.OPEN_THREAD, Reason.MENTIONED)),
        (
            mentioning(),
            IN_CHANNEL,
            replace(ELSEWHERE, opens_threads=False),
            Decision(Action.ANSWER_HERE, Reason.MENTIONED),
        ),
        (mentioning(), IN_THREAD, ELSEWHERE, Decision(Action.ANSWER_HERE, Reason.MENTIONED, reads_thread=True)),
        (mentioning(), IN_THREAD, OURS, Decision(Action.ANSWER_HERE, Reason.MENTIONED)),
        (created(guild_id=None), IN_DIRECT, ELSEWHERE, Decision(Action.ANSWER_HERE, Reason.DIRECT)),
        (created(), IN_THREAD, OURS, Decision(Action.ANSWER_HERE, Reason.FOLLOW_UP)),
        (
            replying("And now?", message(author=ROBOT), ping=True),
            IN_THREAD,
            replace(OURS, reads_all=False),
            Decision(Action.ANSWER_HERE, Reason.MENTIONED),
        ),
        (
            replying("And now?", message(author=ROBOT), ping=False),
            IN_THREAD,
            OURS,
            Decision(Action.ANSWER_HERE, Reason.FOLLOW_UP),
        ),
        (
            replying("I mean this", message(), ping=False),
            IN_THREAD,
            OURS,
            Decision(Action.ANSWER_HERE, Reason.FOLLOW_UP),
        ),
        (
            replying(f"<@{BOT}> And?", BOBS, ping=True, mentions=[ROBOT, user(BOB)]),
            IN_THREAD,
            OURS,
            Decision(Action.ANSWER_HERE, Reason.MENTIONED),
        ),
        (deleted(), IN_CHANNEL, ELSEWHERE, Decision(Action.WITHDRAW, Reason.GONE)),
        (updated(mentions=[ROBOT]), IN_CHANNEL, ELSEWHERE, Decision(Action.REVISE, Reason.MENTIONED)),
    ],
)
def test_who_speaks_to_the_bot_is_answered(
    event: dict[str, Any], place: Place, standing: Standing, decision: Decision
) -> None:
    """By a mention anywhere, by a reply with a ping, in a direct message, and in the bot's own threads."""
    assert route(read(event, place), standing) == decision


@pytest.mark.promise("only-when-asked")
@pytest.mark.parametrize(
    ("event", "place", "standing", "reason"),
    [
        (created(), IN_CHANNEL, ELSEWHERE, Reason.NOT_ADDRESSED),
        (created(), IN_THREAD, ELSEWHERE, Reason.NOT_ADDRESSED),
        (updated(), IN_CHANNEL, ELSEWHERE, Reason.NOT_ADDRESSED),
        (replying("And?", message(author=ROBOT), ping=False), IN_CHANNEL, ELSEWHERE, Reason.NOT_ADDRESSED),
        (created(mentions=[user(BOB)]), IN_THREAD, OURS, Reason.SOMEBODY_ELSE),
        (created(mention_everyone=True), IN_THREAD, OURS, Reason.SOMEBODY_ELSE),
        (replying("Thanks?", BOBS, ping=False), IN_THREAD, OURS, Reason.SOMEBODY_ELSE),
        (replying("Thanks?", BOBS, ping=True), IN_THREAD, OURS, Reason.SOMEBODY_ELSE),
        (created(""), IN_THREAD, replace(OURS, reads_all=False), Reason.UNREADABLE),
        (created("", attachments=[{"id": "1", "filename": "a.png"}]), IN_THREAD, OURS, Reason.WORDLESS),
        (created("Nice, Bob."), IN_THREAD, replace(OURS, askers={BOB}), Reason.BYSTANDER),
    ],
)
def test_who_speaks_to_others_is_left_alone(
    event: dict[str, Any], place: Place, standing: Standing, reason: Reason
) -> None:
    """People talk to each other, also in the bot's threads."""
    assert route(read(event, place), standing) == Decision(Action.LEAVE, reason)


@pytest.mark.parametrize(
    ("event", "askers"),
    [
        (created("And on Windows?"), {BOB}),
        (created("Go on."), {ADA}),
        (replying("Go on.", message(author=ROBOT), ping=False), {BOB}),
    ],
)
def test_a_thread_is_open_to_those_who_ask(event: dict[str, Any], askers: set[str]) -> None:
    """Somebody new joins with a question, or with a reply to the bot; who has asked before needs neither."""
    assert route(read(event, IN_THREAD), replace(OURS, askers=askers)).reason is Reason.FOLLOW_UP


def test_a_mention_becomes_a_question() -> None:
    """It has all that the answer depends on, and the address that the answer goes to."""
    inbound = read(mentioning())
    asked = signal(inbound, route(inbound, ELSEWHERE))

    assert asked == Asked(
        question=Question(
            message=inbound.message,
            text="What is a robot?",
            author=Person(id=ADA, name="Ada L."),
            asked_at=datetime(2017, 7, 11, 17, 27, 7, 299_000, tzinfo=UTC),
        ),
        address=ReplyAddress(thread=inbound.thread, message=inbound.message),
    )


def test_the_message_replied_to_is_context() -> None:
    """What was said in the thread before comes first."""
    inbound = read(replying(f"<@{BOT}> is that so?", BOBS, ping=True, mentions=[ROBOT]))
    before = (Message(role="user", text="Hello.", author="Eve"),)

    asked = signal(inbound, route(inbound, ELSEWHERE), before=before)

    assert isinstance(asked, Asked)
    assert [(said.author, said.text) for said in asked.question.context] == [
        ("Eve", "Hello."),
        ("Ada L.", "Look at this."),
    ]
    assert asked.question.reply_to == inbound.reply_to


def test_a_reply_with_nothing_but_a_mention_asks_what_the_message_asks() -> None:
    """So people hand a question on to the bot."""
    inbound = read(replying(f"<@{BOT}>", message("How do I start?", author=user(BOB)), ping=False, mentions=[ROBOT]))

    asked = signal(inbound, route(inbound, ELSEWHERE))

    assert isinstance(asked, Asked)
    assert (asked.question.text, asked.question.context) == ("How do I start?", ())


def test_a_mention_without_a_question_gets_a_sentence() -> None:
    """The reader is told what to do."""
    inbound = read(mentioning(f"<@{BOT}>"))

    with pytest.raises(InvalidInput, match="Please provide a question"):
        signal(inbound, route(inbound, ELSEWHERE))


def test_edits_and_deletions_go_into_the_inbox_too() -> None:
    """They name the question by its message."""
    edited, gone = read(updated("What are robots?", mentions=[ROBOT])), read(deleted())

    revised = signal(edited, route(edited, ELSEWHERE))

    assert isinstance(revised, Edited)
    assert (revised.question.text, revised.question.revision) == ("What are robots?", edited.revision)
    assert signal(gone, route(gone, ELSEWHERE)) == Deleted(message=gone.message)


def test_what_is_left_alone_goes_nowhere() -> None:
    """Nothing that was not said to the bot is stored."""
    inbound = read(created())

    assert signal(inbound, route(inbound, ELSEWHERE)) is None


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("How do I **start**\nthe `robot`?", "How do I start the robot ?"),
        ("", "Question"),
        ("`` **", "Question"),
        ("word " * 40, "word " * 14 + "word…"),
        ("x" * 200, "x" * 79 + "…"),
        ("a\u202eb", "ab"),
    ],
)
def test_a_thread_is_named_after_its_question(question: str, name: str) -> None:
    """On one line, without marks, cut between words, never empty."""
    assert thread_name(question) == name
