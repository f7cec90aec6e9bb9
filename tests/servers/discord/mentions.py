"""Whom a text notifies: the mentions in it, and which of them are allowed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.servers.discord.guilds import Guild
from tests.servers.discord.refusals import Refusal, invalid_form

USER = re.compile(r"<@!?(\d+)>")
ROLE = re.compile(r"<@&(\d+)>")
EVERYONE = re.compile(r"@(?:everyone|here)\b")
KINDS = frozenset({"users", "roles", "everyone"})


@dataclass(frozen=True, slots=True)
class Pings:
    """Who is notified."""

    users: frozenset[int] = frozenset()
    roles: frozenset[int] = frozenset()
    everyone: bool = False

    def __bool__(self) -> bool:
        return bool(self.users or self.roles or self.everyone)


@dataclass(frozen=True, slots=True)
class Allowance:
    """Which mentions count; a set names them, None means all."""

    users: frozenset[int] | None
    roles: frozenset[int] | None
    everyone: bool
    replied_user: bool


DEFAULT = Allowance(users=None, roles=None, everyone=True, replied_user=True)
OF_WEBHOOKS = Allowance(users=None, roles=frozenset(), everyone=False, replied_user=True)


def allowance_of(given: Mapping[str, Any] | None, default: Allowance = DEFAULT) -> Allowance:
    """Read `allowed_mentions`; where it is missing the *default* holds. Raises `Refusal`."""
    if given is None:
        return default
    parse = set(given.get("parse", ()))
    unknown = parse - KINDS
    if unknown:
        raise _invalid(f"Value must be one of {sorted(KINDS)}.")
    for kind in ("users", "roles"):
        if kind in parse and given.get(kind):
            raise _invalid(f"parse:[{kind!r}] and {kind}: [ids...] are mutually exclusive.")
    return Allowance(
        users=None if "users" in parse else frozenset(map(int, given.get("users", ()))),
        roles=None if "roles" in parse else frozenset(map(int, given.get("roles", ()))),
        everyone="everyone" in parse,
        replied_user=bool(given.get("replied_user", False)),
    )


def pings_of(text: str, allowance: Allowance, guild: Guild | None, *, may_ping_all: bool, replied: int | None) -> Pings:
    """Give who is notified by *text*, which answers a message by *replied*."""
    mentioned = frozenset(map(int, USER.findall(text)))
    users = mentioned if allowance.users is None else mentioned & allowance.users
    if replied is not None and allowance.replied_user:
        users |= {replied}
    roles = frozenset(map(int, ROLE.findall(text)))
    known = {role.id for role in guild.roles.values() if role.mentionable or may_ping_all} if guild else set[int]()
    roles &= known if allowance.roles is None else known & allowance.roles
    everyone = may_ping_all and allowance.everyone and EVERYONE.search(text) is not None
    return Pings(users, roles, everyone)


def _invalid(words: str) -> Refusal:
    return invalid_form("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", words)
