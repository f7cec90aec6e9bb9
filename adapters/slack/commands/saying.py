"""Words that are commands where they are all that somebody says to the bot, since Slack has no commands in threads."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from adapters.chat.background import BackgroundTasks
from adapters.chat.commands import carried_out
from adapters.slack.api import once, tell
from adapters.slack.commands.context import Kit, context_of
from adapters.slack.commands.situation import Used
from adapters.slack.commands.slash import ParsedCommand, text_command
from adapters.slack.commands.wording import mrkdwn
from core.errors import PostingFailed, Rejected, StoreUnavailable
from core.model import Inbound, Setting


async def said(kit: Kit, tasks: BackgroundTasks, inbound: Inbound) -> bool:
    """Begin to do what a word stands for, once for each message; False if it stands for nothing."""
    wanted = text_command(inbound.text)
    if wanted is None or inbound.author is None:
        return False
    tasks.begin(partial(_answered, kit, wanted, inbound))
    return True


async def _answered(kit: Kit, wanted: ParsedCommand, inbound: Inbound) -> None:
    command, values = wanted.command, wanted.values
    if command is not None and command.act is not None and values is not None and await _is_new(kit, inbound):
        context = context_of(kit, _used(inbound, kit.services.now()))
        await carried_out(partial(command.act, context, values), partial(_tell, kit, inbound))


async def _is_new(kit: Kit, inbound: Inbound) -> bool:
    """Return whether the message was not answered before: one mention comes as two events, and each may come again."""
    try:
        return await kit.services.memo.changed(f"slack:said:{inbound.message}", str(inbound.revision))
    except StoreUnavailable:
        return True  # once more than needed is better than not at all


async def _tell(kit: Kit, inbound: Inbound, sentence: str) -> None:
    """Say it to that person alone, or in the thread where Slack shows nothing to one person."""
    text: dict[str, Any] = {"channel": inbound.thread.channel, "text": mrkdwn(sentence)}
    in_thread: dict[str, Any] = {
        **text,
        "thread_ts": inbound.thread.thread,
        "unfurl_links": False,
        "unfurl_media": False,
    }
    with suppress(PostingFailed):
        workspace = await kit.workspaces.find(inbound.thread.workspace)
        if inbound.setting is not Setting.DIRECT:
            where = in_thread if inbound.setting is Setting.THREAD else text
            with suppress(Rejected):
                await tell(workspace.client, "chat.postEphemeral", user=inbound.author_id, **where)
                return
        await tell(once(workspace.client), "chat.postMessage", **in_thread)


def _used(inbound: Inbound, now: datetime) -> Used:
    is_thread = inbound.setting is not Setting.CHANNEL
    return Used(
        workspace=inbound.thread.workspace,
        user=inbound.author_id,
        at=inbound.at or now,
        channel=inbound.thread.channel,
        thread=inbound.thread.thread if is_thread else "",
    )
