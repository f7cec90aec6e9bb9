"""`footnote communities`: what operators order, and what they read of those that may use the bot."""

from __future__ import annotations

import pytest

from bot.commands.communities import FIRST, allowed, overview, removed
from bot.settings import community_named
from bot.wiring.communities import NOBODY_MAY, NOTHING, OWNERLESS, UNDECIDED, CommunityAccess, verdict
from bot.wiring.services import Advice
from core.errors import InvalidInput
from core.model import Audience, MessageRef, SourceRecord
from tests.builders import thread
from tests.fakes.communities import MemoryCommunities
from tests.fakes.index import MemoryIndex
from tests.fixtures.commands import Footnote, Here

ONE, TWO, TEAM = map(community_named, ("discord:1", "discord:2", "slack:T1"))
PLATFORMS = ("discord", "slack")


async def shelves() -> MemoryIndex:
    """A source of which nobody has said whose it is, one for all, one of a community's, and one for nobody."""
    index, own = MemoryIndex(), Audience(communities=frozenset([TWO]))
    for name, audience in (("docs", None), ("faq", Audience(everyone=True)), ("wiki", own), ("drafts", Audience())):
        await index.record(SourceRecord(name=name, audience=audience))
    return index


async def said(store: MemoryCommunities, index: MemoryIndex | None = None) -> str:
    """What the doctor says."""
    return verdict(await CommunityAccess.of(store, index or await shelves()), PLATFORMS)


async def test_each_sees_what_is_open_to_it() -> None:
    """What nobody has given away belongs to the first, also once it is not allowed any more; an order gives it away."""
    store, index = MemoryCommunities(), await shelves()
    told = [await allowed(store, index, each) for each in (ONE, TWO, TWO)]
    await store.remove(ONE)
    access = await CommunityAccess.of(store, index)
    moved = await allowed(store, index, TWO, is_first=True)

    both = "discord:1 sees docs and faq. discord:2 sees faq and wiki."
    assert told == [
        "discord:1 may use the bot, from its next question on. discord:1 sees docs and faq.",
        f"discord:2 may use the bot, from its next question on. {both}",
        f"discord:2 may already use the bot. {both}",
    ]
    assert [access.sources(each) for each in (ONE, TWO, TEAM)] == [["docs", "faq"], ["faq", "wiki"], ["faq"]]
    assert moved == f"discord:2 may already use the bot. {FIRST} discord:2 sees docs, faq and wiki."


async def test_an_order_is_carried_out_without_the_index() -> None:
    """Only what each sees is not told."""
    store, index = MemoryCommunities(), await shelves()
    index.fails = True

    said = await allowed(store, index, ONE)

    assert said.endswith("next question on. discord:1 sees unknown sources, since the index cannot be read now.")
    assert (await store.load()).allowed == (ONE,)


async def test_what_may_use_it_by_another_word_is_not_removed() -> None:
    """The sentence says where that word stands; what was not allowed is no error."""
    store = MemoryCommunities(named=[ONE])
    await store.settle("slack", [TEAM], is_own=True)
    await store.allow(TWO)

    with pytest.raises(InvalidInput, match="FOOTNOTE_COMMUNITIES"):
        await removed(store, ONE)
    with pytest.raises(InvalidInput, match="SLACK_BOT_TOKEN"):
        await removed(store, TEAM)
    assert [await removed(store, TWO) for _ in range(2)] == [
        "discord:2 may no longer use the bot; its next question will be refused.",
        "discord:2 was not allowed, so nothing has changed.",
    ]


async def test_the_list_says_who_may_and_why_and_who_waits() -> None:
    """With what each sees, for people and for programs."""
    store = MemoryCommunities(named=[ONE])
    await store.settle("slack", [TEAM], is_own=True)
    await store.wait(TWO, MessageRef(thread=thread(), id="m1"))
    says, facts = overview(await CommunityAccess.of(store, await shelves()))

    assert says.splitlines() == [
        "COMMUNITY  may ask                       sees",
        "discord:1  yes, by FOOTNOTE_COMMUNITIES  docs and faq",
        "slack:T1   yes, by its token             faq",
        "discord:2  no; somebody has asked        nothing",
    ]
    assert facts == {
        "communities": [
            {"community": "discord:1", "allowed": True, "removable": False, "sources": ["docs", "faq"]},
            {"community": "slack:T1", "allowed": True, "removable": False, "sources": ["faq"]},
            {"community": "discord:2", "allowed": False, "removable": False, "sources": []},
        ],
        "first": "discord:1",
    }


async def test_the_doctor_says_who_may_and_who_waits() -> None:
    """What the operator has to do is advice; that nothing is decided yet is none."""
    none = MemoryCommunities()
    undecided = await said(none)
    await none.settle("discord", [ONE, TWO])
    settled_alone = await said(none)
    await none.settle("slack", [TEAM, TWO])
    nobody = await said(none)
    several = MemoryCommunities(ONE, TWO)
    named = await said(several)
    await several.wait(TEAM, MessageRef(thread=thread(), id="m1"))
    waiting = await said(several)

    await several.remove(ONE)
    ownerless = await said(several)

    assert (undecided, settled_alone, nobody) == (UNDECIDED, UNDECIDED, NOBODY_MAY)
    assert ownerless.startswith(f"discord:2 sees faq and wiki. {OWNERLESS.format(ONE)} Somebody")
    both = "discord:1 sees docs and faq. discord:2 sees faq and wiki."
    assert named == f"{both} To remove one: footnote communities remove discord:2"
    assert waiting == (
        f"{named} Somebody has asked in slack:T1, where the bot may not be used. "
        "To allow it: footnote communities allow slack:T1"
    )
    assert [isinstance(each, Advice) for each in (undecided, nobody, named, waiting)] == [False, True, False, True]


async def test_one_alone_is_not_offered_to_be_taken_away() -> None:
    """That would leave nobody."""
    assert await said(MemoryCommunities(ONE)) == "discord:1 sees docs and faq."


def test_orders_are_given_without_a_bot_too(fresh: Footnote, here: Here) -> None:
    """They hold when it starts; what is no community is told in words, with an example."""
    empty = here(fresh, "communities", "list")
    orders = [here(fresh, "communities", what, "discord:42") for what in ("allow", "remove")]
    wrong = here(fresh, "communities", "allow", "42")

    assert (empty.code, empty.out) == (0, f"{UNDECIDED}\n")
    assert [each.out for each in orders] == [
        f"discord:42 may use the bot, from its next question on. discord:42 sees {NOTHING}.\n",
        "discord:42 may no longer use the bot; its next question will be refused.\n",
    ]
    assert (wrong.code, wrong.out) == (2, "")
    assert (
        wrong.err == "'42' is not a server or workspace. One looks like discord:81384788765712384 or slack:T012AB3CD.\n"
    )
