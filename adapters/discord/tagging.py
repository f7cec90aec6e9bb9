"""Gives a forum post that was answered the forum's tag for it, where there is one and the bot may set it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from adapters.chat.platform import Barred, ExpiringSet
from adapters.discord.poster import translated
from core.errors import PostingFailed, StoreUnavailable
from core.model import Claim
from core.ports import PolicyStore

if TYPE_CHECKING:
    from discord import AutoShardedClient

TAG = "answered"
MOST_TAGS = 5  # Discord takes no more on a post
LONGEST = 10.0  # seconds; the thread is held as long


class Tagging:
    """Tags posts by REST; what does not work is left, and a forum that forbids it is left alone for some minutes."""

    def __init__(self, client: AutoShardedClient, policies: PolicyStore | None, now: Callable[[], datetime]) -> None:
        self._client = client
        self._policies = policies
        self._forbidden = ExpiringSet(now)

    async def tag(self, claim: Claim) -> None:
        """Tag the post that a question was answered in, if it began with it or all posts are answered there."""
        post = claim.message.thread
        if post.channel in self._forbidden:
            return
        try:
            async with asyncio.timeout(LONGEST):
                if claim.message.id != post.thread and (
                    self._policies is None or post.channel not in (await self._policies.load(post.home)).auto_answer
                ):
                    return
                await self._tag(post.channel, int(post.thread))
        except Barred:
            self._forbidden.add(post.channel)
        except (PostingFailed, StoreUnavailable, TimeoutError):
            pass

    async def _tag(self, forum: str, post: int) -> None:
        """Add the tag, however it is spelt, unless the post has it, there is no room, or the channel is no forum."""
        available = await self._listed(int(forum), "available_tags")
        tag = next((str(one["id"]) for one in available if str(one.get("name", "")).strip().casefold() == TAG), None)
        if tag is None:
            return
        applied = [str(each) for each in await self._listed(post, "applied_tags")]
        if tag not in applied and len(applied) < MOST_TAGS:
            changing = self._client.http.edit_channel(
                post, applied_tags=[*applied, tag], reason="The question was answered"
            )
            await translated(changing)

    async def _listed(self, channel: int, name: str) -> Sequence[Any]:
        found = cast("Mapping[str, Any]", await translated(self._client.http.get_channel(channel)))
        return found.get(name) or ()
