"""What everything that people can use on Slack works with, and who uses it where."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from adapters.chat.commands import CommandContext, carried_out
from adapters.chat.services import ChatServices
from adapters.slack.commands.replying import Replies
from adapters.slack.commands.situation import Used
from adapters.slack.commands.slash import ADMIN, NAME
from adapters.slack.commands.wording import FORMS, since
from adapters.slack.dialect import SLACK
from adapters.slack.people import People
from adapters.slack.workspaces import Workspaces
from core.errors import Rejected
from core.messages import Drawing
from core.model import Actor, Person

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


def context_of(kit: Kit, used: Used) -> CommandContext:
    """Return who uses something, and where."""
    return CommandContext(
        services=kit.services,
        person=used.person,
        homes=(used.home,),  # which the direct messages belong to
        thread=used.thread_ref,
        actor=partial(actor_of, kit, used),
        drawing=DRAWING,
        forms=FORMS,
        dialect=SLACK,
    )


async def actor_of(kit: Kit, used: Used) -> Actor:
    """Return who uses it with the right to moderate; where Slack does not say, there is none."""
    try:
        profile = await kit.people.profile(used.workspace, used.user)
    except Rejected:
        return Actor(person=used.person, home=used.home, may_moderate=False)
    person = Person(id=used.user, name=profile.name)
    return Actor(person=person, home=used.home, may_moderate=profile.is_moderator)
