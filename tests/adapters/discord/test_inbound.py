"""What gateway events mean: who said what where, in words, and what is nobody's question."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.discord.events import ChannelInfo, parse
from core.model import Inbound, InboundKind, Message, MessageRef, Person, Setting, ThreadRef
from tests.adapters.discord.payloads import (
    ADA,
    AT,
    BOB,
    BOT,
    BOT_ROLE,
    CHANNEL,
    EDITED_AT,
    GUILD,
    IN_CHANNEL,
    IN_DIRECT,
    IN_THREAD,
    ME,
    MESSAGE,
    ROBOT,
    THREAD,
    created,
    deleted,
    mentioning,
    message,
    replying,
    updated,
    user,
)

NEW_THREAD = ThreadRef(platform="discord", workspace=GUILD, channel=CHANNEL, thread=MESSAGE)


def read(event: dict[str, Any], place: ChannelInfo = IN_CHANNEL) -> Inbound:
    """Read an event that means something."""
    inbound = parse(event, me=ME, place=place)
    assert inbound is not None
    return inbound


def test_a_mention_in_a_channel_is_read_whole() -> None:
    """Who, what, when, and the thread that would be opened: its id is the id of the message."""
    assert read(mentioning()) == Inbound(
        kind=InboundKind.WRITTEN,
        message=MessageRef(thread=NEW_THREAD, id=MESSAGE),
        setting=Setting.CHANNEL,
        author=Person(id=ADA, name="Ada L."),
        text="What is a robot?",
        mentions=(BOT,),
        at=datetime(2017, 7, 11, 17, 27, 7, 299_000, tzinfo=UTC),
    )


def test_a_message_in_a_thread_belongs_to_the_thread() -> None:
    """The thread's parent is its channel."""
    inbound = read(created(channel_id=THREAD), IN_THREAD)

    assert (inbound.setting, inbound.message.thread) == (
        Setting.THREAD,
        ThreadRef(platform="discord", workspace=GUILD, channel=CHANNEL, thread=THREAD),
    )


def test_a_direct_message_has_no_guild() -> None:
    """All that is said with one person is one conversation."""
    inbound = read(created(guild_id=None), IN_DIRECT)

    assert (inbound.setting, inbound.message.thread) == (
        Setting.DIRECT,
        ThreadRef(platform="discord", workspace="@me", channel=CHANNEL, thread=CHANNEL),
    )


@pytest.mark.parametrize(
    ("fields", "mentions"),
    [
        ({"mentions": [ROBOT, user(BOB, "bob")]}, (BOT, BOB)),
        ({"mention_roles": [BOT_ROLE]}, (BOT,)),
        ({"mentions": [ROBOT], "mention_roles": [BOT_ROLE, "77"]}, (BOT, "77")),
        ({"mention_everyone": True}, ("everyone",)),
    ],
)
def test_everybody_who_is_addressed_is_named_once(fields: dict[str, Any], mentions: tuple[str, ...]) -> None:
    """The bot's own role stands for the bot, and everybody is somebody."""
    assert read(created(**fields)).mentions == mentions


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (f"<@{BOT}> What is it?", "What is it?"),
        (f"<@!{BOT}>\nWhat is it?", "What is it?"),
        (f"<@&{BOT_ROLE}> What is it?", "What is it?"),
        (f"What did <@{BOB}> say?", "What did @Bobby say?"),
        ("What did <@5> say in <#6> and <#7>?", "What did @someone say in #help and #channel?"),
        ("Ask <@&8> or <@&9>", "Ask @mods or @role"),
        ("Nice <:mmLol:216154654256398347> <a:b1nzy:392938283556143104>", "Nice :mmLol: :b1nzy:"),
        ("At <t:1618953630:R>, </ask:816437322781949972>", "At 2021-04-20 21:20 UTC, /ask"),
        ("In <id:customize> at <t:999999999999>", "In customize at <t:999999999999>"),
        ("zero\u200bwidth \u202eback", "zerowidth back"),
        ("x" * 4_000, "x" * 4_000),
        ("keep `if a < b:\n    c` as it is", "keep `if a < b:\n    c` as it is"),
    ],
)
def test_words_are_what_a_reader_sees(content: str, text: str) -> None:
    """The bot's own mention goes, ids become names, and nothing is cut, however long it is."""
    place = ChannelInfo(id=CHANNEL, type=0, names={"6": "help", "8": "mods"})
    bob = user(BOB, "bob", member={"nick": "Bobby"})

    assert read(created(content, mentions=[ROBOT, bob]), place).text == text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("It does not move.", "My robot\nIt does not move."),
        ("MY ROBOT does not move.", "MY ROBOT does not move."),
        (f"<@{BOT}>", "My robot"),
        ("x" * 1_991, f"My robot\n{'x' * 1_991}"),
        ("x" * 1_992, "x" * 1_992),
        ("x" * 2_001, f"My robot\n{'x' * 2_001}"),
    ],
)
def test_what_stands_above_a_message_is_part_of_its_words(content: str, text: str) -> None:
    """Unless it is said again, or would make a question too long that is not."""
    place = ChannelInfo(id=MESSAGE, type=11, parent_id=CHANNEL, title="My robot")

    assert read(created(content, channel_id=MESSAGE, mentions=[ROBOT]), place).text == text


def test_the_message_replied_to_is_quoted() -> None:
    """It comes with the event, under the name of who wrote it; previews of pages in it are not read."""
    earlier = message(
        f"<@{BOT}> robots <@{BOB}>?",
        id="5",
        author=user(BOB, "bob"),
        member={},
        embeds=[{"description": "a page"}],
        mentions=[user(BOB, "bob"), user(BOT, "footnote")],
    )

    inbound = read(replying(f"<@{BOT}>", earlier, ping=False, mentions=[ROBOT]))

    assert (inbound.text, inbound.is_reply_to, inbound.mentions) == ("", BOB, (BOT,))
    assert inbound.quoted == (
        Message(role="user", text="@Footnote robots @Bob?", author="Bob", author_id=BOB, at=datetime.fromisoformat(AT)),
    )
    assert inbound.reply_to == MessageRef(thread=NEW_THREAD.model_copy(update={"thread": "5"}), id="5")


