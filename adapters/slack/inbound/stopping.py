"""What becomes of a press on Slack's own button that stops an answer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from adapters.slack.client.failures import tell
from adapters.slack.inbound.event import PLATFORM, Json
from core.model import Person, Question, Stopped, ThreadRef
from core.sentences import NOT_YOURS

if TYPE_CHECKING:
    from adapters.chat.background import BackgroundTasks
    from adapters.slack.client.workspaces import Workspace
    from adapters.slack.inbound.ports import Ports


class Stopping:
    """Stops the answer that a thread waits for, for whoever asked, and for moderators. Raises `StoreUnavailable`."""

    def __init__(self, ports: Ports, tasks: BackgroundTasks) -> None:
        self._ports = ports
        self._tasks = tasks

    async def hear(self, event: Json, workspace: Workspace) -> None:
        """Stop it, or say that it is not for everybody to stop; that is looked up while nobody waits."""
        thread = ThreadRef(
            platform=PLATFORM,
            workspace=workspace.name,
            channel=str(event["channel"]),
            thread=str(event["thread_ts"]),
        )
        question = await self._ports.running(thread) if self._ports.running else None
        if question is None:
            return
        stopped = Stopped(message=question.message, by=Person(id=str(event["user"])))
        if stopped.by.id == question.author.id:
            await self._ports.inbox.put(stopped)
        else:
            self._tasks.begin(partial(self._stop_for, stopped, question, workspace))

    async def _stop_for(self, stopped: Stopped, question: Question, workspace: Workspace) -> None:
        may_moderate = self._ports.is_moderator
        if may_moderate is not None and await may_moderate(workspace.name, stopped.by.id):
            await self._ports.inbox.put(stopped)
            return
        place = {"channel": question.thread.channel, "thread_ts": question.thread.thread}
        await tell(workspace.client, "chat.postEphemeral", user=stopped.by.id, text=NOT_YOURS, **place)
