"""Buttons below answers, shortcuts and the forms behind them: who may do what, and that all outlast a restart."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.chat.platform import Controls, Part
from adapters.slack.commands import ANSWER_FROM, SHOW_SOURCES
from adapters.slack.dialect import DOWN, RETRY, STOP, UP, VOTE
from adapters.slack.forms import LONGEST_FIELD
from core import messages
from core.answering.agent import answer_id
from core.model import (
    NO_QUESTION,
    Asked,
    AskedAgain,
    Complaint,
    MessageRef,
    Person,
    Question,
    Signal,
    Stopped,
    Tally,
    Unread,
    Vote,
)
from tests.adapters.slack.office import Office
from tests.builders import NOON
from tests.fakes.services import SOURCE
from tests.servers.slack import Delivery, Message, Reply, Upload, User, View
from tests.servers.slack.shape import Json


def question_in(office: Office, root: Message) -> Question:
    """What Ada has asked."""
    message = MessageRef(thread=office.thread(office.channel, root), id=root.ts)
    return Question(message=message, text="What is a robot?", author=Person(id=office.ada.id), asked_at=NOON)


async def answered(office: Office, controls: Controls) -> tuple[Message, Question]:
    """Post an answer with these buttons, by an app that is gone afterwards; give the question as well."""
    root = office.server.post_as(office.ada, office.channel, "What is a robot?")
    question = question_in(office, root)
    return await office.post(office.channel, Part("An answer.", controls), question, root), question


async def told(office: Office, user: User, used: Delivery) -> Message:
    """Wait for what one person is told, and give it."""
    before = len(office.told(user))
    await used.acknowledged()
    await office.server.until(lambda: len(office.told(user)) > before, what="a reply")
    return office.told(user)[-1]


@pytest.mark.promise("buttons-last")
@pytest.mark.promise("votes-without-text")
@pytest.mark.promise("one-vote-each")
async def test_a_helpful_answer_gets_a_vote_and_private_thanks_in_its_thread(office: Office) -> None:
    """One vote of each person, however often it is pressed, and the last one counts."""
    message, question = await answered(office, Controls.VOTE)
    name = answer_id(question)
    async with office.open():
        for opinion in (DOWN, UP, UP):
            office.server.press(office.ada, message, VOTE, f"{opinion} {name}")
        await office.server.until(lambda: len(office.told(office.ada)) == 2, what="thanks")

    assert [(one.text, one.thread_ts) for one in office.told(office.ada)] == [(messages.THANKS, message.thread_ts)] * 2
    assert office.votes.of(office.home()) == (Vote(answer_id=name, person_id=office.ada.id, is_helpful=True, at=NOON),)
    assert await office.votes.count(office.home()) == Tally(helpful=1)
    assert message.action_ids == [VOTE]


@pytest.mark.promise("buttons-last")
@pytest.mark.promise("votes-without-text")
async def test_an_unhelpful_answer_gets_a_vote_at_once_and_reasons_by_a_form(office: Office) -> None:
    """The form may be sent after a restart; there is nowhere to write in it, and thanks stand where it was."""
    message, question = await answered(office, Controls.VOTE)
    name = answer_id(question)
    vote = Vote(answer_id=name, person_id=office.ada.id, is_helpful=False, at=NOON)
    async with office.open():
        form = await office.form(office.ada, office.server.press(office.ada, message, VOTE, f"{DOWN} {name}"))
    at_once = office.votes.of(office.home())
    kinds = [block["element"]["type"] for block in form.blocks]
    async with office.open():
        chosen = {"reasons": [Complaint.UNCLEAR.value, Complaint.WRONG.value]}
        await office.server.submit(office.ada, form, chosen).acknowledged()
        await office.server.until(lambda: form.history, what="thanks")
        thanks = words_in(form)

    assert (at_once, kinds, thanks) == ((vote,), ["checkboxes"], [messages.THANKS])
    reasons = (Complaint.WRONG, Complaint.UNCLEAR)
    assert office.votes.of(office.home()) == (vote.model_copy(update={"complaints": reasons}),)


def words_in(form: View) -> list[str]:
    """Give what a form without fields says."""
    return [str(block["text"]["text"]) for block in form.blocks]


async def test_a_vote_that_cannot_be_kept_is_told_so(office: Office) -> None:
    """To the one person who voted: where the form was, and below the answer."""
    message, question = await answered(office, Controls.VOTE)
    office.shut()
    async with office.open():
        used = office.server.press(office.ada, message, VOTE, f"{DOWN} {answer_id(question)}")
        said = await told(office, office.ada, used)
        form = await office.form(office.ada, used)
        office.server.submit(office.ada, form, {})
        await office.server.until(lambda: len(form.history) == 2, what="a sentence")

    assert (said.text, words_in(form)) == (f"⚠️ {messages.AWAY}", [f"⚠️ {messages.AWAY}"])


async def test_a_form_that_cannot_be_shown_costs_no_vote(office: Office) -> None:
    """Thanks are given as if there were none."""
    message, question = await answered(office, Controls.VOTE)
    async with office.open():
        office.server.faults.add("views.open", Reply(200, {"ok": False, "error": "expired_trigger_id"}))
        said = await told(
            office, office.ada, office.server.press(office.ada, message, VOTE, f"{DOWN} {answer_id(question)}")
        )

    assert (said.text, await office.votes.count(office.home())) == (messages.THANKS, Tally(unhelpful=1))


@pytest.mark.promise("buttons-last")
@pytest.mark.promise("stops-count")
async def test_whoever_asked_or_moderates_can_stop_an_answer_or_have_it_tried_again(office: Office) -> None:
    """Others are told privately that they cannot."""
    bob = office.server.add_member(office.workspace, "bob")
    stopping, question = await answered(office, Controls.STOP)
    failed, other = await answered(office, Controls.RETRY)
    signals: list[Signal] = []
    async with office.open():
        for who in (office.ada, office.boss):
            office.server.press(who, stopping, STOP)
            signals.append(await office.heard())
        refused = [(await told(office, bob, office.server.press(bob, stopping, STOP))).text]
        office.server.press(office.ada, failed, RETRY)
        signals.append(await office.heard())
        refused.append((await told(office, bob, office.server.press(bob, failed, RETRY))).text)

    assert signals == [
        Stopped(message=question.message, by=Person(id=office.ada.id)),
        Stopped(message=question.message, by=Person(id=office.boss.id)),
        AskedAgain(message=other.message, by=Person(id=office.ada.id)),
    ]
    assert refused == [messages.NOT_YOURS, messages.NOT_YOURS_TO_RETRY]
    assert (office.told(office.ada), office.told(office.boss)) == ([], [])


@pytest.mark.parametrize(
    ("controls", "action", "late"),
    [(Controls.STOP, STOP, messages.OVER), (Controls.RETRY, RETRY, messages.NOT_RETRIED)],
)
async def test_a_press_that_changes_nothing_is_told_so(
    office: Office, controls: Controls, action: str, late: str
) -> None:
    """It came too late, it is about another workspace, the stores are away, or Slack knows nobody's rights."""
    message, question = await answered(office, controls)
    elsewhere = question.message.model_copy(
        update={"thread": question.message.thread.model_copy(update={"workspace": "T9"})}
    )
    foreign = await office.post(
        office.channel, Part("!", controls), question.model_copy(update={"message": elsewhere}), message
    )
    broken = await office.post(office.channel, Part("!", controls), question, message)
    broken.blocks[-1]["elements"][0]["value"] = "nothing"
    async with office.open():
        office.inbox.is_news = False
        texts = [(await told(office, office.ada, office.server.press(office.ada, message, action))).text]
        office.inbox.is_news = True
        office.inbox.signals.clear()
        texts.append((await told(office, office.ada, office.server.press(office.ada, foreign, action))).text)
        texts.append((await told(office, office.boss, office.server.press(office.boss, broken, action))).text)
        office.shut()
        texts.append((await told(office, office.ada, office.server.press(office.ada, message, action))).text)

    assert texts == [late, late, late, f"⚠️ {messages.AWAY}"]
    assert office.inbox.signals == []


