"""What happens when somebody presses a button or sends a form, also one that was shown before a restart."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Self

from discord import Interaction, InteractionType
from discord.ui import Button, DynamicItem, Item, View

from adapters.chat.attempting import attempted
from adapters.chat.desk import Desk
from adapters.discord.buttons import PATTERN
from adapters.discord.commands.asking import ask
from adapters.discord.commands.forms import REASONS_FORM, SELECTION_FORM, complaints_in, reasons_form, selection_in
from adapters.discord.commands.replying import acknowledged, privately, shown, tell
from adapters.discord.commands.situation import Used, home_of, person_of, pressed_message
from core.model import Complaint, Retried, Stopped, Vote
from core.sentences import NOT_RETRIED, NOT_YOURS, OVER, THANKS


def button_of(desk: Desk) -> type[DynamicItem[Button[View]]]:
    """Give the kind of button that stands for all of ours; a client that has it knows those of before, too."""

    class OurButton(DynamicItem[Button[View]], template=PATTERN):
        """A button, by its id."""

        @classmethod
        async def from_custom_id(cls, _used: Used, item: Item[Any], _match: re.Match[str], /) -> Self:
            """Make it of the one that was pressed."""
            assert isinstance(item, Button)  # noqa: S101 - only buttons bear such ids
            return cls(item)

        async def callback(self, interaction: Used) -> None:
            """Do what it says."""
            if found := re.fullmatch(PATTERN, self.custom_id):
                await _pressed(desk, interaction, found["what"], found["about"])

    return OurButton


async def take_form(desk: Desk, used: Interaction[Any]) -> None:
    """Take what somebody has filled in; anything else that was used is none of this."""
    if used.type is not InteractionType.modal_submit:
        return
    submitted: dict[str, Any] = dict(used.data or {})
    custom_id = str(submitted.get("custom_id"))
    if custom_id == SELECTION_FORM:
        question, text = selection_in(submitted)
        await ask(desk, used, question, selection=text)
    elif found := re.fullmatch(REASONS_FORM, custom_id):
        await privately(used, partial(_vote, desk, used, found["answer"], complaints=complaints_in(submitted)))


async def _pressed(desk: Desk, used: Used, what: str, about: str) -> None:
    match what:
        case "stop":
            await _stop(desk, used, about.split(":"))
        case "retry":
            await _retry(desk, used, about.split(":"))
        case "up":
            await privately(used, partial(_vote, desk, used, about, is_helpful=True))
        case _:
            await _complain(desk, used, about)


async def _stop(desk: Desk, used: Used, about: list[str]) -> None:
    *place, asker = about
    if str(used.user.id) != asker and not used.permissions.manage_messages:
        await tell(used, NOT_YOURS)
    elif await acknowledged(used):
        signal = Stopped(message=pressed_message(used, *place), by=person_of(used))
        await attempted(partial(_put, desk, signal, OVER), partial(tell, used))


async def _retry(desk: Desk, used: Used, place: list[str]) -> None:
    if await acknowledged(used):
        signal = Retried(message=pressed_message(used, *place), by=person_of(used))
        await attempted(partial(_put, desk, signal, NOT_RETRIED), partial(tell, used))


async def _complain(desk: Desk, used: Used, answer_id: str) -> None:
    """Take the vote at once: whoever closes the form has voted all the same."""
    if await shown(used, reasons_form(answer_id)):
        await attempted(partial(_complained, desk, used, answer_id), partial(tell, used))


async def _complained(desk: Desk, used: Used, answer_id: str) -> None:
    await _vote(desk, used, answer_id)


async def _put(desk: Desk, signal: Stopped | Retried, otherwise: str) -> str | None:
    return None if await desk.inbox.put(signal) else otherwise


async def _vote(
    desk: Desk, used: Used, answer_id: str, *, is_helpful: bool = False, complaints: tuple[Complaint, ...] = ()
) -> str:
    await desk.votes.cast(
        home_of(used),
        Vote(
            answer_id=answer_id,
            person_id=str(used.user.id),
            is_helpful=is_helpful,
            complaints=complaints,
            at=desk.now(),
        ),
    )
    return THANKS
