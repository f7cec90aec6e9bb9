"""Whether somebody at a limit makes others wait: `python -m bench.fairness`.

Three communities of different size ask one worker, with a real Redis server and a model that takes its time: a large
one all at once, a middle and a small one now and then. In further cases one person, or everybody in one channel, asks
as much within the middle or the small community, beside others of it. The rounds of each case are interleaved, and
what counts is how many times as long the others in the middle and the small one wait as they do without that. On a
machine with other work, `--pace 4` has people ask and the model think four times as slowly, and `--questions 100` has
fewer of them be asked at once, so that what waits for the processor counts for less.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from adapters.redis.community import RedisPolicies
from adapters.redis.connection import connect
from adapters.redis.conversations import RedisConversations
from adapters.redis.dedup import RedisDedup
from adapters.redis.inbox import RedisInbox
from adapters.redis.inbox_store import Bounds
from adapters.redis.quota import RedisQuota
from adapters.redis.secrets import Seal
from bench.cohere import percentile
from bench.report import Row, at_most, print_rows
from core.answering.agent import Agent
from core.answering.responder import Responder
from core.community.admission import Admission
from core.community.visibility import Visibility
from core.model import (
    Asked,
    Budget,
    Claim,
    Delivery,
    MessageRef,
    ModelTurn,
    Person,
    Progress,
    Prompt,
    Question,
    TextDelta,
    ThreadRef,
    WorkspaceRef,
)
from core.worker import Worker
from tests.fakes.communities import MemoryCommunities
from tests.fakes.shelf import Shelf
from tests.fakes.surface import RecordingSurface
from tests.fixtures.redis import say
from tests.servers.valkey import alone

SECRET = "a secret that is long enough for a benchmark"
AT_ONCE, OF_EACH, OF_A_PERSON = 32, 8, 4  # answers: of the worker, of a community and of a person, as by default
THINKS = 0.5  # seconds of the model for an answer
LARGE, MIDDLE, SMALL = "large", "middle", "small"
RATES = {MIDDLE: 0.1, SMALL: 0.4}  # seconds between two questions
MANY = 500  # questions of those who ask a lot, all at once
TOGETHER = 100  # questions that are put at once
LASTS = 4.0  # seconds of a round
MOST = 1.5  # times as long as without the large one
ALL_DAY = Budget.parse("community 60 questions day")
FEW = {each: (Budget.parse(f"{each} 8 questions day"),) for each in ("person", "channel")}
PEOPLE, CHANNELS = 50, 10  # of a community that ask
CROWDED = "crowded"


@dataclass(frozen=True, slots=True)
class Case:
    """Who asks so many questions at once, and what bounds them: a community, or some people in one channel of one."""

    name: str
    questions: int = 0
    community: str = LARGE
    people: int = PEOPLE
    per_community: int = OF_EACH
    budgets: tuple[Budget, ...] = ()
    is_fair: bool = True


CASES = (
    Case("without the large one"),
    Case("the large one at its bound of answers at once", MANY),
    Case("the large one beyond its budget", MANY, budgets=(ALL_DAY,)),
    Case("a person of the small one at their bound of answers at once", MANY, SMALL, people=1),
    Case("a person of the middle one beyond their budget", MANY, MIDDLE, people=1, budgets=FEW["person"]),
    Case("a channel of the middle one beyond its budget", MANY, MIDDLE, budgets=FEW["channel"]),
    Case("the large one with no bound", MANY, per_community=AT_ONCE, is_fair=False),
)


class Pensive:
    """A model that thinks for a while."""

    reads_history, only_quotes, most_tokens, context_tokens = True, False, 0, None

    def __init__(self, pace: float) -> None:
        self._thinks = THINKS * pace

    async def stream(
        self, prompt: Prompt, *, tools: object, may_call: bool = True
    ) -> AsyncGenerator[TextDelta | ModelTurn, None]:
        """Greet."""
        await asyncio.sleep(self._thinks)
        yield TextDelta("Hello.")
        yield ModelTurn("Hello.")


@dataclass
class Wall(RecordingSurface):
    """Notes when each answer is shown, and refuses at once."""

    shown_at: dict[MessageRef, float] = field(default_factory=dict[MessageRef, float])

    def __post_init__(self) -> None:
        """Keep nothing of another round."""
        super().__init__()

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Draw it."""
        delivery = await super().reply(claim, progress)
        self.shown_at[claim.message] = time.perf_counter()
        return delivery


