"""What newcomers are shown in the messages with the bot: a few things to ask."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING

from adapters.slack.client.failures import tell
from core.errors import RateLimited, Unreachable
from core.sentences import PROMPTS_TITLE

if TYPE_CHECKING:
    from adapters.chat.background import BackgroundTasks
    from adapters.slack.client.workspaces import Workspace
    from adapters.slack.inbound.ports import Ports

MOST = 4  # prompts that Slack takes
LABEL = 75  # characters that a prompt shows


class Greeting:
    """Pins the prompts once; they stay where they are."""

    def __init__(self, ports: Ports, tasks: BackgroundTasks) -> None:
        self._ports = ports
        self._tasks = tasks

    def begin(self, channel: str, workspace: Workspace) -> None:
        """Show the prompts in the messages that somebody has opened."""
        if self._ports.prompts:
            self._tasks.begin(partial(self._pin, channel, workspace))

    async def _pin(self, channel: str, workspace: Workspace) -> None:
        """Pin them, unless they are; what could not be done now is done another time."""
        prompts, memo = self._ports.prompts, self._ports.memo
        key = f"slack:prompts:{workspace.name}:{channel}"
        if memo is not None and not await memo.changed(key, hashlib.sha256(repr(prompts).encode()).hexdigest()):
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
            if memo is not None:
                await memo.forget(key)
            raise
