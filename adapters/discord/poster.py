"""Posts, edits and deletes the messages of one answer in one channel; the one place where Discord is written to.

Nothing that is sent pings or shows a preview: every call says so, since an edit that does not say so may ping.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from adapters.posting import Gone, Posted, PostingFailed, Refused, TooFast, Unreachable

if TYPE_CHECKING:
    from discord import DMChannel, PartialMessageable, TextChannel, Thread, VoiceChannel

    Channel: TypeAlias = TextChannel | Thread | DMChannel | VoiceChannel | PartialMessageable

Result = TypeVar("Result")

UNKNOWN_MESSAGE = 10008
FIRST_SERVER_ERROR = 500
TOO_MANY_REQUESTS = 429


class ChannelPoster:
    """A `Poster` for a channel, a thread or a direct conversation; the first message may reply to the question."""

    def __init__(self, channel: Channel, *, reply_to: int | None = None) -> None:
        self._channel = channel
        self._reply_to = reply_to

    async def post(self, part: str, nonce: str) -> Posted:
        """Post a message; Discord gives the one that it has if the nonce was used in the last minutes."""
        from discord import AllowedMentions

        reference = self._channel.get_partial_message(self._reply_to) if self._reply_to else None
        sending: dict[str, Any] = {"reference": reference.to_reference(fail_if_not_exists=False)} if reference else {}
        sent = await translated(
            self._channel.send(
                part, nonce=nonce, allowed_mentions=AllowedMentions.none(), suppress_embeds=True, **sending
            )
        )
        self._reply_to = None
        return Posted(str(sent.id), sent.content)

    async def edit(self, message_id: str, part: str) -> None:
        """Replace the text; the flag against previews stays as it was set when the message was posted."""
        from discord import AllowedMentions

        message = self._channel.get_partial_message(int(message_id))
        await translated(message.edit(content=part, allowed_mentions=AllowedMentions.none()))

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        await translated(self._channel.get_partial_message(int(message_id)).delete())


async def translated(call: Awaitable[Result]) -> Result:
    """Make a call, and say what its failure means for whoever wants it done."""
    try:
        return await call
    except Exception as error:
        failure = meaning(error)
        if failure is None:
            raise
        raise failure from error


def meaning(error: Exception) -> PostingFailed | None:
    """Say what a failure of the client means; None for a mistake of ours."""
    from aiohttp import ClientError
    from discord import HTTPException, RateLimited

    match error:
        case RateLimited(retry_after=wait):
            return TooFast(wait)
        case HTTPException():
            return _refusal(error.status, error.code)
        case ClientError() | OSError() | TimeoutError():
            return Unreachable(type(error).__name__)
        case _:
            return None


def _refusal(status: int, code: int) -> PostingFailed:
    if code == UNKNOWN_MESSAGE:
        return Gone("the message is not there any more")
    if status == TOO_MANY_REQUESTS:
        return TooFast(1.0)
    return Unreachable(f"status {status}") if status >= FIRST_SERVER_ERROR else Refused(f"code {code}")
