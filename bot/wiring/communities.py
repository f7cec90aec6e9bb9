"""Which communities may use the bot, and what each of them sees: what operators are told of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.wiring.services import Advice
from core.community.visibility import readable
from core.errors import Misconfigured, RetrievalUnavailable
from core.messages.wording import listed
from core.model import Communities, SourceRecord, WorkspaceRef

if TYPE_CHECKING:
    from core.ports import CommunityStore, PassageIndex

UNDECIDED = "No community may use the bot yet. The first one of each platform may, once footnote run is connected."
NOBODY_MAY = "No community may use the bot. To allow one: footnote communities allow COMMUNITY"
SEES = "{} sees {}."
NOTHING = "no documents (to open some: footnote sources share)"
UNKNOWN = "unknown sources, since the index cannot be read now"
REMOVABLE = "To remove one: footnote communities remove {}"
OWNERLESS = (
    "Unshared documents still belong to {}. To give them to another: footnote communities allow COMMUNITY --first"
)
WAITING = "Somebody has asked in {}, where the bot may not be used. To allow it: footnote communities allow {}"


@dataclass(frozen=True, slots=True)
class CommunityAccess:
    """What communities can see; without *records*, nobody knows."""

    communities: Communities
    records: Sequence[SourceRecord] | None

    @classmethod
    async def of(cls, store: CommunityStore, index: PassageIndex) -> CommunityAccess:
        """Look. Raises `StoreUnavailable`."""
        try:
            records = await index.sources()
        except (RetrievalUnavailable, Misconfigured):  # who may ask can be decided all the same
            records = None
        return cls(await store.load(), records)

    def sources(self, community: WorkspaceRef) -> list[str]:
        """Return the names of the sources that are open to a community."""
        return [*readable(self.records or (), [community], self.communities.first)]

    def words(self, community: WorkspaceRef) -> str:
        """Return the same as a sentence has it."""
        return words_for(None if self.records is None else self.sources(community))

    def sentences(self, communities: Collection[WorkspaceRef]) -> str:
        """Return a sentence for each."""
        return " ".join(SEES.format(each, self.words(each)) for each in communities)


def words_for(sources: Sequence[str] | None) -> str:
    """Return what somebody sees, as a sentence has it; of None, nobody knows."""
    if sources is None:
        return UNKNOWN
    return listed([*sources]) if sources else NOTHING


def verdict(access: CommunityAccess, platforms: Collection[str]) -> str:
    """Return what the doctor says of the communities of these *platforms*."""
    known = access.communities
    if not known.allowed and not all(map(known.is_decided, platforms)):
        return UNDECIDED
    says = [access.sentences(known.allowed)] if known.allowed else [NOBODY_MAY]
    removable = [each for each in known.allowed if each not in (*known.named, *known.own)]
    if removable and len(known.allowed) > 1:
        says.append(REMOVABLE.format(removable[-1]))
    is_lost = known.first not in (*known.allowed, None) and any(each.audience is None for each in access.records or ())
    says += [OWNERLESS.format(known.first)] * is_lost
    if known.waiting:
        says.append(WAITING.format(listed([str(each) for each in known.waiting]), known.waiting[0]))
    return Advice(" ".join(says)) if known.waiting or is_lost or not known.allowed else " ".join(says)
