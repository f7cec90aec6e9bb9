"""Whether a message is for the bot, where the answer goes, and what goes into the inbox."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from core.community.routing import Action, Company, Decision, Reason, Standing, route, signal
from core.errors import InvalidInput
from core.model import (
    Asked,
    Attendance,
    Deleted,
    Edited,
    Inbound,
    InboundKind,
    Message,
    MessageRef,
    Person,
    Question,
    ReplyAddress,
    Setting,
    Terms,
)
from tests.builders import NOON, thread

BOT, ADA, BOB, OURS_ID = "bot", "ada", "bob", "ours"
MINUTE = timedelta(minutes=1)
ELSEWHERE = Standing(me=BOT, reads_all=True)
OURS = Standing(me=BOT, threads_we_own={OURS_ID}, reads_all=True)
NO_TEXTS = replace(OURS, reads_all=False)
BOBS = Message(role="user", text="Look at this.", author="Bob")


def said(text: str = "What is a robot?", setting: Setting = Setting.THREAD, **fields: Any) -> Inbound:
    """Something that Ada wrote at noon."""
    message = MessageRef(thread=thread(OURS_ID if setting is Setting.THREAD else "1"), id="1")
    standard: dict[str, Any] = {"kind": InboundKind.WRITTEN, "author": Person(id=ADA, name="Ada"), "at": NOON}
    whole: dict[str, Any] = {**standard, **fields}
    return Inbound(message=message, setting=setting, text=text, **whole)


def mentioning(setting: Setting = Setting.CHANNEL, **fields: Any) -> Inbound:
    """Something that she wrote to the bot."""
    mentioned: dict[str, Any] = {"mentions": (BOT,), **fields}
    return said(setting=setting, **mentioned)


def deleted() -> Inbound:
    """A message that is gone."""
    return Inbound(kind=InboundKind.DELETED, message=said().message, setting=Setting.CHANNEL)


@pytest.mark.promise("only-when-asked")
@pytest.mark.parametrize(
    ("inbound", "standing", "decision"),
    [
        (mentioning(), ELSEWHERE, Decision(Action.OPEN_THREAD, Reason.MENTIONED)),
        (mentioning(), replace(ELSEWHERE, opens_threads=False), Decision(Action.ANSWER_HERE, Reason.MENTIONED)),
        (mentioning(Setting.THREAD), ELSEWHERE, Decision(Action.ANSWER_HERE, Reason.MENTIONED, reads_thread=True)),
        (mentioning(Setting.THREAD), OURS, Decision(Action.ANSWER_HERE, Reason.MENTIONED)),
        (said(setting=Setting.DIRECT), ELSEWHERE, Decision(Action.ANSWER_HERE, Reason.DIRECT)),
        (said(), OURS, Decision(Action.ANSWER_HERE, Reason.FOLLOW_UP)),
        (mentioning(Setting.THREAD, is_reply_to=BOT), NO_TEXTS, Decision(Action.ANSWER_HERE, Reason.MENTIONED)),
        (said(is_reply_to=BOT), OURS, Decision(Action.ANSWER_HERE, Reason.FOLLOW_UP)),
        (said(is_reply_to=ADA), OURS, Decision(Action.ANSWER_HERE, Reason.FOLLOW_UP)),
        (said(mentions=(BOT, BOB), is_reply_to=BOB), OURS, Decision(Action.ANSWER_HERE, Reason.MENTIONED)),
        (deleted(), ELSEWHERE, Decision(Action.WITHDRAW, Reason.GONE)),
        (mentioning(kind=InboundKind.EDITED), ELSEWHERE, Decision(Action.REVISE, Reason.MENTIONED)),
    ],
)
def test_who_speaks_to_the_bot_is_answered(inbound: Inbound, standing: Standing, decision: Decision) -> None:
    """By a mention anywhere, by a reply with a ping, in a direct message, and in the bot's own threads."""
    assert route(inbound, standing) == decision


