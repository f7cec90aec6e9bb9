"""How many calls and tokens a hundred mixed questions cost over the course book, with a stand-in for a model.

It searches again exactly where a page that it expects is not among the passages, answers with two footnotes, and says
of what the book does not hold that it is not there. Its server counts and caches tokens as OpenAI's does.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from adapters.openai import OpenAIChat
from bench.agent.question import tokens
from bench.corpora import course, course_questions, foreign_questions, indexed, lesson_of
from bench.report import Row, at_most
from core.answering.agent import Agent
from core.documents.retrieval import HybridRetriever
from core.model import Answer, Conversation, MessageRef, Person, Question, Scope, Status, ThreadRef, Turn
from core.ports import Retriever
from tests.servers.openai import KEY, MODEL, ChatServer, ScriptedAnswer
from tests.servers.openai_brain import first_sentence, passages_in

SMALL_TALK = (
    *("Hello!", "Hi there", "Good morning", "Thanks a lot!", "Thank you so much", "Who are you?", "What can you do?"),
    *("Bye!", "That was helpful", "Great answer", "Are you a bot?", "How do I use this bot?", "ok", "Hey", "Cheers"),
)
FOLLOW_UPS = (
    *("And why is that important?", "How do I do that?", "Can you give me an example of it?", "What are its limits?"),
    *("What happens if it fails?", "How is it used in practice?", "And how do I test it?", "Why not do it otherwise?"),
    *("What do I need for that?", "Is there a simpler way?", "How does it work inside?", "What comes after that?"),
    *("Which tools help with that?", "How long does that take?", "And on a real robot?", "Can it be made faster?"),
    *("What are common mistakes there?", "How would I explain it?", "Does that cost much?", "When should I use it?"),
)
MOST_CALLS, TOKENS_TIMES, LENGTH = 115, 1.1, 150
TODAY = 124_489
"""Tokens of all prompts for these questions, in 185 calls, when the model itself had to search first."""
_BLOCK = re.compile(r"^\[(\d+)\] \d\.\d\d (.*)$", re.MULTILINE)
AT = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Case:
    """A question of a kind, what a good reader would search for it, and the lessons that answer it."""

    kind: str
    text: str
    wanted: Mapping[str, str]  # a query by lesson
    before: str = ""


def cases(chance: random.Random) -> list[Case]:
    """Give the hundred questions: always the same ones."""
    asked = chance.sample(course_questions(), 80)
    direct, before, joined = asked[:40], asked[40:60], asked[60:]
    pairs = zip(joined[::2], joined[1::2], strict=True)
    followed = zip(FOLLOW_UPS, before, strict=True)
    return [
        *(Case("direct", text, {lesson: text}) for text, lesson in direct),
        *(Case("follow-up", text, {lesson: earlier}, earlier) for text, (earlier, lesson) in followed),
        *(Case("small talk", text, {}) for text in SMALL_TALK),
        *(Case("not in the documents", text, {}) for text in chance.sample(foreign_questions(), 15)),
        *(Case("two topics", _joined(one[0], two[0]), {one[1]: one[0], two[1]: two[0]}) for one, two in pairs),
    ]


def _joined(one: str, two: str) -> str:
    return f"{one.rstrip('?. ')}, and {two[:1].lower()}{two[1:]}"


class Reader(ChatServer):
    """Answers as a good reader of the documents would; it is told the case before it is asked."""

    def __init__(self, lessons: Mapping[str, str]) -> None:
        super().__init__()
        self.lessons = lessons  # by the title of a page
        self.case = Case("", "", {})

    def _own_answer(self, body: dict[str, Any]) -> ScriptedAnswer:
        messages: list[dict[str, Any]] = body["messages"]
        newest = max(place for place, message in enumerate(messages) if message["role"] == "user")
        given = [str(message["content"] or "") for message in messages[newest:]]
        has_searched = len(given) > 1 or '<data kind="passages">' in given[0]
        missing = [query for lesson, query in self.case.wanted.items() if lesson not in set(self._found(given))]
        may_call = bool(body.get("tools")) and body.get("tool_choice") != "none"
        if self.case.kind == "small talk":
            return ScriptedAnswer(tuple(tokens("Hello! Ask me something about the course.")))
        if may_call and not has_searched:
            return self._search([" and ".join(self.case.wanted.values()) or self.case.text])
        if may_call and missing and len(given) < 3:
            return self._search(missing)
        if not self.case.wanted:
            knows_word = "NOT_IN_DOCUMENTS" in str(messages[0]["content"])
            return ScriptedAnswer(("NOT_IN_DOCUMENTS",) if knows_word else ("The documents ", "do not say that."))
        found = [each for text in given for each in passages_in(text)]
        said = " ".join(f"{first_sentence(each['text'])} [{each['number']}]." for each in found)
        return ScriptedAnswer(tuple(tokens(f"{said}\n\n" * LENGTH)[:LENGTH]))

    def _search(self, queries: Sequence[str]) -> ScriptedAnswer:
        calls = (self._call("search_documents", json.dumps({"query": query}, ensure_ascii=False)) for query in queries)
        return ScriptedAnswer((), tuple(calls), "tool_calls")

    def _found(self, given: Sequence[str]) -> Iterator[str]:
        """Give the lessons of the passages in the newest messages, in either form."""
        for text in given:
            yield from (self.lessons.get(head.partition(" › ")[0], "") for _, head in _BLOCK.findall(text))
            yield from (lesson_of(url) for url in re.findall(r'"url": "([^"]+)"', text))


async def asked(agent: Agent, case: Case, number: int) -> Answer:
    """Ask one question, in a thread of its own, after what it follows."""
    thread = ThreadRef(platform="bench", workspace="w", channel="c", thread=str(number))
    question = Question.create(
        message=MessageRef(thread=thread, id="m"), text=case.text, author=Person(id="p", name="Ada"), asked_at=AT
    )
    answered = Turn(
        question_ref=MessageRef(thread=thread, id="b"), question=case.before, answer="So it is. " * 60, at=AT
    )
    return await agent.answer(question, Conversation(thread=thread, turns=(answered,)) if case.before else None)


async def mixed_rows() -> list[Row]:
    """Ask all of them; count calls and tokens."""
    chance = random.Random(7)
    async with indexed("course", course()) as (embedder, index):
        retriever = HybridRetriever(embedder, index, clock=time.monotonic)
        lessons = await _lessons(retriever)
        async with Reader(lessons) as server:
            model = OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url)
            agent = Agent(model, retriever, clock=time.monotonic)
            rows = await _counted(agent, server, cases(chance))
            rows += await _thread_rows(agent, server)
            await model.aclose()
    return rows


async def _lessons(retriever: Retriever) -> dict[str, str]:
    found: dict[str, str] = {}
    for text, _ in course_questions():
        for hit in (await retriever.search(text, limit=20, scope=Scope())).hits:
            found[" ".join(hit.passage.page_title.split())] = lesson_of(hit.passage.page_url)
    return found


async def _counted(agent: Agent, server: Reader, hundred: Sequence[Case]) -> list[Row]:
    calls, prompts, cached, good = Counter[str](), 0, 0, 0
    for number, case in enumerate(hundred):
        server.case = case
        before = len(server.received)
        answer = await asked(agent, case, number)
        calls[case.kind] += len(server.received) - before
        prompts += answer.usage.prompt_tokens
        cached += answer.usage.cached_tokens
        ends_well = Status.NO_CONTEXT if case.kind == "not in the documents" else Status.ANSWERED
        good += answer.status is ends_well
    by_kind = ", ".join(f"{count} {kind}" for kind, count in calls.items())
    return [
        at_most("model calls for 100 mixed questions", sum(calls.values()), MOST_CALLS),
        Row("of these by kind: 40 direct, 20 follow-ups, 15 small talk, 15 not there, 10 two topics", by_kind),
        at_most("prompt tokens of these, times those before", prompts / TODAY, TOKENS_TIMES),
        Row("prompt tokens of these; cached", f"{prompts:,}; {cached / prompts:.0%}"),
        Row("of these, ended as they should", f"{good} of 100"),
    ]


async def _thread_rows(agent: Agent, server: Reader) -> list[Row]:
    """Ask twenty questions in one thread, each answered at length."""
    thread = ThreadRef(platform="bench", workspace="w", channel="c", thread="long")
    turns, prompts, cached = list[Turn](), 0, 0
    for number, (text, lesson) in enumerate(course_questions()[:20]):
        server.case = Case("direct", text, {lesson: text})
        ref = MessageRef(thread=thread, id=str(number))
        question = Question.create(message=ref, text=text, author=Person(id="p", name="Ada"), asked_at=AT)
        answer = await agent.answer(question, Conversation(thread=thread, turns=tuple(turns)))
        turns.append(Turn(question_ref=ref, question=text, answer=answer.text, at=AT))
        prompts, cached = prompts + answer.usage.prompt_tokens, cached + answer.usage.cached_tokens
    return [Row("prompt tokens of 20 questions in one thread; cached", f"{prompts:,}; {cached / prompts:.0%}")]
