"""The values: what they refuse, how they are printed, and that JSON keeps them whole."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from core.errors import InvalidInput
from core.model import (
    CONTEXT_LIMIT,
    NO_QUESTION,
    QUESTION_LIMIT,
    SELECTION_LIMIT,
    Actor,
    Answer,
    Asked,
    AskedAgain,
    Attachment,
    Attendance,
    Audience,
    AuditEntry,
    Budget,
    ChannelRef,
    Citation,
    Communities,
    Complaint,
    Cost,
    Deleted,
    Delivery,
    Document,
    Edited,
    Holder,
    Inbound,
    InboundKind,
    Interaction,
    LeftOut,
    Measure,
    Message,
    MessageRef,
    Origin,
    Period,
    Person,
    Policy,
    Prices,
    Readership,
    Recheck,
    ReplyAddress,
    Scope,
    Setting,
    Signal,
    SourceKind,
    SourceRecord,
    Status,
    Stopped,
    SyncReport,
    Tally,
    Terms,
    ThreadRef,
    ToolCall,
    ToolRecord,
    Turn,
    Unchanged,
    Unread,
    Unreadable,
    Usage,
    Vote,
    WaitNotice,
    heading,
    without_controls,
)
from core.model.refs import Ref, Value
from core.model.task import AboutQuestion
from tests.builders import NOON, conversation, passage, question, thread, turn_of
from tests.portion import examples

CITATION = Citation(number=1, chapter="one", section="S", title="T", url="https://a.example", relevance_score=0.5)
RECORD = ToolRecord(name="search_documents", arguments="{}", success=True, result_size=2, time_ms=1.5)
INTERACTION = Interaction(id="1", token="a token", expires_at=NOON)
ADDRESS = ReplyAddress(thread=thread(), message=question().message, interaction=INTERACTION)
VALUES = [
    thread(),
    thread().home,
    ChannelRef(platform="test", workspace="w", channel="c"),
    Policy(paused_by=Person(id="p1"), paused_at=NOON, silent_channels=frozenset({"7", "8"})),
    Communities(allowed=(thread().home,), first=thread().home, settled=frozenset({"test"})),
    Audience(communities=frozenset([thread().home])),
    SourceRecord(name="docs", audience=Audience(everyone=True)),
    Readership(communities=frozenset([thread().home]), has_strangers=True),
    Actor(person=Person(id="p1"), home=thread().home, may_moderate=True),
    AuditEntry(by=Person(id="p1"), did="pause", about="p2", at=NOON),
    MessageRef(thread=thread(), id="m1"),
    Person(id="p1", name="Ada"),
    Message(role="user", text="Hi", author="Ada", at=NOON),
    Scope(sources=("docs",), chapters=("one", "two"), open_at=NOON),
    question(selection="Robots.", context=(Message(role="user", text="Hi"),), scope=Scope(open_at=NOON), top_k=3),
    Delivery(messages=(MessageRef(thread=thread(), id="m1"),)),
    Document(source="docs", url="u", title="T", text="x", chapter="one", opens_at=NOON),
    Unreadable(name="a.pdf", reason="It is empty.", url="u"),
    Unchanged(url="u", name="a.md"),
    LeftOut(name="a.png", why=".png"),
    Origin(kind=SourceKind.FOLDER, address="/docs", base_url="https://docs.example", every=3_600),
    SyncReport(tried_at=NOON, read_at=NOON, pages=2, failed=1, failures=(Unreadable(name="a", reason="b"),)),
    ToolCall(id="1", name="search_documents", arguments="{not json"),
    Prices(prompt=1.0, cached=0.5, completion=2.0),
    Usage(prompt_tokens=1, completion_tokens=2, cached_tokens=3),
    CITATION,
    RECORD,
    Answer(id="a", text="Yes [1].", citations=(CITATION,), status=Status.ANSWERED, tool_calls=(RECORD,)),
    Turn(question_ref=question().message, question="Q?", answer="A", citations=(CITATION,), at=NOON),
    Attendance(spoke={"p1": NOON}, is_muted=True),
    conversation(turn_of("Q?")),
    INTERACTION,
    ADDRESS,
    Attachment(name="error.log", text="Out of memory.", is_cut=True),
    question(attachments=(Attachment(name="photo.png", unread=Unread.KIND),)),
    Inbound(
        kind=InboundKind.WRITTEN,
        message=question().message,
        setting=Setting.THREAD,
        author=Person(id="p1"),
        text="What?",
        mentions=("p2",),
        is_reply_to="p2",
        reply_to=question().message,
        quoted=(Message(role="assistant", text="Hi"),),
        at=NOON,
    ),
    Asked(question=question(), address=ADDRESS),
    Edited(question=question(revision=2)),
    Deleted(message=question().message),
    Recheck(question=question()),
    Stopped(message=question().message, by=Person(id="p1")),
    AskedAgain(message=question().message, by=Person(id="p1")),
    Terms(top_k=3, relevance_threshold=0.7),
    WaitNotice(thread=thread(), nonce="n", id="m2"),
    Vote(answer_id="a", person_id="p1", is_helpful=False, complaints=(Complaint.WRONG,), at=NOON),
    Tally(helpful=2, unhelpful=1),
    Budget(holder=Holder.CHANNEL, measure=Measure.MONEY, period=Period.MONTH, most=0.5),
    Cost(questions=1, tokens=3_000, money=0.002),
]
SIGNALS = [value for value in VALUES if isinstance(value, Asked | Edited | Deleted | Stopped | AskedAgain | Recheck)]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_goes_to_json_and_back(value: Value) -> None:
    """Values travel between processes."""
    assert type(value).model_validate_json(value.model_dump_json()) == value


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: signal.kind)
def test_a_signal_is_read_back_as_what_it_was(signal: Signal) -> None:
    """JSON says which of the four it is, and which message it is about."""
    read: Signal = TypeAdapter[Signal](Signal).validate_json(signal.model_dump_json())

    assert (read, read.message) == (signal, question().message)


def test_the_token_of_an_interaction_is_not_printed() -> None:
    """Who has it may speak for the bot."""
    assert "a token" not in f"{ADDRESS!r} {ADDRESS}"


def test_an_interaction_is_part_of_an_address_until_it_expires() -> None:
    """Afterwards the thread and the message are left."""
    left = ReplyAddress(thread=thread(), message=question().message)

    assert ADDRESS.at(NOON - timedelta(seconds=1)) == ADDRESS
    assert ADDRESS.at(NOON) == left
    assert left.at(NOON) == left


def test_of_a_deleted_message_only_its_place_is_known() -> None:
    """Nobody wrote it any more."""
    gone = Inbound(kind=InboundKind.DELETED, message=question().message, setting=Setting.CHANNEL)

    assert (gone.message.thread, gone.author) == (thread(), None)


def test_every_value_of_the_model_is_tested() -> None:
    """None is forgotten."""
    known = list(Value.__subclasses__())
    for kind in known:
        known += kind.__subclasses__()
    kinds = {kind for kind in known if kind.__module__.startswith("core.model.") and kind not in (Ref, AboutQuestion)}

    assert {type(value) for value in VALUES} == kinds


def test_a_value_cannot_be_changed_and_takes_no_unknown_fields() -> None:
    """What was validated stays valid, and one that nobody knows is an error."""
    with pytest.raises(ValidationError):
        CITATION.__setattr__("number", 2)
    with pytest.raises(ValidationError):
        Person.model_validate({"id": "p1", "nickname": "Ada"})


PART = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


@given(parts=st.tuples(PART, PART, PART, PART))
@settings(max_examples=examples(200), deadline=None)
def test_a_thread_is_read_back_from_its_string(parts: tuple[str, str, str, str]) -> None:
    """Whatever a platform calls its channels; and the string has nothing that a key may not have."""
    ref = ThreadRef(platform=parts[0], workspace=parts[1], channel=parts[2], thread=parts[3])

    assert ThreadRef.parse(str(ref)) == ref
    assert (str(ref).count(":"), str(ref).isascii(), str(ref).isprintable()) == (3, True, True)


@pytest.mark.parametrize("text", ["", "a:b:c", "a:b:c:d:e", "a::c:d", "a:b:c:", ":::"])
def test_other_strings_are_no_threads(text: str) -> None:
    """The message shows what one looks like."""
    with pytest.raises(InvalidInput) as raised:
        ThreadRef.parse(text)

    assert str(raised.value) == f"{text!r} is not a thread; it looks like platform:workspace:channel:thread."
    assert raised.value.field == "thread"


def test_references_print_as_keys() -> None:
    """A colon inside a part is encoded."""
    ref = MessageRef(thread=ThreadRef(platform="slack", workspace="T:1", channel="C/2", thread="1.5"), id="a b")

    assert str(ref) == "slack:T%3A1:C%2F2:1.5:a%20b"
    assert MessageRef.parse(str(ref)) == ref


@pytest.mark.parametrize("text", ["", "a:b:c:d:", "a:b:c:d", "a:b:c:d:e:f"])
def test_other_strings_are_no_messages(text: str) -> None:
    """Neither a thread nor something longer is one."""
    with pytest.raises(InvalidInput):
        MessageRef.parse(text)


BETWEEN = "The relevance threshold is {}; it has to be between 0 and 1."


@pytest.mark.parametrize(
    ("text", "fields", "field", "message"),
    [
        ("", {}, "text", NO_QUESTION),
        (" \n\t ", {}, "text", NO_QUESTION),
        ("\x00\x1b\x07\u202e\u200b", {}, "text", NO_QUESTION),
        (
            "x" * 2_001,
            {},
            "text",
            "The question has 2,001 characters; the limit is 2,000. Please shorten it and ask again.",
        ),
        (
            "Q?",
            {"selection": " \x00"},
            "selection",
            "The selected text is empty. Select some text, or ask without a selection.",
        ),
        (
            "Q?",
            {"selection": "x" * 20_001},
            "selection",
            "The selected text has 20,001 characters; the limit is 20,000. Please select less.",
        ),
        ("Q?", {"top_k": 0}, "top_k", "The number of passages (top_k) is 0; it has to be between 1 and 20."),
        ("Q?", {"top_k": "30"}, "top_k", "The number of passages (top_k) is 30; it has to be between 1 and 20."),
        ("Q?", {"top_k": None}, "top_k", "Input should be a valid integer"),
        ("Q?", {"top_k": 21}, "top_k", "The number of passages (top_k) is 21; it has to be between 1 and 20."),
        (
            "Q?",
            {"top_k": -(10**12)},
            "top_k",
            "The number of passages (top_k) is -1e+12; it has to be between 1 and 20.",
        ),
        ("Q?", {"relevance_threshold": 1.01}, "relevance_threshold", BETWEEN.format("1.01")),
        ("Q?", {"relevance_threshold": -0.5}, "relevance_threshold", BETWEEN.format("-0.5")),
        ("Q?", {"relevance_threshold": math.nan}, "relevance_threshold", BETWEEN.format("nan")),
        ("Q?", {"relevance_threshold": math.inf}, "relevance_threshold", BETWEEN.format("inf")),
    ],
)
def test_a_question_that_cannot_be_asked_says_why(text: str, fields: dict[str, Any], field: str, message: str) -> None:
    """The sentence names the limit and what to do; the field is known to code."""
    with pytest.raises(InvalidInput) as raised:
        question(text, **fields)

    assert (str(raised.value), raised.value.field) == (message, field)


@pytest.mark.parametrize(
    "fields",
    [
        {"top_k": 1, "relevance_threshold": 0.0},
        {"top_k": 20, "relevance_threshold": 1.0},
        {"selection": "x" * SELECTION_LIMIT},
        {"selection": None},
    ],
)
def test_the_limits_themselves_are_allowed(fields: dict[str, Any]) -> None:
    """The last good value is good."""
    asked = question("x" * QUESTION_LIMIT, **fields)

    assert (asked.text, {name: getattr(asked, name) for name in fields}) == ("x" * 2_000, fields)


def test_a_question_is_kept_without_what_a_terminal_would_obey() -> None:
    """Space around it goes too."""
    asked = question("  What\x1b[31m is\u202e a\trobot?\n", selection="\x00 A robot. ")

    assert (asked.text, asked.selection) == ("What[31m is a\trobot?", "A robot.")


@given(text=st.text(st.characters(exclude_categories=()), max_size=60))
@settings(max_examples=examples(200), deadline=None)
def test_control_characters_are_dropped_and_nothing_else(text: str) -> None:
    """What is left can be printed, and dropping again changes nothing."""
    kept = without_controls(text)

    assert without_controls(kept) == kept
    assert all(c.isprintable() or c.isspace() or c in "\u200c\u200d" or ord(c) > 127 for c in kept)
    seen = [c for c in text if c.isalnum() and c not in "\u115f\u1160\u3164\uffa0"]  # fillers count as letters
    assert [c for c in kept if c.isalnum()] == seen


@pytest.mark.parametrize(
    ("title", "section", "path"),
    [
        ("Robots", "Arms", "Robots \u203a Arms"),
        ("Robots", "", "Robots"),
        ("Robots", "Robots", "Robots"),
        ("Robots", "Robots \u203a Arms", "Robots \u203a Arms"),
    ],
)
def test_a_heading_says_nothing_twice(title: str, section: str, path: str) -> None:
    """Passages and footnotes show the same path."""
    assert heading(title, section) == path
    assert passage(page_title=title, section_title=section).heading == path
    assert CITATION.model_copy(update={"title": title, "section": section}).heading == path


def test_tokens_of_turns_are_summed() -> None:
    """Each kind for itself."""
    one = Usage(prompt_tokens=1, completion_tokens=2, cached_tokens=3)

    assert one + one == Usage(prompt_tokens=2, completion_tokens=4, cached_tokens=6)


@pytest.mark.parametrize("status", list(Status))
def test_only_what_did_not_work_is_a_failure(status: Status) -> None:
    """To find nothing, to refuse and to be stopped are honest ends."""
    failing = status in (Status.UNAVAILABLE, Status.FAILED)

    assert Answer(id="a", text="x", status=status).is_failure == failing


def test_of_many_quoted_messages_the_newest_are_kept() -> None:
    """Nobody who asks can do anything about how much others wrote, so it is cut and not refused."""
    written = tuple(Message(role="user", text=str(n), author="Ada") for n in range(CONTEXT_LIMIT + 5))

    assert question(context=written).context == written[5:]


def test_quoted_messages_are_cut_together_to_the_length_of_a_selection() -> None:
    """Each one counts with at most as many characters as a question may have; what is blank does not stay."""
    written = tuple(Message(role="user", text=text) for text in ["oldest", *["x" * 5_000] * 10, "\x00 ", " new\x1b "])

    kept = [message.text for message in question(context=written).context]

    assert kept == [*["x" * QUESTION_LIMIT] * (SELECTION_LIMIT // QUESTION_LIMIT - 1), "new"]


@given(texts=st.lists(st.text(max_size=50) | st.integers(0, 9_000).map("y".__mul__), max_size=40))
@settings(max_examples=examples(40), deadline=None)
def test_quoted_messages_once_cut_stay_as_they_are(texts: list[str]) -> None:
    """A question that has travelled as JSON is the same question."""
    asked = question(context=tuple(Message(role="user", text=text, author=text) for text in texts))

    assert type(asked).model_validate_json(asked.model_dump_json()) == asked
    assert sum(len(message.text) for message in asked.context) <= SELECTION_LIMIT
