"""What each may be answered from: decided when a question is answered, by who reads the answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from core.answering.agent import Agent
from core.answering.responder import Responder
from core.community.admission import Admission
from core.community.visibility import Visibility, Visible, readable
from core.documents.retrieval import HybridRetriever
from core.errors import Misconfigured, PeopleUnavailable, RetrievalUnavailable, StoreUnavailable, Unavailable
from core.messages import NO_DOCUMENTS, NO_MEMBER, STRANGERS_READ, UNAVAILABLE
from core.messages.wording import counted
from core.model import (
    EVERYTHING,
    Answer,
    Asker,
    Audience,
    Candidate,
    Claim,
    EmbeddedPassage,
    IndexQuery,
    Outline,
    Person,
    Policy,
    Question,
    Reaction,
    Scope,
    SourceRecord,
    Status,
    WorkspaceRef,
)
from core.model.answer import LONGEST_SEARCH
from tests import virtual_time
from tests.builders import NOON, passage, question, thread
from tests.fakes.chat import ScriptedChatModel, search, turn
from tests.fakes.clock import Clock
from tests.fakes.communities import MemoryCommunities
from tests.fakes.conversations import MemoryConversations
from tests.fakes.dedup import MemoryDedup
from tests.fakes.embedder import HashEmbedder
from tests.fakes.index import MemoryIndex
from tests.fakes.membership import MemoryMembership
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.quota import MemoryQuota
from tests.fakes.surface import RecordingSurface

OURS, THEIRS = (WorkspaceRef(platform="test", workspace=name) for name in ("ours", "theirs"))
OUTSIDE = WorkspaceRef(platform="test", workspace="@outside")
EVERYBODY = Audience(everyone=True)
TEXT = "A robot acts in {}."


def of(*communities: WorkspaceRef) -> Audience:
    """Name who may read."""
    return Audience(communities=frozenset(communities))


class WatchedIndex(MemoryIndex):
    """Keeps the sources of all passages that were handed out, and of all that was listed."""

    def __init__(self) -> None:
        super().__init__()
        self.read = set[str]()
        self.listed = set[str]()
        self.wrong = False

    async def candidates(self, query: IndexQuery, *, limit: int) -> Sequence[Candidate]:
        """Search, and note what is found."""
        found = await super().candidates(query, limit=limit)
        self.read |= {each.passage.source for each in found}
        return found

    async def outline(self, scope: Scope = EVERYTHING) -> Outline:
        """List what there is, and note it."""
        found = await super().outline(scope)
        self.listed |= {*found.sources}
        return found

    async def sources(self) -> Sequence[SourceRecord]:
        """Name them, unless it is of another embedder."""
        if self.wrong:
            raise Misconfigured("The index was made with another embedder.")
        return await super().sources()


class Library:
    """Documents of two communities, and of nobody in particular, with a responder that answers from them."""

    def __init__(self, *allowed: WorkspaceRef) -> None:
        self.index = WatchedIndex()
        self.communities = MemoryCommunities(named=allowed or (OURS, THEIRS))
        self.policies = MemoryPolicies()
        self.membership = MemoryMembership(
            guests={"guest"}, members={(OURS, "ada"), (THEIRS, "bob"), (OURS, "both"), (THEIRS, "both")}
        )
        self.surface = RecordingSurface()
        self.memory = MemoryConversations(ttl=timedelta(hours=1), now=Clock().now)
        self.prompts: list[str] = []
        self.ids = 0

    async def add(self, source: str, audience: Audience | None = None, *, chapter: str = "one") -> None:
        """Put a source with one page into the index, with who may read it if anybody has said so."""
        embedder, text = HashEmbedder(), TEXT.format(source)
        one = passage(text, url=f"https://docs.example/{source}", source=source, chapter=chapter)
        await self.index.replace(source, one.page_url, [EmbeddedPassage(one, await embedder.embed_query(text))])
        if audience is not None:
            await self.index.record(SourceRecord(name=source, audience=audience))

    async def fill(self) -> None:
        """Put in what belongs to the first community, what belongs to the other, and what is open to all."""
        await self.add("first")
        await self.add("theirs", of(THEIRS), chapter="two")
        await self.add("open", EVERYBODY)

    @property
    def visibility(self) -> Visibility:
        """What each may read, as the product puts it together."""
        memberships = {"test": self.membership}
        return Visibility(self.index, self.communities, self.policies, memberships=memberships)

    async def ask(self, *script: Any, by: str = "ada", home: WorkspaceRef = OURS, **fields: Any) -> Answer:
        """Ask, and have the model follow a script, by default an answer."""
        self.ids += 1
        model = ScriptedChatModel(*(script or (turn("Robots act [1]."),)))
        retriever = HybridRetriever(HashEmbedder(), self.index, clock=Clock())
        visibility, quota = self.visibility, MemoryQuota(now=lambda: NOON)
        responder = Responder(
            Agent(model, retriever, clock=Clock()),
            self.memory,
            now=lambda: NOON,
            admission=Admission(visibility, self.policies, quota, MemoryDedup(), now=lambda: NOON),
        )
        answer = await responder.respond(Claim(self.question(by=by, home=home, **fields)), self.surface)
        self.prompts = [str(prompt) for prompt in model.prompts]
        return answer

    def question(self, *, by: str, home: WorkspaceRef, **fields: Any) -> Question:
        """Make a question of somebody somewhere."""
        given: dict[str, Any] = {"relevance_threshold": 0.0, **fields}
        asked = question(id=f"m{self.ids}", **given)
        place = thread().model_copy(update={"workspace": home.workspace})
        message = asked.message.model_copy(update={"thread": place})
        return asked.model_copy(update={"message": message, "author": Person(id=by)})


@pytest.fixture(name="library")
async def _library() -> Library:
    library = Library()
    await library.fill()
    return library


@pytest.mark.promise("documents-apart")
@pytest.mark.parametrize(
    ("readers", "names"),
    [
        ((), ("open",)),
        ((OURS,), ("ours", "both", "open", "unsaid")),
        ((THEIRS,), ("theirs", "both", "open")),
        ((OURS, THEIRS), ("ours", "theirs", "both", "open", "unsaid")),
    ],
)
def test_a_source_is_read_by_members_of_a_community_that_it_is_open_to(
    readers: tuple[WorkspaceRef, ...], names: tuple[str, ...]
) -> None:
    """Or by everybody; one of which nobody has said so by the first community, and by nobody before there is one."""
    audiences = {"ours": of(OURS), "theirs": of(THEIRS), "both": of(OURS, THEIRS), "open": EVERYBODY, "none": of()}
    records = [SourceRecord(name=name, audience=each) for name, each in audiences.items()]
    records.append(SourceRecord(name="unsaid"))

    assert readable(records, readers, OURS) == names
    assert readable(records, readers, None) == tuple(name for name in names if name != "unsaid")


@pytest.mark.promise("documents-apart")
@pytest.mark.parametrize(
    ("home", "names"), [(OURS, {"first", "open"}), (THEIRS, {"theirs", "open"})], ids=["the first", "a later one"]
)
async def test_a_community_is_answered_from_its_own_documents(
    library: Library, home: WorkspaceRef, names: set[str]
) -> None:
    """Whatever the model asks for, also by the name of another community's chapter, and also when nothing fits."""
    script = turn(search("robot"), search("robot", chapter="two"), search("first"), search("theirs")), turn("Look [1].")

    await library.ask(*script, home=home)
    cakes = await library.ask(
        turn(search("robot cakes")), turn("Not there."), home=home, text="Cakes?", relevance_threshold=1.0
    )

    assert library.index.read == names
    assert {each.url.rpartition("/")[2] for each in cakes.nearest} == names
    others = {"first", "theirs", "open"} - names
    assert [prompt for prompt in library.prompts if any(TEXT.format(name) in prompt for name in others)] == []


