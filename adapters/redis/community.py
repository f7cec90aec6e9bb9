"""What communities decide, in Redis: what their moderators set and order, how readers vote, and which of them may.

`scripts/community.lua` says how it is stored. It holds no text that anybody wrote, so it is not encrypted.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import quote

from pydantic import ValidationError
from redis.exceptions import ResponseError

from adapters.redis.connection import ScriptRunner, names, translated
from core.errors import InvalidInput
from core.model import (
    Applied,
    AuditEntry,
    Budget,
    Communities,
    MessageRef,
    ModerationOrder,
    OrderKind,
    Person,
    Policy,
    PolicyFault,
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
COMMUNITIES = "footnote:communities"
VERSION = b"1"  # of the form of a policy
NOTES = "footnote:memo:"
KEPT_ENTRIES = 1_000
LIFE = timedelta(days=90) // timedelta(milliseconds=1)  # of a vote, and of an entry in the log

BUDGET = "budget:"  # and its name
FIELDS: Mapping[OrderKind, tuple[str, str]] = {
    OrderKind.PAUSE_CHANNEL: ("silent:", "1"),
    OrderKind.RESUME_CHANNEL: ("silent:", ""),
    OrderKind.AUTO_ANSWER_ON: ("auto:", "1"),
    OrderKind.AUTO_ANSWER_OFF: ("auto:", ""),
    OrderKind.OPEN_CHANNEL: ("open:", "1"),
    OrderKind.CLOSE_CHANNEL: ("open:", ""),
    OrderKind.ADD_MODERATORS: ("moderators:", "1"),
    OrderKind.REMOVE_MODERATORS: ("moderators:", ""),
    OrderKind.LIFT_BUDGET: (BUDGET, ""),
}
"""What an order changes of what it is about: how its field begins, and the new value, of which none removes it."""


Kind = TypeVar("Kind", bound=Value)


class Pause(Value):
    """Who paused the bot, and when."""

    by: Person
    at: datetime | None = None


class RedisPolicies:
    """Keeps policies, and the log beside them. They hold no text that anybody wrote, so they are not encrypted."""

    def __init__(self, client: Redis, *, most: int = KEPT_ENTRIES) -> None:
        self._client = client
        self._most = most
        self._seen = set[WorkspaceRef]()  # whose log this process has looked at for names
        self._run = ScriptRunner(client, "community")

    async def load(self, home: WorkspaceRef) -> Policy:
        """Return the policy of a workspace; a script reads what may be damaged, of other versions, or hold names."""
        if home in self._seen:
            with translated(), suppress(ResponseError):  # it may be no hash
                fields = await cast("Awaitable[dict[bytes, bytes]]", self._client.hgetall(POLICY.format(home)))
                pause = _parsed(Pause, fields[b"paused"]) if b"paused" in fields else Pause(by=Person(id=""))
                is_plain = pause is not None and not pause.by.name and b"legacy" not in fields
                if not fields or (is_plain and fields.get(b"version") == VERSION):
                    return _policy(fields)
        return (await self._moderate(home)).before

    async def apply(self, home: WorkspaceRef, order: ModerationOrder, *, by: Person, at: datetime) -> Applied:
        """Change the policy and note the order, in one step, without anybody's name."""
        by = Person(id=by.id)
        entry = AuditEntry(by=by, did=order.kind, about=order.about, at=at)
        field, value = FIELDS.get(order.kind, ("", ""))  # one to forget is only noted
        if order.kind is OrderKind.SET_BUDGET:
            budget = Budget.parse(order.about)
            field, value = f"{BUDGET}{budget.name}", f"{budget.most:.15g}"
        elif field:
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
        if home not in self._seen:
            await self.load(home)
        entries = await self._run("recent_entries", POLICY.format(home), AUDIT.format(home), skip=skip, limit=limit)
        read = [entry for text in entries if (entry := _parsed(AuditEntry, text))]
        return tuple(entry.model_copy(update={"by": Person(id=entry.by.id)}) for entry in read)

    async def remove(self, home: WorkspaceRef) -> None:
        """Remove the policy, whatever it is."""
        with translated():
            await self._client.delete(POLICY.format(home))

    async def workspaces(self, platform: str) -> Sequence[WorkspaceRef]:
        """Look for them in the name of every key, whatever that is of."""
        return _homes(platform, await names(self._client, "footnote:"))

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
            life=LIFE,
            is_first=home not in self._seen,
        )
        self._seen.add(home)
        return Applied(is_new=bool(is_new), before=_policy(dict(zip(flat[::2], flat[1::2], strict=True)), fault))


