"""The commands of moderators, on both platforms: what they say, what they do, and that nobody else can use them."""

from __future__ import annotations

import pytest

from core import messages
from core.model import AuditEntry, Complaint, Person, Policy, PolicyFault, Vote
from tests.adapters.desks import Desk, desk_fixture
from tests.builders import NOON

__all__ = ["desk_fixture"]


async def log(desk: Desk) -> list[tuple[str, str]]:
    """Give what was noted, the newest first: the order, and whom or what it was about."""
    return [(entry.did, entry.about) for entry in await desk.office.policies.recent(desk.home, limit=9)]


@pytest.mark.promise("moderators-only")
async def test_an_order_by_anybody_else_is_refused(desk: Desk) -> None:
    """Whatever the platform shows to whom; nothing is done, and only that person hears of it."""
    told = [await desk.order(order, by="ada") for order in ("status", "pause", "resume")]
    told.append(await desk.order("forget", by="ada", what="everything", confirm=True))

    assert told == ["Only moderators can do that. Ask one of them."] * 4
    assert await log(desk) == []


async def test_a_pause_and_its_end_are_confirmed_and_noted(desk: Desk) -> None:
    """Doing it twice is told."""
    told = [await desk.order(order) for order in ("pause", "pause", "resume", "resume")]

    by = Person(id=desk.boss)
    assert told == [
        messages.paused(is_new=True),
        messages.paused(is_new=False),
        messages.resumed(is_new=True),
        messages.resumed(is_new=False),
    ]
    assert await desk.office.policies.recent(desk.home, limit=9) == (
        AuditEntry(by=by, did="resume", at=NOON),
        AuditEntry(by=by, did="pause", at=NOON),
    )


@pytest.mark.promise("silent-channels")
async def test_the_bot_is_switched_off_in_a_channel_and_on_again(desk: Desk) -> None:
    """Each order is confirmed and noted; the status, and the end of a pause of all, say where it is off."""
    told = [await desk.order("pause", channel="here") for _ in range(2)]
    status = (await desk.order("status")).split("\n")
    told.append(await desk.order("resume"))
    told += [await desk.order("resume", channel="here") for _ in range(2)]

    name = f"<#{desk.channel}>"
    assert told == [
        messages.silenced(name, on=True, is_new=True),
        messages.silenced(name, on=True, is_new=False),
        f"{messages.resumed(is_new=False)}\n{messages.silent_line([name])}",
        messages.silenced(name, on=False, is_new=True),
        messages.silenced(name, on=False, is_new=False),
    ]
    assert status[:2] == ["I'm answering questions.", messages.silent_line([name])]
    assert await log(desk) == [("resume channel", desk.channel), ("pause channel", desk.channel)]


async def test_the_status_says_how_things_are(desk: Desk) -> None:
    """Names are shown as they are, and times as each reader's own; what the bot may not do here is Discord's to say."""
    vote = Vote(answer_id="a", person_id="1", is_helpful=False, complaints=(Complaint.WRONG,), at=NOON)
    await desk.office.votes.cast(desk.home, vote)
    await desk.order("pause")
    told = (await desk.order("status")).split("\n")

    assert [line for line in told if "permissions" not in line] == [
        f"Paused by <@{desk.boss}> {desk.moment}.",
        "Used today: 0 questions.",
        "Used this month: 0 questions.",
        "Votes: 0 helpful, 1 not helpful.",
        "Waiting in all communities: 0 questions.",
        "What moderators did recently:",
        f"{desk.bullet} {desk.moment}: <@{desk.boss}>, pause",
    ]


async def test_the_status_shows_the_log_page_by_page(desk: Desk) -> None:
    """With channels in such a way that they can be clicked."""
    for number in range(11):
        await desk.order("resume" if number % 2 else "pause", channel="here")
    told = [await desk.order("status"), *[await desk.order("status", page=page) for page in (1, 2, 3)]]

    pages = [each.split("\n") for each in told]
    line = f"{desk.bullet} {desk.moment}: <@{desk.boss}>, pause channel (<#{desk.channel}>)"
    assert pages[0] == pages[1]
    assert pages[0][-12:-9:2] == ["What moderators did recently:", line.replace("pause", "resume")]
    assert pages[0][-1] == f"Older entries: {desk.older}"
    assert pages[2:] == [["What moderators did recently:", line], [messages.NO_ENTRIES]]


@pytest.mark.promise("unreadable-is-closed")
@pytest.mark.parametrize(
    ("fault", "advice"),
    [
        (PolicyFault.DAMAGED, []),
        (PolicyFault.NEWER, ["Ask the person who runs the bot to start the newer version again."]),
    ],
)
async def test_moderators_learn_of_settings_that_cannot_be_read(
    desk: Desk, fault: PolicyFault, advice: list[str]
) -> None:
    """Nothing can be changed until somebody resumes, who hears what was lost."""
    desk.office.policies.set(desk.home, Policy(fault=fault, silent_channels=frozenset({desk.channel})))
    status = (await desk.order("status")).split("\n")
    refused = [await desk.order(order, channel="here") for order in ("pause", "resume")]
    resumed = (await desk.order("resume")).split("\n")
    later = (await desk.order("status")).split("\n")

    lost = [f"{desk.bullet} Switched off in <#{desk.channel}>.", f"{desk.bullet} Anything else that was set."]
    assert status[: 4 + len(advice)] == [
        status[0],
        *advice,
        f"`{desk.admin} resume` starts again with the default settings. This would be lost:",
        *lost,
    ]
    assert "can't be read" in status[0]
    assert refused == [messages.UNREADABLE] * 2
    assert resumed == ["I'm answering again, with the default settings. This was lost:", *lost]
    assert later[0] == "I'm answering questions."


async def test_moderators_forget_a_person(desk: Desk) -> None:
    """Questions and votes, and whom it was about is noted."""
    await desk.office.remember(desk.thread("1"), desk.ada)
    await desk.office.votes.cast(desk.home, Vote(answer_id="a", person_id=desk.ada, is_helpful=True, at=NOON))
    unnamed = await desk.order("forget", what="person")
    told = await desk.order("forget", what="person", person="ada")

    assert (unnamed, told) == (messages.NOBODY_NAMED, messages.person_forgotten(1, 1))
    assert await log(desk) == [("forget person", desk.ada)]


async def test_everything_is_forgotten_only_when_it_is_confirmed(desk: Desk) -> None:
    """The first time says what would happen."""
    thread, conversations = desk.thread("1"), desk.office.conversations
    await desk.office.remember(thread, desk.ada)
    asked = await desk.order("forget", what="everything")
    before = (await conversations.load(thread)).turns
    told = await desk.order("forget", what="everything", confirm=True)

    assert (asked, told) == (desk.forms.unconfirmed, messages.everything_forgotten(1))
    assert (len(before), (await conversations.load(thread)).turns) == (1, ())


async def test_a_store_that_is_away_is_told_in_a_sentence(desk: Desk) -> None:
    """The reason stays inside."""
    desk.office.shut()

    assert await desk.order("status") == f"⚠️ {messages.AWAY}"
