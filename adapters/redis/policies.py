"""What moderators have set and ordered, in Redis. Settings stay until they change; notes of orders expire."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from pydantic import ValidationError

from adapters.redis.connection import translated
from adapters.redis.script import Key, script
from core.model import (
    Applied,
    AuditEntry,
    ModerationOrder,
    OrderKind,
    Person,
    Policy,
    PolicyFault,
    Value,
    WorkspaceRef,
)

if TYPE_CHECKING:
    from redis.asyncio import Redis

PREFIX = "footnote:policy:"
KEPT_ENTRIES = 1_000
KEPT = timedelta(days=90)

Field: TypeAlias = tuple[str, str]
"""A field of the stored policy with its new value; none removes it."""

Kind = TypeVar("Kind", bound=Value)


class Pause(Value):
    """Who paused the bot, and when."""

    by: Person
    at: datetime | None = None


@script
async def moderate(  # noqa: PLR0913 - each is a word of the script
    client: Redis,
    *,
    policy: Key,
    audit: Key,
    field: str,
    value: str,
    entry: str,
    replaces: bool,
    most: int,
    life: int,
) -> list[bytes]:
    """Read the policy and, unless *entry* is empty, carry out an order; some *replace* a policy that is closed."""
    ...  # noqa: PIE790 - the file is the body


@script
async def recent_entries(client: Redis, *, audit: Key, skip: int, limit: int) -> list[bytes]:
    """Return entries of the log, newest first."""
    ...  # noqa: PIE790 - the file is the body


class RedisPolicies:
    """Keeps policies, and the log beside them. They hold no text that anybody wrote, so they are not encrypted."""

    def __init__(self, client: Redis, *, most: int = KEPT_ENTRIES) -> None:
        self._client = client
        self._most = most

    async def load(self, home: WorkspaceRef) -> Policy:
        """Return the policy of a workspace."""
        return (await self._moderate(home)).before

    async def apply(self, home: WorkspaceRef, order: ModerationOrder, *, by: Person, at: datetime) -> Applied:
        """Change the policy and note the order, in one step."""
        entry = AuditEntry(by=by, did=order.kind, about=order.about, at=at)
        field, value = _field(order, Pause(by=by, at=at))
        return await self._moderate(
            home, field, value, entry=entry.model_dump_json(), replaces=order.kind is OrderKind.RESUME
        )

    async def recent(self, home: WorkspaceRef, *, limit: int, skip: int = 0) -> Sequence[AuditEntry]:
        """Return the newest entries; one that cannot be read is left out."""
        if limit < 1:
            return ()
        entries = await recent_entries(self._client, audit=_audit(home), skip=skip, limit=limit)
        return tuple(entry for text in entries if (entry := _read(AuditEntry, text)))

    async def remove(self, home: WorkspaceRef) -> None:
        """Remove the policy, whatever it is."""
        with translated():
            await self._client.delete(_policy(home))

    async def closed(self) -> Sequence[WorkspaceRef]:
        """Look at the name of every key, and read the policies among them."""
        with translated():
            found = cast("AsyncIterator[bytes]", self._client.scan_iter(match=f"{PREFIX}*", count=1_000))  # pyright: ignore[reportUnknownMemberType] - it takes untyped options
            names = [str(name, "utf-8") async for name in found]
        homes = [WorkspaceRef.parse(name.removeprefix(PREFIX)[1:-1]) for name in sorted(set(names))]
        return [home for home in homes if (await self.load(home)).is_closed]

    async def _moderate(
        self, home: WorkspaceRef, field: str = "", value: str = "", *, entry: str = "", replaces: bool = False
    ) -> Applied:
        fault, is_new, *flat = await moderate(
            self._client,
            policy=_policy(home),
            audit=_audit(home),
            field=field,
            value=value,
            entry=entry,
            replaces=replaces,
            most=self._most,
            life=KEPT // timedelta(milliseconds=1),
        )
        fields = {str(name, "utf-8", "replace"): each for name, each in zip(flat[::2], flat[1::2], strict=True)}
        return Applied(is_new=bool(is_new), before=_policy_of(fields, str(fault, "ascii")))


def _field(order: ModerationOrder, pause: Pause) -> Field:
    """Return what an order changes; nothing where it is only noted."""
    match order.kind:
        case OrderKind.PAUSE:
            return "paused", pause.model_dump_json()
        case OrderKind.RESUME:
            return "paused", ""
        case OrderKind.PAUSE_CHANNEL | OrderKind.RESUME_CHANNEL:
            return f"silent:{order.about}", "1" if order.kind is OrderKind.PAUSE_CHANNEL else ""
        case OrderKind.AUTO_ANSWER_ON | OrderKind.AUTO_ANSWER_OFF:
            return f"auto:{order.about}", "1" if order.kind is OrderKind.AUTO_ANSWER_ON else ""
        case _:
            return "", ""


def _policy_of(fields: dict[str, bytes], fault: str) -> Policy:
    """Read the fields that are known; a pause is one, whoever may have ordered it."""
    pause = (_read(Pause, fields["paused"]) or Pause(by=Person(id=""))) if "paused" in fields else None
    return Policy(
        paused_by=pause and pause.by,
        paused_at=pause and pause.at,
        auto_answer=_channels(fields, "auto:"),
        silent_channels=_channels(fields, "silent:"),
        fault=PolicyFault(fault) if fault else None,
    )


def _channels(fields: dict[str, bytes], kind: str) -> frozenset[str]:
    return frozenset(name.removeprefix(kind) for name in fields if name.startswith(kind))


def _read(kind: type[Kind], text: bytes) -> Kind | None:
    try:
        return kind.model_validate_json(text)
    except ValidationError:
        return None


def _policy(home: WorkspaceRef) -> Key:
    return Key(f"{PREFIX}{{{home}}}")


def _audit(home: WorkspaceRef) -> Key:
    return Key(f"footnote:audit:{{{home}}}:")
