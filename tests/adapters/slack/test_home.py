"""The app's home: what everybody sees there, what moderators see beside that, and its buttons."""

from __future__ import annotations

import pytest

from adapters.slack.home import (
    FORGET_ME,
    MENUS,
    OPEN,
    PAUSE,
    RESUME,
    SECTION,
    SILENT,
    home_blocks,
    moderation_blocks,
)
from adapters.slack.interactions import mrkdwn
from core import messages
from core.model import Audience, EmbeddedPassage, Outline, Policy, PolicyFault, SourceRecord, WorkspaceRef
from tests.adapters.slack.office import Office
from tests.builders import passage
from tests.fakes.index import MemoryIndex
from tests.servers.slack import Delivery, Reply, User, View, limit

PROMPTING = "assistant.threads.setSuggestedPrompts"
PAGES = ["I have 12 pages from 2 sources.", "• handbook", "• fa&lt;q&gt;"]
STATUS = """\
I'm answering questions.
Used today: 0 questions.
Used this month: 0 questions.
Votes: 0 helpful, 0 not helpful.
Waiting in all communities: 0 questions."""


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


def menu(office: Office, user: User) -> tuple[str, list[str]] | None:
    """Give the id of the block with the menu of channels, and what it shows as chosen."""
    found = [block for block in home(office, user).blocks if block.get("accessory", {}).get("action_id") == SILENT]
    return (found[0]["block_id"], found[0]["accessory"].get("initial_conversations", [])) if found else None


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
        mrkdwn(messages.help_text(messages.SLACK_FORMS)),
        "What I keep",
        mrkdwn(messages.privacy(office.services.practices, messages.SLACK_FORMS)),
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

    assert seen == [messages.STRANGERS_READ, f"{messages.WARNING} {messages.UNKNOWN_PEOPLE}"]


@pytest.mark.promise("documents-apart")
async def test_the_home_tells_each_of_what_they_may_read(office: Office) -> None:
    """A member of what is the workspace's own and what is open to all, a guest of the latter alone."""
    office.index, guest = MemoryIndex(), office.server.add_member(office.workspace, is_restricted=True)
    elsewhere = WorkspaceRef(platform="elsewhere", workspace="1")
    audiences = {"own": None, "theirs": Audience(communities=frozenset([elsewhere])), "open": Audience(everyone=True)}
    for source, audience in audiences.items():
        one = passage(source=source, url=f"https://docs.example/{source}")
        await office.index.replace(source, one.page_url, [EmbeddedPassage(one, (1.0, 0.0))])
        await office.index.record(SourceRecord(name=source, audience=audience))
    async with office.open():
        seen = [(await shown(office, by, office.server.open_home(by)))[1] for by in (office.ada, guest)]

    assert seen == ["I have 2 pages from 2 sources.\n• open\n• own", "I have 1 page from 1 source.\n• open"]


async def prompted(office: Office, user: User) -> list[str]:
    """Let somebody open the messages with the bot, and give what there is to ask."""
    before = len(office.server.platform.prompts)
    await office.server.open_home(user, "messages").acknowledged()
    await office.server.until(lambda: len(office.server.platform.prompts) > before, what="prompts")
    pinned = office.server.platform.prompts[-1]
    assert (pinned.thread_ts, pinned.title) == (None, messages.PROMPTS_TITLE)
    return [str(prompt["message"]) for prompt in pinned.prompts]


@pytest.mark.promise("guests-apart")
async def test_newcomers_are_shown_what_they_can_ask_of_what_they_can_search(office: Office) -> None:
    """Of the first chapters there are, without anything in their names that could be read as more than text."""
    office.index, guest = MemoryIndex(), office.server.add_member(office.workspace, is_restricted=True)
    audiences = {"own": None, "open": Audience(everyone=True)}
    for source, audience in audiences.items():
        for number, chapter in enumerate((f"{source}_arms", f"{source} <!channel> legs")):
            one = passage(source=source, url=f"https://docs.example/{source}/{number}", chapter=chapter)
            await office.index.replace(source, one.page_url, [EmbeddedPassage(one, (1.0, 0.0))])
        await office.index.record(SourceRecord(name=source, audience=audience))
    async with office.open():
        seen = [await prompted(office, by) for by in (office.ada, guest)]

    assert [len(each) for each in seen] == [4, 3]
    assert seen[1] == [
        "What can you do?",
        "What do the documents say about open !channel legs?",
        "What do the documents say about open arms?",
    ]


@pytest.mark.promise("documents-apart")
async def test_no_prompt_names_a_chapter_of_another_community(office: Office) -> None:
    """Nor one that nobody may read, although these would come first."""
    office.index, elsewhere = MemoryIndex(), WorkspaceRef(platform="elsewhere", workspace="1")
    audiences = {"theirs": Audience(communities=frozenset([elsewhere])), "nobodys": Audience(), "own": None}
    for source, audience in audiences.items():
        one = passage(source=source, url=f"https://docs.example/{source}", chapter=f"{source}_arms")
        await office.index.replace(source, one.page_url, [EmbeddedPassage(one, (1.0, 0.0))])
        await office.index.record(SourceRecord(name=source, audience=audience))
    async with office.open():
        seen = await prompted(office, office.ada)

    assert seen == ["What can you do?", "What do the documents say about own arms?"]


