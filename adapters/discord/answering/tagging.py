"""Gives a forum post that was answered the forum's tag for it, where there is one and the bot may set it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from adapters.chat.place_breaker import ExpiringSet
from adapters.discord.answering.spots import is_first, opens_thread
from adapters.discord.client.poster import Barred, translated
from core.errors import PostingFailed, StoreUnavailable
from core.model import Claim, ThreadRef
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
        post = claim.thread
        if claim.question.visibility != "thread" or opens_thread(claim) or post.channel in self._forbidden:
            return
        try:
            async with asyncio.timeout(LONGEST):
                if is_first(claim.message) or await self._answers_posts(post):
                    await self._tag(post)
        except Barred:
            self._forbidden.add(post.channel)
        except (PostingFailed, StoreUnavailable, TimeoutError):
            pass

    async def _answers_posts(self, post: ThreadRef) -> bool:
        """Return whether moderators want all new posts of the channel above to be answered."""
        return self._policies is not None and post.channel in (await self._policies.load(post.home)).auto_answer

    async def _tag(self, post: ThreadRef) -> None:
        """Add the tag to those that are there, unless it is one of them or there is no room."""
        tag = _tag_of(await self._channel(post.channel))
        if tag is None:
            return
        applied = [str(each) for each in _listed(await self._channel(post.thread), "applied_tags")]
        if tag not in applied and len(applied) < MOST_TAGS:
            await translated(
                self._client.http.edit_channel(
                    int(post.thread), applied_tags=[*applied, tag], reason="The question was answered"
                )
            )

    async def _channel(self, channel: str) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", await translated(self._client.http.get_channel(int(channel))))


def _tag_of(forum: Mapping[str, Any]) -> str | None:
    """Return the id of the tag, however it is spelt; None where there is none, as in channels that are no forum."""
    return next((str(tag["id"]) for tag in _listed(forum, "available_tags") if _is_meant(tag)), None)


def _is_meant(tag: Mapping[str, Any]) -> bool:
    return str(tag.get("name", "")).strip().casefold() == TAG


def _listed(channel: Mapping[str, Any], name: str) -> Iterable[Any]:
    return channel.get(name) or ()
