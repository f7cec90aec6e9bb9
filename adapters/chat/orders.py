"""The commands of moderators: what stands in `ORDERS` is checked against their rights by what carries it out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from adapters.chat.registry import MOST_PAGES, Command, CommandContext, Kind, Option, Values
from core import messages
from core.community.moderation import Switch
from core.errors import InvalidInput
from core.model import Budget, Holder, Measure, Period

MOST_BUDGET = 1_000_000_000


async def _status(context: CommandContext, values: Values) -> str:
    return "\n".join(await status_lines(context, page=int(values.get("page", 1))))


async def status_lines(context: CommandContext, *, page: int = 1) -> Sequence[str]:
    """Return how things are, line by line. Who may not ask is refused before anything is looked up: `NotAllowed`."""
    services, drawing, actor = context.services, context.drawing, await context.actor()
    status = await services.moderation.status(actor, page=page)
    log = list(messages.log_lines(status.entries, drawing, older=page + 1 if status.has_older else None))
    if page > 1:
        return log or [messages.NO_ENTRIES]
    spending = await services.admission.spending(actor.home)
    return [
        *messages.policy_lines(status.policy, drawing, used_up=messages.used_up(spending)),
        *messages.spending_lines(spending),
        *messages.count_lines(await services.votes.count(actor.home), await services.inbox.waiting(), context.lacking),
        *log,
    ]


async def _pause(context: CommandContext, values: Values) -> str:
    if "channel" in values:
        return await silenced(context, values["channel"], on=True)
    return messages.paused(is_new=await context.services.moderation.pause(await context.actor()))


async def _resume(context: CommandContext, values: Values) -> str:
    if "channel" in values:
        return await silenced(context, values["channel"], on=False)
    applied = await context.services.moderation.resume(await context.actor())
    return "\n".join(messages.resumed_lines(applied, context.drawing))


async def silenced(context: CommandContext, channel: str, *, on: bool) -> str:
    """Switch the bot off in a channel, or on again, and return what to say of it."""
    is_new = await _switched(context, Switch.SILENCE, channel, on=on)
    return messages.silenced(context.drawing.channel(channel), on=on, is_new=is_new)


async def _switched(context: CommandContext, what: Switch, channel: str, *, on: bool) -> bool:
    """Switch something on or off in a channel, and return whether that is new."""
    if not channel:
        raise InvalidInput(messages.ONLY_IN_CHANNELS, field="channel")
    return await context.services.moderation.switch(await context.actor(), what, channel, on=on)


async def _auto_answer(context: CommandContext, values: Values) -> str:
    on = bool(values["on"])
    is_new = await _switched(context, Switch.AUTO_ANSWER, values["channel"], on=on)
    return messages.auto_answering(on=on, is_new=is_new, is_heard=context.services.reads_all)


async def _moderators(context: CommandContext, values: Values) -> str:
    group, on = values["role"], bool(values["on"])
    if on and group == context.homes[0].workspace:  # Discord's role of everybody has the id of the server
        raise InvalidInput(messages.NOT_EVERYBODY, field="role")
    is_new = await context.services.moderation.switch(await context.actor(), Switch.MODERATORS, group, on=on)
    return messages.moderating(context.drawing.group(group), on=on, is_new=is_new)


async def _budget(context: CommandContext, values: Values) -> str:
    """Set a limit that holds beside the operator's, or lift it."""
    most, lifts, moderation = values.get("most"), bool(values.get("lift")), context.services.moderation
    if (most is None) is not lifts:
        raise InvalidInput(messages.BUDGET_UNCLEAR, field="most")
    holder, measure, period = Holder(values["who"]), Measure(values["what"]), Period(values["period"])
    budget = Budget(holder=holder, measure=measure, period=period, most=most or 0)
    is_new = await moderation.limit(await context.actor(), budget, on=not lifts)
    return messages.budget_ordered(budget, moderation.allowed(budget), on=not lifts, is_new=is_new)


async def _guests(context: CommandContext, values: Values) -> str:
    return await opened_to_guests(context, values["channel"], on=bool(values["on"]))


