"""Which sources somebody may be answered from: decided here alone, whenever somebody asks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from typing import TypeAlias

from core.errors import Misconfigured, PeopleUnavailable, RetrievalUnavailable, StoreUnavailable, Unavailable
from core.messages import UNKNOWN_PEOPLE
from core.model import Asker, Audience, Awaited, Communities, Readership, SourceRecord, Waiting, WorkspaceRef
from core.ports import Catalogue, CommunityStore, Membership, PolicyStore

UNDECIDED = "It has not been decided yet which communities may use the bot. That happens once it has connected."

SourceNames: TypeAlias = tuple[str, ...] | None
"""The names of sources, None where nobody can tell them."""


def audience_of(record: SourceRecord, first: WorkspaceRef | None) -> Audience:
    """Return who may read a source; one of which nobody has said so belongs to the *first* community, or to nobody."""
    return record.audience or Audience(communities=frozenset([first] if first else ()))


def readable(
    records: Collection[SourceRecord], readers: Collection[WorkspaceRef], first: WorkspaceRef | None
) -> tuple[str, ...]:
    """Return the names of the sources that are open to those who are members of all these communities."""
    return tuple(record.name for record in records if audience_of(record, first).admits(readers))


@dataclass(frozen=True, slots=True)
class Visible:
    """The `sources` that somebody may be answered from.

    `is_member` says that everybody who reads the answer counts as a member of a community, and `has_strangers` that
    somebody does not. What is asked outside of all communities is `charged` to the first allowed one of which the asker
    is a member, if there is any: rather to one that has documents for its members.
    """

    sources: tuple[str, ...]
    is_member: bool = True
    has_strangers: bool = False
    charged: WorkspaceRef | None = None

    @property
    def is_closed(self) -> bool:
        """Whether nobody is answered at all: no member asks, and nothing is open to all."""
        return not self.sources and not self.is_member


def _charged(
    records: Collection[SourceRecord], readers: Collection[WorkspaceRef], communities: Communities
) -> WorkspaceRef | None:
    audiences = [audience_of(record, communities.first) for record in records]
    theirs = [each for each in communities.allowed if each in readers]
    owners = (each for each in theirs if any(one.admits([each]) and not one.everyone for one in audiences))
    return next(chain(owners, theirs), None)


@dataclass
class Visibility:
    """Knows what each may read: what is open, at that moment, to the communities of whoever reads the answer.

    On platforms without a *membership*, whoever is in a community is its member.
    """

    catalogue: Catalogue
    communities: CommunityStore
    policies: PolicyStore
    _: KW_ONLY
    memberships: Mapping[str, Membership]

    async def of(self, asker: Asker, known: Communities | None = None, waiting: Waiting | None = None) -> Visible:
        """Return what somebody may be answered from, by the communities that are *known* or else looked up.

        It takes of the time for searching that a question has whose asker is *waiting*, so that they hear soon where
        platform or index do not say. Raises `Unavailable`, which is `RetrievalUnavailable` then and `PeopleUnavailable`
        where nobody knows yet whether strangers read along, or who asks where nothing is open to all, or `ShutOut`.
        """
        communities, time = known or await self.communities.load(), (waiting or Waiting()).search()
        async with time.take(Awaited.SEARCH):
            readership = Readership(communities=frozenset(asker.home.communities))
            if (membership := self.memberships.get(asker.home.platform)) is not None:
                readership = await membership.readership(asker, communities.allowed)
            records = await self._records()
        is_opened = readership.has_strangers and await self._is_opened(asker)
        if readership.is_unsure and readership.has_strangers and not is_opened:
            raise PeopleUnavailable(UNKNOWN_PEOPLE, wait=readership.wait)
        readers = readership.communities if is_opened or not readership.has_strangers else frozenset[WorkspaceRef]()
        visible = Visible(
            sources=readable(records, readers, communities.first),
            is_member=bool(readers),
            has_strangers=readership.has_strangers and not is_opened,
            charged=None if asker.home.communities else _charged(records, readers, communities),
        )
        if visible.is_closed and readership.is_unsure:
            raise PeopleUnavailable(UNKNOWN_PEOPLE, wait=readership.wait)
        if visible.is_closed and not visible.has_strangers and not communities.is_decided(asker.home.platform):
            raise Unavailable(UNDECIDED)  # nobody knows yet what there is to be a member of
        return visible

    async def seen(self, communities: Collection[WorkspaceRef], known: Communities) -> Mapping[str, SourceNames]:
        """Return what the members of each of these see; None where the index does not say."""
        try:
            async with Waiting().search().take(Awaited.SEARCH):
                records = await self._records()
        except RetrievalUnavailable:
            return {str(each): None for each in communities}
        return {str(each): readable(records, [each], known.first) for each in communities}

    async def _is_opened(self, asker: Asker) -> bool:
        """Return whether moderators let strangers read what is for members in a channel; not where nobody knows."""
        with suppress(StoreUnavailable):
            policy = await self.policies.load(asker.home)
            return policy.fault is None and asker.channel in policy.open_channels
        return False

    async def _records(self) -> Collection[SourceRecord]:
        try:
            return await self.catalogue.sources()
        except Misconfigured as error:  # whoever asks cannot fix the settings
            raise RetrievalUnavailable(str(error)) from error
