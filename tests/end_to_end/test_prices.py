"""What an answer costs by the prices that are set, with all services as the product puts them together."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.model import Cost, Status
from tests.builders import question
from tests.end_to_end.test_degradation import open_desk
from tests.servers.openai import MODEL
from tests.servers.service import Reply

SECOND = "second-model"
PRICES = {
    "price_prompt": 1.0,
    "price_completion": 1.0,
    "openai_fallback_model": SECOND,
    "fallback_price_prompt": 1_000_000.0,
    "fallback_price_completion": 1_000_000.0,
    "price_searches": 500.0,
}


@pytest.mark.promise("bounded-asking")
async def test_an_answer_costs_what_the_model_costs_that_wrote_it_and_its_search(tmp_path: Path) -> None:
    """A token of the second model costs 1, and a search half of that; where there was no embedder, nothing."""
    async with open_desk(tmp_path, **PRICES) as desk:
        desk.world.chat.models = (MODEL, SECOND)
        desk.world.chat.rules.append(lambda body: Reply(404, GONE) if body["model"] == MODEL else None)
        answer, _ = await desk.ask()
        await desk.world.down("cohere")
        by_words, _ = await desk.ask()
        most = desk.app.agent.most(question())

    assert most.money > most.tokens > 0
    for each, searched in ((answer, 0.5), (by_words, 0.0)):
        tokens = each.usage.prompt_tokens + each.usage.completion_tokens
        assert (each.status, each.model, each.cost) == (Status.ANSWERED, SECOND, tokens + searched)
        assert tokens > 100


@pytest.mark.promise("spending-is-known")
@pytest.mark.parametrize("prices", [{}, {"price_prompt": 1.0, "price_completion": 1.0}])
async def test_a_search_that_is_billed_is_counted_without_a_price(tmp_path: Path, prices: dict[str, float]) -> None:
    """Where words alone are searched, nobody bills it."""
    async with open_desk(tmp_path, **prices) as desk:
        spent = list[Cost]()
        for _ in range(2):
            [_ async for _ in desk.app.agent.run(question(), spent=spent.append)]
            await desk.world.down("cohere")

    assert [each.searches for each in spent if each.searches] == [1]


GONE = {"error": {"message": "x", "code": "model_not_found"}}
