"""What communities decide and use up: what their moderators set, which of them may use the bot, votes and budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from core.model import (
    Applied,
    AuditEntry,
    BudgetAlert,
    Communities,
    Cost,
    Holder,
    MessageRef,
    ModerationOrder,
    Period,
    Person,
    Policy,
    Question,
    Reached,
    Reservation,
    Tally,
    Telling,
    Vote,
    WorkspaceRef,
)


class PolicyStore(Protocol):
    """Keeps what moderators have set until they change it, and their orders for a time. Raises `StoreUnavailable`."""

    async def load(self, home: WorkspaceRef) -> Policy:
        """Return the policy of a workspace; the usual one if nothing is set, and a closed one if it cannot be read."""
        ...

    async def apply(self, home: WorkspaceRef, order: ModerationOrder, *, by: Person, at: datetime) -> Applied:
        """Carry out an order and note it, or neither if it changes nothing. Only one to resume ends a closed policy."""
        ...

    async def recent(self, home: WorkspaceRef, *, limit: int, skip: int = 0) -> Sequence[AuditEntry]:
        """Return at most *limit* entries of the log, newest first, after the first *skip* of them."""
        ...

    async def remove(self, home: WorkspaceRef) -> None:
        """Remove the policy of a workspace, also a closed one, and note nothing; the log stays."""
        ...

    async def workspaces(self, platform: str) -> Sequence[WorkspaceRef]:
        """Return those of which anything at all is stored, in this store or another; it may take long."""
        ...

    async def closed(self) -> Sequence[WorkspaceRef]:
        """Return the workspaces whose policies cannot be read; it looks at all that is stored, and may take long."""
        ...


class CommunityStore(Protocol):
    """Keeps which communities may use the bot, in the order in which they were allowed. Raises `StoreUnavailable`.

    Those that the settings name come first, and with them none is allowed without an order, but whose token is set.
    """

    async def load(self) -> Communities:
        """Return what is kept."""
        ...

    async def settle(self, platform: str, joined: Sequence[WorkspaceRef], *, is_own: bool = False) -> Communities:
        """Decide once for a platform, where nobody has, which of those that the bot has *joined* may use it.

        That is the only one, or of several, and where the operator has allowed any, those in which it has answered
        before; with none, nothing is decided yet. Where *is_own* says that the operator has set a token for it, it
        always may. Of processes that ask at once, all get the same. *joined* are all that the bot is in, and begin with
        the one that it joined first; of others, nobody waits any more.
        """
        ...

    async def allow(self, community: WorkspaceRef, *, is_first: bool = False) -> bool:
        """Allow a community, perhaps in the place of the first of all; return whether it was not allowed before."""
        ...

    async def remove(self, community: WorkspaceRef) -> bool:
        """Allow a community no longer; return whether it was, and is no more: what is named, or own, stays."""
        ...

    async def wait(self, community: WorkspaceRef, message: MessageRef) -> bool:
        """Note that somebody asked in one that is not allowed; return whether this message was the first to."""
        ...


class VoteStore(Protocol):
    """Counts what readers think of answers, for a time. Raises `StoreUnavailable`."""

    async def cast(self, home: WorkspaceRef, vote: Vote) -> None:
        """Replace somebody's vote on an answer."""
        ...

    async def count(self, home: WorkspaceRef) -> Tally:
        """Count the votes of a workspace."""
        ...

    async def forget_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Remove every vote of a person in a workspace; return their number."""
        ...

    async def count_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Count the votes of a person in a workspace."""
        ...

    async def forget_workspace(self, home: WorkspaceRef) -> int:
        """Remove every vote of a workspace; return their number."""
        ...


class Quota(Protocol):
    """Bounds how much is asked, by whom and where, in a time. Raises `StoreUnavailable`."""

    async def reserve(self, reservation: Reservation) -> Reached | None:
        """Set aside the most that a question may cost, within all of its budgets; what is reached otherwise.

        It ends by itself after a quarter of an hour. Whoever takes a question over gets what was set aside for it; the
        run before, and one that nobody settles, count at that, until they say late what they have cost.
        A question is counted once, however often it is asked; what costs more than all of a budget may be asked where
        nothing else was.
        """
        ...

    async def would_reach(self, reservation: Reservation) -> Reached | None:
        """Return what `reserve` would, and set nothing aside."""
        ...

    async def settle(self, reservation: Reservation, spent: Cost) -> Sequence[BudgetAlert]:
        """Count what a run of a question has cost, once, and give free what was set aside for it.

        Return the shares of a community's budgets that it has used up by that, each once in a period.
        """
        ...

    async def give_up(self, reservation: Reservation) -> None:
        """Give free what is set aside for a question that nobody tries any more; its last run counts at that."""
        ...

    async def turn_away(self, question: Question, reached: Reached, at: datetime) -> Telling:
        """Return how whoever asked is told of a limit: once in words, then by some marks, until it lifts."""
        ...

    async def spent(
        self, home: WorkspaceRef, at: datetime, *, person_id: str = "", channel: str = ""
    ) -> Mapping[tuple[Holder, Period], Cost]:
        """Return what a community has spent in the day and the month around *at*, and who else is named.

        People and channels are counted only where there is a budget for them.
        """
        ...
