"""Posts, edits and deletes the messages of one answer in one channel, and says what failures mean.

Nothing that is sent pings or shows a preview: every call says so, since an edit that does not say so may ping.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from adapters.chat.posting import Controls, Part, Posted
from core.errors import Gone, PostingFailed, RateLimited, Rejected, Unreachable

if TYPE_CHECKING:
    from discord import DMChannel, Message, PartialMessageable, TextChannel, Thread, VoiceChannel
    from discord.ui import View

    Channel: TypeAlias = TextChannel | Thread | DMChannel | VoiceChannel | PartialMessageable
    Buttons: TypeAlias = Callable[[Controls], View | None]

Result = TypeVar("Result")

LONGEST_CALL = 45.0  # seconds, with all waits and new tries of the library
MAY_NOT_REPLY = 160002
UNKNOWN_CHANNEL = 10003
UNKNOWN_MESSAGE = 10008
TOO_MANY_LATE_EDITS = 30046  # waiting does not help
FIRST_SERVER_ERROR = 500
TOO_MANY_REQUESTS = 429
NO_MESSAGE = frozenset({UNKNOWN_MESSAGE})
NO_PLACE = frozenset({UNKNOWN_MESSAGE, UNKNOWN_CHANNEL})  # what was in a channel is gone with it
BARRED = frozenset({50001, 50007, 50013})  # no access, no direct messages, no permission


class MayNotReply(Rejected):
    """The bot may write here, but not below another message, as it may not read what was said."""


class Barred(Rejected):
    """The bot may not do this in this place, and will not before somebody changes something there."""


def without_buttons(controls: Controls) -> None:
    """Return no buttons, whatever the message is for."""


class ChannelPoster:
    """A `Poster` for a channel, a thread or a direct conversation; the first message may reply to another one."""

    def __init__(self, channel: Channel, *, reply_to: int | None = None, buttons: Buttons = without_buttons) -> None:
        self._channel = channel
        self._reply_to = reply_to
        self._buttons = buttons

    async def post(self, part: Part, nonce: str) -> Posted:
        """Post a message; Discord gives the one that it has if the nonce was used in the last minutes."""
        from discord import AllowedMentions

        reference = self._channel.get_partial_message(self._reply_to) if self._reply_to else None
        more: dict[str, Any] = {"reference": reference.to_reference(fail_if_not_exists=False)} if reference else {}
        view = self._buttons(part.controls)
        if view is not None:
            more["view"] = view
        sending = self._channel.send(
            part.text, nonce=nonce, allowed_mentions=AllowedMentions.none(), suppress_embeds=True, **more
        )
        try:
            sent = await translated(sending)
        except MayNotReply:
            self._reply_to = None
            return await self.post(part, nonce)
        self._reply_to = None
        is_new = (sent.content, buttons_of(sent)) == (part.text, buttons_of(view))
        return Posted(str(sent.id), part if is_new else None)

    async def edit(self, message_id: str, part: Part) -> None:
        """Replace text and buttons; the flag against previews stays as it was set when the message was posted."""
        from discord import AllowedMentions

        message = self._channel.get_partial_message(int(message_id))
        view = self._buttons(part.controls)
        editing = message.edit(content=part.text, view=view, allowed_mentions=AllowedMentions.none())
        await translated(editing, gone=NO_PLACE)

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        await translated(self._channel.get_partial_message(int(message_id)).delete(), gone=NO_PLACE)


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


async def translated(call: Awaitable[Result], *, gone: Collection[int] = NO_MESSAGE) -> Result:
    """Make a call, and say what its failure means for whoever wants it done; *gone* are the codes of what is gone."""
    try:
        async with asyncio.timeout(LONGEST_CALL):
            return await call
    except Exception as error:
        failure = meaning(error, gone=gone)
        if failure is None:
            raise
        raise failure from error


def meaning(error: Exception, *, gone: Collection[int] = NO_MESSAGE) -> PostingFailed | None:
    """Say what a failure of the client means; None for a mistake of ours."""
    import discord
    from aiohttp import ClientError

    match error:
        case discord.RateLimited(retry_after=wait):
            return RateLimited(wait)
        case discord.HTTPException():
            return Gone("it is not there any more") if error.code in gone else _refusal(error.status, error.code)
        case ClientError() | OSError() | TimeoutError():
            return Unreachable(type(error).__name__)
        case _:
            return None


def _refusal(status: int, code: int) -> PostingFailed:
    if status == TOO_MANY_REQUESTS and code != TOO_MANY_LATE_EDITS:
        return RateLimited(1.0)
    if code == MAY_NOT_REPLY:
        return MayNotReply(f"code {code}")
    if code in BARRED:
        return Barred(f"code {code}")
    return Unreachable(f"status {status}") if status >= FIRST_SERVER_ERROR else Rejected(f"code {code}")
