"""Takes note of when something was heard where, so that whoever starts next knows what it has missed."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from adapters.chat.place_breaker import ExpiringSet
from adapters.slack.inbound.event import PLATFORM, Json, moment_of
from core.model import ChannelRef

if TYPE_CHECKING:
    from adapters.chat.background import BackgroundTasks
    from adapters.slack.client.workspaces import Workspace
    from adapters.slack.inbound.ports import Ports

OFTEN = timedelta(minutes=1)  # more often it is not written for one channel


class Attending:
    """Notes what was dealt with; nobody waits for it."""

    def __init__(self, ports: Ports, tasks: BackgroundTasks) -> None:
        self._last_heard = ports.last_heard
        self._tasks = tasks
        self._noted = ExpiringSet(ports.now, OFTEN)

    def note(self, event: Json, workspace: Workspace) -> None:
        """Begin to note that something has happened in a channel, once in a while."""
        at, channel = moment_of(event), str(event.get("channel") or "")
        if self._last_heard is None or at is None or not channel:
            return
        place = ChannelRef(platform=PLATFORM, workspace=workspace.name, channel=channel)
        if self._noted.add(repr(place)):
            self._tasks.begin(partial(self._last_heard.note, place, at))
