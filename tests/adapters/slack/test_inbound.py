"""What events mean: who said what where, in words, and what is nobody's question."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.chat.platform import BotIdentity
from adapters.slack.events import line_of, parse
from adapters.slack.workspaces import workspace_of
from core.model import Inbound, InboundKind, MessageRef, Person, Setting, ThreadRef

ME = BotIdentity("U0BOT", bot_id="B0BOT", workspace="T1")
TS, LATER, ROOT = "1770000000.000100", "1770000060.000000", "1769999000.000200"
AT = datetime(2026, 2, 2, 2, 40, 0, 100, tzinfo=UTC)
ASKED = "<@U0BOT> What is a robot?"


def thread(name: str = TS, channel: str = "C1") -> ThreadRef:
    """A thread of the workspace."""
    return ThreadRef(platform="slack", workspace="T1", channel=channel, thread=name)


def message(text: str = ASKED, **fields: Any) -> dict[str, Any]:
    """The event of a message in a channel; fields that are None are left out."""
    usual = {"type": "message", "channel": "C1", "channel_type": "channel", "user": "U1", "text": text, "ts": TS}
    return {name: value for name, value in {**usual, **fields}.items() if value is not None}


def mention(text: str = ASKED, **fields: Any) -> dict[str, Any]:
    """The event of a mention, which does not say in what type of channel."""
    return message(text, **{"type": "app_mention", "channel_type": None, **fields})


def changed(text: str, before: str = ASKED, **fields: Any) -> dict[str, Any]:
    """The event of a message that was changed; the fields are the message's."""
    edited = {"edited": {"user": "U1", "ts": LATER}}
    now = {"type": "message", "user": "U1", "ts": TS, "text": text, **edited, **fields}
    now = {name: value for name, value in now.items() if value is not None}
    previous = {"type": "message", "user": "U1", "ts": TS, "text": before}
    outer = {"type": "message", "subtype": "message_changed", "hidden": True, "ts": LATER, "event_ts": LATER}
    return {**outer, "channel": "C1", "channel_type": "channel", "message": now, "previous_message": previous}


def deleted(**previous: Any) -> dict[str, Any]:
    """The event of a message that was deleted."""
    outer = {"type": "message", "subtype": "message_deleted", "channel": "C1", "channel_type": "channel", "ts": LATER}
    return {**outer, "deleted_ts": TS, "previous_message": {"type": "message", "ts": TS, **previous}}


def read(event: dict[str, Any]) -> Inbound:
    """Read an event that means something."""
    inbound = parse(event, me=ME)
    assert inbound is not None
    return inbound


def test_both_events_of_a_mention_are_read_as_the_same() -> None:
    """Who, what, when, and the thread that would be opened: its name is the message's."""
    expected = Inbound(
        kind=InboundKind.WRITTEN,
        message=MessageRef(thread=thread(), id=TS),
        setting=Setting.CHANNEL,
        author=Person(id="U1"),
        text="What is a robot?",
        mentions=("U0BOT",),
        at=AT,
    )

    assert (read(mention()), read(message())) == (expected, expected)


@pytest.mark.parametrize(
    ("event", "setting", "name"),
    [
        (message(thread_ts=ROOT), Setting.THREAD, ROOT),
        (mention(thread_ts=ROOT), Setting.THREAD, ROOT),
        (message(thread_ts=ROOT, subtype="thread_broadcast"), Setting.THREAD, ROOT),
        (message(thread_ts=TS), Setting.CHANNEL, TS),
        (message(channel_type="mpim"), Setting.CHANNEL, TS),
        (message(channel_type="im", channel="D1"), Setting.DIRECT, TS),
        (message(channel="D1", channel_type=None, thread_ts=ROOT), Setting.DIRECT, ROOT),
        (changed("Robots?", thread_ts=ROOT), Setting.THREAD, ROOT),
        (deleted(thread_ts=ROOT, user="U1"), Setting.THREAD, ROOT),
        (deleted(), Setting.CHANNEL, TS),
    ],
)
def test_every_message_belongs_to_a_thread(event: dict[str, Any], setting: Setting, name: str) -> None:
    """The one that it is in, or would begin; what happens to it is heard in the order of that thread."""
    inbound = read(event)

    assert (inbound.setting, inbound.message.thread.thread, inbound.message.id) == (setting, name, TS)
    assert line_of(event) == f"{event['channel']}:{name}"


