"""The orders of moderators. Slack hides them from nobody; the rights are checked where orders are done."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.slack.commands.kit import Kit
from adapters.slack.commands.situation import Used
from adapters.slack.commands.slash import Order, Word
from adapters.slack.commands.wording import UNCONFIRMED, since
from adapters.slack.rendering.escaping import plain_text
from core import sentences
from core.errors import InvalidInput
from core.model import Actor, Person
from core.moderation import Standing

ORDERS = frozenset({Word.STATUS, Word.PAUSE, Word.RESUME, Word.FORGET_PERSON, Word.FORGET_EVERYTHING})


async def moderated(kit: Kit, used: Used, order: Order) -> str:
    """Do what a moderator orders, and say how it went. Raises `NotAllowed` for anybody else."""
    actor, moderation = await kit.actor(used), kit.desk.moderation
    match order.word:
        case Word.PAUSE:
            return sentences.paused(is_new=await moderation.pause(actor))
        case Word.RESUME:
            return sentences.resumed(is_new=await moderation.resume(actor))
        case Word.FORGET_PERSON:
            return await _forget_person(kit, actor, order.text)
        case Word.FORGET_EVERYTHING:
            return await _forget_everything(kit, actor, is_confirmed=order.is_confirmed)
        case _:
            return "\n".join(await standing_lines(kit, actor))


async def standing_lines(kit: Kit, actor: Actor) -> list[str]:
    """Say how things are; who may not ask is refused before anything is looked up."""
    standing = await kit.desk.moderation.status(actor)
    tally, waiting = await kit.desk.votes.count(actor.home), await kit.desk.inbox.waiting()
    return [*_told(standing), sentences.tally_line(tally), sentences.waiting_line(waiting)]


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
    for deed in standing.deeds:
        yield "• " + sentences.deed_line(deed.model_copy(update={"by": _plain(deed.by)}), since)


def _plain(person: Person) -> Person:
    return person.model_copy(update={"name": plain_text(person.name)})
