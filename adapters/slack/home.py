"""The app's home: what the bot knows, how it is used, what it keeps, and what moderators see beside that."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any, TypeAlias, cast

from adapters.chat.commands import carried_out, command_named, silenced, status_lines
from adapters.slack.api import tell
from adapters.slack.dialect import SLACK, plain
from adapters.slack.interactions import InteractionContext, mrkdwn
from core import messages
from core.errors import PostingFailed, Rejected, RetrievalUnavailable, StoreUnavailable
from core.model import Scope

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


async def show_home(context: InteractionContext, said: str = "") -> None:
    """Show the home to whoever has opened it, with what is *said* to that person on top."""
    with suppress(PostingFailed):  # whoever opens it again sees it
        client = (await context.slack.workspaces.find(context.home.workspace)).client
        about = home_blocks(said, await _known(context), context.slack.chat.practices)
        lines, silent = await _overview(context)

        async def publish(chosen: Collection[str] | None) -> None:
            blocks = [*about, *moderation_blocks(lines, chosen)]
            await tell(client, "views.publish", user_id=context.person.id, view={"type": "home", "blocks": blocks})

        try:
            await publish(silent)
        except Rejected:
            if not silent:
                raise
            await publish(())  # one of the channels may be gone


async def press_at_home(context: InteractionContext, action_id: str) -> None:
    """Do what a button of the home says, and say there how it went."""
    name, for_moderators, values = ACTIONS[action_id]
    command = command_named(name, for_moderators=for_moderators)
    if command is not None and command.act is not None:
        await carried_out(partial(command.act, context.command, values), partial(show_home, context))


async def choose_at_home(context: InteractionContext, action: Json, body: Json) -> None:
    """Stay silent in the channels that were chosen in the home, and say there how it went.

    What somebody else has changed since the menu was shown is left alone.
    """
    view = cast("Json", body.get("view") or {})
    menus = [cast("Json", block.get("accessory") or {}) for block in cast("Sequence[Json]", view.get("blocks") or ())]
    shown = {each for menu in menus if menu.get("action_id") == SILENT for each in _ids(menu, "initial_conversations")}
    chosen = set(_ids(action, "selected_conversations"))

    async def silence_chosen() -> str:
        told = [await silenced(context.command, channel, on=channel in chosen) for channel in sorted(chosen ^ shown)]
        return "\n".join(told) or messages.UNCHANGED

    await carried_out(silence_chosen, partial(show_home, context))


def _ids(element: Json, key: str) -> list[str]:
    return [str(each) for each in cast("Sequence[object]", element.get(key) or ())]


async def _known(context: InteractionContext) -> list[str]:
    """Return how much there is to search by now; the names of it are for those who may be answered from it."""
    try:
        outline = await context.slack.chat.outline(Scope(open_at=context.slack.chat.now()))
    except RetrievalUnavailable:
        return [f"{messages.WARNING} {messages.UNAVAILABLE}"]
    first, *names = messages.outline_lines(outline)
    if not await context.slack.people.may_read(context.home.workspace, context.person.id):
        return [first]
    return [first, *(f"• {SLACK.on_one_line(name)}" for name in names)]


async def _overview(context: InteractionContext) -> tuple[Sequence[str], Collection[str] | None]:
    """Return how things are, for moderators, and the channels without answers, None where nobody can say.

    Others see nothing of it.
    """
    try:
        actor = await context.actor()
        if not actor.may_moderate:
            return (), None
        policy = await context.slack.chat.policies.load(actor.home)
        return await status_lines(context.command), policy.silent_channels if policy.fault is None else None
    except StoreUnavailable:
        return [f"{messages.WARNING} {messages.AWAY}"], None
    except PostingFailed:
        return (), None


def home_blocks(said: str, known: Sequence[str], practices: messages.Practices) -> list[Block]:
    """Return the blocks for everybody, which are as many whatever there is to tell."""
    told = [_section(_fitting(said.split("\n"))), {"type": "divider"}] if said else []
    confirm = {
        "title": plain(messages.FORGET_ME_TITLE),
        "text": plain(messages.FORGET_ME_WARNING),
        "confirm": plain("Forget"),
        "deny": plain("Cancel"),
        "style": "danger",
    }
    forget = {**_button(FORGET_ME, "Forget everything about me"), "style": "danger", "confirm": confirm}
    return [
        *told,
        _header("What I know"),
        _section(_fitting(known)),
        _header("What I can do"),
        _section(mrkdwn(messages.help_text(messages.SLACK_FORMS))),
        _header("What I keep"),
        _section(mrkdwn(messages.privacy(practices, messages.SLACK_FORMS))),
        {"type": "actions", "elements": [forget]},
    ]


def moderation_blocks(lines: Sequence[str], silent: Collection[str] | None) -> list[Block]:
    """Return the blocks that moderators see, with a menu of the channels without answers; none for others.

    What is chosen in the menu is in its id too, since Slack keeps what a block of one id shows.
    """
    if not lines:
        return []
    buttons = {"type": "actions", "elements": [_button(PAUSE, "Pause"), _button(RESUME, "Resume")]}
    blocks = [_header("For moderators"), _section(_fitting(lines)), buttons]
    if silent is None:
        return blocks
    names = sorted(silent)
    menu: Block = {
        "type": "multi_conversations_select",
        "action_id": SILENT,
        "placeholder": plain("Choose channels"),
        "filter": {"include": ["public", "private"]},
    }
    if names:
        menu["initial_conversations"] = names
    block_id = f"{SILENT}:{sha256(' '.join(names).encode()).hexdigest()[:16]}"
    return [*blocks, {**_section("Channels where I stay silent"), "block_id": block_id, "accessory": menu}]


def _button(action_id: str, label: str) -> Block:
    return {"type": "button", "action_id": action_id, "text": plain(label)}


def _header(text: str) -> Block:
    return {"type": "header", "text": plain(text)}


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
