"""Posts, edits and deletes messages in one thread, and knows again what was posted unheard.

Nothing that is posted shows a preview, and every message says all of its words in its text too, which is what screen
readers and notifications read.

Slack knows no nonces, so each message of an answer bears one where apps can read it. A stream bears none before it
ends, and is known by its words; or, if nobody knows these any more, by bearing none.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from html import unescape
from math import inf
from typing import TYPE_CHECKING, Any, cast

from adapters.chat.platform import NOTICE, REMARK, FoundAnswer, Part, Posted, nonce
from adapters.slack.api import EVENT_TYPE, Denied, ask, never_arrived, tell
from adapters.slack.dialect import RETRY, STOP, UP, blocks_of
from core.answering.verdict import answer_id_of
from core.errors import Gone, PostingFailed, Rejected, Unreachable
from core.events import unobserved
from core.messages import UPDATED
from core.model import Delivery, MessageRef, Question

if TYPE_CHECKING:
    from adapters.slack.workspaces import Workspace

LOOKED_AT = 15  # messages; Slack gives some apps no more
EARLY = 30.0  # seconds; as much may our clock be ahead of Slack's
LONGEST = 20  # messages of an answer
REMAINS = "tombstone"  # a message that was deleted, and began a thread
_VOTED = re.compile(rf'"value": "{UP} (\w+)"')
IS_STREAMING = "streaming_state_conflict"
BAD_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})


@dataclass(frozen=True, slots=True)
class Place:
    """A thread in a channel, and the message there that asks; what answers it comes after that."""

    workspace: Workspace
    channel: str
    thread: str
    asked: str


def nonce_of(message: Mapping[str, Any]) -> str | None:
    """Return what a message of an answer bears; a stream bears nothing before it ends."""
    metadata = cast("Mapping[str, Any]", message.get("metadata") or {})
    if metadata.get("event_type") != EVENT_TYPE:
        return None
    return str(cast("Mapping[str, Any]", metadata.get("event_payload") or {}).get("nonce"))


async def said_in(place: Place, oldest: str, inclusive: str = "false") -> Sequence[Mapping[str, Any]]:
    """Return what was said in the thread after a time, or *inclusive* of it, with what it bears.

    Raises `PostingFailed`.
    """
    where = {"channel": place.channel, "ts": place.thread, "oldest": oldest, "limit": LOOKED_AT, "inclusive": inclusive}
    found = await ask(place.workspace.once, "conversations.replies", **where, include_all_metadata="true")
    return cast("Sequence[Mapping[str, Any]]", found.get("messages") or ())


@dataclass
class ThreadPoster:
    """A `Poster` for a thread. The messages of an answer to a *question* are drawn as blocks, others are plain words.

    It looks once for each post in doubt; where that was never possible, *doubtful* hears that it may stand there twice.
    With *all_in_doubt*, every post may have been made by an attempt before, which ended unheard or goes on as nobody
    has told it yet, and the first of them may be a stream that was begun *streamed_since* then. *nonces* are those of
    messages that stand there, which bear them from their next edit on.
    """

    place: Place
    question: Question | None = None
    nonces: dict[str, str] = field(default_factory=dict[str, str])
    all_in_doubt: bool = False
    streamed_since: datetime | None = None
    doubtful: Callable[[], object] = unobserved
    _doubts: dict[str, str] = field(default_factory=dict[str, str], init=False)
    _seen: Sequence[Mapping[str, Any]] | None = field(default=None, init=False)

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a message, or return the one that stands there already."""
        known = await self.find(nonce)
        if known is not None:
            return Posted(known)
        more: dict[str, Any] = {"nonce": nonce, "unfurl_links": False, "unfurl_media": False}
        try:  # of a thread that is gone nothing of ours is missing
            said = await self._say("chat.postMessage", part, gone=(), thread_ts=self.place.thread, **more)
        except Unreachable as failure:
            if not never_arrived(failure):
                self.doubt(nonce)
            raise
        self.nonces[str(said["ts"])] = nonce
        return Posted(str(said["ts"]), part)

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace what a message shows; one that somebody still writes as a stream is finished first."""
        changed = {"ts": message_id, "nonce": self.nonces.get(message_id)}
        await self._once_ended(message_id, partial(self._say, "chat.update", part, **changed))

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        delete = partial(tell, self.place.workspace.once, "chat.delete", channel=self.place.channel, ts=message_id)
        await self._once_ended(message_id, delete)

    async def _once_ended(self, message_id: str, change: Callable[[], Awaitable[object]]) -> None:
        """Change a message; one that is still a stream is ended first."""
        try:
            await change()
        except Denied as denied:
            if denied.code != IS_STREAMING:
                raise
            await self.stop(message_id)
            await change()

    async def stop(self, message_id: str) -> None:
        """End a stream as it stands; one that has ended is left as it is."""
        with suppress(Denied):
            await tell(self.place.workspace.once, "chat.stopStream", channel=self.place.channel, ts=message_id)

    def doubt(self, nonce: str, words: str = "") -> None:
        """Note a post whose confirmation did not come; *words* are those of a stream."""
        self._doubts[nonce] = words
        self._seen = None

    async def find(self, nonce: str) -> str | None:
        """Return the id of a message, if the post is in doubt and it stands there. Raises `Unreachable`."""
        if nonce not in self._doubts and not self.all_in_doubt:
            return None
        asked, since = self.place.asked, self.streamed_since
        begun = max(since.timestamp() - EARLY, float(asked)) if since is not None else inf
        if self._seen is None or self.all_in_doubt:
            try:
                self._seen = await said_in(self.place, asked if begun == inf else f"{begun:.6f}")
            except Unreachable:
                raise
            except PostingFailed:
                if self._seen is None:
                    self.doubtful()
                self._seen = self._seen or ()
        words = _letters(self._doubts.pop(nonce, ""))
        self.streamed_since = None  # only the first post may be a stream
        for one in self._seen:
            known = nonce_of(one)
            is_stream = float(one["ts"]) >= begun or (words and _letters(str(one.get("text") or "")).startswith(words))
            is_it = is_stream if known is None else known == nonce
            if is_it and one.get("user") == self.place.workspace.bot_user_id:
                self.nonces[str(one["ts"])] = nonce
                return str(one["ts"])
        return None

    async def _say(self, method: str, part: Part, **arguments: Any) -> Mapping[str, Any]:
        """Post or edit with blocks; where Slack finds fault with them, without: plain words are better than none."""
        said = {"channel": self.place.channel, "text": part.plain or part.text, **arguments}
        blocks = blocks_of(part, self.question) if self.question is not None else ()
        try:
            return await tell(self.place.workspace.once, method, blocks=blocks, **said)
        except Denied as denied:
            if denied.code not in BAD_BLOCKS:
                raise
        return await tell(self.place.workspace.once, method, **said)


async def is_all(place: Place, delivery: Delivery) -> bool:
    """Return whether the bot is seen to have said nothing since it tried to. Raises `PostingFailed`."""
    if delivery.trying is None:
        return False
    known = {place.asked, place.thread, *(message.id for message in delivery.standing)}
    known.add(delivery.notice.id if delivery.notice else "")
    try:
        said = await said_in(place, f"{delivery.trying.timestamp() - EARLY:.6f}")
    except (Gone, Rejected):
        return False
    ours = [one for one in said if one.get("user") == place.workspace.bot_user_id and one["ts"] not in known]
    return not ours and len(said) < LOOKED_AT


async def find_answer(
    place: Place,
    message: MessageRef,
    revision: int,
    *,
    rest: Callable[[Place], Awaitable[object]] | None = None,
    is_deleted: bool = False,
) -> FoundAnswer | None:
    """Return what the bot has answered to a message; None where that may stand further on than can be read.

    A stream that nobody has ended bears no mark. It is the first message of an answer, and belongs to what somebody
    asked last before it; where that *is deleted*, only if it began the thread, as nobody knows what else it was.
    Where a whole answer was said last, the place is let *rest*: a sign of work would stay there if whoever wrote it
    died right after. Raises `PostingFailed`, and of these `Gone` where the message was deleted since it was read.
    """
    marks = {nonce(message, REMARK, revision), *(nonce(message, at) for at in range(REMARK, LONGEST))}
    said, me = await said_in(place, place.asked, inclusive="true"), place.workspace.bot_user_id
    if not is_deleted and not any(one["ts"] == message.id and one.get("subtype") != REMAINS for one in said):
        raise Gone("the message was deleted")
    found, is_last = list[Mapping[str, Any]](), not is_deleted or message.id == message.thread.thread
    for one in said:
        known, text = nonce_of(one), str(one.get("text") or "")
        if float(one["ts"]) <= float(message.id):
            continue  # the root always comes along
        if one.get("user") != me:
            is_last = is_last and "?" not in text and f"<@{me}" not in text
        elif known in marks or (known is None and is_last and not found):
            found.append(one)
    if not found:
        return None if len(said) >= LOOKED_AT else FoundAnswer()
    drawn = [json.dumps(one.get("blocks")) for one in found]
    is_finished = not any(nonce_of(one) is None for one in found) and not any(
        f'"action_id": "{STOP}"' in each for each in drawn
    )
    if rest is not None and is_finished and said[-1]["ts"] == found[-1]["ts"]:
        await rest(place)
    return FoundAnswer(
        tuple(MessageRef(thread=message.thread, id=str(one["ts"])) for one in found),
        is_finished=is_finished,
        is_failure=any(f'"action_id": "{RETRY}"' in each for each in drawn),
        is_current=not revision or _is_current(found, drawn, answer_id_of(message, revision), revision),
    )


def _is_current(found: Sequence[Mapping[str, Any]], drawn: Sequence[str], name: str, revision: int) -> bool:
    """Return whether an answer is one to the newest words: its buttons know, if it has such; else times tell."""
    if votes := {vote for each in drawn for vote in _VOTED.findall(each)}:
        return name in votes
    return any(
        UPDATED in each or float(cast("Mapping[str, Any]", one.get("edited") or one)["ts"]) * 1000 >= revision
        for one, each in zip(found, drawn, strict=True)
    )


def _letters(text: str) -> str:
    """Return what is left of a text whatever dialect it is written in."""
    return "".join(filter(str.isalnum, unescape(unescape(text))))  # Slack escapes what is written to it once more


async def left_of(place: Place, message: MessageRef, known: Collection[str]) -> list[str]:
    """Return what bears a mark of the answer to a message, or of words until it, or is a stream, and is not *known*.

    A post that was on its way when its worker was frozen stands beside the answer of the worker that took over: Discord
    takes the same message twice for one, and Slack does not. Where nothing is known, what bears no mark is a stream, or
    was one; it is ended. Raises `PostingFailed`.
    """
    marks, found = {nonce(message, at) for at in (NOTICE, *range(LONGEST))}, list[str]()
    for one in await said_in(place, place.asked):
        ts, mark = str(one["ts"]), nonce_of(one)
        if ts in {*known, place.thread} or one.get("user") != place.workspace.bot_user_id:
            continue
        if mark in marks or (mark is None and not known):
            found.append(ts)
        elif mark is None:
            with suppress(Denied):  # it is no stream
                await tell(place.workspace.once, "chat.stopStream", channel=place.channel, ts=ts)
                found.append(ts)
    return found
