"""What everybody can ask for beside an answer: help, sources, and to be forgotten."""

from __future__ import annotations

from adapters.chat.dialect import listed
from adapters.chat.posting import PostingFailed
from adapters.slack.commands.kit import Kit
from adapters.slack.commands.situation import Used
from adapters.slack.commands.wording import FORMS, ONLY_IN_THREADS
from adapters.slack.dialect import SLACK
from core import sentences
from core.model import Actor, ThreadRef


async def helped(_kit: Kit, _used: Used) -> str:
    """Say what the bot can do."""
    return sentences.help_text(FORMS)


async def informed(kit: Kit, _used: Used) -> str:
    """Say what is kept, and who gets it."""
    return sentences.privacy(kit.desk.practices, FORMS)


async def shown_sources(kit: Kit, used: Used) -> str:
    """Say where the last answer in a thread came from."""
    thread = used.thread_ref
    if thread is None:
        return ONLY_IN_THREADS
    return listed(SLACK.sources(await kit.desk.self_help.sources(thread))) or sentences.NO_SOURCES


async def forgot_thread(kit: Kit, used: Used) -> str:
    """Forget the conversation in a thread."""
    thread = used.thread_ref
    if thread is None:
        return ONLY_IN_THREADS
    return sentences.thread_forgotten(was_there=await _forgot(kit, used, thread))


async def forgot_person(kit: Kit, used: Used) -> str:
    """Forget somebody in the workspace, direct messages included."""
    gone = await kit.desk.self_help.forget_person([used.home], used.user)
    return sentences.person_forgotten(gone.turns, gone.votes)


async def _forgot(kit: Kit, used: Used, thread: ThreadRef) -> bool:
    """Forget it for whoever asked in it, even where Slack cannot say who moderates."""
    try:
        actor = await kit.actor(used)
    except PostingFailed:
        actor = Actor(person=used.person, home=used.home, may_moderate=False)
    return await kit.desk.self_help.forget_thread(actor, thread)