@pytest.mark.promise("only-when-asked")
@pytest.mark.parametrize(
    ("inbound", "standing", "reason"),
    [
        (said(setting=Setting.CHANNEL), ELSEWHERE, Reason.NOT_ADDRESSED),
        (said(), ELSEWHERE, Reason.NOT_ADDRESSED),
        (said(kind=InboundKind.EDITED), ELSEWHERE, Reason.NOT_ADDRESSED),
        (said(setting=Setting.CHANNEL, is_reply_to=BOT), ELSEWHERE, Reason.NOT_ADDRESSED),
        (said(mentions=(BOB,)), OURS, Reason.SOMEBODY_ELSE),
        (said(mentions=("everyone",)), OURS, Reason.SOMEBODY_ELSE),
        (said("Thanks?", is_reply_to=BOB), OURS, Reason.SOMEBODY_ELSE),
        (said("Thanks?", is_reply_to=BOB, mentions=(BOB,)), OURS, Reason.SOMEBODY_ELSE),
        (said(""), NO_TEXTS, Reason.UNREADABLE),
        (said(""), OURS, Reason.WORDLESS),
        (said("Nice, Bob."), replace(OURS, company=Company({BOB})), Reason.AMONG_PEOPLE),
        (said("Thanks!"), OURS, Reason.ACKNOWLEDGED),
        (said(":tada:", is_reply_to=BOT), OURS, Reason.ACKNOWLEDGED),
        (said(), replace(OURS, company=Company({ADA}, Attendance(is_muted=True))), Reason.MUTED),
        (said(is_reply_to=BOT), replace(OURS, company=Company({ADA}, Attendance(is_muted=True))), Reason.MUTED),
        (said(mentions=(BOB,)), replace(ELSEWHERE, answers_unasked=True), Reason.SOMEBODY_ELSE),
        (said(""), replace(ELSEWHERE, answers_unasked=True), Reason.WORDLESS),
    ],
)
def test_who_speaks_to_others_is_left_alone(inbound: Inbound, standing: Standing, reason: Reason) -> None:
    """People talk to each other, also in the bot's threads."""
    assert route(inbound, standing) == Decision(Action.LEAVE, reason)


@pytest.mark.promise("edits-count")
@pytest.mark.parametrize("text", ["What is an arm?", ""])
def test_an_edit_of_a_question_counts_whoever_it_speaks_to_now(text: str) -> None:
    """Without the mention, it is still the question that is answered; what never was one is left alone."""
    edited = said(text, setting=Setting.CHANNEL, kind=InboundKind.EDITED)
    known = replace(ELSEWHERE, is_asked=True)

    assert route(edited, known) == Decision(Action.REVISE, Reason.ASKED)
    assert route(said(setting=Setting.CHANNEL), known) == Decision(Action.LEAVE, Reason.NOT_ADDRESSED)


@pytest.mark.parametrize(
    ("inbound", "company"),
    [
        (said("Go on."), Company({ADA})),
        (said("Go on."), Company({ADA}, Attendance(spoke={ADA: NOON}))),
        (said("Go on.", is_reply_to=BOT), Company({BOB})),
    ],
)
def test_a_thread_is_open_to_those_who_ask(inbound: Inbound, company: Company) -> None:
    """Whoever is alone with the bot there need ask nothing, nor whoever replies to it."""
    assert route(inbound, replace(OURS, company=company)).reason is Reason.FOLLOW_UP


@pytest.mark.promise("quiet-among-people")
@pytest.mark.parametrize(
    ("text", "spoken", "reason"),
    [
        ("And on Windows?", NOON - MINUTE, Reason.OVERHEARD),
        ("And on Windows?", NOON + MINUTE, Reason.AMONG_PEOPLE),
        ("How do I install it on Windows?", NOON + MINUTE, Reason.OVERHEARD),
        ("It does not work.", NOON - MINUTE, Reason.AMONG_PEOPLE),
    ],
)
def test_once_another_person_has_spoken_only_a_question_is_answered(
    text: str, spoken: datetime, reason: Reason
) -> None:
    """Also one of whoever has asked before; and since the last answer was given, a whole one."""
    company = Company({ADA}, Attendance(spoke={BOB: spoken, ADA: NOON}), answered_at=NOON)

    assert route(said(text), replace(OURS, company=company)).reason is reason


def test_whoever_is_known_in_a_thread_is_spoken_to_by_name() -> None:
    """A name at the beginning is not the bot's."""
    company = Company({BOB}, names=("Bob Miller",))

    assert route(said("bob how do I install it?"), replace(OURS, company=company)).reason is Reason.AMONG_PEOPLE


def test_a_mention_is_answered_whatever_is_said() -> None:
    """Also where the thread is muted, and it says thanks."""
    muted = replace(OURS, company=Company({BOB}, Attendance(is_muted=True)))

    assert route(mentioning(Setting.THREAD, text="Thanks!"), muted).reason is Reason.MENTIONED


@pytest.mark.promise("quiet-among-people")
@pytest.mark.parametrize(
    ("inbound", "decision"),
    [
        (said("Stuck\nHow do I reset my robot"), Decision(Action.ANSWER_HERE, Reason.UNASKED)),
        (said("What is a robot?", Setting.CHANNEL), Decision(Action.OPEN_THREAD, Reason.UNASKED)),
        (said("Lost my water bottle"), Decision(Action.LEAVE, Reason.NO_QUESTION)),
        (said("Bob, what is a robot?", Setting.CHANNEL), Decision(Action.LEAVE, Reason.NO_QUESTION)),
    ],
)
def test_of_what_moderators_want_answered_questions_are(inbound: Inbound, decision: Decision) -> None:
    """They need no mention, nor a question mark; what tells something is left alone."""
    unasked = replace(ELSEWHERE, answers_unasked=True)

    assert route(inbound, unasked) == decision
    found = signal(inbound, decision)
    assert isinstance(found, Asked) is (decision.action is not Action.LEAVE)
    assert not isinstance(found, Asked) or found.question.is_unasked


