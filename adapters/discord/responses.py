"""Posts and edits the answer to a command: in the command's own name while that is allowed, and then in the bot's.

Whoever used a command gets a response, for which the bot needs no right in the channel, for a quarter of an hour.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar

from discord import AutoShardedClient, Webhook
from discord.http import Route
from discord.webhook.async_ import async_context

from adapters.chat.platform import Part, Posted, Poster, QuestionGone
from adapters.discord.dialect import controls_view
from adapters.discord.limits import Throttle
from adapters.discord.poster import NO_INTERACTION, translated
from core.errors import Rejected, Unreachable
from core.events import unobserved
from core.model import Interaction, Question

Result = TypeVar("Result")

FOLLOW_UPS = "/webhooks/{webhook_id}/{webhook_token}"
MESSAGES = f"{FOLLOW_UPS}/messages/{{message_id}}"
ORIGINAL = "@original"  # the response itself, in an address
NO_RESPONSE = frozenset({10015, 10062, NO_INTERACTION})  # nothing can be said by the interaction any more
SUPPRESS_EMBEDS = 1 << 2
EPHEMERAL = 1 << 6
FILLED = Part("…")
SILENT = {"parse": list[str]()}
DRAFTS_PER_SECOND = 25.0  # of all responses: Discord counts none of them together, but each takes the process some time


@dataclass
class ResponsePoster:
    """A `Poster` with two ways: the response goes by the interaction while it *lives*, all else through the channel.

    What one way may not do, the other tries; there is no *channel* for what only one person may see. What follows the
    response goes where *rest* says, which is asked once it is needed, and else to the channel.
    It speaks with the requests themselves, since the library's own methods cannot suppress previews in an edit, and
    remember every button. Discord knows no nonce here: a message whose confirmation was lost, or that *may_be_there*,
    may stand there twice, of which *doubtful* hears.
    What is edited while an answer is written passes through *drafts*, one for a process; its first words wait for none.
    """

    client: AutoShardedClient
    interaction: Interaction
    question: Question
    channel: Poster | None
    _: KW_ONLY
    drafts: Throttle
    lives: Callable[[], bool]
    rest: Callable[[], Awaitable[Poster]] | None = None
    may_be_there: bool = False
    doubtful: Callable[[], object] = unobserved
    _has_spoken: bool = field(default=False, init=False)
    _further: Poster | None = field(default=None, init=False)

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a further message; through the channel, whose nonces keep it from standing there twice."""

        async def by_interaction() -> Posted:
            if self.may_be_there:
                self.may_be_there = False
                self.doubtful()
            is_private = self.question.visibility == "private"  # nobody else sees what follows then either
            try:
                sent = await self._request("POST", "", part, SUPPRESS_EMBEDS | (EPHEMERAL if is_private else 0))
            except Unreachable:
                self.may_be_there = True
                raise
            return Posted(str(sent["id"] if sent else ""), part)

        return await self._tried("", by_interaction, lambda channel: channel.post(part, nonce, obsolete))

    async def refuse(self, part: Part) -> None:
        """Show a message to the asker alone, instead of a response that everybody sees. Raises `Gone` if that was done.

        The response is filled before, or what follows it would take its place, and goes last: a question whose response
        is deleted is withdrawn.
        """
        response = self.question.message.id
        if self.question.visibility == "private":
            await self._request("PATCH", response, part)
            return
        await self._request("PATCH", response, FILLED)
        await self._request("POST", "", part, SUPPRESS_EMBEDS | EPHEMERAL)
        await self._request("DELETE", response)

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace what a message shows; raises `QuestionGone` for a draft of what nobody will see, so that it ends."""

        async def by_interaction() -> None:
            if obsolete is not None and self._has_spoken:
                await self.drafts.take(obsolete)
            self._has_spoken = True
            await self._request("PATCH", message_id, part)

        try:
            await self._tried(message_id, by_interaction, lambda channel: channel.edit(message_id, part, obsolete))
        except Rejected as refusal:
            is_over = not self.lives() or getattr(refusal.__cause__, "code", None) in NO_RESPONSE
            if self.channel is None and obsolete is not None and is_over:
                raise QuestionGone("nobody can be shown the answer") from refusal
            raise

    async def delete(self, message_id: str) -> None:
        """Remove a message."""

        async def by_interaction() -> None:
            await self._request("DELETE", message_id)

        await self._tried(message_id, by_interaction, lambda channel: channel.delete(message_id))

    async def _request(
        self, method: str, message_id: str, part: Part | None = None, flags: int = SUPPRESS_EMBEDS
    ) -> Any:
        """Make a request by the interaction, about one message or for a new one; return what Discord says."""
        payload: dict[str, Any] | None = None
        if part is not None:
            view = controls_view(part.controls, self.question)
            components = view.to_components() if view is not None else []
            payload = {"content": part.text, "components": components, "allowed_mentions": SILENT, "flags": flags}
        token, named = self.interaction.token, ORIGINAL if message_id == self.question.message.id else message_id
        webhook = Webhook.partial(self.client.application_id or 0, token, client=self.client)
        path, params = (MESSAGES, None) if message_id else (FOLLOW_UPS, {"wait": 1})
        route = Route(method, path, webhook_id=webhook.id, webhook_token=token, message_id=named)
        requests = async_context.get()
        return await translated(requests.request(route, webhook.session, payload=payload, params=params))

    async def _tried(
        self,
        message_id: str,
        by_interaction: Callable[[], Awaitable[Result]],
        through_channel: Callable[[Poster], Awaitable[Result]],
    ) -> Result:
        """Go the better way first; if that is not allowed, the other one."""
        refusal = Rejected("the interaction is over")
        is_response = message_id == self.question.message.id
        for is_interaction in (is_response, not is_response):
            try:
                if is_interaction and self.lives():
                    return await by_interaction()
                if not is_interaction and not is_response and self.rest is not None:
                    self._further = self._further or await self.rest()
                    return await through_channel(self._further)
                if not is_interaction and self.channel is not None:
                    return await through_channel(self.channel)
            except Rejected as refused:
                refusal = refused
        raise refusal


@dataclass
class WaitPoster(ResponsePoster):
    """Says that a question waits where Discord shows that an answer comes; the answer replaces it.

    It follows the response, and so takes its place only as long as nothing stands there: no answer can be lost to it.
    """

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Say it; raises `Rejected` where it may have been said before, as it would stand there for good."""
        if self.may_be_there:
            raise Rejected("it may have been said")
        return await super().post(part, nonce, obsolete)

    async def delete(self, message_id: str) -> None:
        """Remove what came too late, and so stands below the answer."""
        if str((await self._request("GET", self.question.message.id))["id"]) != message_id:
            await self._request("DELETE", message_id)
