"""How the bot keeps quiet among people, on every platform."""

from __future__ import annotations

import pytest

from adapters.chat.platform import Controls
from core import messages
from core.answering.attention import INSTRUCTIONS
from core.messages import NO_CONTEXT, UNAVAILABLE
from tests.end_to_end.community import ANSWER, Town
from tests.servers.openai import KEY


@pytest.mark.promise("quiet-among-people")
async def test_people_who_talk_below_an_answer_are_left_alone(town: Town) -> None:
    """Reactions, thanks and what they ask each other; a whole question is answered, whoever asks it."""
    said = ["👍", ":tada:", "thanks :pray:", "oh really? since when?", "did you finish lab 3?", "Ada, what is a robot?"]
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        for text in said:
            town.community.follow_up(asked, text, by="Bob")
        town.community.follow_up(asked, "and which one did you take?")
        town.community.follow_up(asked, "How does a robot move its arm?", by="Bob")
        await town.sees(asked, ANSWER, times=2)

    assert len(town.community.said(asked)) == 2
    assert not any(text in f"{request.body}" for request in town.chat.received for text in said)


@pytest.mark.promise("quiet-among-people")
async def test_people_are_left_alone_where_nobody_knows_any_more_who_asked(town: Town) -> None:
    """A day later, or once the conversation was forgotten, whoever speaks first need not be who was answered."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        await town.community.command("forget", at=asked, what="this thread")
        await town.forgets(asked)
        town.community.follow_up(asked, "ok so tomorrow we take the other arm", by="Bob")
        town.community.address(asked, "How does a robot move its arm?")
        await town.sees(asked, ANSWER, times=2)

    assert len(town.chat.received) == 2


@pytest.mark.promise("quiet-among-people")
async def test_a_chat_model_judges_what_may_be_a_question_among_people(town: Town) -> None:
    """By one word, of which nobody hears; what reads as none is not shown to it."""
    async with town.bot(OPENAI_API_KEY=KEY):
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        town.community.follow_up(asked, "I took the other one.", by="Bob")
        town.chat.say("no")
        left = town.community.follow_up(asked, "Which robot did you take?", by="Bob")
        await town.remembers(left)
        town.chat.say("yes")
        town.community.follow_up(asked, "and this robot then, does it act on its own?", by="Bob")
        await town.sees(asked, ANSWER, times=2)

    judged = [one for one in town.chat.received if one.body["messages"][0]["content"] == INSTRUCTIONS]
    assert len(judged) == 2
    assert len(town.community.said(asked)) == 2
    assert (town.community.warned(left), town.community.signs()) == (False, [])


@pytest.mark.promise("bounded-asking")
async def test_as_many_messages_among_people_are_judged_as_each_may_ask(town: Town) -> None:
    """Then the bot stays out, of which nobody hears; whoever speaks to it is answered."""
    async with town.bot(OPENAI_API_KEY=KEY, FOOTNOTE_BUDGETS="person 1 questions day"):
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        town.chat.say("no")
        for text in ("Which robot did you take?", "Which robot did you use?"):
            await town.remembers(town.community.follow_up(asked, text, by="Bob"))
        town.community.address(asked, "What is a robot?", by="Bob")
        await town.sees(asked, ANSWER, times=2)

    judged = [one for one in town.chat.received if one.body["messages"][0]["content"] == INSTRUCTIONS]
    assert (len(judged), len(town.community.said(asked))) == (1, 2)
    assert town.community.signs() == []


@pytest.mark.promise("quiet-among-people")
async def test_whoever_is_alone_with_the_bot_need_not_ask(town: Town) -> None:
    """What they tell is for it; their thanks need no answer."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        town.community.follow_up(asked, "thanks!")
        town.community.follow_up(asked, "Mine does not move.")
        await town.sees(asked, ANSWER, times=2)

    assert len(town.community.said(asked)) == 2


