"""Reads what was said while nobody heard it, and hears it late."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from adapters.retry import PATIENT
from adapters.slack.client.failures import Denied
from adapters.slack.client.paging import PAGE, PAGES, pages
from adapters.slack.inbound.event import PLATFORM, Json
from adapters.slack.inbound.hearing import LATEST, Told
from adapters.slack.inbound.remarks import REACTION
from core.errors import Gone, PostingFailed, Rejected, StoreUnavailable
from core.events import CatchUpCutShort

if TYPE_CHECKING:
    from adapters.slack.client.workspaces import Workspace
    from adapters.slack.inbound.ports import Ports

Hear: TypeAlias = Callable[[Told], Awaitable[object]]
Found = TypeVar("Found")
Homes: TypeAlias = Mapping[str, Mapping[str, datetime]]
"""Workspaces, and when each channel there was heard last."""

KINDS = ("public_channel", "private_channel", "im")
KNOWN = 1_000  # channels that were heard lately, in all workspaces together
WORKSPACES = 50
CHANNELS = 200  # of one workspace
THREADS = 100  # of one workspace
RESENT = timedelta(minutes=6)  # Slack itself sends again for about five what was not acknowledged
NOT_THERE = frozenset({"not_in_channel", "channel_not_found", "is_archived", "thread_not_found"})


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread that may have gone on: when it did so, and whether the bot takes part in it."""

    channel: str
    root: str
    latest: float
    is_ours: bool

    @classmethod
    def below(cls, root: Json, channel: str, workspace: Workspace) -> Thread:
        """Read what a message says of its thread."""
        present = {root.get("user"), *cast("Sequence[str]", root.get("reply_users") or ())}
        is_ours = not present.isdisjoint({workspace.bot_user_id, workspace.bot_id})
        return cls(channel, str(root["ts"]), _seconds(root, "latest_reply"), is_ours)


class CatchUp:
    """Hears what was missed; the inbox knows what was heard before, so nothing is answered twice.

    While it `is_running`, what was heard last is not to be noted, as whoever starts after a crash has to begin there.
    """

    def __init__(self, ports: Ports, hear: Hear) -> None:
        self._ports = ports
        self._hear = hear
        self.is_running = False
        self._is_wanted = False

    async def run(self, home: str = "") -> None:
        """Read *home* and all workspaces that were heard; called while it runs, it runs once more at the end."""
        self._is_wanted = True
        if self.is_running:
            return
        self.is_running = True
        try:
            while self._is_wanted:
                self._is_wanted = False
                await Round(self._ports, self._hear).read(home)
        finally:
            self.is_running = False


