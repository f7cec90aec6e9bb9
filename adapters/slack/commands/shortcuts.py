"""What people can do with a message, also in threads and where the bot is not."""

from __future__ import annotations

from functools import partial

from adapters.chat.commands import shown_sources
from adapters.slack.api import tell
from adapters.slack.commands.context import Kit, context_of
from adapters.slack.commands.forms import View, selection_form
from adapters.slack.commands.situation import Body, Used
from adapters.slack.events import words
from core.errors import PostingFailed
from core.messages import NO_TEXT

ANSWER_FROM = "footnote:answer_from_message"
SHOW_SOURCES = "footnote:show_sources"


async def answer_from(kit: Kit, used: Used, body: Body) -> None:
    """Ask for a question about a message."""
    text = words(str(body["message"].get("text") or ""))  # a preview is none of its words
    if text:
        await kit.privately(used, partial(_open, kit, used, selection_form(text, used)))
    else:
        await kit.replies.tell(used, NO_TEXT)


async def show_sources(kit: Kit, used: Used) -> None:
    """Show the sources of the last answer in the message's thread."""
    await kit.privately(used, partial(shown_sources, context_of(kit, used)))


async def opened(kit: Kit, used: Used, form: View) -> bool:
    """Show a form; False if it is too late, or was done before."""
    try:
        await _open(kit, used, form)
    except PostingFailed:
        return False
    return True


async def _open(kit: Kit, used: Used, form: View) -> None:
    client = (await kit.workspaces.find(used.workspace)).client
    await tell(client, "views.open", trigger_id=used.trigger, view=form)