class RedisCommunities:
    """Keeps which communities may use the bot, each change as one script; those that the settings name are not kept.

    A store that was emptied gets back what this process has read of it last, so that nobody is refused for that.
    """

    def __init__(self, client: Redis, *, named: Sequence[WorkspaceRef] = ()) -> None:
        self._client = client
        self._last: Sequence[bytes] = ()  # fields and values
        self._named = tuple(dict.fromkeys(named))
        self._run = ScriptRunner(client, "community")

    async def load(self) -> Communities:
        """Return what is kept, after those that are named."""
        with translated():
            kept = await cast("Awaitable[dict[bytes, bytes]]", self._client.hgetall(COMMUNITIES))
        flat: Sequence[bytes] = tuple(chain.from_iterable(kept.items()))
        if _has_lost(flat, self._last):
            lines = "\n".join(str(each, "utf-8", "replace") for each in self._last)
            flat = await self._run("restore_communities", COMMUNITIES, lines=lines)
        self._last = flat
        return self._read(flat)

    async def settle(self, platform: str, joined: Sequence[WorkspaceRef], *, is_own: bool = False) -> Communities:
        """Decide for a platform; only where that matters, it is looked at every key whether anything was answered."""
        answered: Sequence[WorkspaceRef] = ()
        known = await self.load()
        if joined and not is_own and not self._named and platform not in known.settled:
            stored = [name for name in await names(self._client, "footnote:") if not name.startswith(NOTES)]
            spoken = set(chain.from_iterable(home.communities for home in _homes(platform, stored)))
            answered = [each for each in joined if each in spoken]
        given = {"platform": platform, "joined": _line(joined), "answered": _line(answered), "is_own": is_own}
        self._last = await self._run("settle_communities", COMMUNITIES, named=_line(self._named), **given)
        return self._read(self._last)

    async def allow(self, community: WorkspaceRef, *, is_first: bool = False) -> bool:
        """Note that the operator allows it, also where it was allowed without an order."""
        given = {"community": str(community), "named": _line(self._named), "is_first": is_first}
        before = self._read(await self._run("allow_community", COMMUNITIES, **given))
        return community not in before.allowed

    async def remove(self, community: WorkspaceRef) -> bool:
        """Take it out, and forget that anybody asked there."""
        before = self._read(await self._run("remove_community", COMMUNITIES, community=str(community)))
        return community in before.allowed and community not in (*before.named, *before.own)

    async def wait(self, community: WorkspaceRef, message: MessageRef) -> bool:
        """Keep the first message."""
        return bool(await self._run("await_community", COMMUNITIES, community=str(community), message=str(message)))

    def _read(self, flat: Sequence[bytes]) -> Communities:
        """Return what fields and values say; what is of another version, or damaged, says nothing."""
        numbers: dict[str, dict[WorkspaceRef, int]] = {"allowed": {}, "found": {}, "own": {}, "waiting": {}}
        settled, first = set[str](), None
        for name, value in zip(flat[::2], flat[1::2], strict=True):
            kind, _, rest = str(name, "utf-8", "replace").partition(":")
            with suppress(InvalidInput, ValueError):
                if kind == "first":
                    first = WorkspaceRef.parse(str(value, "utf-8", "replace"))
                elif kind == "settled":
                    settled.add(rest)
                elif kind in numbers:
                    numbers[kind][WorkspaceRef.parse(rest)] = 0 if kind == "waiting" else int(value)
        kept = numbers["allowed"] | numbers["own"] | ({} if self._named else numbers["found"])
        allowed = tuple(dict.fromkeys((*self._named, *sorted(kept, key=kept.__getitem__))))
        return Communities(
            allowed=allowed,
            first=first or next(iter(allowed), None),
            named=self._named,
            own=tuple(numbers["own"]),
            waiting=tuple(sorted(numbers["waiting"].keys() - set(allowed), key=str)),
            settled=frozenset(settled),
        )


