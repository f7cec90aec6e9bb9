"""What is remembered of a community: its conversations, its votes, and what moderators have set and ordered."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import Field

from core.model.answer import Answer, Citation, ToolRecord
from core.model.budgets import Budget
from core.model.question import NOT_KEPT, Attachments, Question
from core.model.refs import ChannelRef, MessageRef, Person, ThreadRef, Value, WorkspaceRef


class Turn(Value):
    """One exchange as it is remembered; appended once, by `question_ref`. `author_id` is who asked, if known.

    `at` is when it was answered and `asked_at` when it was asked, if known. `messages` are those with the answer, which
    older versions did not keep; `attachments` are files that the question came with. `quoted` are those whose words the
    answer may hold as they were quoted to its question, or to one before, by their ids; empty is anybody or unknown.
    """

    question_ref: MessageRef
    question: str
    answer: str
    citations: tuple[Citation, ...] = ()
    tool_calls: tuple[ToolRecord, ...] = ()
    at: datetime
    author_id: str = ""
    asked_at: datetime | None = None
    messages: tuple[MessageRef, ...] = ()
    attachments: Attachments = ()
    quoted: tuple[str, ...] = ("",)

    @classmethod
    def of(
        cls, question: Question, answer: Answer, messages: tuple[MessageRef, ...], *, at: datetime, past: Sequence[Self]
    ) -> Self:
        """Return what is remembered of an answer, for which a model was given the *past* too."""
        return cls(
            question_ref=question.message,
            question=question.text if question.words_of is None else NOT_KEPT,
            answer=answer.text,
            citations=answer.citations,
            tool_calls=answer.tool_calls,
            at=at,
            author_id=question.author.id,
            asked_at=question.asked_at,
            messages=messages,
            attachments=tuple(each for each in question.attachments if not each.is_quoted),
            quoted=tuple(sorted(question.quoted.union(*(each.quoted for each in past)))),
        )

    def is_by(self, person_id: str | None, before: datetime | None = None) -> bool:
        """Return whether somebody, or anybody, asked it, and, where a time is given, *before* that."""
        return person_id in (None, self.author_id) and (before is None or (self.asked_at or self.at) <= before)

    def quotes(self, person_id: str) -> bool:
        """Return whether it may hold words of somebody that were quoted."""
        return not {"", person_id}.isdisjoint(self.quoted)

    @property
    def alone(self) -> Self:
        """The turn without all that may hold words of others, which is the answer with what was searched for it."""
        return self.model_copy(update={"answer": NOT_KEPT, "citations": (), "tool_calls": (), "quoted": ()})


@dataclass(frozen=True, slots=True)
class ForgettingOrder:
    """Somebody, or everybody, who was forgotten in a place."""

    place: ThreadRef | ChannelRef | WorkspaceRef
    person_id: str | None
    at: datetime


class Conversation(Value):
    """What was said in a thread, oldest first."""

    thread: ThreadRef
    turns: tuple[Turn, ...] = ()

    def within(self, sources: Collection[str]) -> Conversation:
        """Return it without the turns whose answers cite what is not among these sources, as one that was closed."""
        turns = [each for each in self.turns if all(one.source in {"", *sources} for one in each.citations)]
        return self.model_copy(update={"turns": tuple(turns)})


class Attendance(Value):
    """Who has spoken in a thread, and when they did last, by their ids.

    It `is_muted` where people there want no answers but to mentions.
    """

    spoke: Mapping[str, datetime] = Field(default_factory=dict[str, datetime])
    is_muted: bool = False


class Complaint(StrEnum):
    """What is wrong with an answer; people choose among these, so that no words of theirs have to be kept."""

    WRONG = "wrong"
    INCOMPLETE = "incomplete"
    BAD_SOURCES = "bad_sources"
    UNCLEAR = "unclear"
    OFF_TOPIC = "off_topic"


class Vote(Value):
    """One person's opinion of one answer, by its id; a later one replaces it."""

    answer_id: str = Field(min_length=1)
    person_id: str = Field(min_length=1)
    is_helpful: bool
    complaints: tuple[Complaint, ...] = ()
    at: datetime