@pytest.mark.promise("documents-apart")
@pytest.mark.parametrize(
    ("by", "home", "names"),
    [
        ("ada", OURS, ("first", "open")),
        ("ada", THEIRS, ("open", "theirs")),
        ("guest", OURS, ("open",)),
        ("bob", OUTSIDE, ("open", "theirs")),
        ("eve", OUTSIDE, ("open",)),
    ],
    ids=["the first", "a later one", "a guest", "a member outside", "a stranger"],
)
async def test_what_can_be_asked_is_listed_of_ones_own_documents_alone(
    library: Library, by: str, home: WorkspaceRef, names: tuple[str, ...]
) -> None:
    """Neither their titles nor how many pages there are is told of others, and nobody looks at those."""
    for source in ("first", "theirs", "open"):
        await library.add(source, chapter=f"Chapter of {source}")

    answer = await library.ask(by=by, home=home, text="What can I ask you?")

    assert (answer.status, answer.nearest, library.prompts) == (Status.ANSWERED, (), [])
    assert re.findall(r"^- (.+)$", answer.text, re.MULTILINE) == [f"Chapter of {name}" for name in names]
    assert f" {counted(len(names), 'page')} in" in answer.text
    assert (library.index.listed, library.index.read) == ({*names}, set[str]())


@pytest.mark.promise("documents-apart")
async def test_what_can_be_asked_of_what_is_picked_is_narrowed_too(library: Library) -> None:
    """Of another community's source nothing is listed, in the words for no documents at all."""
    theirs = await library.ask(text="What can I ask you?", scope=Scope(sources=("theirs",)))
    both = await library.ask(text="What can I ask you?", scope=Scope(sources=("theirs", "open")))

    assert (theirs.status, theirs.text) == (Status.NO_CONTEXT, NO_DOCUMENTS)
    assert (both.status, library.index.listed) == (Status.ANSWERED, {"open"})


