"""`footnote communities`: which servers and workspaces may use the bot, for whoever runs it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from bot.commands.inbox import Report, aligned
from bot.commands.session import say, session
from bot.settings import community_named
from bot.wiring.communities import NOBODY_MAY, UNDECIDED, CommunityAccess
from core.errors import InvalidInput
from core.model import WorkspaceRef

if TYPE_CHECKING:
    from core.ports import CommunityStore, PassageIndex

ALLOWED = "{} may use the bot, from its next question on."
ALLOWED_BEFORE = "{} may already use the bot."
SHARE = "To open documents to it: footnote sources share"
FIRST = "Documents that you have not shared belong to it now, and to no other."
REMOVED = "{} may no longer use the bot; its next question will be refused."
REMOVED_BEFORE = "{} was not allowed, so nothing has changed."
NAMED = "{} is in FOOTNOTE_COMMUNITIES, so it may use the bot. Remove it there, and restart the bot."
OWN = "The token of {} is set in SLACK_BOT_TOKEN, so it may use the bot. Remove the token, and restart the bot."
COLUMNS = ("COMMUNITY", "may ask", "sees")

Action: TypeAlias = Literal["list", "allow", "allow as first", "remove"]


def do(what: Action, name: str = "", *, as_json: bool = False) -> int:
    """Carry out a command, and print what came of it."""
    community = community_named(name) if what != "list" else None

    async def run() -> Report:
        store, index = opened.stores.communities, opened.app.index
        if community is None:
            return overview(await CommunityAccess.of(store, index))
        if what == "remove":
            return await removed(store, community), {}
        return await allowed(store, index, community, is_first=what == "allow as first"), {}

    with session("footnote communities", memory=True) as opened:
        says, facts = opened.run(run())
    return say(says, facts, as_json=as_json)


def overview(access: CommunityAccess) -> Report:
    """Return a report on those that may ask, and those that wait."""
    known = access.communities
    reasons = dict.fromkeys(known.named, "yes, by FOOTNOTE_COMMUNITIES") | dict.fromkeys(known.own, "yes, by its token")
    rows = [(str(each), reasons.get(each, "yes"), access.words(each)) for each in known.allowed]
    rows += [(str(each), "no; somebody has asked", "nothing") for each in known.waiting]
    facts: Mapping[str, object] = {
        "communities": [_facts(each, access, reasons) for each in (*known.allowed, *known.waiting)],
        "first": known.first and str(known.first),
    }
    return (aligned([COLUMNS, *rows]) if rows else NOBODY_MAY if known.settled else UNDECIDED), facts


def _facts(community: WorkspaceRef, access: CommunityAccess, reasons: Collection[WorkspaceRef]) -> Mapping[str, object]:
    is_allowed = community in access.communities.allowed
    return {
        "community": str(community),
        "allowed": is_allowed,
        "removable": is_allowed and community not in reasons,
        "sources": (None if access.records is None else access.sources(community)) if is_allowed else [],
    }


async def allowed(
    store: CommunityStore, index: PassageIndex, community: WorkspaceRef, *, is_first: bool = False
) -> str:
    """Allow a community, and return what each that may ask sees from now on."""
    is_new = await store.allow(community, is_first=is_first)
    access = await CommunityAccess.of(store, index)
    says = [(ALLOWED if is_new else ALLOWED_BEFORE).format(community), *[FIRST] * is_first]
    says.append(access.sentences(access.communities.allowed))
    if access.records and not access.sources(community):
        says.append(SHARE)
    return " ".join(says)


async def removed(store: CommunityStore, community: WorkspaceRef) -> str:
    """Allow a community no longer. Raises `InvalidInput` for one that may ask by another word than an order."""
    known = await store.load()
    for ruled, sentence in ((known.named, NAMED), (known.own, OWN)):
        if community in ruled:
            raise InvalidInput(sentence.format(community), field="community")
    return (REMOVED if await store.remove(community) else REMOVED_BEFORE).format(community)
