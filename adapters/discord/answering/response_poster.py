"""Posts and edits the answer to a command: in its own name while that is allowed, and then in the bot's.

Whoever used a command gets a response, for which the bot needs no right in the channel, for a quarter of an hour.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from adapters.chat.posting import Part, Posted, Poster
from adapters.discord.client.poster import translated, without_buttons
from adapters.discord.client.throttle import Leisure, Throttle
from core.errors import Rejected, Unreachable
from core.events import unobserved

if TYPE_CHECKING:
    from discord import AutoShardedClient
    from discord.webhook.async_ import AsyncWebhookAdapter

    from adapters.discord.client.poster import Buttons
    from core.model import Interaction

Result = TypeVar("Result")

ORIGINAL = "@original"
SUPPRESS_EMBEDS = 1 << 2
EPHEMERAL = 1 << 6
SILENT = {"parse": list[str]()}
DRAFTS_PER_SECOND = 25.0  # of all responses: Discord counts none of them together, but each takes the process some time


@dataclass(slots=True)
class Doubts:
    """Whether a post may have been made unheard, and who is told where it is made again."""

    told: Callable[[], object] = unobserved
    is_open: bool = False

    def end(self) -> None:
        """Make it again."""
        if self.is_open:
            self.is_open = False
            self.told()


class InteractionPoster:
    """A `Poster` that speaks for an interaction, whose response is known by the id *first*.

    It speaks with the requests themselves, since the library's own methods cannot suppress previews in an edit, and
    remember every button. Discord knows no nonce here: a message whose confirmation was lost may stand there twice,
    of which *doubts* tell.
    What is edited while an answer is written passes through *drafts*, one for a process; its first words wait for none.
    """

    def __init__(  # noqa: PLR0913 - each is a choice of its own
        self,
        client: AutoShardedClient,
        interaction: Interaction,
        first: str,
        *,
        is_private: bool,
        drafts: Throttle,
        buttons: Buttons = without_buttons,
        doubts: Doubts | None = None,
    ) -> None:
        from discord import Webhook

        self._webhook = Webhook.partial(client.application_id or 0, interaction.token, client=client)
        self._token = interaction.token
        self._first = first
        self._is_private = is_private
        self._drafts = drafts
        self._buttons = buttons
        self._doubts = doubts or Doubts()
        self._has_spoken = False

    async def post(self, part: Part, nonce: str) -> Posted:
        """Post a message below the response; nobody else sees it if the response is private."""
        flags = SUPPRESS_EMBEDS | (EPHEMERAL if self._is_private else 0)
        payload = {**self._written(part), "flags": flags}
        call = _requests().execute_webhook(
            self._webhook.id, self._token, session=self._webhook.session, payload=payload, wait=True
        )
        self._doubts.end()
        try:
            sent = await translated(call)
        except Unreachable:
            self._doubts.is_open = True
            raise
        return Posted(str(sent["id"] if sent else ""), part)

    async def edit(self, message_id: str, part: Part) -> None:
        """Replace text and buttons."""
        leisure = Leisure.current()
        if leisure is not None and self._has_spoken:
            await self._drafts.take(leisure)
        self._has_spoken = True
        payload = {**self._written(part), "flags": SUPPRESS_EMBEDS}
        call = _requests().edit_webhook_message(
            self._webhook.id, self._token, self._named(message_id), session=self._webhook.session, payload=payload
        )
        await translated(call)

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        call = _requests().delete_webhook_message(
            self._webhook.id, self._token, self._named(message_id), session=self._webhook.session
        )
        await translated(call)

    def _named(self, message_id: str) -> int:
        """Name a message in an address, where the response goes by a word."""
        return cast("int", ORIGINAL) if message_id == self._first else int(message_id)

    def _written(self, part: Part) -> dict[str, Any]:
        view = self._buttons(part.controls)
        components = view.to_components() if view is not None else []
        return {"content": part.text, "components": components, "allowed_mentions": SILENT}


class ResponsePoster:
    """A `Poster` with two ways: the response goes by the interaction while it lives, all else through the channel.

    What one way may not do, the other tries. There is no *channel* for what only one person may see.
    """

    def __init__(
        self, interaction: Poster, channel: Poster | None, first: str, *, is_alive: Callable[[], bool]
    ) -> None:
        self._interaction = interaction
        self._channel = channel
        self._first = first
        self._is_alive = is_alive

    async def post(self, part: Part, nonce: str) -> Posted:
        """Post a further message; through the channel, whose nonces keep it from standing there twice."""
        return await self._first_that_may(self._ways(""), lambda way: way.post(part, nonce))

    async def edit(self, message_id: str, part: Part) -> None:
        """Replace what a message shows."""
        await self._first_that_may(self._ways(message_id), lambda way: way.edit(message_id, part))

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        await self._first_that_may(self._ways(message_id), lambda way: way.delete(message_id))

    def _ways(self, message_id: str) -> Iterator[Poster]:
        by_interaction = [self._interaction] if self._is_alive() else []
        by_channel = [self._channel] if self._channel is not None else []
        yield from [*by_interaction, *by_channel] if message_id == self._first else [*by_channel, *by_interaction]

    async def _first_that_may(self, ways: Iterator[Poster], call: Callable[[Poster], Awaitable[Result]]) -> Result:
        refusal = Rejected("the interaction is over")
        for way in ways:
            try:
                return await call(way)
            except Rejected as refused:
                refusal = refused
        raise refusal


def _requests() -> AsyncWebhookAdapter:
    from discord.webhook.async_ import async_context

    return async_context.get()