class Round:
    """Reads everything once, one thing after the other, so that what is said meanwhile does not have to wait.

    Channels where something was heard lately come first, and threads last, of which the bot's own come first: where
    Slack lets an app read one of them a minute, the rest is given up after some time.
    """

    def __init__(self, ports: Ports, hear: Hear) -> None:
        self._ports = ports
        self._hear = hear
        self._retrying = replace(PATIENT, sleep=ports.sleep).begin()
        self._trouble = ""

    async def read(self, home: str) -> None:
        """Read one workspace after the other, and tell once if something could not be read."""
        try:
            for name, heard in self._first(WORKSPACES, (await self._homes(home)).items(), "workspaces"):
                await self._read_home(name, heard)
        except (PostingFailed, StoreUnavailable) as failure:
            self._note(failure)
        if self._trouble:
            self._ports.observer(CatchUpCutShort("Slack", self._trouble))

    async def _homes(self, home: str) -> Homes:
        """Give the workspaces, and in each the channels, in the order in which they were heard last."""
        found: dict[str, dict[str, datetime]] = {home: {}} if home else {}
        if (last := self._ports.last_heard) is not None:
            for channel, at in await self._retrying.call(lambda: last.channels(PLATFORM, limit=KNOWN)):
                found.setdefault(channel.workspace, {})[channel.channel] = at
        return found

    async def _read_home(self, name: str, heard: Mapping[str, datetime]) -> None:
        since = self._since(heard.values())
        try:
            workspace = await self._retrying.call(lambda: self._ports.workspaces.find(name))
        except Rejected:
            return  # the bot is not there any more
        busy: list[Thread] = []
        for channel in await self._channels(workspace, heard):
            with self._noting():
                busy += await self._read_channel(workspace, channel, since)
        busy.sort(key=attrgetter("is_ours", "latest"), reverse=True)
        for thread in self._first(THREADS, busy, "threads in one workspace"):
            with self._noting():
                await self._read_thread(workspace, thread, since)

    def _since(self, heard: Collection[datetime]) -> float:
        """Give the time from which on to read: a bit before the last that was heard, and nothing that is too old."""
        oldest = self._ports.now() - LATEST
        return max(oldest, max(heard, default=oldest) - RESENT).timestamp()

    async def _channels(self, workspace: Workspace, heard: Iterable[str]) -> Sequence[str]:
        """Give the channels that the bot is in, those first that were heard lately."""
        found = dict.fromkeys(heard)
        kinds = {"types": ",".join(KINDS), "exclude_archived": "true"}
        with self._noting():
            async for page in pages(self._retrying, workspace.client, "users.conversations", "channels", **kinds):
                found |= dict.fromkeys(str(each["id"]) for each in page)
        return self._first(CHANNELS, found, "channels in one workspace")

    async def _read_channel(self, workspace: Workspace, channel: str, since: float) -> Iterable[Thread]:
        """Hear what is new in a channel; give those of its threads that went on."""
        said: list[Json] = []
        async for page in pages(self._retrying, workspace.client, "conversations.history", "messages", channel=channel):
            said += page
            if not page or _seconds(page[-1], "ts") <= since:  # the newest come first
                break
        if len(said) >= PAGE * PAGES and _seconds(said[-1], "ts") > since:
            self._cut(f"{PAGE * PAGES} messages in one channel")
        await self._hear_all(workspace, channel, said, since)
        roots = (Thread.below(one, channel, workspace) for one in said)
        return [thread for thread in roots if thread.latest > since]

    async def _read_thread(self, workspace: Workspace, thread: Thread, since: float) -> None:
        where = {"channel": thread.channel, "ts": thread.root, "oldest": f"{since:.6f}"}
        async for page in pages(self._retrying, workspace.client, "conversations.replies", "messages", **where):
            replies = [reply for reply in page if reply["ts"] != thread.root]
            await self._hear_all(workspace, thread.channel, replies, since)

    async def _hear_all(self, workspace: Workspace, channel: str, said: Iterable[Json], since: float) -> None:
        """Hear what is new, oldest first; while the store is away, wait for it."""
        for one in sorted(said, key=itemgetter("ts")):
            if _is_new(one, since) and not _is_refused(one, workspace):
                event = {**one, "type": "message", "channel": channel}  # which only events have
                told = Told(event, workspace, is_late=True)
                await self._retrying.call(lambda: self._hear(told))  # noqa: B023 - it is called here and now

    def _first(self, most: int, found: Iterable[Found], what: str) -> Sequence[Found]:
        """Give the first ones; that there are more is remembered as trouble."""
        everything = list(found)
        if len(everything) > most:
            self._cut(f"{most} {what}")
        return everything[:most]

    def _cut(self, what: str) -> None:
        self._trouble = self._trouble or f"more than {what}"

    @contextmanager
    def _noting(self) -> Generator[None]:
        """Go on behind the block, where Slack will not give what is read in it."""
        try:
            yield
        except (Rejected, Gone) as failure:
            self._note(failure)

    def _note(self, failure: Exception) -> None:
        """Remember why something could not be read, unless there is nothing to be read."""
        is_there = not isinstance(failure, Gone) and getattr(failure, "code", "") not in NOT_THERE
        if is_there and not self._trouble:
            self._trouble = f"Slack says {failure.code}" if isinstance(failure, Denied) else str(failure)


def _is_refused(said: Json, workspace: Workspace) -> bool:
    """Say whether somebody was told already that there will be no answer to these words, and asked to try again."""
    marks = cast("Sequence[Mapping[str, Any]]", said.get("reactions") or ())
    is_marked = any(mark["name"] == REACTION and workspace.bot_user_id in mark.get("users", ()) for mark in marks)
    return is_marked and not said.get("edited")


def _is_new(said: Json, since: float) -> bool:
    """Say whether something was said or changed after a time."""
    edited = cast("Mapping[str, Any]", said.get("edited") or {})
    return max(_seconds(said, "ts"), _seconds(edited, "ts")) > since


def _seconds(said: Json, field: str) -> float:
    """Read a time as Slack writes it; 0 where there is none."""
    try:
        return float(str(said.get(field) or 0))
    except ValueError:
        return 0.0
