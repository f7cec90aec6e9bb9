"""What happens when somebody presses a button or sends a form, also one that was shown before a restart."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from adapters.chat.commands import carried_out, retry, stop, vote
from adapters.slack import blocks
from adapters.slack.api import tell
from adapters.slack.commands.context import Kit, context_of
from adapters.slack.commands.forms import View, complaints_in, reasons_form, words_form
from adapters.slack.commands.shortcuts import opened
from adapters.slack.commands.situation import Used
from core.errors import InvalidInput, PostingFailed
from core.messages import NOT_YOURS, OUTDATED, THANKS
from core.model import MessageRef


async def pressed(kit: Kit, used: Used, action_id: str, value: str) -> None:
    """Do what a button below an answer says."""
    first, _, rest = value.partition(" ")
    context = context_of(kit, used)
    match action_id, first:
        case (blocks.VOTE, blocks.UP) if rest:
            await kit.privately(used, partial(vote, context, rest, is_helpful=True))
        case (blocks.VOTE, blocks.DOWN) if rest:
            await kit.privately(used, partial(_complained, kit, used, rest))
        case (blocks.RETRY, _):
            await kit.privately(used, partial(retry, context, _message(used, value)))
        case (blocks.STOP, _):
            await kit.privately(used, partial(_stop, kit, used, first, rest))
        case _:
            await kit.replies.tell(used, OUTDATED)


async def add_reasons(kit: Kit, used: Used, view: View) -> None:
    """Take a vote again with its reasons; the form has given thanks, so only a failure is told, in its place."""

    async def count() -> None:
        await vote(context_of(kit, used), str(view["private_metadata"]), complaints=complaints_in(view))

    await carried_out(count, partial(_tell_in_form, kit, used, str(view["id"])))


async def _tell_in_form(kit: Kit, used: Used, view_id: str, sentence: str) -> None:
    with suppress(PostingFailed):
        client = (await kit.workspaces.find(used.workspace)).client
        await tell(client, "views.update", view_id=view_id, view=words_form(sentence))


async def _complained(kit: Kit, used: Used, answer_id: str) -> str | None:
    """Take the vote while the form is being shown: whoever closes that has voted all the same."""
    showing = asyncio.create_task(opened(kit, used, reasons_form(answer_id)))
    try:
        await vote(context_of(kit, used), answer_id)
    finally:
        is_shown = await showing
    return None if is_shown else THANKS


async def _stop(kit: Kit, used: Used, asker: str, message: str) -> str | None:
    context = context_of(kit, used)
    if used.user != asker and not (await context.actor()).may_moderate:
        return NOT_YOURS
    return await stop(context, _message(used, message))


def _message(used: Used, text: str) -> MessageRef | None:
    """Return which question a button is about; one of another workspace is nobody's business."""
    try:
        message = MessageRef.parse(text)
    except InvalidInput:
        return None
    return message if message.thread.home == used.home else None
