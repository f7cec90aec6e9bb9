"""What a community decides, in Redis: what its moderators set and order, how readers vote, and how much is asked.

`scripts/community.lua` says how it is stored. It holds no text that anybody wrote, so it is not encrypted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias, TypeVar
from urllib.parse import quote

from pydantic import ValidationError

from adapters.redis.connection import ScriptRunner, names, translated
from core.errors import Misconfigured
from core.model import (
    Applied,
    AuditEntry,
    ModerationOrder,
    OrderKind,
    Person,
    Policy,
    PolicyFault,
    Question,
    Tally,
    Value,
    Vote,
    WorkspaceRef,
)

if TYPE_CHECKING:
    from redis.asyncio import Redis

POLICIES = "footnote:policy:"
# The keys, and the beginnings of keys; what is in braces stays together on one node of a cluster.
POLICY, AUDIT, VOTES = "footnote:policy:{{{}}}", "footnote:audit:{{{}}}:", "footnote:votes:{{{}}}:"
KEPT_ENTRIES = 1_000
KEPT = timedelta(days=90)
MILLISECOND = timedelta(milliseconds=1)

CHANNEL_FIELDS: Mapping[OrderKind, tuple[str, str]] = {
    OrderKind.PAUSE_CHANNEL: ("silent:", "1"),
    OrderKind.RESUME_CHANNEL: ("silent:", ""),
    OrderKind.AUTO_ANSWER_ON: ("auto:", "1"),
    OrderKind.AUTO_ANSWER_OFF: ("auto:", ""),
}
"""What an order changes of a channel: how its field begins, and the new value, of which none removes it."""

Kind = TypeVar("Kind", bound=Value)
Limit: TypeAlias = tuple[int, float]
"""So many questions in so many seconds."""


class Pause(Value):
    """Who paused the bot, and when."""

    by: Person
    at: datetime | None = None


class RedisPolicies:
    """Keeps policies, and the log beside them. They hold no text that anybody wrote, so they are not encrypted."""

    def __init__(self, client: Redis, *, most: int = KEPT_ENTRIES) -> None:
        self._client = client
        self._most = most
        self._run = ScriptRunner(client, "community")

    async def load(self, home: WorkspaceRef) -> Policy:
        """Return the policy of a workspace."""
        return (await self._moderate(home)).before

    async def apply(self, home: WorkspaceRef, order: ModerationOrder, *, by: Person, at: datetime) -> Applied:
        """Change the policy and note the order, in one step, without anybody's name."""
        by = Person(id=by.id)
        entry = AuditEntry(by=by, did=order.kind, about=order.about, at=at)
        field, value = CHANNEL_FIELDS.get(order.kind, ("", ""))  # one to forget is only noted
        if field:
            field += order.about
        elif order.kind in (OrderKind.PAUSE, OrderKind.RESUME):
            field = "paused"
            value = Pause(by=by, at=at).model_dump_json() if order.kind is OrderKind.PAUSE else ""
        replaces = order.kind is OrderKind.RESUME
        return await self._moderate(home, field, value, entry.model_dump_json(), replaces=replaces)

    async def recent(self, home: WorkspaceRef, *, limit: int, skip: int = 0) -> Sequence[AuditEntry]:
        """Return the newest entries without names, which older versions kept; one that cannot be read is left out."""
        if limit < 1:
            return ()
        entries = await self._run("recent_entries", POLICY.format(home), AUDIT.format(home), skip=skip, limit=limit)
        read = [entry for text in entries if (entry := _parsed(AuditEntry, text))]
        return tuple(entry.model_copy(update={"by": Person(id=entry.by.id)}) for entry in read)

    async def remove(self, home: WorkspaceRef) -> None:
        """Remove the policy, whatever it is."""
        with translated():
            await self._client.delete(POLICY.format(home))

    async def workspaces(self, platform: str) -> Sequence[WorkspaceRef]:
        """Look for them in the name of every key, whatever that is of."""
        found = [re.findall(rf"[:{{]{platform}:([^:{{}}]+)", name) for name in await names(self._client, "footnote:")]
        return [WorkspaceRef.parse(f"{platform}:{each}") for each in dict.fromkeys(chain.from_iterable(found))]

    async def closed(self) -> Sequence[WorkspaceRef]:
        """Look at the name of every key, and read the policies among them."""
        homes = [WorkspaceRef.parse(name.removeprefix(POLICIES)[1:-1]) for name in await names(self._client, POLICIES)]
        return [home for home in homes if (await self.load(home)).fault is not None]

    async def _moderate(
        self, home: WorkspaceRef, field: str = "", value: str = "", entry: str = "", *, replaces: bool = False
    ) -> Applied:
        """Read the policy and, unless *entry* is empty, carry out an order; some *replace* a policy that is closed."""
        fault, is_new, *flat = await self._run(
            "moderate",
            POLICY.format(home),
            AUDIT.format(home),
            field=field,
            value=value,
            entry=entry,
            replaces=replaces,
            most=self._most,
            life=KEPT // MILLISECOND,
        )
        fields = {str(name, "utf-8", "replace"): each for name, each in zip(flat[::2], flat[1::2], strict=True)}
        pause = None
        if "paused" in fields:  # a pause is one, whoever may have ordered it
            pause = _parsed(Pause, fields["paused"]) or Pause(by=Person(id=""))
        before = Policy(
            paused_by=pause and Person(id=pause.by.id),  # older versions kept the name as well
            paused_at=pause and pause.at,
            auto_answer=frozenset(name.removeprefix("auto:") for name in fields if name.startswith("auto:")),
            silent_channels=frozenset(name.removeprefix("silent:") for name in fields if name.startswith("silent:")),
            fault=PolicyFault(str(fault, "ascii")) if fault else None,
        )
        return Applied(is_new=bool(is_new), before=before)


