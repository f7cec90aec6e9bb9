"""Whether a question is answered: not where moderators do not want it, nor for guests or whoever asks too much."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from core.errors import StoreUnavailable
from core.messages import BUSY, CLOSED, MEMBERS_ONLY, PAUSED, SWITCHED_OFF, too_many
from core.model import Claim, Policy, Question
from core.ports import Membership, Memo, PolicyStore, Quota

REMINDER = timedelta(minutes=10)  # after which somebody is told the same again


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why not; nothing is said to somebody who has just been told."""

    sentence: str
    is_told: bool = True


class Admission:
    """Decides who may ask now. A store that is away refuses nobody; a policy that cannot be read refuses everybody.

    On the platforms that have a *membership*, only members are answered; where nobody can say who asks, the question
    fails and is tried again, since a guest must not be taken for a member.
    """

    def __init__(
        self,
        policies: PolicyStore,
        quota: Quota,
        memo: Memo,
        *,
        now: Callable[[], datetime],
        memberships: Mapping[str, Membership] | None = None,
    ) -> None:
        self._policies = policies
        self._quota = quota
        self._memo = memo
        self._now = now
        self._memberships = memberships or {}

    async def refusal(self, claim: Claim) -> Refusal | None:
        """Return why the question is not answered; None if it is. Raises `PeopleUnavailable`."""
        policy, channel = await self._policy(claim.question), claim.thread.channel
        if policy.is_closed:
            return await self._told(claim, "closed", CLOSED)
        if policy.is_paused:
            return await self._told(claim, "paused", PAUSED)
        if not policy.answers_in(channel):
            return await self._told(claim, f"silent:{channel}", SWITCHED_OFF)
        if await self._is_guest(claim.question):
            return await self._told(claim, "guest", MEMBERS_ONLY)
        seconds = await self._wait(claim.question)
        return await self._told(claim, "quota", too_many(math.ceil(seconds))) if seconds > 0 else None

    async def admits(self, question: Question) -> bool:
        """Return whether a question would be answered now, of which nobody is told. Raises `PeopleUnavailable`."""
        policy = await self._policy(question)
        is_wanted = policy.answers_in(question.thread.channel)
        return is_wanted and not await self._is_guest(question) and await self._wait(question) <= 0

    async def _policy(self, question: Question) -> Policy:
        try:
            return await self._policies.load(question.thread.home)
        except StoreUnavailable:
            return Policy()

    async def _is_guest(self, question: Question) -> bool:
        membership = self._memberships.get(question.thread.platform)
        return membership is not None and await membership.is_guest(question)

    async def _wait(self, question: Question) -> float:
        try:
            return await self._quota.spend(question)
        except StoreUnavailable:
            return 0.0

    async def _told(self, claim: Claim, kind: str, sentence: str) -> Refusal:
        """Tell somebody once in a while, and always whoever used a command or was told to wait, and so waits for it."""
        person = sha256(f"{claim.thread.home}:{claim.question.author.id}".encode()).hexdigest()[:16]
        key = f"refused:{kind}:{person}"  # nobody is named, as this is not looked up to forget somebody
        period = str(int(self._now().timestamp() // REMINDER.total_seconds()))
        try:
            is_new = await self._memo.changed(key, period)
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
