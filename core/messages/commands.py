"""What commands and buttons say that anybody can use: help, privacy, documents, and being forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from core.messages.answers import NO_DOCUMENTS
from core.messages.wording import Drawing, ago, counted, joined
from core.model import Complaint, Outline

NOT_PART_OF_IT = "Only those who asked in this thread, or moderators, can have it forgotten."
AWAY = "I can't reach my storage right now. Please try again in a moment."
BROKEN = "Sorry, that didn't work. Please try again in a moment."
OUTDATED = "This command has changed. Please try it again in a minute."
OLD_BUTTON = "This button is from an earlier version of me, so it no longer does anything."
NO_TEXT = "That message has no text I could answer from."
NO_SOURCES = "There is no answer with sources here, or I no longer remember it."
COUNTED_JUST_NOW = "I've just counted what I store about you; ask again in a minute."
THANKS = "Thank you, that's noted."
TELL_MORE = "What's wrong with this answer?"
NOT_YOURS = "Only the person who asked, or someone who can manage messages, can stop an answer."
NOT_YOURS_TO_RETRY = (
    "Only the person who asked, or someone who can manage messages, can have this tried again. "
    "You can ask the question yourself."
)
NEVER_QUIET = "Everything you write here is for me, so I answer all of it."
OVER = "There is nothing left to stop."
NOT_RETRIED = "I can't try this one again. Please ask the question again."
ONLY_IN_CHANNELS = "Please use this in the channel you mean."
PROMPTS_TITLE = "Ask me about the documents, for example:"
MOST_PROMPTS = 4  # that Slack takes
SHOWN_SOURCES = 20
TERMINAL, SLACK = "terminal", "slack"  # platforms
STORAGE_IN_TERMINAL = (
    "I keep the questions and answers of a named thread, encrypted, until nothing has been asked there for {}; "
    "`/forget` in `footnote chat` removes them at once. A question outside a thread is not kept."
)
PAGE_LENGTH = 1_500  # characters of a list, which leaves room for what stands around it in a Discord message
MORE = "There is more: {}"
NO_SUCH_PAGE = "The list isn't that long."
COMPLAINTS = {
    Complaint.WRONG: "It is wrong",
    Complaint.INCOMPLETE: "Something is missing",
    Complaint.BAD_SOURCES: "The sources don't say this",
    Complaint.UNCLEAR: "It is hard to understand",
    Complaint.OFF_TOPIC: "It answers a different question",
}


@dataclass(frozen=True, slots=True)
class Forms:
    """What people write or choose on a platform; these are the words where each command has a name of its own."""

    ask: str = "/ask"
    privately: str = "private"
    menu: str = "in a message's menu under Apps"
    sources: str = "**/sources**"
    forget: str = "**/forget** removes this thread, or everything about you, at once."
    privacy: str = "**/privacy**"
    me: str = "**/me**"
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
    "nothing but `forget`.",
    privacy="**/footnote privacy**",
    me="**/footnote me**",
    documents="**/footnote documents**",
    documents_page="`/footnote documents {}`",
    more="Slack has no commands in threads: there, mention me with nothing but "
    "`sources`, `documents`, `mute`, `forget`, `help` or `privacy`.",
    in_thread="Slack has no commands in threads. In the thread with the answer, mention me with nothing but `sources`, "
    "`mute` or `forget`, or choose **Show sources** in a message's menu.",
    unconfirmed="This forgets every conversation here. To do it, write `/footnote admin forget everything confirm`.",
)
SLACK_COMMANDS = """\
`/footnote ask [--private] QUESTION`
`/footnote documents [PAGE]`, `/footnote me`, `/footnote help`, `/footnote privacy`
`/footnote forget me` removes everything about you; to remove a thread, mention me there with nothing but `forget`.
`/footnote admin status [PAGE]`, `pause [here]`, `resume [here]`, `guests on|off here`, `auto-answer on|off here`, \
`forget person @NAME`, `forget everything` are for moderators, and `moderators @GROUP on|off` for admins.
`/footnote admin budget person 50 questions day` sets a limit, and `budget person questions day lift` lifts it, for a \
`person`, `channel` or `community`, of `questions`, `tokens` or `money`, by `day` or `month`."""
FORGET_ME_TITLE = "Forget everything about you?"
FORGET_ME_WARNING = "Your questions with their answers, and your votes, are removed at once."


def prompts(chapters: Sequence[str]) -> Sequence[str]:
    """Return what somebody could ask, of which the documents know something: of their first chapters."""
    about = (f"What do the documents say about {chapter}?" for chapter in chapters)
    return ["What can you do?", *about][:MOST_PROMPTS]


def not_understood(text: str) -> str:
    """Return what can be written behind Slack's one command instead of *text*, which has to be safe already."""
    return f"I don't understand “{text}”. This is what I understand:\n{SLACK_COMMANDS}"


