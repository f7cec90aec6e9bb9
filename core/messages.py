"""What the bot says beside its answers and instead of them, in the same words on every platform."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from core.errors import InvalidInput
from core.model import (
    Applied,
    AuditEntry,
    Complaint,
    OrderKind,
    Outline,
    Person,
    Policy,
    PolicyFault,
    Question,
    Tally,
    ThreadRef,
)

WARNING = "⚠️"
UNAVAILABLE = "I can't search the documents right now. Please try again in a moment."
FAILED = "Sorry, I couldn't finish this answer. Please try again in a moment."
STOPPED = "Stopped."
CUT = "This answer got too long, so it was cut off here."
PAUSED = "The moderators have paused me here, so I can't answer for now."
SWITCHED_OFF = "I'm switched off in this channel. Please ask me in another one, or talk to the moderators."
CLOSED = "I can't read the moderators' settings here, so I can't answer for now. Please let them know."
NO_DOCUMENTS = "I have no documents yet. Whoever runs me can add some with `footnote ingest`."
NO_CONTEXT = "I couldn't find anything about that in the documents."
NO_CONTEXT_NEAREST = f"{NO_CONTEXT} The nearest sections are listed below; someone here may know more."
NO_CONTEXT_ALONE = f"{NO_CONTEXT} Someone here may know more."
NO_CONTEXT_NEAREST_IN_TERMINAL = f"{NO_CONTEXT} The nearest sections are listed below."
LEXICAL_ONLY = "I could only search by words just now, so this may miss something."
BUSY = "I'm busy"
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
NOT_PART_OF_IT = "Only those who asked in this thread, or moderators, can have it forgotten."
NOT_A_MODERATOR = "Only moderators may do that. Ask one of them."
ANOTHER_WORKSPACE = "That conversation belongs to another workspace."
CANNOT_TAKE = "I can't take questions right now. Please try again in a moment."
AWAY = "I can't reach my storage right now. Please try again in a moment."
BROKEN = "Sorry, that didn't work. Please try again in a moment."
OUTDATED = "This command has changed. Please try it again in a minute."
OLD_BUTTON = "This button is from an earlier version of me, so it does nothing any more."
NO_TEXT = "That message has no text I could answer from."
NO_SOURCES = "There is no answer with sources here, or I don't remember it any more."
THANKS = "Thank you, that's noted."
TELL_MORE = "What's wrong with this answer?"
NOT_YOURS = "Only the person who asked, or someone who can manage messages, can stop an answer."
OVER = "There is nothing left to stop."
NOT_RETRIED = "I can't try this one again. Please ask the question again."
NOBODY_NAMED = "Please name the person."
ONLY_IN_CHANNELS = "Please use this in the channel you mean."
PROMPTS_TITLE = "Ask me about the documents, for example:"
PROMPTS = ("What can you do?", "How do I get started?", "Where can I get help?")
MEMBERS_ONLY = "Sorry, I only answer members here: the documents may not be meant for guests. A member can ask for you."
UNKNOWN_ASKER = "I couldn't check who is asking, and I only answer members here. Please try again in a moment."
NOT_INSTALLED = "I'm not installed in this workspace any more."
CANNOT_INSTALL = "I can't be installed right now. Please try again in a few minutes."
LOOKING = "I'm looking for an answer. Only you will see it."
ONLY_YOU = "I can't write in this channel, so only you will see the answer."
SHOWN_SOURCES = SHOWN_CHANNELS = 20
PAGE_LENGTH = 1_500  # characters of a list, which leaves room for what stands around it in a Discord message
UNCHANGED = "Nothing has changed."
UNREADABLE = "The settings here can't be read, so they can't be changed. Use the command `status` to see what to do."
FAULTS = {
    PolicyFault.NEWER: "The settings here were saved by a newer version of Footnote and can't be read.",
    PolicyFault.DAMAGED: "The settings here can't be read.",
}
CHANNEL_ORDERS = frozenset(
    {OrderKind.PAUSE_CHANNEL, OrderKind.RESUME_CHANNEL, OrderKind.AUTO_ANSWER_ON, OrderKind.AUTO_ANSWER_OFF}
)
NO_ENTRIES = "There are no older entries."
MORE = "There is more: {}"
NO_SUCH_PAGE = "The list isn't that long."

COMPLAINTS = {
    Complaint.WRONG: "It is wrong",
    Complaint.INCOMPLETE: "Something is missing",
    Complaint.BAD_SOURCES: "The sources don't say this",
    Complaint.UNCLEAR: "It is hard to understand",
    Complaint.OFF_TOPIC: "It answers a different question",
}


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


@dataclass(frozen=True, slots=True)
class Forms:
    """What people write or choose on a platform; these are the words where each command has a name of its own."""

    ask: str = "/ask"
    privately: str = "private"
    menu: str = "in a message's menu under Apps"
    sources: str = "**/sources**"
    forget: str = "**/forget** removes this thread, or everything about you, at once."
    privacy: str = "**/privacy**"
    documents: str = "**/documents**"
    documents_page: str = "`/documents page:{}`"
    more: str = ""
    in_thread: str = "Please use this in the thread with the answer."
    unconfirmed: str = "This forgets every conversation here. To do it, choose the same again and set confirm to True."


SLACK_FORMS = Forms(
    ask="/footnote ask",
    privately="--private",
    menu="in a message's menu",
    sources="**Show sources**, in the same menu,",
    forget="**/footnote forget me** removes everything about you at once; to remove a thread, mention me there with "
    "`forget` alone.",
    privacy="**/footnote privacy**",
    documents="**/footnote documents**",
    documents_page="`/footnote documents {}`",
    more="Slack has no commands in threads: there, mention me with "
    "`sources`, `documents`, `forget`, `help` or `privacy` alone.",
    in_thread="Slack has no commands in threads. In the thread with the answer, mention me with `sources` or `forget` "
    "alone, or choose **Show sources** in a message's menu.",
    unconfirmed="This forgets every conversation here. To do it, write `/footnote admin forget everything confirm`.",
)
SLACK_COMMANDS = """\
`/footnote ask [--private] QUESTION`
`/footnote documents [PAGE]`, `/footnote help`, `/footnote privacy`
`/footnote forget me` removes everything about you; in a thread, mention me with `forget` to remove the thread.
`/footnote admin status [PAGE]`, `pause [here]`, `resume [here]`, `forget person @NAME`, `forget everything` are for \
moderators."""
FORGET_ME_TITLE = "Forget everything about you?"
FORGET_ME_WARNING = "Your questions with their answers, and your votes, are removed at once."


def not_understood(text: str) -> str:
    """Return what can be written behind Slack's one command instead of *text*, which has to be safe already."""
    return f"I don't understand “{text}”. This is what I understand:\n{SLACK_COMMANDS}"