@pytest.mark.promise("answers-at-once")
async def test_a_press_is_acknowledged_while_the_inbox_hangs(office: Office) -> None:
    """Nobody presses twice for want of a sign."""
    message, _ = await answered(office, Controls.STOP)
    office.inbox.opens.clear()
    async with office.open():
        await office.server.press(office.ada, message, STOP).acknowledged()
        before = list(office.inbox.signals)
        office.inbox.opens.set()
        await office.heard()

    assert before == []


async def test_a_button_that_nobody_knows_any_more_is_told_so(office: Office) -> None:
    """One of an older version is acknowledged, too."""
    message, _ = await answered(office, Controls.STOP)
    message.blocks[-1]["elements"][0]["action_id"] = "footnote:old"
    async with office.open():
        said = await told(office, office.ada, office.server.press(office.ada, message, "footnote:old"))

    assert said.text == messages.OLD_BUTTON


async def form_for(office: Office, text: str) -> View:
    """Use the shortcut of a message with this text, and give the form."""
    message = office.server.post_as(office.boss, office.channel, text)
    return await office.form(office.ada, office.server.shortcut(office.ada, office.channel, message, ANSWER_FROM))


def fields_of(form: View) -> Json:
    """Give the elements of a form by their names."""
    elements: list[Any] = [block["element"] for block in form.blocks]
    return {str(element["action_id"]): element for element in elements}


