"""What happens when somebody presses a button or sends a form, also one that was shown before a restart."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from adapters.chat.commands import carried_out, retry, stop, vote
from adapters.discord.buttons import PATTERN
from adapters.discord.commands.asking import ask
from adapters.discord.commands.context import DiscordContext, Used, pressed_message
from adapters.discord.commands.forms import REASONS_FORM, SELECTION_FORM, complaints_in, reasons_form, selection_in
from adapters.discord.commands.replying import acknowledged, privately, shown, tell
from core.messages import NOT_YOURS

if TYPE_CHECKING:
    from adapters.chat.services import ChatServices


async def pressed(services: ChatServices, used: Used) -> None:
    """Do what a button says; one that is none of ours is left alone."""
    found = re.fullmatch(PATTERN, str(cast("dict[str, Any]", used.data or {}).get("custom_id")))
    if found is None:
        return
    context, about = DiscordContext(services, used), found["about"]
    match found["what"]:
        case "stop":
            *place, asker = about.split(":")
            if str(used.user.id) != asker and not used.permissions.manage_messages:
                await tell(used, NOT_YOURS)
            else:
                await _quietly(used, partial(stop, context, pressed_message(used, *place)))
        case "retry":
            await _quietly(used, partial(retry, context, pressed_message(used, *about.split(":"))))
        case "up":
            await privately(used, partial(vote, context, about, is_helpful=True))
        case _:
            await _complain(context, about)


async def take_form(services: ChatServices, used: Used) -> None:
    """Take what somebody has filled in."""
    submitted = cast("dict[str, Any]", used.data or {})
    custom_id = str(submitted.get("custom_id"))
    if custom_id == SELECTION_FORM:
        question, text = selection_in(submitted)
        await ask(services, used, question, selection=text)
    elif found := re.fullmatch(REASONS_FORM, custom_id):
        context = DiscordContext(services, used)
        await privately(used, partial(vote, context, found["answer"], complaints=complaints_in(submitted)))


async def _quietly(used: Used, act: Callable[[], Awaitable[str | None]]) -> None:
    """Do what a button says, and say something only if it could not be done."""
    if await acknowledged(used):
        await carried_out(act, partial(tell, used))


async def _complain(context: DiscordContext, answer_id: str) -> None:
    """Take the vote at once: whoever closes the form has voted all the same."""

    async def count() -> None:
        await vote(context, answer_id)

    if await shown(context.used, reasons_form(answer_id)):
        await carried_out(count, partial(tell, context.used))