def help_text(forms: Forms) -> str:
    """Return what the bot can do, and how."""
    more = f"\n{forms.more}" if forms.more else ""
    return f"""\
I answer questions from this community's documents, with a numbered footnote after every statement.

**Mention me** with your question, or use **{forms.ask}**; with `{forms.privately}`, only you see the answer.
**Follow up** in the thread of the answer: I remember what was said there.
**Answer from this message**, {forms.menu}, answers from that message alone.
{forms.documents} lists what I can search, and {forms.sources} lists where the last answer came from.
**Stop**, **Retry** and the votes are below an answer.
{forms.forget} {forms.privacy} says what I keep.{more}

Edit your question within ten minutes, and I'll answer the new version, as long as nobody has asked more below it. \
Delete it, and the answer goes too, unless somebody else has written below it."""


@dataclass(frozen=True, slots=True)
class Practices:
    """What an operator has chosen: how long things are kept, and which services read the questions."""

    conversation_hours: float = 24
    vote_days: int = 90
    services: Sequence[str] = ()


def privacy(practices: Practices, forms: Forms = Forms()) -> str:
    """Return what is kept, how long, who gets it, and how to be forgotten."""
    kept = practices.conversation_hours
    hours = "1 hour" if kept == 1 else f"{kept:g} hours"
    readers = "nobody else. Questions are answered on the bot's own machine."
    if practices.services:
        named = _joined(practices.services)
        readers = f"{named}, to answer: your question, what was said before it, and passages that match."
    return f"""\
**What I read:** messages that are addressed to me, what they reply to, and what is said in my threads. When I'm \
asked in the middle of another thread, I also read its latest messages, and don't keep them.
**What I keep:** questions and answers, encrypted, until nothing was asked in their thread for {hours}. Private \
answers are not remembered. A vote is kept for {practices.vote_days} days with your id, without any text. What \
moderators do is logged.
**Who gets it:** {readers}
**How to be forgotten:** {forms.forget} Deleting a question removes it too."""


