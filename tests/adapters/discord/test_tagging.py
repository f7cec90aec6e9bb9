"""Posts that were answered get the forum's tag for it, where moderators made one and let the bot set it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from adapters.chat.services import LASTING
from bot.settings import Settings
from bot.wiring import open_platforms
from core.errors import StoreUnavailable
from core.events import unobserved
from core.model import Answer, Claim, Policy, Status, WorkspaceRef
from tests.adapters.discord.test_surface import in_place
from tests.fakes.index import MemoryIndex
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.removals import MemoryRemovals
from tests.on_discord import OnDiscord, on_discord
from tests.platforms import ANSWER, progress
from tests.servers.discord import Channel, Fault, Permission, Reply, Reset

PATCH = "PATCH /channels/{channel}"
GET = "GET /channels/{channel}"


@pytest.fixture(name="discord")
async def _discord() -> AsyncIterator[OnDiscord]:
    async with on_discord(OnDiscord) as discord:
        yield discord


def forum_of(discord: OnDiscord, *tags: str, allowed: bool = True) -> Channel:
    """A forum with tags; where it is *allowed*, the bot may manage posts in it."""
    guild = discord.server.platform.guilds[discord.channel.guild_id or 0]
    forum = discord.server.add_channel(guild, "help", forum=True, tags=tags)
    if allowed:
        discord.server.allow(forum, Permission.MANAGE_THREADS)
    return forum


def begun(discord: OnDiscord, forum: Channel) -> tuple[Channel, Claim]:
    """A post with its first message, which is asked."""
    post, asked = discord.server.post_in_forum_as(discord.ada, forum, "Robots", "What is a robot?")
    return post, in_place(discord.claim(asked), post, asked)


def followed(discord: OnDiscord, post: Channel, first: Claim) -> Claim:
    """A later question in the post."""
    return in_place(first, post, discord.server.post_as(discord.ada, post, "And what not?"))


def named(forum: Channel, post: Channel) -> list[str]:
    """The names of the tags that a post bears."""
    return [forum.tags[tag] for tag in post.applied_tags]


@pytest.mark.promise("forums")
async def test_a_post_that_was_answered_bears_the_tag_beside_its_own(discord: OnDiscord) -> None:
    """However moderators spell it; it is set once, and the server's log says why."""
    forum = forum_of(discord, "bug", "Answered")
    forum.moderated_tags = set(forum.tags)
    post, claim = begun(discord, forum)
    discord.server.change_thread(post, applied_tags=[tag for tag in forum.tags if forum.tags[tag] == "bug"])

    await discord.surface.reply(claim, progress(ANSWER))
    await discord.surface.reply(replace(claim, is_update=True), progress(ANSWER))

    assert (named(forum, post), post.reason) == (["bug", "Answered"], "The question was answered")
    assert len(discord.server.requests_to(PATCH)) == 1


@pytest.mark.parametrize("status", Status)
async def test_a_post_without_an_answer_from_sources_bears_no_tag(discord: OnDiscord, status: Status) -> None:
    """Nobody should take it for done; what says "answered" without any is small talk."""
    forum = forum_of(discord, "answered")
    post, claim = begun(discord, forum)

    await discord.surface.reply(claim, progress(Answer(id="a", text="Not now.", status=status)))

    assert (post.applied_tags, discord.server.requests_to(GET)) == ([], [])


@pytest.mark.parametrize(
    ("tags", "applied", "gets"),
    [
        (("bug", "solved"), (), 1),
        (("answered",), ("answered",), 2),
        (("a", "b", "c", "d", "e", "answered"), ("a", "b", "c", "d", "e"), 2),
        (("a", "b", "c", "d", "ANSWERED"), ("a", "b", "c", "d"), 2),
    ],
    ids=["no such tag", "it is there", "no room", "the last room"],
)
async def test_tags_are_left_as_they_are_where_there_is_none_or_no_room(
    discord: OnDiscord, tags: tuple[str, ...], applied: tuple[str, ...], gets: int
) -> None:
    """Discord takes five tags on a post, and those of people go first."""
    forum = forum_of(discord, *tags)
    post, claim = begun(discord, forum)
    discord.server.change_thread(post, applied_tags=[tag for tag in forum.tags if forum.tags[tag] in applied])

    await discord.surface.reply(claim, progress(ANSWER))

    expected = [*applied, "ANSWERED"] if "ANSWERED" in tags else [*applied]
    assert (named(forum, post), len(discord.server.requests_to(GET))) == (expected, gets)
    assert len(discord.server.requests_to(PATCH)) == len(expected) - len(applied)


