"""Reads what an event means, before anything is decided. Nothing here waits or looks anything up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias, cast

from adapters.chat.intake import BotIdentity
from adapters.slack.workspaces import name_of
from core.model import Inbound, InboundKind, Message, MessageRef, Person, Setting, ThreadRef, without_controls

PLATFORM = "slack"

Json: TypeAlias = Mapping[str, Any]

_SAID = (None, "thread_broadcast", "file_share", "me_message")
_QUOTED = (*_SAID, "bot_message")
_DELETED, _CHANGED, _REMAINS = "message_deleted", "message_changed", "tombstone"
EVERYONE = "everyone"
_TOKEN = re.compile(r"<(?P<sign>[@#!]?)(?P<name>[^<>|]*)(?:\|(?P<label>[^<>]*))?>(?P<after>[:,]?)")
_CROWDS = ("channel", "here", EVERYONE)
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))  # Slack writes no others, and the last one comes last
_DIRECT, _DIRECT_ID = "im", "D"  # a mention is told without the type of its channel, which the id begins with


def workspace_of(body: Json) -> str:
    """Name the workspace for whose installation an event came; in a shared channel, others have their own."""
    given = cast("list[Json]", body.get("authorizations") or [])
    authorization = given[0] if given else body
    team = authorization.get("team_id") or body.get("context_team_id") or body.get("team_id") or ""
    enterprise = authorization.get("enterprise_id") or body.get("enterprise_id") or ""
    return name_of(str(team), str(enterprise), is_enterprise_install=bool(authorization.get("is_enterprise_install")))


def moment_of(event: Json) -> datetime | None:
    """Return when something happened."""
    return _moment(event.get("event_ts") or event.get("ts"))


def line_of(event: Json) -> str:
    """Name what has to be heard in order: a thread, or a message of a channel, which opens its own."""
    said = _subject(event)
    return f"{event.get('channel')}:{said.get('thread_ts') or said.get('ts')}"


def parse(event: Json, *, me: BotIdentity) -> Inbound | None:
    """Read an event; None where no person wrote, changed or deleted words of their own."""
    said = _subject(event)
    if event.get("type") not in ("message", "app_mention") or not (event.get("channel") and said.get("ts")):
        return None
    if event.get("subtype") == _DELETED or said.get("subtype") == _REMAINS:
        return Inbound(kind=InboundKind.DELETED, message=_message(event, me), setting=_setting(event))
    if not is_by_a_person(said, me) or not _changes_words(event):
        return None
    return _read(event, said, me)


def speaks_for(event: Json, inbound: Inbound, me: BotIdentity) -> bool:
    """Return whether this event is the one to say something about: a mention in a channel comes as two events."""
    is_mention = me.user_id in inbound.mentions and inbound.setting is not Setting.DIRECT
    return event.get("type") == "app_mention" or not is_mention


def line(said: Json, *, me: BotIdentity, names: dict[str, str]) -> Message | None:
    """Return what somebody said in a thread; previews are nobody's words, and a message without words is none.

    *names* are those by which people are told apart; whoever is not among them is given one.
    """
    if said.get("subtype") not in _QUOTED or not said.get("text"):
        return None
    is_mine = me.user_id == said.get("user") or (bool(me.bot_id) and me.bot_id == said.get("bot_id"))
    author = "" if is_mine else _name(said, names)
    return Message(
        role="assistant" if is_mine else "user",
        text=words(str(said["text"])),
        author=author,
        at=_moment(said.get("ts")),
    )


def is_by_a_person(said: Json, me: BotIdentity) -> bool:
    """Return whether a person wrote it: no bot, no app in a person's name, nothing that Slack itself says."""
    return (
        bool(said.get("user"))
        and said["user"] not in (me.user_id, "USLACKBOT")
        and not (said.get("bot_id") or said.get("bot_profile") or said.get("hidden"))
        and said.get("subtype") in _SAID
    )


def _subject(event: Json) -> Json:
    """Return the message that an event is about: of a deleted one, what is left of it."""
    match event.get("subtype"):
        case str(subtype) if subtype == _CHANGED:
            return _object(event.get("message"))
        case str(subtype) if subtype == _DELETED:
            return {**_object(event.get("previous_message")), "ts": event.get("deleted_ts")}
        case _:
            return event