async def opened_to_guests(context: CommandContext, channel: str, *, on: bool) -> str:
    """Answer from what is for members where guests read along, or no longer, and return what to say of it."""
    is_new = await _switched(context, Switch.GUESTS, channel, on=on)
    return messages.opened_to_guests(context.drawing.channel(channel), on=on, is_new=is_new)


async def _forget_any(context: CommandContext, values: Values) -> str:
    moderation, what = context.services.moderation, values.get("what")
    if what == "person":
        if not values.get("person"):
            raise InvalidInput(messages.NOBODY_NAMED, field="person")
        gone = await moderation.forget_person(await context.actor(), values["person"])
        return messages.person_forgotten(gone.turns, gone.votes)
    if what == "thread":
        if context.thread is None:
            raise InvalidInput(context.forms.in_thread, field="what")
        was_there = await moderation.forget_thread(await context.actor(), context.thread)
        return messages.thread_forgotten(was_there=was_there)
    if not values.get("confirm"):
        raise InvalidInput(context.forms.unconfirmed, field="confirm")
    return messages.everything_forgotten(await moderation.forget_everything(await context.actor()))


_EARLIER = Option("page", "A later page of what moderators did.", Kind.NUMBER, most=MOST_PAGES)
_TO_PAUSE = Option("channel", "Only in this channel and its threads, and not in the whole server.", Kind.CHANNEL)
_PAUSED = Option("channel", "Only in this channel, where I was paused.", Kind.CHANNEL)
_POSTS = "The forum or channel whose questions I answer without being mentioned."
_ANSWERED = (
    Option("on", "Whether I answer them.", Kind.FLAG, is_required=True),
    Option("channel", _POSTS, Kind.CHANNEL, is_required=True),
)
_ROLE = (
    Option("role", "The role or group.", Kind.GROUP, is_required=True),
    Option("on", "Whether its members may moderate.", Kind.FLAG, is_required=True),
)
_TO_GUESTS = (
    Option("on", "Whether they are answered like members.", Kind.FLAG, is_required=True),
    Option("channel", "The channel that they can read.", Kind.CHANNEL, is_required=True),
)
_WHOSE = {holder.value: words for holder, words in messages.WHOM.items() if holder is not Holder.THREAD}
_BUDGET = (
    Option("who", "Whose limit it is.", Kind.CHOICE, is_required=True, choices=_WHOSE),
    Option("most", "How much they may use.", Kind.NUMBER, most=MOST_BUDGET),
    Option("what", "What is counted.", Kind.CHOICE, is_required=True, choices={each: each for each in Measure}),
    Option("period", "For how long.", Kind.CHOICE, is_required=True, choices={"day": "a day", "month": "a month"}),
    Option("lift", "Lift the limit that moderators have set.", Kind.FLAG),
)
_ANYTHING = {"person": "a person", "thread": "this thread", "everything": "everything"}
_FORGOTTEN = (
    Option("what", "What to forget.", Kind.CHOICE, is_required=True, choices=_ANYTHING),
    Option("person", "Whose questions to forget.", Kind.PERSON),
    Option("confirm", "Needed to forget everything.", Kind.FLAG),
)
_order = partial(Command, for_moderators=True)

ORDERS = (
    _order("status", "Whether I'm answering, what readers think, and what moderators did.", _status, (_EARLIER,)),
    _order("pause", "Answer nothing in this server for now.", _pause, (_TO_PAUSE,)),
    _order("resume", "Answer again.", _resume, (_PAUSED,)),
    _order(
        "auto-answer", "Answer questions in a forum or channel without a mention, or stop.", _auto_answer, _ANSWERED
    ),
    _order("guests", "Answer guests and outsiders like members, or stop.", _guests, _TO_GUESTS, only_on="slack"),
    _order("moderators", "Let a role or group moderate me, or stop; only for admins.", _moderators, _ROLE),
    _order("budget", "Limit how much may be asked here, or lift such a limit.", _budget, _BUDGET),
    _order("forget", "Remove what I remember.", _forget_any, _FORGOTTEN),
)