def question(community: str, number: int, crowd: int = 0) -> Question:
    """Give a question, each in a thread of its own, of one of its people in one of its channels; or of a *crowd*."""
    channel = CROWDED if crowd else f"c{number % CHANNELS}"
    thread = ThreadRef(platform="bench", workspace=community, channel=channel, thread=f"{channel}-{number}")
    author = Person(id=f"{community}-{CROWDED}-{number % crowd}" if crowd else f"{community}-{number % PEOPLE}")
    message = MessageRef(thread=thread, id=f"{channel}-{number}")
    return Question.create(message=message, text="Hello", author=author, asked_at=datetime.now(UTC))


async def waits(url: str, case: Case, pace: float) -> dict[str, list[float]]:
    """Let them ask; return how many seconds each answer took in the middle and in the small community."""
    wall, put, now = Wall(), dict[MessageRef, float](), partial(datetime.now, UTC)
    async with AsyncExitStack() as stack:
        client, blocking = connect(url), connect(url, blocking=True)
        stack.push_async_callback(blocking.aclose)
        stack.push_async_callback(client.aclose)
        await say(client, "FLUSHALL")
        seal = Seal.parse(SECRET)
        bounds = Bounds(per_person=OF_A_PERSON, per_workspace=case.per_community)
        inbox = await stack.enter_async_context(RedisInbox(client, blocking, seal=seal, bounds=bounds))
        await inbox.kept_for()

        communities = MemoryCommunities(*(WorkspaceRef(platform="bench", workspace=each) for each in (LARGE, *RATES)))
        quota, policies = RedisQuota(client, pseudonym=lambda name: name), RedisPolicies(client)
        visibility = Visibility(Shelf(), communities, policies, memberships={})
        admission = Admission(
            visibility, policies, quota, RedisDedup(client, pseudonym=str), now=now, budgets=case.budgets
        )
        conversations = RedisConversations(client, ttl=timedelta(hours=1), seal=seal)
        agent = Agent(Pensive(pace), Shelf(), clock=time.perf_counter)
        responder = Responder(agent, conversations, now=now, deliveries=inbox, admission=admission)
        worker = Worker(inbox, responder, {"bench": partial(_given, wall)}, conversations, now=now)
        for first in range(0, case.questions, TOGETHER):
            together = range(first, first + TOGETHER)
            asked = [question(case.community, number, case.people) for number in together]
            await asyncio.gather(*(inbox.put(Asked(question=each)) for each in asked))
        working = asyncio.create_task(worker.run(concurrency=AT_ONCE))
        await asyncio.gather(*(_ask(inbox, each, rate * pace, put) for each, rate in RATES.items()))
        while not put.keys() <= wall.shown_at.keys():  # noqa: ASYNC110 - a worker tells of nothing
            await asyncio.sleep(0.01)
        working.cancel()
        await asyncio.wait({working})
    return {
        each: [wall.shown_at[ref] - at for ref, at in put.items() if ref.thread.workspace == each] for each in RATES
    }


async def _given(wall: Wall) -> Wall:
    return wall


async def _ask(inbox: RedisInbox, community: str, rate: float, put: dict[MessageRef, float]) -> None:
    for number in range(round(LASTS / RATES[community])):
        asked = question(community, number)
        put[asked.message] = time.perf_counter()
        await inbox.put(Asked(question=asked))
        await asyncio.sleep(rate)


def rows(found: dict[Case, dict[str, list[float]]]) -> Sequence[Row]:
    """Give each case with how many times as long the others wait in it."""
    usual_case, told = next(iter(found)), list[Row]()
    for case, seconds in found.items():
        for community in RATES:
            took, usual = seconds[community], found[usual_case][community]
            middle, late = statistics.median(took), percentile(took, 0.95)
            what = f"{case.name}: {community}"
            told.append(Row(f"{what}, median and p95", f"{middle * 1000:.0f} and {late * 1000:.0f} ms"))
            ratio = middle / statistics.median(usual)
            if case is not usual_case:
                name = f"{what}, times as long in the median"
                told.append(at_most(name, ratio, MOST) if case.is_fair else Row(name, f"{ratio:.3g}"))
    return told


def main() -> None:
    """Run all cases as often as wanted, one after the other, and print what they took."""
    parser = argparse.ArgumentParser(prog="python -m bench.fairness", description="Who waits for whom.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=MANY, help="how many are asked at once")
    parser.add_argument("--pace", type=float, default=1.0, help="how many times as slowly all of it goes")
    options = parser.parse_args()
    cases = [replace(case, questions=min(case.questions, options.questions)) for case in CASES]
    found = {case: {each: list[float]() for each in RATES} for case in cases}
    with tempfile.TemporaryDirectory() as folder, alone(Path(folder)) as node:
        for _ in range(options.rounds):
            for case in cases:
                for community, seconds in asyncio.run(waits(f"redis://{node.host}/0", case, options.pace)).items():
                    found[case][community] += seconds
    print_rows("Three communities, and one of them, a person or a channel at a limit", list(rows(found)))


if __name__ == "__main__":
    main()
