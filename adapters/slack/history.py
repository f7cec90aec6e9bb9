"""Reads what was said on Slack lately, for what was missed while nobody heard it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from adapters.chat.catch_up import LateEvent, Missed, Round
from adapters.chat.intake import LATEST
from adapters.slack.api import PAGE, PAGES, Denied, pages
from adapters.slack.channels import REACTION, read_event
from adapters.slack.events import PLATFORM, Json, line_of
from core.errors import Gone, Rejected

if TYPE_CHECKING:
    from adapters.chat.intake import ChatEvent
    from adapters.chat.services import ChatServices
    from adapters.slack.workspaces import Workspace, Workspaces

Found = TypeVar("Found")
Homes: TypeAlias = Mapping[str, Mapping[str, datetime]]
"""Workspaces, and when each channel there was heard last."""

KINDS = ("public_channel", "private_channel", "im")
KNOWN = 1_000  # channels that were heard lately, in all workspaces together
WORKSPACES = 50
CHANNELS = 200  # of one workspace
RESENT = 6 * 60  # seconds; Slack itself sends again for about five minutes what was not acknowledged
NOT_THERE = frozenset({"not_in_channel", "channel_not_found", "is_archived", "thread_not_found"})


class SlackHistory:
    """Implements `History` for the workspaces that the bot is in.

    Channels where something was heard lately come first, and threads last, of which the bot's own come first: where
    Slack lets an app read one of them a minute, the rest is given up after some time.
    """

    def __init__(self, services: ChatServices, workspaces: Workspaces) -> None:
        self._services = services
        self._workspaces = workspaces

    async def places(self, home: str, round_: Round) -> AsyncGenerator[SlackPlace]:
        """Yield the channels of *home*, and of all workspaces that were heard lately."""
        for name, heard in _first(WORKSPACES, (await self._homes(home, round_)).items(), "workspaces", round_):
            try:
                workspace = await round_.retry.call(partial(self._workspaces.find, name))
            except Rejected:
                continue  # the bot is not there any more
            since = self._since(heard.values())
            for channel in await _channels(workspace, heard, round_):
                yield SlackPlace(workspace, channel, since)

    async def _homes(self, home: str, round_: Round) -> Homes:
        """Return the workspaces, and in each the channels, in the order in which they were heard last."""
        found: dict[str, dict[str, datetime]] = {home: {}} if home else {}
        heard = partial(self._services.last_heard.channels, PLATFORM, limit=KNOWN)
        for channel, at in await round_.retry.call(heard):
            found.setdefault(channel.workspace, {})[channel.channel] = at
        return found

    def _since(self, heard: Collection[datetime]) -> float:
        """Return the time from which on to read: a bit before the last that was heard, and nothing that is too old."""
        oldest = self._services.now() - LATEST
        return max(oldest.timestamp(), max(heard, default=oldest).timestamp() - RESENT)


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
    """Implements `HistoryPlace` for a channel, or for the thread of which `root` is the first message.

    Times are Slack's seconds.
    """

    workspace: Workspace
    channel: str
    since: float
    root: str = ""
    latest: float = 0.0
    is_ours: bool = False

    @property
    def home(self) -> str:
        """The workspace."""
        return self.workspace.name

    @property
    def rank(self) -> tuple[bool, float]:
        """Threads that the bot takes part in come first."""
        return self.is_ours, self.latest

    async def read(self, round_: Round) -> Missed:
        """Return what is new in the channel or thread; of a channel, those of its threads that went on as well."""
        try:
            return await (self._read_thread(round_) if self.root else self._read_channel(round_))
        except (Rejected, Gone) as failure:
            _note(failure, round_)
            return Missed()

    async def _read_channel(self, round_: Round) -> Missed:
        said: list[Json] = []
        client, where = self.workspace.client, {"channel": self.channel}
        async for page in pages(round_.retry, client, "conversations.history", "messages", **where):
            said += page
            if not page or _seconds(page[-1], "ts") <= self.since:  # the newest come first
                break
        if len(said) >= PAGE * PAGES and _seconds(said[-1], "ts") > self.since:
            round_.cut(f"more than {PAGE * PAGES} messages in one channel")
        threads = [thread for thread in map(self._thread, said) if thread.latest > self.since]
        return Missed(self._events(said), threads)

    async def _read_thread(self, round_: Round) -> Missed:
        said: list[Json] = []
        client, where = self.workspace.client, {"channel": self.channel, "ts": self.root}
        async for page in pages(
            round_.retry, client, "conversations.replies", "messages", **where, oldest=f"{self.since:.6f}"
        ):
            said += (reply for reply in page if reply["ts"] != self.root)
        return Missed(self._events(said))

    def _thread(self, root: Json) -> SlackPlace:
        """Return the thread below a message: when it went on last, and whether the bot takes part in it."""
        present = {root.get("user"), *cast("Sequence[str]", root.get("reply_users") or ())}
        is_ours = not present.isdisjoint({self.workspace.bot_user_id, self.workspace.bot_id})
        latest = _seconds(root, "latest_reply")
        return SlackPlace(self.workspace, self.channel, self.since, str(root["ts"]), latest, is_ours)

    def _events(self, said: Iterable[Json]) -> Sequence[LateEvent]:
        """Return what is new, oldest first; what somebody was refused an answer to is left out."""
        new = [one for one in said if _is_new(one, self.since) and not _is_refused(one, self.workspace)]
        return [self._late(one) for one in sorted(new, key=itemgetter("ts"))]

    def _late(self, said: Json) -> LateEvent:
        event = {**said, "type": "message", "channel": self.channel}  # which only events have

        async def read() -> ChatEvent | None:
            return read_event(event, self.workspace, is_late=True)

        return LateEvent(f"{self.workspace.name}:{line_of(event)}", read)


def _first(most: int, found: Iterable[Found], what: str, round_: Round) -> Sequence[Found]:
    """Return the first ones; that there are more is remembered as trouble."""
    everything = list(found)
    if len(everything) > most:
        round_.cut(f"more than {most} {what}")
    return everything[:most]


def _note(failure: Rejected | Gone, round_: Round) -> None:
    """Remember why something could not be read, unless there is nothing to be read."""
    if isinstance(failure, Denied) and failure.code not in NOT_THERE:
        round_.cut(f"Slack says {failure.code}")


def _is_refused(said: Json, workspace: Workspace) -> bool:
    """Return whether somebody was told already that there will be no answer to these words, and to try again."""
    marks = cast("Sequence[Mapping[str, Any]]", said.get("reactions") or ())
    is_marked = any(mark["name"] == REACTION and workspace.bot_user_id in mark.get("users", ()) for mark in marks)
    return is_marked and not said.get("edited")


def _is_new(said: Json, since: float) -> bool:
    """Return whether something was said or changed after a time."""
    edited = cast("Mapping[str, Any]", said.get("edited") or {})
    return max(_seconds(said, "ts"), _seconds(edited, "ts")) > since


def _seconds(said: Json, field: str) -> float:
    """Return a time as Slack writes it; 0 where there is none."""
    try:
        return float(str(said.get(field) or 0))
    except ValueError:
        return 0.0
