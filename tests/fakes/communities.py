"""Which communities may use the bot, in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from core.errors import StoreUnavailable
from core.model import Communities, MessageRef, WorkspaceRef


class MemoryCommunities:
    """Keeps them in lists, after those that are *named*; it has *answered* before in some.

    Those that are *allowed* from the beginning were so by the operator, after it was decided on their platforms. Set
    `fails` to make every call raise `StoreUnavailable`, as if the server were gone.
    """

    def __init__(
        self,
        *allowed: WorkspaceRef,
        named: Sequence[WorkspaceRef] = (),
        answered: Collection[WorkspaceRef] = (),
    ) -> None:
        self.fails = False
        self._named, self._answered = tuple(named), frozenset(answered)
        self._order = list(allowed)  # of all that were ever allowed
        self._ordered, self._found = set(allowed), set[WorkspaceRef]()
        self._own: list[WorkspaceRef] = []
        self._first = next(iter((*named, *allowed)), None) if allowed else None
        self._waiting: dict[WorkspaceRef, MessageRef] = {}
        self._settled = {each.platform for each in allowed}

    async def load(self) -> Communities:
        """Return what is kept."""
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
        may = self._ordered.union(self._own, () if self._named else self._found)
        allowed = tuple(dict.fromkeys((*self._named, *(each for each in self._order if each in may))))
        return Communities(
            allowed=allowed,
            first=self._first or next(iter(allowed), None),
            named=self._named,
            own=tuple(self._own),
            waiting=tuple(sorted(set(self._waiting) - set(allowed), key=str)),
            settled=frozenset(self._settled),
        )

    async def settle(self, platform: str, joined: Sequence[WorkspaceRef], *, is_own: bool = False) -> Communities:
        """Decide for a platform."""
        await self.load()
        self._own = [each for each in self._own if each.platform != platform] + (list(joined) if is_own else [])
        is_open = not self._named and platform not in self._settled
        gone = [each for each in self._waiting if each.platform == platform and each not in joined]
        for each in gone:
            del self._waiting[each]
        if joined and (is_own or is_open):
            has_orders = any(each.platform == platform for each in self._ordered)
            knows = is_own or (len(joined) == 1 and not has_orders)
            for each in joined:
                if knows or each in self._answered:
                    self._found.add(each)
                    self._enlist(each)
            self._settled.add(platform)
        if self._named:
            self._first = self._first or self._named[0]
        return await self.load()

    async def allow(self, community: WorkspaceRef, *, is_first: bool = False) -> bool:
        """Put it at the end, unless it is there."""
        before = await self.load()
        self._ordered.add(community)
        self._enlist(community)
        self._first = community if is_first else self._first
        return community not in before.allowed

    async def remove(self, community: WorkspaceRef) -> bool:
        """Take it out."""
        before = await self.load()
        if community not in self._own:
            self._ordered.discard(community)
            self._found.discard(community)
            self._order = [each for each in self._order if each != community]
            self._waiting.pop(community, None)
        return community in before.allowed and community not in (await self.load()).allowed

    async def wait(self, community: WorkspaceRef, message: MessageRef) -> bool:
        """Keep the first message."""
        await self.load()
        return self._waiting.setdefault(community, message) == message

    def _enlist(self, community: WorkspaceRef) -> None:
        self._first = self._first or next(iter((*self._named, community)))
        self._waiting.pop(community, None)
        if community not in self._order:
            self._order.append(community)
