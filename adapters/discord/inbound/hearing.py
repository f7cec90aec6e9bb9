"""What becomes of one event: whether it is for the bot, and with what it is put into the inbox."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from adapters.chat.owed import Owed
from adapters.chat.persevering import BRIEFLY, Perseverance
from adapters.chat.wait_notice import WaitNotices
from adapters.discord.inbound.catch_up import LATEST
from adapters.discord.inbound.context import Context
from adapters.discord.inbound.event import Json, Self, parse
from adapters.discord.inbound.remarks import Remarks, below
from adapters.discord.inbound.scene import Scene, guild_of, scene_of
from core.errors import InvalidInput, StoreUnavailable
from core.model import Asked, Edited, Inbound, InboundKind, MessageRef, ReplyAddress, Setting, Signal
from core.routing import Action, Decision, Reason, Standing, route, signal
from core.sentences import CANNOT_TAKE

if TYPE_CHECKING:
    from discord import AutoShardedClient

    from adapters.chat.chores import Chores
    from adapters.discord.inbound.ports import Ports


@dataclass(frozen=True, slots=True)
class Heard:
    """An event that is for the bot: as it came, as it was read and decided, and where it happened."""

    data: Json
    inbound: Inbound
    standing: Standing
    decision: Decision
    scene: Scene
    context: Context


class Hearing:
    """Hears events; whoever calls sees to their order."""

    def __init__(self, client: AutoShardedClient, ports: Ports, chores: Chores) -> None:
        self._client = client
        self._ports = ports
        self._chores = chores
        self._remarks = Remarks(client, ports, chores)
        self._notices = WaitNotices(ports.waits, chores) if ports.waits else None
        self._owed = Owed(chores)

    async def hear(self, event: Json, *, quietly: bool = False) -> None:
        """Put what an event means for the bot into the inbox.

        *Quietly* says nothing to anybody about it, and raises `StoreUnavailable` where a question cannot be put.
        """
        scene = await scene_of(self._client, event["d"])
        heard = await self._decided(event, scene) if scene is not None else None
        if heard is None:
            return
        if heard.inbound.kind is InboundKind.WRITTEN:
            await self._take_question(heard, tells=not quietly)
        else:
            await self._take_change(heard, tells=not quietly)

    async def _take_question(self, heard: Heard, *, tells: bool) -> None:
        """Put a question, where it may be answered; who asks is told why it is not."""
        inbound, scene = heard.inbound, heard.scene
        if tells:
            self._remarks.need(scene)
        if not scene.rights.answers:
            if tells:
                self._remarks.warn(inbound, scene)
            return
        signals = await self._signals(heard, tells=tells)
        try:
            taken = [await self._ports.inbox.put(each) for each in signals]
        except StoreUnavailable:
            if not tells:
                raise
            self._chores.begin(partial(self._put_late, heard, signals))
        else:
            if tells and any(taken):
                self._tell_of_wait(signals, scene)

    def _tell_of_wait(self, signals: Sequence[Signal], scene: Scene) -> None:
        """Say below a question how long it takes, if many wait; no thread is opened for that."""
        for each in signals:
            if isinstance(each, Asked) and self._notices is not None:
                at = each.message.thread.model_copy(update={"thread": scene.place.id})
                poster = below(self._client, scene.place.id, each.message)
                self._notices.give(each.question, at, poster, place=scene.place.id)

    async def _put_late(self, heard: Heard, signals: Sequence[Signal]) -> None:
        """Go on with what may have been put although no answer came, so that nobody is told wrongly that it was not."""
        try:
            await Perseverance(self._ports.sleep, BRIEFLY).done(partial(self._put, signals))
        except StoreUnavailable:
            self._remarks.fail(heard.inbound, heard.scene, CANNOT_TAKE)

    async def _take_change(self, heard: Heard, *, tells: bool) -> None:
        """Put what somebody did to a question, now or when the store is back."""
        tells = tells and heard.inbound.kind is InboundKind.EDITED and self._is_young(heard.inbound)
        signals = await self._signals(heard, tells=tells)
        if signals:
            await self._owed.do(partial(self._put, signals))

    async def _put(self, signals: Sequence[Signal]) -> None:
        for each in signals:
            await self._ports.inbox.put(each)

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
        return Heard(data, inbound, standing, decision, scene, context) if decision.is_for_us else None

    async def _signals(self, heard: Heard, *, tells: bool) -> Sequence[Signal]:
        """Make the signals, with what a question refers to; who asks nothing is told so, and an earlier answer stays.

        An edit may be the first that is said to the bot, with a mention that was forgotten, so it is asked as well: an
        inbox that knows the question takes the edit alone.
        """
        try:
            found = await self._signal(heard)
        except InvalidInput as refused:
            if tells:
                self._remarks.say(heard.inbound, heard.scene, str(refused))
            return ()
        if not isinstance(found, Edited) or not self._is_young(heard.inbound) or not heard.scene.rights.answers:
            return (found,) if found else ()
        written = heard.inbound.model_copy(update={"kind": InboundKind.WRITTEN})
        address = self._address(heard, route(written, heard.standing))
        return (Asked(question=found.question, address=address), found) if address else (found,)

    async def _signal(self, heard: Heard) -> Signal | None:
        """Make the signal for an event."""
        inbound, decision = heard.inbound, heard.decision
        if decision.action is Action.WITHDRAW:
            return signal(inbound, decision)
        before, quoted = await heard.context.read(heard.data, recalls=decision.reads_thread)
        asked = inbound.model_copy(update={"quoted": quoted})
        found = signal(asked, decision, before=before, terms=self._ports.terms)
        if not isinstance(found, Asked):
            return found
        return found.model_copy(update={"address": self._address(heard, decision)})

    def _address(self, heard: Heard, decision: Decision) -> ReplyAddress | None:
        """Say where a question is answered; None for what is none."""
        inbound = heard.inbound
        if decision.action is Action.OPEN_THREAD:
            return ReplyAddress(thread=inbound.thread, message=inbound.message)
        if decision.action is not Action.ANSWER_HERE:
            return None
        if inbound.setting is not Setting.CHANNEL:
            return ReplyAddress(thread=inbound.thread)
        channel = inbound.thread.model_copy(update={"thread": heard.scene.place.id})
        return ReplyAddress(thread=channel, message=inbound.message)  # in the channel itself, as a reply

    async def _standing(self, inbound: Inbound, scene: Scene, context: Context) -> Standing:
        """Say what the bot knows and may do here; stores are asked only where that matters."""
        is_ours = scene.is_thread_of(context.me.user_id) or await self._answered_post(inbound, scene)
        standing = Standing(
            me=context.me.user_id,
            threads_we_own={scene.place.id} if is_ours else (),
            reads_all=self._reads_all,
            opens_threads=scene.place.has_threads and scene.rights.opens_threads,
        )
        decision = route(inbound, standing)
        if decision.reason is Reason.FOLLOW_UP:
            standing = replace(standing, askers=await self._askers(inbound))
        elif decision.reason is Reason.NOT_ADDRESSED and scene.is_post_of(inbound.message.id):
            standing = replace(standing, answers_unasked=await self._answers_posts(inbound))
        if inbound.kind is InboundKind.EDITED and not route(inbound, standing).is_for_us:
            standing = replace(standing, is_asked=await self._was_asked(inbound))
        return standing

    async def _askers(self, inbound: Inbound) -> Collection[str] | None:
        try:
            return await self._ports.askers(inbound.thread) if self._ports.askers else None
        except StoreUnavailable:
            return None

    async def _was_asked(self, inbound: Inbound) -> bool:
        """Say whether a message was a question before it was edited, as its words are nobody's business otherwise."""
        return self._reads_all and self._is_young(inbound) and await self._knows(inbound.message)

    async def _answered_post(self, inbound: Inbound, scene: Scene) -> bool:
        """Say whether somebody writes on in a post of theirs that was answered unasked, or is about to be."""
        if not scene.is_post_by(inbound.author_id) or scene.is_post_of(inbound.message.id):
            return False
        first = inbound.message.model_copy(update={"id": scene.place.id})
        return await self._answers_posts(inbound) and await self._knows(first)

    async def _knows(self, message: MessageRef) -> bool:
        try:
            return await self._ports.inbox.knows(message)
        except StoreUnavailable:
            return False

    async def _answers_posts(self, inbound: Inbound) -> bool:
        """Say whether moderators want new posts answered here, which takes the right to read them."""
        if self._ports.policies is None or not self._reads_all:
            return False
        try:
            policy = await self._ports.policies.load(inbound.thread.home)
        except StoreUnavailable:
            return False
        channel = inbound.thread.channel
        return channel in policy.auto_answer and policy.answers_in(channel)

    def _is_young(self, inbound: Inbound) -> bool:
        """Say whether somebody may still wait for an answer to a message."""
        return inbound.at is not None and self._ports.now() - inbound.at < LATEST

    @property
    def _reads_all(self) -> bool:
        return self._client.intents.message_content

    def _me(self, data: Json) -> Self:
        guild, user = guild_of(self._client, data), self._client.user
        role = guild.self_role if guild else None
        return Self(str(user.id) if user else "", frozenset({str(role.id)} if role else ()))
