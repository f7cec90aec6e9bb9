"""The whole way on every platform: from what somebody writes to what everybody reads, by real clients on sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from adapters.chat.platform import Controls
from core import messages
from core.events import ConnectionLost, TaskFailed
from core.messages import CLOSED, FAILED, NO_CONTEXT, PAUSED, STOPPED, UNAVAILABLE
from core.model import PolicyFault
from tests.end_to_end.community import ANSWER, PATIENCE, Town, half_written
from tests.end_to_end.conftest import PLATFORMS, town_on
from tests.fakes.chat import asked_of
from tests.fixtures.redis import all_keys, say
from tests.servers.openai import Stall
from tests.servers.service import Reply


@pytest.fixture(name="town", params=PLATFORMS)
async def _town(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path) -> AsyncGenerator[Town]:
    """Build a town wherever there can be one, also where events only arrive in another way."""
    async with town_on(request.param, redis_url, tmp_path) as town:
        yield town


@pytest.mark.promise("journey")
async def test_a_mention_is_answered_in_a_thread_and_followed_up(town: Town) -> None:
    """With a footnote that leads to the page; the next question there needs no mention and knows what was said."""
    async with town.bot():
        asked = town.community.ask()
        answer = await town.sees(asked, ANSWER)
        town.community.follow_up(asked, "And an arm?")
        await town.sees(asked, ANSWER, times=2)

    assert "https://docs.example/robots#what" in answer
    followed_up = [asked_of(message) for message in town.chat.received[-1].body["messages"]]
    assert "What is a robot?" in followed_up
    assert followed_up.count("And an arm?") == 1


@pytest.mark.promise("bans-are-waited-out")
async def test_a_question_waits_while_the_token_is_being_reset(town: Town) -> None:
    """It is answered once the token is good, by its first attempt, and who runs the bot hears once of either."""
    async with town.bot():
        await town.sees(town.community.ask(), ANSWER)
        town.community.refuse(the_token=True)
        asked = town.community.ask()
        await town.community.until(town.community.refused, what="a refusal")
        town.community.refuse(the_token=False)
        await town.sees(asked, ANSWER)

    told = [type(each) for each in town.events if isinstance(each, ConnectionLost | TaskFailed)]
    assert told == [ConnectionLost]
    assert len([said for said in town.community.said(asked) if ANSWER in said]) == 1


@pytest.mark.promise("only-when-asked")
async def test_people_who_talk_to_each_other_are_left_alone(town: Town) -> None:
    """Also in a thread of the bot; the next question there shows that nothing else was under way."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        town.community.chat(asked, "I think so too, what about lunch?")
        town.community.follow_up(asked, "How does a robot move its arm?")
        await town.sees(asked, ANSWER, times=2)

    assert len(town.community.said(asked)) == 2


@pytest.mark.promise("only-when-asked")
async def test_who_remarks_on_an_answer_that_is_being_written_is_left_alone(town: Town) -> None:
    """Nothing is remembered of the thread yet; whoever waits for the answer is the one who asks there."""
    town.chat.say(f"{ANSWER} [1]. And then ", then=Stall())
    async with town.bot():
        asked = town.community.ask()
        await town.community.until(lambda: any(ANSWER in said for said in town.community.said(asked)), what="a draft")
        town.community.follow_up(asked, "I thought so.", by="Bob")
        town.community.follow_up(asked, "How does a robot move its arm?")
        await town.community.press(asked)
        await town.sees(asked, ANSWER, times=2)

    assert not any("I thought so." in f"{request.body}" for request in town.chat.received)


@pytest.mark.promise("journey")
async def test_what_is_replied_to_is_context(town: Town) -> None:
    """It is quoted to the model with its author, as somebody's words."""
    said = "Robots have three arms."
    async with town.bot():
        asked = town.community.ask("Is that so?", below=said)
        await town.sees(asked, ANSWER)

    quoted = [str(message["content"]) for message in town.chat.received[0].body["messages"]]
    assert any(town.community.quoted(said) in text and "<data" in text for text in quoted)


