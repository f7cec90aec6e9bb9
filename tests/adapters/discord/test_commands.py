"""Slash commands that everybody has, from the wire to the inbox and the stores."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from adapters.discord.interactions import TOKEN_LIFE
from core import messages
from core.messages import NOT_PART_OF_IT
from core.model import NO_QUESTION, Asked, MessageRef, Person, Question, ThreadRef
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.office import SOURCE, TERMS, Office, home, thread_ref
from tests.servers.discord import Interaction, Lost, Permission, Reply, Reset

FORMS = messages.Forms()

CALLBACK = "POST /interactions/{interaction}/{token}/callback"
ORIGINAL = "PATCH /webhooks/{application}/{token}/messages/@original"
SYNC = "PUT /applications/{application}/commands"


def asked_by(place: Place, used: Interaction, thread: ThreadRef, message: object) -> Question:
    """What Ada asks with the command."""
    return Question(
        message=MessageRef(thread=thread, id=str(message)),
        text="What is a robot?",
        author=Person(id=str(place.ada.id), name="Ada"),
        asked_at=used.at,
        **TERMS.model_dump(),
    )


async def test_a_question_in_a_channel_becomes_the_message_that_a_thread_is_opened_on(
    office: Office, place: Place
) -> None:
    """The deferred response stands for the question, and may be filled in the interaction's name."""
    async with office.open():
        used = office.server.slash(place.ada, place.channel, "ask", question="What is a robot?")
        asked = await office.heard()

    shown = office.server.platform.messages[used.original_id or 0]
    expected = asked_by(place, used, thread_ref(place.guild.id, place.channel.id, shown.id), shown.id)
    assert isinstance(asked, Asked)
    assert asked.address is not None
    assert asked.address.interaction is not None
    assert (asked.question, asked.address.message) == (
        expected.model_copy(update={"asked_at": asked.question.asked_at}),
        expected.message,
    )
    assert (shown.thinking, shown.ephemeral) == (True, False)
    assert (asked.address.interaction.id, asked.address.interaction.token) == (str(used.id), used.token)
    assert asked.address.interaction.expires_at == asked.question.asked_at + TOKEN_LIFE


@pytest.mark.parametrize("missing", [Permission.CREATE_PUBLIC_THREADS, Permission.SEND_MESSAGES_IN_THREADS])
async def test_where_no_thread_may_be_opened_the_answer_stays_in_place(
    office: Office, place: Place, missing: Permission
) -> None:
    """The question has a conversation of its own all the same."""
    office.server.deny(place.channel, missing)
    async with office.open():
        used = office.server.slash(place.ada, place.channel, "ask", question="What is a robot?")
        asked = await office.heard()

    assert isinstance(asked, Asked)
    assert asked.address is not None
    assert (asked.address.message, asked.message.thread.thread) == (None, str(used.original_id))


async def test_a_question_in_a_thread_goes_on_there(office: Office, place: Place) -> None:
    """It belongs to that conversation."""
    thread = office.server.thread_as(place.ada, place.channel, "Arms")
    async with office.open():
        used = office.server.slash(place.ada, thread, "ask", question="What is a robot?")
        asked = await office.heard()

    assert isinstance(asked, Asked)
    assert asked.address is not None
    assert (asked.message.thread, asked.message.id, asked.address.message) == (
        thread_ref(place.guild.id, place.channel.id, thread.id),
        str(used.original_id),
        None,
    )


async def test_a_question_in_a_direct_message_goes_on_there(office: Office) -> None:
    """Its workspace is that of all direct messages."""
    ada = office.server.add_user()
    dm = office.server.dm(ada)
    async with office.open():
        office.server.slash(ada, dm, "ask", question="What is a robot?")
        asked = await office.heard()

    assert asked.message.thread == thread_ref("@me", dm.id, dm.id)


async def test_a_private_question_is_seen_by_the_asker_only_and_belongs_to_no_thread(
    office: Office, place: Place
) -> None:
    """It goes by the interaction's own id."""
    async with office.open():
        used = office.server.slash(place.ada, place.channel, "ask", question="What is a robot?", private=True)
        asked = await office.heard()

    assert isinstance(asked, Asked)
    assert asked.address is not None
    assert (asked.question.visibility, asked.message.id, asked.message.thread.thread, asked.address.message) == (
        "private",
        str(used.id),
        str(used.id),
        None,
    )
    assert office.server.platform.messages[used.original_id or 0].seen_by == place.ada.id


@pytest.mark.promise("answers-at-once")
async def test_a_command_is_acknowledged_while_the_inbox_hangs(office: Office, place: Place) -> None:
    """The reader sees at once that an answer is on its way."""
    office.inbox.opens.clear()
    async with office.open():
        used = office.server.slash(place.ada, place.channel, "ask", question="What is a robot?")
        await office.server.until(lambda: used.deferred, what="a deferral")
        before = list(office.inbox.signals)
        office.inbox.opens.set()
        await office.heard()

    assert before == []


