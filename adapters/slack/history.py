"""Reads what was said on Slack lately, for what was missed while nobody heard it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from adapters.chat.background import LATEST
from adapters.chat.catch_up import HistoryPlace, LateEvent, Missed, Round, absent
from adapters.slack.api import PAGE, PAGES, Denied, ask, pages
from adapters.slack.events import PLATFORM, REACTION, Json, line_of, read_event
from adapters.slack.poster import REMAINS
from core.errors import Gone, Rejected
from core.model import MessageRef, ThreadRef

if TYPE_CHECKING:
    from adapters.chat.services import ChatServices
    from adapters.slack.workspaces import Workspace, Workspaces

Found = TypeVar("Found")

KINDS = ("public_channel", "private_channel", "im", "mpim")
KNOWN = 1_000  # channels that were heard lately, in all workspaces together
WORKSPACES = 50
CHANNELS = 200  # of one workspace
RESENT = 6 * 60  # seconds; Slack itself sends again for about five minutes what was not acknowledged
NOT_THERE = frozenset({"not_in_channel", "channel_not_found", "is_archived", "thread_not_found"})


@dataclass(frozen=True, slots=True)
class SlackHistory:
    """Implements `History` for the workspaces that the bot is in.

    Channels where something was heard lately come first, and threads last, of which the bot's own come first: where
    Slack lets an app read one of them a minute, the rest is given up after some time.
    """

    services: ChatServices
    workspaces: Workspaces

    async def places(self, home: str, round_: Round) -> AsyncGenerator[HistoryPlace]:
        """Yield the channels of *home*, and of all workspaces that were heard lately, those first heard last.

        Each is read from a bit before the last that was heard in its workspace, unless the store has lost what it knew
        of that; what is too old is left.
        """
        heard: dict[str, dict[str, datetime]] = {home: {}} if home else {}
        look = partial(self.services.channel_cursor.channels, PLATFORM, limit=KNOWN)
        for ref, at in await round_.retry.call(look):
            heard.setdefault(ref.workspace, {})[ref.channel] = at
        oldest = self.services.now() - LATEST
        is_young = (await round_.retry.call(self.services.inbox.kept_for)).age < LATEST
        for name, channels in _first(WORKSPACES, heard.items(), "workspaces", round_):
            try:
                workspace = await round_.retry.call(partial(self.workspaces.find, name))
            except Rejected:
                continue  # the bot is not there any more
            last = oldest if is_young else max(channels.values(), default=oldest)
            since = max(oldest.timestamp(), last.timestamp() - RESENT)
            for channel in await _channels(workspace, channels, round_):
                yield HistoryPlace(SlackPlace(self.workspaces, workspace, channel, since).read)

    def is_of(self, thread: ThreadRef, homes: Collection[str]) -> bool:
        """Of several workspaces, all are looked at."""
        return thread.platform == PLATFORM and ("" in homes or thread.workspace in homes)

    async def deleted(self, messages: Sequence[MessageRef], round_: Round) -> Collection[str]:
        """Return the ids of those that are gone; all stand in one thread, and Slack leaves a mark of what began it."""
        if not messages:
            return ()
        ids, thread = [message.id for message in messages], messages[0].thread

        async def read(first: str) -> tuple[Collection[str], bool]:
            where = {"channel": thread.channel, "ts": thread.thread, "oldest": first, "inclusive": "true"}
            client = (await self.workspaces.find(thread.workspace)).client
            said = await round_.retry.call(lambda: ask(client, "conversations.replies", **where, limit=PAGE))
            found = cast("Sequence[Json]", said.get("messages") or ())
            return [str(one["ts"]) for one in found if one.get("subtype") != REMAINS], not said.get("has_more")

        try:
            return await absent(ids, read)
        except Gone:
            return ids
        except Rejected:
            return ()


async def _channels(workspace: Workspace, heard: Iterable[str], round_: Round) -> Sequence[str]:
    """Return the channels that the bot is in, those first that were heard lately."""
    found = dict.fromkeys(heard)
    kinds = {"types": ",".join(KINDS), "exclude_archived": "true"}
    try:
        async for page in pages(round_.retry, workspace.client, "users.conversations", "channels", **kinds):
            found |= dict.fromkeys(str(each["id"]) for each in page)
    except (Rejected, Gone) as failure:
        _note(failure, round_)
    return _first(CHANNELS, found, "channels in one workspace", round_)


@dataclass(frozen=True, slots=True)
class SlackPlace:
    """A channel, or the thread of which `root` is the first message; times are Slack's seconds."""

    workspaces: Workspaces
    workspace: Workspace
    channel: str
    since: float
    root: str = ""

    async def read(self, round_: Round) -> Missed:
        """Return what is new in the channel or thread; of a channel, those of its threads that went on as well."""
        try:
            return await (self._read_thread(round_) if self.root else self._read_channel(round_))
        except (Rejected, Gone) as failure:
            _note(failure, round_)
            return Missed()

    async def _read_channel(self, round_: Round) -> Missed:
        said: list[Json] = []
        client = self.workspace.client
        async for page in pages(round_.retry, client, "conversations.history", "messages", channel=self.channel):
            said += page
            if not page or _seconds(page[-1], "ts") <= self.since:  # the newest come first
                break
        if len(said) >= PAGE * PAGES and _seconds(said[-1], "ts") > self.since:
            round_.cut(f"more than {PAGE * PAGES} messages in one channel")
        threads = [self._thread(one) for one in said if _seconds(one, "latest_reply") > self.since]
        return Missed(self._events(said), threads)

    async def _read_thread(self, round_: Round) -> Missed:
        said: list[Json] = []
        where = {"channel": self.channel, "ts": self.root, "oldest": f"{self.since:.6f}"}
        async for page in pages(round_.retry, self.workspace.client, "conversations.replies", "messages", **where):
            said += (reply for reply in page if reply["ts"] != self.root)
        return Missed(self._events(said))

    def _thread(self, root: Json) -> HistoryPlace:
        """Return the thread below a message; those that the bot takes part in come first, and then the latest."""
        present = {root.get("user"), *cast("Sequence[str]", root.get("reply_users") or ())}
        is_ours = not present.isdisjoint({self.workspace.bot_user_id, self.workspace.bot_id})
        thread = SlackPlace(self.workspaces, self.workspace, self.channel, self.since, str(root["ts"]))
        return HistoryPlace(thread.read, self.workspace.name, (is_ours, _seconds(root, "latest_reply")))

    def _events(self, said: Iterable[Json]) -> Sequence[LateEvent]:
        """Return what was said or changed lately, oldest first; what somebody was refused an answer to is left out."""
        events: list[LateEvent] = []
        for one in sorted(said, key=itemgetter("ts")):
            changed = _seconds(cast("Json", one.get("edited") or {}), "ts")
            if max(_seconds(one, "ts"), changed) > self.since and (changed or not self._is_refused(one)):
                event = {**one, "type": "message", "channel": self.channel}  # which only events have
                read = partial(read_event, event, self.workspaces, self.workspace.name, is_late=True)
                events.append(LateEvent(f"{self.workspace.name}:{line_of(event)}", read))
        return events

    def _is_refused(self, said: Json) -> bool:
        """Return whether somebody was told already that there will be no answer to these words, and to try again."""
        marks = cast("Sequence[Mapping[str, Any]]", said.get("reactions") or ())
        return any(mark["name"] == REACTION and self.workspace.bot_user_id in mark.get("users", ()) for mark in marks)


def _first(most: int, found: Collection[Found], what: str, round_: Round) -> Sequence[Found]:
    """Return the first ones; that there are more is remembered as trouble."""
    if len(found) > most:
        round_.cut(f"more than {most} {what}")
    return list(found)[:most]


def _note(failure: Rejected | Gone, round_: Round) -> None:
    """Remember why something could not be read, unless there is nothing to be read."""
    if isinstance(failure, Denied) and failure.code not in NOT_THERE:
        round_.cut(f"Slack says {failure.code}")


def _seconds(said: Json, field: str) -> float:
    """Return a time as Slack writes it; 0 where there is none."""
    try:
        return float(str(said.get(field) or 0))
    except ValueError:
        return 0.0
