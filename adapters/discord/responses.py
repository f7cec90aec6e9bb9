"""Posts and edits the answer to a command: in the command's own name while that is allowed, and then in the bot's.

Whoever used a command gets a response, for which the bot needs no right in the channel, for a quarter of an hour.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from adapters.chat.platform import Part, Posted, Poster
from adapters.discord.dialect import controls_view
from adapters.discord.limits import Throttle
from adapters.discord.poster import translated
from core.errors import Rejected, Unreachable
from core.events import unobserved
from core.model import Interaction, Question

if TYPE_CHECKING:
    from discord import AutoShardedClient
    from discord.webhook.async_ import AsyncWebhookAdapter

Result = TypeVar("Result")

ORIGINAL = "@original"
SUPPRESS_EMBEDS = 1 << 2
EPHEMERAL = 1 << 6
SILENT = {"parse": list[str]()}
DRAFTS_PER_SECOND = 25.0  # of all responses: Discord counts none of them together, but each takes the process some time


class ResponsePoster:
    """A `Poster` with two ways: the response goes by the interaction while it *lives*, all else through the channel.

    What one way may not do, the other tries; there is no *channel* for what only one person may see.
    It speaks with the requests themselves, since the library's own methods cannot suppress previews in an edit, and
    remember every button. Discord knows no nonce here: a message whose confirmation was lost, or that *may_be_there*,
    may stand there twice, of which *doubtful* hears.
    What is edited while an answer is written passes through *drafts*, one for a process; its first words wait for none.
    """

    def __init__(  # noqa: PLR0913 - each is a choice of its own
        self,
        client: AutoShardedClient,
        interaction: Interaction,
        question: Question,
        channel: Poster | None,
        *,
        drafts: Throttle,
        lives: Callable[[], bool],
        may_be_there: bool = False,
        doubtful: Callable[[], object] = unobserved,
    ) -> None:
        from discord import Webhook
        from discord.webhook.async_ import async_context

        self._webhook = Webhook.partial(client.application_id or 0, interaction.token, client=client)
        self._requests: AsyncWebhookAdapter = async_context.get()
        self._token = interaction.token
        self._question = question
        self._first = question.message.id
        self._channel = channel
        self._drafts = drafts
        self._lives = lives
        self._is_in_doubt = may_be_there
        self._doubtful = doubtful
        self._has_spoken = False

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a further message; through the channel, whose nonces keep it from standing there twice."""
        return await self._tried("", lambda: self._follow_up(part), lambda channel: channel.post(part, nonce, obsolete))

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace what a message shows."""

        async def by_interaction() -> None:
            if obsolete is not None and self._has_spoken:
                await self._drafts.take(obsolete)
            self._has_spoken = True
            call = self._requests.edit_webhook_message(
                self._webhook.id,
                self._token,
                self._named(message_id),
                session=self._webhook.session,
                payload=self._payload(part, SUPPRESS_EMBEDS),
            )
            await translated(call)

        await self._tried(message_id, by_interaction, lambda channel: channel.edit(message_id, part, obsolete))

    async def delete(self, message_id: str) -> None:
        """Remove a message."""

        async def by_interaction() -> None:
            call = self._requests.delete_webhook_message(
                self._webhook.id, self._token, self._named(message_id), session=self._webhook.session
            )
            await translated(call)

        await self._tried(message_id, by_interaction, lambda channel: channel.delete(message_id))

    async def _follow_up(self, part: Part) -> Posted:
        """Post a message below the response; nobody else sees it if the response is private."""
        flags = SUPPRESS_EMBEDS | (EPHEMERAL if self._question.visibility == "private" else 0)
        payload = self._payload(part, flags)
        call = self._requests.execute_webhook(
            self._webhook.id, self._token, session=self._webhook.session, payload=payload, wait=True
        )
        if self._is_in_doubt:
            self._is_in_doubt = False
            self._doubtful()
        try:
            sent = await translated(call)
        except Unreachable:
            self._is_in_doubt = True
            raise
        return Posted(str(sent["id"] if sent else ""), part)

    async def _tried(
        self,
        message_id: str,
        by_interaction: Callable[[], Awaitable[Result]],
        through_channel: Callable[[Poster], Awaitable[Result]],
    ) -> Result:
        """Go the better way first; if that is not allowed, the other one."""
        refusal = Rejected("the interaction is over")
        ways = [True, False] if message_id == self._first else [False, True]
        for is_interaction in ways:
            try:
                if is_interaction and self._lives():
                    return await by_interaction()
                if not is_interaction and self._channel is not None:
                    return await through_channel(self._channel)
            except Rejected as refused:
                refusal = refused
        raise refusal

    def _named(self, message_id: str) -> int:
        """Name a message in an address, where the response goes by a word."""
        return cast("int", ORIGINAL) if message_id == self._first else int(message_id)

    def _payload(self, part: Part, flags: int) -> dict[str, Any]:
        view = controls_view(part.controls, self._question)
        components = view.to_components() if view is not None else []
        return {"content": part.text, "components": components, "allowed_mentions": SILENT, "flags": flags}