async def test_a_question_that_cannot_be_kept_gets_a_warning_in_the_place_of_the_answer(
    office: Office, place: Place
) -> None:
    """Nobody waits for an answer that will not come."""
    office.shut()
    async with office.open():
        used = office.server.slash(place.ada, place.channel, "ask", question="What is a robot?")
        told = await office.told(used)

    assert (told.id, told.content, told.thinking) == (used.original_id, f"⚠️ {messages.CANNOT_TAKE}", False)


async def test_a_question_without_words_is_told_privately_what_to_do(office: Office, place: Place) -> None:
    """Nothing is put."""
    async with office.open():
        told = await office.told(office.server.slash(place.ada, place.channel, "ask", question="  "))

    assert (told.content, told.seen_by, office.inbox.signals) == (NO_QUESTION, place.ada.id, [])


async def test_an_interaction_that_comes_again_is_the_same_question(office: Office, place: Place) -> None:
    """The inbox knows it by its own id, while it is being put and afterwards: nothing more is said or asked."""
    async with office.open():
        office.inbox.opens.clear()
        used = office.server.slash(place.ada, place.channel, "ask", question="What is a robot?")
        await office.server.until(lambda: used.deferred, what="a deferral")
        office.server.repeat_interaction(used)
        later = office.server.slash(place.ada, place.channel, "ask", question="And an arm?")
        await office.server.until(lambda: later.deferred, what="another deferral")
        office.inbox.opens.set()
        first = {(await office.heard()).message.id for _ in range(2)}
        await office.server.until(lambda: not office.inbox.kept, what="the move")
        office.server.repeat_interaction(used)
        office.server.slash(place.ada, place.channel, "ask", question="And a leg?")
        last = await office.heard()
        tried = len(office.server.requests_to(CALLBACK))

    assert (first, tried) == ({str(used.original_id), str(later.original_id)}, 3)
    assert (last.message.id in first, office.inbox.signals) == (False, [])


async def test_an_interaction_that_is_too_old_is_dropped(office: Office, place: Place) -> None:
    """After three seconds nobody can be answered, so nothing is done."""
    async with office.open():
        office.server.faults.add(CALLBACK, Reply(404, {"code": 10062, "message": "Unknown interaction"}))
        office.server.slash(place.ada, place.channel, "ask", question="What is a robot?")
        await office.server.until(lambda: office.server.requests_to(CALLBACK), what="a try")
        office.server.slash(place.ada, place.channel, "ask", question="And an arm?")
        asked = await office.heard()

    assert isinstance(asked, Asked)
    assert asked.question.text == "And an arm?"


@pytest.mark.parametrize("fault", [Reset(), Lost()])
async def test_a_deferral_whose_confirmation_is_lost_is_made_once(
    office: Office, place: Place, fault: Reset | Lost
) -> None:
    """Whether the first try has arrived or not, the question is put and its message is known."""
    async with office.open():
        office.server.faults.add(CALLBACK, fault)
        used = office.server.slash(place.ada, place.channel, "ask", question="What is a robot?")
        asked = await office.heard()

    assert (asked.message.id, used.deferred) == (str(used.original_id), True)


async def test_a_deferral_that_the_library_makes_twice_is_followed(office: Office, place: Place) -> None:
    """Discord carried it out and failed to say so, and then refuses a second one."""
    async with office.open():
        office.server.faults.add(CALLBACK, Lost(Reply(502, {"message": "bad gateway"})))
        used = office.server.slash(place.ada, place.channel, "sources")
        told = await office.told(used)

    assert (told.id, told.thinking) == (used.original_id, False)


async def test_a_deferral_that_never_arrives_puts_nothing(office: Office, place: Place) -> None:
    """Discord tells the reader that the bot did not answer, so it must not do so later."""
    async with office.open():
        office.server.faults.add(CALLBACK, Reset(), Reset())
        office.server.slash(place.ada, place.channel, "ask", question="What is a robot?")
        await office.server.until(lambda: len(office.server.requests_to(CALLBACK)) == 2, what="two tries")
        office.server.slash(place.ada, place.channel, "ask", question="And an arm?")
        asked = await office.heard()

    assert isinstance(asked, Asked)
    assert (asked.question.text, office.inbox.signals) == ("And an arm?", [])


@pytest.mark.promise("answers-at-once")
@pytest.mark.parametrize(("command", "route"), [("sources", ORIGINAL), ("help", CALLBACK)])
async def test_what_is_said_survives_a_platform_that_stumbles(
    office: Office, place: Place, command: str, route: str
) -> None:
    """Nobody sees for minutes that something is on its way which never comes."""
    async with office.open():
        office.server.faults.add(route, Reply(503, {"message": "overloaded", "code": 0}))
        told = await office.told(office.server.slash(place.ada, place.channel, command))
        tried = [one.status for one in office.server.requests_to(route)]

    assert (told.thinking, told.seen_by) == (False, place.ada.id)
    assert (tried[0], len(tried)) == (503, 2)