def test_a_mention_becomes_a_question() -> None:
    """It has all that the answer depends on, and the address that the answer goes to."""
    inbound = mentioning()
    asked = signal(inbound, route(inbound, ELSEWHERE), terms=Terms(top_k=3, relevance_threshold=0.4))

    assert asked == Asked(
        question=Question(
            message=inbound.message,
            text="What is a robot?",
            author=Person(id=ADA, name="Ada"),
            asked_at=NOON,
            top_k=3,
            relevance_threshold=0.4,
        ),
        address=ReplyAddress(thread=inbound.message.thread, message=inbound.message),
    )


@pytest.mark.promise("quiet-among-people")
@pytest.mark.parametrize(
    ("text", "is_judged"),
    [
        ("did you finish lab 3?", True),
        ("And on Windows?", True),
        ("so it runs on windows", False),
        ("thanks, that helps?", True),
        ("@bob how do I install it?", False),
        ("lol", False),
        ("oh really?", False),
        ("👍", False),
    ],
)
def test_where_a_model_judges_all_that_may_be_a_question_reaches_it(text: str, is_judged: bool) -> None:
    """Once others have spoken; what names somebody does not, and what is said to the bot need not be judged."""
    company = Company({ADA}, Attendance(spoke={BOB: NOON + MINUTE}), answered_at=NOON)
    judged, standing = replace(OURS, company=company, judges=True), replace(OURS, judges=True)
    asked = signal(said(text), route(said(text), judged))

    assert (isinstance(asked, Asked) and asked.question.is_doubtful) is is_judged
    for inbound in (said(is_reply_to=BOT), mentioning(Setting.THREAD)):
        found = signal(inbound, route(inbound, judged))
        assert isinstance(found, Asked)
        assert not found.question.is_doubtful
    alone = signal(said("Go on."), route(said("Go on."), replace(standing, company=Company({ADA}))))
    assert isinstance(alone, Asked)
    assert not alone.question.is_doubtful


@pytest.mark.parametrize(
    "inbound",
    [said("How does a robot move?"), said("Go on.", is_reply_to=BOT), mentioning(Setting.THREAD)],
    ids=["overheard", "a reply", "a mention"],
)
def test_in_a_thread_of_the_bot_where_others_speak_answers_are_replies(inbound: Inbound) -> None:
    """So that people see which is whose; whoever is alone with the bot sees it anyway."""

    def replies_to(company: Company) -> MessageRef | None:
        found = signal(inbound, route(inbound, replace(OURS, company=company)))
        assert isinstance(found, Asked)
        assert found.address is not None
        return found.address.message

    assert replies_to(Company({ADA})) is None
    assert replies_to(Company({ADA}, Attendance(spoke={BOB: NOON}))) == inbound.message


def test_the_message_replied_to_is_context() -> None:
    """What was said in the thread before comes first."""
    inbound = mentioning(is_reply_to=BOB, reply_to=MessageRef(thread=thread(), id="0"), quoted=(BOBS,))
    before = (Message(role="user", text="Hello.", author="Eve"),)

    asked = signal(inbound, route(inbound, ELSEWHERE), before=before)

    assert isinstance(asked, Asked)
    assert asked.question.context == (*before, BOBS)
    assert asked.question.reply_to == inbound.reply_to


def test_a_reply_with_nothing_but_a_mention_asks_what_the_message_asks() -> None:
    """So people hand a question on to the bot; what that message replied to stays context."""
    inbound = mentioning(text="", quoted=(BOBS, BOBS.model_copy(update={"text": "How do I start?"})))

    asked = signal(inbound, route(inbound, ELSEWHERE))

    assert isinstance(asked, Asked)
    assert (asked.question.text, asked.question.context) == ("How do I start?", (BOBS,))


def test_a_mention_without_a_question_gets_a_sentence() -> None:
    """The reader is told what to do."""
    inbound = mentioning(text="")

    with pytest.raises(InvalidInput, match="Please provide a question"):
        signal(inbound, route(inbound, ELSEWHERE))


def test_edits_and_deletions_go_into_the_inbox_too() -> None:
    """They name the question by its message."""
    edited, gone = mentioning(kind=InboundKind.EDITED, revision=7), deleted()

    revised = signal(edited, route(edited, ELSEWHERE))

    assert isinstance(revised, Edited)
    assert (revised.question.text, revised.question.revision) == ("What is a robot?", 7)
    assert signal(gone, route(gone, ELSEWHERE)) == Deleted(message=gone.message)


def test_what_is_left_alone_goes_nowhere() -> None:
    """Nothing that was not said to the bot is stored."""
    inbound = said(setting=Setting.CHANNEL)

    assert signal(inbound, route(inbound, ELSEWHERE)) is None
