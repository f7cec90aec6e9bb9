"""What becomes of a message that was written, changed or deleted: whether it is for the bot, and what is put."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from adapters.chat.owed import Owed
from adapters.chat.persevering import BRIEFLY, Perseverance
from adapters.chat.wait_notice import WaitNotices
from adapters.slack.inbound.context import said_before
from adapters.slack.inbound.event import Json, Self, parse, speaks_for
from adapters.slack.inbound.remarks import Remarks, below
from core.errors import InvalidInput, StoreUnavailable
from core.model import Asked, Edited, Inbound, InboundKind, MessageRef, ReplyAddress, Setting, Signal
from core.routing import Action, Decision, Reason, Standing, route, signal
from core.sentences import CANNOT_TAKE

if TYPE_CHECKING:
    from adapters.chat.chores import Chores
    from adapters.slack.client.workspaces import Workspace
    from adapters.slack.inbound.ports import Ports

LATEST = timedelta(minutes=30)  # what is older is nobody's question any more
LONGEST_COMMAND = 40  # characters; no word that stands for a command is nearly as long


@dataclass(frozen=True, slots=True)
class Told:
    """An event as it came: where, and whether Slack will send it again if it is not acknowledged.

    One that is late was not heard when it happened, so nothing is said to anybody beside an answer.
    """

    event: Json
    workspace: Workspace
    comes_again: bool = True
    is_late: bool = False

    @property
    def me(self) -> Self:
        """Who the bot is there."""
        return Self(self.workspace.name, self.workspace.bot_user_id, self.workspace.bot_id)


@dataclass(frozen=True, slots=True)
class Heard:
    """An event that is for the bot, as it was read and decided; `speaks` says whether something may be said of it."""

    told: Told
    inbound: Inbound
    standing: Standing
    decision: Decision
    speaks: bool


class Hearing:
    """Hears messages; whoever calls sees to their order.

    Raises `StoreUnavailable` where an event that comes again could not be dealt with.
    """

    def __init__(self, ports: Ports, chores: Chores) -> None:
        self._ports = ports
        self._chores = chores
        self._remarks = Remarks(ports, chores)
        self._notices = WaitNotices(ports.waits, chores) if ports.waits else None
        self._owed = Owed(chores)

    async def hear(self, told: Told) -> None:
        """Put what an event means for the bot into the inbox."""
        heard = await self._decided(told)
        if heard is None:
            return
        if heard.inbound.kind is not InboundKind.WRITTEN:
            await self._take_change(heard)
        elif not await self._is_command(heard):
            await self._take_question(heard)

    async def _take_question(self, heard: Heard) -> None:
        """Put a question; who asks is told why there will be no answer, once nothing else can be done."""
        inbound = heard.inbound
        if heard.decision.reads_thread and await _certain(self._ports.inbox.knows(inbound.message), heard.told):
            return  # the other event of the mention was here before, and threads may not be read often
        signals = await self._signals(heard)
        try:
            taken = [await self._ports.inbox.put(each) for each in signals]
        except StoreUnavailable:
            if heard.told.comes_again:
                raise
            self._chores.begin(partial(self._put_late, heard, signals))
        else:
            if any(taken) and not heard.told.is_late:
                self._tell_of_wait(signals, heard.told.workspace)

    def _tell_of_wait(self, signals: Sequence[Signal], workspace: Workspace) -> None:
        """Say below a question how long it takes, if many wait."""
        for each in signals:
            if isinstance(each, Asked) and self._notices is not None:
                thread, poster = each.message.thread, below(each.message, workspace)
                self._notices.give(each.question, thread, poster, place=thread.channel)

    async def _put_late(self, heard: Heard, signals: Sequence[Signal]) -> None:
        """Go on with what an event before may have put already, so that nobody is told wrongly that it was not."""
        try:
            await Perseverance(self._ports.sleep, BRIEFLY).done(partial(self._put, signals))
        except StoreUnavailable:
            if heard.speaks:
                self._remarks.fail(heard.inbound, heard.told.workspace, CANNOT_TAKE)

    async def _take_change(self, heard: Heard) -> None:
        """Put what somebody did to a question; what Slack will not send again is kept until the store is back."""
        signals = await self._signals(heard)
        if heard.told.comes_again:
            await self._put(signals)
        elif signals:
            await self._owed.do(partial(self._put, signals))

    async def _put(self, signals: Sequence[Signal]) -> None:
        for each in signals:
            await self._ports.inbox.put(each)

    async def _is_command(self, heard: Heard) -> bool:
        """Have a word done that is all that somebody says to the bot, as there are no commands in threads."""
        said, text = self._ports.said, heard.inbound.text
        if said is None or heard.decision.reason not in (Reason.MENTIONED, Reason.DIRECT):
            return False
        return 0 < len(text) <= LONGEST_COMMAND and await said(text, heard.inbound, heard.told.workspace)

    async def _decided(self, told: Told) -> Heard | None:
        """Read an event and decide."""
        inbound = parse(told.event, me=told.me)
        if inbound is None:
            return None
        standing = await self._standing(inbound, told)
        decision = route(inbound, standing)
        speaks = speaks_for(told.event, inbound, told.me) and not told.is_late
        return Heard(told, inbound, standing, decision, speaks) if decision.is_for_us else None

    async def _signals(self, heard: Heard) -> Sequence[Signal]:
        """Make the signals; who asks nothing is told so, and an earlier answer stays.

        An edit may be the first that is said to the bot, with a mention that was forgotten, so it is asked as well: an
        inbox that knows the question takes the edit alone.
        """
        is_young = self._is_young(heard.inbound)
        try:
            found = await self._signal(heard)
        except InvalidInput as refused:
            if heard.speaks and (is_young or heard.inbound.kind is InboundKind.WRITTEN):
                self._remarks.say(heard.inbound, heard.told.workspace, str(refused))
            return ()
        if not isinstance(found, Edited) or not is_young:
            return (found,) if found else ()
        written = heard.inbound.model_copy(update={"kind": InboundKind.WRITTEN})
        address = _address(written, route(written, heard.standing))
        return (Asked(question=found.question, address=address), found) if address else (found,)

    async def _signal(self, heard: Heard) -> Signal | None:
        """Make the signal for an event, with what others said before it where that is meant."""
        inbound, decision = heard.inbound, heard.decision
        reads = decision.reads_thread and decision.action is not Action.WITHDRAW
        before = await said_before(heard.told.workspace.client, inbound, heard.told.me) if reads else ()
        found = signal(inbound, decision, before=before, terms=self._ports.terms)
        return found.model_copy(update={"address": _address(inbound, decision)}) if isinstance(found, Asked) else found

    async def _standing(self, inbound: Inbound, told: Told) -> Standing:
        """Say what the bot knows here; stores are asked only where that matters."""
        standing = Standing(me=told.me.user_id, reads_all=True)
        if inbound.kind is InboundKind.DELETED:
            return standing
        if inbound.setting is Setting.THREAD and await self._is_ours(inbound, told):
            standing = replace(standing, threads_we_own={inbound.thread.thread})
        if route(inbound, standing).reason is Reason.FOLLOW_UP:
            standing = replace(standing, askers=await self._askers(inbound))
        if inbound.kind is InboundKind.EDITED and not route(inbound, standing).is_for_us:
            is_asked = self._is_young(inbound) and await _certain(self._ports.inbox.knows(inbound.message), told)
            standing = replace(standing, is_asked=is_asked)
        return standing

    async def _is_ours(self, inbound: Inbound, told: Told) -> bool:
        """Say whether a thread began with words of the bot's, or with a question for it."""
        said = told.event.get("message") or told.event
        if said.get("parent_user_id") == told.me.user_id:
            return True
        root = MessageRef(thread=inbound.thread, id=inbound.thread.thread)
        if await _certain(self._ports.inbox.knows(root), told):
            return True
        return self._ports.owns is not None and await _certain(self._ports.owns(inbound.thread), told)

    async def _askers(self, inbound: Inbound) -> Collection[str] | None:
        try:
            return await self._ports.askers(inbound.thread) if self._ports.askers else None
        except StoreUnavailable:
            return None

    def _is_young(self, inbound: Inbound) -> bool:
        """Say whether somebody may still wait for an answer to a message."""
        return inbound.at is not None and self._ports.now() - inbound.at < LATEST


async def _certain(known: Awaitable[bool], told: Told) -> bool:
    """Say whether something is known; while nobody can say, of an event that comes no more, as if it was not."""
    try:
        return await known
    except StoreUnavailable:
        if told.comes_again:
            raise
        return False


def _address(inbound: Inbound, decision: Decision) -> ReplyAddress | None:
    """Say where a question is answered; None for what is none."""
    match decision.action:
        case Action.OPEN_THREAD:
            return ReplyAddress(thread=inbound.thread, message=inbound.message)
        case Action.ANSWER_HERE:
            return ReplyAddress(thread=inbound.thread)
        case _:
            return None