@pytest.mark.promise("silence-unasked")
async def test_what_is_asked_among_people_and_cannot_be_answered_is_left_to_them(town: Town) -> None:
    """No message and no mark, and nothing to try again; with a mention, it is told."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        town.shelf.fails = True
        town.community.follow_up(asked, "I took the other one.", by="Bob")
        overheard = town.community.follow_up(asked, "How do I reset the router?", by="Bob")
        await town.remembers(overheard)
        told = town.community.ask()
        await town.sees(told, UNAVAILABLE)

    assert len(town.community.said(asked)) == 1
    assert (town.community.warned(overheard), town.community.warned(told)) == (False, True)


@pytest.mark.promise("silence-unasked")
async def test_questions_in_a_channel_are_answered_unasked_where_moderators_want_it(town: Town) -> None:
    """Only what reads as a question, and in a thread on it, in which whoever asked goes on without a mention."""
    async with town.bot():
        on = await town.community.answer_unasked()
        told = [town.community.say(text) for text in ("Lost my water bottle", "Bob, what is a robot?", "thanks!")]
        asked = town.community.say("What is a robot?", by="Bob")
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        town.community.follow_up(asked, "Mine does not move.", by="Bob")
        await town.sees(asked, ANSWER, times=2)
        off = await town.community.answer_unasked(on=False)
        after = town.community.say("What is a robot?")
        last = town.community.ask()
        await town.sees(last, ANSWER)

    assert [on, off] == [messages.auto_answering(on=each, is_new=True, is_heard=True) for each in (True, False)]
    assert [town.community.has_thread(each) for each in (*told, after)] == [False] * 4


@pytest.mark.promise("silence-unasked")
@pytest.mark.parametrize("was", ["off", "paused"])
async def test_what_was_said_before_moderators_wanted_answers_is_left_to_people(town: Town, was: str) -> None:
    """Also when it is read again after a restart, while what nobody has heard is answered."""
    async with town.bot():
        if was == "paused":
            await town.community.answer_unasked()
            await town.community.command("pause", moderates=True)
        before = town.community.say("What is an arm?", by="Bob")
        await town.remembers(town.community.ask())  # what comes after it in the channel
        await (town.community.command("resume", moderates=True) if was == "paused" else town.community.answer_unasked())
    missed = town.community.say("What is a robot?")
    async with town.bot():
        await town.sees(missed, ANSWER)

    assert not town.community.has_thread(before)


@pytest.mark.promise("silence-unasked")
async def test_a_question_in_a_channel_that_cannot_be_answered_is_left_alone(town: Town) -> None:
    """No thread, no message, no mark; and what people say below it is their own, unless they mention the bot."""
    async with town.bot():
        await town.community.answer_unasked()
        town.shelf.fails = True
        asked = town.community.say("How do I reset the router?")
        await town.remembers(asked)
        town.shelf.fails = False
        public = town.community.public()
        told = town.community.ask()
        await town.sees(told, ANSWER)

    assert (town.community.has_thread(asked), town.community.warned(asked)) == (False, False)
    assert public == []
    assert town.community.signs() == []


@pytest.mark.promise("muted-threads")
@pytest.mark.parametrize("word", ["mute", "quiet"])
async def test_anybody_in_a_thread_can_mute_the_bot_there(town: Town, word: str) -> None:
    """By a word to the bot; a mention is answered all the same, and other threads go on."""
    async with town.bot():
        asked, other = town.community.ask(), town.community.ask("What is an arm?")
        for each in (asked, other):
            await town.sees(each, ANSWER)
            await town.remembers(each)
        town.community.address(asked, word, by="Bob")
        await town.mutes(asked, on=True)
        town.community.follow_up(asked, "And an arm?")
        town.community.follow_up(other, "How does it move?")
        await town.sees(other, ANSWER, times=2)
        town.community.address(asked, "And a leg?")
        await town.sees(asked, ANSWER, times=2)
        town.community.address(asked, "unmute")
        await town.mutes(asked, on=False)
        town.community.follow_up(asked, "How does a robot move its arm?")
        await town.sees(asked, ANSWER, times=3)

    assert len([said for said in town.community.said(asked) if ANSWER in said]) == 3
    assert not any("And an arm?" in f"{request.body}" for request in town.chat.received)


@pytest.mark.promise("forget")
async def test_that_a_thread_is_muted_is_forgotten_with_it(town: Town) -> None:
    """As whoever has asked there wants it."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        town.community.address(asked, "mute")
        await town.mutes(asked, on=True)
        await town.community.command("forget", at=asked, what="this thread")
        await town.mutes(asked, on=False)


@pytest.mark.promise("votes-on-answers")
async def test_votes_stand_under_answers_only(town: Town) -> None:
    """Not where nothing was found, although the nearest sections are listed there; and what failed is tried again."""
    town.shelf.fails_on = {"What is an arm?"}
    asks = {"What is a robot?": ANSWER, "What is the best pizza?": NO_CONTEXT, "What is an arm?": UNAVAILABLE}
    async with town.bot():
        asked = {text: town.community.ask(text) for text in asks}
        for text, words in asks.items():
            await town.sees(asked[text], words)

    offered = [town.community.controls(each) for each in asked.values()]
    assert offered == [Controls.VOTE, Controls.NONE, Controls.RETRY]
