"""Reads what a gateway event means, before anything is decided. Nothing here waits or looks anything up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from discord.utils import snowflake_time

from adapters.chat.files import FileLink
from adapters.chat.platform import BotIdentity
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

DIRECT = 1  # a type of channels
HAVE_THREADS = (0, 5)  # in the chat of a voice channel, for one, no thread can be opened
SETTINGS = {
    DIRECT: Setting.DIRECT,
    3: Setting.DIRECT,
    **dict.fromkeys((10, 11, 12), Setting.THREAD),
}  # by type; all others are channels
_DEFAULT, _REPLY = 0, 19  # types of messages
_SAID = (_DEFAULT, _REPLY, 20, 23)  # and what answers a command or a menu
_IS_CROSSPOST = 1 << 1
FORWARDED = "a forwarded message"
_NOTHING: Json = {}
_MARKED = re.compile(
    r"<@(?P<sign>[!&]?)(?P<addressed>\d{1,20})>|<#(?P<channel>\d{1,20})>|<a?(?P<emoji>:\w{1,40}:)\d{1,20}>"
    r"|<(?P<command>/[^:<>\n]{1,100}):\d{1,20}>|<id:(?P<page>\w{1,40})(?::\d{1,20})?>"
    r"|<t:(?P<time>-?\d{1,12})(?::[a-zA-Z])?>"
)
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


def parse(event: Json, *, me: BotIdentity, place: ChannelInfo) -> Inbound | None:
    """Return what an event of the gateway tells; None where no person wrote, changed or deleted words of their own."""
    kind, data = _KINDS.get(str(event.get("t"))), event.get("d") or _NOTHING
    if kind is None or not data.get("id"):
        return None
    message, setting = _message(data, str(data["id"]), place), SETTINGS.get(place.type, Setting.CHANNEL)
    if kind is InboundKind.DELETED:
        return Inbound(kind=kind, message=message, setting=setting)
    edited = _time(data.get("edited_timestamp"))
    if not is_by_a_person(data, me) or (kind is InboundKind.EDITED and edited is None):
        return None  # of edits: a preview was added, the message was pinned, or a thread was opened on it
    text, title = words(data, mine=(me.user_id, *me.role_ids), names=place.names), place.title
    if title and not text.casefold().startswith(title.casefold()):
        whole = f"{title}\n{text}".strip()
        text = text if len(text) <= QUESTION_LIMIT < len(whole) else whole
    replied = data.get("referenced_message") if data.get("type") == _REPLY else None
    said = line(replied, me=me, place=place) if replied else None
    quoted = (*([said] if said else ()), *(forwards(data, place=place) if has_more(data) else ()))
    reply_to = answered(data)
    users = [str(user["id"]) for user in data.get("mentions") or ()]  # with whoever is replied to with a ping
    roles = [me.user_id if str(role) in me.role_ids else str(role) for role in data.get("mention_roles") or ()]
    everyone = ["everyone"] if data.get("mention_everyone") else []
    return Inbound(
        kind=kind,
        message=message,
        setting=setting,
        revision=int(edited.timestamp() * 1000) if edited else 0,
        author=_person(data["author"], data),
        text=text,
        mentions=tuple(dict.fromkeys([*users, *roles, *everyone])),
        is_reply_to=str((replied.get("author") or _NOTHING).get("id") or "") if replied else "",
        reply_to=_message(data, reply_to, place) if reply_to else None,
        quoted=quoted,
        carries=has_more(data) and (bool(_forwarded(data)) or any(file.unread is None for file in files_in(data))),
        at=_time(data.get("timestamp")) or snowflake_time(int(data["id"])),
    )


def is_by_a_person(data: Json, me: BotIdentity) -> bool:
    """Return whether a person wrote it here: no bot, no webhook, no system, no copy from a followed channel."""
    author = data.get("author") or _NOTHING
    return (
        bool(author.get("id"))
        and author["id"] != me.user_id
        and not (author.get("bot") or author.get("system") or data.get("webhook_id"))
        and data.get("type", _DEFAULT) in (_DEFAULT, _REPLY)
        and not int(data.get("flags") or 0) & _IS_CROSSPOST
        and "content" in data
    )


def answered(data: Json) -> str:
    """Return the id of the message that this one replies to, empty if it is no reply."""
    reference = data.get("message_reference") or _NOTHING
    is_here = reference.get("channel_id") in (None, data.get("channel_id"))
    return str(reference.get("message_id") or "") if data.get("type") == _REPLY and is_here else ""


def line(data: Json, *, me: BotIdentity, place: ChannelInfo) -> Message | None:
    """Return what somebody said, without previews of pages, which are nobody's words; None if there are no words."""
    content = "\n".join(filter(None, _contents(data)))
    if not content or data.get("type", _DEFAULT) not in _SAID:
        return None
    author = _person(data.get("author") or _NOTHING, data)
    return Message(
        role="assistant" if author.id == me.user_id else "user",
        text=words({**data, "content": content}, names=place.names),
        author=author.name,
        author_id="" if _forwarded(data) else author.id,
        at=_time(data.get("timestamp")),
    )


