"""A model that fails while its worker stands still for so long that another one has the question."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest

from adapters.chat.lease import LOST, sleep_held, while_held
from adapters.openai import OpenAIChat
from core.errors import LeaseLost
from core.model import Claim
from tests.adapters.openai.asking import QUICK, Item, ask_into
from tests.builders import question
from tests.platforms import Notes
from tests.servers.openai import KEY, MODEL, ChatServer, Cut


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("is_lost", [False, True])
async def test_a_model_is_asked_again_only_for_a_question_that_is_still_held(*, is_lost: bool) -> None:
    """The other worker asks it."""
    notes, items = Notes(told=lambda: None, is_lost=is_lost), list[Item]()
    async with ChatServer() as server:
        server.say("Robots ", then=Cut())
        server.say("Robots act.")
        retries = replace(QUICK, sleep=sleep_held)
        model = OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url, retries=retries)
        fails = pytest.raises(LeaseLost, match=LOST) if is_lost else nullcontext()
        with while_held(Claim(question()), notes), fails:
            await ask_into(items, model)
        await model.aclose()

    assert len(server.received) == 2 - is_lost
