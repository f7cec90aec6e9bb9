"""The app's home: what the bot knows, how it is used, what it keeps, and what moderators see beside that."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, TypeAlias, cast

from adapters.chat.commands import CommandContext, carried_out, command_named, silenced, status_lines
from adapters.slack.api import tell
from adapters.slack.commands.context import Kit, context_of
from adapters.slack.commands.situation import Used
from adapters.slack.commands.wording import FORMS, mrkdwn
from adapters.slack.dialect import SLACK
from core import messages
from core.errors import PostingFailed, Rejected, RetrievalUnavailable, StoreUnavailable

Block: TypeAlias = dict[str, Any]
Json: TypeAlias = Mapping[str, Any]

FORGET_ME, PAUSE, RESUME, SILENT = (f"footnote:{each}" for each in ("forget_me", "pause", "resume", "silent"))
ACTIONS: Mapping[str, tuple[str, bool, Json]] = {
    FORGET_ME: ("forget", False, {"what": "me"}),
    PAUSE: ("pause", True, {}),
    RESUME: ("resume", True, {}),
}
"""What the buttons do: the name of a command, whether it is one for moderators, and its values."""
SECTION = 3_000  # characters of a section's text


@dataclass(frozen=True, slots=True)
class Overview:
    """What moderators read of how things are; `silent` are the channels without answers, None where nobody can say."""

    lines: Sequence[str] = ()
    silent: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The channels that were chosen, and those that the menu had shown as chosen."""

    chosen: frozenset[str]
    shown: frozenset[str]


async def show_home(kit: Kit, used: Used, said: str = "") -> None:
    """Show the home to whoever has opened it, with what is *said* to that person on top."""
    with suppress(PostingFailed):  # whoever opens it again sees it
        client = (await kit.workspaces.find(used.workspace)).client
        known, overview = await _known(kit, used), await _overview(context_of(kit, used))

        async def publish(seen: Overview) -> None:
            blocks = home_blocks(said, known, seen, kit.services.practices)
            await tell(client, "views.publish", user_id=used.user, view={"type": "home", "blocks": blocks})

        try:
            await publish(overview)
        except Rejected:
            if not overview.silent:
                raise
            await publish(replace(overview, silent=()))  # one of the channels may be gone


async def press_at_home(kit: Kit, used: Used, action_id: str) -> None:
    """Do what a button of the home says, and say there how it went."""
    name, for_moderators, values = ACTIONS[action_id]
    command = command_named(name, for_moderators=for_moderators)
    if command is not None and command.act is not None:
        await carried_out(partial(command.act, context_of(kit, used), values), partial(show_home, kit, used))


async def choose_at_home(kit: Kit, used: Used, choice: Choice) -> None:
    """Stay silent in the channels that were chosen in the home, and say there how it went.

    What somebody else has changed since the menu was shown is left alone.
    """
    context = context_of(kit, used)

    async def silence_chosen() -> str:
        changed = sorted(choice.chosen ^ choice.shown)
        told = [await silenced(context, channel, on=channel in choice.chosen) for channel in changed]
        return "\n".join(told) or messages.UNCHANGED

    await carried_out(silence_chosen, partial(show_home, kit, used))


def home_blocks(said: str, known: Sequence[str], overview: Overview, practices: messages.Practices) -> list[Block]:
    """Return the blocks, which are as many whatever there is to tell."""
    told = [_section(_fitting(said.split("\n"))), {"type": "divider"}] if said else []
    return [
        *told,
        _header("What I know"),
        _section(_fitting(known)),
        _header("What I can do"),
        _section(mrkdwn(messages.help_text(FORMS))),
        _header("What I keep"),
        _section(mrkdwn(messages.privacy(practices, FORMS))),
        _actions(_forget_button()),
        *(_for_moderators(overview) if overview.lines else []),
    ]


async def _known(kit: Kit, used: Used) -> list[str]:
    """Return how much there is to search; the names of it are for those who may be answered from it."""
    try:
        outline = await kit.services.outline()
    except RetrievalUnavailable:
        return [f"{messages.WARNING} {messages.UNCOUNTED}"]
    first, *names = messages.outline_lines(outline)
    if not await kit.people.may_read(used.workspace, used.user):
        return [first]
    return [first, *(f"• {SLACK.on_one_line(name)}" for name in names)]


async def _overview(context: CommandContext) -> Overview:
    """Return how things are, for moderators; others see nothing of it."""
    try:
        actor = await context.actor()
        if not actor.may_moderate:
            return Overview()
        policy = await context.services.policies.load(actor.home)
        return Overview(await status_lines(context), None if policy.is_closed else policy.silent_channels)
    except StoreUnavailable:
        return Overview([f"{messages.WARNING} {messages.AWAY}"])
    except PostingFailed:
        return Overview()


def choice_in(action: Json, body: Json) -> Choice:
    """Return what was chosen, and from the home itself what had been shown."""
    view = cast("Json", body.get("view") or {})
    menus = [cast("Json", block.get("accessory") or {}) for block in cast("Sequence[Json]", view.get("blocks") or ())]
    shown = [each for menu in menus if menu.get("action_id") == SILENT for each in _ids(menu, "initial_conversations")]
    return Choice(frozenset(_ids(action, "selected_conversations")), frozenset(shown))


def _ids(element: Json, key: str) -> list[str]:
    return [str(each) for each in cast("Sequence[object]", element.get(key) or ())]


def _for_moderators(overview: Overview) -> list[Block]:
    buttons = _actions(_button(PAUSE, "Pause"), _button(RESUME, "Resume"))
    menu = [] if overview.silent is None else [_silent_menu(overview.silent)]
    return [_header("For moderators"), _section(_fitting(overview.lines)), buttons, *menu]


def _silent_menu(silent: Collection[str]) -> Block:
    """Return the menu of channels. What is chosen is in its id too, since Slack keeps what a block of one id shows."""
    names = sorted(silent)
    menu: Block = {
        "type": "multi_conversations_select",
        "action_id": SILENT,
        "placeholder": {"type": "plain_text", "text": "Choose channels"},
        "filter": {"include": ["public", "private"]},
    }
    if names:
        menu["initial_conversations"] = names
    return {
        "type": "section",
        "block_id": f"{SILENT}:{sha256(' '.join(names).encode()).hexdigest()[:16]}",
        "text": {"type": "mrkdwn", "text": "Channels where I stay silent"},
        "accessory": menu,
    }


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
    """Return as many lines as a section holds."""
    kept = ""
    for line in lines:
        longer = f"{kept}\n{line}" if kept else line
        if len(longer) > SECTION:
            break
        kept = longer
    return kept


def _plain(text: str) -> dict[str, str]:
    return {"type": "plain_text", "text": text}
