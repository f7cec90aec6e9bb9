"""Finds posts of which nobody knows whether they arrived, and removes those that came too late.

Slack knows no nonces, so each message of an answer bears one where apps can read it. A stream bears none before it
ends, and is known by its words; or, if nobody knows these any more, by bearing none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from html import unescape
from math import inf
from typing import TYPE_CHECKING, Any, cast

from adapters.chat.platform import nonce
from adapters.slack.api import Denied, ask, once, tell
from core.errors import PostingFailed, Unreachable
from core.events import unobserved
from core.model import Claim

if TYPE_CHECKING:
    from adapters.slack.workspaces import Workspace

EVENT_TYPE = "footnote_answer"
LOOKED_AT = 15  # messages; Slack gives some apps no more
EARLY = 30.0  # seconds; as much may our clock be ahead of Slack's
LONGEST = 20  # messages of an answer


@dataclass(frozen=True, slots=True)
class Place:
    """A thread in a channel, and the message there that asks; what answers it comes after that."""

    workspace: Workspace
    channel: str
    thread: str
    asked: str


def mark(nonce: str) -> Mapping[str, object]:
    """Return what a message bears, for any app of the workspace to read; so it holds no words."""
    return {"event_type": EVENT_TYPE, "event_payload": {"nonce": nonce}}


def nonce_of(message: Mapping[str, Any]) -> str | None:
    """Return what a message of an answer bears; a stream bears nothing before it ends."""
    metadata = cast("Mapping[str, Any]", message.get("metadata") or {})
    if metadata.get("event_type") != EVENT_TYPE:
        return None
    return str(cast("Mapping[str, Any]", metadata.get("event_payload") or {}).get("nonce"))


async def said_in(place: Place, oldest: str) -> Sequence[Mapping[str, Any]]:
    """Return what was said in the thread from a time on, with what it bears. Raises `PostingFailed`."""
    found = await ask(
        once(place.workspace.client),
        "conversations.replies",
        channel=place.channel,
        ts=place.thread,
        oldest=oldest,
        limit=LOOKED_AT,
        include_all_metadata="true",
    )
    return cast("Sequence[Mapping[str, Any]]", found.get("messages") or ())


class LostPosts:
    """Looks once for each post in doubt; where that is not possible, *doubtful* hears that it may stand there twice.

    With *all_in_doubt*, every post may have been made by an attempt before, which ended unheard, and the first of them
    may be a stream that was begun *streamed_since* then.
    """

    def __init__(
        self,
        place: Place,
        *,
        all_in_doubt: bool = False,
        streamed_since: datetime | None = None,
        doubtful: Callable[[], object] = unobserved,
    ) -> None:
        self._place = place
        self._streamed_after = streamed_since.timestamp() - EARLY if streamed_since else inf
        self._all_in_doubt = all_in_doubt
        self._doubtful = doubtful
        self._doubts: dict[str, str] = {}
        self._seen: Sequence[Mapping[str, Any]] | None = None

    def doubt(self, nonce: str, words: str = "") -> None:
        """Take note of a post whose confirmation did not come; *words* are those of a stream."""
        self._doubts[nonce] = words
        self._seen = None

    async def find(self, nonce: str) -> str | None:
        """Return the id of the message, if the post is in doubt and it stands there. Raises `Unreachable`."""
        if nonce not in self._doubts and not self._all_in_doubt:
            return None
        begun, asked = self._streamed_after, self._place.asked
        if self._seen is None:
            try:
                self._seen = await said_in(self._place, asked if begun == inf else f"{max(begun, float(asked)):.6f}")
            except Unreachable:
                raise
            except PostingFailed:
                self._doubtful()
                self._seen = ()
        words = _letters(self._doubts.pop(nonce, ""))
        found = next((str(one["ts"]) for one in self._seen if self._is_it(one, nonce, words)), None)
        self._streamed_after = inf  # only the first post may be a stream
        return found

    def _is_it(self, message: Mapping[str, Any], nonce: str, words: str) -> bool:
        if message.get("user") != self._place.workspace.bot_user_id:
            return False
        if (known := nonce_of(message)) is not None:
            return known == nonce
        if float(message["ts"]) >= max(self._streamed_after, float(self._place.asked)):
            return True
        return bool(words) and _letters(str(message.get("text") or "")).startswith(words)


def _letters(text: str) -> str:
    """Return what is left of a text whatever dialect it is written in."""
    return "".join(filter(str.isalnum, unescape(unescape(text))))  # Slack escapes what is written to it once more


async def remove_orphans(claim: Claim, place: Place, shown: Collection[str]) -> None:
    """Remove what bears the mark of the answer, or is still a stream, and is none of the messages that are *shown*.

    A post that was on its way when its worker was frozen stands beside the answer of the worker that took over: Discord
    takes the same message twice for one, and Slack does not. Raises nothing.
    """
    marks = {nonce(claim.message, claim.question.revision, at) for at in range(LONGEST)}
    client, channel = once(place.workspace.client), place.channel
    with suppress(PostingFailed):  # where the bot may not read, nobody can know
        for message in await said_in(place, place.asked):
            ts, known = str(message["ts"]), nonce_of(message)
            if ts in shown or message.get("user") != place.workspace.bot_user_id:
                continue
            if known is None:
                try:
                    await tell(client, "chat.stopStream", channel=channel, ts=ts)
                except Denied:
                    continue  # it is no stream
            elif known not in marks:
                continue
            await tell(client, "chat.delete", channel=channel, ts=ts)
