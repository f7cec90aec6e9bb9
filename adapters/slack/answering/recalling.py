"""Reads what was said in a thread, as people see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import unescape
from typing import Any, cast

from adapters.slack.api import ask
from adapters.slack.workspaces import Workspace
from core.errors import PostingFailed
from core.model import Message, ThreadRef

PAGE = 200  # messages
PAGES = 5  # of a thread, which Slack gives from its beginning on


async def recalled(workspace: Workspace, thread: ThreadRef, *, limit: int) -> Sequence[Message]:
    """Return the newest messages with words in them, oldest first; nothing where the bot may not read."""
    said: dict[str, Mapping[str, Any]] = {}
    cursor = ""
    try:
        for _ in range(PAGES):
            page = await _page(workspace, thread, cursor)
            said |= {str(one["ts"]): one for one in cast("Sequence[Mapping[str, Any]]", page.get("messages") or ())}
            cursor = str(cast("Mapping[str, Any]", page.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                break
    except PostingFailed:
        return ()
    return [_line(one, workspace) for one in said.values() if one.get("text")][-limit:]


async def _page(workspace: Workspace, thread: ThreadRef, cursor: str) -> Mapping[str, Any]:
    return await ask(
        workspace.client,
        "conversations.replies",
        channel=thread.channel,
        ts=thread.thread,
        limit=PAGE,
        cursor=cursor or None,
    )


def _line(message: Mapping[str, Any], workspace: Workspace) -> Message:
    user = str(message.get("user") or "")
    return Message(
        role="assistant" if user == workspace.bot_user_id else "user",
        text=unescape(str(message["text"])),
        author=user,
        at=datetime.fromtimestamp(float(message["ts"]), UTC),
    )
