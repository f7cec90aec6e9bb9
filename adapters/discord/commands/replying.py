"""Answers interactions: first the acknowledgement that Discord wants within seconds, then one sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from discord import AllowedMentions, AutoShardedClient, HTTPException, InteractionResponseType
from discord.http import Route
from discord.ui import Modal

from adapters.chat.commands import carried_out
from adapters.chat.dialect import fitting
from adapters.discord.commands.context import Used
from adapters.discord.dialect import DISCORD
from adapters.discord.poster import translated
from adapters.retry import ACKNOWLEDGEMENT, QUICK
from core.errors import Gone, PostingFailed, Rejected, Unreachable

ORIGINAL = "/webhooks/{webhook_id}/{webhook_token}/messages/@original"
NO_INTERACTION = frozenset({10008, 10015, 50027})  # no such message or webhook, and a token that has expired
ACKNOWLEDGED = 40060  # the interaction was answered before
SUPPRESS_EMBEDS = 1 << 2
LOADING = 1 << 7


async def deferred(used: Used, *, private: bool) -> str | None:
    """Show that an answer is on its way, and give its message's id.

    None if it is too late or was answered before, as with interactions that come again: then nothing must follow.
    """
    try:
        receipt = await ACKNOWLEDGEMENT.call(lambda: translated(used.response.defer(ephemeral=private, thinking=True)))
    except Unreachable:
        pass
    except PostingFailed as failure:
        if not _was_acknowledged(failure.__cause__):  # by a try before, of ours or of the library
            return None
    else:
        return str(receipt.message_id) if receipt and receipt.message_id else None
    with suppress(PostingFailed):
        return await awaited(used.client, used.token)
    return None


def _was_acknowledged(failure: BaseException | None) -> bool:
    return isinstance(failure, HTTPException) and failure.code == ACKNOWLEDGED


async def awaited(client: AutoShardedClient, token: str) -> str | None:
    """Return the id of the message with which Discord shows for an interaction that an answer is on its way.

    None where that was never so, is over, or something has been said in its place. Raises `PostingFailed` where Discord
    does not say.
    """
    route = Route("GET", ORIGINAL, webhook_id=client.application_id or 0, webhook_token=token)
    try:
        found = await translated(client.http.request(route), gone=NO_INTERACTION)
    except (Gone, Rejected):
        return None
    return str(found["id"]) if found["flags"] & LOADING else None


async def acknowledged(used: Used) -> bool:
    """Take note of a button without a word; False if it is too late or was done before."""
    try:
        await translated(used.response.defer())
    except PostingFailed:
        return False
    return True


async def shown(used: Used, form: Modal) -> bool:
    """Show a form; False if it is too late or was done before."""
    form.stop()  # what is sent is read without it, and a client remembers forms as long as it lives
    try:
        await translated(used.response.send_modal(form))
    except PostingFailed:
        return False
    return True


async def tell(used: Used, text: str) -> None:
    """Say something to the one person who did it, in whatever way is left; a reader who is gone misses it."""
    first = fitting(text, DISCORD.limit)
    with suppress(PostingFailed):
        await QUICK.call(lambda: translated(_said(used, first)))


async def _said(used: Used, text: str) -> None:
    if not used.response.is_done():
        await _said_first(used, text)
    elif used.response.type is InteractionResponseType.deferred_channel_message:
        await _fill(used, text)
    else:
        await used.followup.send(text, ephemeral=True, suppress_embeds=True, allowed_mentions=AllowedMentions.none())


async def _said_first(used: Used, text: str) -> None:
    """Answer, in the place of a sign of which nobody heard that it is shown."""
    nobody = AllowedMentions.none()
    try:
        await used.response.send_message(text, ephemeral=True, suppress_embeds=True, allowed_mentions=nobody)
    except HTTPException as refused:
        if not _was_acknowledged(refused):
            raise
        if await awaited(used.client, used.token):
            await _fill(used, text)


async def privately(used: Used, act: Callable[[], Awaitable[str]]) -> None:
    """Acknowledge, do what was wanted, and say how it went, all of which one person sees."""
    if await deferred(used, private=True):
        await carried_out(act, partial(tell, used))


async def _fill(used: Used, text: str) -> None:
    """Put the text in the place of what was promised; the library's own way of it cannot suppress previews."""
    route = Route("PATCH", ORIGINAL, webhook_id=used.application_id, webhook_token=used.token)
    body: dict[str, object] = {"content": text, "flags": SUPPRESS_EMBEDS, "allowed_mentions": {"parse": []}}
    await used.client.http.request(route, json=body)
