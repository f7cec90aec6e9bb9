"""What everything that people can use on Slack works with, and who uses it where."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from adapters.chat.commands import carried_out
from adapters.chat.dialect import ChatDialect
from adapters.chat.services import ChatServices
from adapters.slack.commands.replying import Replies
from adapters.slack.commands.situation import Used
from adapters.slack.commands.slash import ADMIN, NAME
from adapters.slack.commands.wording import FORMS, since
from adapters.slack.dialect import SLACK
from adapters.slack.people import People
from adapters.slack.workspaces import Workspaces
from core.errors import Rejected
from core.messages import Drawing, Forms
from core.model import Actor, Person, ThreadRef, WorkspaceRef

DRAWING = Drawing(
    plain=SLACK.on_one_line,
    moment=since,
    bullet="•",
    resume=f"`{NAME} {ADMIN} resume`",
    page=f"`{NAME} {ADMIN} status {{}}`",
)


@dataclass(frozen=True, slots=True)
class Kit:
    """The services, the ways to workspaces, who people are there, and how one of them is told something."""

    services: ChatServices
    workspaces: Workspaces
    people: People
    replies: Replies

    async def privately(self, used: Used, act: Callable[[], Awaitable[str | None]], *, replaces: bool = False) -> None:
        """Do what was wanted, and say how it went to the one person who wanted it."""
        await carried_out(act, partial(self.replies.tell, used, replaces=replaces))


@dataclass(frozen=True, slots=True)
class SlackContext:
    """Implements `CommandContext`."""

    kit: Kit
    used: Used

    @property
    def services(self) -> ChatServices:
        """What it works with."""
        return self.kit.services

    @property
    def person(self) -> Person:
        """Who uses it."""
        return self.used.person

    @property
    def homes(self) -> Sequence[WorkspaceRef]:
        """The workspace, which the direct messages belong to."""
        return (self.used.home,)

    @property
    def thread(self) -> ThreadRef | None:
        """The conversation that goes on there."""
        return self.used.thread_ref

    @property
    def drawing(self) -> Drawing:
        """How names, times and channels are shown."""
        return DRAWING

    @property
    def forms(self) -> Forms:
        """What people write or choose."""
        return FORMS

    @property
    def lacking(self) -> None:
        """An app has the same scopes everywhere, of which the doctor tells."""
        return

    @property
    def dialect(self) -> ChatDialect:
        """How things are written."""
        return SLACK

    async def actor(self) -> Actor:
        """Return who uses it with the right to moderate; where Slack does not say, there is none."""
        try:
            profile = await self.kit.people.profile(self.used.workspace, self.used.user)
        except Rejected:
            return Actor(person=self.person, home=self.used.home, may_moderate=False)
        person = Person(id=self.used.user, name=profile.name)
        return Actor(person=person, home=self.used.home, may_moderate=profile.is_moderator)
