"""The orders of moderators. Slack hides them from nobody; the rights are checked where orders are done."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from adapters.slack.commands.kit import Kit
from adapters.slack.commands.situation import Used
from adapters.slack.commands.slash import Order, Word
from adapters.slack.commands.wording import ONLY_IN_CHANNELS, UNCONFIRMED, since
from adapters.slack.dialect import SLACK
from core import sentences
from core.errors import InvalidInput
from core.model import Actor, Person, Policy
from core.moderation import Standing

ORDERS = frozenset(word for word in Word if word.startswith("admin "))
DIRECT_MESSAGE = "D"  # with which the ids of direct messages begin


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
            is_new = await moderation.resume(actor)
            policy = (await moderation.status(actor)).policy
            return "\n".join([sentences.resumed(is_new=is_new), *_silent(policy)])
        case Word.PAUSE_HERE | Word.RESUME_HERE:
            return await _silence_here(kit, actor, used.channel, on=order.word is Word.PAUSE_HERE)
        case Word.FORGET_PERSON:
            return await _forget_person(kit, actor, order.text)
        case Word.FORGET_EVERYTHING:
            return await _forget_everything(kit, actor, is_confirmed=order.is_confirmed)
        case _:
            return "\n".join((await overview(kit, actor)).lines)


async def overview(kit: Kit, actor: Actor) -> Overview:
    """Say how things are; who may not ask is refused before anything is looked up."""
    standing = await kit.desk.moderation.status(actor)
    tally, waiting = await kit.desk.votes.count(actor.home), await kit.desk.inbox.waiting()
    lines = [*_told(standing), sentences.tally_line(tally), sentences.waiting_line(waiting)]
    return Overview(lines, standing.policy.silent_channels)


async def silence(kit: Kit, actor: Actor, channel: str, *, on: bool) -> str:
    """Switch the bot off in a channel, or on again, and say so."""
    is_new = await kit.desk.moderation.silence(actor, channel, on=on)
    return sentences.silenced(linked(channel), on=on, is_new=is_new)


def linked(channel: str) -> str:
    """Give a channel's id in such a way that readers see its name and can go there."""
    return f"<#{channel}>"


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


def _told(standing: Standing) -> Iterator[str]:
    policy = standing.policy
    by = policy.paused_by and _plain(policy.paused_by)
    yield sentences.standing_line(policy.model_copy(update={"paused_by": by}), since)
    yield from _silent(policy)
    for deed in standing.deeds:
        yield "• " + sentences.deed_line(deed.model_copy(update={"by": _plain(deed.by)}), since)


def _silent(policy: Policy) -> Iterator[str]:
    if policy.silent_channels:
        yield sentences.silent_line([linked(channel) for channel in sorted(policy.silent_channels)])


def _plain(person: Person) -> Person:
    return person.model_copy(update={"name": SLACK.on_one_line(person.name)})
