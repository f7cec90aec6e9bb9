"""All searches of one question share ten seconds, however often a model searches and whatever was looked up before."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Sequence

import pytest

from adapters.chat.commands import searchable
from core.answering.agent import Agent
from core.answering.attention import Attention
from core.community.visibility import Visibility
from core.documents.retrieval import HybridRetriever
from core.errors import RetrievalUnavailable
from core.messages import UNAVAILABLE
from core.model import (
    EVERYTHING,
    Answer,
    Asker,
    Candidate,
    IndexQuery,
    Outline,
    Passage,
    Readership,
    Scope,
    SourceRecord,
    Status,
    Vector,
    Waiting,
    WorkspaceRef,
)
from core.model.answer import FREE, LONGEST_SEARCH
from core.ports import Reranker
from tests import virtual_time
from tests.builders import question
from tests.fakes.chat import ScriptedChatModel, ScriptedTurn, search, turn
from tests.fakes.clock import Clock
from tests.fakes.communities import MemoryCommunities
from tests.fakes.dedup import MemoryDedup
from tests.fakes.embedder import HashEmbedder
from tests.fakes.inbox import MemoryInbox
from tests.fakes.membership import MemoryMembership
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.services import admission, bundle
from tests.unit.documents.test_retrieval import A, B, ScriptedIndex
from tests.unit.test_attention import ASKED

FOR_EVER = 1_000_000.0  # seconds
WORDS = turn("Robots act [1].")
SEARCHES = (turn(search("arms")), turn(search("legs")), turn(search("wheels")), WORDS)


class Slow(HashEmbedder, ScriptedIndex):
    """Embeds, finds, scores and lists, each after so many seconds."""

    def __init__(self, *, embeds: float = 0, finds: float = 0, scores: float = 0, lists: float = 0) -> None:
        HashEmbedder.__init__(self)
        ScriptedIndex.__init__(self, defaultdict(lambda: [Candidate(A, 0.8, 30.0), Candidate(B, 0.4, 10.0)]))
        self.embeds, self.finds, self.scores, self.lists = embeds, finds, scores, lists
        self.is_sparing = True  # so that there is something to answer from

    async def embed_query(self, text: str) -> Vector:
        """Embed after a while."""
        await asyncio.sleep(self.embeds)
        return await super().embed_query(text)

    async def candidates(self, query: IndexQuery, *, limit: int) -> Sequence[Candidate]:
        """Find the same after a while; the first time at once where that is spared."""
        await asyncio.sleep(0 if self.is_sparing and not self.asked else self.finds)
        return await super().candidates(query, limit=limit)

    async def rerank(self, query: str, passages: Sequence[Passage]) -> Sequence[float]:
        """Score all the same after a while."""
        await asyncio.sleep(self.scores)
        return [0.9] * len(passages)

    async def outline(self, scope: Scope = EVERYTHING) -> Outline:
        """Count after a while."""
        await asyncio.sleep(self.lists)
        return await super().outline(scope)

    async def sources(self) -> Sequence[SourceRecord]:
        """Name what there is after a while."""
        await asyncio.sleep(self.lists)
        return await super().sources()

    def retriever(self) -> HybridRetriever:
        """Search with all of it, and with reranking if that takes time."""
        reranker: Reranker | None = self if self.scores else None
        return HybridRetriever(self, self, clock=Clock(), reranker=reranker)


def answered(slow: Slow, *script: ScriptedTurn, text: str = "What is a robot?") -> tuple[float, Answer]:
    """Ask, and have a model follow a script; return after how many seconds there was an answer."""
    model = ScriptedChatModel(*script)

    async def ask() -> tuple[float, Answer]:
        answer = await Agent(model, slow.retriever(), clock=Clock()).answer(question(text))
        return asyncio.get_running_loop().time(), answer

    found = virtual_time.run(ask())
    model.check()
    return found


@pytest.mark.promise("search-ends")
@pytest.mark.parametrize(
    "slow",
    [
        Slow(finds=FOR_EVER),
        Slow(embeds=FOR_EVER),
        Slow(scores=FOR_EVER),
        Slow(embeds=FOR_EVER, finds=FOR_EVER),
        Slow(embeds=1.5, finds=1.5, scores=FOR_EVER),
    ],
    ids=["the index", "the embedder", "the reranker", "both", "one of three"],
)
def test_however_often_a_model_searches_what_hangs_is_waited_for_ten_seconds_in_all(slow: Slow) -> None:
    """The answer is from what was found until then."""
    took, answer = answered(slow, *SEARCHES)

    assert answer.status is Status.ANSWERED
    assert LONGEST_SEARCH / 2 <= took <= LONGEST_SEARCH + 0.001
    assert len(answer.tool_calls) == 4


@pytest.mark.promise("search-ends")
def test_searches_that_are_slow_and_bring_what_they_should_are_all_made() -> None:
    """Of each, the first second does not count: a model may search in several rounds."""
    slow = Slow(embeds=1.5, finds=1.5)
    slow.is_sparing = False

    took, answer = answered(slow, *SEARCHES)

    assert ([each.success for each in answer.tool_calls], answer.lexical_only) == ([True] * 4, False)
    assert took == pytest.approx(12.0)
    assert took <= LONGEST_SEARCH + 4 * FREE


@pytest.mark.promise("search-ends")
def test_searches_that_are_too_slow_together_end_all_the_same() -> None:
    """Also where each by itself would be quick enough."""
    slow = Slow(finds=6.0)
    slow.is_sparing = False

    took, answer = answered(slow, *SEARCHES)

    assert [each.success for each in answer.tool_calls] == [True, False, False, False]
    assert took <= LONGEST_SEARCH + FREE + 0.001


def test_searches_of_one_round_take_the_time_of_the_slowest() -> None:
    """They are made side by side."""
    waiting, retriever = Waiting(), Slow(embeds=4.0).retriever()

    async def look() -> None:
        async with asyncio.TaskGroup() as group:
            for words in ("arms", "legs", "wheels"):
                group.create_task(retriever.search(words, limit=5, scope=Scope(), waiting=waiting))

    virtual_time.run(look())

    assert waiting.left == pytest.approx(LONGEST_SEARCH - 4.0 + FREE)


@pytest.mark.promise("search-ends")
def test_what_was_looked_up_before_the_answer_counts_too() -> None:
    """What somebody may see, and whether a message that nobody has addressed to the bot is for it."""
    slow, waiting = Slow(lists=3.0, finds=3.0), Waiting()
    slow.is_sparing = False
    visibility = Visibility(slow, MemoryCommunities(ASKED.asker.home), MemoryPolicies(), memberships={})
    agent = Agent(ScriptedChatModel(turn("yes"), WORDS), slow.retriever(), clock=Clock())

    async def ask() -> Answer:
        await visibility.of(ASKED.asker, waiting=waiting)
        assert await Attention(agent).is_asked(ASKED, None, Scope(), waiting=waiting)
        slow.finds = FOR_EVER
        *_, last = [item async for item in agent.run(ASKED, waiting=waiting)]
        assert asyncio.get_running_loop().time() == pytest.approx(3.0 + 3.0 + LONGEST_SEARCH - 2 * (3.0 - FREE))
        assert isinstance(last, Answer)
        return last

    assert virtual_time.run(ask()).text == UNAVAILABLE


class SlowMembership(MemoryMembership):
    """Never says who reads."""

    async def readership(self, asker: Asker, among: Collection[WorkspaceRef]) -> Readership:
        """Wait for ever."""
        await asyncio.sleep(FOR_EVER)
        raise NotImplementedError


@pytest.mark.promise("search-ends")
def test_a_platform_that_does_not_say_who_reads_is_waited_for_as_long() -> None:
    """Whoever asks hears no words while that is looked up."""
    home = ASKED.asker.home
    visibility = Visibility(
        Slow(), MemoryCommunities(home), MemoryPolicies(), memberships={home.platform: SlowMembership()}
    )

    async def look() -> float:
        with pytest.raises(RetrievalUnavailable):
            await visibility.of(ASKED.asker)
        return asyncio.get_running_loop().time()

    assert virtual_time.run(look()) == pytest.approx(LONGEST_SEARCH)


@pytest.mark.promise("search-ends")
def test_without_time_nothing_is_looked_up_any_more() -> None:
    """Neither sources nor passages, and no service is said to have failed."""
    slow, events = Slow(), list[object]()
    retriever = HybridRetriever(slow, slow, clock=Clock(), observer=events.append)
    visibility = Visibility(slow, MemoryCommunities(), MemoryPolicies(), memberships={})

    async def look() -> None:
        with pytest.raises(RetrievalUnavailable):
            await retriever.search("arms", limit=5, scope=Scope(), waiting=Waiting(left=0.0))
        with pytest.raises(RetrievalUnavailable):
            await retriever.outline(Scope(), waiting=Waiting(left=0.0))
        with pytest.raises(RetrievalUnavailable):
            await visibility.of(Asker(home=ASKED.asker.home, person_id="ada"), waiting=Waiting(left=0.0))

    virtual_time.run(look())

    assert (slow.asked, events) == ([], [])


@pytest.mark.promise("search-ends")
def test_what_can_be_asked_is_looked_up_for_ten_seconds() -> None:
    """It is not searched for after that: there is no time left."""
    took, answer = answered(Slow(lists=FOR_EVER), text="What can I ask you?")

    assert (round(took, 3), answer.text) == (LONGEST_SEARCH, UNAVAILABLE)


@pytest.mark.promise("search-ends")
def test_a_list_of_the_documents_ends_as_a_search_does() -> None:
    """Wherever it is shown, with the look at who may read what."""
    home = ASKED.asker.home
    communities = MemoryCommunities(home)
    visibility = Visibility(Slow(lists=LONGEST_SEARCH * 0.6), communities, MemoryPolicies(), memberships={})
    services = bundle(MemoryInbox(), communities=communities, admission=admission(visibility, MemoryDedup()))

    async def look() -> float:
        with pytest.raises(RetrievalUnavailable):
            await searchable(services, ASKED.asker)
        return asyncio.get_running_loop().time()

    assert virtual_time.run(look()) == pytest.approx(LONGEST_SEARCH + FREE)
