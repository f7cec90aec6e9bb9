"""The command that lists what can be searched, on both platforms."""

from __future__ import annotations

from datetime import timedelta

import pytest

from adapters.discord.people import DiscordMembers
from core import messages
from core.model import Asked, Audience, EmbeddedPassage, SourceRecord, SyncReport, WorkspaceRef
from tests.adapters.desks import Desk, desk_fixture
from tests.adapters.discord.office import Office as DiscordOffice
from tests.adapters.discord.office import home
from tests.adapters.slack.office import Office as SlackOffice
from tests.builders import NOON, passage
from tests.fakes.communities import MemoryCommunities
from tests.fakes.index import MemoryIndex
from tests.servers.discord import DiscordServer

__all__ = ["desk_fixture"]

LONGEST = 2_000  # characters of a message on Discord


@pytest.fixture(name="index")
def _index(desk: Desk) -> MemoryIndex:
    """Give the index that is searched from both platforms."""
    desk.office.index = MemoryIndex()
    return desk.office.index


async def add(index: MemoryIndex, source: str, chapter: str, pages: int = 1, **fields: object) -> None:
    """Put pages of a chapter into the index."""
    for number in range(pages):
        url = f"https://{source}.example/{chapter}/{number}"
        one = passage("Robots act.", url=url, passage_id=url, source=source, chapter=chapter, **fields)
        await index.replace(source, url, [EmbeddedPassage(one, (1.0, 0.0))])


@pytest.mark.promise("release-dates")
async def test_what_can_be_searched_is_listed_and_nothing_before_its_release(desk: Desk, index: MemoryIndex) -> None:
    """A chapter or a source whose pages are all released later is not named; only whoever asks sees the list."""
    await add(index, "course", "Arms", pages=2)
    await add(index, "course", "Grippers", opens_at=NOON)
    await add(index, "course", "Arms again", opens_at=NOON + timedelta(seconds=1))
    await add(index, "wiki", "")
    await add(index, "exam", "Solutions", opens_at=NOON + timedelta(days=1))
    read_at = NOON - timedelta(hours=3, minutes=1)
    last = SyncReport(tried_at=read_at, read_at=read_at)
    await index.record(SourceRecord(name="wiki", last=last))

    told = await desk.use("documents")

    assert told.replace("•", "-").split("\n") == [
        "I have 4 pages from 2 sources.",
        "- course, 3 pages",
        "    - Arms",
        "    - Grippers",
        "- wiki, 1 page, read 3 hours ago",
    ]
    assert desk.seen_by_others() == 0


@pytest.mark.promise("operator-decides")
async def test_where_nobody_may_use_the_bot_nothing_is_listed(desk: Desk, index: MemoryIndex) -> None:
    """Not even what is open to everybody, once the operator has taken the community away."""
    await add(index, "course", "Arms")
    known = await desk.office.communities.load()
    await index.record(SourceRecord(name="course", audience=Audience(everyone=True)))
    await desk.office.communities.remove(known.allowed[0])

    assert await desk.use("documents") == messages.NOT_ALLOWED


async def test_a_long_list_is_read_page_by_page(desk: Desk, index: MemoryIndex) -> None:
    """Each page fits a message and says how to see the next one; together they hold every chapter once."""
    chapters = [f"Chapter {number:02} of a book with *long* titles <{'x' * 60}>" for number in range(40)]
    for chapter in chapters:
        await add(index, "book", chapter)
    await add(index, "wiki", "Last")

    pages: list[str] = []
    while not pages or desk.page.format(len(pages) + 1) in pages[-1]:
        pages.append(await desk.use("documents", page=len(pages) + 1))

    assert len(pages) > 1
    assert max(map(len, pages)) <= LONGEST
    named = [line.partition("Chapter ")[2][:2] for line in "\n".join(pages).split("\n") if "Chapter " in line]
    assert named == [f"{number:02}" for number in range(40)]
    assert all("book, continued" in page for page in pages[1:])
    assert "Last" in pages[-1]
    assert await desk.use("documents", page=len(pages) + 1) == messages.NO_SUCH_PAGE


async def test_without_documents_the_list_says_so(desk: Desk, index: MemoryIndex) -> None:
    """So it does where the index is away."""
    empty = await desk.use("documents")
    index.fails = True
    away = await desk.use("documents")

    assert (empty, away) == (messages.NO_DOCUMENTS, f"{messages.WARNING} {messages.UNAVAILABLE}")