async def test_a_reader_who_is_gone_misses_what_is_said(office: Office, place: Place) -> None:
    """The next one is told as usual."""
    office.inbox.fails = office.away
    async with office.open():
        office.server.faults.add(ORIGINAL, Reply(404, {"code": 10008, "message": "Unknown Message"}))
        office.server.slash(place.ada, place.channel, "ask", question="What is a robot?")
        await office.server.until(lambda: office.server.requests_to(ORIGINAL), what="a try")
        told = await office.told(office.server.slash(place.ada, place.channel, "ask", question="What is a robot?"))

    assert told.content == f"⚠️ {messages.CANNOT_TAKE}"


async def test_the_sources_of_the_last_answer_are_shown_to_who_asks_for_them(office: Office, place: Place) -> None:
    """With links, without a preview; an answer without sources is passed over."""
    thread = office.server.thread_as(place.ada, place.channel, "Arms")
    ref = thread_ref(place.guild.id, place.channel.id, thread.id)
    await office.remember(ref, place.ada.id, id="1", citations=(SOURCE,))
    await office.remember(ref, place.ada.id, id="2")
    async with office.open():
        told = await office.told(office.server.slash(place.ada, thread, "sources"))

    assert told.content == "-# [[1]](<https://docs.example/arms>) Robots › Arms (docs.example)"
    assert (told.seen_by, told.suppresses_embeds) == (place.ada.id, True)


async def test_without_an_answer_there_are_no_sources(office: Office, place: Place) -> None:
    """In a thread and in a channel, each with its own sentence."""
    thread = office.server.thread_as(place.ada, place.channel, "Arms")
    async with office.open():
        here = await office.told(office.server.slash(place.ada, thread, "sources"))
        outside = await office.told(office.server.slash(place.ada, place.channel, "sources"))

    assert (here.content, outside.content) == (messages.NO_SOURCES, FORMS.in_thread)


@pytest.mark.promise("forget-me")
async def test_whoever_asked_in_a_thread_can_have_it_forgotten(office: Office, place: Place) -> None:
    """Nobody else can, and in a channel there is nothing to forget."""
    bob = office.server.add_member(place.guild, "Bob")
    thread = office.server.thread_as(place.ada, place.channel, "Arms")
    await office.remember(thread_ref(place.guild.id, place.channel.id, thread.id), place.ada.id)
    here: Mapping[str, str] = {"what": "this thread"}
    async with office.open():
        told = [
            (await office.told(office.server.slash(who, where, "forget", **here))).content
            for who, where in [(bob, thread), (place.ada, thread), (place.ada, thread), (place.ada, place.channel)]
        ]

    assert told == [
        NOT_PART_OF_IT,
        messages.thread_forgotten(was_there=True),
        messages.thread_forgotten(was_there=False),
        FORMS.in_thread,
    ]


@pytest.mark.promise("forget-me")
async def test_people_are_forgotten_here_and_in_direct_messages(office: Office, place: Place) -> None:
    """What they asked in other servers stays, as do others."""
    elsewhere = thread_ref("7", "8", "9")
    for ref in (thread_ref(place.guild.id, "1", "2"), thread_ref("@me", "3", "3"), elsewhere):
        await office.remember(ref, place.ada.id)
    async with office.open():
        told = await office.told(office.server.slash(place.ada, place.channel, "forget", what="everything about me"))

    assert (told.content, told.seen_by) == (messages.person_forgotten(2, 0), place.ada.id)
    assert (await office.conversations.load(elsewhere)).turns
    assert home("7") == elsewhere.home


async def test_help_and_privacy_are_told_privately(office: Office, place: Place) -> None:
    """Privacy says for how long, and who reads the questions."""
    async with office.open():
        told = [await office.told(office.server.slash(place.ada, place.channel, name)) for name in ("help", "privacy")]

    assert [one.content for one in told] == [messages.help_text(FORMS), messages.privacy(office.services.practices)]
    assert "48 hours" in told[1].content
    assert "OpenAI" in told[1].content
    assert [(one.seen_by, one.suppresses_embeds) for one in told] == [(place.ada.id, True)] * 2


async def test_a_mistake_of_ours_is_told_without_its_reason(office: Office, place: Place) -> None:
    """No traceback reaches the reader."""
    office.inbox.fails = ValueError("secret")
    async with office.open():
        told = await office.told(office.server.slash(place.ada, place.channel, "ask", question="What is a robot?"))

    assert told.content == f"⚠️ {messages.BROKEN}"


async def test_a_command_that_is_shown_as_it_was_before_is_told_so(office: Office, place: Place) -> None:
    """Discord shows an old one for a while."""
    async with office.open():
        office.server.platform.commands[None].append({"id": "1", "name": "old", "type": 1, "options": []})
        told = await office.told(office.server.slash(place.ada, place.channel, "old"))

    assert (told.content, told.seen_by) == (messages.OUTDATED, place.ada.id)
