"""What stands in an answer, below it or instead of it, and why a question is not answered, or not yet."""

from __future__ import annotations

from core.model import Question

WARNING = "⚠️"
UNAVAILABLE = "I can't search the documents right now. Please try again in a moment."
FAILED = "Sorry, I couldn't finish this answer. Please try again in a moment."
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
UNKNOWN_ASKER = "I couldn't check who is asking, and I only answer members here. Please try again in a moment."
CANNOT_TAKE = "I can't take questions right now. Please try again in a moment."
NOT_INSTALLED = "I'm not installed in this workspace any more."
CANNOT_INSTALL = "I can't be installed right now. Please try again in a few minutes."


def too_many(seconds: int) -> str:
    """Return when somebody may ask again."""
    wait = f"{seconds} seconds" if seconds < 90 else f"{round(seconds / 60)} minutes"  # noqa: PLR2004 - as people say it
    return f"That's a lot of questions in a short time. You can ask again in about {wait}."


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
