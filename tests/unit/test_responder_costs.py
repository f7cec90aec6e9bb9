"""What an answer is counted as, however it ends."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from core.answering.agent import Agent
from core.answering.responder import Responder, Write
from core.community.admission import Admission
from core.errors import ModelUnavailable
from core.events import Charged
from core.messages import limit_reached
from core.model import (
    REPLACED,
    Answer,
    Budget,
    Claim,
    Cost,
    Delivery,
    Holder,
    Interruption,
    Measure,
    Period,
    Prices,
    Reached,
    Reservation,
    Restarted,
    Status,
    Usage,
    ended_by,
)
from tests.builders import NOON, hit, question, thread, turn_of
from tests.fakes.chat import Script, ScriptedTurn, Silence, search, turn
from tests.fakes.clock import Clock
from tests.fakes.dedup import MemoryDedup
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.quota import MemoryQuota
from tests.fakes.shelf import Shelf
from tests.fakes.surface import RecordingSurface
from tests.fakes.visibility import visibility
from tests.unit.test_responder import Desk

ONE = Budget(holder=Holder.PERSON, most=100)
TOKENS = Budget(holder=Holder.PERSON, measure=Measure.TOKENS, most=101)
SEARCHED = turn(search("robot"), usage=Usage(prompt_tokens=900, completion_tokens=20))
WRITTEN = turn("Robots act [1].", usage=Usage(prompt_tokens=1_800, completion_tokens=30))
UNMARKED = turn("Robots act.", usage=Usage(prompt_tokens=1_500, completion_tokens=10))
UNREPORTED = turn(search("robot")), turn("Robots act [1].")
LEAST = 200  # tokens of any prompt, about
BROKEN = "Robots ", Restarted(), "Robots act [1]."


async def counted(
    script: Script,
    *turns: ScriptedTurn,
    interrupted: Interruption | None = None,
    surface: RecordingSurface | None = None,
) -> Cost:
    """Answer a question, which somebody may interrupt in the middle; give what it counts as.

    A question is lost where the store is away, which is back soon.
    """
    model, shelf, quota = script(*turns), Shelf(hit()), MemoryQuota(now=lambda: NOON)
    model.most_tokens = 1_000
    admission = Admission(visibility(shelf), MemoryPolicies(), quota, MemoryDedup(), now=lambda: NOON, budgets=[ONE])

    async def insist(write: Write) -> object:
        quota.fails = False
        return await write()

    agent = Agent(model, shelf, clock=Clock())
    responder = Responder(agent, None, now=lambda: NOON, admission=admission, insist=insist)
    claim = Claim(question())

    async def answer() -> None:
        async with ended_by(claim.cancelled, REPLACED):
            await responder.respond(claim, surface or RecordingSurface())

    answering = asyncio.create_task(answer())
    for silence in (piece for each in turns for piece in each.pieces if isinstance(piece, Silence)):
        await silence.begun.wait()
    quota.fails = interrupted is Interruption.LOST
    if interrupted is not None:
        claim.cancelled.set(interrupted)
    await asyncio.wait({answering})
    if surface is None:
        answering.result()
    spent = await quota.spent(thread().home, NOON, person_id="p1")
    assert spent[Holder.COMMUNITY, Period.DAY] == spent[Holder.PERSON, Period.DAY]
    return spent[Holder.PERSON, Period.DAY]


@pytest.mark.promise("bounded-asking")
@pytest.mark.parametrize(
    ("turns", "cost"),
    [
        ((SEARCHED, WRITTEN), Cost(questions=1, tokens=2_750)),
        ((SEARCHED, UNMARKED, WRITTEN), Cost(questions=1, tokens=4_260)),
        ((SEARCHED, turn(ModelUnavailable("down"))), Cost(tokens=920)),
        ((turn(ModelUnavailable("down")),), Cost()),
    ],
    ids=["answered", "repaired", "failed", "failed at once"],
)
async def test_an_answer_counts_as_what_it_has_cost(
    script: Script, turns: tuple[ScriptedTurn, ...], cost: Cost
) -> None:
    """What goes wrong on our side is no question, and costs what it has cost all the same."""
    assert await counted(script, *turns) == cost


@pytest.mark.promise("bounded-asking")
@pytest.mark.parametrize(
    ("reason", "questions"),
    [(Interruption.STOPPED, 1), (Interruption.EDITED, 1), (Interruption.DELETED, 1), (Interruption.LOST, 0)],
)
async def test_an_answer_that_is_broken_off_counts(script: Script, reason: Interruption, questions: int) -> None:
    """With about what was read and written of the turn that nobody let finish; whoever has it next counts the rest."""
    broken = turn("Robots act [1]. ", "And then ", Silence())

    cost = await counted(script, SEARCHED, broken, interrupted=reason)

    assert (cost.questions, cost.tokens > SEARCHED.usage.prompt_tokens + LEAST) == (questions, True)


@pytest.mark.promise("bounded-asking")
@pytest.mark.parametrize("reason", [Interruption.EDITED, Interruption.DELETED])
async def test_what_is_edited_or_deleted_counts_once_a_model_was_asked(script: Script, reason: Interruption) -> None:
    """Also before its first word: it has read the question by then."""
    cost = await counted(script, turn(Silence()), interrupted=reason)

    assert (cost.questions, cost.tokens > LEAST) == (1, True)


@pytest.mark.promise("bounded-asking")
async def test_where_no_service_says_how_much_it_read_that_is_estimated(script: Script) -> None:
    """Each try of a turn that broke and was made again counts too, and one that a surface breaks."""
    plain = await counted(script, *UNREPORTED)
    again = await counted(script, UNREPORTED[0], turn(*BROKEN))
    lost = await counted(script, *UNREPORTED, surface=RecordingSurface(breaks_after=4))

    assert (plain.questions, again.questions, lost.questions) == (1, 1, 0)
    assert plain.tokens > 2 * LEAST
    assert again.tokens > plain.tokens + LEAST
    assert lost.tokens > LEAST


@pytest.mark.promise("bounded-asking")
async def test_each_search_costs_what_it_costs_whatever_it_brings(script: Script) -> None:
    """One that fails does too; one by words alone was nobody's but ours."""
    prices, spent = Prices(prompt=0.0, cached=0.0, completion=0.0, searches=2_000.0), list[Cost]()
    shelf = Shelf(hit())
    shelf.fails_on = ["arm"]
    agent = Agent(script(turn(search("leg"), search("arm", id="2")), turn("Robots act [1].")), shelf, clock=Clock())
    agent.prices, agent.bills_searches = prices, True

    *_, answer = [item async for item in agent.run(question(), spent=spent.append)]
    shelf.lexical_only = True
    agent.model = script(turn("Robots act [1]."))

    assert isinstance(answer, Answer)
    assert (answer.cost, sum(spent, Cost())) == (6.0, Cost(money=6.0, searches=3))
    assert (await agent.answer(question())).cost == 0.0


