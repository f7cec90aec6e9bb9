"""Tools: typed functions that a model may call, what runs its calls side by side, and the tool that searches."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache, partial
from operator import attrgetter
from typing import Annotated, Any, TypeAlias, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from core.answering.citations import Sources, cite
from core.documents.excerpt import excerpt
from core.errors import LeaseLost, RetrievalUnavailable
from core.events import Observer, ServiceFailed, ToolCalled
from core.model import (
    QUESTION_LIMIT,
    ChatMessage,
    Citation,
    Hit,
    MessageRef,
    Question,
    Scope,
    SearchResult,
    ToolCall,
    ToolRecord,
    ToolSpec,
    Waiting,
)
from core.ports import Retriever

ToolFunction: TypeAlias = Callable[..., Awaitable[Mapping[str, Any]]]

MOST_KEPT = 2_000  # characters of a call's arguments
MOST_NAMED = 40  # characters of a tool that there is not
UNKNOWN = "unknown"  # the name of a tool, or of an argument, that is none
QUOTED_FROM = 2  # times the passages that were asked for: who only quotes needs the sentence, and pays for none
MOST_FOUND = 100  # passages that a search ranks: what is relevant is never cut off by what only ranks higher
NEAREST = 3
NEAR = 0.05  # the relevance below which a section is not worth a look


class ToolError(Exception):
    """Something that the model should be told in words, so that it can do better."""


class Tool:
    """A function that the model may call. Its annotations are `Annotated[type, Field(description=...)]`.

    Where it *grounds* an answer, what it returns is enough to answer from, also without a footnote.
    """

    def __init__(self, function: ToolFunction, *, grounds: bool = False) -> None:
        self.function = function
        self.grounds = grounds
        self.arguments, self.spec = _read(getattr(function, "__func__", function))


@lru_cache(maxsize=64)
def _read(function: ToolFunction) -> tuple[type[BaseModel], ToolSpec]:
    """Return the model of the arguments, and what the chat model is told; making them takes longer than most calls.

    The titles that pydantic makes up are left out: they cost tokens and say nothing.
    """
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        name: (hints[name], ... if parameter.default is inspect.Parameter.empty else parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    }
    arguments = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
    schema = arguments.model_json_schema()
    for part in (schema, *schema.get("properties", {}).values()):
        part.pop("title", None)
    return arguments, ToolSpec(function.__name__, inspect.getdoc(function) or "", schema)


@dataclass
class Toolbox:
    """Runs the calls of a model, and records them; whatever goes wrong is told to the model, not raised."""

    tools: Sequence[Tool]
    question: MessageRef
    clock: Callable[[], float]
    observer: Observer
    records: list[ToolRecord] = field(default_factory=list[ToolRecord])
    has_grounds: bool = False

    async def call(self, calls: Sequence[ToolCall]) -> list[ChatMessage]:
        """Run all calls at once; return the results as messages, in the order of the calls. Raises `LeaseLost`."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._call(call)) for call in calls]
        except ExceptionGroup as lost:  # nothing else leaves a call
            raise lost.exceptions[0] from None
        done = [task.result() for task in tasks]
        self.records.extend(record for _, record in done)
        return [
            {"role": "tool", "tool_call_id": call.id, "content": text}
            for call, (text, _) in zip(calls, done, strict=True)
        ]

    async def _call(self, call: ToolCall) -> tuple[str, ToolRecord]:
        """Run a tool; a mistake in it is told to the model in our words, and does not end the question."""
        start, text, error = self.clock(), "", ""
        tool = next((tool for tool in self.tools if tool.spec.name == call.name), None)
        try:
            if tool is None:
                names = ", ".join(each.spec.name for each in self.tools)
                error = f"There is no tool {call.name[:MOST_NAMED]!r}. The tools are: {names}."
            else:
                values = tool.arguments.model_validate_json(call.arguments or "{}").model_dump()
                data = await tool.function(**values)
                text = json.dumps({"success": True, "data": data, "error": None}, ensure_ascii=False)
                self.has_grounds = self.has_grounds or tool.grounds
        except LeaseLost:
            raise
        except ValidationError as invalid:
            reasons = "; ".join(
                f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}"
                for item in invalid.errors(include_url=False, include_input=False, include_context=False)
            )
            error = f"Bad arguments for {call.name}: {reasons}. Call it again with corrected arguments."
        except ToolError as told:
            error = str(told)
        except Exception as mistake:  # noqa: BLE001 - whatever a tool raises, the model can go on without it
            self.observer(ServiceFailed("tool", f"{call.name}: {type(mistake).__name__}"))
            error = f"{call.name} does not work right now. Go on without it."
        is_done = bool(text)
        text = text or json.dumps({"success": False, "data": None, "error": error}, ensure_ascii=False)
        took = (self.clock() - start) * 1000
        name = tool.spec.name if tool else UNKNOWN
        record = ToolRecord(
            name=name, arguments=call.arguments[:MOST_KEPT], success=is_done, result_size=len(text), time_ms=took
        )
        self.observer(
            ToolCalled(self.question, name, _sizes(call, tool), success=is_done, result_size=len(text), time_ms=took)
        )
        return text, record


def _sizes(call: ToolCall, tool: Tool | None) -> Mapping[str, str]:
    """Say how large the arguments of a call are, of which not even the names have to be what the tool asks for."""
    try:
        given: object = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        return {UNKNOWN: f"{len(call.arguments)} characters"}
    sizes, unknown = dict[str, str](), 0
    for name, value in cast("dict[str, object]", given).items():
        if tool is None or name not in tool.arguments.model_fields:
            unknown += 1
        elif isinstance(value, str | list | dict):
            sizes[name] = f"{len(cast('Sized', value))} {'characters' if isinstance(value, str) else 'items'}"
        else:
            sizes[name] = type(value).__name__
    return {**sizes, UNKNOWN: f"{unknown} arguments"} if unknown else sizes


