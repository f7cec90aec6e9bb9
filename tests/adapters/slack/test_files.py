"""Files and forwards on Slack: read with the bot's token, which goes to Slack alone, before the question is taken."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from core.messages import UNREAD
from core.model import Attachment, Unread
from tests.adapters.slack.ears import Place, listening, place_fixture
from tests.fakes.box import Box
from tests.servers.slack import Hold, Message, Reply, Trickle, Upload, refuse
from tests.servers.slack.file_routes import PATH

__all__ = ["place_fixture"]

LOG = Upload("error.log", b"Out of memory.")
READ = Attachment(name="error.log", text="Out of memory.")
THEIRS = READ.model_copy(update={"is_quoted": True})
PHOTO = Upload("photo.png", b"\x89PNG", "image/png")
INFO = "files.info"


def asks(place: Place, *uploads: Upload, text: str = "Why?", thread: Message | None = None) -> Message:
    """Let Ada mention the bot beside files."""
    return place.server.upload_as(
        place.ada, place.channel, *uploads, text=f"{place.bot.mention} {text}", thread_ts=thread
    )


@pytest.mark.promise("attachments")
async def test_text_beside_a_mention_belongs_to_the_question(place: Place) -> None:
    """It is fetched once, with the token, though a mention comes as two events."""
    box = Box()
    async with listening(place, box):
        asks(place, LOG, PHOTO)
        found = (await box.question()).question
        await place.server.settled()

    assert found.text == "Why?"
    assert found.attachments == (READ, Attachment(name="photo.png", unread=Unread.KIND))
    assert [one.headers["Authorization"] for one in place.server.requests_to(PATH)] == [
        f"Bearer {place.workspace.token}"
    ]


@pytest.mark.promise("attachments")
async def test_the_files_of_the_message_that_a_thread_is_on_belong_to_the_question(place: Place) -> None:
    """Whoever mentions the bot below a log asks about that."""
    bob, box = place.server.add_member(place.workspace, "bob"), Box()
    root = place.server.upload_as(bob, place.channel, LOG, text="My arm shakes.")
    async with listening(place, box):
        place.ask("Why?", thread=root)
        found = (await box.question()).question

    assert [each.text for each in found.context] == ["My arm shakes."]
    assert found.attachments == (THEIRS,)


@pytest.mark.promise("attachments")
async def test_a_forward_comes_with_its_author_and_its_files(place: Place) -> None:
    """As data, below whatever words come with it; previews are nobody's words."""
    bob, box = place.server.add_member(place.workspace, "bob"), Box()
    theirs = place.server.upload_as(bob, place.channel, LOG, text="My arm shakes.")
    async with listening(place, box):
        place.server.forward_as(place.ada, place.channel, theirs, f"{place.bot.mention} Why?")
        found = (await box.question()).question

    assert [(each.author, each.text) for each in found.context] == [("bob", "My arm shakes.")]
    assert (found.text, found.attachments) == ("Why?", (THEIRS,))


@pytest.mark.promise("attachments")
async def test_a_forward_or_a_file_without_words_asks_what_it_says(place: Place) -> None:
    """In direct messages."""
    bob, box = place.server.add_member(place.workspace, "bob"), Box()
    theirs = place.server.post_as(bob, place.channel, "Why does my arm shake?")
    direct = place.server.direct(place.workspace, place.ada)
    async with listening(place, box):
        place.server.forward_as(place.ada, direct, theirs)
        forwarded = (await box.question()).question
        place.server.upload_as(place.ada, direct, Upload("paste.txt", b"And why does it stop?"))
        pasted = (await box.question()).question

    assert [one.text for one in (forwarded, pasted)] == ["Why does my arm shake?", "And why does it stop?"]
    assert [one.attachments for one in (forwarded, pasted)] == [(), ()]


@pytest.mark.promise("attachments")
async def test_what_events_leave_out_in_shared_channels_is_asked_for(place: Place) -> None:
    """Slack tells no more than an id there."""
    shared = place.server.add_channel(place.workspace, "partners", shared_with=["T_OTHERS"])
    box = Box()
    async with listening(place, box):
        place.server.upload_as(place.ada, shared, LOG, text=f"{place.bot.mention} Why?")
        found = (await box.question()).question

    assert found.attachments == (READ,)
    assert len(place.server.requests_to(INFO)) == 1