def _changes_words(event: Json) -> bool:
    """Return whether the words are new: a preview, a reaction or a reply below is a change of a message as well."""
    if event.get("subtype") != _CHANGED:
        return True
    now, before = _object(event.get("message")), _object(event.get("previous_message"))
    return bool(now.get("edited")) and now.get("text") != before.get("text")


def _read(event: Json, said: Json, me: BotIdentity) -> Inbound:
    edited = _moment(_object(said.get("edited")).get("ts"))
    text = str(said.get("text") or "")
    return Inbound(
        kind=InboundKind.EDITED if edited else InboundKind.WRITTEN,
        message=_message(event, me),
        setting=_setting(event),
        revision=round(edited.timestamp() * 1000) if edited else 0,
        author=Person(id=str(said["user"])),
        text=words(text, mine=me.user_id),
        mentions=mentions(text),
        at=_moment(said["ts"]),
    )


def _message(event: Json, me: BotIdentity) -> MessageRef:
    """Name a message and its conversation: a message outside of a thread would begin one."""
    said = _subject(event)
    thread = str(said.get("thread_ts") or said["ts"])
    place = ThreadRef(platform=PLATFORM, workspace=me.workspace, channel=str(event["channel"]), thread=thread)
    return MessageRef(thread=place, id=str(said["ts"]))


def _setting(event: Json) -> Setting:
    said = _subject(event)
    if event.get("channel_type") == _DIRECT or str(event["channel"]).startswith(_DIRECT_ID):
        return Setting.DIRECT
    return Setting.THREAD if said.get("thread_ts") not in (None, said["ts"]) else Setting.CHANNEL


def _name(said: Json, names: dict[str, str]) -> str:
    """Return the name that comes with a message, if any does, or a number: the ids of people are no names."""
    who = str(said.get("user") or said.get("bot_id") or "")
    profile = _object(said.get("user_profile") or said.get("bot_profile"))
    known = said.get("username") or profile.get("display_name") or profile.get("real_name") or profile.get("name")
    return names.setdefault(who, str(known or f"person {len(names) + 1}"))


def _moment(ts: object) -> datetime | None:
    """Read a moment as Slack writes it: seconds with a fraction, in a text."""
    try:
        return datetime.fromtimestamp(float(str(ts)), UTC) if ts else None
    except (OverflowError, ValueError, OSError):
        return None


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, Mapping) else {}


def words(text: str, *, mine: str = "") -> str:
    """Take the mention of *mine* out, and write all else that stands in angle brackets as what is shown for it."""

    def shown(token: re.Match[str]) -> str:
        return "" if (token["sign"], token["name"]) == ("@", mine) else _shown(token) + token["after"]

    text = _TOKEN.sub(shown, without_controls(text))
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()


def mentions(text: str) -> tuple[str, ...]:
    """Return the ids of all who are addressed: people, groups of them, and everyone."""
    return tuple(dict.fromkeys(filter(None, map(_mentioned, _TOKEN.finditer(text)))))


def _mentioned(token: re.Match[str]) -> str:
    match token["sign"], token["name"].partition("^"):
        case "@", (user, _, _):
            return user
        case "!", ("subteam", _, group):
            return group
        case "!", (crowd, _, _) if crowd in _CROWDS:
            return EVERYONE
        case _:
            return ""


def _shown(token: re.Match[str]) -> str:
    name, label = token["name"], token["label"] or ""
    match token["sign"], name.partition("^"):
        case "@", _:
            return _named("@", label or "someone")
        case "#", _:
            return _named("#", label or "channel")
        case "!", ("date", _, moment):
            return label or _date(moment.partition("^")[0])
        case "!", ("subteam", _, _):
            return _named("@", label or "group")
        case "!", _:
            return _named("@", label or name)
        case _:
            return label or name.removeprefix("mailto:")


def _named(sign: str, name: str) -> str:
    return sign + name.removeprefix(sign)


def _date(seconds: str) -> str:
    """Return a moment in words that a model understands; what is none as it stands."""
    try:
        return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return seconds