def help_text(forms: Forms) -> str:
    """Return what the bot can do, and how."""
    more = f"\n{forms.more}" if forms.more else ""
    return f"""\
I answer questions from this community's documents, with a numbered footnote after every statement.

**Mention me** with your question, or use **{forms.ask}**; with `{forms.privately}`, only you see the answer.
**Follow up** in the thread of the answer: I remember what was said there. Mention me with nothing but `mute`, and \
I'll answer only mentions there.
**Answer from this message**, {forms.menu}, answers from that message alone.
{forms.documents} lists what I can search, and {forms.sources} lists where the last answer came from.
**Stop**, **Retry** and the votes are below an answer.
{forms.me} shows what you can still ask, and how much I store about you. {forms.forget} {forms.privacy} has more.\
{more}

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
        named = joined(practices.services)
        readers = f"{named}, to answer: your question, what was said before it, and passages that match."
    return f"""\
**What I read:** messages that are addressed to me, what they reply to, and what is said in my threads. When I'm \
asked in the middle of another thread, I also read its latest messages, and don't keep them.
**What I store:** questions and answers, encrypted, until nothing has been asked in their thread for {hours}. Private \
answers are not remembered. For just as long, I keep the ids of people who post in my threads, without any \
text. A vote is kept for {practices.vote_days} days with your id, without any text. What moderators do is logged.
**Who gets it:** {readers}
**How to be forgotten:** {forms.forget} Deleting a question removes it too."""


def storage(practices: Practices, platform: str) -> str:
    """Return what is kept of questions, in the words of the platform where somebody asks."""
    if platform == TERMINAL:
        hours = "1 hour" if practices.conversation_hours == 1 else f"{practices.conversation_hours:g} hours"
        return STORAGE_IN_TERMINAL.format(hours)
    return privacy(practices, SLACK_FORMS if platform == SLACK else Forms())


def contents(outline: Outline) -> str:
    """Return what can be asked about: the chapters that there are, or the sources where pages have none."""
    chapters = [each for each in outline.chapters if each]
    names = chapters or list(outline.sources)
    listed = "\n".join(f"- {name}" for name in names[:SHOWN_SOURCES])
    more = f"\n- and {len(names) - SHOWN_SOURCES:,} more" if len(names) > SHOWN_SOURCES else ""
    what = f"the {counted(len(names), 'chapter')}" if chapters else f"the {counted(len(names), 'source')}"
    return (
        f"I can answer questions from {counted(outline.pages, 'page')} in {what} below. "
        f"Ask in whole sentences, such as “What is …?” or “How do I …?”.\n\n{listed}{more}"
    )


def muted(*, on: bool, is_new: bool) -> str:
    """Confirm that only mentions are answered in a thread, or the end of that."""
    again = "" if is_new else " It was already set that way."
    if on:
        return f"I'll be quiet here unless somebody mentions me; mention me with `unmute` to end that.{again}"
    return f"I'll follow this thread again.{again}"


def thread_forgotten(*, was_there: bool) -> str:
    """Return what became of a conversation."""
    return "I have forgotten this conversation." if was_there else "I don't remember anything about this conversation."


def person_forgotten(questions: int, votes: int) -> str:
    """Return what was removed of somebody."""
    return (
        f"I no longer remember {counted(questions, 'question')} with the answers, and {counted(votes, 'vote')}. "
        "Messages stay until somebody deletes them."
    )


def person_kept(questions: int, waiting: int, votes: int) -> str:
    """Return what is kept of somebody."""
    unanswered = f", {counted(waiting, 'question')} that can still be answered or tried again" if waiting else ""
    return (
        f"What I store about you here: {counted(questions, 'question')} with the answers{unanswered}, "
        f"and {counted(votes, 'vote')}."
    )


def outline_lines(outline: Outline) -> Sequence[str]:
    """Return what there is to search, and how the sources are called, as many as people read."""
    names = list(outline.sources[:SHOWN_SOURCES])
    more = [f"and {len(outline.sources) - len(names):,} more"] if len(outline.sources) > len(names) else []
    whole = f"I have {counted(outline.pages, 'page')} from {counted(len(outline.sources), 'source')}."
    return (whole if outline.pages else NO_DOCUMENTS, *names, *more)


def document_pages(
    sources: Sequence[tuple[str, Outline, timedelta | None]], drawing: Drawing
) -> Sequence[Sequence[str]]:
    """Return how many pages each source has, how long ago they were read, if that is known, and its chapters.

    That is line by line, on as many pages as it takes.
    """
    pages: list[list[str]] = [[]]
    for name, outline, age in sources:
        source = f"{drawing.bullet} {drawing.plain(name)}"
        read = f", read {ago(age)}" if age is not None else ""
        chapters = [f"    {drawing.bullet} {drawing.plain(chapter)}" for chapter in outline.chapters]
        for number, line in enumerate((f"{source}, {counted(outline.pages, 'page')}{read}", *chapters)):
            if sum(len(one) + 1 for one in pages[-1]) + len(line) > PAGE_LENGTH:
                pages.append([f"{source}, continued"] if number else [])
            pages[-1].append(line)
    return pages