async def test_prompts_are_pinned_once_and_again_after_they_could_not_be(office: Office) -> None:
    """And anew when there is something else to ask."""
    async with office.open() as commands:
        office.server.faults.add(PROMPTING, limit(60))
        await office.server.open_home(office.ada, "messages").acknowledged()
        await commands.background.finish()
        first = await prompted(office, office.ada)
        await office.server.open_home(office.ada, "messages").acknowledged()
        await commands.background.finish()
        pinned = len(office.server.platform.prompts)
        office.index = MemoryIndex()
        one = passage(chapter="Arms")
        await office.index.replace("docs", one.page_url, [EmbeddedPassage(one, (1.0, 0.0))])
        then = await prompted(office, office.ada)

    assert (pinned, first != then) == (1, True)
    assert then[1:] == ["What do the documents say about Arms?"]


async def test_moderators_see_how_things_are_and_can_pause_the_bot(office: Office) -> None:
    """Each button is confirmed on top; the next who opens the home sees no more of that."""
    async with office.open():
        first = await shown(office, office.boss, office.server.open_home(office.boss))
        paused = await shown(office, office.boss, office.server.press(office.boss, home(office, office.boss), PAUSE))
        resumed = await shown(office, office.boss, office.server.press(office.boss, home(office, office.boss), RESUME))
        last = await shown(office, office.boss, office.server.open_home(office.boss))

    assert first[-4:] == [
        "For moderators",
        STATUS,
        "Channels where I stay silent",
        MENUS[OPEN][0],
    ]
    assert (paused[0], resumed[0], last[0]) == (
        messages.paused(is_new=True),
        messages.resumed(is_new=True),
        "What I know",
    )
    assert paused[-3].startswith(f"Paused by <@{office.boss.id}> <!date^")
    assert buttons(office, office.boss) == [FORGET_ME, PAUSE, RESUME]


@pytest.mark.promise("moderators-only")
async def test_a_button_of_moderators_does_nothing_for_others(office: Office) -> None:
    """Somebody who is none any more may still see it; the rights are asked for when it is pressed."""
    async with office.open():
        await shown(office, office.boss, office.server.open_home(office.boss))
    office.boss.is_admin = False
    async with office.open():
        told = await shown(office, office.boss, office.server.press(office.boss, home(office, office.boss), PAUSE))

    assert told[0] == "Only moderators can do that. Ask one of them."
    assert (await office.policies.load(office.home())).paused_by is None
    assert buttons(office, office.boss) == [FORGET_ME]


@pytest.mark.promise("silent-channels")
async def test_moderators_choose_the_channels_without_answers(office: Office) -> None:
    """What changed in the menu is done and noted, and nothing else, whatever others did since it was shown."""
    one, two, three = (office.server.add_channel(office.workspace) for _ in range(3))
    server, boss = office.server, office.boss
    async with office.open():
        await shown(office, boss, server.open_home(boss))
        first = menu(office, boss)
        told = [await shown(office, boss, server.choose(boss, home(office, boss), SILENT, [one, two]))]
        second = menu(office, boss)
        await office.use(boss, "admin pause here", three)
        told.append(await shown(office, boss, server.choose(boss, home(office, boss), SILENT, [two])))
        told.append(await shown(office, boss, server.choose(boss, home(office, boss), SILENT, [two, three])))
    last, noted = menu(office, boss), await office.policies.recent(office.home(), limit=9)

    assert (first, second, last) == (
        first,
        (second and second[0], [one.id, two.id]),
        (last and last[0], [two.id, three.id]),
    )
    assert len({each[0] for each in (first, second, last) if each}) == 3
    assert [texts[0] for texts in told] == [
        "\n".join(messages.silenced(f"<#{each.id}>", on=True, is_new=True) for each in (one, two)),
        messages.silenced(f"<#{one.id}>", on=False, is_new=True),
        messages.UNCHANGED,
    ]
    assert [(entry.did, entry.about) for entry in reversed(noted)] == [
        ("pause channel", one.id),
        ("pause channel", two.id),
        ("pause channel", three.id),
        ("resume channel", one.id),
    ]


@pytest.mark.promise("guests-apart")
async def test_moderators_choose_the_channels_where_guests_are_answered_like_members(office: Office) -> None:
    """In a menu of its own, beside the other."""
    async with office.open():
        await shown(office, office.boss, office.server.open_home(office.boss))
        told = [
            (
                await shown(
                    office, office.boss, office.server.choose(office.boss, home(office, office.boss), OPEN, each)
                )
            )[0]
            for each in ([office.channel], [])
        ]

    name, noted = f"<#{office.channel.id}>", await office.policies.recent(office.home(), limit=9)
    assert told == [messages.opened_to_guests(name, on=on, is_new=True) for on in (True, False)]
    assert [entry.did for entry in noted] == ["close channel to guests", "open channel to guests"]