@pytest.mark.promise("failed-search-warns")
async def test_a_failed_search_is_a_warning_and_a_sentence_and_can_be_tried_again(town: Town) -> None:
    """The answer then stands in the place of the sentence, after a restart too, and the question bears no warning."""
    town.shelf.fails = True
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, UNAVAILABLE)
        await town.community.until(lambda: town.community.warned(asked), what="a warning")
    assert town.community.controls(asked) is Controls.RETRY
    town.shelf.fails = False
    async with town.bot():
        await town.community.press(asked)
        await town.sees(asked, ANSWER)
        await town.community.until(lambda: not town.community.warned(asked), what="the end of the warning")

    assert town.community.unwarned() == 1
    assert len(town.community.said(asked)) == 1


@pytest.mark.promise("ends-with-answer")
async def test_a_model_that_fails_leaves_an_apology(town: Town) -> None:
    """And nothing of what it had begun to say."""
    town.chat.broken = Reply(503)
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, FAILED)

    assert town.community.warned(asked)


@pytest.mark.promise("journey")
async def test_what_nothing_fits_is_said_without_a_warning(town: Town) -> None:
    """It is an honest end, with the nearest sections."""
    async with town.bot():
        asked = town.community.ask("What is the best pizza?")
        answer = await town.sees(asked, NO_CONTEXT)

    assert "Robots" in answer
    assert not town.community.warned(asked)


@pytest.mark.promise("asked-once")
async def test_an_event_that_comes_twice_is_answered_once(town: Town) -> None:
    """As after a reconnect; the answer to the next question shows that nothing more is under way."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        town.community.repeat(asked)
        await town.sees(town.community.ask("And an arm?"), ANSWER)

    assert len(town.community.said(asked)) == 1


@pytest.mark.promise("edits-count")
async def test_an_edited_question_is_answered_anew_in_the_same_place(town: Town) -> None:
    """And the answer says so, also if the bot was started anew in between."""
    async with town.bot():
        asked = town.community.ask("What is a robt?")
        await town.sees(asked, ANSWER)
    async with town.bot():
        town.community.edit(asked, "What is a robot?")
        answer = await town.sees(asked, "Updated after the question was edited")

    assert ANSWER in answer
    assert len(town.community.said(asked)) == 1
    assert town.community.unwarned() == 0  # there was no warning
    assert [asked_of(message) for message in town.chat.received[-1].body["messages"][1:]] == ["What is a robot?"]


@pytest.mark.promise("deletions-count")
async def test_a_deleted_question_takes_its_answer_along(town: Town) -> None:
    """Unless somebody has said something below it: then it stays, while a later deletion has its effect."""
    async with town.bot():
        asked, kept = town.community.ask(), town.community.ask("What is an arm?")
        await town.sees(asked, ANSWER)
        await town.sees(kept, ANSWER)
        town.community.chat(kept, "That helps my homework.")
        said = town.community.said(kept)
        town.community.delete(kept)
        town.community.delete(asked)
        await town.community.until(lambda: not town.community.said(asked), what="the end of the answer")

    assert town.community.said(kept) == said


@pytest.mark.promise("stops-count")
async def test_a_stop_ends_the_call_of_the_model(town: Town) -> None:
    """What was written stays, and says that it was stopped."""
    town.chat.say(f"{ANSWER} [1]. And then ", then=Stall())
    async with town.bot():
        asked = town.community.ask()
        await town.community.until(lambda: town.community.controls(asked) is Controls.STOP, what="a way to stop")
        await town.community.press(asked)
        answer = await town.sees(asked, STOPPED)
        await town.chat.hung_up.wait()

    assert ANSWER in answer


@pytest.mark.promise("refusals-end")
async def test_a_command_is_answered_where_the_bot_may_not_write(town: Town) -> None:
    """In the command's own way, and in one message, which says why nobody else sees it where that is so."""
    town.community.shut_out()
    async with town.bot():
        told = await town.community.command("ask", question="What is a robot?")

    assert ANSWER in told
    assert (messages.ONLY_YOU in told) == town.community.hides_answers


