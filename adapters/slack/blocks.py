"""The blocks of a message: its Markdown, the small print below it, and what can be pressed.

All that a press needs to know is in the value of the button, so that none is remembered.
"""

from __future__ import annotations

from typing import Any

from adapters.chat.platform import Controls, Part
from core.answering.agent import answer_id
from core.model import Question

VOTE = "footnote:vote"
RETRY = "footnote:retry"
STOP = "footnote:stop"
UP = "up"
DOWN = "down"


def blocks_of(part: Part, question: Question) -> list[dict[str, Any]]:
    """Return the blocks for a message of the answer to *question*."""
    text = [{"type": "markdown", "text": part.text}] if part.text else []
    return [*text, *blocks_below(part, question)]


def blocks_below(part: Part, question: Question) -> list[dict[str, Any]]:
    """Return the blocks that stand below a message's Markdown: what ends a stream, whose text is there already."""
    below: list[dict[str, Any]] = []
    if part.below:
        below.append({"type": "context", "elements": [{"type": "mrkdwn", "text": part.below}]})
    match part.controls:
        case Controls.NONE:
            pass
        case Controls.STOP:
            below.append(_button("Stop", STOP, f"{question.author.id} {question.message}"))
        case Controls.RETRY:
            below.append(_button("Retry", RETRY, str(question.message)))
        case Controls.VOTE:
            name = answer_id(question)
            feedback = {
                "type": "feedback_buttons",
                "action_id": VOTE,
                "positive_button": {
                    "text": plain("Helpful"),
                    "value": f"{UP} {name}",
                    "accessibility_label": "This answer was helpful",
                },
                "negative_button": {
                    "text": plain("Not helpful"),
                    "value": f"{DOWN} {name}",
                    "accessibility_label": "This answer was not helpful",
                },
            }
            below.append({"type": "context_actions", "elements": [feedback]})
    return below


def _button(label: str, action_id: str, value: str) -> dict[str, Any]:
    button = {"type": "button", "text": plain(label), "action_id": action_id, "value": value}
    return {"type": "actions", "elements": [button]}


def plain(label: str) -> dict[str, Any]:
    """Return words without any markup."""
    return {"type": "plain_text", "text": label}