def asked_for(call: ToolCall) -> str:
    """Return the query of a search call, for showing; empty where the arguments are not what they should be."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return ""
    query = arguments.get("query", "") if isinstance(arguments, dict) else ""  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - the model's JSON
    return query if isinstance(query, str) else ""


def in_reading_order(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Yield the parts of a section as they stand in it, in the places that they have all together."""
    parts = defaultdict[tuple[str, str], list[Hit]](list)
    for hit in sorted(hits, key=lambda each: -each.passage.position):
        parts[hit.passage.source_url, hit.passage.section_title].append(hit)
    return (parts[hit.passage.source_url, hit.passage.section_title].pop() for hit in hits)


@dataclass
class SearchTool:
    """Searches for one question: gives the model numbered passages above its threshold, and keeps what was found.

    The *scope* is what may be searched; without one, all that was picked. What was asked *earlier* helps where a query
    does not stand alone; who *knows_earlier* is given what is relevant to both. The `results` are of the newest search.
    Without an *excerpt_limit* it is for one who only quotes: passages are given whole, and more of them. Who
    *searched* hears of each search what it brought.
    """

    retriever: Retriever
    question: Question
    sources: Sources
    _: KW_ONLY
    excerpt_limit: int | None
    earlier: str = ""
    knows_earlier: bool = False
    scope: Scope | None = None
    waiting: Waiting = field(default_factory=Waiting)
    searched: Callable[[Sequence[SearchResult]], object] | None = None
    searches: int = 0
    completed: int = 0
    lexical_only: bool = False
    has_documents: bool = True
    retrieval_time_ms: float = 0.0
    results: Sequence[Mapping[str, Any]] = ()
    _found: dict[str, Hit] = field(default_factory=dict[str, Hit])

    async def search_documents(
        self,
        query: Annotated[str, Field(description="What to look for, as a full question or phrase that stands alone.")],
        top_k: Annotated[int | None, Field(description="How many passages to return, 1 to 20.")] = None,
        chapter: Annotated[str | None, Field(description="Search only this chapter, by its exact name.")] = None,
    ) -> Mapping[str, Any]:
        """Search the community's documents. Returns passages numbered for citing as [n], best first."""
        if not query.strip():
            raise ToolError("query is empty. Say what to look for.")
        query = query[:QUESTION_LIMIT]
        limit, threshold = self.question.top_k, self.question.relevance_threshold
        limit = max(1, min(top_k or limit, limit)) * (QUOTED_FROM if self.only_quotes else 1)
        self.searches += 1
        found = list[SearchResult]()
        search = partial(self.retriever.search, query, limit=MOST_FOUND, scope=self.within(chapter))
        searching = search(earlier=self.earlier, is_about_both=self.knows_earlier, waiting=self.waiting)
        try:
            found.append(await searching)
        except RetrievalUnavailable:
            raise ToolError("The documents cannot be searched right now.") from None
        finally:
            if self.searched:
                self.searched(found)
        [result] = found
        self.completed += 1
        self.retrieval_time_ms += result.total_time_ms
        self.lexical_only = self.lexical_only or result.lexical_only
        self.has_documents = result.has_documents
        if chapter and not result.hits:
            raise ToolError(f"Nothing can be found in a chapter {chapter!r}. Search again without a chapter.")
        for hit in (*result.hits, *result.nearest):  # of each section, the best that was found
            known = self._found.get(hit.passage.source_url, hit)
            self._found[hit.passage.source_url] = max(known, hit, key=attrgetter("score"))
        relevant, most = [hit for hit in result.hits if hit.score >= threshold], self.excerpt_limit
        self.results = [
            {
                "number": self.sources.add(hit),
                "text": hit.passage.text if most is None else excerpt(hit.passage.text, query, limit=most),
                "title": hit.passage.page_title,
                "section": hit.passage.section_title,
                "url": hit.passage.source_url,
                "score": round(hit.score, 2),
            }
            for hit in (in_reading_order(relevant[:limit]) if self.only_quotes else relevant[:limit])
        ]
        return {"results": self.results, "total": len(self.results), "query": query}

    @property
    def only_quotes(self) -> bool:
        """Whether it is for one who writes nothing of its own."""
        return self.excerpt_limit is None

    def within(self, chapter: str | None = None) -> Scope:
        """Return what is searched: nothing that was released after the question was asked, and no other chapters."""
        scope = self.question.scope if self.scope is None else self.scope
        if scope.open_at is None:
            scope = scope.model_copy(update={"open_at": self.question.asked_at})
        if chapter and (not scope.chapters or chapter in scope.chapters):
            scope = scope.model_copy(update={"chapters": (chapter,)})
        return scope

    def keep(self, given: Sequence[Mapping[str, Any]]) -> None:
        """Let nothing of the newest search be cited that the model was not *given*, as there was no room for it."""
        for number in {each["number"] for each in self.results} - {each["number"] for each in given}:
            self.sources.citations.pop(number, None)

    @property
    def failed(self) -> bool:
        """Whether a search could not be completed, for whatever reason."""
        return self.completed < self.searches

    @property
    def nearest(self) -> tuple[Citation, ...]:
        """The closest sections of all searches, best first; none that have nothing to do with the question."""
        near = (hit for hit in self._found.values() if hit.score >= NEAR)
        best = sorted(near, key=lambda hit: -hit.score)[:NEAREST]
        return tuple(cite(hit, number) for number, hit in enumerate(best, start=1))
