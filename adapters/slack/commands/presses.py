"""What happens when somebody presses a button or sends a form, also one that was shown before a restart."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from adapters.chat.attempting import attempted
from adapters.chat.posting import PostingFailed
from adapters.slack import blocks
from adapters.slack.client.failures import tell
from adapters.slack.commands.forms import View, complaints_in, reasons_form, words_form
from adapters.slack.commands.kit import Kit
from adapters.slack.commands.shortcuts import opened
from adapters.slack.commands.situation import Used
from core.errors import InvalidInput
from core.model import Complaint, MessageRef, Retried, Stopped, Vote
from core.sentences import NOT_RETRIED, NOT_YOURS, OUTDATED, OVER, THANKS


async def pressed(kit: Kit, used: Used, action_id: str, value: str) -> None:
    """Do what a button below an answer says."""
    first, _, rest = value.partition(" ")
    match action_id, first:
        case (blocks.VOTE, blocks.UP) if rest:
            await kit.privately(used, partial(_helped, kit, used, rest))
        case (blocks.VOTE, blocks.DOWN) if rest:
            await kit.privately(used, partial(_complained, kit, used, rest))
        case (blocks.RETRY, _):
            await kit.privately(used, partial(_retry, kit, used, value))
        case (blocks.STOP, _):
            await kit.privately(used, partial(_stop, kit, used, first, rest))
        case _:
            await kit.replies.tell(used, OUTDATED)


async def add_reasons(kit: Kit, used: Used, view: View) -> None:
    """Take a vote again with its reasons; the form has given thanks, so only a failure is told, in its place."""
    answer_id = str(view["private_metadata"])
    act = partial(_vote, kit, used, answer_id, is_helpful=False, complaints=complaints_in(view))
    await attempted(act, partial(_tell_in_form, kit, used, str(view["id"])))


async def _tell_in_form(kit: Kit, used: Used, view_id: str, sentence: str) -> None:
    with suppress(PostingFailed):
        client = (await kit.workspaces.find(used.workspace)).client
        await tell(client, "views.update", view_id=view_id, view=words_form(sentence))


async def _vote(
    kit: Kit, used: Used, answer_id: str, *, is_helpful: bool, complaints: tuple[Complaint, ...] = ()
) -> None:
    cast = Vote(
        answer_id=answer_id, person_id=used.user, is_helpful=is_helpful, complaints=complaints, at=kit.desk.now()
    )
    await kit.desk.votes.cast(used.home, cast)


async def _helped(kit: Kit, used: Used, answer_id: str) -> str:
    await _vote(kit, used, answer_id, is_helpful=True)
    return THANKS


async def _complained(kit: Kit, used: Used, answer_id: str) -> str | None:
    """Take the vote while the form is being shown: whoever closes that has voted all the same."""
    showing = asyncio.create_task(opened(kit, used, reasons_form(answer_id)))
    try:
        await _vote(kit, used, answer_id, is_helpful=False)
    finally:
        is_shown = await showing
    return None if is_shown else THANKS


async def _stop(kit: Kit, used: Used, asker: str, message: str) -> str | None:
    if used.user != asker and not (await kit.actor(used)).may_moderate:
        return NOT_YOURS
    named = _message(used, message)
    is_heard = named and await kit.desk.inbox.put(Stopped(message=named, by=used.person))
    return None if is_heard else OVER


async def _retry(kit: Kit, used: Used, message: str) -> str | None:
    named = _message(used, message)
    is_heard = named and await kit.desk.inbox.put(Retried(message=named, by=used.person))
    return None if is_heard else NOT_RETRIED


def _message(used: Used, text: str) -> MessageRef | None:
    """Read which question a button is about; one of another workspace is nobody's business."""
    try:
        message = MessageRef.parse(text)
    except InvalidInput:
        return None
    return message if message.thread.home == used.home else None
