"""Who is a member of which server on Discord, asked there seldom."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from functools import partial
from itertools import compress

from discord import AutoShardedClient

from adapters.chat.services import Recent
from adapters.discord.events import PLATFORM
from adapters.discord.poster import translated
from adapters.retry import QUICK, RetryPolicy
from core.errors import PeopleUnavailable, PostingFailed, RateLimited, Rejected, ShutOut, Unreachable
from core.messages import UNKNOWN_PEOPLE
from core.model import Asker, Readership, WorkspaceRef

MOST_KEPT = 10_000
STRANGERS_KEPT = 60.0  # seconds: who has just joined does not want to wait
LONGEST_LOOK = 5.0  # seconds, which leaves as many for searching


class DiscordMembers:
    """Looks members up by REST, and remembers them for some minutes; implements `Membership`.

    It asks by the client that answers or, where none does in this process, by the one that listens.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, retries: RetryPolicy = QUICK) -> None:
        self.answering: AutoShardedClient | None = None
        self.listening: AutoShardedClient | None = None
        self._retries = retries
        self._members = Recent[bool](MOST_KEPT, clock)
        self._strangers = Recent[bool](MOST_KEPT, clock, STRANGERS_KEPT)

    async def readership(self, asker: Asker, among: Collection[WorkspaceRef]) -> Readership:
        """Return the server where somebody asks in one, and else those *among* the given ones that the asker is in.

        What is asked outside of the bot's servers is answered to the asker alone, who counts as no member where Discord
        does not say; that is unsure then. Raises `PeopleUnavailable` where Discord says when it will, or `ShutOut`.
        """
        if asker.home.communities:
            return Readership(communities=frozenset(asker.home.communities))
        person, servers = asker.person_id, [each for each in among if each.platform == PLATFORM]
        failures: list[PostingFailed] = []

        async def is_member(server: WorkspaceRef) -> bool:
            try:
                async with asyncio.timeout(LONGEST_LOOK):
                    return await self._is_member(server.workspace, person)
            except TimeoutError:
                failures.append(Unreachable("it takes too long to say who is a member"))
            except PostingFailed as failure:
                failures.append(failure)
            return False

        found = await asyncio.gather(*map(is_member, servers))
        for failure in failures:
            if isinstance(failure, ShutOut):
                raise failure  # the question waits
            if isinstance(failure, RateLimited) and failure.wait:
                raise PeopleUnavailable(UNKNOWN_PEOPLE, wait=failure.wait) from failure
        theirs = frozenset(compress(servers, found))
        return Readership(communities=theirs, is_unsure=bool(failures))

    async def _is_member(self, guild_id: str, person_id: str) -> bool:
        """Return whether somebody is in a server, as the bot can see. Raises `PostingFailed`."""
        key = f"{guild_id} {person_id}"
        if self._members.get(key) or self._strangers.get(key):
            return self._members.get(key) is not None
        is_member = await self._look_up(guild_id, person_id)
        (self._members if is_member else self._strangers).put(key, True)
        return is_member

    async def _look_up(self, guild_id: str, person_id: str) -> bool:
        """Ask Discord; whoever has not accepted the rules of a server yet is no member. Raises `PostingFailed`."""
        client = self.answering or self.listening
        if client is None:
            raise Unreachable("nobody is logged in yet")
        if not (guild_id.isdecimal() and person_id.isdecimal()):
            return False
        ask = partial(client.http.get_member, int(guild_id), int(person_id))
        try:
            found = await self._retries.call(lambda: translated(ask()))
        except Rejected:  # there is no such member, or the bot does not see the server
            return False
        return found.get("pending") is not True