@pytest.mark.parametrize(
    ("text", "words", "mentions"),
    [
        ("<@U0BOT>: What is it?", "What is it?", ("U0BOT",)),
        ("<@U0BOT|footnote>\nWhat is it?  ", "What is it?", ("U0BOT",)),
        ("What did <@U2|bob>, or <@U3>, say?", "What did @bob, or @someone, say?", ("U2", "U3")),
        ("<!here> <!channel|@channel> <!everyone>", "@here @channel @everyone", ("everyone",)),
        ("Ask <!subteam^S1|@docs> or <!subteam^S2>", "Ask @docs or @group", ("S1", "S2")),
        ("In <#C2|help> and <#C3|> and <#C4>", "In #help and #channel and #channel", ()),
        ("See <https://a.example/?x=1&amp;y=2> or <http://b.example|b.example>", "See https://a.example/?x=1&y=2 or b.example", ()),  # noqa: E501 - one row
        ("Mail <mailto:a@b.example|a@b.example>", "Mail a@b.example", ()),
        ("By <!date^1618953630^{date}|April 20> or <!date^1618953630^{date}>", "By April 20 or 2021-04-20 21:20 UTC", ()),  # noqa: E501 - one row
        ("a &lt; b &amp;&amp; c &gt; d &amp;lt;", "a < b && c > d &lt;", ()),
        ("Is `&lt;!channel&gt;` or &lt;@U0BOT&gt; live?", "Is `<!channel>` or <@U0BOT> live?", ()),
        ("zero\u200bwidth \u202eback", "zerowidth back", ()),
        ("x" * 39_000, "x" * 39_000, ()),
    ],
)  # fmt: skip
def test_words_are_what_a_reader_sees(text: str, words: str, mentions: tuple[str, ...]) -> None:
    """The bot's own mention goes, ids become names, and what was typed in angle brackets is no token."""
    inbound = read(message(text))

    assert (inbound.text, inbound.mentions) == (words, mentions)


@pytest.mark.promise("people-only")
@pytest.mark.parametrize(
    "fields",
    [
        {"bot_id": "B1"},
        {"user": "U0BOT"},
        {"user": "USLACKBOT"},
        {"user": None},
        {"bot_profile": {"id": "B1"}},
        {"hidden": True},
        *({"subtype": kind} for kind in ("bot_message", "channel_join", "channel_topic", "message_replied", "new")),
        {"channel": None},
        {"ts": None},
    ],
)
def test_what_no_person_wrote_is_nothing(fields: dict[str, Any]) -> None:
    """Bots, apps in a person's name, Slack itself, and the bot ask nothing."""
    assert (parse(message(**fields), me=ME), parse(mention(**fields), me=ME)) == (None, None)


@pytest.mark.parametrize("subtype", ["thread_broadcast", "file_share", "me_message"])
def test_previews_and_files_are_nobodys_words(subtype: str) -> None:
    """What people write beside a file counts, what a page or a shared message says does not."""
    page = [{"text": "a page says @footnote", "from_url": "https://a.example"}]

    assert read(message(subtype=subtype, attachments=page, files=[{"title": "a file"}])).text == "What is a robot?"


@pytest.mark.promise("edits-are-edits")
def test_both_events_of_an_edit_are_one_revision() -> None:
    """It is the time of the edit, and later edits have higher ones."""
    again = mention("<@U0BOT> Robots?", edited={"user": "U1", "ts": LATER})
    revision = round(float(LATER) * 1000)

    assert read(again) == read(changed("<@U0BOT> Robots?"))
    assert (read(again).kind, read(again).revision, read(again).at) == (InboundKind.EDITED, revision, AT)


@pytest.mark.promise("edits-are-edits")
@pytest.mark.parametrize(
    "event",
    [
        changed(ASKED, attachments=[{"text": "a preview"}]),
        changed(ASKED, edited=None, reply_count=1),
        changed("Robots?", edited=None),
        changed("Robots?", bot_id="B1"),
        changed("Robots?", subtype="bot_message"),
        {**changed("Robots?"), "message": None},
    ],
)
def test_what_changes_no_words_of_a_person_is_no_edit(event: dict[str, Any]) -> None:
    """A preview, a reply below, and what bots change in theirs are told as changes too."""
    assert parse(event, me=ME) is None


def test_a_question_that_others_have_replied_to_is_deleted_as_well() -> None:
    """Slack leaves a remnant in its place, which is told as a change."""
    remnant = changed("This message was deleted.", user="USLACKBOT", subtype="tombstone", hidden=True, thread_ts=TS)
    gone = Inbound(kind=InboundKind.DELETED, message=MessageRef(thread=thread(), id=TS), setting=Setting.CHANNEL)

    assert (read(remnant), read(deleted(user="U0BOT", bot_id="B0BOT"))) == (gone, gone)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"team_id": "T1"}, "T1"),
        ({"team_id": "T9", "authorizations": [{"team_id": "T1", "enterprise_id": None}]}, "T1"),
        ({"team_id": "T1", "authorizations": [{"team_id": "T1", "enterprise_id": "E1"}]}, "T1"),
        ({"authorizations": [{"team_id": "T1", "enterprise_id": "E1", "is_enterprise_install": True}]}, "E1/T1"),
        ({"team_id": "T1", "authorizations": [{"enterprise_id": "E1", "is_enterprise_install": True}]}, "E1/T1"),
    ],
)
def test_an_event_is_for_the_workspace_of_an_installation(body: dict[str, Any], name: str) -> None:
    """In a shared channel it is not the one of whoever wrote, and an organization has one for all of its own."""
    assert workspace_of(body) == name