@pytest.mark.promise("documents-apart")
async def test_a_follow_up_reads_what_its_own_readers_may(library: Library) -> None:
    """So does one after the documents were taken from them: what is shared is looked at for every question."""
    await library.ask()
    await library.index.record(SourceRecord(name="first", audience=of(THEIRS)))
    library.index.read.clear()
    await library.ask(text="And what else?")
    after, library.index.read = library.index.read, set[str]()
    await library.ask(home=THEIRS)

    assert (after, library.index.read) == ({"open"}, {"first", "theirs", "open"})


@pytest.mark.promise("documents-apart")
@pytest.mark.parametrize(
    ("picked", "names"),
    [
        (None, {"first", "open"}),
        (("first",), {"first"}),
        (("theirs",), set[str]()),
        (("theirs", "open"), {"open"}),
    ],
)
async def test_what_somebody_picks_only_narrows_it(
    library: Library, picked: tuple[str, ...] | None, names: set[str]
) -> None:
    """Nothing is left of a source that is another community's."""
    answer = await library.ask(turn("Look [1]."), scope=Scope(sources=picked))

    assert library.index.read == names
    assert (answer.text == NO_DOCUMENTS) == (names == set[str]())


@pytest.mark.promise("documents-apart")
async def test_where_nothing_is_open_to_a_community_it_hears_that_there_is_nothing() -> None:
    """In the same words as where there are no documents at all."""
    library, empty = Library(), Library()
    await library.add("first")

    told = [await each.ask(turn("Nothing."), home=THEIRS) for each in (library, empty)]

    assert [(answer.status, answer.text, answer.nearest) for answer in told] == [
        (Status.NO_CONTEXT, NO_DOCUMENTS, ())
    ] * 2
    assert library.index.read == set[str]()


@pytest.mark.promise("strangers-apart")
@pytest.mark.parametrize(
    ("by", "names"),
    [("ada", {"first", "open"}), ("bob", {"theirs", "open"}), ("both", {"first", "theirs", "open"}), ("eve", {"open"})],
)
async def test_outside_of_all_communities_each_reads_what_their_own_may(
    library: Library, by: str, names: set[str]
) -> None:
    """Of those that are allowed; and whoever belongs to none of them reads what is open to all."""
    await library.ask(by=by, home=OUTSIDE)

    assert library.index.read == names


@pytest.mark.promise("strangers-apart")
async def test_who_belongs_to_nothing_is_refused_before_the_model_is_asked() -> None:
    """Where nothing is open to all; so is a member of a community that is not allowed any more."""
    library = Library(OURS)
    await library.add("first")

    for by in ("eve", "bob"):
        answer = await library.ask(by=by, home=OUTSIDE, selection="A robot acts.")
        assert (answer.status, answer.text, library.prompts) == (Status.REFUSED, NO_MEMBER, [])
    assert (library.index.read, library.surface.refused) == (set[str](), [NO_MEMBER, NO_MEMBER])


