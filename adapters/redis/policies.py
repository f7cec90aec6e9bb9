"""What moderators have set, in Redis: one value per workspace, which stays until somebody changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from adapters.redis.connection import translated
from core.model import Policy, WorkspaceRef

if TYPE_CHECKING:
    from redis.asyncio import Redis

PREFIX = "footnote:policy:"


class RedisPolicies:
    """Keeps policies. They hold no text that anybody wrote, so they are not encrypted."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def load(self, home: WorkspaceRef) -> Policy:
        """Give the policy of a workspace; the usual one for a value that cannot be read."""
        with translated():
            stored = await self._client.get(f"{PREFIX}{{{home}}}")
        try:
            return Policy.model_validate_json(stored) if stored else Policy()
        except ValidationError:
            return Policy()

    async def save(self, home: WorkspaceRef, policy: Policy) -> None:
        """Replace the policy; the usual one is not stored."""
        key = f"{PREFIX}{{{home}}}"
        with translated():
            if policy == Policy():
                await self._client.delete(key)
            else:
                await self._client.set(key, policy.model_dump_json())
