"""What is deleted on Slack is forgotten: messages of answers while the bot was away, channels, workspaces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from slack_sdk.oauth.installation_store import Bot

from adapters.chat.catch_up import THREADS
from adapters.retry import PATIENT
from adapters.slack.api import open_session
from adapters.slack.listener import SlackHooks, SlackListener
from adapters.slack.oauth import InstalledWorkspaces, VaultInstallations
from adapters.slack.workspaces import NotInstalled
from core.errors import StoreUnavailable
from core.events import CatchUpCutShort, Event
from core.model import AnyPlace, MessageRef, Policy, ThreadRef, Turn, WorkspaceRef
from tests.adapters.slack.ears import Place, listening, place_fixture
from tests.builders import NOON
from tests.fakes.box import Box
from tests.fakes.channel_cursor import MemoryChannelCursor
from tests.fakes.conversations import MemoryConversations
from tests.fakes.dedup import MemoryDedup
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.vault import MemoryVault
from tests.servers.slack import Message, Workspace, refuse

__all__ = ["place_fixture"]

REPLIES = "conversations.replies"
MINUTE = 60.0
AGES = 31 * MINUTE  # after which nobody reads what was said any more, but for what is remembered
BOT: dict[str, Any] = {"bot_user_id": "U1", "installed_at": 0.0, "app_id": "A1"}


@pytest.fixture(name="conversations")
def _conversations() -> MemoryConversations:
    return MemoryConversations(ttl=timedelta(hours=1), now=lambda: NOON)


def thread_of(place: Place, root: Message | str) -> ThreadRef:
    """Name a thread, or one that could begin in the channel at some time."""
    channel, thread = (place.channel.id, root) if isinstance(root, str) else (root.channel_id, root.ts)
    return ThreadRef(platform="slack", workspace=place.workspace.team_id, channel=channel, thread=thread)


def turn(where: ThreadRef, asked: str, answers: Sequence[str] = ()) -> Turn:
    """One exchange, whose answer stands in some messages."""
    parts = tuple(MessageRef(thread=where, id=each) for each in answers)
    return Turn(question_ref=MessageRef(thread=where, id=asked), question="?", answer="!", at=NOON, messages=parts)


@pytest.mark.promise("forget")
async def test_what_was_deleted_while_the_bot_was_away_is_found(
    place: Place, conversations: MemoryConversations
) -> None:
    """Parts of answers and questions, at the beginning of a thread and further on; what stands there is left."""
    server, box, gone = place.server, Box(), list[Message]()
    secret = server.add_channel(place.workspace, "secret", private=True)
    direct = server.direct(place.workspace, place.ada)
    for room in (place.channel, secret, direct):
        for number in range(3):  # of the first nothing is gone, of the second a part, of the third the question
            root = server.post_as(place.ada, room, "Let us talk.")
            for asked in (root, server.post_as(place.ada, room, "What?", root)):
                bot = {"bot_id": place.workspace.bot_id}
                parts = [server.post_as(place.bot, room, f"part {part}", root, **bot) for part in range(2)]
                where = thread_of(place, root)
                await conversations.append(where, turn(where, asked.ts, [one.ts for one in parts]))
                gone += [[], parts[1:], [asked]][number]
    for message in gone:
        server.delete_as(place.ada, message)
    server.clock.advance(AGES)
    async with listening(place, box, catches_up=True, conversations=conversations):
        found = [await box.next() for _ in gone]

    assert sorted(each.message.id for each in found) == sorted(message.ts for message in gone)
    assert {each.kind for each in found} == {"deleted"}


@pytest.mark.promise("forget")
@pytest.mark.parametrize("hindrance", ["missing_scope", "not_in_channel", "channel_not_found"])
async def test_what_the_bot_may_not_read_counts_as_there(
    place: Place, conversations: MemoryConversations, hindrance: str
) -> None:
    """A channel that is gone looks like one that the bot was removed from; the next thread is looked at anyway."""
    hidden, direct = place.ask("What?"), place.direct("And?")
    for message in (direct, hidden):
        await conversations.append(thread_of(place, message), turn(thread_of(place, message), message.ts))
        place.server.delete_as(place.ada, message)
    place.server.faults.add(REPLIES, refuse(hindrance))
    box = Box()
    async with listening(place, box, catches_up=True, conversations=conversations):
        gone = (await box.next()).message.id

    later = max(hidden, direct, key=lambda one: one.ts)  # the latest is looked at first, and met the refusal
    assert {gone, later.ts} == {hidden.ts, direct.ts}
    assert gone != later.ts


@pytest.mark.promise("forget")
async def test_of_many_threads_the_latest_are_looked_at_and_that_there_are_more_is_told(
    place: Place, conversations: MemoryConversations
) -> None:
    """So many of each workspace, each by one request, so that the bot comes to an end."""
    told = asyncio.Queue[Event]()
    for number in range(THREADS + 2):
        where = thread_of(place, f"{1_700_000_000 + number}.000001")
        await conversations.append(where, turn(where, where.thread))
    async with listening(place, box := Box(), catches_up=True, conversations=conversations, observer=told.put_nowait):
        gone = [int(float((await box.next()).message.id)) - 1_700_000_000 for _ in range(THREADS)]
        async with asyncio.timeout(5):
            event = await told.get()

    assert gone == list(reversed(range(2, THREADS + 2)))
    assert event == CatchUpCutShort("Slack", f"more than {THREADS} remembered threads in one workspace")
    assert len(place.server.requests_to(REPLIES)) == THREADS


@pytest.mark.promise("forget")
async def test_where_one_thread_a_minute_may_be_read_the_rest_is_given_up(
    place: Place, conversations: MemoryConversations
) -> None:
    """After the minutes that a catch-up may take; one line tells."""
    told, server = asyncio.Queue[Event](), place.server
    server.limits.set(REPLIES, 1, MINUTE)
    for number in range(20):
        where = thread_of(place, f"{1_700_000_000 + number}.000001")
        await conversations.append(where, turn(where, where.thread))

    async def sleep(seconds: float) -> None:
        server.clock.advance(seconds)
        await asyncio.sleep(0)

    given: dict[str, Any] = {"conversations": conversations, "observer": told.put_nowait, "sleep": sleep}
    async with listening(place, box := Box(), catches_up=True, **given):
        async with asyncio.timeout(5):
            event = await told.get()

    assert event == CatchUpCutShort("Slack", "rate limit")
    assert len(box.signals) == PATIENT.budget // MINUTE + 1


class Away(MemoryConversations):
    """Is away when the first place is to be forgotten."""

    def __init__(self) -> None:
        super().__init__(ttl=timedelta(hours=1), now=lambda: NOON)
        self.refused = asyncio.Event()

    async def forget(self, place: AnyPlace) -> int:
        """Refuse once."""
        if not self.refused.is_set():
            self.refused.set()
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
        return await super().forget(place)


@pytest.mark.promise("forget-workspace")
@pytest.mark.parametrize("kind", ["channel_deleted", "group_deleted"])
async def test_a_channel_that_is_deleted_is_forgotten(place: Place, kind: str) -> None:
    """With all its threads, and no other; what cannot be done now is told again, and archiving removes nothing."""
    other, conversations = place.server.add_channel(place.workspace, "other"), Away()
    kept = [thread_of(place, place.ask("What?")) for _ in range(2)]
    gone = [thread_of(place, place.server.post_as(place.ada, other, "What?")) for _ in range(2)]
    for where in (*kept, *gone):
        await conversations.append(where, turn(where, where.thread))
    async with listening(place, Box(), conversations=conversations):
        await place.server.tell(
            place.workspace, {"type": "channel_archive", "channel": place.channel.id}
        ).acknowledged()
        told = place.server.tell(place.workspace, {"type": kind, "channel": other.id})
        await conversations.refused.wait()
        (again,) = await place.server.redeliver(told)
        await again.acknowledged()

    assert await conversations.threads() == kept


@dataclass
class Organization:
    """Two workspaces of an organization that has installed the app, one of another, and one by itself."""

    place: Place
    installed: InstalledWorkspaces
    vault: MemoryVault
    conversations: MemoryConversations
    policies: MemoryPolicies
    homes: list[WorkspaceRef]
    workspaces: list[Workspace]
    cursor: MemoryChannelCursor

    async def left(self) -> tuple[list[WorkspaceRef], list[WorkspaceRef], list[WorkspaceRef]]:
        """Return where conversations and settings are left, and which channels are known to be heard."""
        threads = [each.home for each in await self.conversations.threads()]
        set_ = [home for home in self.homes if await self.policies.load(home) != Policy()]
        return (
            threads,
            set_,
            [home for home in self.homes if any(ref.home == home for ref in self.cursor.notes)],
        )

    def listening(self) -> AbstractAsyncContextManager[SlackListener]:
        """Run a listener for all of them."""
        stores: dict[str, Any] = {
            "conversations": self.conversations,
            "policies": self.policies,
            "channel_cursor": self.cursor,
        }
        hooks = SlackHooks(uninstalled=self.installed.uninstalled)
        return listening(self.place, Box(), workspaces=self.installed, hooks=hooks, **stores)


@pytest.fixture(name="organization")
async def _organization(place: Place, conversations: MemoryConversations) -> AsyncIterator[Organization]:
    """Let people ask everywhere, and moderators set something."""
    vault, policies, cursor = MemoryVault(), MemoryPolicies(), MemoryChannelCursor()
    async with open_session() as session:
        given: dict[str, Any] = {"client_id": "c", "client_secret": "s", "api_url": place.server.api_url}
        installed = InstalledWorkspaces(session, vault, MemoryDedup(), **given)
        found = Organization(place, installed, vault, conversations, policies, [], [], cursor)
        for enterprise in ("E0ORG", "E0ORG", "E0ORG2", None):
            workspace = place.server.add_workspace(enterprise_id=enterprise, org_wide=enterprise is not None)
            name = f"{enterprise}/{workspace.team_id}" if enterprise else workspace.team_id
            ids: dict[str, Any] = {"enterprise_id": enterprise, "is_enterprise_install": enterprise is not None}
            bot = Bot(bot_token=workspace.token, team_id=workspace.team_id, bot_id=workspace.bot_id, **BOT, **ids)
            await VaultInstallations(vault).async_save_bot(bot)
            home = WorkspaceRef(platform="slack", workspace=name)
            where = ThreadRef(platform="slack", workspace=name, channel="C1", thread="1.000001")
            await conversations.append(where, turn(where, where.thread))
            await cursor.note(where, NOON)
            policies.set(home, Policy(silent_channels=frozenset({"C2"})))
            found.homes.append(home)
            found.workspaces.append(workspace)
        yield found


@pytest.mark.promise("forget-workspace")
async def test_an_organization_that_throws_the_bot_out_is_forgotten(organization: Organization) -> None:
    """With all of its workspaces, with what is set there and with its token; no other is, whose name begins alike."""
    async with organization.listening():
        organization.place.server.tell(organization.workspaces[0], {"type": "app_uninstalled"})
        await organization.place.server.settled()

    left = organization.homes[2:]
    assert await organization.left() == (left, left, left)
    for home, is_known in zip(organization.homes, (False, False, True, True), strict=True):
        with nullcontext() if is_known else pytest.raises(NotInstalled):
            await organization.installed.find(home.workspace)


@pytest.mark.promise("forget-workspace")
async def test_a_workspace_that_its_organization_takes_away_is_forgotten(organization: Organization) -> None:
    """The others stay as they are, and so does the token, which is theirs too."""
    taken = organization.workspaces[1].team_id
    async with organization.listening():
        organization.place.server.tell(organization.workspaces[0], {"type": "team_access_revoked", "team_ids": [taken]})
        await organization.place.server.settled()

    left = [home for home in organization.homes if home != organization.homes[1]]
    assert await organization.left() == (left, left, left)
    assert (await organization.installed.find(organization.homes[0].workspace)).enterprise_id == "E0ORG"
