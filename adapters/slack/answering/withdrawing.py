"""Takes back what a deleted question left: whether others have gone on from the answer, and the session's title."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, cast

from adapters.chat.posting import nonce
from adapters.retry import QUICK
from adapters.slack.api import ask, once, tell
from adapters.slack.client.lost import LostPosts, Place
from adapters.slack.workspaces import Workspace
from core.errors import PostingFailed
from core.model import MessageRef, WaitNotice, Withdrawal

LOOKED_AT = 15  # messages below an answer; Slack gives some apps no more
UNTITLED = "Question removed"


async def has_replies(withdrawal: Withdrawal, workspace: Workspace) -> bool:
    """Return whether others than the asker have written below the answer; not where the bot may not read."""
    if not withdrawal.delivery.messages:
        return False
    first = withdrawal.delivery.messages[0]
    try:
        said = await ask(
            workspace.client,
            "conversations.replies",
            channel=first.thread.channel,
            ts=first.thread.thread,
            oldest=first.id,
            limit=LOOKED_AT,
        )
    except PostingFailed:
        return False
    later = [one for one in _messages(said) if float(one["ts"]) > float(first.id)]  # the root always comes along
    return any(_is_by_others(one, withdrawal, workspace) for one in later)


def _messages(said: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return cast("Sequence[Mapping[str, Any]]", said.get("messages") or ())


def _is_by_others(message: Mapping[str, Any], withdrawal: Withdrawal, workspace: Workspace) -> bool:
    """Leave out bots, and what the asker has said, who takes back the question."""
    user = message.get("user")
    return bool(user) and not message.get("bot_id") and user not in (withdrawal.asker_id, workspace.bot_user_id)


async def unknown_of(withdrawal: Withdrawal, workspace: Workspace) -> Sequence[MessageRef]:
    """Find what may have been posted unheard for the question as it was first asked; not where the bot may not read."""
    known, trying, thread = withdrawal.delivery.messages, withdrawal.delivery.trying, withdrawal.thread
    if trying is None:
        return ()
    place = Place(workspace, thread.channel, thread.thread, withdrawal.message.id)
    lost = LostPosts(place, all_in_doubt=True, streamed_since=None if known else trying)
    found = await lost.find(nonce(withdrawal.message, 0, len(known)))
    return [MessageRef(thread=thread, id=found)] if found is not None else ()


async def untitle(withdrawal: Withdrawal, workspace: Workspace) -> None:
    """Take the words of the question out of the title of its session; where there is none, nothing is to be done.

    The title is there before anything is posted.
    """
    thread = withdrawal.thread
    if withdrawal.message.id != thread.thread:
        return
    with suppress(PostingFailed):
        await tell(
            workspace.client,
            "agents.sessions.rename",
            channel_id=thread.channel,
            thread_ts=thread.thread,
            title=UNTITLED,
        )


async def retract(workspace: Workspace, message: MessageRef, notice: WaitNotice) -> None:
    """Take away what was said below a question while it waited. Raises `PostingFailed`."""
    place = Place(workspace, notice.thread.channel, notice.thread.thread, message.id)
    if found := notice.id or await LostPosts(place, all_in_doubt=True).find(notice.nonce):
        await QUICK.call(partial(tell, once(workspace.client), "chat.delete", channel=place.channel, ts=found))