@pytest.mark.promise("moderators-only")
async def test_who_may_not_moderate_has_no_menu_and_cannot_use_that_of_before(office: Office) -> None:
    """It is asked for again when somebody chooses."""
    async with office.open():
        await shown(office, office.boss, office.server.open_home(office.boss))
        await shown(office, office.ada, office.server.open_home(office.ada))
    before, office.boss.is_admin = home(office, office.boss), False
    async with office.open():
        told = await shown(office, office.boss, office.server.choose(office.boss, before, SILENT, [office.channel]))

    assert told[0] == "Only moderators can do that. Ask one of them."
    assert (menu(office, office.boss), menu(office, office.ada)) == (None, None)
    assert (await office.policies.load(office.home())).answers_in(office.channel.id)


@pytest.mark.promise("degradation")
async def test_a_channel_that_is_gone_does_not_take_the_home_away(office: Office) -> None:
    """Where Slack refuses to show it as chosen, it still stands in the text."""
    office.policies.set(office.home(), Policy(silent_channels=frozenset({"C1"})))
    office.server.faults.add("views.publish", Reply(200, {"ok": False, "error": "invalid_arguments"}))
    async with office.open():
        await office.server.open_home(office.boss).acknowledged()
        await office.server.until(lambda: office.server.home_of(office.boss), what="the home")

    found = menu(office, office.boss)
    assert (found and found[1], messages.silent_line(["<#C1>"]) in str(home(office, office.boss).blocks)) == ([], True)


@pytest.mark.promise("unreadable-is-closed")
async def test_settings_that_cannot_be_read_are_told_in_the_home(office: Office) -> None:
    """There is no menu of channels until somebody resumes."""
    office.policies.set(office.home(), Policy(fault=PolicyFault.DAMAGED))
    async with office.open():
        closed = await shown(office, office.boss, office.server.open_home(office.boss))
        found = menu(office, office.boss)
        resumed = await shown(office, office.boss, office.server.press(office.boss, home(office, office.boss), RESUME))

    assert (closed[-1].split("\n")[0], found) == (
        "The settings here can't be read. Until that is fixed, I won't answer anything.",
        None,
    )
    assert resumed[0].startswith("I'm answering again, with the default settings.")
    assert menu(office, office.boss) is not None


@pytest.mark.promise("forget-me")
async def test_people_are_forgotten_by_a_button_that_asks_first(office: Office) -> None:
    """What was removed is told there."""
    await office.remember(office.thread(office.channel, "1"), office.ada.id)
    async with office.open():
        await shown(office, office.ada, office.server.open_home(office.ada))
        (button,) = [one for block in home(office, office.ada).blocks for one in block.get("elements", ())]
        told = await shown(office, office.ada, office.server.press(office.ada, home(office, office.ada), FORGET_ME))

    assert (told[0], "confirm" in button) == (messages.person_forgotten(1, 0), True)
    assert not (await office.conversations.load(office.thread(office.channel, "1"))).turns


@pytest.mark.promise("degradation")
async def test_the_home_is_shown_while_what_stands_behind_it_is_away(office: Office) -> None:
    """Each part says so for itself."""
    office.outline = None
    office.shut()
    async with office.open():
        texts = await shown(office, office.boss, office.server.open_home(office.boss))

    assert (texts[1], texts[-1]) == (f"⚠️ {messages.UNAVAILABLE}", f"⚠️ {messages.AWAY}")


async def test_the_messages_beside_the_home_are_no_home(office: Office) -> None:
    """Their opening is an event of the same name."""
    async with office.open():
        office.server.open_home(office.ada, tab="messages")
        await shown(office, office.boss, office.server.open_home(office.boss))

    assert [one.body["user_id"] for one in office.server.requests_to("views.publish")] == [office.boss.id]


def test_the_home_has_room_for_any_index() -> None:
    """No section is too long, however many sources there are and whatever they are called."""
    many = Outline(passages=9, pages=3_000, sources=tuple(f"{'<' * 300}{n}" for n in range(500)), chapters=())
    lines = [*messages.outline_lines(many), *["<" * 900] * 9]
    blocks = [*home_blocks("said", lines, messages.Practices()), *moderation_blocks(lines, {SILENT: ["C1"]})]

    assert len(blocks) <= 100
    assert max(len(block["text"]["text"]) for block in blocks if block["type"] == "section") <= SECTION
    assert messages.outline_lines(many)[0] == "I have 3,000 pages from 500 sources."
    assert messages.outline_lines(many)[-1] == "and 480 more"
    assert messages.outline_lines(Outline(passages=0, pages=0, sources=(), chapters=())) == (messages.NO_DOCUMENTS,)
