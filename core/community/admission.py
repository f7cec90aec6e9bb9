"""Whether a question is answered: not where moderators do not want it, nor for guests or whoever asks too much."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from core.errors import StoreUnavailable
from core.messages import BUSY, CLOSED, MEMBERS_ONLY, PAUSED, SWITCHED_OFF, too_many
from core.model import Claim, Policy, Question
from core.ports import Dedup, Membership, PolicyStore, Quota

REMINDER = timedelta(minutes=10)  # after which somebody is told the same again


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why not; nothing is said to somebody who has just been told."""

    sentence: str
    is_told: bool = True


@dataclass
class Admission:
    """Decides who may ask now. A store that is away refuses nobody; a policy that cannot be read refuses everybody.

    On the platforms that have a *membership*, only members are answered; where nobody can say who asks, the question
    fails and is tried again, since a guest must not be taken for a member.
    """

    policies: PolicyStore
    quota: Quota
    dedup: Dedup
    _: KW_ONLY
    now: Callable[[], datetime]
    memberships: Mapping[str, Membership] = field(default_factory=dict[str, Membership])

    async def refusal(self, claim: Claim) -> Refusal | None:
        """Return why the question is not answered; None if it is. Raises `PeopleUnavailable`."""
        objection = await self._objection(claim.question)
        return await self._told(claim, *objection) if objection else None

    async def admits(self, question: Question) -> bool:
        """Return whether a question would be answered now, of which nobody is told. Raises `PeopleUnavailable`."""
        return await self._objection(question) is None

    async def _objection(self, question: Question) -> tuple[str, str] | None:
        """Return why the question is not answered, in a word for the notes and in a sentence; None if it is."""
        place, policy, seconds = question.message.thread, Policy(), 0.0
        with suppress(StoreUnavailable):
            policy = await self.policies.load(place.home)
        if policy.fault is not None:
            return "closed", CLOSED
        if policy.paused_by is not None:
            return "paused", PAUSED
        if place.channel in policy.silent_channels:
            return f"silent:{place.channel}", SWITCHED_OFF
        membership = self.memberships.get(place.platform)
        if membership is not None and await membership.is_guest(question):
            return "guest", MEMBERS_ONLY
        with suppress(StoreUnavailable):
            seconds = await self.quota.spend(question)
        return ("quota", too_many(math.ceil(seconds))) if seconds > 0 else None

    async def _told(self, claim: Claim, kind: str, sentence: str) -> Refusal:
        """Tell somebody once in a while, and always whoever used a command or was told to wait, and so waits for it."""
        person = sha256(f"{claim.message.thread.home}:{claim.question.author.id}".encode()).hexdigest()[:16]
        key = f"refused:{kind}:{person}"  # nobody is named, as this is not looked up to forget somebody
        period = str(int(self.now().timestamp() // REMINDER.total_seconds()))
        try:
            is_new = await self.dedup.changed(key, period)
        except StoreUnavailable:  # without the notes, somebody is told once more
            is_new = True
        has_interaction = claim.address is not None and claim.address.interaction is not None
        return Refusal(sentence, is_told=is_new or has_interaction or claim.delivery.notice is not None)


USUAL_ANSWER = 6.0  # seconds; a guess
ROUND = 10  # seconds: nobody can say it more exactly


@dataclass(frozen=True, slots=True)
class WaitEstimate:
    """Knows how long the last of those who wait has to, where each worker has some *concurrency*."""

    concurrency: int

    def sentence(self, waiting: int, running: int) -> str | None:
        """Return when the last of those who wait will be answered; None if that will be soon.

        Nobody knows how many several workers can answer, but when many wait, as many run as there are.
        """
        at_once = max(self.concurrency, running)
        if waiting <= 2 * at_once:
            return None
        seconds = max(ROUND, math.ceil(waiting * USUAL_ANSWER / at_once / ROUND) * ROUND)
        return f"{BUSY}; your answer comes in about {seconds} seconds."
