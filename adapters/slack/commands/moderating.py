"""The orders of moderators. Slack hides them from nobody; the rights are checked where orders are done."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from adapters.slack.commands.kit import Kit
from adapters.slack.commands.situation import Used
from adapters.slack.commands.slash import NAME, Order, Word
from adapters.slack.commands.wording import ONLY_IN_CHANNELS, UNCONFIRMED, since
from adapters.slack.rendering.escaping import plain_text
from core import sentences
from core.errors import InvalidInput
from core.model import Actor
from core.sentences import Drawing

ORDERS = frozenset(word for word in Word if word.startswith("admin "))
DIRECT_MESSAGE = "D"  # with which the ids of direct messages begin
DRAWING = Drawing(
    plain=plain_text,
    moment=since,
    bullet="•",
    resume=f"`{NAME} {Word.RESUME}`",
    page=f"`{NAME} {Word.STATUS} {{}}`",
)


@dataclass(frozen=True, slots=True)
class Overview:
    """What moderators read of how things are; `silent` are the channels without answers, None where nobody can say."""

    lines: Sequence[str] = ()
    silent: Collection[str] | None = None


async def moderated(kit: Kit, used: Used, order: Order) -> str:
    """Do what a moderator orders, and say how it went. Raises `NotAllowed` for anybody else."""
    actor, moderation = await kit.actor(used), kit.desk.moderation
    match order.word:
        case Word.PAUSE:
            return sentences.paused(is_new=await moderation.pause(actor))
        case Word.RESUME:
            return "\n".join(sentences.resumed_lines(await moderation.resume(actor), DRAWING))
        case Word.PAUSE_HERE | Word.RESUME_HERE:
            return await _silence_here(kit, actor, used.channel, on=order.word is Word.PAUSE_HERE)
        case Word.FORGET_PERSON:
            return await _forget_person(kit, actor, order.text)
        case Word.FORGET_EVERYTHING:
            return await _forget_everything(kit, actor, is_confirmed=order.is_confirmed)
        case _:
            return "\n".join((await overview(kit, actor, page=int(order.text or 1))).lines)


async def overview(kit: Kit, actor: Actor, *, page: int = 1) -> Overview:
    """Say how things are; who may not ask is refused before anything is looked up."""
    status = await kit.desk.moderation.status(actor, page=page)
    log = list(sentences.log_lines(status.entries, DRAWING, older=page + 1 if status.has_older else None))
    if page > 1:
        return Overview(log or [sentences.NO_ENTRIES])
    tally, waiting = await kit.desk.votes.count(actor.home), await kit.desk.inbox.waiting()
    lines = [
        *sentences.policy_lines(status.policy, DRAWING),
        sentences.tally_line(tally),
        sentences.waiting_line(waiting),
        *log,
    ]
    return Overview(lines, None if status.policy.is_closed else status.policy.silent_channels)


async def silence(kit: Kit, actor: Actor, channel: str, *, on: bool) -> str:
    """Switch the bot off in a channel, or on again, and say so."""
    is_new = await kit.desk.moderation.silence(actor, channel, on=on)
    return sentences.silenced(DRAWING.channel(channel), on=on, is_new=is_new)


async def _silence_here(kit: Kit, actor: Actor, channel: str, *, on: bool) -> str:
    if channel.startswith(DIRECT_MESSAGE):
        raise InvalidInput(ONLY_IN_CHANNELS, field="channel")
    return await silence(kit, actor, channel, on=on)


async def _forget_person(kit: Kit, actor: Actor, person_id: str) -> str:
    if not person_id:
        raise InvalidInput(sentences.NOBODY_NAMED, field="person")
    gone = await kit.desk.moderation.forget_person(actor, person_id)
    return sentences.person_forgotten(gone.turns, gone.votes)


async def _forget_everything(kit: Kit, actor: Actor, *, is_confirmed: bool) -> str:
    if not is_confirmed:
        raise InvalidInput(UNCONFIRMED, field="confirm")
    return sentences.everything_forgotten(await kit.desk.moderation.forget_everything(actor))
