"""The menu in the app's home in which moderators choose the channels where the bot stays silent."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeAlias, cast

from adapters.slack.commands.kit import Kit
from adapters.slack.commands.moderating import silence
from adapters.slack.commands.situation import Used
from core import sentences

Json: TypeAlias = Mapping[str, Any]

SILENT = "footnote:silent"


@dataclass(frozen=True, slots=True)
class Choice:
    """The channels that were chosen, and those that the menu had shown as chosen."""

    chosen: frozenset[str]
    shown: frozenset[str]


def silent_menu(silent: Collection[str]) -> dict[str, Any]:
    """Give the block with the menu. What is chosen is in its id too, since Slack keeps what a block of one id shows."""
    names = sorted(silent)
    menu: dict[str, Any] = {
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


def choice_in(action: Json, body: Json) -> Choice:
    """Read what was chosen, and from the home itself what had been shown."""
    view = cast("Json", body.get("view") or {})
    menus = [cast("Json", block.get("accessory") or {}) for block in cast("Sequence[Json]", view.get("blocks") or ())]
    shown = [each for menu in menus if menu.get("action_id") == SILENT for each in _ids(menu, "initial_conversations")]
    return Choice(frozenset(_ids(action, "selected_conversations")), frozenset(shown))


async def silence_chosen(kit: Kit, used: Used, choice: Choice) -> str:
    """Do what was changed in the menu, and leave alone what somebody else has changed since it was shown."""
    actor = await kit.actor(used)
    told = [
        await silence(kit, actor, channel, on=channel in choice.chosen)
        for channel in sorted(choice.chosen ^ choice.shown)
    ]
    return "\n".join(told) or sentences.UNCHANGED


def _ids(element: Json, key: str) -> list[str]:
    return [str(each) for each in cast("Sequence[object]", element.get(key) or ())]
