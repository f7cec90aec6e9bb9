"""The commands, the same on every platform: their names and options, who may use them, and what they do.

A platform registers what stands in `COMMANDS`, reads what somebody has used into a context and values, and has
`carried_out` do it, which tells that one person how it went. A question is the one command that does nothing here: it
goes to the inbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from adapters.chat.orders import ORDERS
from adapters.chat.registry import MOST_PAGES, Command, CommandContext, Kind, Option, Tell, Values
from core import messages
from core.errors import PostingFailed
from core.model import QUESTION_LIMIT, Actor, AskedAgain, Awaited, Outline, Scope, Stopped, Vote, Waiting

if TYPE_CHECKING:
    from adapters.chat.services import ChatServices
    from core.model import Asker, Complaint, MessageRef

NOTHING = Outline(passages=0, pages=0, sources=(), chapters=())


async def _help(context: CommandContext, _: Values) -> str:
    return messages.help_text(context.forms)


async def _privacy(context: CommandContext, _: Values) -> str:
    return messages.privacy(context.services.practices, context.forms)


async def _documents(context: CommandContext, values: Values) -> str:
    """Return a page of what somebody can search by now; only as many sources are looked into as that takes."""
    page, catalogue, waiting = int(values.get("page", 1)), context.services.admission.visibility.catalogue, Waiting()
    sources: list[tuple[str, Outline, timedelta | None]] = []
    pages: Sequence[Sequence[str]] = ()
    scope, whole, refusal = await searchable(context.services, context.asker, waiting)
    if refusal:
        return refusal
    async with waiting.search().take(Awaited.SEARCH):
        known = {each.name: each.last.read_at for each in await catalogue.sources() if each.last}
        for name in whole.sources:
            read_at = known.get(name)
            age = context.services.now() - read_at if read_at else None
            sources.append((name, await catalogue.outline(scope.within([name])), age))
            pages = messages.document_pages(sources, context.drawing)
            if len(pages) > page:
                break
    if page > 1 and page > len(pages):
        return messages.NO_SUCH_PAGE
    more = [messages.MORE.format(context.forms.documents_page.format(page + 1))] if page < len(pages) else []
    return "\n".join([messages.outline_lines(whole)[0], *(pages[page - 1] if pages else ()), *more])


async def searchable(
    services: ChatServices, asker: Asker, waiting: Waiting | None = None
) -> tuple[Scope, Outline, str]:
    """Return what somebody can search by now, how much that is, and why they are told nothing of it, if they are not.

    It takes of the time for searching of whoever is *waiting*. Raises `PeopleUnavailable`, `ShutOut`,
    `StoreUnavailable` or `RetrievalUnavailable`.
    """
    waiting, visibility, scope = waiting or Waiting(), services.admission.visibility, Scope(open_at=services.now())
    known = await services.communities.load()
    if not known.admits(asker.home):
        return scope, NOTHING, messages.NOT_ALLOWED
    visible = await visibility.of(asker, known, waiting)
    if visible.is_closed:
        return scope, NOTHING, messages.STRANGERS_READ if visible.has_strangers else messages.NO_MEMBER
    scope = scope.within(visible.sources)
    async with waiting.search().take(Awaited.SEARCH):
        return scope, await visibility.catalogue.outline(scope), ""


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
    asker = f"{context.homes[0]}:{person}"
    if await services.is_new("counted", f"{services.now():%Y-%m-%d %H:%M}", person=asker):
        kept = await services.self_help.kept(context.homes, person)
        said = messages.person_kept(kept.turns, kept.waiting, kept.votes)
    return "\n".join([*messages.left_lines(spending), said, context.forms.forget])


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


async def stop(context: CommandContext, message: MessageRef | None, asker: str) -> str | None:
    """End an answer that is being written for an *asker*; return why that was not done, if it was not."""
    if not await _is_theirs(context, asker):
        return messages.NOT_YOURS
    is_new = message and await context.services.inbox.put(Stopped(message=message, by=context.person))
    return None if is_new else messages.OVER


async def _is_theirs(context: CommandContext, asker: str) -> bool:
    """Return whether whoever presses a button asked, may remove messages, or moderates."""
    return context.person.id == asker or context.may_manage or (await context.actor()).may_moderate


async def retry(context: CommandContext, message: MessageRef | None, asker: str, tell: Tell) -> str | None:
    """Have a question of an *asker* tried again, whom it costs; return why it is not. *tell* is for a long wait."""
    if not await _is_theirs(context, asker):
        return messages.NOT_YOURS_TO_RETRY
    if message is None or not await context.services.inbox.put(AskedAgain(message=message, by=context.person)):
        return messages.NOT_RETRIED
    context.services.retried[message] = tell
    return None


_QUESTION = Option("question", "What do you want to know?", is_required=True, most=QUESTION_LIMIT)
_PRIVATE = Option("private", "Show the answer only to me.", Kind.FLAG)
_LATER_SOURCES = Option("page", "A later page of the list.", Kind.NUMBER, most=MOST_PAGES)
_MINE = {"thread": "this thread", "me": "everything about me"}
_WHAT_OF_MINE = Option("what", "What I should forget.", Kind.CHOICE, is_required=True, choices=_MINE)
ASK = Command("ask", "Ask a question about the documents.", None, (_QUESTION, _PRIVATE))
COMMANDS = (
    ASK,
    Command("sources", "Where the last answer here came from.", shown_sources),
    Command("documents", "What I can search: sources, their pages and chapters.", _documents, (_LATER_SOURCES,)),
    Command("forget", "Remove what I remember about you or about this thread.", _forget, (_WHAT_OF_MINE,)),
    Command("me", "What you can still ask, and what I store about you; only you see it.", _me, is_personal=True),
    Command("mute", "Let me answer in this thread only when I'm mentioned.", _mute),
    Command("unmute", "Let me answer in this thread again without a mention.", partial(_mute, on=False)),
    Command("help", "What I can do.", _help),
    Command("privacy", "What I store, for how long, and who gets it.", _privacy),
    *ORDERS,
)


def spoken(text: str) -> Command | None:
    """Return the command about a thread that a word stands for, where it is all that is said to the bot."""
    name = {"mute": "mute", "quiet": "mute", "unmute": "unmute"}.get(text.lower().strip(" .!"))
    return command_named(name, for_moderators=False) if name else None


def command_named(name: str, *, for_moderators: bool) -> Command | None:
    """Return the command of a name; moderators have some names of their own."""
    return next((each for each in COMMANDS if (each.name, each.for_moderators) == (name, for_moderators)), None)
