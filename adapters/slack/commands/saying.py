"""Words that are commands where they are all that somebody says to the bot, since Slack has no commands in threads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias

from adapters.chat.attempting import attempted
from adapters.chat.posting import PostingFailed, Refused
from adapters.slack.client.connection import once
from adapters.slack.client.failures import tell
from adapters.slack.commands.errands import Errands
from adapters.slack.commands.helping import forgot_person, forgot_thread, helped, informed, shown_sources
from adapters.slack.commands.kit import Kit
from adapters.slack.commands.situation import Used
from adapters.slack.commands.wording import mrkdwn
from core.errors import StoreUnavailable
from core.model import Inbound, Setting

Act: TypeAlias = Callable[[Kit, Used], Awaitable[str]]

WORDS: Mapping[str, Act] = {
    "sources": shown_sources,
    "help": helped,
    "privacy": informed,
    "forget": forgot_thread,
    "forget thread": forgot_thread,
    "forget me": forgot_person,
}


async def said(kit: Kit, errands: Errands, inbound: Inbound) -> bool:
    """Begin to do what a word stands for, once for each message; False if it stands for nothing."""
    act = WORDS.get(" ".join(inbound.text.lower().split()))
    if act is None or inbound.author is None:
        return False
    errands.begin(partial(_answered, kit, act, inbound))
    return True


async def _answered(kit: Kit, act: Act, inbound: Inbound) -> None:
    used = _used(inbound, kit.desk.now())
    if await _is_new(kit, inbound):
        await attempted(partial(act, kit, used), partial(_tell, kit, inbound))


async def _is_new(kit: Kit, inbound: Inbound) -> bool:
    """Say whether the message was not answered before: one mention comes as two events, and each may come again."""
    try:
        return await kit.desk.memo.changed(f"slack:said:{inbound.message}", str(inbound.revision))
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
            with suppress(Refused):
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
