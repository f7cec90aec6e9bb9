"""The app's home: what the bot knows, how it is used, what it keeps, and what moderators see beside that."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from adapters.chat.attempting import attempted
from adapters.chat.posting import PostingFailed, Refused
from adapters.slack.client.failures import tell
from adapters.slack.commands.helping import forgot_person
from adapters.slack.commands.kit import Kit
from adapters.slack.commands.moderating import Overview, moderated, overview
from adapters.slack.commands.silencing import Choice, silence_chosen, silent_menu
from adapters.slack.commands.situation import Used
from adapters.slack.commands.slash import Order, Word
from adapters.slack.commands.wording import FORMS, mrkdwn
from adapters.slack.dialect import SLACK
from core import sentences
from core.errors import RetrievalUnavailable, StoreUnavailable

Block: TypeAlias = dict[str, Any]

FORGET_ME, PAUSE, RESUME = "footnote:forget_me", "footnote:pause", "footnote:resume"
ACTIONS = frozenset({FORGET_ME, PAUSE, RESUME})
SECTION = 3_000  # characters of a section's text


async def show_home(kit: Kit, used: Used, said: str = "") -> None:
    """Show the home to whoever has opened it, with what is *said* to that person on top."""
    with suppress(PostingFailed):  # whoever opens it again sees it
        client = (await kit.workspaces.find(used.workspace)).client
        known, standing = await _known(kit, used), await _standing(kit, used)

        async def publish(seen: Overview) -> None:
            blocks = home_blocks(said, known, seen, kit.desk.practices)
            await tell(client, "views.publish", user_id=used.user, view={"type": "home", "blocks": blocks})

        try:
            await publish(standing)
        except Refused:
            if not standing.silent:
                raise
            await publish(replace(standing, silent=()))  # one of the channels may be gone


async def press_at_home(kit: Kit, used: Used, action_id: str) -> None:
    """Do what a button of the home says, and say there how it went."""
    acts = {
        FORGET_ME: partial(forgot_person, kit, used),
        PAUSE: partial(moderated, kit, used, Order(Word.PAUSE)),
        RESUME: partial(moderated, kit, used, Order(Word.RESUME)),
    }
    await attempted(acts[action_id], partial(show_home, kit, used))


async def choose_at_home(kit: Kit, used: Used, choice: Choice) -> None:
    """Stay silent in the channels that were chosen in the home, and say there how it went."""
    await attempted(partial(silence_chosen, kit, used, choice), partial(show_home, kit, used))


def home_blocks(said: str, known: Sequence[str], standing: Overview, practices: sentences.Practices) -> list[Block]:
    """Give the blocks, which are as many whatever there is to tell."""
    told = [_section(_fitting(said.split("\n"))), {"type": "divider"}] if said else []
    return [
        *told,
        _header("What I know"),
        _section(_fitting(known)),
        _header("What I can do"),
        _section(mrkdwn(sentences.help_text(FORMS))),
        _header("What I keep"),
        _section(mrkdwn(sentences.privacy(practices, FORMS))),
        _actions(_forget_button()),
        *(_for_moderators(standing) if standing.lines else []),
    ]


async def _known(kit: Kit, used: Used) -> list[str]:
    """Say how much there is to search; the names of it are for those who may be answered from it."""
    try:
        outline = await kit.outline()
    except RetrievalUnavailable:
        return [f"{sentences.WARNING} {sentences.UNCOUNTED}"]
    first, *names = sentences.outline_lines(outline)
    if not await kit.people.may_read(used.workspace, used.user):
        return [first]
    return [first, *(f"• {SLACK.on_one_line(name)}" for name in names)]


async def _standing(kit: Kit, used: Used) -> Overview:
    """Say how things are, to moderators; others see nothing of it."""
    try:
        actor = await kit.actor(used)
        return await overview(kit, actor) if actor.may_moderate else Overview()
    except StoreUnavailable:
        return Overview([f"{sentences.WARNING} {sentences.AWAY}"])
    except PostingFailed:
        return Overview()


def _for_moderators(standing: Overview) -> list[Block]:
    buttons = _actions(_button(PAUSE, "Pause"), _button(RESUME, "Resume"))
    menu = [] if standing.silent is None else [silent_menu(standing.silent)]
    return [_header("For moderators"), _section(_fitting(standing.lines)), buttons, *menu]


def _forget_button() -> Block:
    confirm = {
        "title": _plain("Forget everything about you?"),
        "text": _plain("Your questions with their answers, and your votes, are removed at once."),
        "confirm": _plain("Forget"),
        "deny": _plain("Cancel"),
        "style": "danger",
    }
    return {**_button(FORGET_ME, "Forget everything about me"), "style": "danger", "confirm": confirm}


def _button(action_id: str, label: str) -> Block:
    return {"type": "button", "action_id": action_id, "text": _plain(label)}


def _actions(*elements: Block) -> Block:
    return {"type": "actions", "elements": list(elements)}


def _header(text: str) -> Block:
    return {"type": "header", "text": _plain(text)}


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def _fitting(lines: Sequence[str]) -> str:
    """Give as many lines as a section holds."""
    kept = ""
    for line in lines:
        longer = f"{kept}\n{line}" if kept else line
        if len(longer) > SECTION:
            break
        kept = longer
    return kept


def _plain(text: str) -> dict[str, str]:
    return {"type": "plain_text", "text": text}