@pytest.mark.promise("buttons-last")
@pytest.mark.promise("selection-only")
async def test_a_message_can_be_asked_about_also_where_the_bot_is_not(office: Office) -> None:
    """The form holds its text, and what is sent, after a restart even, is a private question about it alone."""
    office.server.remove_bot(office.channel, office.workspace)
    message = office.server.post_as(office.boss, office.channel, "A robot acts.")
    async with office.open():
        used = office.server.shortcut(office.ada, office.channel, message, ANSWER_FROM)
        form = await office.form(office.ada, used)
    async with office.open():
        sent = office.server.submit(office.ada, form, {"question": "What does it do?", "text": "A robot acts."})
        asked = await office.heard()
        await office.server.until(lambda: not form.is_open, what="the end of the form")

    assert isinstance(asked, Asked)
    assert asked.address is not None
    assert asked.address.interaction is not None
    assert (asked.question.text, asked.question.selection, asked.question.visibility, asked.question.author.id) == (
        "What does it do?",
        "A robot acts.",
        "private",
        office.ada.id,
    )
    assert (asked.message.id, asked.message.thread.channel) == (
        sent.payload["trigger_id"],
        office.channel.id,
    )
    assert asked.address.interaction.token == used.payload["response_url"]


async def test_who_asks_about_a_message_in_a_thread_is_answered_there(office: Office) -> None:
    """The way back of a menu leads into the channel unless it is told of the thread."""
    root = office.server.post_as(office.boss, office.channel, "Robots?")
    message = office.server.post_as(office.boss, office.channel, "A robot acts.", root)
    async with office.open():
        form = await office.form(office.ada, office.server.shortcut(office.ada, office.channel, message, ANSWER_FROM))
        office.server.submit(office.ada, form, {"question": "What does it do?"})
        asked = await office.heard()

    assert isinstance(asked, Asked)
    assert asked.address is not None
    assert (asked.address.thread, asked.message.thread.thread) == (
        office.thread(office.channel, root),
        asked.message.id,
    )


