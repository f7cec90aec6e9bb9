"""What becomes of one event: whether it is for the bot, and with what it is put into the inbox."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adapters.discord.context import Context
from adapters.discord.inbound import Json, Self, parse
from adapters.discord.remarks import Remarks
from adapters.discord.scene import Scene, guild_of, scene_of
from core.crowd import CANNOT_TAKE
from core.errors import InvalidInput, StoreUnavailable
from core.model import Inbound, InboundKind, Setting, Signal
from core.routing import Action, Decision, Reason, Standing, route, signal

if TYPE_CHECKING:
    from discord import AutoShardedClient

    from adapters.discord.chores import Chores
    from adapters.discord.ports import Ports


@dataclass(frozen=True, slots=True)
class Heard:
    """An event that is for the bot: as it came, as it was read and decided, and where it happened."""

    data: Json
    inbound: Inbound
    decision: Decision
    scene: Scene
    context: Context


class Hearing:
    """Hears events; whoever calls sees to their order."""

    def __init__(self, client: AutoShardedClient, ports: Ports, chores: Chores) -> None:
        self._client = client
        self._ports = ports
        self._remarks = Remarks(client, ports, chores)

    async def hear(self, event: Json, *, quietly: bool = False) -> None:
        """Put what an event means for the bot into the inbox; *quietly* says nothing to anybody about it."""
        scene = await scene_of(self._client, event["d"])
        heard = await self._decided(event, scene) if scene is not None else None
        if heard is None:
            return
        tells = heard.inbound.kind is InboundKind.WRITTEN and not quietly
        if tells:
            self._remarks.need(heard.scene)
        if heard.inbound.kind is not InboundKind.WRITTEN or heard.scene.rights.answers:
            await self._take(heard, tells=tells)
        elif tells:
            self._remarks.warn(heard.inbound, heard.scene)

    async def _take(self, heard: Heard, *, tells: bool) -> None:
        """Put the signal; who asks is told why there is none, who changed or deleted something is not."""
        inbound, scene = heard.inbound, heard.scene
        try:
            found = await self._signal(heard)
            is_taken = found is not None and await self._ports.inbox.put(found)
        except InvalidInput as refused:
            if tells:
                self._remarks.say(inbound, scene, str(refused))
        except StoreUnavailable:
            if tells:
                self._remarks.fail(inbound, scene, CANNOT_TAKE)
        else:
            if tells and is_taken:
                self._remarks.count(inbound, scene)

    async def _decided(self, event: Json, scene: Scene) -> Heard | None:
        """Read an event and decide; only what seems to be for the bot is looked up further."""
        data, context = event["d"], Context(self._client.http, self._me(event["d"]), scene.place)
        inbound = parse(event, me=context.me, place=scene.place)
        if inbound is None:
            return None
        standing = await self._standing(inbound, scene, context)
        if route(inbound, standing).is_for_us:
            data = await context.completed(data)
            inbound = parse({**event, "d": data}, me=context.me, place=scene.place) or inbound
        decision = route(inbound, standing)
        return Heard(data, inbound, decision, scene, context) if decision.is_for_us else None

    async def _signal(self, heard: Heard) -> Signal | None:
        """Make the signal, with what the question refers to."""
        inbound, decision, context = heard.inbound, heard.decision, heard.context
        if decision.action is Action.WITHDRAW:
            return signal(inbound, decision)
        asked = inbound.model_copy(update={"quoted": await context.chain(heard.data)})
        before = await context.recalled(heard.data) if decision.reads_thread else ()
        found = signal(asked, decision, before=before, terms=self._ports.terms)
        if found is None or found.kind != "asked" or found.address is None or decision.action is Action.OPEN_THREAD:
            return found
        where = {"message": None}
        if inbound.setting is Setting.CHANNEL:  # in the channel itself, as a reply
            channel = inbound.thread.model_copy(update={"thread": heard.scene.place.id})
            where = {"thread": channel, "message": inbound.message}
        return found.model_copy(update={"address": found.address.model_copy(update=where)})

    async def _standing(self, inbound: Inbound, scene: Scene, context: Context) -> Standing:
        """Say what the bot knows and may do here; stores are asked only where that matters."""
        standing = Standing(
            me=context.me.user_id,
            threads_we_own={scene.place.id} if scene.is_thread_of(context.me.user_id) else (),
            reads_all=self._client.intents.message_content,
            opens_threads=scene.place.has_threads and scene.rights.opens_threads,
        )
        decision = route(inbound, standing)
        if decision.reason is Reason.FOLLOW_UP:
            return replace(standing, askers=await self._askers(inbound))
        if decision.reason is Reason.NOT_ADDRESSED and scene.is_post_of(inbound.message.id):
            return replace(standing, answers_unasked=await self._answers_posts(inbound))
        return standing

    async def _askers(self, inbound: Inbound) -> Collection[str] | None:
        try:
            return await self._ports.askers(inbound.thread) if self._ports.askers else None
        except StoreUnavailable:
            return None

    async def _answers_posts(self, inbound: Inbound) -> bool:
        """Say whether moderators want new posts answered here, which takes the right to read them."""
        if self._ports.policies is None or not self._client.intents.message_content:
            return False
        try:
            policy = await self._ports.policies.load(inbound.thread.home)
        except StoreUnavailable:
            return False
        return inbound.thread.channel in policy.auto_answer and not policy.is_paused

    def _me(self, data: Json) -> Self:
        guild, user = guild_of(self._client, data), self._client.user
        role = guild.self_role if guild else None
        return Self(str(user.id) if user else "", frozenset({str(role.id)} if role else ()))
