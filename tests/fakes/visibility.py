"""What each may read, over stores in memory."""

from __future__ import annotations

from core.community.visibility import Visibility
from core.model import WorkspaceRef
from core.ports import Catalogue, Membership, PolicyStore
from tests.builders import thread
from tests.fakes.communities import MemoryCommunities
from tests.fakes.moderation import MemoryPolicies


def visibility(
    catalogue: Catalogue,
    *allowed: WorkspaceRef,
    policies: PolicyStore | None = None,
    memberships: dict[str, Membership] | None = None,
) -> Visibility:
    """Return it where these communities are allowed, or else the one that the builders' questions come from."""
    communities = MemoryCommunities(named=allowed or (thread().home,))
    return Visibility(catalogue, communities, policies or MemoryPolicies(), memberships=memberships or {})
