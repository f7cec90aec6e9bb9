"""Posts by the addresses that Slack gives for answering what somebody used, which only that person sees."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from adapters.chat.platform import Part, Posted, QuestionGone
from adapters.slack.api import respond
from adapters.slack.dialect import blocks_of
from core.errors import Gone, Rejected, Unreachable
from core.events import unobserved
from core.model import Question, ThreadRef

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

MOST = 4  # messages of an answer: an address takes five posts, of which one may have said that the question waits
LEFT_OUT = "…\n\n"


@dataclass(slots=True)
class PrivatePoster:
    """A `Poster` for whole answers: the first message replaces what was said before.

    Before them, what is waited for may be said once, which they replace as well. The address does not know the *thread*
    in which it was given, which is told where it is not the question's own. Slack gives these messages no ids, so that
    none can be edited later, and knows no nonce: one below the first whose confirmation was lost, or that *is_again*
    posted, may stand there twice, of which *doubtful* hears.
    """

    client: AsyncWebClient
    url: str
    question: Question
    thread: ThreadRef
    is_again: bool = False
    doubtful: Callable[[], object] = unobserved
    _posted: int = field(default=0, init=False)
    _has_passing: bool = field(default=False, init=False)

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a message below the ones before. Raises `Rejected` for a second one that would be replaced."""
        if part.is_passing and (self._has_passing or self._posted):
            raise Rejected("it takes few posts")
        self._has_passing = self._has_passing or part.is_passing
        body = {
            "response_type": "ephemeral",
            "replace_original": self._posted == 0,
            "text": part.plain or part.text,
            "blocks": blocks_of(part, self.question),
            "unfurl_links": False,
            "unfurl_media": False,
            **({"thread_ts": self.thread.thread} if self.thread != self.question.message.thread else {}),
        }
        if self._posted and self.is_again:
            self.doubtful()
            self.is_again = False
        try:
            await respond(self.client, self.url, body)
        except Unreachable:
            self.is_again = True
            raise
        except Rejected as refusal:
            if part.is_passing:  # then nobody can be shown what is written
                raise QuestionGone("the address is over") from refusal
            raise
        self._posted += not part.is_passing
        return Posted(f"response {max(self._posted, 1)}", part)

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace what was said while the answer was waited for. Raises `Rejected`, as nothing else can be edited."""
        if self._posted or part.is_passing:
            raise Rejected("it cannot be edited")
        await self.post(part, "", obsolete)

    async def delete(self, message_id: str) -> None:
        """Raise `Gone`: what one person sees goes by itself."""
        raise Gone("it goes by itself")

    def few(self, parts: Sequence[Part]) -> Sequence[Part]:
        """Leave out the middle of an answer that has more messages than can be posted."""
        most = MOST - self._has_passing
        return parts if len(parts) <= most else [*parts[: most - 1], replace(parts[-1], text=LEFT_OUT + parts[-1].text)]