@pytest.mark.parametrize("is_on", [True, False])
async def test_later_questions_tag_a_post_where_all_posts_are_answered(discord: OnDiscord, is_on: bool) -> None:
    """Elsewhere an answer in the middle of somebody's post says nothing of what the post asks."""
    forum = forum_of(discord, "answered")
    home = WorkspaceRef(platform="discord", workspace=str(forum.guild_id))
    policies = MemoryPolicies({str(home): Policy(auto_answer=frozenset({str(forum.id)}))} if is_on else None)
    post, first = begun(discord, forum)

    await discord.surfaced(policies=policies).reply(followed(discord, post, first), progress(ANSWER))

    assert named(forum, post) == (["answered"] if is_on else [])


async def test_a_bot_made_from_settings_knows_where_all_posts_are_answered(discord: OnDiscord) -> None:
    """It is given what moderators have set."""
    forum = forum_of(discord, "answered")
    home = WorkspaceRef(platform="discord", workspace=str(forum.guild_id))
    policies = MemoryPolicies({str(home): Policy(auto_answer=frozenset({str(forum.id)}))})
    stores: Any = SimpleNamespace(policies=policies, vault=None, removals=MemoryRemovals())
    values: dict[str, Any] = {"discord_token": discord.server.token, "discord_api_url": discord.server.api_url}
    post, first = begun(discord, forum)

    async with (
        open_platforms(Settings(**values), unobserved, stores, MemoryIndex()) as found,
        found[0].client(stores, cast("Any", discord.notes)) as client,
    ):
        await client.log_in()
        await client.surface.reply(followed(discord, post, first), progress(ANSWER))

    assert named(forum, post) == ["answered"]


async def test_threads_of_channels_are_not_looked_at(discord: OnDiscord) -> None:
    """They have no tags, and no request is spent on finding that out; nor on what only one person sees."""
    claim = await discord.asks()
    post, first = begun(discord, forum_of(discord, "answered"))
    private = replace(first, question=first.question.model_copy(update={"visibility": "private"}))
    for each in (claim, private):
        await discord.surface.reply(each, progress(ANSWER))

    assert (discord.server.requests_to(GET), post.applied_tags) == ([], [])


async def test_a_forum_that_forbids_it_is_left_alone_for_some_minutes(discord: OnDiscord) -> None:
    """What is refused too often ends in a ban; the answers stand."""
    forum, now = forum_of(discord, "answered", allowed=False), [datetime.now(UTC)]
    surface = discord.surfaced(now=lambda: now[0])
    claims = [begun(discord, forum) for _ in range(3)]
    for at, (_, claim) in enumerate(claims):
        now[0] += LASTING * (at == 2)
        if at == 2:
            discord.server.allow(forum, Permission.MANAGE_THREADS)
        await surface.reply(claim, progress(ANSWER))

    assert [named(forum, post) for post, _ in claims] == [[], [], ["answered"]]
    assert [handled.status for handled in discord.server.requests_to(PATCH)] == [403, 200]
    assert [len(discord.server.platform.messages_in(post, by=discord.server.bot)) for post, _ in claims] == [1, 1, 1]


class Away(MemoryPolicies):
    """A store that cannot be reached."""

    async def load(self, home: WorkspaceRef) -> Policy:
        """Fail."""
        raise StoreUnavailable("The store cannot be reached. Try again in a moment.")


@pytest.mark.parametrize(
    ("route", "fault", "options"),
    [
        (GET, Reset(), {}),
        (PATCH, Reply(503, {"message": "busy"}), {}),
        (PATCH, Reply(400, {"code": 50035, "message": "Invalid Form Body"}), {}),
        (GET, None, {"policies": Away()}),
    ],
)
async def test_a_tag_that_cannot_be_set_costs_nothing(
    discord: OnDiscord, route: str, fault: Fault | None, options: dict[str, Any]
) -> None:
    """The answer stands, and nobody is told anything."""
    forum = forum_of(discord, "answered")
    post, claim = begun(discord, forum)
    if fault is None:
        claim = followed(discord, post, claim)
    else:
        discord.server.faults.break_(route, fault)

    delivery = await discord.surfaced(**options).reply(claim, progress(ANSWER))

    assert (len(delivery.messages), post.applied_tags, discord.refused) == (1, [], [])
