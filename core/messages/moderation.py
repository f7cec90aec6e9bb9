"""What moderators are told: what is set, what was done, and what their orders did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime

from core.errors import InvalidInput
from core.messages.budgets import budget_line
from core.messages.wording import Drawing, counted, listed, moment
from core.model import Applied, AuditEntry, OrderKind, Policy, PolicyFault, Tally, ThreadRef

NOT_A_MODERATOR = "Only moderators can do that. Ask one of them."
NOT_AN_ADMIN = "Only admins can decide who moderates. Ask one of them."
NOT_EVERYBODY = "That would let everybody moderate. Please choose another role."
ANOTHER_WORKSPACE = "That conversation belongs to another workspace."
NOBODY_NAMED = "Please name the person."
UNCHANGED = "Nothing has changed."
UNREADABLE = "The settings here can't be read, so they can't be changed. Use the command `status` to see what to do."
FAULTS = {
    PolicyFault.NEWER: "The settings here were saved by a newer version of Footnote and can't be read.",
    PolicyFault.DAMAGED: "The settings here can't be read.",
}
CHANNEL_ORDERS = frozenset(
    {
        OrderKind.PAUSE_CHANNEL,
        OrderKind.RESUME_CHANNEL,
        OrderKind.AUTO_ANSWER_ON,
        OrderKind.AUTO_ANSWER_OFF,
        OrderKind.OPEN_CHANNEL,
        OrderKind.CLOSE_CHANNEL,
    }
)
GROUP_ORDERS = frozenset({OrderKind.ADD_MODERATORS, OrderKind.REMOVE_MODERATORS})
NO_ENTRIES = "There are no older entries."


def everything_forgotten(conversations: int) -> str:
    """Return what was removed of everybody."""
    return f"I no longer remember {counted(conversations, 'conversation')}. Messages stay until somebody deletes them."


def paused(*, is_new: bool) -> str:
    """Confirm a pause."""
    return "I won't answer anything here until somebody uses `resume`." if is_new else "I was already paused."


def resumed(*, is_new: bool) -> str:
    """Confirm the end of a pause."""
    return "I'm answering again." if is_new else "I wasn't paused."


def silenced(channel: str, *, on: bool, is_new: bool) -> str:
    """Confirm that nothing is answered in a channel, which is named as the platform shows it, or the end of that."""
    if on and is_new:
        return f"I won't answer anything in {channel} until somebody uses `resume` for it."
    if on:
        return f"I was already switched off in {channel}."
    return f"I'm no longer switched off in {channel}." if is_new else f"I wasn't switched off in {channel}."


def auto_answering(*, on: bool, is_new: bool, is_heard: bool) -> str:
    """Confirm whether questions are answered unasked; *is_heard* says whether the bot may read them at all."""
    if on and not is_heard:
        return "Saved, but I'm not allowed to read messages that don't mention me, so nothing changes until I am."
    again = "" if is_new else " It was already set that way."
    return (
        "I'll answer questions there that my sources can answer, and stay silent otherwise."
        if on
        else "I'll only answer there if I'm mentioned."
    ) + again


def opened_to_guests(channel: str, *, on: bool, is_new: bool) -> str:
    """Confirm whether guests of a channel, which is named as the platform shows it, read what is for members."""
    again = "" if is_new else " It was already set that way."
    if on:
        return f"In {channel}, I'll answer guests and outsiders like members.{again}"
    return f"In {channel}, guests and outsiders will see nothing that is only for members.{again}"


def moderating(group: str, *, on: bool, is_new: bool) -> str:
    """Confirm whether the members of a role or group moderate, which is named as the platform shows it."""
    if on:
        return f"{group} may moderate from now on." if is_new else f"{group} may already moderate."
    return f"{group} may no longer moderate." if is_new else f"{group} wasn't among the moderators."


def policy_lines(policy: Policy, drawing: Drawing, *, used_up: str = "") -> Iterator[str]:
    """Return what is set, or which budget is *used up*, and what to do where that cannot be read."""
    if policy.fault:
        yield f"{FAULTS[policy.fault]} Until that is fixed, I won't answer anything."
        if policy.fault is PolicyFault.NEWER:
            yield "Ask the person who runs the bot to start the newer version again."
        yield f"{drawing.resume} starts again with the default settings. This would be lost:"
        yield from lost_lines(policy, drawing)
        return
    yield _pause_line(policy, drawing) or used_up or "I'm answering questions."
    yield from channel_lines(policy, drawing)
    if policy.moderators:
        yield moderators_line([drawing.group(each) for each in sorted(policy.moderators)])
    yield from (f"Set by moderators: {budget_line(each)}" for each in policy.budgets)


def resumed_lines(applied: Applied, drawing: Drawing) -> Iterator[str]:
    """Confirm the end of a pause, and say what still holds, or what was lost."""
    if applied.before.fault is not None:
        yield "I'm answering again, with the default settings. This was lost:"
        yield from lost_lines(applied.before, drawing)
        return
    yield resumed(is_new=applied.is_new)
    yield from channel_lines(applied.before, drawing)


def lost_lines(policy: Policy, drawing: Drawing) -> Iterator[str]:
    """Return what of an unreadable policy is known, line by line."""
    known = [line for line in (_pause_line(policy, drawing), *channel_lines(policy, drawing)) if line]
    if policy.moderators:
        known.append(moderators_line([drawing.group(each) for each in sorted(policy.moderators)]))
    known += map(budget_line, policy.budgets)
    known.append("Anything else that was set." if known else "Everything that was set.")
    yield from (f"{drawing.bullet} {line}" for line in known)


def channel_lines(policy: Policy, drawing: Drawing) -> Iterator[str]:
    """Return in which channels nothing is answered, in which questions are unasked, and in which guests read along."""
    if policy.silent_channels:
        yield silent_line([drawing.channel(each) for each in sorted(policy.silent_channels)])
    if policy.auto_answer:
        yield auto_answer_line([drawing.channel(each) for each in sorted(policy.auto_answer)])
    if policy.open_channels:
        yield open_line([drawing.channel(each) for each in sorted(policy.open_channels)])


def silent_line(channels: Sequence[str]) -> str:
    """Return where nothing is answered, as many channels as people read."""
    return f"Switched off in {listed(channels)}."


def auto_answer_line(channels: Sequence[str]) -> str:
    """Return in which channels questions are answered unasked, as many as people read."""
    return f"Questions are answered without a mention in {listed(channels)}."


def open_line(channels: Sequence[str]) -> str:
    """Return where guests see what is for members, as many channels as people read."""
    return f"Guests and outsiders are answered like members in {listed(channels)}."


def moderators_line(groups: Sequence[str]) -> str:
    """Return who moderates besides admins, as many groups as people read."""
    return f"Besides admins, these may moderate: {listed(groups)}."


def log_lines(entries: Sequence[AuditEntry], drawing: Drawing, *, older: int | None) -> Iterator[str]:
    """Return what moderators did, and which page is the next one with *older* entries."""
    if entries:
        yield "What moderators did recently:"
    for each in entries:
        about = f" ({_about(each, drawing)})" if each.about else ""
        yield f"{drawing.bullet} {drawing.moment(each.at)}: {drawing.whose(each.by)}, {each.did}{about}"
    if older:
        yield f"Older entries: {drawing.page.format(older)}"


def count_lines(tally: Tally, waiting: int, lacking: Sequence[str] | None) -> Iterator[str]:
    """Return what readers think, how many wait, and which permissions are *lacking*, if that is known."""
    yield f"Votes: {tally.helpful} helpful, {tally.unhelpful} not helpful."
    yield f"Waiting in all communities: {counted(waiting, 'question')}."
    if lacking:
        yield f"I'm missing these permissions here: {', '.join(lacking)}."
    elif lacking is not None:
        yield "I have all the permissions I need here."


WELCOME = """\
Thank you for inviting me! I answer questions from this community's documents, with a footnote after every statement.
**Mention me** in a channel, and I'll open a thread with the answer; `/help` says what else I can do.
For moderators, `/footnote-admin status` shows how I'm doing and what I need, and `/footnote-admin pause` stops me."""
"""What moderators on Discord are told once the bot has joined."""


