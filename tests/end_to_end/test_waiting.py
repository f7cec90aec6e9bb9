"""What somebody sees while nothing comes, on every platform."""

from __future__ import annotations

import asyncio

import pytest

from core.answering.agent import Limits
from core.messages import AWAITED, UNAVAILABLE
from core.model import Awaited
from tests.end_to_end.community import ANSWER, Town, half_written

MODEL = "I'm still waiting for the language model"


@pytest.mark.promise("never-silent")
async def test_who_asks_is_told_that_the_model_is_waited_for(town: Town) -> None:
    """Until the answer is there, of which nothing says so any more."""
    town.limits = Limits(silence=0.05)
    town.chat.pauses_before = b"data"
    town.chat.goes_on.clear()
    town.chat.say(f"{ANSWER} [1].")
    async with town.bot():
        asked = town.community.ask()
        await town.community.until(lambda: any(MODEL in said for said in town.community.said(asked)), what="the words")
        town.chat.goes_on.set()
        await town.sees(asked, ANSWER)

        assert [MODEL in said for said in town.community.said(asked)] == [False]
        assert not town.community.warned(asked)


@pytest.mark.promise("never-silent")
async def test_whose_turn_has_not_come_is_told_so_until_it_has(town: Town) -> None:
    """Each question that waits behind others of the same person; once it is answered, nothing says so any more."""
    town.limits = Limits(silence=0.05)

    def is_told(asked: str) -> bool:
        """Say whether it stands in the thread of a question or beside it, as the platform has it."""
        return AWAITED[Awaited.TURN] in (*town.community.said(asked), *town.community.told(asked))

    async with town.bot(FOOTNOTE_ANSWERS_PER_PERSON="1"):
        async with half_written(town):
            second = town.community.ask("And a droid?")
            await town.community.until(lambda: is_told(second), what="the words")
            town.chat.call("search_documents", {"query": "droid"})
            town.chat.say(f"{ANSWER} [1].")
        await town.sees(second, ANSWER)
        await town.remembers(second)

        assert not is_told(second)


@pytest.mark.promise("never-silent")
@pytest.mark.promise("retry")
async def test_whose_edit_or_second_try_has_to_wait_is_told_so(town: Town) -> None:
    """Below the answer that it replaces, until it does; and alone."""
    town.limits, town.shelf.fails = Limits(silence=0.05), True

    def told() -> int:
        return sum(AWAITED[Awaited.TURN] in one for one in town.community.everything())

    async with town.bot(FOOTNOTE_ANSWERS_PER_PERSON="1"):
        asked = [town.community.ask(text) for text in ("What is a robot?", "And a droid?")]
        for each in asked:
            await town.sees(each, UNAVAILABLE)
            await town.remembers(each)
        town.shelf.fails = False
        async with half_written(town):
            town.community.edit(asked[0], "What is a drone?")
            await town.community.press(asked[1])
            await town.community.until(lambda: told() == 2, what="the words")
            for _ in asked:
                town.chat.call("search_documents", {"query": "droid"})
                town.chat.say(f"{ANSWER} [1].")
        for each in asked:
            await town.sees(each, ANSWER)
        await town.community.until(lambda: told() == 1, what="the end of those that all have seen")


@pytest.mark.promise("never-silent")
@pytest.mark.parametrize("private", [False, True])
async def test_whoever_waits_for_the_answer_to_a_command_is_told_so_until_it_is_there(
    town: Town, *, private: bool
) -> None:
    """Where it will be; nothing of that is left then."""
    town.limits = Limits(silence=0.05)

    def shown(words: str) -> int:
        return sum(words in one for one in town.community.everything())

    async with town.bot(FOOTNOTE_ANSWERS_PER_PERSON="1"):
        async with half_written(town):
            using = asyncio.create_task(town.community.command("ask", question="And a droid?", private=private))
            await town.community.until(lambda: shown(AWAITED[Awaited.TURN]), what="the words")
            town.chat.call("search_documents", {"query": "droid"})
            town.chat.say(f"{ANSWER} [1].")
        await town.community.until(lambda: shown(ANSWER) == 2, what="both answers")
        using.cancel()

        await town.community.until(lambda: not shown(AWAITED[Awaited.TURN]), what="its end")
        assert shown(ANSWER) == 2
