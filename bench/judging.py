"""What comes of a chat model that judges among people whether the bot is asked: `python -m bench.judging`.

Without more, a server on a socket stands in for the model and is right about a share of what it is asked, which shows
what the path makes of a judge of that quality. With `--url` and `--model`, a real model's service judges; it is sent
situations of the parts in `tests/evaluation`, which are made up, and `--sample` of them are taken by chance. A server
for one comes from `python tests/servers/real_model.py 4096`, which says what it needs.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.documents.folder import Folder
from adapters.openai import OpenAIChat, OpenAILimits
from bench.corpora import course, indexed
from bench.quiet import ANSWERED, PARTS, ROOT, THREAD, Situation, situations
from bench.report import Row, at_least, at_most, print_rows, shown
from core.answering.agent import Agent
from core.answering.attention import Attention
from core.documents.retrieval import HybridRetriever
from core.model import Cost, MessageRef, Outline, Person, Question, Scope, SearchResult, Waiting
from core.ports import Retriever
from tests.servers.openai import KEY, MODEL, ChatServer

RIGHT = (1.0, 0.95, 0.9, 0.8)
ROUNDS = 5  # of a judge that is right by chance
PATIENT = OpenAILimits(first=300.0)


@dataclass
class Remembering:
    """Searches for each query once, since a judge is tried often."""

    retriever: Retriever
    found: dict[str, SearchResult] = field(default_factory=dict[str, SearchResult])

    async def search(self, query: str, **options: Any) -> SearchResult:
        """Return what was found first."""
        if query not in self.found:
            self.found[query] = await self.retriever.search(query, **options)
        return self.found[query]

    async def outline(self, scope: Scope, *, waiting: Waiting | None = None) -> Outline:
        """Return what there is."""
        return await self.retriever.outline(scope, waiting=waiting)


@dataclass
class Judgements:
    """What became of some situations: how many there were, how many reached the model, and to how many it said yes.

    Each is counted for `people` among themselves and for questions that are for the `bot`.
    """

    all: dict[str, int] = field(default_factory=lambda: {"people": 0, "bot": 0})
    seen: dict[str, int] = field(default_factory=lambda: {"people": 0, "bot": 0})
    yes: dict[str, int] = field(default_factory=lambda: {"people": 0, "bot": 0})
    seconds: list[float] = field(default_factory=list[float])

    def rows(self, name: str) -> list[Row]:
        """Return the figures against their bars."""
        people, bot = (100 * self.yes[kind] / max(self.all[kind], 1) for kind in ("people", "bot"))
        right = self.yes["bot"] + self.seen["people"] - self.yes["people"]
        share = 100 * right / max(sum(self.seen.values()), 1)
        return [
            at_most(f"{name}: {self.all['people']} remarks of people, let through", people, 2, " %"),
            at_least(f"{name}: {self.all['bot']} questions among people, let through", bot, 90, " %"),
            shown(f"{name}: of {sum(self.seen.values())} that reached it, judged rightly", share, " %"),
            shown(f"{name}: a judgement took, on average", sum(self.seconds) / max(len(self.seconds), 1), " s"),
        ]


async def judge(
    judged: Sequence[Situation], retriever: Retriever, model: OpenAIChat, *, service: ChatServer | None, right: float
) -> Judgements:
    """Let the model judge each as the product does; the *service* that stands in for one is *right* by chance."""
    attention = Attention(Agent(model, retriever, clock=time.monotonic))
    told, chance = Judgements(), random.Random(1)
    for number, each in enumerate(judged):
        kind = "bot" if each.is_for_bot else "people"
        told.all[kind] += 1
        if not each.is_answered(judges=True):
            continue
        if service is not None:
            service.script.clear()
            service.say("yes" if each.is_for_bot == (chance.random() < right) else "no")
        message, spent = MessageRef(thread=THREAD, id=str(number)), list[Cost]()
        asked = Question.create(message=message, text=each.text, author=Person(id="p"), asked_at=ANSWERED)
        begun = time.monotonic()
        is_asked = await attention.is_asked(asked, None, Scope(), spent.append)
        if spent:  # the model was asked at all
            told.seen[kind] += 1
            told.yes[kind] += is_asked
            told.seconds.append(time.monotonic() - begun)
    return told


async def main() -> None:
    """Print what comes of it."""
    parser = argparse.ArgumentParser(prog="python -m bench.judging", description="Whether a model lets through.")
    parser.add_argument("--url", help="where a real model's service listens, with its /v1")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--key", default=KEY)
    parser.add_argument("--sample", type=int, help="how many situations, by chance; all without it")
    options = parser.parse_args()
    judged = [each for part in PARTS[4:] for each in situations(part) if each.is_among_people]
    if options.sample:
        judged = random.Random(1).sample(judged, options.sample)
    rows, manual = list[Row](), Folder(ROOT / "docs", name="manual")
    async with indexed("course and docs", course(), manual) as (embedder, index), ChatServer() as service:
        retriever = Remembering(HybridRetriever(embedder, index, clock=time.monotonic))
        url = options.url or service.base_url
        model = OpenAIChat(options.model, api_key=options.key, base_url=url, limits=PATIENT)
        if options.url:
            found = await judge(judged, retriever, model, service=None, right=1.0)
            rows += found.rows(options.model)
        else:
            for right in RIGHT:
                found = await judge(judged * ROUNDS, retriever, model, service=service, right=right)
                rows += found.rows(f"right about {right:.0%}")
        await model.aclose()
    print_rows("A model judges whether the bot is asked", rows)


if __name__ == "__main__":
    asyncio.run(main())