async def test_a_guest_of_slack_is_told_nothing_of_the_documents() -> None:
    """Whom the bot does not answer does not hear what it could answer from."""
    async with SlackOffice.at_work() as office, office.open():
        guest = office.server.add_member(office.workspace, is_restricted=True)

        assert await office.use(guest, "documents") == messages.STRANGERS_READ


OTHER = WorkspaceRef(platform="elsewhere", workspace="1")
EVERYBODY = Audience(everyone=True)


async def fill(index: MemoryIndex) -> None:
    """Put in what is the community's own, what is another one's, and what is open to all."""
    audiences = {"own": None, "theirs": Audience(communities=frozenset([OTHER])), "open": EVERYBODY}
    for source, audience in audiences.items():
        await add(index, source, f"Chapter of {source}")
        await index.record(SourceRecord(name=source, audience=audience))


@pytest.mark.promise("documents-apart")
async def test_what_is_another_communitys_is_neither_listed_nor_counted(desk: Desk, index: MemoryIndex) -> None:
    """Its chapters are not named either."""
    await fill(index)

    told = await desk.use("documents")

    assert told.replace("•", "-").split("\n") == [
        "I have 2 pages from 2 sources.",
        "- open, 1 page",
        "    - Chapter of open",
        "- own, 1 page",
        "    - Chapter of own",
    ]


@pytest.mark.promise("guests-apart")
async def test_a_guest_is_told_of_what_is_open_to_all() -> None:
    """And of nothing else; so is somebody of another company."""
    async with SlackOffice.at_work() as office, office.open():
        office.index = MemoryIndex()
        await fill(office.index)
        guest = office.server.add_member(office.workspace, "gus", is_restricted=True)
        partner = office.server.add_member(office.workspace, "pat", team_id="T9", is_stranger=True)

        told = [await office.use(by, "documents") for by in (guest, partner)]

    assert told == ["I have 1 page from 1 source.\n• open, 1 page\n    • Chapter of open"] * 2


@pytest.mark.promise("strangers-apart")
async def test_in_direct_messages_each_is_told_of_what_they_may_read() -> None:
    """A member of the server of its documents, a stranger of what is open to all, or else of nothing."""
    async with DiscordServer() as server:
        guild = server.add_guild()
        ada, eve, members = server.add_member(guild), server.add_user("Eve"), DiscordMembers()
        office = DiscordOffice(
            server, communities=MemoryCommunities(named=[home(guild.id)]), memberships={"discord": members}
        )
        office.index = MemoryIndex()
        await fill(office.index)
        async with office.open() as client:
            members.listening = client
            told = [(await office.told(server.slash(by, server.dm(by), "documents"))).content for by in (ada, eve)]
            await office.index.record(SourceRecord(name="open", audience=Audience()))
            told.append((await office.told(server.slash(eve, server.dm(eve), "documents"))).content)

    names = [[line for line in each.split("\n") if line.startswith("- ")] for each in told]
    assert names == [["- open, 1 page", "- own, 1 page"], ["- open, 1 page"], []]
    assert told[-1] == messages.NO_MEMBER


@pytest.mark.promise("strangers-apart")
async def test_who_brings_the_bot_along_reads_there_what_they_do_in_direct_messages() -> None:
    """In a server that has not installed it: nothing that is open to its members, and only for their own eyes."""
    async with DiscordServer() as server:
        guild, elsewhere = server.add_guild(), server.add_guild("Elsewhere")
        ada, channel = server.add_member(guild), server.add_channel(elsewhere)
        server.platform.member(elsewhere, ada)
        members, homes = DiscordMembers(), [home(guild.id), home(elsewhere.id)]
        office = DiscordOffice(server, communities=MemoryCommunities(named=homes), memberships={"discord": members})
        office.index = MemoryIndex()
        await add(office.index, "own", "Chapter")
        await add(office.index, "theirs", "Secret")
        audience = Audience(communities=frozenset(homes[1:]))
        await office.index.record(SourceRecord(name="theirs", audience=audience))
        async with office.open() as client:
            members.listening = client
            server.kick_bot(elsewhere)
            server.install_for(ada)
            told = (await office.told(server.slash(ada, channel, "documents"))).content
            server.slash(ada, channel, "ask", question="What is a robot?")
            asked = await office.heard()

    assert [line for line in told.split("\n") if line.startswith("- ")] == ["- own, 1 page"]
    assert isinstance(asked, Asked)
    assert (asked.question.visibility, asked.message.thread.workspace) == ("private", "@me")
