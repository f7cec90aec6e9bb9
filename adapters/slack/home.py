"""The app's home: what the bot knows, how it is used, what it keeps, and what moderators see beside that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from itertools import accumulate, takewhile
from typing import Any, TypeAlias, cast

from adapters.chat.commands import command_named, searchable
from adapters.chat.dialect import heading
from adapters.chat.orders import opened_to_guests, silenced, status_lines
from adapters.chat.registry import carried_out, told_instead
from adapters.slack.api import tell
from adapters.slack.dialect import SLACK, marked, plain
from adapters.slack.interactions import InteractionContext, mrkdwn
from core import messages
from core.errors import (
    PeopleUnavailable,
    PostingFailed,
    RateLimited,
    Rejected,
    RetrievalUnavailable,
    StoreUnavailable,
    Unreachable,
)

Block: TypeAlias = dict[str, Any]
Json: TypeAlias = Mapping[str, Any]
Chosen: TypeAlias = Mapping[str, Collection[str]]
"""The channels that each menu has chosen, by its id."""

FORGET_ME, PAUSE, RESUME, SILENT, OPEN = (
    f"footnote:{each}" for each in ("forget_me", "pause", "resume", "silent", "open")
)
ACTIONS: Mapping[str, tuple[str, bool, Json]] = {
    FORGET_ME: ("forget", False, {"what": "me"}),
    PAUSE: ("pause", True, {}),
    RESUME: ("resume", True, {}),
}
"""What the buttons do: the name of a command, whether it is one for moderators, and its values."""
MENUS: Mapping[str, tuple[str, Callable[..., Awaitable[str]]]] = {
    SILENT: ("Channels where I stay silent", silenced),
    OPEN: ("Channels where I answer guests and outsiders like members", opened_to_guests),
}
"""The menus of channels: what stands beside them, and what is done with a channel that is chosen, or no longer."""
SECTION = 3_000  # characters of a section's text
LABEL = 75  # characters that a prompt shows
LONGEST_CHAPTER = 40  # characters of a chapter in a prompt


async def show_home(context: InteractionContext, said: str = "") -> None:
    """Show the home to whoever has opened it, with what is *said* to that person on top."""
    with suppress(PostingFailed):  # whoever opens it again sees it
        client = (await context.slack.workspaces.find(context.home.workspace)).client
        about = home_blocks(said, await _known(context), context.slack.chat.practices)
        lines, chosen = await _overview(context)

        async def publish(chosen: Chosen | None) -> None:
            blocks = [*about, *moderation_blocks(lines, chosen)]
            await tell(client, "views.publish", user_id=context.person.id, view={"type": "home", "blocks": blocks})

        try:
            await publish(chosen)
        except Rejected:
            if not chosen or not any(chosen.values()):
                raise
            await publish(dict.fromkeys(chosen, ()))  # one of the channels may be gone


async def pin_prompts(context: InteractionContext, channel: str) -> None:
    """Pin what somebody can ask to the messages with the bot, unless it is, from what that person can search.

    What could not be done now is done another time.
    """
    chat = context.slack.chat
    with suppress(PostingFailed, StoreUnavailable, RetrievalUnavailable, PeopleUnavailable):
        _, outline, _ = await searchable(chat, context.command.asker)
        names = (heading(each, LONGEST_CHAPTER) for each in outline.chapters)  # can hold neither a mention nor a link
        prompts = messages.prompts([each for each in names if each])
        key = f"slack:prompts:{context.home.workspace}:{channel}"
        if not await chat.dedup.changed(key, sha256(repr(prompts).encode()).hexdigest()):
            return
        shown = [{"title": prompt[:LABEL], "message": prompt} for prompt in prompts]
        given: dict[str, Any] = {"channel_id": channel, "title": messages.PROMPTS_TITLE, "prompts": shown}
        try:
            client = (await context.slack.workspaces.find(context.home.workspace)).client
            await tell(client, "assistant.threads.setSuggestedPrompts", **given)
        except (Unreachable, RateLimited):
            await chat.dedup.forget(key)


async def press_at_home(context: InteractionContext, action_id: str) -> None:
    """Do what a button of the home says, and say there how it went."""
    name, for_moderators, values = ACTIONS[action_id]
    command = command_named(name, for_moderators=for_moderators)
    if command is not None and command.act is not None:
        await carried_out(partial(command.act, context.command, values), partial(show_home, context))


async def choose_at_home(context: InteractionContext, action: Json, body: Json) -> None:
    """Do what a menu of the home says with the channels that were chosen there, and say there how it went.

    What somebody else has changed since the menu was shown is left alone.
    """
    view, menu_id = cast("Json", body.get("view") or {}), str(action.get("action_id"))
    (_, act) = MENUS[menu_id]
    menus = [cast("Json", block.get("accessory") or {}) for block in cast("Sequence[Json]", view.get("blocks") or ())]
    shown = {each for menu in menus if menu.get("action_id") == menu_id for each in _ids(menu, "initial_conversations")}
    chosen = set(_ids(action, "selected_conversations"))

    async def act_on_chosen() -> str:
        told = [await act(context.command, channel, on=channel in chosen) for channel in sorted(chosen ^ shown)]
        return "\n".join(told) or messages.UNCHANGED

    await carried_out(act_on_chosen, partial(show_home, context))


def _ids(element: Json, key: str) -> list[str]:
    return [str(each) for each in cast("Sequence[object]", element.get(key) or ())]


async def _known(context: InteractionContext) -> list[str]:
    """Return how much there is to search by now for whoever looks, who is told of nothing else."""
    chat = context.slack.chat
    try:
        _, outline, refusal = await searchable(chat, context.command.asker)
        if refusal:
            return [refusal]
        first, *names = messages.outline_lines(outline)
    except (PeopleUnavailable, RetrievalUnavailable, StoreUnavailable) as error:
        return [told_instead(error)]
    return [first, *(f"• {SLACK.on_one_line(name)}" for name in names)]


async def _overview(context: InteractionContext) -> tuple[Sequence[str], Chosen | None]:
    """Return how things are, for moderators, and which channels each menu has, None where nobody can say.

    Others see nothing of it.
    """
    try:
        actor = await context.actor()
        if not actor.may_moderate:
            return (), None
        policy = await context.slack.chat.policies.load(actor.home)
        chosen: Chosen = {SILENT: policy.silent_channels, OPEN: policy.open_channels}
        return await status_lines(context.command), chosen if policy.fault is None else None
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


def moderation_blocks(lines: Sequence[str], chosen: Chosen | None) -> list[Block]:
    """Return the blocks that moderators see, with the menus of channels; none for others.

    What is chosen in the menu is in its id too, since Slack keeps what a block of one id shows.
    """
    if not lines:
        return []
    buttons = {"type": "actions", "elements": [_button(PAUSE, "Pause"), _button(RESUME, "Resume")]}
    menus = [_menu(menu_id, sorted(channels)) for menu_id, channels in (chosen or {}).items()]
    return [_header("For moderators"), _section(_fitting(lines)), buttons, *menus]


def _menu(menu_id: str, names: Sequence[str]) -> Block:
    menu: Block = {
        "type": "multi_conversations_select",
        "action_id": menu_id,
        "placeholder": plain("Choose channels"),
        "filter": {"include": ["public", "private"]},
    }
    if names:
        menu["initial_conversations"] = list(names)
    block_id = f"{menu_id}:{sha256(' '.join(names).encode()).hexdigest()[:16]}"
    return {**_section(MENUS[menu_id][0]), "block_id": block_id, "accessory": menu}


def _button(action_id: str, label: str) -> Block:
    return {"type": "button", "action_id": action_id, "text": plain(label)}


def _header(text: str) -> Block:
    return {"type": "header", "text": plain(text)}


def _section(text: str) -> Block:
    return {"type": "section", "text": marked(text)}


def _fitting(lines: Sequence[str]) -> str:
    """Return as many lines as a section holds."""
    texts = accumulate(lines, lambda kept, line: f"{kept}\n{line}")
    return max(takewhile(lambda text: len(text) <= SECTION, texts), key=len, default="")
