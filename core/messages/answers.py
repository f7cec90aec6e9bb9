"""What stands in an answer, below it or instead of it, and why a question is not answered, or not yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from core.errors import ModelUnavailable, PromptTooLong
from core.messages.wording import about, joined
from core.model import Attachment, Awaited, Question, Unread

SHORTEST = 80  # characters of a sentence that is only pointed at
WARNING = "⚠️"
LIMIT = "⏳"
UNAVAILABLE = "I can't search the documents right now. Please try again in a moment."
FAILED = "Sorry, I couldn't finish this answer. Please try again in a moment."
NEEDS_OPERATOR = "My language model isn't working. The person who runs me can find out why with `footnote doctor`."
NOT_ANSWERED = "Sorry, my language model didn't answer this. Please ask in other words."
TOO_LONG = (
    "Sorry, this is more than my language model can read at once. Please ask in fewer words, or with shorter files."
)
EXPIRED = "Sorry, this answer took too long, so I stopped. Please try again in a moment."
STOPPED = "Stopped."
CUT = "This answer was cut off here."
NO_DOCUMENTS = (
    "I have no documents for you here yet. The person who runs me can add some with `footnote ingest`, and say who may "
    "read them with `footnote sources share`."
)
NO_CONTEXT = "I couldn't find anything about that in the documents."
NO_CONTEXT_NEAREST = f"{NO_CONTEXT} The nearest sections are listed below; someone here may know more."
NO_CONTEXT_ALONE = f"{NO_CONTEXT} Someone here may know more."
NO_CONTEXT_NEAREST_IN_TERMINAL = f"{NO_CONTEXT} The nearest sections are listed below."
NOTHING_DONE = "I can only answer questions: I haven't sent, changed or created anything."
LEXICAL_ONLY = "I could only search by words just now, so this may miss something."
LATE = "Sorry for the wait."
UPDATED = "Updated after the question was edited."
UNTITLED = "Question removed"
SEARCHING = "is searching the documents…"  # behind the bot's name
MENTION_TO_CONTINUE = "To continue, mention me, or reply to this message and leave the ping on."
MENTION_AGAIN = "To continue, mention me."
UNHEARD = f"I can't read messages that don't mention me. {MENTION_TO_CONTINUE}"
QUOTES_ONLY = "These are quotes from the documents, since no chat model is configured."
GREETING = (
    "Hello! I answer questions from this community's documents, with footnotes that lead to the pages. "
    "Ask me something about them."
)
THANKED = "You're welcome! Ask me again whenever you're looking for something in the documents."
FAREWELL = "Goodbye! I'll be here when you have another question."
PRAISED = "Good to hear! If anything is still unclear, just ask."
NO_HELP = "Sorry that this didn't help. I can only quote the documents: try other words, or say more of what you need."
WELL = "I'm fine, thank you, and ready to look something up. What would you like to know?"
ABOUT_ME = (
    "I'm Footnote, a bot. I look for answers in this community's documents, and each comes with footnotes that lead to "
    "the pages. Ask me something about them, or ask “What can I ask you?”"
)
LOOKING = "I'm looking for an answer. Only you will see it."
ONLY_YOU = "I can't write in this channel, so only you will see the answer."
PAUSED = "The moderators have paused me here, so I can't answer for now."
SWITCHED_OFF = "I'm switched off in this channel. Please ask me in another one, or talk to the moderators."
CLOSED = "I can't read the moderators' settings here, so I can't answer for now. Please let them know."
NOT_ALLOWED = (
    "Thanks for asking! I can't answer in this community yet: the person who runs me has to allow it first. "
    "They can see that you asked."
)
BUSY = "I'm busy"
STRANGERS_READ = (
    "Sorry, my documents are for members only, and guests or people from outside would read this. Members can ask me "
    "privately, and a moderator can open a channel to guests."
)
NO_MEMBER = (
    "Sorry, I only answer members of the communities that I work for, and I can't see that you belong to one of them. "
    "If you do, please ask me there."
)
UNKNOWN_PEOPLE = "I couldn't check who can read this, and I only answer members. Please try again in a moment."
CANNOT_TAKE = "I can't take questions right now. Please try again in a moment."
NOT_TAKEN = "I can't take questions right now. If no answer comes within a few minutes, please ask again."
NOT_INSTALLED = (
    "I can't find my installation in this workspace. Please try again in a minute; if that doesn't help, an admin has "
    "to install me again."
)
CANNOT_INSTALL = "I can't be installed right now. Please try again in a few minutes."


AWAITED: Mapping[Awaited, str] = {
    Awaited.TURN: f"{BUSY} with other questions; yours is waiting for its turn.",
    Awaited.ATTEMPT: "Something interrupted me. I'll try again in a moment, and the answer will appear here.",
    Awaited.READERS: f"{BUSY} checking who can read this, as I only answer members. The answer will appear here.",
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


UNREAD: Mapping[Unread, str] = {
    Unread.KIND: "I only read text, such as code and logs",
    Unread.SIZE: "it is too large",
    Unread.EMPTY: "it is empty",
    Unread.GONE: "it is no longer there",
    Unread.DENIED: "I'm not allowed to open it",
    Unread.NUMBER: "that's more files than I read at once",
    Unread.FAILED: "it didn't arrive in time",
}
"""Why a file was not read."""


def nothing_to_read(attachments: Sequence[Attachment]) -> str:
    """Return what to say to somebody who asks about files alone, of which none could be read; no name is in it."""
    reasons = dict.fromkeys(UNREAD[each.unread] for each in attachments if each.unread)
    what = "that file" if len(attachments) == 1 else "those files"
    return f"I couldn't read {what}: {'; '.join(reasons)}."


def unread_files(attachments: Sequence[Attachment]) -> str:
    """Return in a sentence or two which files were not read, or not wholly; empty if all were.

    The names are as people gave them, so they must not be shown as markup.
    """
    failed = dict[Unread, list[str]]()
    for each in attachments:
        if each.unread:
            failed.setdefault(each.unread, []).append(each.name)
    cut = [each.name for each in attachments if each.is_cut]
    reasons = "; ".join(f"{joined(names)} ({UNREAD[why]})" for why, names in failed.items())
    said = [f"I couldn't read {reasons}."] if reasons else []
    said += [f"I only read the beginning and the end of {joined(cut)}."] if cut else []
    return " ".join(said)


def no_answer(error: ModelUnavailable) -> str:
    """Return why the chat model gave no answer, and what to do about it, for whoever asked."""
    if error.wait:
        return f"Sorry, my language model is overloaded. Please try again in {about(timedelta(seconds=error.wait))}."
    if isinstance(error, PromptTooLong):
        return TOO_LONG
    return NEEDS_OPERATOR if error.is_lasting else NOT_ANSWERED if error.is_final else FAILED


def no_context(question: Question, *, has_nearest: bool) -> str:
    """Return that the documents do not answer; at a terminal there is nobody else who may know more."""
    if question.message.thread.platform == "terminal":
        return NO_CONTEXT_NEAREST_IN_TERMINAL if has_nearest else NO_CONTEXT
    return NO_CONTEXT_NEAREST if has_nearest else NO_CONTEXT_ALONE


def needs_chat_model(*, has_selection: bool) -> str:
    """Return that text cannot be put in other words here, and what can be asked instead."""
    place = "this text" if has_selection else "the documents, or in a text that you select"
    return (
        "I can't rephrase or summarise text, because that needs a chat model, and none is connected. I can find things "
        f"in {place}, so ask me what you want to know."
    )


def not_in_sources(sentences: Sequence[str], where: str) -> str:
    """Return which sentences of an answer are not *where* they should be, by their beginnings."""
    shown = [
        f"“{each if len(each) <= SHORTEST else each[:SHORTEST].rsplit(' ', 1)[0] + ' …'}”" for each in sentences[:2]
    ]
    more = f" and {len(sentences) - 2} more" if len(sentences) > 2 else ""  # noqa: PLR2004 - as many are shown
    return f"I didn't find this in the {where}: {', '.join(shown)}{more}."


def not_in_selection(question: str) -> str:
    """Return that the selected text does not answer."""
    topic = question.strip().rstrip("?!. ")
    topic = topic if len(topic) <= 120 else topic[:117].rsplit(" ", 1)[0] + " ..."  # noqa: PLR2004 - about two lines
    return f'The selected text doesn\'t contain information about "{topic}".'
