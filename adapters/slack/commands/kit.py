"""What everything that people can use works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from adapters.chat.attempting import attempted
from adapters.chat.desk import Desk
from adapters.slack.client.people import People
from adapters.slack.client.workspaces import Workspaces
from adapters.slack.commands.replying import Replies
from adapters.slack.commands.situation import Used
from core.errors import Rejected
from core.model import Actor, Outline, Person


@dataclass(frozen=True, slots=True)
class Kit:
    """The desk, the ways to workspaces, and who people are there."""

    desk: Desk
    workspaces: Workspaces
    people: People
    replies: Replies
    outline: Callable[[], Awaitable[Outline]]

    async def privately(self, used: Used, act: Callable[[], Awaitable[str | None]], *, replaces: bool = False) -> None:
        """Do what was wanted, and say how it went to the one person who wanted it."""
        await attempted(act, partial(self.replies.tell, used, replaces=replaces))

    async def actor(self, used: Used) -> Actor:
        """Give who did it with the right to moderate; where Slack does not say, there is none."""
        try:
            profile = await self.people.profile(used.workspace, used.user)
        except Rejected:
            return Actor(person=used.person, home=used.home, may_moderate=False)
        person = Person(id=used.user, name=profile.name)
        return Actor(person=person, home=used.home, may_moderate=profile.is_moderator)