@pytest.mark.promise("refusals-end")
@pytest.mark.parametrize("closed", ["removed", "shut out", "expelled"])
async def test_a_model_is_stopped_where_nobody_can_be_shown_its_answer(town: Town, closed: str) -> None:
    """It says more, which the platform refuses, and would never come to an end."""
    community = town.community
    town.chat.pauses_before = b"And then"
    town.chat.say(f"{ANSWER} [1].", " And then", " it rests [1]. And then ", then=Stall())
    async with town.bot():
        asked = community.ask()
        await community.until(lambda: community.said(asked) and ANSWER in community.said(asked)[0], what="a draft")
        match closed:
            case "removed":
                community.remove(asked)
            case "shut out":
                community.shut_out()
            case _:
                community.expel()
        town.chat.goes_on.set()
        async with asyncio.timeout(PATIENCE):  # a model that says nothing is given up after a minute anyway
            await town.chat.hung_up.wait()


@pytest.mark.promise("orderly-stop")
async def test_buttons_work_after_a_restart_and_votes_are_counted(town: Town) -> None:
    """Nothing about an answer has to be in memory; only a moderator sees the count."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
    async with town.bot():
        thanks = await town.community.press(asked)
        status = await town.community.command("status", moderates=True)

    assert thanks == messages.THANKS
    assert "1 helpful, 0 not helpful" in status


@pytest.mark.promise("paused")
async def test_moderators_pause_and_resume(town: Town) -> None:
    """Whoever asks meanwhile is told so, and answered later."""
    async with town.bot():
        paused = await town.community.command("pause", moderates=True)
        await town.hears(town.community.ask(), PAUSED)
        resumed = await town.community.command("resume", moderates=True)
        await town.sees(town.community.ask("And now?"), ANSWER)

    assert (paused, resumed) == (messages.paused(is_new=True), messages.resumed(is_new=True))


@pytest.mark.promise("unreadable-is-closed")
async def test_nothing_is_answered_where_nobody_can_read_what_is_set(town: Town, redis_client: Redis) -> None:
    """Until a moderator resumes, who hears what was lost."""
    async with town.bot():
        await town.community.command("pause", moderates=True)
        (name,) = [key for key in await all_keys(redis_client) if key.startswith(b"footnote:policy:")]
        await say(redis_client, "HSET", name, "version", "9")
        await town.hears(town.community.ask(), CLOSED)
        status = await town.community.command("status", moderates=True)
        resumed = await town.community.command("resume", moderates=True)
        await town.sees(town.community.ask("And now?"), ANSWER)

    assert [messages.FAULTS[PolicyFault.NEWER] in status, "Paused by <@" in resumed] == [True, True]


@pytest.mark.promise("journey")
async def test_a_private_answer_is_for_one_person_and_is_not_remembered(town: Town) -> None:
    """It comes with its sources, and is none of the thread's in which it was asked for."""
    async with town.bot():
        asked = town.community.ask("What is the best pizza?")
        await town.sees(asked, NO_CONTEXT)
        answer = await town.community.command("ask", at=asked, question="What is a robot?", private=True)
        sources = await town.community.command("sources", at=asked)

    assert ANSWER in answer
    assert "https://docs.example/robots#what" in answer
    assert sources == messages.NO_SOURCES


@pytest.mark.promise("selection-only")
async def test_a_message_can_be_asked_about_by_itself(town: Town) -> None:
    """The documents are not searched, and the model has no tools."""
    town.chat.say("It is on Tuesday [1].")
    async with town.bot():
        answer = await town.community.ask_from("The meeting is on Tuesday at nine.", "When is the meeting?")

    assert "Tuesday" in answer
    assert town.shelf.asked == []
    assert "tools" not in town.chat.received[0].body