class RedisVotes:
    """Keeps votes, each change as one script; each vote expires by itself."""

    def __init__(self, client: Redis) -> None:
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
            life=LIFE,
        )

    async def count(self, home: WorkspaceRef) -> Tally:
        """Count both kinds."""
        helpful, unhelpful = await self._run("count", VOTES.format(home), life=LIFE)
        return Tally(helpful=helpful, unhelpful=unhelpful)

    async def forget_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Remove what a person has thought."""
        return await self._run("forget_votes", VOTES.format(home), person=quote(person_id, safe=""))

    async def count_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Count what a person has thought."""
        return await self._run("count_of", VOTES.format(home), person=quote(person_id, safe=""), life=LIFE)

    async def forget_workspace(self, home: WorkspaceRef) -> int:
        """Remove what everybody has thought."""
        return await self._run("forget_votes", VOTES.format(home), person="")


def _homes(platform: str, keys: Sequence[str]) -> Sequence[WorkspaceRef]:
    """Return those that are in the names of keys, each once."""
    found = [re.findall(rf"[:{{]{platform}:([^:{{}}]+)", name) for name in keys]
    return [WorkspaceRef.parse(f"{platform}:{each}") for each in dict.fromkeys(chain.from_iterable(found))]


def _policy(stored: Mapping[bytes, bytes], fault: bytes = b"") -> Policy:
    """Return what the fields of a policy say."""
    fields, pause = {str(name, "utf-8", "replace"): each for name, each in stored.items()}, None
    if "paused" in fields:  # a pause is one, whoever may have ordered it
        pause = _parsed(Pause, fields["paused"]) or Pause(by=Person(id=""))

    def named(prefix: str) -> frozenset[str]:
        return frozenset(name.removeprefix(prefix) for name in fields if name.startswith(prefix))

    return Policy(
        paused_by=pause and Person(id=pause.by.id),  # older versions kept the name as well
        paused_at=pause and pause.at,
        auto_answer=named("auto:"),
        silent_channels=named("silent:"),
        open_channels=named("open:"),
        moderators=named("moderators:"),
        budgets=tuple(_budgets(fields)),
        fault=PolicyFault(str(fault, "ascii")) if fault else None,
    )


def _line(communities: Sequence[WorkspaceRef]) -> str:
    return " ".join(map(str, communities))


def _budgets(fields: Mapping[str, bytes]) -> Iterator[Budget]:
    """Yield the budgets that are set, by their names; what another version wrote in another form is none."""
    for name in sorted(name for name in fields if name.startswith(BUDGET)):
        with suppress(InvalidInput, ValueError):
            yield Budget.named(name.removeprefix(BUDGET), float(fields[name]))


def _has_lost(flat: Sequence[bytes], before: Sequence[bytes]) -> bool:
    """Return whether fields and values are not those that followed the ones before: what only grows has become less.

    It has grown where another one is the first, which is so by an order alone.
    """
    now, known = (dict(zip(each[::2], each[1::2], strict=True)) for each in (flat, before))
    is_moved = b"first" in known and now.get(b"first") != known[b"first"]
    return _number(now) < _number(known) + is_moved


def _number(fields: Mapping[bytes, bytes]) -> int:
    """Return how many communities were noted ever."""
    last = fields.get(b"last", b"")
    return int(last) if last.isdigit() else 0


def _parsed(kind: type[Kind], text: bytes) -> Kind | None:
    """Return the value that a text says; None if another version wrote it in another form."""
    with suppress(ValidationError):
        return kind.model_validate_json(text)
    return None
