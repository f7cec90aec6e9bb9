"""What moderators have set and ordered, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from core.model import Applied, AuditEntry, Budget, ModerationOrder, OrderKind, Person, Policy, WorkspaceRef


class MemoryPolicies:
    """Keeps policies and the log by workspace."""

    def __init__(self, policies: Mapping[str, Policy] | None = None) -> None:
        self._policies = dict(policies or {})
        self._log: dict[str, list[AuditEntry]] = {}

    def set(self, home: WorkspaceRef, policy: Policy) -> None:
        """Set all at once, as if it had been ordered one by one long ago."""
        self._policies[str(home)] = policy

    async def load(self, home: WorkspaceRef) -> Policy:
        """Return the policy, or the usual one."""
        return self._policies.get(str(home), Policy())

    async def apply(self, home: WorkspaceRef, order: ModerationOrder, *, by: Person, at: datetime) -> Applied:
        """Change the policy and note the order, without a name."""
        by, before = Person(id=by.id), await self.load(home)
        after = _after(before, order, by, at)
        if after is None:
            return Applied(is_new=False, before=before)
        self._policies[str(home)] = after
        entry = AuditEntry(by=by, did=order.kind, about=order.about, at=at)
        self._log.setdefault(str(home), []).insert(0, entry)
        return Applied(is_new=True, before=before)

    async def recent(self, home: WorkspaceRef, *, limit: int, skip: int = 0) -> Sequence[AuditEntry]:
        """Return the newest entries."""
        return tuple(self._log.get(str(home), [])[skip:][: max(limit, 0)])

    async def remove(self, home: WorkspaceRef) -> None:
        """Remove the policy."""
        self._policies.pop(str(home), None)

    async def workspaces(self, platform: str) -> Sequence[WorkspaceRef]:
        """Look at every policy, which is all that there is."""
        return [home for home in map(WorkspaceRef.parse, sorted(self._policies)) if home.platform == platform]

    async def closed(self) -> Sequence[WorkspaceRef]:
        """Look at every policy."""
        return [WorkspaceRef.parse(name) for name, policy in sorted(self._policies.items()) if policy.fault is not None]


def _after(policy: Policy, order: ModerationOrder, by: Person, at: datetime) -> Policy | None:
    """Return what becomes of a policy; None where an order changes nothing."""
    if order.kind.startswith("forget"):
        return policy
    if policy.fault is not None:
        return Policy() if order.kind is OrderKind.RESUME else None
    if order.kind in (OrderKind.SET_BUDGET, OrderKind.LIFT_BUDGET):
        budgets = {each.name: each for each in policy.budgets if each.name != order.about}
        if order.kind is OrderKind.SET_BUDGET:
            budget = Budget.parse(order.about)
            budgets[budget.name] = budget
        after = policy.model_copy(update={"budgets": tuple(budgets[name] for name in sorted(budgets))})
        return None if after == policy else after
    here = {order.about}
    changes: dict[OrderKind, dict[str, Any]] = {
        OrderKind.PAUSE: {} if policy.paused_by else {"paused_by": by, "paused_at": at},
        OrderKind.RESUME: {"paused_by": None, "paused_at": None},
        OrderKind.PAUSE_CHANNEL: {"silent_channels": policy.silent_channels | here},
        OrderKind.RESUME_CHANNEL: {"silent_channels": policy.silent_channels - here},
        OrderKind.AUTO_ANSWER_ON: {"auto_answer": policy.auto_answer | here},
        OrderKind.AUTO_ANSWER_OFF: {"auto_answer": policy.auto_answer - here},
        OrderKind.OPEN_CHANNEL: {"open_channels": policy.open_channels | here},
        OrderKind.CLOSE_CHANNEL: {"open_channels": policy.open_channels - here},
        OrderKind.ADD_MODERATORS: {"moderators": policy.moderators | here},
        OrderKind.REMOVE_MODERATORS: {"moderators": policy.moderators - here},
    }
    after = policy.model_copy(update=changes[order.kind])
    return None if after == policy else after
