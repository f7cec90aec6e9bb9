"""Reads what a gateway event means, before anything is decided. Nothing here waits or looks anything up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias, cast

from adapters.chat.intake import BotIdentity
from core.model import (
    QUESTION_LIMIT,
    Inbound,
    InboundKind,
    Message,
    MessageRef,
    Person,
    Setting,
    ThreadRef,
    without_controls,
)

PLATFORM = "discord"
DIRECT_MESSAGES = "@me"  # the workspace of direct messages, as in Discord's own links

Json: TypeAlias = Mapping[str, Any]

DIRECT, _GROUP = 1, 3
_THREADS = (10, 11, 12)
_HAVE_THREADS = (0, 5)
_DEFAULT, _REPLY = 0, 19
_SAID = (_DEFAULT, _REPLY, 20, 23)  # and what answers a command or a menu
_IS_CROSSPOST = 1 << 1
_EPOCH = 1_420_070_400_000  # milliseconds: the first moment of 2015, with which the ids begin
_USER_OR_ROLE = re.compile(r"<@(!|&)?(\d{1,20})>")
_CHANNEL = re.compile(r"<#(\d{1,20})>")
_EMOJI = re.compile(r"<a?(:\w{1,40}:)\d{1,20}>")
_COMMAND = re.compile(r"<(/[^:<>\n]{1,100}):\d{1,20}>")
_NAVIGATION = re.compile(r"<id:(\w{1,40})(?::\d{1,20})?>")
_TIME = re.compile(r"<t:(-?\d{1,12})(?::[a-zA-Z])?>")
_KINDS = {
    "MESSAGE_CREATE": InboundKind.WRITTEN,
    "MESSAGE_UPDATE": InboundKind.EDITED,
    "MESSAGE_DELETE": InboundKind.DELETED,
}


@dataclass(frozen=True, slots=True)
class ChannelInfo:
    """The channel of an event, as the client knows it: its type, and the parent of a thread.

    `title` is what somebody has written above the message, as above the first one of a forum post.
    """

    id: str
    type: int
    parent_id: str = ""
    names: Mapping[str, str] = field(default_factory=dict[str, str])  # of roles and channels, by their ids
    title: str = ""

    @property
    def setting(self) -> Setting:
        """The kind of place."""
        if self.type in (DIRECT, _GROUP):
            return Setting.DIRECT
        return Setting.THREAD if self.type in _THREADS else Setting.CHANNEL

    @property
    def has_threads(self) -> bool:
        """Whether a thread can be opened on a message here; in the chat of a voice channel, for one, it cannot."""
        return self.type in _HAVE_THREADS


def unbundled(event: Json) -> Iterator[Json]:
    """Return an event as it is, and the deletion of many messages as one deletion each."""
    data = _object(event.get("d"))
    if event.get("t") != "MESSAGE_DELETE_BULK":
        yield event
        return
    for deleted in data.get("ids") or ():
        yield {"t": "MESSAGE_DELETE", "d": {**data, "id": deleted}}


def parse(event: Json, *, me: BotIdentity, place: ChannelInfo) -> Inbound | None:
    """Read an event as the gateway sends it; None where no person wrote, changed or deleted words of their own."""
    kind, data = _KINDS.get(str(event.get("t"))), _object(event.get("d"))
    if kind is None or not data.get("id"):
        return None
    if kind is InboundKind.DELETED:
        return Inbound(kind=kind, message=_message(data, str(data["id"]), place), setting=place.setting)
    if not is_by_a_person(data, me) or "content" not in data:
        return None
    if kind is InboundKind.EDITED and not data.get("edited_timestamp"):
        return None  # a preview was added, the message was pinned, or a thread was opened on it
    return _read(kind, data, me, place)


def _read(kind: InboundKind, data: Json, me: BotIdentity, place: ChannelInfo) -> Inbound:
    wording = MentionText(data, mine=(me.user_id, *me.role_ids), names=place.names)
    replied = _object(data.get("referenced_message") if data.get("type") == _REPLY else None)
    edited = _time(data.get("edited_timestamp"))
    return Inbound(
        kind=kind,
        message=_message(data, str(data["id"]), place),
        setting=place.setting,
        revision=int(edited.timestamp() * 1000) if edited else 0,
        author=_person(_object(data.get("author")), _object(data.get("member"))),
        text=_titled(place.title, wording.clean(str(data.get("content") or ""))),
        mentions=_mentions(data, me),
        is_reply_to=str(_object(replied.get("author")).get("id") or ""),
        reply_to=_replied_message(data, place),
        quoted=tuple(filter(None, [line(replied, me=me, place=place)])),
        at=_time(data.get("timestamp")) or _made(str(data["id"])),
    )


def _titled(title: str, text: str) -> str:
    """Put a title above a text, unless it says so itself, or has no room for it."""
    whole = f"{title}\n{text}".strip()
    is_said = text.casefold().startswith(title.casefold())
    return text if is_said or len(text) <= QUESTION_LIMIT < len(whole) else whole


def _message(data: Json, message_id: str, place: ChannelInfo) -> MessageRef:
    """Name a message and its conversation: a thread that is opened on a message gets the id of the message."""
    thread = message_id if place.setting is Setting.CHANNEL else place.id
    channel = place.parent_id or place.id
    workspace = str(data.get("guild_id") or DIRECT_MESSAGES)
    return MessageRef(
        thread=ThreadRef(platform=PLATFORM, workspace=workspace, channel=channel, thread=thread), id=message_id
    )


def _mentions(data: Json, me: BotIdentity) -> tuple[str, ...]:
    """Return the ids of all who are addressed, the author of a message that is replied to with a ping among them."""
    users = [str(_object(user).get("id")) for user in data.get("mentions") or ()]
    roles = [str(role) for role in data.get("mention_roles") or ()]
    named = [me.user_id if role in me.role_ids else role for role in roles]
    everyone = ["everyone"] if data.get("mention_everyone") else []
    return tuple(dict.fromkeys([*users, *named, *everyone]))


def _replied_message(data: Json, place: ChannelInfo) -> MessageRef | None:
    replied = answered(data)
    return _message(data, replied, place) if replied else None


def line(data: Json, *, me: BotIdentity, place: ChannelInfo) -> Message | None:
    """Return what somebody said, without previews of pages, which are nobody's words; None if there are no words."""
    if not data.get("content") or data.get("type", _DEFAULT) not in _SAID:
        return None
    author = _person(_object(data.get("author")), _object(data.get("member")))
    wording = MentionText(data, mine=(), names=place.names)
    return Message(
        role="assistant" if author.id == me.user_id else "user",
        text=wording.clean(str(data["content"])),
        author=author.name,
        at=_time(data.get("timestamp")),
    )


