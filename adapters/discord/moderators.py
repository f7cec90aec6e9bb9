"""Who moderates on Discord: who may manage the server, the roles that they name, and whom the server's settings allow.

A server can say for each command who may use it, and where. Discord shows the command to those alone, and says nothing
of it with buttons and forms, so what is set is read, and applied here as Discord applies it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import discord
from discord import AutoShardedClient

from adapters.chat.services import Recent
from adapters.discord.poster import translated
from adapters.discord.registering import ADMIN
from adapters.retry import QUICK
from core.errors import PostingFailed

if TYPE_CHECKING:
    from core.model import WorkspaceRef
    from core.ports import PolicyStore

Rule: TypeAlias = Mapping[str, object]
"""One line of what is set, with the id of a role, user or channel, its type, and whether it is allowed."""

ROLE, USER, CHANNEL = 1, 2, 3  # types of rules
MOST_KEPT, KEPT = 1_000, 60.0  # servers, and seconds for which what Discord says of them is kept


@dataclass(frozen=True, slots=True)
class CommandRules:
    """What a server has set for the moderators' command, and for all commands of the bot."""

    command: Sequence[Rule] = ()
    app: Sequence[Rule] = ()

    def allow(self, guild_id: int, channel_id: str, user_id: int, roles: Collection[int]) -> bool:
        """Return whether somebody who may not manage the server may use the command in a channel or its threads.

        As in Discord, what is set for the command goes before what is set for all, what names a channel, a person or a
        role before what is for all of them, and of several roles one that is allowed is enough. To be allowed to use
        the app is not enough, since the command's own default asks for the right to manage the server.
        """
        places = ({(CHANNEL, channel_id)}, {(CHANNEL, str(guild_id - 1))})
        people = ({(USER, str(user_id))}, {(ROLE, str(role)) for role in roles}, {(ROLE, str(guild_id))})
        here = _decided(self.command, places)
        here = _decided(self.app, places) if here is None else here
        return here is not False and _decided(self.command, people) is True


def _decided(rules: Sequence[Rule], levels: Sequence[Collection[tuple[object, object]]]) -> bool | None:
    """Return what the first level says of which there are rules; None if none says anything."""
    for level in levels:
        if found := [rule.get("permission") is True for rule in rules if (rule.get("type"), rule.get("id")) in level]:
            return any(found)
    return None


@dataclass(slots=True)
class DiscordModerators:
    """Says who moderates; what Discord has said is kept for a minute, also that it said nothing, or not soon enough."""

    policies: PolicyStore
    clock: InitVar[Callable[[], float]] = time.monotonic
    longest: float = 5.0  # seconds
    _kept: Recent[CommandRules] = field(init=False)

    def __post_init__(self, clock: Callable[[], float]) -> None:
        self._kept = Recent(MOST_KEPT, clock, KEPT)

    async def may_moderate(self, interaction: discord.Interaction[Any], home: WorkspaceRef, channel: str) -> bool:
        """Return whether somebody moderates in a channel of a server without the right to manage it.

        Where Discord does not say what is set, nobody does. Raises `StoreUnavailable`.
        """
        guild_id, person = interaction.guild_id, interaction.user
        if guild_id is None or not isinstance(person, discord.Member):
            return False
        roles = {role.id for role in person.roles} - {guild_id}
        policy = await self.policies.load(home)
        if policy.fault is None and policy.moderators & {str(role) for role in roles}:
            return True
        rules = await self._rules(interaction.client, guild_id)
        return rules.allow(guild_id, channel, person.id, roles)

    async def _rules(self, client: AutoShardedClient, guild_id: int) -> CommandRules:
        if known := self._kept.get(str(guild_id)):
            return known
        rules = CommandRules()
        with suppress(PostingFailed, TimeoutError):
            async with asyncio.timeout(self.longest):
                rules = await QUICK.call(lambda: _read(client, guild_id))
        return self._kept.put(str(guild_id), rules)


async def _read(client: AutoShardedClient, guild_id: int) -> CommandRules:
    """Ask Discord. Raises `PostingFailed`; what it says in another shape counts as nothing."""
    app_id = client.application_id or 0
    said = _listed(await translated(client.http.get_guild_application_command_permissions(app_id, guild_id)))
    if not said:
        return CommandRules()  # as nearly everywhere, and of nothing the command's id need not be known
    known = _listed(await translated(client.http.get_global_commands(app_id)))
    commands = {str(each.get("id")) for each in known if each.get("name") == ADMIN}
    rules = {str(each.get("id")): _listed(each.get("permissions")) for each in said}
    own = [rule for command in commands for rule in rules.get(command, ())]
    return CommandRules(own, rules.get(str(app_id), ()))


def _listed(said: object) -> Sequence[Rule]:
    found = cast("list[object]", said) if isinstance(said, list) else []
    return [cast("Rule", each) for each in found if isinstance(each, dict)]
