"""The commands, the same on every platform: their names and options, who may use them, and what they do.

A platform registers what stands in `COMMANDS`, reads what somebody has used into a context and values, and has
`carried_out` do it, which tells that one person how it went. A question is the one command that does nothing here: it
goes to the inbox.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from adapters.chat.dialect import ChatDialect
from core import messages
from core.errors import (
    InvalidInput,
    NotAllowed,
    PeopleUnavailable,
    PolicyUnreadable,
    PostingFailed,
    RetrievalUnavailable,
    StoreUnavailable,
)
from core.model import (
    QUESTION_LIMIT,
    Actor,
    AskedAgain,
    Budget,
    Holder,
    Measure,
    Outline,
    Period,
    Scope,
    Stopped,
    Vote,
)

if TYPE_CHECKING:
    from adapters.chat.services import ChatServices
    from core.messages import Drawing, Forms
    from core.model import Asker, Complaint, MessageRef, Person, ThreadRef, WorkspaceRef

Tell: TypeAlias = Callable[[str], Awaitable[object]]
Values: TypeAlias = Mapping[str, Any]
"""What was chosen, by the names of the options: a text, a number, a bool, or an id; what was left out is not there."""

MOST_PAGES = 100  # of a list
MOST_BUDGET = 1_000_000_000


class Kind(StrEnum):
    """What an option takes."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    CHOICE = "choice"
    PERSON = "person"
    CHANNEL = "channel"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Option:
    """Something to choose; `choices` are values with the words that people see, and `most` is the highest number."""

    name: str
    description: str
    kind: Kind = Kind.TEXT
    is_required: bool = False
    choices: Mapping[str, str] = field(default_factory=dict[str, str])
    most: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """Somebody who uses a command, a button or a word, and where.

    `homes` are the server or workspace, then other places where something of the person is kept, each once. `thread` is
    the conversation that goes on there; None in a channel, which holds many. It `is_direct` where only one person is.
    `actor` returns who uses it, with the right to moderate, and raises `PostingFailed` where the platform does not say.
    `lacking` are the permissions that the bot lacks there, in the platform's words; None where there are none to lack.
    `asker` is who reads what they are told. `drawing`, `forms` and `dialect` are how the platform writes things.
    """

    services: ChatServices
    person: Person
    homes: Sequence[WorkspaceRef]
    thread: ThreadRef | None
    actor: Callable[[], Awaitable[Actor]]
    asker: Asker
    drawing: Drawing
    forms: Forms
    dialect: ChatDialect
    is_direct: bool = False
    lacking: Sequence[str] | None = None


