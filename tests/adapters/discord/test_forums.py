"""Posts of a forum, which are answered although they mention nobody, where moderators want it."""

from __future__ import annotations

import pytest

from core.errors import StoreUnavailable
from core.model import Policy, PolicyFault, ThreadRef, WorkspaceRef
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.ears import listening
from tests.fakes.box import Box
from tests.fakes.moderation import MemoryPolicies
from tests.servers.discord import DiscordServer


@pytest.mark.promise("forums")
async def test_new_posts_of_a_forum_are_answered_where_moderators_want_it(server: DiscordServer, place: Place) -> None:
    """The first message of a post, not what follows; other forums, and posts that address somebody, are left alone."""
    helped, other = (server.add_channel(place.guild, name, forum=True) for name in ("help", "show"))
    policies, box = MemoryPolicies(), Box()
    home = WorkspaceRef(platform="discord", workspace=str(place.guild.id))
    policies.set(home, Policy(auto_answer=frozenset({str(helped.id)})))
    async with listening(server, box, policies=policies):
        server.post_in_forum_as(place.ada, other, "My robot", "Look at it.")
        server.post_in_forum_as(place.ada, helped, "Bob?", server.platform.owner.mention)
        post, first = server.post_in_forum_as(place.ada, helped, "Stuck", "How does my robot move?")
        server.post_as(server.platform.owner, post, "It worked yesterday?")
        server.post_as(place.ada, place.channel, "And here?", mentions=[server.bot])
        heard = [await box.question(), await box.question()]

    assert [one.question.text for one in heard] == ["Stuck\nHow does my robot move?", "And here?"]
    assert heard[0].message.thread.thread == heard[0].message.id == str(first.id)
    assert heard[0].address is not None
    assert heard[0].address.message is None


async def test_whose_post_is_answered_unasked_writes_on_without_a_mention(server: DiscordServer, place: Place) -> None:
    """Once they were answered, and nobody else does; with a mention everybody does."""
    forum, bob = server.add_channel(place.guild, "help", forum=True), server.add_member(place.guild, "Bob")
    policies, box, answered = MemoryPolicies(), Box(), list[str]()

    async def owns(thread: ThreadRef) -> bool:
        return thread.thread in answered

    async with listening(server, box, policies=policies, owns=owns):
        old, _ = server.post_in_forum_as(place.ada, forum, "Old", "My robot does not stop.")
        server.post_as(place.ada, server.dm(place.ada), "Heard?")
        before = await box.question()
        home = WorkspaceRef(platform="discord", workspace=str(place.guild.id))
        policies.set(home, Policy(auto_answer=frozenset({str(forum.id)})))
        server.post_as(place.ada, old, "Any ideas?")
        post, _ = server.post_in_forum_as(place.ada, forum, "Stuck", "How does my robot move?")
        server.post_as(place.ada, post, "Nobody has answered yet.")
        heard = [(await box.question()).question]
        answered.append(str(post.id))
        server.post_as(bob, post, "Which one is it?")
        server.post_as(place.ada, post, "The new one.")
        server.post_as(place.ada, post, "And now?", mentions=[server.bot])
        server.post_as(bob, post, "What does it mean?", mentions=[server.bot])
        heard += [(await box.question()).question for _ in range(3)]

    assert before.question.text == "Heard?"
    assert [(one.text.splitlines()[0], len(one.context)) for one in heard] == [
        ("Stuck", 0),
        ("The new one.", 0),
        ("And now?", 0),
        ("What does it mean?", 5),
    ]


@pytest.mark.promise("silent-channels")
async def test_a_forum_where_the_bot_is_switched_off_is_left_alone(server: DiscordServer, place: Place) -> None:
    """Nobody who does not speak to it is told of that."""
    forum, box, policies = server.add_channel(place.guild, "help", forum=True), Box(), MemoryPolicies()
    here = str(forum.id)
    home = WorkspaceRef(platform="discord", workspace=str(place.guild.id))
    policies.set(home, Policy(auto_answer=frozenset({here}), silent_channels=frozenset({here})))
    async with listening(server, box, policies=policies):
        server.post_in_forum_as(place.ada, forum, "Stuck", "How does my robot move?")
        server.post_as(place.ada, place.channel, "What is a robot?", mentions=[server.bot])

        assert (await box.question()).question.text == "What is a robot?"


@pytest.mark.promise("unreadable-is-closed")
async def test_a_forum_is_left_alone_where_nobody_can_read_what_is_set(server: DiscordServer, place: Place) -> None:
    """Whatever could be read of it."""
    forum, box, policies = server.add_channel(place.guild, "help", forum=True), Box(), MemoryPolicies()
    home = WorkspaceRef(platform="discord", workspace=str(place.guild.id))
    policies.set(home, Policy(auto_answer=frozenset({str(forum.id)}), fault=PolicyFault.NEWER))
    async with listening(server, box, policies=policies):
        server.post_in_forum_as(place.ada, forum, "Stuck", "How does my robot move?")
        server.post_as(place.ada, place.channel, "What is a robot?", mentions=[server.bot])

        assert (await box.question()).question.text == "What is a robot?"


async def test_a_forum_is_left_alone_without_the_policy_or_the_right_to_read(
    server: DiscordServer, place: Place
) -> None:
    """A store that is away answers nobody unasked, and nobody looks at a policy for what may not be read."""

    class Away(MemoryPolicies):
        async def load(self, home: WorkspaceRef) -> Policy:
            raise StoreUnavailable("The store cannot be reached. Try again in a moment.")

    forum, box = server.add_channel(place.guild, "help", forum=True), Box()
    for message_content in (True, False):
        async with listening(server, box, policies=Away(), message_content=message_content):
            server.post_in_forum_as(place.ada, forum, "Stuck", "How does my robot move?")
            server.post_as(place.ada, place.channel, f"{message_content}?", mentions=[server.bot])
            assert (await box.question()).question.text == f"{message_content}?"
