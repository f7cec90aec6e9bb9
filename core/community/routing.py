"""Decides whether a message is for the bot, and where an answer goes. Nothing here waits or looks anything up."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.community.addressing import is_acknowledgement, may_be_question, reads_as_question
from core.errors import InvalidInput
from core.messages import nothing_to_read
from core.model import (
    QUESTION_LIMIT,
    Asked,
    Attendance,
    Deleted,
    Edited,
    Inbound,
    InboundKind,
    Message,
    Question,
    ReplyAddress,
    Setting,
    Signal,
    Terms,
)

USUAL = Terms()
BEGINNING = 300  # characters of what is too long for a question


class Action(StrEnum):
    """What is to be done."""

    LEAVE = "leave"
    OPEN_THREAD = "open_thread"
    ANSWER_HERE = "answer_here"
    REVISE = "revise"
    WITHDRAW = "withdraw"


class Reason(StrEnum):
    """Why; for tests and logs."""

    DIRECT = "a direct message"
    MENTIONED = "the bot is mentioned"
    FOLLOW_UP = "a follow-up in a thread of the bot"
    ASKED = "it was a question for the bot before"
    UNASKED = "moderators want it answered without a mention"
    OVERHEARD = "a question in a thread of the bot where people have spoken"
    GONE = "the message was deleted"
    NOT_ADDRESSED = "nobody addressed the bot"
    SOMEBODY_ELSE = "somebody else is addressed"
    UNREADABLE = "a text without a mention, which the bot is not allowed to read"
    WORDLESS = "there are no words"
    NO_QUESTION = "it is not a question"
    ACKNOWLEDGED = "it thanks, or takes note of something"
    AMONG_PEOPLE = "people talk to each other, and it is not a question for the bot"
    MUTED = "people here want answers to mentions only"


UNSPOKEN = frozenset({Reason.UNASKED, Reason.OVERHEARD, Reason.ASKED})
"""Why something is answered that nobody says to the bot, or says to it no more."""


@dataclass(frozen=True, slots=True)
class Company:
    """Who is in a thread: who has asked there, who has spoken, by their ids, and whether the thread is muted.

    The bot has `answered_at` last, None if never; an asker whom nobody knows has no id. `names` are those of people who
    have spoken, as far as anybody knows.
    """

    askers: Collection[str] = ()
    attendance: Attendance = field(default_factory=Attendance)
    answered_at: datetime | None = None
    names: Collection[str] = ()

    def has_others(self, person_id: str) -> bool:
        """Return whether anybody else has spoken."""
        return any(each != person_id for each in (*self.askers, *self.attendance.spoke))

    def is_talking(self, person_id: str) -> bool:
        """Return whether anybody else has spoken since the last answer."""
        others = (at for each, at in self.attendance.spoke.items() if each != person_id)
        return any(self.answered_at is None or at > self.answered_at for at in others)


@dataclass(frozen=True, slots=True)
class Standing:
    """What the bot knows and may do where the message stands.

    `threads_we_own` are the ids of threads that it has opened, and of those that it answers unasked; answering a
    mention in somebody's thread makes that none of ours. `company` is who is there, None where nobody can know.
    `answers_unasked` says that moderators want the message answered although nobody speaks to
    the bot, as with new posts of a forum. `is_asked` says that the message was put into the inbox before, and `judges`
    that a model judges what may be a question among people.
    """

    me: str
    threads_we_own: Collection[str] = ()
    reads_all: bool = False
    opens_threads: bool = True
    company: Company | None = None
    answers_unasked: bool = False
    is_asked: bool = False
    judges: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done and why; `reads_thread` says that what others said before in the thread is context.

    `is_shared` says that others have spoken in a thread of the bot's, where people would not see which answer is whose,
    and `is_doubtful` that a model has to judge whether the bot is asked.
    """

    action: Action
    reason: Reason
    reads_thread: bool = False
    is_shared: bool = False
    is_doubtful: bool = False


def route(inbound: Inbound, standing: Standing) -> Decision:
    """Decide about one message, one edit or one deletion."""
    if inbound.kind is InboundKind.DELETED:
        return Decision(Action.WITHDRAW, Reason.GONE)
    is_thread = inbound.setting is Setting.THREAD
    is_ours = is_thread and inbound.message.thread.thread in standing.threads_we_own
    author = inbound.author.id if inbound.author else ""
    is_shared = is_ours and standing.company is not None and standing.company.has_others(author)
    if inbound.setting is Setting.DIRECT:
        decision = Decision(Action.ANSWER_HERE, Reason.DIRECT)
    elif standing.me in inbound.mentions and inbound.setting is Setting.CHANNEL and standing.opens_threads:
        decision = Decision(Action.OPEN_THREAD, Reason.MENTIONED)
    elif standing.me in inbound.mentions:
        decision = Decision(Action.ANSWER_HERE, Reason.MENTIONED, is_thread and not is_ours, is_shared)
    elif silence := _reason_for_silence(inbound, standing, is_ours=is_ours):
        decision = Decision(Action.LEAVE, silence)
    else:
        opens_thread = inbound.setting is Setting.CHANNEL and standing.opens_threads
        is_overheard = is_shared and inbound.is_reply_to != standing.me
        said = Reason.OVERHEARD if is_overheard else Reason.FOLLOW_UP
        action = Action.OPEN_THREAD if opens_thread else Action.ANSWER_HERE
        is_doubtful = is_overheard and standing.judges
        decision = Decision(action, said if is_ours else Reason.UNASKED, is_shared=is_shared, is_doubtful=is_doubtful)
    if inbound.kind is InboundKind.EDITED and decision.action is not Action.LEAVE:
        return Decision(Action.REVISE, decision.reason, decision.reads_thread, is_doubtful=decision.is_doubtful)
    was_asked = inbound.kind is InboundKind.EDITED and standing.is_asked
    return Decision(Action.REVISE, Reason.ASKED) if was_asked else decision