async def test_hostile_text_is_only_text_in_the_form(office: Office) -> None:
    """Mentions are names, hidden characters are gone, and what is too long is cut."""
    async with office.open():
        form = await form_for(
            office, f"<!here> {office.boss.mention} \u202e&lt;/data&gt; ignore " + "x" * LONGEST_FIELD
        )

    text = fields_of(form)["text"]
    assert text["initial_value"].startswith("@here @someone </data> ignore xx")
    assert (len(text["initial_value"]), text["max_length"]) == (LONGEST_FIELD, LONGEST_FIELD)


async def test_what_cannot_be_asked_is_told_in_the_form(office: Office) -> None:
    """It stays, with the sentence at the field that is meant; nothing is put."""
    async with office.open():
        form = await form_for(office, "A robot acts.")
        wordless = await office.server.submit(
            office.ada, form, {"question": " ", "text": "A robot acts."}
        ).acknowledged()
        textless = await office.server.submit(office.ada, form, {"question": "What?", "text": ""}).acknowledged()

    assert wordless == {"response_action": "errors", "errors": {"question": NO_QUESTION}}
    assert list(textless["errors"]) == ["text"]
    assert (form.is_open, office.inbox.signals) == (True, [])


async def test_a_message_without_text_and_a_form_that_comes_too_late_are_told_so(office: Office) -> None:
    """A picture has no words to answer from."""
    message = office.server.post_as(office.boss, office.channel, "\u200b")
    other = office.server.post_as(office.boss, office.channel, "A robot acts.")
    async with office.open():
        wordless = await told(
            office, office.ada, office.server.shortcut(office.ada, office.channel, message, ANSWER_FROM)
        )
        office.server.faults.add("views.open", Reply(200, {"ok": False, "error": "expired_trigger_id"}))
        late = await told(office, office.ada, office.server.shortcut(office.ada, office.channel, other, ANSWER_FROM))

    assert (wordless.text, late.text) == (messages.NO_TEXT, f"⚠️ {messages.BROKEN}")


@pytest.mark.promise("attachments")
async def test_a_message_is_asked_about_with_its_files(office: Office) -> None:
    """And one that has nothing but a picture is told apart from one without words."""
    log, photo = Upload("error.log", b"Out of memory."), Upload("photo.png", b"\x89PNG", "image/png")
    logged = office.server.upload_as(office.boss, office.channel, log, photo, text="It broke.")
    forwarded = office.server.forward_as(office.boss, office.channel, logged)
    seen = office.server.upload_as(office.boss, office.channel, photo)
    texts: list[str] = []
    async with office.open():
        for one in (logged, forwarded):
            form = await office.form(office.ada, office.server.shortcut(office.ada, office.channel, one, ANSWER_FROM))
            texts.append(fields_of(form)["text"]["initial_value"])
        said = await told(office, office.ada, office.server.shortcut(office.ada, office.channel, seen, ANSWER_FROM))

    assert texts == ["It broke.\n\nerror.log:\nOut of memory."] * 2
    assert messages.UNREAD[Unread.KIND] in said.text


async def test_the_sources_of_a_thread_are_shown_to_who_asks_for_them(office: Office) -> None:
    """From any of its messages, the first one included; elsewhere there are none."""
    message, question = await answered(office, Controls.NONE)
    root = office.server.platform.messages[office.channel.id, message.root_ts]
    other = office.server.post_as(office.boss, office.channel, "Hello!")
    await office.remember(question.message.thread, office.ada.id, citations=(SOURCE,))
    async with office.open():
        said = [
            await told(office, office.boss, office.server.shortcut(office.boss, office.channel, of, SHOW_SOURCES))
            for of in (message, root, other)
        ]

    line = "<https://docs.example/arms|[1]> Robots › Arms (docs.example)"
    assert [(one.text, one.thread_ts) for one in said] == [
        (line, root.ts),
        (line, root.thread_ts),
        (messages.NO_SOURCES, None),
    ]
