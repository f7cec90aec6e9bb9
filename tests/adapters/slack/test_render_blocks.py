"""The blocks of a message: Markdown, small print, and buttons that say all that a press needs to know."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.chat.platform import Controls, Part
from adapters.slack.dialect import blocks_below, blocks_of
from core.answering.agent import answer_id
from core.model import MessageRef
from tests.builders import question

TEXT = {"type": "markdown", "text": "Robots act."}
ASKED = question()


def button(label: str, action_id: str, value: str) -> list[dict[str, Any]]:
    """The block of one button."""
    text = {"type": "plain_text", "text": label}
    return [{"type": "actions", "elements": [{"type": "button", "text": text, "action_id": action_id, "value": value}]}]


def opinion(label: str, value: str, spoken: str) -> dict[str, Any]:
    """One of the two buttons for feedback."""
    return {"text": {"type": "plain_text", "text": label}, "value": value, "accessibility_label": spoken}


FEEDBACK = {
    "type": "feedback_buttons",
    "action_id": "footnote:vote",
    "positive_button": opinion("Helpful", f"up {answer_id(ASKED)}", "This answer was helpful"),
    "negative_button": opinion("Not helpful", f"down {answer_id(ASKED)}", "This answer was not helpful"),
}


@pytest.mark.promise("buttons-last")
@pytest.mark.parametrize(
    ("controls", "block"),
    [
        (Controls.NONE, []),
        (Controls.STOP, button("Stop", "footnote:stop", f"p1 {ASKED.message}")),
        (Controls.RETRY, button("Retry", "footnote:retry", f"p1 {ASKED.message}")),
        (Controls.VOTE, [{"type": "context_actions", "elements": [FEEDBACK]}]),
    ],
)
def test_what_can_be_pressed_says_all_that_a_press_needs(controls: Controls, block: list[dict[str, Any]]) -> None:
    """Buttons go on working after a restart, and screen readers say what each is for."""
    assert blocks_of(Part("Robots act.", controls), ASKED) == [TEXT, *block]


def test_small_print_stands_between_the_text_and_the_buttons() -> None:
    """A stream is ended with the same blocks, without the text that it has shown."""
    part = Part("Robots act.", Controls.RETRY, "[1] Robots")
    context = {"type": "context", "elements": [{"type": "mrkdwn", "text": "[1] Robots", "verbatim": True}]}

    assert blocks_of(part, ASKED) == [TEXT, context, *button("Retry", "footnote:retry", f"p1 {ASKED.message}")]
    assert blocks_below(part, ASKED) == blocks_of(part, ASKED)[1:]


def test_a_button_names_its_message_so_that_it_can_be_found() -> None:
    """The value of a button is read back into the message that was asked."""
    [_, actions] = blocks_of(Part("Robots act.", Controls.STOP), ASKED)
    asker, _, message = actions["elements"][0]["value"].partition(" ")

    assert (asker, MessageRef.parse(message)) == ("p1", ASKED.message)