def thread_forgotten(*, was_there: bool) -> str:
    """Return what became of a conversation."""
    return "I have forgotten this conversation." if was_there else "I don't remember anything about this conversation."


def person_forgotten(questions: int, votes: int) -> str:
    """Return what was removed of somebody."""
    return (
        f"I no longer remember {_counted(questions, 'question')} with the answers, and {_counted(votes, 'vote')}. "
        "Messages stay until somebody deletes them."
    )


def everything_forgotten(conversations: int) -> str:
    """Return what was removed of everybody."""
    return f"I no longer remember {_counted(conversations, 'conversation')}. Messages stay until somebody deletes them."


def paused(*, is_new: bool) -> str:
    """Confirm a pause."""
    return "I won't answer anything here until you resume." if is_new else "I was already paused."


def resumed(*, is_new: bool) -> str:
    """Confirm the end of a pause."""
    return "I'm answering again." if is_new else "I wasn't paused."


def silenced(channel: str, *, on: bool, is_new: bool) -> str:
    """Confirm that nothing is answered in a channel, which is named as the platform shows it, or the end of that."""
    if on and is_new:
        return f"I won't answer anything in {channel} until you resume there."
    if on:
        return f"I was already switched off in {channel}."
    return f"I'm no longer switched off in {channel}." if is_new else f"I wasn't switched off in {channel}."


def auto_answering(*, on: bool, is_new: bool, is_heard: bool) -> str:
    """Confirm whether new posts are answered unasked; *is_heard* says whether the bot may read them at all."""
    if on and not is_heard:
        return "Saved, but I'm not allowed to read messages that don't mention me, so nothing changes until I am."
    again = "" if is_new else " It was already set that way."
    return ("I'll answer every new post there." if on else "I'll only answer there if I'm mentioned.") + again


def outline_lines(outline: Outline) -> Sequence[str]:
    """Return what there is to search, and how the sources are called, as many as people read."""
    names = list(outline.sources[:SHOWN_SOURCES])
    more = [f"and {len(outline.sources) - len(names):,} more"] if len(outline.sources) > len(names) else []
    whole = f"I have {_counted(outline.pages, 'page')} from {_counted(len(outline.sources), 'source')}."
    return (whole if outline.pages else NO_DOCUMENTS, *names, *more)


def document_pages(sources: Sequence[tuple[str, Outline]], drawing: Drawing) -> Sequence[Sequence[str]]:
    """Return how many pages each source has, and its chapters, line by line, on as many pages as that takes."""
    pages: list[list[str]] = [[]]
    for name, outline in sources:
        source = f"{drawing.bullet} {drawing.plain(name)}"
        chapters = [f"    {drawing.bullet} {drawing.plain(chapter)}" for chapter in outline.chapters]
        for number, line in enumerate((f"{source}, {_counted(outline.pages, 'page')}", *chapters)):
            if sum(len(one) + 1 for one in pages[-1]) + len(line) > PAGE_LENGTH:
                pages.append([f"{source}, continued"] if number else [])
            pages[-1].append(line)
    return pages


@dataclass(frozen=True, slots=True)
class Drawing:
    """How a platform shows a line of the status, with times by each reader's clock; `resume` and `page` are typed."""

    plain: Callable[[str], str]
    moment: Callable[[datetime], str]
    bullet: str
    resume: str
    page: str
    channel: Callable[[str], str] = "<#{}>".format
    person: Callable[[str], str] = "<@{}>".format

    def whose(self, person: Person) -> str:
        """Return who did something; of people on a platform only the id is kept, which it shows as a name."""
        return self.plain(person.name) or (self.person(person.id) if person.id else "a moderator")


def policy_lines(policy: Policy, drawing: Drawing) -> Iterator[str]:
    """Return what is set, and what to do where that cannot be read."""
    if policy.fault:
        yield f"{FAULTS[policy.fault]} Until that is fixed, I don't answer anything."
        if policy.fault is PolicyFault.NEWER:
            yield "Ask the person who runs the bot to start the newer version again."
        yield f"{drawing.resume} starts again with the default settings. This would be lost:"
        yield from lost_lines(policy, drawing)
        return
    yield _pause_line(policy, drawing) or "I'm answering questions."
    yield from channel_lines(policy, drawing)


