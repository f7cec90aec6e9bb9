"""Says to the one person who used something how it went, by the way back that Slack has given for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from adapters.chat.insisting import insisted
from adapters.chat.posting import PostingFailed
from adapters.slack.client.responding import respond
from adapters.slack.commands.situation import Used
from adapters.slack.commands.wording import mrkdwn
from core.errors import InvalidInput, NotAllowed, StoreUnavailable
from core.sentences import AWAY, BROKEN

if TYPE_CHECKING:
    from aiohttp import ClientSession

Tell: TypeAlias = Callable[[str], Awaitable[None]]

WARNING = "⚠️"


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
            await insisted(lambda: respond(self._session, used.response_url, body, api_url=self._api_url))


async def attempted(act: Callable[[], Awaitable[str | None]], tell: Tell) -> None:
    """Do what was wanted and say how it went, if there is anything to say.

    What breaks is told without its reason, and raised for the log.
    """
    try:
        sentence = await act()
    except (InvalidInput, NotAllowed) as refused:
        sentence = str(refused)
    except StoreUnavailable:
        sentence = f"{WARNING} {AWAY}"
    except PostingFailed:
        sentence = f"{WARNING} {BROKEN}"
    except Exception:
        await tell(f"{WARNING} {BROKEN}")
        raise
    if sentence:
        await tell(sentence)