def permissions_lacking(channel: str, names: Sequence[str]) -> str:
    """Return what moderators have to allow in a channel, which is named as the platform shows it."""
    return (
        f"I can't answer questions in {channel}: I'm missing {', '.join(f'**{one}**' for one in names)}. "
        "Please allow this for my role, in that channel or in the whole server."
    )


def _pause_line(policy: Policy, drawing: Drawing) -> str:
    since = f" {drawing.moment(policy.paused_at)}" if policy.paused_at else ""
    return f"Paused by {drawing.whose(policy.paused_by)}{since}." if policy.paused_by else ""


def _about(entry: AuditEntry, drawing: Drawing) -> str:
    """Name what an order was about in such a way that readers know it and can go there."""
    if entry.did == OrderKind.FORGET_PERSON:
        return drawing.person(entry.about)
    if entry.did == OrderKind.FORGET_THREAD:
        with suppress(InvalidInput):
            return drawing.channel(ThreadRef.parse(entry.about).channel)
    if entry.did in GROUP_ORDERS:
        return drawing.group(entry.about)
    return drawing.channel(entry.about) if entry.did in CHANNEL_ORDERS else drawing.plain(entry.about)


def source_alert(name: str, read_at: datetime | None) -> str:
    """Return what moderators are told of a source that is read by itself, and could not be."""
    since = f" I'm still answering from what I read {moment(read_at)}." if read_at else ""
    return (
        f"I couldn't update the documents from {name!r}.{since} I'll keep trying; the person who runs me can "
        "see why with `footnote sources list`."
    )
