"""What stands in an answer, below it or instead of it, and why a question is not answered, or not yet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta

from core.messages.wording import counted
from core.model import Awaited, Holder, Period, Question, Reached

WARNING = "⚠️"
LIMIT = "⏳"
UNAVAILABLE = "I can't search the documents right now. Please try again in a moment."
FAILED = "Sorry, I couldn't finish this answer. Please try again in a moment."
EXPIRED = "Sorry, this answer took too long, so I gave it up. Please try again in a moment."
STOPPED = "Stopped."
CUT = "This answer got too long, so it was cut off here."
NO_DOCUMENTS = "I have no documents yet. Whoever runs me can add some with `footnote ingest`."
NO_CONTEXT = "I couldn't find anything about that in the documents."
NO_CONTEXT_NEAREST = f"{NO_CONTEXT} The nearest sections are listed below; someone here may know more."
NO_CONTEXT_ALONE = f"{NO_CONTEXT} Someone here may know more."
NO_CONTEXT_NEAREST_IN_TERMINAL = f"{NO_CONTEXT} The nearest sections are listed below."
LEXICAL_ONLY = "I could only search by words just now, so this may miss something."
LATE = "Sorry for the wait."
UPDATED = "Updated after the question was edited."
UNTITLED = "Question removed"
SEARCHING = "is searching the documents…"  # behind the bot's name
MENTION_TO_CONTINUE = "To go on, mention me, or reply to this message and leave the ping on."
MENTION_AGAIN = "To go on, mention me."
QUOTES_ONLY = "These are quotes from the documents, since no chat model is configured."
GREETING = (
    "Hello! I answer questions from this community's documents, with footnotes that lead to the pages. "
    "Ask me something about them."
)
NOTHING_TO_QUOTE = "None of these passages has a sentence that answers this."
LOOKING = "I'm looking for an answer. Only you will see it."
ONLY_YOU = "I can't write in this channel, so only you will see the answer."
PAUSED = "The moderators have paused me here, so I can't answer for now."
SWITCHED_OFF = "I'm switched off in this channel. Please ask me in another one, or talk to the moderators."
CLOSED = "I can't read the moderators' settings here, so I can't answer for now. Please let them know."
BUSY = "I'm busy"
MEMBERS_ONLY = "Sorry, I only answer members here: the documents may not be meant for guests. A member can ask for you."
STRANGERS_READ = (
    "Sorry, my documents are for members only, and guests or people from outside can read this. Members can ask me "
    "privately, and a moderator can open this channel to guests."
)
UNKNOWN_ASKER = "I couldn't check who is asking, and I only answer members here. Please try again in a moment."
CANNOT_TAKE = "I can't take questions right now. Please try again in a moment."
NOT_INSTALLED = "I'm not installed in this workspace any more."
CANNOT_INSTALL = "I can't be installed right now. Please try again in a few minutes."


AWAITED: Mapping[Awaited, str] = {
    Awaited.TURN: f"{BUSY} with other questions; yours is waiting for its turn.",
    Awaited.MODEL: (
        "I'm still waiting for the language model. It may be thinking or loading, which can take minutes. "
        "The answer will appear here."
    ),
    Awaited.SEARCH: "I'm still searching the documents, which takes longer than usual. The answer will appear here.",
    Awaited.EMBEDDER: (
        "I'm still waiting for the service that compares questions with the documents. The answer will appear here."
    ),
    Awaited.RERANKER: ("I'm still waiting for the service that picks the best passages. The answer will appear here."),
}
"""What somebody is told who has seen nothing new for a while, until something new is there."""


def limit_reached(reached: Reached, at: datetime) -> str:
    """Return which limit somebody is at, and when it goes on."""
    budget, wait = reached.budget, _wait(reached.until - at)
    if budget.period is Period.MINUTE:
        return f"That's a lot of questions in a short time. You can ask again in {wait}."
    if reached.is_passing:
        return f"What is left of the budget is set aside for questions I'm still answering. {AGAIN.format(wait)}"
    when = "today" if budget.period is Period.DAY else "this month"
    whose = {Holder.PERSON: "You've", Holder.CHANNEL: "This channel has"}.get(budget.holder, "This community has")
    return f"{whose} reached the limit for {when}. {AGAIN.format(f'{wait}, {_moment(reached.until)}')}"


AGAIN = "You can ask again in {}."


def _wait(wait: timedelta) -> str:
    """Return how long something takes, as people say it."""
    seconds = max(math.ceil(wait.total_seconds()), 1)
    for least, unit, name in ((172_800, 86_400, "day"), (5_400, 3_600, "hour"), (90, 60, "minute")):
        if seconds >= least:
            return f"about {counted(round(seconds / unit), name)}"
    return f"about {counted(seconds, 'second')}"


def _moment(at: datetime) -> str:
    """Return a moment with its time zone, the same for all readers."""
    return f"on {at.day} {at:%B} at {at:%H:%M} {at.tzname() or 'UTC'}"


def no_context(question: Question, *, has_nearest: bool) -> str:
    """Return that the documents do not answer; at a terminal there is nobody else who may know more."""
    if question.message.thread.platform == "terminal":
        return NO_CONTEXT_NEAREST_IN_TERMINAL if has_nearest else NO_CONTEXT
    return NO_CONTEXT_NEAREST if has_nearest else NO_CONTEXT_ALONE


def not_in_selection(question: str) -> str:
    """Return that the selected text does not answer."""
    topic = question.strip().rstrip("?!. ")
    topic = topic if len(topic) <= 120 else topic[:117].rsplit(" ", 1)[0] + " ..."  # noqa: PLR2004 - about two lines
    return f'The selected text doesn\'t contain information about "{topic}".'