@pytest.mark.promise("asked-once")
@pytest.mark.promise("crash-safe")
async def test_an_answer_that_is_shown_again_counts_the_question_once(script: Script) -> None:
    """Whoever wrote it may have died before it did; nothing stays set aside for it."""
    one = Budget(holder=Holder.PERSON, most=1)
    desk = Desk(script(), budgets=(one,))
    for _ in range(2):
        await desk.repeat(turn_of("What is a robot?", id="m1"), attempt=2)

    spent = await desk.quota.spent(thread().home, NOON, person_id="p1")
    assert spent[Holder.PERSON, Period.DAY] == Cost(questions=1)
    assert Charged(question().message, Cost(questions=1)) in desk.events
    assert (await desk.ask(question(id="m2"))).text == limit_reached(Reached(one, NOON + timedelta(hours=12)), NOON)


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize(
    ("claim", "stands", "questions"),
    [(Claim(question()), False, 0), (Claim(question()), True, 1), (Claim(question(is_unasked=True)), False, 0)],
    ids=["apologized for", "shown before", "not asked of the bot"],
)
async def test_nothing_stays_set_aside_for_what_is_given_up(
    script: Script, claim: Claim, questions: int, *, stands: bool
) -> None:
    """However its runs ended; one whose answer is there is a question."""
    desk = Desk(script())
    run = Reservation(question=claim.question, run="1", most=Cost(questions=1, tokens=50), budgets=(), at=NOON)
    assert await desk.quota.reserve(run) is None
    desk.surface.stands = Delivery(messages=(claim.message,)) if stands else None

    await desk.apologize(claim)

    spent = await desk.quota.spent(thread().home, NOON, person_id="p1")
    assert spent[Holder.PERSON, Period.DAY] == Cost(questions=questions, tokens=50)
    assert await desk.quota.would_reach(replace(run, question=question(id="m2"), budgets=(TOKENS,))) is None


@pytest.mark.promise("bounded-asking")
@pytest.mark.promise("crash-safe")
async def test_an_answer_that_somebody_had_written_who_died_counts_while_the_index_is_down(script: Script) -> None:
    """It is shown as it is, though nobody can say by now what may be read, and nothing stays set aside for it."""
    shelf = Shelf(hit())
    desk = Desk(script(), shelf=shelf, budgets=(ONE,))
    written = Answer(id="a", text="Robots act [1].", status=Status.ANSWERED)
    shelf.fails = True

    answer = await desk.answer(Claim(question(), attempt=2, delivery=Delivery(answer=written)))

    spent = await desk.quota.spent(thread().home, NOON, person_id="p1")
    assert (answer.text, spent[Holder.PERSON, Period.DAY]) == (written.text, Cost(questions=1))


@pytest.mark.promise("bounded-asking")
@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("is_index", [True, False], ids=["index", "model"])
@pytest.mark.parametrize("stands", [False, True], ids=["excused", "shown before"])
async def test_nothing_stays_set_aside_by_a_worker_that_died_where_the_next_one_cannot_answer(
    script: Script, *, is_index: bool, stands: bool
) -> None:
    """Where its answer is there, that stays and is a question; nothing new is set aside where the index is down."""
    shelf = Shelf(hit())
    desk = Desk(script(*() if is_index else (turn(ModelUnavailable("down")),)), shelf=shelf)
    run = Reservation(question=question(), run="1", most=Cost(questions=1, tokens=50), budgets=(), at=NOON)
    assert await desk.quota.reserve(run) is None
    desk.surface.stands = Delivery(messages=(question().message,)) if stands else None
    shelf.fails = is_index

    answer = await desk.answer(Claim(question(), attempt=2))

    spent = await desk.quota.spent(thread().home, NOON, person_id="p1")
    assert answer.is_failure
    assert spent[Holder.PERSON, Period.DAY] == Cost(questions=int(stands), tokens=50)
    assert await desk.quota.would_reach(replace(run, question=question(id="m2"), budgets=(TOKENS,))) is None
