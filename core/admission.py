"""Whether a question is answered at all: not where moderators have paused the bot, nor for whoever asks too much."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from core.errors import StoreUnavailable
from core.model import Claim
from core.ports import Memo, PolicyStore, Quota
from core.prompts import PAUSED, too_many

REMINDER = timedelta(minutes=10)  # after which somebody is told the same again


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why not; nothing is said to somebody who has just been told."""

    sentence: str
    is_told: bool = True


class Admission:
    """Decides who may ask now. A store that is away refuses nobody."""

    def __init__(self, policies: PolicyStore, quota: Quota, memo: Memo, *, now: Callable[[], datetime]) -> None:
        self._policies = policies
        self._quota = quota
        self._memo = memo
        self._now = now

    async def refusal(self, claim: Claim) -> Refusal | None:
        """Say why the question is not answered; None if it is."""
        try:
            if (await self._policies.load(claim.thread.home)).is_paused:
                return await self._told(claim, "paused", PAUSED)
            seconds = await self._quota.spend(claim.question)
            return await self._told(claim, "quota", too_many(math.ceil(seconds))) if seconds > 0 else None
        except StoreUnavailable:
            return None

    async def _told(self, claim: Claim, kind: str, sentence: str) -> Refusal:
        """Tell somebody once in a while, and always whoever used a command, which waits for an answer."""
        person = sha256(f"{claim.thread.home}:{claim.question.author.id}".encode()).hexdigest()[:16]
        key = f"refused:{kind}:{person}"  # nobody is named, as this is not looked up to forget somebody
        is_new = await self._changed(key, str(int(self._now().timestamp() // REMINDER.total_seconds())))
        has_interaction = claim.address is not None and claim.address.interaction is not None
        return Refusal(sentence, is_told=is_new or has_interaction)

    async def _changed(self, key: str, value: str) -> bool:
        """Ask the notes; without them, somebody is told once more."""
        try:
            return await self._memo.changed(key, value)
        except StoreUnavailable:
            return True