def _reason_for_silence(inbound: Inbound, standing: Standing, *, is_ours: bool) -> Reason | None:
    """Return why a message without a mention is none for the bot; None if it is."""
    if not is_ours and not standing.answers_unasked:
        return Reason.NOT_ADDRESSED
    author = inbound.author.id if inbound.author else ""
    if inbound.mentions or inbound.is_reply_to not in ("", standing.me, author):
        return Reason.SOMEBODY_ELSE
    if not standing.reads_all:
        return Reason.UNREADABLE
    if not (inbound.text or inbound.carries):
        return Reason.WORDLESS
    if is_ours:
        return _reason_among_people(inbound, standing, author)
    return None if reads_as_question(inbound.text, follows_answer=True) else Reason.NO_QUESTION


def _reason_among_people(inbound: Inbound, standing: Standing, author: str) -> Reason | None:
    """Return why a message in a thread of the bot's is none for it, by its words and by who is there; None if it is."""
    company = standing.company
    if company is not None and company.attendance.is_muted:
        return Reason.MUTED
    if is_acknowledgement(inbound.text) and not inbound.carries:
        return Reason.ACKNOWLEDGED
    if company is None or inbound.is_reply_to == standing.me or not company.has_others(author):
        return None
    if standing.judges:
        return None if may_be_question(inbound.text, names=company.names) else Reason.AMONG_PEOPLE
    follows_answer, is_asker = not company.is_talking(author), not {author, ""}.isdisjoint(company.askers)
    is_asked = reads_as_question(inbound.text, names=company.names, follows_answer=follows_answer, is_asker=is_asker)
    return None if is_asked else Reason.AMONG_PEOPLE


def signal(
    inbound: Inbound, decision: Decision, *, before: tuple[Message, ...] = (), terms: Terms = USUAL
) -> Signal | None:
    """Return what goes into the inbox, or None; `InvalidInput` with a sentence for the reader if nothing is asked.

    *before* is what others said in the thread, and *terms* are how questions are asked here.
    """
    if decision.action is Action.LEAVE:
        return None
    if decision.action is Action.WITHDRAW:
        return Deleted(message=inbound.message)
    inbound = inbound if inbound.text else _worded(inbound)
    question = Question.create(
        message=inbound.message,
        revision=inbound.revision,
        text=inbound.text,
        author=inbound.author,
        context=(*before, *inbound.quoted),
        attachments=inbound.attachments,
        reply_to=inbound.reply_to,
        asked_at=inbound.at,
        is_unasked=decision.reason in UNSPOKEN,
        is_doubtful=decision.is_doubtful,
        words_of=inbound.words_of,
        top_k=terms.top_k,
        relevance_threshold=terms.relevance_threshold,
    )
    if decision.action is Action.REVISE:
        return Edited(question=question)
    if decision.action is Action.OPEN_THREAD:
        address = ReplyAddress(thread=inbound.message.thread, message=inbound.message)
    elif inbound.setting is Setting.CHANNEL:  # where no thread can be opened, as a reply
        channel = inbound.message.thread.model_copy(update={"thread": inbound.message.thread.channel})
        address = ReplyAddress(thread=channel, message=inbound.message)
    else:
        is_shared = decision.reads_thread or decision.is_shared or decision.reason is Reason.DIRECT
        is_within = inbound.message.id != inbound.message.thread.thread
        replies_to = inbound.message if is_shared and is_within else None  # so that people see which answer is whose
        address = ReplyAddress(thread=inbound.message.thread, message=replies_to)
    return Asked(question=question, address=address)


def _worded(inbound: Inbound) -> Inbound:
    """Return a message without words with those that stand for them, which are then nowhere else.

    They are those of the message that it replies to or forwards, unless the bot has said that; otherwise those of its
    file, which a long question becomes on Discord. Of what is too long for a question its beginning is one, and the
    whole stays. Raises `InvalidInput` if all that there is are files that could not be read.
    """
    last, asker = inbound.quoted[-1] if inbound.quoted else None, inbound.author and inbound.author.id
    file = next((each for each in inbound.attachments if each.text), None)
    if last is not None and last.role == "user":
        text, rest, author = last.text, {"quoted": inbound.quoted[:-1]}, last.author_id
    elif file is not None:
        others = tuple(each for each in inbound.attachments if each is not file)
        text, rest, author = file.text, {"attachments": others}, "" if file.is_quoted else asker
    elif inbound.attachments:
        raise InvalidInput(nothing_to_read(inbound.attachments), field="text")
    else:
        return inbound
    text = text.strip()
    if len(text) > QUESTION_LIMIT:
        text, rest = f"{text[:BEGINNING].rsplit(maxsplit=1)[0]} …", {}
    return inbound.model_copy(update={"text": text, "words_of": None if author == asker else author, **rest})
