"""What is set aside for a question is the most that it can cost, whatever a model does."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from random import Random
from typing import Any

import pytest

from core.answering.agent import Agent
from core.errors import ModelUnavailable
from core.model import (
    NOTHING_SPENT,
    Attachment,
    Cost,
    Message,
    ModelTurn,
    Prices,
    Prompt,
    Question,
    Restarted,
    TextDelta,
    ToolCall,
    ToolSpec,
    Usage,
)
from tests.builders import conversation, hit, question, turn_of
from tests.fakes.chat import Script, ScriptedTurn, call, search, turn
from tests.fakes.clock import Clock
from tests.fakes.shelf import Shelf
from tests.portion import examples

SCRIPTS = ("abcdefg hij klmn opq.", "ロボットは行動する。文書を探す。", "Робот действует сам. ")
MOST_WRITTEN = 1_000  # tokens in a turn
BYTES_PER_TOKEN = 4


class WastefulModel:
    """Writes as much as it may, calls whatever it can, and breaks off; it counts what it does, or does not say."""

    reads_history = True
    only_quotes = False
    most_tokens = MOST_WRITTEN
    context_tokens = None

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._breaks, self._fails, self._calls, self._searches, self._says = (
            chance.choice((0.0, 0.3, 1.0)) for _ in range(5)
        )

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[ToolSpec], may_call: bool = True
    ) -> AsyncGenerator[TextDelta | Restarted | ModelTurn, None]:
        """Take a turn, which may be broken off and made again, as it is by an adapter."""
        chance = self._chance
        for _ in range(2):
            if is_so(chance, self._breaks):
                yield TextDelta(words(chance, MOST_WRITTEN))
                if is_so(chance, self._fails / 10):
                    raise ModelUnavailable("down")
                yield Restarted()
        text, calls = words(chance, MOST_WRITTEN - 2) + chance.choice(("", " [1]")), tuple[ToolCall, ...]()
        if tools and may_call and is_so(chance, self._calls):
            text, calls = "", tuple(self._called(chance.choice((1, 8, 12))))
        if text:
            yield TextDelta(text)
        size = sum(len(each.arguments.encode()) for each in calls) + len(text.encode())
        said = json.dumps(prompt.messages, ensure_ascii=False).encode()
        counted = Usage(prompt_tokens=len(said) // BYTES_PER_TOKEN, completion_tokens=min(size, MOST_WRITTEN))
        yield ModelTurn(text, calls, counted if is_so(chance, self._says) else Usage())

    def _called(self, count: int) -> list[ToolCall]:
        query = json.dumps({"query": words(self._chance, MOST_WRITTEN // count // 2)}, ensure_ascii=False)
        names = ["search_documents" if is_so(self._chance, self._searches) else "rm" for _ in range(count)]
        return [ToolCall(id=str(number), name=name, arguments=query) for number, name in enumerate(names)]


def is_so(chance: Random, share: float) -> bool:
    """Say whether something happens that does in so many of all cases."""
    return chance.random() < share


def words(chance: Random, tokens: int) -> str:
    """Give a text of at most so many tokens."""
    script = chance.choice(SCRIPTS)
    return (script * tokens)[: max(tokens * BYTES_PER_TOKEN // len(script[:1].encode()), 1)]


def asked_by(chance: Random) -> Question:
    """Give a question, with whatever may come along."""
    files = [Attachment(name="log.txt", text=words(chance, 3_000))] if chance.random() < 0.3 else []
    context = [Message(role="user", text=words(chance, 300))] if chance.random() < 0.3 else []
    selection = words(chance, 2_000) if chance.random() < 0.2 else None
    top_k = chance.choice((1, 5, 20))
    fields: dict[str, Any] = {"attachments": files, "context": context, "selection": selection, "top_k": top_k}
    return question(words(chance, 200), **fields)


@pytest.mark.promise("bounded-asking")
@pytest.mark.parametrize("seed", range(examples(400)))
async def test_no_answer_costs_more_than_what_is_set_aside_for_it(seed: int) -> None:
    """In tokens and in money: with every round of searches, repairs, retries, and scripts of three bytes a letter."""
    chance = Random(seed)
    text = words(chance, 3_000)
    shelf = Shelf(*(hit(text=text, page_title=words(chance, 30), section_title=words(chance, 30)) for _ in range(20)))
    prices = Prices(prompt=2.0, cached=1.0, completion=8.0, searches=2.0)
    agent = Agent(WastefulModel(chance), shelf, clock=Clock(), prices=prices, bills_searches=True)
    asked, before = asked_by(chance), conversation(*(turn_of(words(chance, 300), words(chance, 500)) for _ in range(9)))
    most, spent = agent.most(asked, before), list[Cost]()

    async for _ in agent.run(asked, before, spent=spent.append):
        pass

    total = sum(spent, NOTHING_SPENT)
    assert (total.tokens <= most.tokens, total.money <= most.money) == (True, True)


LONG = "ロボット" * 333  # as much as a turn may write, in three bytes a letter
QUERY = LONG[:70]
EIGHT = turn(*(search(QUERY, id=str(number)) for number in range(8)))
MISTAKEN = turn(call(json.dumps({"query": LONG[:1_300]}, ensure_ascii=False), name="rm"))
BREAKS = turn(LONG, Restarted(), LONG, Restarted(), f"{LONG} [1]")


@pytest.mark.promise("bounded-asking")
@pytest.mark.parametrize(
    ("turns", "top_k", "share"),
    [((EIGHT,) * 3, 5, 0.8), ((MISTAKEN,) * 3, 1, 0.3)],
    ids=["searches", "calls what there is not"],
)
async def test_what_is_set_aside_is_no_more_than_the_dearest_answer_costs(
    script: Script, turns: tuple[ScriptedTurn, ...], top_k: int, share: float
) -> None:
    """Where it uses up all rounds, has to be repaired, and breaks off in the last turn."""
    model = script(*turns, turn(LONG), BREAKS)
    model.most_tokens = MOST_WRITTEN
    shelf = Shelf(*(hit(text="文書" * 400, page_title="文書" * 15, section_title="探" * 30) for _ in range(5)))
    agent, spent = Agent(model, shelf, clock=Clock()), list[Cost]()

    asked = question(LONG, top_k=top_k)

    async for _ in agent.run(asked, spent=spent.append):
        pass

    total, most = sum(spent, NOTHING_SPENT), agent.most(asked)
    assert most.tokens * share < total.tokens <= most.tokens
