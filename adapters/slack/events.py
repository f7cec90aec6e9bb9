"""Reads what an event means, before anything is decided, and where it happened.

Reading looks nothing up; what can be read before an event, and replies to it, are in `SlackChannel`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeAlias, cast

from adapters.chat.files import read_files
from adapters.chat.intake import ChatEvent
from adapters.chat.platform import BotIdentity, FoundAnswer
from adapters.slack.api import ask, next_cursor, tell
from adapters.slack.files import LONGEST_FILE, fetch, files_in, shares_in, words_of
from adapters.slack.poster import REMAINS, Place, ThreadPoster, find_answer
from adapters.slack.signs import Indicator
from adapters.slack.workspaces import NotInstalled, Workspace, Workspaces
from core.errors import Gone, PostingFailed, Rejected
from core.model import Inbound, InboundKind, Message, MessageRef, Person, Setting, ThreadRef, without_controls

PLATFORM = "slack"
REACTION = "warning"
RECALLED = 20  # messages, the first one of the thread among them
PAGE = 999  # messages: as many as Slack gives
LONGEST_READ = 0.45  # seconds; Slack has to hear soon that the question has arrived

Json: TypeAlias = Mapping[str, Any]

FORWARDED = "a forwarded message"
_NOTHING: Json = {}
_SAID = (None, "thread_broadcast", "file_share", "me_message")
_QUOTED = (*_SAID, "bot_message")
_DELETED, _CHANGED = "message_deleted", "message_changed"
EVERYONE = "everyone"
_TOKEN = re.compile(r"<(?P<sign>[@#!]?)(?P<name>[^<>|]*)(?:\|(?P<label>[^<>]*))?>(?P<after>[:,]?)")
_ADDRESSED = re.compile(  # whom a mention is for: a person, a group of them, or everyone in some sense
    r"<(?:@(?P<person>[^<>|^]+)[^<>|]*|!subteam\^(?P<group>[^<>|]+)|!(?:channel|here|everyone)(?:\^[^<>|]*)?)(?:\|[^<>]*)?>"
)
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))  # Slack writes no others, and the last one comes last
_DIRECT, _DIRECT_ID = "im", "D"  # a mention is told without the type of its channel, which the id begins with


def line_of(event: Json) -> str:
    """Return what has to be heard in order: a thread, or a message of a channel, which opens its own."""
    said = event.get("message") or event.get("previous_message") or event
    return f"{event.get('channel')}:{said.get('thread_ts') or event.get('deleted_ts') or said.get('ts')}"


def parse(event: Json, *, me: BotIdentity) -> Inbound | None:
    """Return what an event tells; None where no person wrote, changed or deleted words of their own.

    A preview, a reaction or a reply below changes a message too, and its words stay.
    """
    subtype, before = event.get("subtype"), event.get("previous_message") or _NOTHING
    said = event
    if subtype in (_CHANGED, _DELETED):  # of a deleted message, there is what is left of it
        said = event.get("message") or _NOTHING if subtype == _CHANGED else {**before, "ts": event.get("deleted_ts")}
    channel, ts = str(event.get("channel") or ""), str(said.get("ts") or "")
    if event.get("type") not in ("message", "app_mention") or not (channel and ts):
        return None
    thread = str(said.get("thread_ts") or ts)  # a message outside of a thread would begin one
    ref = ThreadRef(platform=PLATFORM, workspace=me.workspace, channel=channel, thread=thread)
    message, setting = MessageRef(thread=ref, id=ts), Setting.CHANNEL if thread == ts else Setting.THREAD
    if event.get("channel_type") == _DIRECT or channel.startswith(_DIRECT_ID):
        setting = Setting.DIRECT
    if subtype == _DELETED or said.get("subtype") == REMAINS:
        return Inbound(kind=InboundKind.DELETED, message=message, setting=setting)
    edited, text = moment((said.get("edited") or _NOTHING).get("ts")), str(said.get("text") or "")
    if subtype == _CHANGED and (edited is None or said.get("text") == before.get("text")):
        return None
    is_automatic = bool(said.get("bot_id") or said.get("bot_profile") or said.get("hidden"))
    user = str(said.get("user") or "")
    if is_automatic or said.get("subtype") not in _SAID or user in ("", me.user_id, "USLACKBOT"):
        return None  # a bot, an app in a person's name, or Slack itself
    return Inbound(
        kind=InboundKind.EDITED if edited else InboundKind.WRITTEN,
        message=message,
        setting=setting,
        revision=round(edited.timestamp() * 1000) if edited else 0,
        author=Person(id=user),
        text=words(text, mine=me.user_id),
        mentions=tuple(dict.fromkeys(who["person"] or who["group"] or EVERYONE for who in _ADDRESSED.finditer(text))),
        carries=has_more(said) and (bool(forwards(said)) or any(file.unread is None for file in files_in(said))),
        at=moment(ts),
    )


def line(said: Json, *, me: BotIdentity, names: dict[str, str]) -> Message | None:
    """Return what somebody said in a thread; previews are nobody's words, and a message without words is none.

    *names* are those by which people are told apart. Whoever is not among them is given the name that comes with the
    message, if any does, or a number: the ids of people are no names.
    """
    forwarded = forwards(said)
    text = "\n".join(filter(None, [words(str(said.get("text") or "")), *(each.text for each in forwarded)]))
    if said.get("subtype") not in _QUOTED or not text:
        return None
    at = moment(said.get("ts"))
    if me.user_id == said.get("user") or (me.bot_id and me.bot_id == said.get("bot_id")):
        return Message(role="assistant", text=text, author_id=me.user_id, at=at)
    profile = cast("Json", said.get("user_profile") or said.get("bot_profile") or _NOTHING)
    known = said.get("username") or profile.get("display_name") or profile.get("real_name") or profile.get("name")
    who = str(said.get("user") or said.get("bot_id") or "")
    author = names.setdefault(who, str(known or f"person {len(names) + 1}"))
    return Message(role="user", text=text, author=author, author_id="" if forwarded else who, at=at)


def has_more(said: Json) -> bool:
    """Return whether anything came with a message beside its text."""
    return bool(said.get("files") or said.get("attachments"))


def forwards(said: Json) -> Sequence[Message]:
    """Return what a message forwards, with who has written it if Slack says so."""
    texts = ((each, words(words_of(each, "text"))) for each in shares_in(said))
    return [
        Message(
            role="user",
            text=text,
            author=words_of(each, "author_name") or FORWARDED,
            author_id=words_of(each, "author_id"),
            at=moment(each.get("ts")),
        )
        for each, text in texts
        if text
    ]


def moment(ts: object) -> datetime | None:
    """Return a moment as Slack writes it: seconds with a fraction, in a text."""
    try:
        return datetime.fromtimestamp(float(str(ts)), UTC) if ts else None
    except (OverflowError, ValueError, OSError):
        return None


def words(text: str, *, mine: str = "") -> str:
    """Return a text without the mention of *mine*, where all else in angle brackets is what is shown for it."""

    def shown(token: re.Match[str]) -> str:
        return "" if (token["sign"], token["name"]) == ("@", mine) else _shown(token) + token["after"]

    text = _TOKEN.sub(shown, without_controls(text))
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()


def _shown(token: re.Match[str]) -> str:
    sign, name, label = token["sign"], token["name"], token["label"]
    kind, _, rest = name.partition("^")
    if not sign:
        return label or name.removeprefix("mailto:")
    if (sign, kind) == ("!", "date"):
        at = moment(rest.partition("^")[0])  # in words that a model understands; what is none as it stands
        return label or (f"{at:%Y-%m-%d %H:%M} UTC" if at else rest.partition("^")[0])
    usual = {"@": "someone", "#": "channel", "!": "group" if kind == "subteam" else name}
    before = "#" if sign == "#" else "@"
    return before + (label or usual[sign]).removeprefix(before)


@dataclass(frozen=True, slots=True)
class SlackChannel:
    """Implements `Channel` for the events of a workspace, of which one brought a message *said* there."""

    workspace: Workspace
    me: BotIdentity
    said: Json = field(default_factory=dict[str, Any])

    async def context(self, inbound: Inbound, *, recalls: bool) -> tuple[Inbound, tuple[Message, ...]]:
        """Return a message with what it forwards and all files, and the first of its thread with the last before it.

        Below a message of people, what is asked is about that too, and its files belong to it.
        """
        before = await self._thread(inbound) if recalls else ()
        names: dict[str, str] = {}
        lines = [line(one, me=self.me, names=names) for one in (*before[:1], *before[1:][1 - RECALLED :])]
        said = tuple(filter(None, lines))
        if not any(map(has_more, (self.said, *before[:1]))):
            return inbound, said
        links = [*files_in(self.said), *(link for one in before[:1] for link in files_in(one, is_quoted=True))]
        attachments = await read_files(links, partial(fetch, self.workspace), within=LONGEST_FILE)
        return inbound.model_copy(update={"quoted": tuple(forwards(self.said)), "attachments": attachments}), said

    async def _thread(self, inbound: Inbound) -> Sequence[Json]:
        """Return what was said in a thread before a message.

        Nothing, where that takes long or may not be read: a question without it is better than one that comes late.
        """
        thread = inbound.message.thread
        where = {"channel": thread.channel, "ts": thread.thread, "latest": inbound.message.id}
        said: list[Json] = []
        cursor: str | None = None
        try:
            async with asyncio.timeout(LONGEST_READ):
                while cursor != "":  # from its beginning, which is the only end where Slack lets one begin
                    client = self.workspace.client
                    found = await ask(client, "conversations.replies", **where, limit=PAGE, cursor=cursor)
                    page = cast("list[Json]", found.get("messages") or [])
                    said += page[1:] if cursor else page  # the first message of a thread comes with every page
                    cursor = next_cursor(found)
        except (PostingFailed, TimeoutError):
            return ()
        return said

    def below(self, message: MessageRef) -> ThreadPoster:
        """Return what replies to a message in its thread."""
        place = Place(self.workspace, message.thread.channel, message.thread.thread, message.id)
        return ThreadPoster(place)

    async def find_answer(self, inbound: Inbound, *, opens_threads: bool) -> FoundAnswer | None:
        """Return what the bot has answered below a message."""
        message = inbound.message
        place = Place(self.workspace, message.thread.channel, message.thread.thread, message.id)
        return await find_answer(place, message, inbound.revision, rest=Indicator().take_away)

    async def remove_rest(self, message: MessageRef) -> None:
        """Remove it from the thread, and the sign of work."""
        place = Place(self.workspace, message.thread.channel, message.thread.thread, message.id)
        found = await find_answer(place, message, 0, is_deleted=True)
        for each in found.messages if found and not found.is_finished else ():
            with suppress(Gone, Rejected):
                await ThreadPoster(place).delete(each.id)
            await Indicator().take_away(place)

    async def warn(self, message: MessageRef) -> None:
        """Mark a message as one that something went wrong with. Raises `PostingFailed`."""
        target = {"channel": message.thread.channel, "timestamp": message.id}
        await tell(self.workspace.client, "reactions.add", name=REACTION, **target)


async def read_event(
    event: Json,
    workspaces: Workspaces,
    workspace: str,
    *,
    comes_again: bool = True,
    has_come: bool = False,
    is_late: bool = False,
) -> ChatEvent | None:
    """Return what an event in a workspace means; None where no person wrote, changed or deleted words of their own.

    A mention in a channel comes as two events, of which one is to say something about. Where the bot is not any more,
    nothing is meant for it. Raises `PostingFailed`.
    """
    try:
        found = await workspaces.find(workspace)
    except NotInstalled:
        return None
    me = BotIdentity(found.bot_user_id, bot_id=found.bot_id, workspace=found.name)
    inbound = parse(event, me=me)
    if inbound is None:
        return None
    said = cast("Json", event.get("message") or event)
    root = MessageRef(thread=inbound.message.thread, id=inbound.message.thread.thread)
    comes_twice = me.user_id in inbound.mentions and inbound.setting is not Setting.DIRECT
    return ChatEvent(
        inbound=inbound,
        channel=SlackChannel(found, me, said),
        at=inbound.message.thread,
        me=me.user_id,
        owns_thread=said.get("parent_user_id") == me.user_id,
        opening=root if inbound.setting is Setting.THREAD else None,
        is_new_post=inbound.setting is Setting.CHANNEL,
        comes_again=comes_again,
        has_come=has_come,
        is_late=is_late,
        speaks=event.get("type") == "app_mention" or not comes_twice,
    )
