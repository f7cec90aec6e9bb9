"""Removes what a worker has posted late for a question that it had lost by then.

Discord takes the same message twice for one. Slack does not, and so a post that was on its way when its worker was
frozen stands beside the answer of the worker that took over.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from adapters.chat.posting import nonce
from adapters.slack.api import Denied, once, tell
from adapters.slack.client.lost import Place, nonce_of, said_in
from core.errors import PostingFailed
from core.model import Claim

LONGEST = 20  # messages of an answer


async def clear(claim: Claim, place: Place, shown: Collection[str]) -> None:
    """Remove what bears the mark of the answer, or is still a stream, and is none of the messages that are *shown*."""
    marks = {nonce(claim.message, claim.question.revision, at) for at in range(LONGEST)}
    with suppress(PostingFailed):  # where the bot may not read, nobody can know
        for message in await said_in(place, place.asked):
            ts, known = str(message["ts"]), nonce_of(message)
            if ts in shown or message.get("user") != place.workspace.bot_user_id:
                continue
            if known in marks or (known is None and await _was_open(place, ts)):
                await tell(once(place.workspace.client), "chat.delete", channel=place.channel, ts=ts)


async def _was_open(place: Place, ts: str) -> bool:
    """End a stream; say whether it was one."""
    try:
        await tell(once(place.workspace.client), "chat.stopStream", channel=place.channel, ts=ts)
    except Denied:
        return False
    return True