Act: TypeAlias = Callable[[CommandContext, Values], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Command:
    """A command; without an `act` it asks a question. It is on every platform, unless it is `only_on` one.

    What one that *is personal* says is told only where nobody else can see it.
    """

    name: str
    description: str
    act: Act | None
    options: tuple[Option, ...] = ()
    for_moderators: bool = False
    only_on: str = ""
    is_personal: bool = False


async def carried_out(act: Callable[[], Awaitable[str | None]], tell: Tell) -> None:
    """Do what was wanted, and *tell* how it went if there is anything to say: the error boundary of all commands.

    What breaks is told without its reason, and raised for the log.
    """
    try:
        sentence = await act()
    except (InvalidInput, NotAllowed, PolicyUnreadable) as refused:
        sentence = str(refused)
    except StoreUnavailable:
        sentence = f"{messages.WARNING} {messages.AWAY}"
    except Exception:
        await tell(f"{messages.WARNING} {messages.BROKEN}")
        raise
    if sentence:
        await tell(sentence)


async def _help(context: CommandContext, _: Values) -> str:
    return messages.help_text(context.forms)


async def _privacy(context: CommandContext, _: Values) -> str:
    return messages.privacy(context.services.practices, context.forms)


async def _documents(context: CommandContext, values: Values) -> str:
    """Return a page of what somebody can search by now; only as many sources are looked into as that takes."""
    page, outline = int(values.get("page", 1)), context.services.admission.visibility.catalogue.outline
    sources: list[tuple[str, Outline]] = []
    pages: Sequence[Sequence[str]] = ()
    try:
        scope, refusal = await searchable(context.services, context.asker)
        if refusal:
            return refusal
        whole = await outline(scope)
        for name in whole.sources:
            sources.append((name, await outline(scope.within([name]))))
            pages = messages.document_pages(sources, context.drawing)
            if len(pages) > page:
                break
    except RetrievalUnavailable:
        return f"{messages.WARNING} {messages.UNAVAILABLE}"
    except PeopleUnavailable as unknown:
        return f"{messages.WARNING} {unknown}"
    if page > 1 and page > len(pages):
        return messages.NO_SUCH_PAGE
    more = [messages.MORE.format(context.forms.documents_page.format(page + 1))] if page < len(pages) else []
    return "\n".join([messages.outline_lines(whole)[0], *(pages[page - 1] if pages else ()), *more])


async def searchable(services: ChatServices, asker: Asker) -> tuple[Scope, str]:
    """Return what somebody can search by now, and why they are told nothing of it, if they are not.

    Raises `PeopleUnavailable`, `ShutOut`, `StoreUnavailable` or `RetrievalUnavailable`.
    """
    known = await services.communities.load()
    if not known.admits(asker.home):
        return Scope(sources=(), open_at=services.now()), messages.NOT_ALLOWED
    visible = await services.admission.visibility.of(asker, known)
    refusal = messages.MEMBERS_ONLY if visible.has_strangers else messages.NO_MEMBER
    return Scope(sources=visible.sources, open_at=services.now()), refusal if visible.is_closed else ""


async def shown_sources(context: CommandContext, _: Values | None = None) -> str:
    """Return where the last answer in a thread came from."""
    if context.thread is None:
        return context.forms.in_thread
    if not (await context.services.communities.load()).admits(context.thread.home):
        return messages.NOT_ALLOWED
    citations = await context.services.self_help.sources(context.thread)
    return "\n".join(line.text for line in context.dialect.sources(citations)) or messages.NO_SOURCES


async def _mute(context: CommandContext, _: Values, *, on: bool = True) -> str:
    if context.is_direct:
        return messages.NEVER_QUIET
    if context.thread is None:
        return context.forms.in_thread
    return messages.muted(on=on, is_new=await context.services.self_help.mute(context.thread, on=on))


async def _forget(context: CommandContext, values: Values) -> str:
    if values.get("what") == "me":
        gone = await context.services.self_help.forget_person(context.homes, context.person.id)
        return messages.person_forgotten(gone.turns, gone.votes)
    if context.thread is None:
        return context.forms.in_thread
    asker = Actor(person=context.person, home=context.homes[0], may_moderate=False)
    with suppress(PostingFailed):  # it needs no rights, so the platform need not say who moderates
        asker = await context.actor()
    return messages.thread_forgotten(was_there=await context.services.self_help.forget_thread(asker, context.thread))


async def _me(context: CommandContext, _: Values) -> str:
    """Return what is left of somebody's budgets where they are, and what is kept of them.

    For that, all that is stored is looked through, which is done once in a minute for each person.
    """
    services, person, said = context.services, context.person.id, messages.COUNTED_JUST_NOW
    spending = await services.admission.spending(context.homes[0], person_id=person)
    asker = sha256(f"{context.homes[0]}:{person}".encode()).hexdigest()[:16]  # nobody is named in the notes
    if await services.is_new(f"counted:{asker}", f"{services.now():%Y-%m-%d %H:%M}"):
        kept = await services.self_help.kept(context.homes, person)
        said = messages.person_kept(kept.turns, kept.waiting, kept.votes)
    return "\n".join([*messages.left_lines(spending), said, context.forms.forget])


async def _status(context: CommandContext, values: Values) -> str:
    return "\n".join(await status_lines(context, page=int(values.get("page", 1))))


async def status_lines(context: CommandContext, *, page: int = 1) -> Sequence[str]:
    """Return how things are, line by line. Who may not ask is refused before anything is looked up: `NotAllowed`."""
    services, drawing, actor = context.services, context.drawing, await context.actor()
    status = await services.moderation.status(actor, page=page)
    log = list(messages.log_lines(status.entries, drawing, older=page + 1 if status.has_older else None))
    if page > 1:
        return log or [messages.NO_ENTRIES]
    return [
        *messages.policy_lines(status.policy, drawing),
        *messages.spending_lines(await services.admission.spending(actor.home)),
        *messages.count_lines(await services.votes.count(actor.home), await services.inbox.waiting(), context.lacking),
        *log,
    ]


async def _pause(context: CommandContext, values: Values) -> str:
    if "channel" in values:
        return await silenced(context, values["channel"], on=True)
    return messages.paused(is_new=await context.services.moderation.pause(await context.actor()))


async def _resume(context: CommandContext, values: Values) -> str:
    if "channel" in values:
        return await silenced(context, values["channel"], on=False)
    applied = await context.services.moderation.resume(await context.actor())
    return "\n".join(messages.resumed_lines(applied, context.drawing))


async def silenced(context: CommandContext, channel: str, *, on: bool) -> str:
    """Switch the bot off in a channel, or on again, and return what to say of it."""
    if not channel:
        raise InvalidInput(messages.ONLY_IN_CHANNELS, field="channel")
    is_new = await context.services.moderation.silence(await context.actor(), channel, on=on)
    return messages.silenced(context.drawing.channel(channel), on=on, is_new=is_new)


async def _auto_answer(context: CommandContext, values: Values) -> str:
    on, services, channel = bool(values["on"]), context.services, values["channel"]
    if not channel:
        raise InvalidInput(messages.ONLY_IN_CHANNELS, field="channel")
    is_new = await services.moderation.auto_answer(await context.actor(), channel, on=on)
    return messages.auto_answering(on=on, is_new=is_new, is_heard=services.reads_all)


async def _moderators(context: CommandContext, values: Values) -> str:
    group, on = values["role"], bool(values["on"])
    if on and group == context.homes[0].workspace:  # Discord's role of everybody has the id of the server
        raise InvalidInput(messages.NOT_EVERYBODY, field="role")
    is_new = await context.services.moderation.let_moderate(await context.actor(), group, on=on)
    return messages.moderating(context.drawing.group(group), on=on, is_new=is_new)


async def _budget(context: CommandContext, values: Values) -> str:
    """Set a limit that holds beside the operator's, or lift it."""
    most, lifts, moderation = values.get("most"), bool(values.get("lift")), context.services.moderation
    if (most is None) is not lifts:
        raise InvalidInput(messages.BUDGET_UNCLEAR, field="most")
    holder, measure, period = Holder(values["who"]), Measure(values["what"]), Period(values["period"])
    budget = Budget(holder=holder, measure=measure, period=period, most=most or 0)
    is_new = await moderation.limit(await context.actor(), budget, on=not lifts)
    return messages.budget_ordered(budget, moderation.allowed(budget), on=not lifts, is_new=is_new)


async def _guests(context: CommandContext, values: Values) -> str:
    return await opened_to_guests(context, values["channel"], on=bool(values["on"]))


async def opened_to_guests(context: CommandContext, channel: str, *, on: bool) -> str:
    """Answer from what is for members where guests read along, or no longer, and return what to say of it."""
    if not channel:
        raise InvalidInput(messages.ONLY_IN_CHANNELS, field="channel")
    is_new = await context.services.moderation.open_to_guests(await context.actor(), channel, on=on)
    return messages.opened_to_guests(context.drawing.channel(channel), on=on, is_new=is_new)


async def _forget_any(context: CommandContext, values: Values) -> str:
    moderation, what = context.services.moderation, values.get("what")
    if what == "person":
        if not values.get("person"):
            raise InvalidInput(messages.NOBODY_NAMED, field="person")
        gone = await moderation.forget_person(await context.actor(), values["person"])
        return messages.person_forgotten(gone.turns, gone.votes)
    if what == "thread":
        if context.thread is None:
            raise InvalidInput(context.forms.in_thread, field="what")
        was_there = await moderation.forget_thread(await context.actor(), context.thread)
        return messages.thread_forgotten(was_there=was_there)
    if not values.get("confirm"):
        raise InvalidInput(context.forms.unconfirmed, field="confirm")
    return messages.everything_forgotten(await moderation.forget_everything(await context.actor()))


async def vote(
    context: CommandContext, answer_id: str, *, is_helpful: bool = False, complaints: Sequence[Complaint] = ()
) -> str:
    """Count what somebody thinks of an answer, instead of what they thought before; return thanks."""
    cast_vote = Vote(
        answer_id=answer_id,
        person_id=context.person.id,
        is_helpful=is_helpful,
        complaints=tuple(complaints),
        at=context.services.now(),
    )
    await context.services.votes.cast(context.homes[0], cast_vote)
    return messages.THANKS


async def stop(context: CommandContext, message: MessageRef | None) -> str | None:
    """End an answer that is being written; return why that was not done, if it was not."""
    is_new = message and await context.services.inbox.put(Stopped(message=message, by=context.person))
    return None if is_new else messages.OVER


async def retry(context: CommandContext, message: MessageRef | None) -> str | None:
    """Have a question tried again; return why that was not done, if it was not."""
    is_new = message and await context.services.inbox.put(AskedAgain(message=message, by=context.person))
    return None if is_new else messages.NOT_RETRIED


_QUESTION = Option("question", "What do you want to know?", is_required=True, most=QUESTION_LIMIT)
_PRIVATE = Option("private", "Show the answer only to me.", Kind.FLAG)
_LATER_SOURCES = Option("page", "A later page of the list.", Kind.NUMBER, most=MOST_PAGES)
_MINE = {"thread": "this thread", "me": "everything about me"}
_WHAT_OF_MINE = Option("what", "What I should forget.", Kind.CHOICE, is_required=True, choices=_MINE)
_EARLIER = Option("page", "A later page of what moderators did.", Kind.NUMBER, most=MOST_PAGES)
_TO_PAUSE = Option("channel", "Only in this channel and its threads, and not in the whole server.", Kind.CHANNEL)
_PAUSED = Option("channel", "Only in this channel, where I was paused.", Kind.CHANNEL)
_POSTS = "The forum or channel whose questions I answer without being mentioned."
_ANSWERED = (
    Option("on", "Whether I answer them.", Kind.FLAG, is_required=True),
    Option("channel", _POSTS, Kind.CHANNEL, is_required=True),
)
_ROLE = (
    Option("role", "The role or group.", Kind.GROUP, is_required=True),
    Option("on", "Whether its members may moderate.", Kind.FLAG, is_required=True),
)
_TO_GUESTS = (
    Option("on", "Whether they are answered like members.", Kind.FLAG, is_required=True),
    Option("channel", "The channel in which they read along.", Kind.CHANNEL, is_required=True),
)
_WHOSE = {holder.value: words for holder, words in messages.WHOM.items() if holder is not Holder.THREAD}
_BUDGET = (
    Option("who", "Whose limit it is.", Kind.CHOICE, is_required=True, choices=_WHOSE),
    Option("most", "How much they may use.", Kind.NUMBER, most=MOST_BUDGET),
    Option("what", "What is counted.", Kind.CHOICE, is_required=True, choices={each: each for each in Measure}),
    Option("period", "For how long.", Kind.CHOICE, is_required=True, choices={"day": "a day", "month": "a month"}),
    Option("lift", "Lift the limit that moderators have set.", Kind.FLAG),
)
_ANYTHING = {"person": "a person", "thread": "this thread", "everything": "everything"}
_FORGOTTEN = (
    Option("what", "What to forget.", Kind.CHOICE, is_required=True, choices=_ANYTHING),
    Option("person", "Whose questions to forget.", Kind.PERSON),
    Option("confirm", "Needed to forget everything.", Kind.FLAG),
)
_order = partial(Command, for_moderators=True)

ASK = Command("ask", "Ask a question about the documents.", None, (_QUESTION, _PRIVATE))
COMMANDS = (
    ASK,
    Command("sources", "Where the last answer here came from.", shown_sources),
    Command("documents", "What I can search: sources, their pages and chapters.", _documents, (_LATER_SOURCES,)),
    Command("forget", "Remove what I remember about you or about this thread.", _forget, (_WHAT_OF_MINE,)),
    Command("me", "What you can still ask, and what I keep of you; only you see it.", _me, is_personal=True),
    Command("mute", "Let me answer in this thread only when I'm mentioned.", _mute),
    Command("unmute", "Let me answer in this thread again without a mention.", partial(_mute, on=False)),
    Command("help", "What I can do.", _help),
    Command("privacy", "What I keep, for how long, and who gets it.", _privacy),
    _order("status", "Whether I'm answering, what readers think, and what moderators did.", _status, (_EARLIER,)),
    _order("pause", "Answer nothing in this server for now.", _pause, (_TO_PAUSE,)),
    _order("resume", "Answer again.", _resume, (_PAUSED,)),
    _order("auto-answer", "Answer questions in a forum or channel unasked, or stop.", _auto_answer, _ANSWERED),
    _order("guests", "Answer guests and outsiders like members, or stop.", _guests, _TO_GUESTS, only_on="slack"),
    _order("moderators", "Let a role or group moderate me, or stop; only for admins.", _moderators, _ROLE),
    _order("budget", "Limit how much may be asked here, or lift such a limit.", _budget, _BUDGET),
    _order("forget", "Remove what I remember.", _forget_any, _FORGOTTEN),
)


def spoken(text: str) -> Command | None:
    """Return the command about a thread that a word stands for, where it is all that is said to the bot."""
    name = {"mute": "mute", "quiet": "mute", "unmute": "unmute"}.get(text.lower().strip(" .!"))
    return command_named(name, for_moderators=False) if name else None


def command_named(name: str, *, for_moderators: bool) -> Command | None:
    """Return the command of a name; moderators have some names of their own."""
    return next((each for each in COMMANDS if (each.name, each.for_moderators) == (name, for_moderators)), None)
