"""What a listener is connected to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from adapters.chat.wait_notice import Waits
from adapters.slack.client.workspaces import Workspace, Workspaces
from core.model import Inbound, Question, Terms, ThreadRef, WorkspaceRef
from core.ports import Inbox, LastHeard, Memo
from core.sentences import PROMPTS


def unnoticed(reason: str) -> None:
    """Take no note of what could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What is left out is done without.

    `owns` says whether what is remembered of a thread began with its first message, and `askers` who has asked there,
    None if nobody knows. `running` gives the question that a thread waits for, and `is_moderator` whether somebody, by
    workspace and id, may stop what others asked. `said` takes the whole text of a message to the bot, False if it is no
    command. `purge` forgets a workspace that the bot was thrown out of, and `uninstalled` takes note of its name.
    `prompts` are what newcomers are shown to ask. `waits` knows how long people wait. `last_heard` says from when on
    something may have been missed, and `cut_short` hears why not all of it could be read.
    """

    inbox: Inbox
    workspaces: Workspaces
    terms: Terms = field(default_factory=Terms)
    memo: Memo | None = None
    owns: Callable[[ThreadRef], Awaitable[bool]] | None = None
    askers: Callable[[ThreadRef], Awaitable[Collection[str] | None]] | None = None
    running: Callable[[ThreadRef], Awaitable[Question | None]] | None = None
    is_moderator: Callable[[str, str], Awaitable[bool]] | None = None
    said: Callable[[str, Inbound, Workspace], Awaitable[bool]] | None = None
    purge: Callable[[WorkspaceRef], Awaitable[object]] | None = None
    uninstalled: Callable[[str], Awaitable[object]] | None = None
    waits: Waits | None = None
    last_heard: LastHeard | None = None
    cut_short: Callable[[str], None] = unnoticed
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    prompts: Sequence[str] = PROMPTS
    now: Callable[[], datetime] = partial(datetime.now, UTC)