def answered(data: Json) -> str:
    """Return the id of the message that this one replies to, empty if it is no reply."""
    reference = _object(data.get("message_reference"))
    is_here = reference.get("channel_id") in (None, data.get("channel_id"))
    return str(reference.get("message_id") or "") if data.get("type") == _REPLY and is_here else ""


def is_by_a_person(data: Json, me: BotIdentity) -> bool:
    """Return whether a person wrote it here: no bot, no webhook, no system, no copy from a followed channel."""
    author = _object(data.get("author"))
    return (
        bool(author.get("id"))
        and author["id"] != me.user_id
        and not (author.get("bot") or author.get("system") or data.get("webhook_id"))
        and data.get("type", _DEFAULT) in (_DEFAULT, _REPLY)
        and not int(data.get("flags") or 0) & _IS_CROSSPOST
    )


def _person(user: Json, member: Json) -> Person:
    """Return somebody under the name that others see here."""
    name = member.get("nick") or user.get("global_name") or user.get("username") or ""
    return Person(id=str(user.get("id") or ""), name=str(name))


def _time(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _made(snowflake: str) -> datetime:
    """Read the moment that every id of Discord's holds."""
    return datetime.fromtimestamp(((int(snowflake) >> 22) + _EPOCH) / 1000, UTC)


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, Mapping) else {}


class MentionText:
    """Knows the people, roles and channels that a message names; *mine* are the ids that stand for the bot."""

    def __init__(self, message: Mapping[str, Any], *, mine: Collection[str], names: Mapping[str, str]) -> None:
        self._mine = mine
        self._names = {**names, **{str(user["id"]): _shown_name(user) for user in message.get("mentions") or ()}}

    def clean(self, content: str) -> str:
        """Take the bot's own mention out, and write all else that has an id as the name behind it."""
        text = _USER_OR_ROLE.sub(self._named, without_controls(content))
        text = _CHANNEL.sub(lambda found: f"#{self._names.get(found[1], 'channel')}", text)
        text = _COMMAND.sub(r"\1", _EMOJI.sub(r"\1", text))
        text = _TIME.sub(lambda found: _date(int(found[1])) or found[0], _NAVIGATION.sub(r"\1", text))
        return "\n".join(line.rstrip() for line in text.split("\n")).strip()

    def _named(self, found: re.Match[str]) -> str:
        if found[2] in self._mine:
            return ""
        return f"@{self._names.get(found[2], 'role' if found[1] == '&' else 'someone')}"


def _shown_name(user: Mapping[str, Any]) -> str:
    member: Mapping[str, Any] = user.get("member") or {}
    return str(member.get("nick") or user.get("global_name") or user.get("username") or "someone")


def _date(seconds: int) -> str:
    """Return a moment in words that a model understands; nothing if no calendar has it."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return ""