def resumed_lines(applied: Applied, drawing: Drawing) -> Iterator[str]:
    """Confirm the end of a pause, and say what still holds, or what was lost."""
    if applied.before.fault is not None:
        yield "I'm answering again, with the default settings. This was lost:"
        yield from lost_lines(applied.before, drawing)
        return
    yield resumed(is_new=applied.is_new)
    yield from channel_lines(applied.before, drawing)


def lost_lines(policy: Policy, drawing: Drawing) -> Iterator[str]:
    """Return what of an unreadable policy is known, line by line."""
    known = [line for line in (_pause_line(policy, drawing), *channel_lines(policy, drawing)) if line]
    known.append("Anything else that was set." if known else "Everything that was set.")
    yield from (f"{drawing.bullet} {line}" for line in known)


def channel_lines(policy: Policy, drawing: Drawing) -> Iterator[str]:
    """Return in which channels nothing is answered, and in which every new post is."""
    if policy.silent_channels:
        yield silent_line([drawing.channel(each) for each in sorted(policy.silent_channels)])
    if policy.auto_answer:
        yield auto_answer_line([drawing.channel(each) for each in sorted(policy.auto_answer)])


def silent_line(channels: Sequence[str]) -> str:
    """Return where nothing is answered, as many channels as people read."""
    return f"Switched off in {_listed(channels)}."


def auto_answer_line(channels: Sequence[str]) -> str:
    """Return in which channels every new post is answered, as many as people read."""
    return f"Every new post is answered in {_listed(channels)}."


def log_lines(entries: Sequence[AuditEntry], drawing: Drawing, *, older: int | None) -> Iterator[str]:
    """Return what moderators did, and which page is the next one with *older* entries."""
    if entries:
        yield "What moderators did recently:"
    for each in entries:
        about = f" ({_about(each, drawing)})" if each.about else ""
        yield f"{drawing.bullet} {drawing.moment(each.at)}: {drawing.whose(each.by)}, {each.did}{about}"
    if older:
        yield f"Older entries: {drawing.page.format(older)}"


def count_lines(tally: Tally, waiting: int, lacking: Sequence[str] | None) -> Iterator[str]:
    """Return what readers think, how many wait, and which permissions are *lacking*, if that is known."""
    yield f"Votes: {tally.helpful} helpful, {tally.unhelpful} not helpful."
    yield f"In the queue, everywhere: {_counted(waiting, 'question')}."
    if lacking:
        yield f"I'm missing these permissions here: {', '.join(lacking)}."
    elif lacking is not None:
        yield "I have all the permissions I need here."


def permissions_lacking(channel: str, names: Sequence[str]) -> str:
    """Return what moderators have to allow in a channel, which is named as the platform shows it."""
    return (
        f"I can't answer questions in {channel}: I'm missing {', '.join(f'**{one}**' for one in names)}. "
        "Please allow this for my role, in that channel or in the whole server."
    )


def _pause_line(policy: Policy, drawing: Drawing) -> str:
    since = f" {drawing.moment(policy.paused_at)}" if policy.paused_at else ""
    return f"Paused by {drawing.whose(policy.paused_by)}{since}." if policy.paused_by else ""


def _about(entry: AuditEntry, drawing: Drawing) -> str:
    """Name what an order was about in such a way that readers know it and can go there."""
    if entry.did == OrderKind.FORGET_PERSON:
        return drawing.person(entry.about)
    if entry.did == OrderKind.FORGET_THREAD:
        with suppress(InvalidInput):
            return drawing.channel(ThreadRef.parse(entry.about).channel)
    return drawing.channel(entry.about) if entry.did in CHANNEL_ORDERS else drawing.plain(entry.about)


def _listed(names: Sequence[str]) -> str:
    """Name as many as people read."""
    more = [f"{len(names) - SHOWN_CHANNELS:,} more"] if len(names) > SHOWN_CHANNELS else []
    return _joined([*names[:SHOWN_CHANNELS], *more])


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _joined(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