class RedisVotes:
    """Keeps votes, each change as one script; each vote expires by itself."""

    def __init__(self, client: Redis, *, kept: timedelta = KEPT) -> None:
        self._life = kept // MILLISECOND
        self._run = ScriptRunner(client, "community")

    async def cast(self, home: WorkspaceRef, vote: Vote) -> None:
        """Keep the vote, or replace it."""
        person = quote(vote.person_id, safe="")
        await self._run(
            "cast",
            VOTES.format(home),
            name=f"{quote(vote.answer_id, safe='')} {person}",
            vote=vote.model_dump_json(),
            is_helpful=vote.is_helpful,
            person=person,
            life=self._life,
        )

    async def count(self, home: WorkspaceRef) -> Tally:
        """Count both kinds."""
        helpful, unhelpful = await self._run("count", VOTES.format(home), life=self._life)
        return Tally(helpful=helpful, unhelpful=unhelpful)

    async def forget_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Remove what a person has thought."""
        return await self._run("forget_votes", VOTES.format(home), person=quote(person_id, safe=""))

    async def forget_workspace(self, home: WorkspaceRef) -> int:
        """Remove what everybody has thought."""
        return await self._run("forget_votes", VOTES.format(home), person="")


class RedisQuota:
    """Counts questions by person and by thread, each in a window that slides, by the clock of the server."""

    def __init__(self, client: Redis, *, per_person: Limit, per_thread: Limit) -> None:
        for count, seconds in (per_person, per_thread):
            if count < 1 or seconds <= 0:
                raise Misconfigured("A quota has to allow at least one question, in a time that is longer than zero.")
        limits = per_person, per_thread
        self._windows = json.dumps([(count, max(int(seconds * 1000), 1)) for count, seconds in limits])
        self._run = ScriptRunner(client, "community")

    async def spend(self, question: Question) -> float:
        """Count a question in both windows, or in neither."""
        prefix = f"footnote:quota:{{{question.message.thread.home}}}:"
        person = f"{prefix}person:{quote(question.author.id, safe='')}"
        asked = f"{question.message} {question.revision}"
        windows = person, f"{prefix}thread:{question.message.thread}"
        return await self._run("spend", *windows, asked=asked, windows=self._windows) / 1000


def _parsed(kind: type[Kind], text: bytes) -> Kind | None:
    """Return the value that a text says; None if another version wrote it in another form."""
    with suppress(ValidationError):
        return kind.model_validate_json(text)
    return None
