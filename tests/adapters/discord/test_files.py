"""Files and forwards on Discord: read when the question is taken in, from Discord's own hosts alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from core.messages import UNREAD
from core.model import Asked, Attachment, Unread
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.ears import listening, words
from tests.fakes.box import Box
from tests.servers.discord import DiscordServer, Hold, Reply, Reset, Trickle, Upload

FILE = "GET /attachments/"
LOG = Upload("error.log", b"Out of memory.")
READ = Attachment(name="error.log", text="Out of memory.")
THEIRS = READ.model_copy(update={"is_quoted": True})
PHOTO = Upload("photo.png", b"\x89PNG", "image/png")


async def asked(server: DiscordServer, place: Place, *uploads: Upload, text: str = "Why?") -> Asked:
    """Let Ada mention the bot beside files, and take the question."""
    box = Box()
    async with listening(server, box):
        server.upload_as(place.ada, place.channel, *uploads, text=f"{server.bot.mention} {text}".strip())
        return await box.question()


@pytest.mark.promise("attachments")
async def test_text_beside_a_mention_belongs_to_the_question(server: DiscordServer, place: Place) -> None:
    """It is fetched without the bot's token, which is nobody's business there."""
    found = await asked(server, place, LOG, PHOTO)

    assert found.question.text == "Why?"
    assert found.question.attachments == (READ, Attachment(name="photo.png", unread=Unread.KIND))
    (request,) = server.requests_to(FILE)
    assert "Authorization" not in request.received.headers


@pytest.mark.promise("attachments")
async def test_the_files_of_the_message_that_is_replied_to_belong_to_the_question(
    server: DiscordServer, place: Place
) -> None:
    """Behind those of the question itself."""
    bob, box = server.add_member(place.guild, "Bob"), Box()
    theirs = server.upload_as(bob, place.channel, Upload("theirs.txt", b"Help!"), text="I need help")
    async with listening(server, box):
        server.upload_as(place.ada, place.channel, LOG, text=f"{server.bot.mention} Why?", reply_to=theirs)
        found = await box.question()

    assert found.question.attachments == (READ, Attachment(name="theirs.txt", text="Help!", is_quoted=True))
    assert [each.text for each in found.question.context] == ["I need help"]


@pytest.mark.promise("attachments")
async def test_a_forward_to_the_bot_asks_what_it_says(server: DiscordServer, place: Place) -> None:
    """With its files; Discord does not say who wrote it."""
    bob, box = server.add_member(place.guild, "Bob"), Box()
    theirs = server.upload_as(bob, place.channel, LOG, text="Why does my arm shake?")
    direct = server.dm(place.ada)
    async with listening(server, box):
        server.forward_as(place.ada, direct, theirs)
        found = await box.question()

    assert (found.question.text, found.question.attachments) == ("Why does my arm shake?", (THEIRS,))
    assert found.question.context == ()


@pytest.mark.promise("attachments")
async def test_who_replies_to_a_forward_asks_about_it(server: DiscordServer, place: Place) -> None:
    """Its words are quoted, and its files are read."""
    bob, box = server.add_member(place.guild, "Bob"), Box()
    theirs = server.upload_as(bob, place.channel, LOG, text="My arm shakes.")
    forward = server.forward_as(bob, place.channel, theirs)
    async with listening(server, box):
        server.post_as(place.ada, place.channel, "Why?", mentions=[server.bot], reply_to=forward)
        found = await box.question()

    assert [(each.author, each.text) for each in found.question.context] == [("Bob", "My arm shakes.")]
    assert found.question.attachments == (THEIRS,)


@pytest.mark.promise("attachments")
async def test_a_long_paste_in_a_thread_of_the_bots_is_a_follow_up(server: DiscordServer, place: Place) -> None:
    """Discord makes a file of it; a picture there is none."""
    thread = server.thread_as(server.bot, server.post_as(place.ada, place.channel, "What is a robot?"), "A robot")
    text, box = "And why does this one shake? " * 200, Box()
    async with listening(server, box):
        server.upload_as(place.ada, thread, PHOTO)
        server.upload_as(place.ada, thread, Upload("message.txt", text.encode()))
        found = await box.question()

    assert found.question.text.startswith("And why does this one shake?")
    assert [each.name for each in found.question.attachments] == ["message.txt"]


@pytest.mark.promise("unread-files")
async def test_who_sends_only_a_picture_is_told_that_it_cannot_be_read(server: DiscordServer, place: Place) -> None:
    """In direct messages everything is for the bot."""
    direct = server.dm(place.ada)
    async with listening(server, Box()):
        server.upload_as(place.ada, direct, PHOTO)
        await server.until(lambda: words(server), what="a reply")

    (said,) = words(server)
    assert UNREAD[Unread.KIND] in said


REFUSALS: list[tuple[Any, Unread]] = [
    (Reply(404, "This content is no longer available."), Unread.GONE),
    (Reply(403, "Forbidden"), Unread.DENIED),
    (Reply(302, "", {"Location": "https://evil.example/"}), Unread.DENIED),
    (Reply(429, "", {"Retry-After": "3600"}), Unread.FAILED),
    (Reply(200, b"\x1f\x8b", {"Content-Type": "text/plain", "Content-Encoding": "gzip"}), Unread.KIND),
    (Reply(200, b"\x89PNG\0", {"Content-Type": "image/png"}), Unread.KIND),
    (Trickle(), Unread.SIZE),
]


@pytest.mark.promise("unread-files")
@pytest.mark.parametrize(("refusal", "why"), REFUSALS, ids=lambda each: str(each)[:30])
async def test_what_cannot_be_had_is_told_with_the_question(
    server: DiscordServer, place: Place, refusal: Any, why: Unread
) -> None:
    """It holds nothing up, nothing is followed elsewhere or unpacked, and what never ends is broken off."""
    server.faults.break_(FILE, refusal)
    found = await asked(server, place, Upload("error.log", b"Out of memory.", None))

    assert found.question.attachments == (Attachment(name="error.log", unread=why),)


async def test_what_fails_for_a_moment_is_asked_for_again(server: DiscordServer, place: Place) -> None:
    """Somebody waits, so not often."""
    server.faults.add(FILE, Reset())
    found = await asked(server, place, LOG)

    assert found.question.attachments == (READ,)


async def test_no_other_host_is_asked(server: DiscordServer, place: Place) -> None:
    """What an event names is not trusted."""
    server.platform.cdn = "http://localhost:9"
    found = await asked(server, place, LOG)

    assert found.question.attachments == (Attachment(name="error.log", unread=Unread.DENIED),)
    assert server.requests_to(FILE) == []


async def test_a_slow_file_holds_up_its_own_question_alone(server: DiscordServer, place: Place) -> None:
    """Others are taken in meanwhile."""
    held, box = Hold(asyncio.Event()), Box()
    server.faults.add(FILE, held)
    async with listening(server, box):
        server.upload_as(place.ada, place.channel, LOG, text=f"{server.bot.mention} Why?")
        await server.until(lambda: server.faults.met, what="a request for the file")
        server.post_as(place.ada, place.channel, "And this?", mentions=[server.bot])
        first = await box.question()
        held.until.set()
        second = await box.question()

    assert [first.question.text, second.question.text] == ["And this?", "Why?"]
    assert second.question.attachments == (READ,)
