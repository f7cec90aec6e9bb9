"""What moderators may order, what everybody may do for themselves, and how people are forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import partial
from uuid import uuid4

from pydantic import TypeAdapter

from core import messages
from core.errors import InvalidInput, NotAllowed, PolicyUnreadable
from core.model import (
    Actor,
    AnyPlace,
    Applied,
    Asked,
    AuditEntry,
    Budget,
    Citation,
    Deleted,
    ForgettingOrder,
    Measure,
    MessageRef,
    ModerationOrder,
    OrderKind,
    Person,
    Policy,
    Signal,
    ThreadRef,
    Turn,
    WorkspaceRef,
    within,
)
from core.ports import ConversationStore, Deliveries, PolicyStore, Vault, VoteStore, WaitingWords


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much was removed of somebody."""

    turns: int = 0
    votes: int = 0


@dataclass(frozen=True, slots=True)
class PersonalData:
    """How much is kept of somebody: turns, questions that wait or could be tried again, and votes."""

    turns: int = 0
    waiting: int = 0
    votes: int = 0


ORDERED = timedelta(hours=1)  # so long is known what was forgotten: longer than anybody looks for missed questions
MOST = 1_000  # orders that are known, the newest
_TOLD = "forgotten:"  # in the vault
_ORDERS = TypeAdapter(tuple[ForgettingOrder, ...])


@dataclass
class Forgetting:
    """Knows every place where something of people is kept. Raises `StoreUnavailable`."""

    conversations: ConversationStore
    votes: VoteStore
    waiting: WaitingWords
    policies: PolicyStore
    vault: Vault
    now: Callable[[], datetime] = partial(datetime.now, UTC)
    orders: tuple[ForgettingOrder, ...] = field(default=(), init=False)

    async def person(self, home: WorkspaceRef, person_id: str) -> Forgotten:
        """Remove all of a person in a workspace, beginning with what waits, which would be remembered later."""
        self._note(ForgettingOrder(home, person_id, self.now()))
        turns = await self._questions(home, person_id)
        return Forgotten(len(turns), await self.votes.forget_person(home, person_id))

    def heed(self, signal: Signal) -> Signal | None:
        """Return a signal; of a question that is forgotten by now, that it is deleted if an answer may stand there."""
        there = [each for each in self.orders if f"{signal.message}".startswith(f"{each.place}:")]
        if not isinstance(signal, Asked) or not any(signal.question.is_by(each.person_id, each.at) for each in there):
            return signal
        return signal.delivery and Deleted(message=signal.message, delivery=signal.delivery)

    async def tell(self) -> None:
        """Leave what was forgotten lately in a store that has lost all, for other processes to `learn`."""
        if self.orders:
            await self.vault.save(_TOLD + uuid4().hex, _ORDERS.dump_json(self.orders).decode(), ORDERED)

    async def learn(self) -> None:
        """Know what other processes have told."""
        for key in await self.vault.keys(_TOLD):
            with suppress(ValueError):  # of another version
                self._note(*_ORDERS.validate_json(await self.vault.load(key) or "[]"))

    async def again(self) -> None:
        """Remove what was asked before it was forgotten by any process, and was put back into a store without it."""
        await self.learn()
        for each in self.orders:
            await self._questions(each.place, each.person_id, each.at)

    def _note(self, *orders: ForgettingOrder) -> None:
        known, now = sorted({*self.orders, *orders}, key=lambda each: each.at), self.now()
        self.orders = tuple(each for each in known if now - each.at < ORDERED)[-MOST:]

    async def _questions(self, place: AnyPlace, by: str | None, before: datetime | None = None) -> Sequence[MessageRef]:
        await self.waiting.forget(place, by, before=before)
        turns = await self.conversations.forget_turns(place, by, before=before)
        changed = await self.conversations.unquote(place, by) if by is not None else ()
        # A model may have been given them, for others.
        await self.waiting.begin_anew(tuple(dict.fromkeys(each.thread for each in (*turns, *changed))))
        return turns

    async def kept(self, home: WorkspaceRef, person_id: str) -> PersonalData:
        """Return how much there is of a person in a workspace."""
        turns = await self.conversations.count_person(home, person_id)
        waiting = await self.waiting.count_person(home, person_id)
        return PersonalData(turns, waiting, await self.votes.count_person(home, person_id))

    async def place(self, place: AnyPlace) -> int:
        """Remove all that anybody asked in a place, and a workspace's votes; return the number of conversations."""
        self._note(ForgettingOrder(place, None, self.now()))
        await self.waiting.forget(place)
        gone = await self.conversations.forget(place)
        if isinstance(place, WorkspaceRef):
            await self.votes.forget_workspace(place)
        return gone

    async def farewell(self, home: WorkspaceRef) -> int:
        """Leave a workspace for good: remove also what moderators have set, and who set it."""
        gone = await self.place(home)
        await self.policies.remove(home)
        return gone


