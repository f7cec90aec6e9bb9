"""Posts an answer that one person sees, by the address that Slack gave for answering what that person used."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adapters.chat.posting import Part, Posted
from adapters.slack.client.poster import Look
from adapters.slack.client.responding import respond
from core.errors import Gone, Rejected, Unreachable
from core.events import unobserved
from core.model import Answer, Progress

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

MOST = 4  # messages of an answer: an address takes five posts, of which one may have said that the answer is coming
LEFT_OUT = "…\n\n"


@dataclass(frozen=True, slots=True)
class Way:
    """The address that Slack gave, and the thread in which it was used, if that was in one: it does not know itself."""

    url: str
    thread: str = ""


class ResponsePoster:
    """A `Poster` for whole answers: the first message takes the place of what was said before.

    Slack gives these messages no ids, so that none can be edited later, and knows no nonce: one below the first whose
    confirmation was lost, or that *is_again* posted, may stand there twice, of which *doubtful* hears.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        way: Way,
        look: Look,
        *,
        is_again: bool = False,
        doubtful: Callable[[], object] = unobserved,
    ) -> None:
        self._client = client
        self._way = way
        self._look = look
        self._is_in_doubt = is_again
        self._doubtful = doubtful
        self._posted = 0

    async def post(self, part: Part, nonce: str) -> Posted:
        """Post a message below the ones before."""
        session = self._client.session
        if session is None:
            raise Rejected("there is no session")
        body = {
            "response_type": "ephemeral",
            "replace_original": self._posted == 0,
            "text": self._look.text(part),
            "blocks": self._look.blocks(part),
            "unfurl_links": False,
            "unfurl_media": False,
            **({"thread_ts": self._way.thread} if self._way.thread else {}),
        }
        if self._posted and self._is_in_doubt:
            self._doubtful()
            self._is_in_doubt = False
        try:
            await respond(session, self._way.url, body, api_url=self._client.base_url)
        except Unreachable:
            self._is_in_doubt = True
            raise
        self._posted += 1
        return Posted(f"response {self._posted}", part)

    async def edit(self, message_id: str, part: Part) -> None:
        """Refuse to, as nothing can be edited."""
        raise Rejected("it cannot be edited")

    async def delete(self, message_id: str) -> None:
        """Leave it: what one person sees goes by itself."""
        raise Gone("it goes by itself")


def few(parts: Sequence[Part]) -> Sequence[Part]:
    """Leave out the middle of an answer that has more messages than can be posted."""
    if len(parts) <= MOST:
        return parts
    return [*parts[: MOST - 1], replace(parts[-1], text=LEFT_OUT + parts[-1].text)]


async def only_answers(progress: AsyncIterator[Progress]) -> AsyncIterator[Progress]:
    """Leave out what is shown while an answer is written."""
    async for item in progress:
        if isinstance(item, Answer):
            yield item