def has_more(data: Json) -> bool:
    """Return whether files or a forward came with a message."""
    return bool(data.get("attachments") or data.get("message_snapshots"))


def forwards(data: Json, *, place: ChannelInfo) -> Sequence[Message]:
    """Return what a message forwards, of which Discord does not say who wrote it."""
    said = ({**each, "content": "\n".join(filter(None, _contents(each)))} for each in _forwarded(data))
    texts = ((words(each, names=place.names), _time(each.get("timestamp"))) for each in said)
    return [Message(role="user", text=text, author=FORWARDED, at=at) for text, at in texts if text]


def files_in(data: Json, *, is_quoted: bool = False) -> Sequence[FileLink]:
    """Return the files of a message, and then those of what it forwards, which others have written."""
    return [
        FileLink(
            name=str(each.get("filename") or ""),
            url=str(each.get("url") or ""),
            size=int(each.get("size") or 0),
            kind=str(each.get("content_type") or ""),
            is_quoted=is_quoted or said is not data,
        )
        for said in (data, *_forwarded(data))
        for each in said.get("attachments") or ()
    ]


def _forwarded(data: Json) -> Sequence[Json]:
    return [each.get("message") or _NOTHING for each in data.get("message_snapshots") or ()]


def _contents(data: Json) -> Iterator[str | None]:
    """Yield what a message says: its own text, what it forwards, a poll, and what a program shows instead of text."""
    yield data.get("content")
    for forwarded in _forwarded(data):
        yield forwarded.get("content")
    poll = data.get("poll") or _NOTHING
    for one in (poll.get("question"), *(answer.get("poll_media") for answer in poll.get("answers") or ())):
        yield (one or _NOTHING).get("text")
    if data.get("webhook_id") or (data.get("author") or _NOTHING).get("bot"):
        for embed in data.get("embeds") or ():
            fields = [each.get(key) for each in embed.get("fields") or () for key in ("name", "value")]
            yield from (embed.get("title"), embed.get("description"), *fields) if embed.get("type") == "rich" else ()


def words(data: Json, *, mine: Collection[str] = (), names: Mapping[str, str] | None = None) -> str:
    """Return a message's text as readers see it: all that has an id is written as the name behind it.

    Mentions of *mine*, which are the ids that stand for the bot, are left out.
    """
    mentioned = (_person(user, user) for user in data.get("mentions") or ())
    known = {**(names or _NOTHING), **{person.id: person.name for person in mentioned}}

    def named(found: re.Match[str]) -> str:
        match found.lastgroup:
            case "addressed" if found["addressed"] in mine:
                return ""
            case "addressed":
                return f"@{known.get(found['addressed']) or ('role' if found['sign'] == '&' else 'someone')}"
            case "channel":
                return f"#{known.get(found['channel'], 'channel')}"
            case "time":
                return _moment(int(found["time"])) or found[0]
            case other:
                return found[other or 0]

    text = _MARKED.sub(named, without_controls(str(data.get("content") or "")))
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()


def _message(data: Json, message_id: str, place: ChannelInfo) -> MessageRef:
    """Name a message and its conversation: a thread that is opened on a message gets the id of the message."""
    thread = ThreadRef(
        platform=PLATFORM,
        workspace=str(data.get("guild_id") or DIRECT_MESSAGES),
        channel=place.parent_id or place.id,
        thread=place.id if place.type in SETTINGS else message_id,
    )
    return MessageRef(thread=thread, id=message_id)


def _person(user: Json, in_server: Json) -> Person:
    """Return somebody under the name that others see here."""
    member = in_server.get("member") or _NOTHING
    name = member.get("nick") or user.get("global_name") or user.get("username") or ""
    return Person(id=str(user.get("id") or ""), name=str(name))


def _time(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _moment(seconds: int) -> str:
    """Return a moment in words that a model understands; nothing if no calendar has it."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return ""
