"""What Slack's own views of an app's messages need: prompts to begin with, and the button that stops an answer."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from adapters.slack.api import tell
from adapters.slack.events import PLATFORM, Json
from core.errors import RateLimited, Unreachable
from core.messages import NOT_YOURS, PROMPTS, PROMPTS_TITLE
from core.model import Person, Question, Stopped, ThreadRef

if TYPE_CHECKING:
    from adapters.chat.background import BackgroundTasks
    from adapters.chat.intake import TextCommand
    from adapters.chat.services import ChatServices
    from adapters.slack.workspaces import Workspace

MOST = 4  # prompts that Slack takes
LABEL = 75  # characters that a prompt shows


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackHooks:
    """What only Slack asks for; what is left out is done without.

    `running` returns the question that a thread waits for, and `is_moderator` whether somebody, by workspace and id,
    may stop what others asked. `uninstalled` takes note of a workspace that the bot was thrown out of. `prompts` are
    what newcomers are shown to ask.
    """

    running: Callable[[ThreadRef], Awaitable[Question | None]] | None = None
    is_moderator: Callable[[str, str], Awaitable[bool]] | None = None
    text_command: TextCommand | None = None
    uninstalled: Callable[[str], Awaitable[object]] | None = None
    prompts: Sequence[str] = PROMPTS


class Sessions:
    """Does it; what may fail is done in the background."""

    def __init__(self, services: ChatServices, hooks: SlackHooks, background: BackgroundTasks) -> None:
        self._services = services
        self._hooks = hooks
        self._background = background

    def open(self, channel: str, workspace: Workspace) -> None:
        """Show the prompts in the messages that somebody has opened; they stay where they are."""
        if self._hooks.prompts:
            self._background.begin(partial(self._pin, channel, workspace))

    async def stop(self, event: Json, workspace: Workspace) -> None:
        """Stop the answer that a thread waits for, for whoever asked, and for moderators.

        Whether somebody is one is looked up while nobody waits. Raises `StoreUnavailable`.
        """
        thread = ThreadRef(
            platform=PLATFORM,
            workspace=workspace.name,
            channel=str(event["channel"]),
            thread=str(event["thread_ts"]),
        )
        question = await self._hooks.running(thread) if self._hooks.running else None
        if question is None:
            return
        stopped = Stopped(message=question.message, by=Person(id=str(event["user"])))
        if stopped.by.id == question.author.id:
            await self._services.inbox.put(stopped)
        else:
            self._background.begin(partial(self._stop_for, stopped, question, workspace))

    async def _stop_for(self, stopped: Stopped, question: Question, workspace: Workspace) -> None:
        may_moderate = self._hooks.is_moderator
        if may_moderate is not None and await may_moderate(workspace.name, stopped.by.id):
            await self._services.inbox.put(stopped)
            return
        place = {"channel": question.thread.channel, "thread_ts": question.thread.thread}
        await tell(workspace.client, "chat.postEphemeral", user=stopped.by.id, text=NOT_YOURS, **place)

    async def _pin(self, channel: str, workspace: Workspace) -> None:
        """Pin the prompts, unless they are; what could not be done now is done another time."""
        prompts, memo = self._hooks.prompts, self._services.memo
        key = f"slack:prompts:{workspace.name}:{channel}"
        if not await memo.changed(key, hashlib.sha256(repr(prompts).encode()).hexdigest()):
            return
        try:
            await tell(
                workspace.client,
                "assistant.threads.setSuggestedPrompts",
                channel_id=channel,
                title=PROMPTS_TITLE,
                prompts=[{"title": prompt[:LABEL], "message": prompt} for prompt in prompts[:MOST]],
            )
        except (Unreachable, RateLimited):
            await memo.forget(key)
            raise