class Switch(Enum):
    """What moderators switch on and off for a channel, or a group of people, with the order for either."""

    SILENCE = OrderKind.PAUSE_CHANNEL, OrderKind.RESUME_CHANNEL
    AUTO_ANSWER = OrderKind.AUTO_ANSWER_ON, OrderKind.AUTO_ANSWER_OFF  # new posts, without a mention
    GUESTS = OrderKind.OPEN_CHANNEL, OrderKind.CLOSE_CHANNEL  # answers from what is for members, though they read along
    MODERATORS = OrderKind.ADD_MODERATORS, OrderKind.REMOVE_MODERATORS


PAGE = 10  # entries of the log that are shown at once
_OPENING = {OrderKind.RESUME, OrderKind.RESUME_CHANNEL, OrderKind.AUTO_ANSWER_ON}


@dataclass(frozen=True, slots=True)
class ModerationStatus:
    """How things are in a workspace: its policy, and a page of what moderators did, newest first."""

    policy: Policy
    entries: Sequence[AuditEntry] = ()
    has_older: bool = False


@dataclass
class Moderation:
    """Carries out moderators' orders. Each raises `NotAllowed` for anybody else, and `StoreUnavailable`.

    The *budgets* are the operator's, who *has prices* set where money can be counted.
    """

    policies: PolicyStore
    forgetting: Forgetting
    _: KW_ONLY
    now: Callable[[], datetime]
    budgets: Sequence[Budget] = ()
    has_prices: bool = False

    async def status(self, actor: Actor, *, page: int = 1) -> ModerationStatus:
        """Return how things are, with the first or a later page of the log. Looking is not noted."""
        _check(actor)
        policy = await self.policies.load(actor.home)
        entries = await self.policies.recent(actor.home, limit=PAGE + 1, skip=(max(page, 1) - 1) * PAGE)
        return ModerationStatus(policy, entries[:PAGE], has_older=len(entries) > PAGE)

    async def answers_unasked(self, place: ThreadRef, at: datetime | None = None) -> bool:
        """Return whether questions in a channel are answered unasked, and were *at* a time not long ago as well."""
        policy, channel = await self.policies.load(place.home), place.channel
        if channel not in policy.auto_answer or not policy.answers_in(channel):
            return False
        later = at and [each for each in await self.policies.recent(place.home, limit=10 * PAGE) if each.at > at]
        return not any(each.did in _OPENING and each.about in ("", channel) for each in later or ())

    async def pause(self, actor: Actor) -> bool:
        """Answer nothing in the workspace from now on; return whether that is new. Raises `PolicyUnreadable`."""
        return (await self._apply(actor, OrderKind.PAUSE)).is_new

    async def resume(self, actor: Actor) -> Applied:
        """Answer again, also where the policy could not be read; return what was set before."""
        return await self._apply(actor, OrderKind.RESUME)

    async def switch(self, actor: Actor, what: Switch, about: str, *, on: bool) -> bool:
        """Switch something on or off for a channel, or a group of people; return whether that is new.

        Only an admin may say who moderates: `NotAllowed`. Raises `PolicyUnreadable`.
        """
        if what is Switch.MODERATORS and not actor.is_admin:
            raise NotAllowed(messages.NOT_AN_ADMIN)
        return (await self._apply(actor, what.value[0 if on else 1], about)).is_new

    async def limit(self, actor: Actor, budget: Budget, *, on: bool) -> bool:
        """Set a budget within the operator's, or lift what moderators have set of that kind; return whether it is new.

        Raises `InvalidInput` for more than the operator allows, and for what nobody could count, and
        `PolicyUnreadable`.
        """
        _check(actor)
        if on and budget.measure is Measure.MONEY and not self.has_prices:
            raise InvalidInput(messages.NO_PRICES, field="what")
        allowed = self.allowed(budget)
        if on and allowed is not None and budget.most > allowed.most:
            raise InvalidInput(messages.budget_above(allowed), field="most")
        order = (OrderKind.SET_BUDGET, str(budget)) if on else (OrderKind.LIFT_BUDGET, budget.name)
        return (await self._apply(actor, *order)).is_new

    def allowed(self, budget: Budget) -> Budget | None:
        """Return the operator's budget of the same kind, if there is one."""
        return next((each for each in within(self.budgets, ()) if each.name == budget.name), None)

    async def forget_thread(self, actor: Actor, thread: ThreadRef) -> bool:
        """Remove one conversation; return whether there was one. Raises `NotAllowed` for one of another workspace."""
        _check(actor)
        if thread.home != actor.home:
            raise NotAllowed(messages.ANOTHER_WORKSPACE)
        await self._apply(actor, OrderKind.FORGET_THREAD, str(thread))
        return bool(await self.forgetting.place(thread))

    async def forget_person(self, actor: Actor, person_id: str) -> Forgotten:
        """Remove all of somebody in the workspace."""
        await self._apply(actor, OrderKind.FORGET_PERSON, person_id)
        return await self.forgetting.person(actor.home, person_id)

    async def forget_everything(self, actor: Actor) -> int:
        """Remove every conversation of the workspace; return their number."""
        await self._apply(actor, OrderKind.FORGET_EVERYTHING)
        return await self.forgetting.place(actor.home)

    async def _apply(self, actor: Actor, kind: OrderKind, about: str = "") -> Applied:
        """Carry out an order in the store. One to forget is noted there before it is done, so that none is unnoted."""
        _check(actor)
        order = ModerationOrder(kind, about)
        by = Person(id=actor.person.id)  # the platform knows the name, and nobody need store it
        applied = await self.policies.apply(actor.home, order, by=by, at=self.now())
        if applied.before.fault is not None and not applied.is_new:
            raise PolicyUnreadable(messages.UNREADABLE)
        return applied


