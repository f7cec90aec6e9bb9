"""What moderators have set and done, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.model import Deed, Policy, WorkspaceRef


class MemoryPolicies:
    """Keeps policies by workspace."""

    def __init__(self, policies: Mapping[str, Policy] | None = None) -> None:
        self._policies = dict(policies or {})

    async def load(self, home: WorkspaceRef) -> Policy:
        """Give the policy, or the usual one."""
        return self._policies.get(str(home), Policy())

    async def save(self, home: WorkspaceRef, policy: Policy) -> None:
        """Replace the policy."""
        self._policies[str(home)] = policy


class MemoryAudit:
    """Keeps deeds by workspace."""

    def __init__(self) -> None:
        self._deeds: dict[str, list[Deed]] = {}

    async def record(self, home: WorkspaceRef, deed: Deed) -> None:
        """Note a deed."""
        self._deeds.setdefault(str(home), []).insert(0, deed)

    async def recent(self, home: WorkspaceRef, *, limit: int) -> Sequence[Deed]:
        """Give the newest deeds."""
        return tuple(self._deeds.get(str(home), [])[: max(limit, 0)])
