"""What an inbox in memory knows of a message."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from core.model import (
    Answer,
    AnyPlace,
    Asked,
    Cancellation,
    Claim,
    Delivery,
    Interruption,
    MessageRef,
    Question,
    ReplyAddress,
    Stage,
    Task,
    Withdrawal,
    WorkspaceRef,
)

STAGES = {
    "early": Stage.UNKNOWN,
    "accepted": Stage.WAITING,
    "waiting": Stage.WAITING,
    "running": Stage.RUNNING,
}


@dataclass(eq=False)
class Record:
    """What is known of a message."""

    message: MessageRef
    state: Literal["early", "accepted", "waiting", "running", "done", "dead"] = "early"
    question: Question | None = None
    address: ReplyAddress | None = None
    delivery: Delivery = field(default_factory=Delivery)
    attempts: int = 0
    begun: bool = False
    fence: int = 0
    concluded: bool = False
    deleted: bool = False
    stopped: bool = False
    kept: Question | None = None
    retried: bool = False
    asked: datetime | None = None
    lease: float = 0.0
    first: float | None = None
    paused: float = 0.0
    anew: bool = False
    withdraws: bool = False
    cancelled: Cancellation = field(default_factory=Cancellation)

    @property
    def stage(self) -> Stage:
        """Say how far it has come; what is deleted is over."""
        return Stage.OVER if self.deleted else STAGES.get(self.state, Stage.OVER)

    def task(self) -> Task:
        """Give out what is to be done."""
        self.cancelled, self.anew, self.withdraws = Cancellation(), False, False
        known: dict[str, Any] = {
            "attempt": self.attempts,
            "fence": self.fence,
            "delivery": self.delivery,
            "cancelled": self.cancelled,
            "was_released": self.begun,
            "spent": self.spent(),
        }
        if self.deleted:
            return Withdrawal(self.message, **known)
        assert self.question
        if self.stopped:
            self.cancelled.set(Interruption.STOPPED)
        return Claim(self.question, self.address, is_update=self.concluded, **known)

    def withdrawal(self, claim: Claim) -> Withdrawal:
        """Be worked on as that."""
        self.withdraws = True
        return Withdrawal(
            claim.message, fence=claim.fence, delivery=self.delivery, cancelled=claim.cancelled, was_released=True
        )

    def outlive(self, workers: int, delivery: Delivery | None) -> None:
        """Be as so many workers left it that died."""
        self.attempts, self.fence, self.delivery = workers, workers, delivery or self.delivery

    def knows(self, question: Question) -> bool:
        """Say whether other words of it are no news."""
        is_older = self.question is not None and self.question.revision >= question.revision
        return self.deleted or self.state == "accepted" or is_older

    def spent(self) -> float:
        """Return for how many seconds somebody has been at it, and count on."""
        now = asyncio.get_running_loop().time()
        self.first, self.paused = (now - self.paused if self.first is None else self.first), 0.0
        return now - self.first

    def give_back(self, *, counts: bool = False) -> None:
        """Wait, unless it counts as if nobody had taken it, and count no time in which nobody is at it."""
        self.state, self.attempts = "waiting", self.attempts - (not counts)
        if self.first is not None:
            self.first, self.paused = None, asyncio.get_running_loop().time() - self.first

    def conclude(self) -> None:
        """Be known for ever, and nothing else."""
        self.state, self.deleted, self.question, self.address = "done", True, None, None

    def is_by(self, home: WorkspaceRef, person_id: str) -> bool:
        """Say whether somebody has asked it."""
        return self.message.thread.home == home and self.question is not None and self.question.author.id == person_id

    def may_be_by(self, place: AnyPlace, person_id: str | None, before: datetime | None) -> bool:
        """Say whether somebody has asked it in a place, or may have written its words."""
        is_there = f"{self.message}".startswith(f"{place}:")
        return is_there and self.question is not None and self.question.is_by(person_id, before)

    def on_its_way(self, platform: str, *states: str) -> Asked | None:
        """Give what was asked on a platform, if it has one of these states."""
        is_it = self.state in states and self.message.thread.platform == platform
        return Asked(question=self.question, address=self.address) if is_it and self.question else None

    def untold(self, platform: str) -> Asked | None:
        """Give what no platform tells again."""
        found, is_it = (
            self.on_its_way(platform, "waiting", "running"),
            self.retried or not self.message.thread.home.communities,
        )
        return found if found and (found.way or is_it) else None

    @property
    def was_taken(self) -> bool:
        """Whether somebody has begun with it."""
        return any((self.attempts, self.begun, self.concluded, self.retried))

    def note(self, task: Task, delivery: Delivery) -> bool:
        """Keep what is posted, and the answer to words that still count; False if it is not for *task* to say."""
        if self.is_held_as(task):
            self.delivery = delivery.model_copy(update={"answer": delivery.answer or self.delivery.answer})
        if self.is_outdated(task):
            self.unwrite()
        return self.is_held_as(task)

    def supply(self, answer: Answer | None) -> None:
        """Know of an answer that somebody had, unless there is another, or it is to be begun anew."""
        if not self.anew and self.delivery.answer is None:
            self.delivery = self.delivery.model_copy(update={"answer": answer})

    def unwrite(self) -> None:
        """Know of no answer that is about to be shown."""
        self.delivery = self.delivery.model_copy(update={"answer": None})

    def keep(self) -> None:
        """Lay the words aside, without those of others."""
        if self.question and not self.deleted:
            self.kept = self.question.alone

    def is_untouched_and_after(self, time: datetime) -> bool:
        """Say whether nobody has begun with it, and it was asked later."""
        is_untouched = self.state == "waiting" and not self.attempts and not self.begun
        return is_untouched and self.asked is not None and self.asked > time

    def is_held_as(self, task: Task) -> bool:
        """Say whether *task* is what somebody works on."""
        return self.state == "running" and self.fence == task.fence

    def is_outdated(self, task: Task) -> bool:
        """Say whether something newer than *task* is to be done."""
        is_new = isinstance(task, Claim) and (self.deleted or self.anew or self.question != task.question)
        return is_new and not self.withdraws

    def quote_no_more(self, place: AnyPlace, person_id: str) -> None:
        """Go on without what is quoted, if that holds words of somebody."""
        is_there = f"{self.message}".startswith(f"{place}:")
        if is_there and self.question and self.question.quotes(person_id):
            self.question = self.question.alone
            self.begin_anew()

    def begin_anew(self) -> None:
        """Let whoever works on it, or will, do so with what is known by then."""
        self.unwrite()
        if self.state == "running":
            self.anew = True
            self.cancelled.set(Interruption.EDITED)