@pytest.mark.promise("unread-files")
@pytest.mark.parametrize(
    ("refusal", "why"),
    [
        ("file_deleted", Unread.GONE),
        ("file_not_found", Unread.GONE),
        ("missing_scope", Unread.DENIED),
        ("access_denied", Unread.DENIED),
    ],
)
async def test_what_slack_does_not_tell_of_a_file_is_told_with_the_question(
    place: Place, refusal: str, why: Unread
) -> None:
    """The question is answered without it."""
    shared = place.server.add_channel(place.workspace, "partners", shared_with=["T_OTHERS"])
    place.server.faults.add(INFO, refuse(refusal))
    box = Box()
    async with listening(place, box):
        place.server.upload_as(place.ada, shared, LOG, text=f"{place.bot.mention} Why?")
        found = (await box.question()).question

    assert found.attachments == (Attachment(name="file", unread=why),)


TEXT = {"Content-Type": "text/plain"}
REFUSALS: list[tuple[Any, Unread]] = [
    (Reply(404, "File not found", TEXT), Unread.GONE),
    (Reply(403, "Forbidden", TEXT), Unread.DENIED),
    (Reply(302, "", {"Location": "https://evil.example/"}), Unread.DENIED),
    (Reply(200, "<html>Sign in", {"Content-Type": "text/html"}), Unread.DENIED),
    (Reply(429, "", {"Retry-After": "60"}), Unread.FAILED),
    (Trickle(), Unread.SIZE),
]


@pytest.mark.promise("unread-files")
@pytest.mark.parametrize(("refusal", "why"), REFUSALS, ids=lambda each: str(each)[:30])
async def test_what_cannot_be_had_is_told_with_the_question(place: Place, refusal: Any, why: Unread) -> None:
    """Nothing is followed elsewhere, where the token would go too."""
    place.server.faults.break_(PATH, refusal)
    box = Box()
    async with listening(place, box):
        asks(place, LOG)
        found = (await box.question()).question

    assert found.attachments == (Attachment(name="error.log", unread=why),)


async def test_without_the_scope_files_are_not_read(place: Place) -> None:
    """Slack sends whoever lacks it to where people log in."""
    place.workspace.scopes.discard("files:read")
    box = Box()
    async with listening(place, box):
        asks(place, LOG)
        found = (await box.question()).question

    assert found.attachments == (Attachment(name="error.log", unread=Unread.DENIED),)


@pytest.mark.promise("acknowledged-when-kept")
async def test_a_file_that_takes_long_holds_no_acknowledgement_up(place: Place) -> None:
    """Slack waits for three seconds; the question comes without it."""
    held, box = Hold(asyncio.Event()), Box()
    place.server.faults.break_(PATH, held)
    async with listening(place, box):
        message = asks(place, LOG)
        found = (await box.question()).question
        await place.server.settled()
        held.until.set()

    assert found.attachments == (Attachment(name="error.log", unread=Unread.FAILED),)
    assert [len(one.attempts) for one in message.deliveries] == [1, 1]


@pytest.mark.promise("no-secrets")
@pytest.mark.parametrize("is_external", [True, False])
async def test_the_token_goes_to_no_other_host(place: Place, is_external: bool) -> None:
    """A file may be kept elsewhere, or an event may name any address."""
    elsewhere = {"id": "F1", "name": "a.txt", "mimetype": "text/plain", "is_external": is_external, "size": 1}
    elsewhere["url_private"] = f"{place.server.url.replace('127.0.0.1', 'localhost')}{PATH}x/a.txt"
    box = Box()
    async with listening(place, box):
        place.server.post_as(
            place.ada, place.channel, f"{place.bot.mention} Why?", subtype="file_share", files=[elsewhere]
        )
        found = (await box.question()).question

    assert found.attachments == (Attachment(name="a.txt", unread=Unread.DENIED),)
    assert place.server.requests_to(PATH) == []


@pytest.mark.promise("unread-files")
async def test_who_sends_only_a_picture_is_told_that_it_cannot_be_read(place: Place) -> None:
    """In direct messages everything is for the bot."""
    async with listening(place, Box()):
        place.server.upload_as(place.ada, place.server.direct(place.workspace, place.ada), PHOTO)
        await place.server.until(place.said, what="a reply")

    (said,) = place.said()
    assert UNREAD[Unread.KIND] in said
