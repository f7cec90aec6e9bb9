"""Each call of one of two models counts at the prices of the one that was asked, however it ends."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from adapters.openai import FallbackChat
from core.answering.agent import Agent
from core.model import Answer, Cost, Prices, Status
from tests.adapters.openai.asking import model_of
from tests.builders import conversation, hit, question, turn_of
from tests.fakes.clock import Clock
from tests.fakes.shelf import Shelf
from tests.servers.openai import ChatServer, Cut
from tests.servers.openai_refusals import TOO_LONG
from tests.servers.service import Reply

FIRST, SECOND = (Prices(prompt=each, cached=each, completion=each) for each in (1_000_000.0, 10_000_000.0))
"""So that a token of the first costs 1, and one of the second 10."""


class Both:
    """Two services, an agent that asks them, and what it has spent."""

    def __init__(self, first: ChatServer, second: ChatServer) -> None:
        self.first, self.second, self.spent = first, second, list[Cost]()
        self.models = model_of(first), model_of(second)
        model = FallbackChat(*self.models, prices=SECOND)
        self.agent = Agent(model, Shelf(hit()), clock=Clock(), prices=FIRST, dearest=FIRST.dearest(SECOND))

    async def asked(self) -> Answer:
        """Return the answer."""
        before = len(self.spent)
        *_, last = [item async for item in self.agent.run(question(), spent=self.spent.append)]
        assert isinstance(last, Answer)
        assert last.cost == sum(each.money for each in self.spent[before:])
        return last

    @property
    def rates(self) -> list[float]:
        """What a token of each call has cost."""
        assert all(each.tokens > 0 for each in self.spent)
        return [each.money / each.tokens for each in self.spent]


@pytest.fixture
async def both() -> AsyncGenerator[Both]:
    """Both are well."""
    async with ChatServer() as first, ChatServer() as second:
        both = Both(first, second)
        yield both
        for model in both.models:
            await model.aclose()


@pytest.mark.promise("bounded-asking")
async def test_a_call_costs_what_the_model_costs_that_has_answered(both: Both) -> None:
    """The first by itself, the second where it took over, and then the first again, in the same answer too."""
    both.first.say("Robots act [1].")
    await both.asked()
    both.first.faults += [Reply(500)] * 3
    both.second.call("search_documents", {"query": "arms"})
    both.first.say("Robots act [1].")
    last = await both.asked()

    assert (both.rates, last.status) == ([1.0, 10.0, 1.0], Status.ANSWERED)


@pytest.mark.promise("bounded-asking")
async def test_as_much_is_set_aside_as_the_dearer_one_costs(both: Both) -> None:
    """Nobody knows before which of them will answer."""
    most = both.agent.most(question())

    assert (most.tokens > 0, most.money) == (True, 10.0 * most.tokens)


@pytest.mark.promise("bounded-asking")
async def test_what_the_first_has_written_before_it_broke_off_costs_its_own_price(both: Both) -> None:
    """And the rest what the second costs."""
    both.first.say("Robots ", then=Cut())
    both.first.faults += [None, Reply(500), Reply(500)]
    both.second.say("Robots act [1].")

    assert (await both.asked()).status is Status.ANSWERED
    assert both.rates == [1.0, 10.0]


@pytest.mark.promise("second-model")
@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_first_model_that_breaks_off_again_and_again_is_replaced(both: Both, times: int) -> None:
    """As often as it is asked; to hand over is no further attempt, and the second goes on in the same answer."""
    for _ in range(times):
        both.first.say("Robots act [1]. Half an", then=Cut())
    both.first.faults += [None] * times + [Reply(500)] * (3 - times)
    both.second.call("search_documents", {"query": "arms"})
    both.second.say("A robot acts [1].")

    assert (await both.asked()).status is Status.ANSWERED
    assert (len(both.first.received), len(both.second.received)) == (3, 2)
    assert sum(each.tokens for each in both.spent) <= both.agent.most(question()).tokens


@pytest.mark.promise("second-model")
@pytest.mark.parametrize(("known", "asked"), [(None, 1), (200_000, 1), (4_096, 0)])
async def test_what_the_first_cannot_read_however_it_is_cut_is_given_to_one_that_reads_more(
    both: Both, known: int | None, asked: int
) -> None:
    """As it was before it was cut; one that is known to read no more is not asked."""
    both.first.rules.append(lambda body: TOO_LONG["vLLM"][0])
    both.models[1].dialect.context = known
    both.second.say("Robots act [1].")
    past = conversation(*(turn_of(f"What is {each}?", "It acts. " * 900) for each in range(9)))

    *_, last = [item async for item in both.agent.run(question(), past)]

    assert isinstance(last, Answer)
    assert (last.status, len(both.second.received)) == (Status.ANSWERED if asked else Status.FAILED, asked)
    sizes = [len(each.body["messages"]) for each in (both.first.received[0], *both.second.received)]
    assert sizes == [sizes[0]] * (1 + asked)


@pytest.mark.promise("bounded-asking")
async def test_a_handover_is_set_aside_for_where_it_may_be_needed(both: Both) -> None:
    """It is one more call of the last turn."""
    less = both.agent.most(question()).tokens
    both.agent.limits = replace(both.agent.limits, handovers=1)
    assert both.agent.most(question()).tokens > less


@pytest.mark.promise("bounded-asking")
async def test_a_failure_of_the_second_costs_what_it_has_cost(both: Both) -> None:
    """Where it breaks off too, and neither answers."""
    both.first.broken = Reply(500)
    both.second.say("Robots ", then=Cut())
    both.second.faults += [None, Reply(500), Reply(500)]

    assert (await both.asked()).status is Status.FAILED
    assert both.rates == [10.0]


@pytest.mark.promise("bounded-asking")
async def test_who_is_broken_off_while_the_second_writes_pays_for_the_second(both: Both) -> None:
    """Whoever edits or deletes a question has had it read."""
    both.first.broken = Reply(500)
    both.second.pauses_before = b"act"
    both.second.say("Robots ", "act [1].")
    running = both.agent.run(question(), spent=both.spent.append)
    async for item in running:
        if type(item).__name__ == "Drafted":
            break
    await running.aclose()

    assert both.rates == [10.0]