class Tally(Value):
    """How many votes there are."""

    helpful: int = 0
    unhelpful: int = 0


class PolicyFault(StrEnum):
    """Why a stored policy cannot be read: a newer version of the product wrote it, or nobody knows who did."""

    NEWER = "newer"
    DAMAGED = "damaged"


class Policy(Value):
    """How a workspace wants the bot to behave; without one, it answers those who speak to it.

    `auto_answer` are the channels whose new posts are answered although they mention nobody. In `silent_channels` and
    in their threads, nothing is answered. In `open_channels`, what is for members is answered also where guests and
    people of other companies can read it. `moderators` are the roles or groups whose members may moderate, besides
    admins. One with a `fault` is closed: nothing is answered at all, and the other fields are what could be read of it.
    """

    paused_by: Person | None = None
    paused_at: datetime | None = None
    auto_answer: frozenset[str] = frozenset()
    silent_channels: frozenset[str] = frozenset()
    budgets: tuple[Budget, ...] = ()
    open_channels: frozenset[str] = frozenset()
    moderators: frozenset[str] = frozenset()
    fault: PolicyFault | None = None

    def answers_in(self, channel: str) -> bool:
        """Return whether questions are answered in a channel and in its threads."""
        return self.fault is None and self.paused_by is None and channel not in self.silent_channels


class Communities(Value):
    """Which servers and workspaces may use the bot, in the order in which they were allowed.

    `first` has the documents of which nobody has said whose they are; it stays, also once it is not allowed any more.
    `named` are those that the settings name, and `own` those whose token the operator has set; both are allowed for as
    long as that is so. `waiting` are those in which somebody has asked that the operator has not allowed, and `settled`
    the platforms of which it is decided which of those that are there may.
    """

    allowed: tuple[WorkspaceRef, ...] = ()
    first: WorkspaceRef | None = None
    named: tuple[WorkspaceRef, ...] = ()
    own: tuple[WorkspaceRef, ...] = ()
    waiting: tuple[WorkspaceRef, ...] = ()
    settled: frozenset[str] = frozenset()

    def admits(self, home: WorkspaceRef) -> bool:
        """Return whether people may use the bot there, for the community's sake: direct messages are in none."""
        return not home.communities or not set(home.communities).isdisjoint(self.allowed)

    def is_decided(self, platform: str) -> bool:
        """Return whether those on a platform that are not allowed wait for the operator, and not for a start."""
        return bool(self.named) or platform in self.settled


class Actor(Value):
    """Somebody who gives an order; the platform has said whether they may moderate there, and say who else may."""

    person: Person
    home: WorkspaceRef
    may_moderate: bool
    is_admin: bool = False


class OrderKind(StrEnum):
    """What a moderator can order, in the words in which it is noted."""

    PAUSE = "pause"
    RESUME = "resume"
    PAUSE_CHANNEL = "pause channel"
    RESUME_CHANNEL = "resume channel"
    AUTO_ANSWER_ON = "auto-answer on"
    AUTO_ANSWER_OFF = "auto-answer off"
    OPEN_CHANNEL = "open channel to guests"
    CLOSE_CHANNEL = "close channel to guests"
    ADD_MODERATORS = "add moderators"
    REMOVE_MODERATORS = "remove moderators"
    SET_BUDGET = "set budget"
    LIFT_BUDGET = "lift budget"
    FORGET_THREAD = "forget thread"
    FORGET_PERSON = "forget person"
    FORGET_EVERYTHING = "forget everything"


@dataclass(frozen=True, slots=True)
class ModerationOrder:
    """One order; `about` is the id of the channel, person or group, the thread, or the budget, that it is about.

    One to forget changes no policy, and is always noted.
    """

    kind: OrderKind
    about: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """What an order did: whether it changed anything, and the policy as it was before."""

    is_new: bool
    before: Policy


class AuditEntry(Value):
    """An order that took effect, for whoever asks later. It holds no text; `did` may be a kind of another version."""

    by: Person
    did: str
    about: str = ""
    at: datetime