def test_what_the_bot_said_is_quoted_as_its_own() -> None:
    """The model knows its own words from those of people."""
    inbound = read(replying("why?", message("It acts.", author=ROBOT), ping=True))

    assert (inbound.is_reply_to, inbound.mentions, inbound.quoted[0].role) == (BOT, (BOT,), "assistant")


@pytest.mark.promise("points-at")
@pytest.mark.parametrize(
    ("shown", "read_as"),
    [
        ({"message_snapshots": [{"message": {"content": "It rests."}}]}, "It rests."),
        ({"poll": {"question": {"text": "Legs?"}, "answers": [{"poll_media": {"text": "Two"}}]}}, "Legs?\nTwo"),
        (
            {
                "webhook_id": "8",
                "embeds": [
                    {"type": "rich", "title": "Build 7", "fields": [{"name": "State", "value": "failed"}]},
                    {"type": "article", "title": "A page"},
                ],
            },
            "Build 7\nState\nfailed",
        ),
        ({"embeds": [{"type": "rich", "title": "A preview"}]}, None),
    ],
    ids=["forward", "poll", "program", "preview"],
)
def test_what_a_message_shows_instead_of_text_is_quoted(shown: dict[str, Any], read_as: str | None) -> None:
    """But for previews of pages, which are not what somebody says."""
    quoted = read(replying("why?", message("", author=user(BOB), **shown), ping=False)).quoted

    assert [each.text for each in quoted] == ([read_as] if read_as else [])


@pytest.mark.parametrize("answered", [None, message("", author=user(BOB))])
def test_a_reply_to_what_cannot_be_read_quotes_nothing(answered: dict[str, Any] | None) -> None:
    """The message was deleted, or its text may not be read."""
    event = replying("why?", message(), ping=False, referenced_message=answered)

    assert read(event).quoted == ()


@pytest.mark.promise("people-only")
@pytest.mark.parametrize(
    "fields",
    [
        {"author": user(BOB, bot=True)},
        {"author": ROBOT},
        {"author": user(BOT)},
        {"author": user(BOB, system=True)},
        {"author": {}},
        {"webhook_id": "1"},
        {"flags": 1 << 1},
        *({"type": kind} for kind in (6, 7, 18, 20, 21, 23, 24, 46)),
        {"id": None},
    ],
)
def test_what_no_person_wrote_here_is_nothing(fields: dict[str, Any]) -> None:
    """Bots, webhooks, the system, copies from followed channels, and the bot itself ask nothing."""
    assert parse(mentioning(**fields), me=ME, place=IN_CHANNEL) is None


@pytest.mark.parametrize("event", [{}, {"t": "TYPING_START", "d": {}}, {"t": "MESSAGE_CREATE", "d": None}, {"d": []}])
def test_other_events_are_nothing(event: dict[str, Any]) -> None:
    """The gateway sends much that is no message."""
    assert parse(event, me=ME, place=IN_CHANNEL) is None


@pytest.mark.promise("edits-are-edits")
def test_an_edit_has_a_higher_revision() -> None:
    """It is the time of the edit, the same in every process."""
    inbound = read(updated("What are robots?"))

    assert (inbound.kind, inbound.text) == (InboundKind.EDITED, "What are robots?")
    assert inbound.revision == int(datetime.fromisoformat(EDITED_AT).timestamp() * 1000)
    assert read(created()).revision == 0


@pytest.mark.promise("edits-are-edits")
@pytest.mark.parametrize(
    "event",
    [
        updated(edited_timestamp=None, embeds=[{"type": "link", "url": "https://docs.example"}]),
        updated(edited_timestamp=None, pinned=True),
        updated(edited_timestamp=None, flags=1 << 5),
        {"t": "MESSAGE_UPDATE", "d": {"id": MESSAGE, "channel_id": CHANNEL, "embeds": []}},
    ],
)
def test_what_changes_no_words_is_no_edit(event: dict[str, Any]) -> None:
    """A preview, a pin, and the thread that the bot itself opened are told as updates too."""
    assert parse(event, me=ME, place=IN_CHANNEL) is None


def test_a_preview_on_an_edited_message_has_the_revision_of_the_edit() -> None:
    """So it is known to have been seen."""
    assert read(updated(embeds=[{"type": "link"}])).revision == read(updated()).revision


def test_of_a_deleted_message_the_place_is_known() -> None:
    """The gateway says no more."""
    assert read(deleted()) == Inbound(
        kind=InboundKind.DELETED, message=MessageRef(thread=NEW_THREAD, id=MESSAGE), setting=Setting.CHANNEL
    )


@pytest.mark.parametrize("timestamp", [None, "yesterday"])
def test_a_message_without_a_time_has_the_time_of_its_id(timestamp: str | None) -> None:
    """Every id holds the moment at which it was made."""
    assert read(created(id="175928847299117063", timestamp=timestamp)).at == datetime(
        2016, 4, 30, 11, 18, 25, 796_000, tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("kind", "setting"), [(0, "channel"), (2, "channel"), (5, "channel"), (10, "thread"), (12, "thread"), (1, "direct")]
)
def test_every_type_of_channel_is_a_kind_of_place(kind: int, setting: str) -> None:
    """Announcements are channels, private threads are threads."""
    assert read(deleted(), ChannelInfo(id="1", type=kind)).setting == setting
