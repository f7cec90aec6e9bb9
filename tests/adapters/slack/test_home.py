"""The app's home: what everybody sees there, what moderators see beside that, and its buttons."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from adapters.slack.commands.home import FORGET_ME, PAUSE, RESUME, SECTION, home_blocks
from adapters.slack.commands.wording import FORMS, mrkdwn
from core import sentences
from core.model import Outline
from tests.adapters.slack.office import Office
from tests.servers.slack import Delivery, Reply, User, View

PAGES = ["I know 12 pages of 2 sources.", "• handbook", "• fa&lt;q&gt;"]


@pytest.fixture(name="office")
async def _office() -> AsyncIterator[Office]:
    async with Office.at_work() as office:
        yield office


async def shown(office: Office, user: User, used: Delivery) -> list[str]:
    """Wait until somebody's home was shown anew, and give its texts in order."""
    before = len(office.server.requests_to("views.publish"))
    await used.acknowledged()
    await office.server.until(lambda: len(office.server.requests_to("views.publish")) > before, what="the home")
    return [str(block["text"]["text"]) for block in home(office, user).blocks if "text" in block]


def home(office: Office, user: User) -> View:
    """Give the home that somebody sees."""
    seen = office.server.home_of(user)
    assert seen is not None
    return seen


def buttons(office: Office, user: User) -> list[str]:
    """Give the ids of the buttons that somebody sees there."""
    return [one["action_id"] for block in home(office, user).blocks for one in block.get("elements", ())]


async def test_everybody_sees_what_the_bot_knows_does_and_keeps(office: Office) -> None:
    """With a button to be forgotten."""
    async with office.open():
        texts = await shown(office, office.ada, office.server.open_home(office.ada))

    assert texts == [
        "What I know",
        "\n".join(PAGES),
        "What I can do",
        mrkdwn(sentences.help_text(FORMS)),
        "What I keep",
        mrkdwn(sentences.privacy(office.desk.practices, FORMS)),
    ]
    assert buttons(office, office.ada) == [FORGET_ME]


@pytest.mark.promise("members-only")
async def test_guests_do_not_see_what_the_documents_are_about(office: Office) -> None:
    """Nor does anybody of whom Slack does not say who it is."""
    guest = office.server.add_member(office.workspace, is_restricted=True)
    async with office.open():
        seen = [(await shown(office, guest, office.server.open_home(guest)))[1]]
        office.server.faults.add("users.info", Reply(200, {"ok": False, "error": "internal_error"}))
        seen.append((await shown(office, office.ada, office.server.open_home(office.ada)))[1])

    assert seen == PAGES[:1] * 2


async def test_moderators_see_how_things_are_and_can_pause_the_bot(office: Office) -> None:
    """Each button is confirmed on top; the next who opens the home sees no more of that."""
    async with office.open():
        first = await shown(office, office.boss, office.server.open_home(office.boss))
        paused = await shown(office, office.boss, office.server.press(office.boss, home(office, office.boss), PAUSE))
        resumed = await shown(office, office.boss, office.server.press(office.boss, home(office, office.boss), RESUME))
        last = await shown(office, office.boss, office.server.open_home(office.boss))

    assert first[-2:] == [
        "For moderators",
        "Questions are answered.\nVotes: 0 helpful, 0 not helpful.\nWaiting everywhere: 0 questions.",
    ]
    assert (paused[0], resumed[0], last[0]) == (
        sentences.paused(is_new=True),
        sentences.resumed(is_new=True),
        "What I know",
    )
    assert paused[-1].startswith("Paused by bo&lt;ss <!date^")
    assert buttons(office, office.boss) == [FORGET_ME, PAUSE, RESUME]


@pytest.mark.promise("moderators-only")
async def test_a_button_of_moderators_does_nothing_for_others(office: Office) -> None:
    """Somebody who is none any more may still see it; the rights are asked for when it is pressed."""
    async with office.open():
        await shown(office, office.boss, office.server.open_home(office.boss))
    office.boss.is_admin = False
    async with office.open():
        told = await shown(office, office.boss, office.server.press(office.boss, home(office, office.boss), PAUSE))

    assert told[0] == "Only moderators may do that. Ask one of them."
    assert (await office.policies.load(office.home())).is_paused is False
    assert buttons(office, office.boss) == [FORGET_ME]


@pytest.mark.promise("forget-me")
async def test_people_are_forgotten_by_a_button_that_asks_first(office: Office) -> None:
    """What was removed is told there."""
    await office.remember(office.thread(office.channel, "1"), office.ada.id)
    async with office.open():
        await shown(office, office.ada, office.server.open_home(office.ada))
        (button,) = [one for block in home(office, office.ada).blocks for one in block.get("elements", ())]
        told = await shown(office, office.ada, office.server.press(office.ada, home(office, office.ada), FORGET_ME))

    assert (told[0], "confirm" in button) == (sentences.person_forgotten(1, 0), True)
    assert await office.conversations.load(office.thread(office.channel, "1")) is None


@pytest.mark.promise("degradation")
async def test_the_home_is_shown_while_what_stands_behind_it_is_away(office: Office) -> None:
    """Each part says so for itself."""
    office.outline = None
    office.shut()
    async with office.open():
        texts = await shown(office, office.boss, office.server.open_home(office.boss))

    assert (texts[1], texts[-1]) == (f"⚠️ {sentences.UNCOUNTED}", f"⚠️ {sentences.AWAY}")


async def test_the_messages_beside_the_home_are_no_home(office: Office) -> None:
    """Their opening is an event of the same name."""
    async with office.open():
        office.server.open_home(office.ada, tab="messages")
        await shown(office, office.boss, office.server.open_home(office.boss))

    assert [one.body["user_id"] for one in office.server.requests_to("views.publish")] == [office.boss.id]


def test_the_home_has_room_for_any_index() -> None:
    """No section is too long, however many sources there are and whatever they are called."""
    many = Outline(passages=9, pages=3_000, sources=tuple(f"{'<' * 300}{n}" for n in range(500)), chapters=())
    lines = [*sentences.outline_lines(many), *["<" * 900] * 9]
    blocks = home_blocks("said", lines, lines, sentences.Practices())

    assert len(blocks) <= 100
    assert max(len(block["text"]["text"]) for block in blocks if block["type"] == "section") <= SECTION
    assert sentences.outline_lines(many)[0] == "I know 3,000 pages of 500 sources."
    assert sentences.outline_lines(many)[-1] == "and 480 more"
    assert sentences.outline_lines(Outline(passages=0, pages=0, sources=(), chapters=())) == (
        "I know no documents yet.",
    )