def _check(actor: Actor) -> None:
    if not actor.may_moderate:
        raise NotAllowed(messages.NOT_A_MODERATOR)


@dataclass
class SelfHelp:
    """Shows people their sources, and forgets what they want forgotten. Raises `StoreUnavailable`."""

    conversations: ConversationStore
    forgetting: Forgetting
    moderation: Moderation
    deliveries: Deliveries

    async def forget_answer(self, message: MessageRef) -> bool:
        """Forget the turn of which somebody has deleted the question, or a message of the answer.

        Those that we remove are noted before.
        """
        for turn in (await self.conversations.around(message)).turns:
            if any(each.id == message.id for each in (turn.question_ref, *await self._answer(turn))):
                return await self.conversations.remove(turn.question_ref)
        return False

    async def remembered(self, thread: ThreadRef) -> Sequence[MessageRef]:
        """Return the questions of a thread that are remembered, and the messages with their answers."""
        turns = (await self.conversations.load(thread)).turns
        return [each for turn in turns for each in (turn.question_ref, *await self._answer(turn))]

    async def _answer(self, turn: Turn) -> Sequence[MessageRef]:
        """Return the messages with an answer, as the inbox knows them, and once it does not, as they are remembered."""
        delivery = await self.deliveries.delivered(turn.question_ref)
        return delivery.messages if delivery.standing else turn.messages

    async def sources(self, thread: ThreadRef) -> Sequence[Citation]:
        """Return the sources of the last answer in a thread that has any."""
        turns = (await self.conversations.load(thread)).turns
        return next((turn.citations for turn in reversed(turns) if turn.citations), ())

    async def mute(self, thread: ThreadRef, *, on: bool) -> bool:
        """Have only mentions answered in a thread from now on, or no longer; return whether that is new.

        Anybody there may say so, and it goes with what is remembered of the thread.
        """
        return await self.conversations.mute(thread, on=on)

    async def forget_thread(self, actor: Actor, thread: ThreadRef) -> bool:
        """Remove a conversation for somebody who asked in it, or for a moderator, whose order is noted.

        Say whether there was one. Raises `NotAllowed` for anybody else.
        """
        turns = (await self.conversations.load(thread)).turns
        if thread.home == actor.home and any(turn.author_id == actor.person.id for turn in turns):
            return bool(await self.forgetting.place(thread))
        if actor.may_moderate:
            return await self.moderation.forget_thread(actor, thread)
        if turns:
            raise NotAllowed(messages.NOT_PART_OF_IT)
        return False

    async def forget_person(self, homes: Iterable[WorkspaceRef], person_id: str) -> Forgotten:
        """Remove all of somebody in these places, each named once."""
        gone = [await self.forgetting.person(home, person_id) for home in homes]
        return Forgotten(sum(each.turns for each in gone), sum(each.votes for each in gone))

    async def kept(self, homes: Iterable[WorkspaceRef], person_id: str) -> PersonalData:
        """Return how much is kept of somebody in these places, each named once."""
        found = [await self.forgetting.kept(home, person_id) for home in homes]
        turns, waiting = sum(each.turns for each in found), sum(each.waiting for each in found)
        return PersonalData(turns, waiting, sum(each.votes for each in found))
