"""Files and forwards, on every platform: read with the question, given to the model as data, and forgotten with it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from redis.asyncio import Redis

from core.messages import UNREAD
from core.model import Unread
from tests.end_to_end.community import ANSWER, Town
from tests.end_to_end.on_slack import SlackCommunity
from tests.fixtures.redis import all_keys, say
from tests.servers.uploads import Upload

SECRET = "xyzzy42"
LOG = Upload("error.log", f"Motor 3 stalled. {SECRET}\n".encode())
PHOTO = Upload("photo.png", b"\x89PNG", "image/png")
FILES = re.compile(r'(<data kind="attached files">\n.*?\n</data>)\n\n', re.DOTALL)
PASSAGES = re.compile(r'<data kind="passages">\n.*?\n</data>\n\nQuestion: ', re.DOTALL)


def prompt(town: Town, at: int = -1) -> list[str]:
    """What the model was given of people, files and words apart though one message holds both, and no passages."""
    messages: list[dict[str, Any]] = town.chat.received[at].body["messages"]
    said = (PASSAGES.sub("", one["content"]) for one in messages if one["role"] == "user")
    return [part for one in said for part in FILES.split(one) if part]


async def stored(client: Redis) -> bytes:
    """Give all that the store holds, as it is on its disk."""
    dumped = [await say(client, "DUMP", key) or b"" for key in await all_keys(client)]  # some expire meanwhile
    return b"".join(dumped)


@pytest.mark.promise("attachments")
@pytest.mark.promise("unread-files")
async def test_a_text_file_belongs_to_the_question_and_to_what_follows(town: Town) -> None:
    """It is data, and what could not be read beside it is said below the answer."""
    async with town.bot():
        asked = town.community.attach(LOG, PHOTO, text="Why is that?")
        answer = await town.sees(asked, ANSWER)
        town.community.follow_up(asked, "And an arm?")
        await town.sees(asked, ANSWER, times=2)

    first, then = prompt(town, 0), prompt(town)
    assert [text.startswith("<data kind") for text in first] == [True, False]
    assert f"error.log:\n  Motor 3 stalled. {SECRET}" in first[0]
    assert (first[1], then[:2]) == ("Why is that?", first)
    assert "I couldn't read" in answer
    assert UNREAD[Unread.KIND] in answer


@pytest.mark.promise("attachments")
async def test_a_long_paste_alone_is_a_question(town: Town) -> None:
    """As it becomes a file on Discord."""
    paste = Upload("message.txt", b"Why does my robot stall on ramps? " * 100)
    async with town.bot():
        asked = town.community.attach(paste, direct=True)
        await town.sees(asked, ANSWER)

    assert prompt(town)[-1].startswith("Why does my robot stall on ramps?")
    assert any(text.startswith("<data kind") and "message.txt" in text for text in prompt(town))


@pytest.mark.promise("attachments")
async def test_a_forward_to_the_bot_asks_what_it_says(town: Town) -> None:
    """With the files that came with it."""
    async with town.bot():
        asked = town.community.forward("Why does my robot stall?", LOG)
        await town.sees(asked, ANSWER)

    assert prompt(town)[-1] == "Why does my robot stall?"
    assert SECRET in prompt(town)[0]


@pytest.mark.promise("attachments")
@pytest.mark.parametrize("town", ["slack", "slack over http"], indirect=True)
async def test_a_question_is_answered_whatever_other_apps_have_put_beside_it(town: Town) -> None:
    """What can be read of it is, and the rest is left out."""
    slack = town.community
    assert isinstance(slack, SlackCommunity)
    parts: list[Any] = [
        {"is_share": True, "text": "My arm is stuck.", "ts": 1700000000.5, "author_name": "\ud83e", "files": [5]},
        {"is_share": True, "text": "My leg too.", "ts": 1700000000123, "files": [{"state": "locked", "size": "1"}]},
        {"is_share": True, "text": 5, "ts": -1, "author_id": 5, "actions": [{"value": 1}]},
        None,
    ]
    files: list[Any] = [{"id": "F1", "state": "locked", "mode": "quip", "file_access": {}, "size": None}, "x"]
    async with town.bot():
        text = f"{slack.workspace.bot.mention} Why is that?"
        asked = slack.server.post_as(slack.ada, slack.channel, text, attachments=parts, files=files)
        await town.sees(asked.ts, ANSWER)

    assert prompt(town)[-1] == "Why is that?"
    assert [words in f"{prompt(town)}" for words in ("My arm is stuck.", "My leg too.")] == [True, True]


@pytest.mark.promise("attachments")
@pytest.mark.promise("encrypted")
@pytest.mark.promise("forget")
async def test_what_a_file_says_is_encrypted_and_goes_with_the_question(town: Town, redis_client: Redis) -> None:
    """While it waits, and in what is remembered; after the question is deleted nothing is left."""
    async with town.bot():
        town.chat.pauses_before = b"And then"
        town.chat.goes_on.clear()
        town.chat.say(f"{ANSWER} [1].", " And then", " it rests [1].")
        asked = town.community.attach(LOG, text="Why is that?")
        await town.community.until(lambda: any(ANSWER in said for said in town.community.said(asked)), what="a draft")
        waiting = await stored(redis_client)
        town.chat.goes_on.set()
        town.chat.pauses_before = b""
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        remembered = await stored(redis_client)
        town.community.delete(asked)
        await town.forgets(asked)

    assert [SECRET.encode() in each for each in (waiting, remembered)] == [False, False]
    assert any(SECRET in text for text in prompt(town))


@pytest.mark.promise("attachments")
async def test_an_edit_asks_with_the_same_file(town: Town) -> None:
    """It is read again, as people may have taken it away."""
    async with town.bot():
        asked = town.community.attach(LOG, text="Why is that?")
        await town.sees(asked, ANSWER)
        town.chat.say("An arm is a limb.")
        town.community.edit(asked, "What is a limb?")
        await town.community.until(lambda: any("limb" in text for text in prompt(town)), what="the edited question")

    assert SECRET in prompt(town)[0]
