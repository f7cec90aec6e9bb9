"""What the bot says beside its answers."""

from __future__ import annotations

import pytest

from core import messages
from core.messages import Drawing, Practices
from core.model import AuditEntry, Complaint, Person, Policy, PolicyFault
from tests.builders import NOON, thread

DRAWING = Drawing(plain=str.upper, moment=lambda _: "now", bullet="-", resume="`resume`", page="page {}")
MESSAGE_LIMIT = 2_000  # characters, on the platform whose messages are shortest


@pytest.mark.parametrize(
    ("services", "said"),
    [
        ((), "nobody else."),
        (("OpenAI",), "OpenAI, to answer:"),
        (("OpenAI", "Cohere"), "OpenAI and Cohere, to answer:"),
        (("A", "B", "C"), "A, B and C, to answer:"),
    ],
)
def test_privacy_names_all_who_read_the_questions(services: tuple[str, ...], said: str) -> None:
    """Where nobody else does, it says that."""
    assert f"**Who gets it:** {said}" in messages.privacy(Practices(services=services))


@pytest.mark.parametrize(("hours", "said"), [(1, "1 hour."), (0.5, "0.5 hours."), (48, "48 hours.")])
def test_privacy_says_for_how_long(hours: float, said: str) -> None:
    """In the number that the operator has set."""
    assert f"for {said}" in messages.privacy(Practices(conversation_hours=hours))


def test_numbers_are_said_as_people_say_them() -> None:
    """One is no plural, and thousands are set apart."""
    assert messages.person_forgotten(1, 0).startswith("I no longer remember 1 question with the answers, and 0 votes.")
    assert messages.everything_forgotten(1_234).startswith("I no longer remember 1,234 conversations.")


def test_channels_are_named_as_far_as_people_read() -> None:
    """The others are counted."""
    names = [f"<#{number}>" for number in range(20)]

    assert messages.silent_line(names[:2]) == "Switched off in <#0> and <#1>."
    assert messages.silent_line([*names, "<#a>", "<#b>"]).endswith(", <#19> and 2 more.")


def test_every_complaint_has_words() -> None:
    """None can be chosen that nobody can read."""
    assert set(messages.COMPLAINTS) == set(Complaint)


def test_long_texts_fit_into_one_message() -> None:
    """On every platform."""
    texts = (
        messages.help_text(messages.Forms()),
        messages.privacy(Practices(services=("the chat model gpt-4o-mini (OpenAI)", "Cohere"))),
    )

    assert [text for text in texts if len(text) > MESSAGE_LIMIT] == []


def test_people_without_a_name_are_named_all_the_same() -> None:
    """By what is known of them."""
    assert list(messages.policy_lines(Policy(paused_by=Person(id="")), DRAWING)) == ["Paused by a moderator."]
    entry = AuditEntry(by=Person(id="p1"), did="pause", at=NOON)
    assert list(messages.log_lines([entry], DRAWING, older=None)) == [
        "What moderators did recently:",
        "- now: <@p1>, pause",
    ]


@pytest.mark.parametrize(
    ("did", "about", "said"),
    [
        ("pause channel", "7", "(<#7>)"),
        ("resume channel", "7", "(<#7>)"),
        ("auto-answer on", "7", "(<#7>)"),
        ("auto-answer off", "7", "(<#7>)"),
        ("forget person", "7", "(<@7>)"),
        ("forget thread", str(thread()), "(<#c>)"),
        ("forget thread", "no thread", "(NO THREAD)"),
        ("an order of another version", "<#7>", "(<#7>)"),
        ("forget everything", "", "everything"),
    ],
)
def test_the_log_names_what_orders_were_about(did: str, about: str, said: str) -> None:
    """Channels and people in such a way that they can be clicked, and all else as text."""
    entry = AuditEntry(by=Person(id="p1", name="Ada"), did=did, about=about, at=NOON)
    _, line, older = messages.log_lines([entry], DRAWING, older=2)

    assert line == " ".join(filter(None, ["- now: ADA,", did, about and said]))
    assert older == "Older entries: page 2"


@pytest.mark.promise("unreadable-is-closed")
def test_what_cannot_be_read_is_told_with_what_to_do() -> None:
    """And with what would be lost, as far as that is known."""
    known = Policy(paused_by=Person(id="p1", name="Ada"), auto_answer=frozenset({"7"}), silent_channels=frozenset("98"))
    newer = known.model_copy(update={"fault": PolicyFault.NEWER})

    assert list(messages.policy_lines(Policy(fault=PolicyFault.DAMAGED), DRAWING)) == [
        "The settings here can't be read. Until that is fixed, I won't answer anything.",
        "`resume` starts again with the default settings. This would be lost:",
        "- Everything that was set.",
    ]
    assert list(messages.policy_lines(newer, DRAWING)) == [
        f"{messages.FAULTS[PolicyFault.NEWER]} Until that is fixed, I won't answer anything.",
        "Ask the person who runs the bot to start the newer version again.",
        "`resume` starts again with the default settings. This would be lost:",
        "- Paused by ADA.",
        "- Switched off in <#8> and <#9>.",
        "- Questions are answered without a mention in <#7>.",
        "- Anything else that was set.",
    ]


def test_the_status_names_the_channels_that_differ() -> None:
    """Those without answers, and those where nobody has to ask."""
    policy = Policy(auto_answer=frozenset({"7"}), silent_channels=frozenset("98"))

    assert list(messages.policy_lines(policy, DRAWING)) == [
        "I'm answering questions.",
        "Switched off in <#8> and <#9>.",
        "Questions are answered without a mention in <#7>.",
    ]