@pytest.mark.promise("guests-apart")
async def test_guests_are_answered_from_what_is_open_to_all(library: Library) -> None:
    """Where that is nothing they are told so, and once a moderator opens the channel they read what members do."""
    await library.ask(by="guest")
    read, library.index.read = library.index.read, set[str]()
    await library.index.record(SourceRecord(name="open", audience=of(OURS)))
    refused = await library.ask(by="guest")
    before, library.index.read = library.index.read, set[str]()
    library.policies.set(OURS, Policy(open_channels=frozenset({"c"})))
    await library.ask(by="guest")

    assert (read, before, library.index.read) == ({"open"}, set[str](), {"first", "open"})
    assert (refused.status, refused.text) == (Status.REFUSED, STRANGERS_READ)


@pytest.mark.promise("documents-apart")
async def test_an_index_that_does_not_name_its_sources_answers_nobody(library: Library) -> None:
    """The reader hears that nothing can be searched, and sees the warning; no model is asked."""
    for attribute in ("fails", "wrong"):
        setattr(library.index, attribute, True)
        answer = await library.ask()
        assert (answer.status, answer.text, library.prompts) == (Status.UNAVAILABLE, UNAVAILABLE, [])
        setattr(library.index, attribute, False)

    warned = [mark for _, mark in library.surface.reactions]
    assert (warned, library.surface.shown[-1].__class__) == ([Reaction.WARNING] * 2, Answer)


@pytest.mark.promise("documents-apart")
async def test_where_nobody_can_say_who_reads_the_question_waits_and_is_tried_again(library: Library) -> None:
    """Neither a store nor a platform that is away opens anything; the second is given some seconds."""
    library.communities.fails = True
    with pytest.raises(StoreUnavailable):
        await library.ask()
    library.communities.fails = False
    for attribute in ("fails", "is_unsure"):
        setattr(library.membership, attribute, True)
        with pytest.raises(PeopleUnavailable) as unknown:
            await library.ask()
        assert unknown.value.wait == 15.0
        setattr(library.membership, attribute, False)

    assert (library.index.read, library.prompts) == (set[str](), [])
    library.membership.is_unsure = True  # outside of all, what is open to everybody is open
    assert (await library.visibility.of(Asker(home=OUTSIDE, person_id="eve"))).sources == ("open",)


class SlowIndex(MemoryIndex):
    """Never names its sources."""

    async def sources(self) -> Sequence[SourceRecord]:
        """Wait."""
        await asyncio.sleep(LONGEST_SEARCH * 2)
        return ()


@pytest.mark.promise("search-ends")
def test_a_look_at_the_sources_ends_as_a_search_does() -> None:
    """After ten seconds."""
    visibility = Visibility(SlowIndex(), MemoryCommunities(OURS), MemoryPolicies(), memberships={})

    async def look() -> float:
        with pytest.raises(RetrievalUnavailable):
            await visibility.of(Asker(home=OURS, person_id="ada"))
        return asyncio.get_running_loop().time()

    assert virtual_time.run(look()) - LONGEST_SEARCH < 1


async def test_on_a_platform_without_guests_all_are_members_where_they_ask(library: Library) -> None:
    """And of nothing outside."""
    visibility = Visibility(library.index, library.communities, library.policies, memberships={})

    assert await visibility.of(Asker(home=OURS, person_id="ada")) == Visible(("first", "open"))
    assert await visibility.of(Asker(home=OUTSIDE, person_id="ada")) == Visible(("open",), is_member=False)


async def test_outside_of_all_a_question_waits_until_it_is_decided_who_may_ask(library: Library) -> None:
    """Nobody can be a member before; what is open to all is answered."""
    library.communities = MemoryCommunities()
    await library.ask(by="ada", home=OUTSIDE)
    read, library.index.read = library.index.read, set[str]()
    await library.index.record(SourceRecord(name="open", audience=of()))
    with pytest.raises(Unavailable):
        await library.ask(by="ada", home=OUTSIDE)

    assert (read, library.index.read) == ({"open"}, set())
