"""A model that searches again and again, over services that do not answer: the real clients, and servers that hang."""

from __future__ import annotations

import asyncio
from importlib import import_module
from pathlib import Path
from time import monotonic

import pytest

from core.messages import LEXICAL_ONLY
from core.model import Answer, Claim, Status, Waiting
from tests.builders import question
from tests.end_to_end.test_degradation import ASKED, QUOTE, Desk, open_desk
from tests.fakes.surface import RecordingSurface
from tests.servers.service import Hang

LEFT = 2.0  # seconds for searching, of which there are ten otherwise
AROUND = 1.5  # seconds at most for all that is no searching, on a busy machine
SEARCHES = ("penguins", "stones", "nests")


async def asked(desk: Desk) -> tuple[Answer, float]:
    """Ask while a model searches three times more; return the answer, and after how many seconds it was there."""
    for words in SEARCHES:
        desk.world.chat.call("search_documents", {"query": words})
    desk.world.chat.say(f"{QUOTE} [1].")
    await asyncio.to_thread(import_module, "openai")  # which takes seconds the first time
    begun = monotonic()
    claim = Claim(question(ASKED), waiting=Waiting(left=LEFT))
    return await desk.app.responder.respond(claim, RecordingSurface()), monotonic() - begun


@pytest.mark.promise("search-ends")
async def test_an_index_that_hangs_after_the_first_search_is_waited_for_once(tmp_path: Path) -> None:
    """Whatever its client tries in that time; the answer is from what was found before."""
    async with open_desk(tmp_path) as desk:
        desk.world.chat.rules.append(lambda _: setattr(desk.world.qdrant, "broken", Hang()))
        answer, took = await asked(desk)

    assert (answer.status, QUOTE in answer.text) == (Status.ANSWERED, True)
    assert [each.success for each in answer.tool_calls] == [True, False, False, False]
    assert LEFT <= took <= LEFT + AROUND


@pytest.mark.promise("search-ends")
async def test_an_embedder_that_hangs_leaves_time_for_words(tmp_path: Path) -> None:
    """Each search waits for it for half of what is left, until that is too little for anything."""
    async with open_desk(tmp_path) as desk:
        desk.world.cohere.broken = Hang()
        answer, took = await asked(desk)

    assert (answer.status, LEXICAL_ONLY in answer.text) == (Status.ANSWERED, True)
    assert [each.success for each in answer.tool_calls[:2]] == [True, True]
    assert took <= LEFT + AROUND