@pytest.mark.promise("forget")
async def test_sources_can_be_shown_and_the_thread_forgotten(town: Town) -> None:
    """By the one who asked."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        sources = await town.community.command("sources", at=asked)
        forgotten = await town.community.command("forget", at=asked, what="this thread")
        after = await town.community.command("sources", at=asked)

    assert "(docs.example)" in sources
    assert forgotten == messages.thread_forgotten(was_there=True)
    assert after == messages.NO_SOURCES


@pytest.mark.promise("forget")
async def test_a_community_that_removes_the_bot_is_forgotten(town: Town) -> None:
    """At once, and not when the conversations expire."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        town.community.expel()
        await town.forgets(asked)


@pytest.mark.promise("forget-person")
async def test_what_somebody_wrote_who_is_forgotten_meanwhile_goes_to_no_model_any_more(town: Town) -> None:
    """An answer about it that is half written begins anew, and comes in its place."""
    town.chat.pauses_before, said = b"And then", "Robots have three arms."
    town.chat.say(f"{ANSWER} [1].", " And then", " it rests [1].")
    async with town.bot():
        asked = town.community.ask("Is that so?", below=said)
        await town.community.until(lambda: any(ANSWER in each for each in town.community.said(asked)), what="a draft")
        before, town.chat.pauses_before = len(town.chat.received), b""
        assert "I no longer remember" in await town.community.forget_bob()
        await town.sees(asked, "(docs.example)")
        town.chat.goes_on.set()

    given = [said in f"{request.body}" for request in town.chat.received]
    assert (any(given[:before]), any(given[before:]), len(given) > before) == (True, False, True)
    assert "And then" not in "".join(town.community.said(asked))


@pytest.mark.promise("forget-workspace")
@pytest.mark.parametrize("town", ["discord"], indirect=True)
async def test_a_server_that_removes_the_bot_while_it_is_away_is_forgotten(town: Town) -> None:
    """When the same bot starts again; Slack does not tell a bot where it is not any more."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
    town.community.expel()
    async with town.bot():
        await town.forgets(asked)


async def test_people_can_read_who_gets_their_questions(town: Town) -> None:
    """The services that are connected are named, and how long things are kept."""
    async with town.bot(OPENAI_BASE_URL=town.chat.base_url, COHERE_API_KEY="k", FOOTNOTE_CONVERSATION_HOURS="48"):
        privacy = await town.community.command("privacy")
        help_ = await town.community.command("help")

    assert "the chat model gpt-4o-mini (127.0.0.1) and Cohere" in privacy
    assert "48 hours" in privacy
    assert help_ == town.community.help


@pytest.mark.promise("orderly-stop")
async def test_a_stop_of_the_bot_finishes_what_is_being_written(town: Town) -> None:
    """And what waits is answered after the next start."""
    async with town.bot(FOOTNOTE_ANSWERS_AT_ONCE="1") as bot:
        first, second = town.community.ask(), town.community.ask("And an arm?")
        await town.sees(first, ANSWER)
        bot.stop()
    async with town.bot():
        await town.sees(second, ANSWER)

    assert [len(town.community.said(asked)) for asked in (first, second)] == [1, 1]


@pytest.mark.promise("forget")
async def test_an_answer_that_a_moderator_deletes_is_forgotten(town: Town) -> None:
    """When it is there, and also while it is written."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        town.community.delete_answer(asked)
        await town.forgets(asked)
        async with half_written(town) as deleted:
            town.community.delete_answer(deleted)
        await town.remembers(deleted)
        town.community.follow_up(deleted, "How does a robot move its arm?")
        await town.sees(deleted, ANSWER)

    followed_up = [asked_of(message) for message in town.chat.received[-1].body["messages"]]
    assert not any("What is a robot?" in said for said in followed_up)
