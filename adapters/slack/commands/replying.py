"""Says to the one person who used something how it went, by the way back that Slack has given for it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from adapters.retry import QUICK
from adapters.slack.commands.situation import Used
from adapters.slack.commands.wording import mrkdwn
from adapters.slack.responses import respond
from core.errors import PostingFailed

if TYPE_CHECKING:
    from aiohttp import ClientSession


class Replies:
    """Speaks to single people; nobody else sees it."""

    def __init__(self, session: ClientSession, *, api_url: str | None) -> None:
        self._session = session
        self._api_url = api_url

    async def tell(self, used: Used, text: str, *, replaces: bool = False) -> None:
        """Say something; *replaces* what the acknowledgement showed. A reader who is gone misses it."""
        body: dict[str, object] = {
            "text": mrkdwn(text),
            "response_type": "ephemeral",
            "replace_original": replaces,
            "unfurl_links": False,
            "unfurl_media": False,
        }
        if used.is_inside:
            body["thread_ts"] = used.thread
        with suppress(PostingFailed):
            await QUICK.call(lambda: respond(self._session, used.response_url, body, api_url=self._api_url))
