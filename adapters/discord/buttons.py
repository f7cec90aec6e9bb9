"""The buttons below an answer. All that a press needs to know is in the button's id, so that none is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.chat.platform import Controls
from core.answering.agent import answer_id
from core.model import MessageRef, Question

if TYPE_CHECKING:
    from discord import Message
    from discord.ui import Button, View

MARK = "footnote"
PATTERN = rf"{MARK}:(?P<what>stop|retry|up|down):(?P<about>[0-9a-f:]{{1,90}})"


def controls_view(controls: Controls, question: Question | None) -> View | None:
    """Return the buttons for a message of the answer to *question*; None if it has none. Needs a running loop."""
    from discord.ui import View

    buttons = _buttons(controls, question) if question is not None else []
    if not buttons:
        return None
    view = View(timeout=None)
    for button in buttons:
        view.add_item(button)
    view.stop()  # otherwise the client that posts it remembers it as long as it lives
    return view


def _buttons(controls: Controls, question: Question) -> list[Button[View]]:
    from discord import ButtonStyle
    from discord.ui import Button

    grey = ButtonStyle.secondary
    match controls:
        case Controls.NONE:
            return []
        case Controls.STOP:
            about = f"{_place(question.message)}:{question.author.id}"
            return [Button(style=grey, label="Stop", custom_id=f"{MARK}:stop:{about}")]
        case Controls.RETRY:
            return [Button(style=grey, label="Retry", custom_id=f"{MARK}:retry:{_place(question.message)}")]
        case Controls.VOTE:
            name = answer_id(question)
            return [
                Button(style=grey, emoji="👍", label="Helpful", custom_id=f"{MARK}:up:{name}"),
                Button(style=grey, emoji="👎", label="Not helpful", custom_id=f"{MARK}:down:{name}"),
            ]


def _place(message: MessageRef) -> str:
    """Name a message within its server, which a press names by itself; an id of Discord's has 20 digits at most."""
    return f"{message.thread.channel}:{message.thread.thread}:{message.id}"


def buttons_of(shown: Message | View | None) -> list[str]:
    """Return the ids of the buttons below a message, in order."""
    from discord import ActionRow, Button
    from discord.ui import View

    if shown is None:
        return []
    if isinstance(shown, View):
        return [str(getattr(item, "custom_id", "")) for item in shown.children]
    rows = [row for row in shown.components if isinstance(row, ActionRow)]
    return [str(item.custom_id) for row in rows for item in row.children if isinstance(item, Button)]


def names_question(message: Message, question: Question) -> bool:
    """Return whether the buttons of a message are those of an answer to a question, whoever asked it."""
    own = {name for each in Controls for name in buttons_of(controls_view(each, question))}
    place = f":{_place(question.message)}:"
    return any(name in own or place in f"{name}:" for name in buttons_of(message))
