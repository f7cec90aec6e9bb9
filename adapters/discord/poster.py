"""Posts, edits and deletes the messages of one answer in one channel, and says what failures mean.

Nothing that is sent pings or shows a preview: every call says so, since an edit that does not say so may ping.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from adapters.chat.platform import Barred, Part, Posted
from adapters.discord.dialect import buttons_of, controls_view
from adapters.discord.limits import low_priority
from core.errors import Gone, PostingFailed, RateLimited, Rejected, Unreachable
from core.model import Question

if TYPE_CHECKING:
    from discord import DMChannel, PartialMessageable, TextChannel, Thread, VoiceChannel

    Channel: TypeAlias = TextChannel | Thread | DMChannel | VoiceChannel | PartialMessageable

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


class ChannelPoster:
    """A `Poster` for a channel, a thread or a direct conversation; the first message may reply to another one.

    Where an attempt before may have posted something that nobody knows of, *find* is asked once for its id, before the
    first post. The buttons are those of an answer to the *question*.
    """

    def __init__(
        self,
        channel: Channel,
        *,
        reply_to: int | None = None,
        question: Question | None = None,
        find: Callable[[], Awaitable[str | None]] | None = None,
    ) -> None:
        self._channel = channel
        self._reply_to = reply_to
        self._question = question
        self._find = find

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a message; Discord gives the one that it has if the nonce was used in the last minutes."""
        from discord import AllowedMentions

        if self._find is not None:
            known, self._find = await self._find(), None
            if known is not None:
                return Posted(known)
        reference = self._channel.get_partial_message(self._reply_to) if self._reply_to else None
        more: dict[str, Any] = {"reference": reference.to_reference(fail_if_not_exists=False)} if reference else {}
        view = controls_view(part.controls, self._question)
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

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace text and buttons; the flag against previews stays as it was set when the message was posted."""
        from discord import AllowedMentions

        message = self._channel.get_partial_message(int(message_id))
        view = controls_view(part.controls, self._question)
        with low_priority(obsolete):
            editing = message.edit(content=part.text, view=view, allowed_mentions=AllowedMentions.none())
            await translated(editing, gone=NO_PLACE)

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        await translated(self._channel.get_partial_message(int(message_id)).delete(), gone=NO_PLACE)


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
    """Return what a failure of the client means; None for a mistake of ours."""
    import discord
    from aiohttp import ClientError

    match error:
        case discord.RateLimited(retry_after=wait):
            return RateLimited(wait)
        case discord.HTTPException(status=status, code=code):
            if code in gone:
                return Gone("it is not there any more")
            if status == TOO_MANY_REQUESTS and code != TOO_MANY_LATE_EDITS:
                return RateLimited(1.0)
            kind = MayNotReply if code == MAY_NOT_REPLY else Barred if code in BARRED else Rejected
            is_broken = kind is Rejected and status >= FIRST_SERVER_ERROR
            return Unreachable(f"status {status}") if is_broken else kind(f"code {code}")
        case ClientError() | OSError() | TimeoutError():
            return Unreachable(type(error).__name__)
        case _:
            return None
