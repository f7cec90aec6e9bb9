"""The model's side of the conversation: an answer made of quotes, and a search for each part of a joined question."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from operator import itemgetter, mul
from typing import Any

from adapters.extractive.quotes import (
    ScoredUnit,
    candidates,
    choose,
    compose,
    fit,
    in_context,
    rarities,
    standing,
    word_fit,
)
from adapters.extractive.units import QUESTIONS, AskedWords, Source, topic_of, units
from core.answering.context import WORDS_ALONE
from core.answering.prompts import NOT_IN_DOCUMENTS, NOT_IN_SELECTION, read_passages, read_selection
from core.answering.smalltalk import is_small_talk, reply_to
from core.documents.excerpt import respelled, stems
from core.errors import EmbeddingUnavailable
from core.messages import NO_CONTEXT, QUOTES_ONLY
from core.model import ChatMessage, ModelTurn, Prompt, Restarted, TextDelta, ToolCall, ToolSpec
from core.ports import Embedder

NAME = "extractive"
NOTICE = f"_{QUOTES_ONLY}_"
MEANING = 0.65  # weight of the cosine against the share of words
SELECTION_RELEVANCE = 0.5
MOST_PARTS = 3
MOST_COMPARED = 40  # units, of which each takes some milliseconds to embed
AROUND = " ?.!,;"  # what stands around a question and says nothing of it
FLOOR = 0.3  # of the share of words, so that what a unit is counts where it holds none

_CONTRACTED = re.compile(r"\b(what|who|where|how)(?:s|'s|\u2019s)\b", re.IGNORECASE)
_TO = re.compile(r"\b([a-z]{2,})2([a-z]{2,})\b", re.IGNORECASE)  # as in sim2real
_MANNER = re.compile(
    r"(?:, ?| )?(?:\b(?:to|for) me\b(?= in | like |\s*$)|\b(?:like|as if) (?:i'?m|i am|i were|i was|you|to|for) .*"
    r"|\beli5\b:?|\bin (?:very |really )?(?:simple|plain|easy|short|layman'?s?) (?:words|terms|english|language)\b"
    r"|\bfor (?:an? )?(?:absolute |total |complete )?(?:dumm(?:y|ies)|beginners?|newbies?|kids?|child(?:ren)?)\b)",
    re.IGNORECASE,
)
_NAMED = re.compile(  # asks what something is
    r"(?:(?:please|can you|could you) )*(?:explain|define|describe)(?: to me)?(?: what)? (?!how\b|why\b|when\b|what\b)"
    r"(?:an? |the )?((?:(?! is\b| are\b| and\b)[^?]){2,60}?)(?: is| are| means?)?"
    r"|what (?:do|does) (?:an? |the )?(.{2,60}?) (?:stand for|mean)",
    re.IGNORECASE,
)
_OBJECT = re.compile(
    r"(?:and |so |ok )?(?:(?:how|why) (?:(?:do|can|could|should|would) (?:i|you|we|one)|to) \w+ "
    r"(?:an? |the |my )?([\w -]{2,40}?)(?: (?:in|on|with|for|from|using|so|and) .*)?"
    r"|(?:what|how) about (?:an? |the )?([\w -]{2,40}))$",
    re.IGNORECASE,
)
_POINTS_AT = re.compile(
    r"\b(?:it(?![\w'\u2019])(?! (?:possible|true|better|ok|safe|necessary|worth|hard|easy|normal|make|take)\b)"
    r"|them|they|(?<!which )(?<!that )(?<!this )(?<!each )one(?! (?:of|for)\b))(?!\w)",
    re.IGNORECASE,
)
_FIELDS = itemgetter("number", "score", "title", "section", "text")
_JOINT = re.compile(r"\b(?:and|versus|vs|compared? (?:to|with)|differs? from|or)\b\.?", re.IGNORECASE)


@dataclass
class ExtractiveModel:
    """Quotes the sentences that fit best, each with its mark; writes nothing of its own about the documents."""

    reads_history = False
    only_quotes = True
    most_tokens = 0
    context_tokens = None

    embedder: Embedder

    async def stream(
        self, prompt: Prompt, *, tools: Sequence[ToolSpec], may_call: bool = True
    ) -> AsyncGenerator[TextDelta | Restarted | ModelTurn, None]:
        """Call the search tool where that may find more; then yield the answer paragraph by paragraph."""
        asked = _read(prompt.messages)
        queries = _queries(asked) if tools and may_call and not asked.has_searched else []
        if queries:
            written = enumerate((json.dumps({"query": query}, ensure_ascii=False) for query in queries), start=1)
            calls = (ToolCall(id=f"call-{number}", name=tools[0].name, arguments=each) for number, each in written)
            yield ModelTurn("", tuple(calls), model=NAME)
            return
        written = ""
        for paragraph in await self._paragraphs(prompt, asked):
            piece = f"\n\n{paragraph}" if written else paragraph
            written += piece
            yield TextDelta(piece)
        yield ModelTurn(written, model=NAME)

    async def _paragraphs(self, prompt: Prompt, read: _Asked) -> list[str]:
        selection = read_selection(str(prompt.messages[-1]["content"]))
        if selection is not None:
            return await self._from_selection(*selection)
        if read.given is None and not read.has_searched:
            return [reply_to(read.question)]
        said = [f"{each['title']}\n{each['section']}\n{each['text']}" for each in read.results]
        asked = AskedWords(respelled(" and ".join(read.parts), said, self.embedder.count_tokens))
        sources, openings = list[Source](), dict[tuple[int, str], Source]()
        for number, score, title, section, text in map(_FIELDS, read.results):
            part = Source(number, score, title, section, tuple(units(text)), openings.get((number, section)))
            sources.append(openings.setdefault((number, section), part) if part.opening is None else part)
        name = asked.text.rpartition(" ")[2]
        is_name = asked.topics and name.isupper() and self.embedder.count_tokens(name) == 1
        is_strange = is_name and not any(form in each for each in said for form in (name, name.capitalize()))
        quotes = [] if is_strange else compose(asked, choose(asked, await self._scored(asked, sources)))
        if not quotes:
            return [NOT_IN_DOCUMENTS]
        said = [str(each.get("content")) for each in prompt.messages if each["role"] == "assistant"]
        is_noticed = any(NOTICE in each for each in said)  # not every answer says that it quotes
        return [*quotes, *([] if is_noticed else [NOTICE])]

    async def _from_selection(self, text: str, question: str) -> list[str]:
        """Quote the selection if a sentence of it has to do with the question."""
        asked = AskedWords(question)
        scored = await self._scored(asked, [Source(1, 1.0, "", "", tuple(units(text)))])
        cosines = await self._cosines(question, [item.unit.text for item in scored])
        calibration = self.embedder.calibration
        relevant = [
            item
            for item, cosine in zip(scored, cosines, strict=True)
            if (words := word_fit(asked.words, item.unit.text)) == 1
            or calibration.relevance(calibration.evidence(cosine, words)) >= SELECTION_RELEVANCE
        ]
        return compose(asked, choose(asked, relevant)) or [NOT_IN_SELECTION]

    async def _scored(self, asked: AskedWords, sources: Sequence[Source]) -> list[ScoredUnit]:
        """Score the units by meaning and words; of many, only those that words alone make likely."""
        found = candidates(asked, sources)
        held = rarities(in_context(*each) for each in found)
        weighed = [(fit(asked, *each, held, len(found)), standing(asked, *each), each) for each in found]
        weighed = sorted(weighed, key=lambda each: -(FLOOR + each[0]) * each[1])[:MOST_COMPARED]
        cosines = await self._cosines(asked.text, [in_context(*each) for *_, each in weighed])
        return [
            ScoredUnit(source, unit, (MEANING * cosine + (1 - MEANING) * words) * weight)
            for (words, weight, (source, unit)), cosine in zip(weighed, cosines, strict=True)
        ]

    async def _cosines(self, question: str, texts: Sequence[str]) -> list[float]:
        """Compare meaning; without the embedder, words alone have to do."""
        if not texts:
            return []
        try:
            wanted = await self.embedder.embed_query(question)
            vectors = await self.embedder.embed_passages(texts)
        except EmbeddingUnavailable:
            return [0.0] * len(texts)
        return [sum(map(mul, wanted, vector)) for vector in vectors]


@dataclass(frozen=True)
class _Asked:
    """The newest question, what was *given* with it (None where nothing was searched), and what was *found* since.

    Its *parts* are the questions that it consists of, each of which says what it is about; where only an earlier
    question does, it *follows* that one. It *is restated* if these are other words than somebody wrote.
    """

    question: str
    parts: tuple[str, ...]
    given: tuple[Mapping[str, Any], ...] | None
    found: tuple[Mapping[str, Any], ...]
    has_searched: bool
    follows: bool
    is_restated: bool
    is_first: bool

    @property
    def results(self) -> Sequence[Mapping[str, Any]]:
        """What was found by words that say more comes first; nothing else counts where the question says too little."""
        given = () if self.found and (self.follows or AskedWords(self.parts[0]).compared) else self.given or ()
        first, second = (self.found, given) if self.is_restated else (given, self.found)
        merged = dict[tuple[int, str], Mapping[str, Any]]()
        for each in (*first, *second):  # some are found again
            known = merged.get((each["number"], each["text"]), each)
            merged[each["number"], each["text"]] = max(known, each, key=itemgetter("score"))
        return [*merged.values()]


def _queries(asked: _Asked) -> list[str]:
    """Return what to search: a question in plainer words, and the parts of one that joins a few.

    Of those, one search may have found only some. Where nothing was searched, it is the question, unless that is small
    talk.
    """
    if asked.given is None:
        return [] if is_small_talk(asked.question, is_first=asked.is_first) else [*asked.parts[:MOST_PARTS]]
    if asked.is_restated and len(asked.parts) > 1:
        return [*asked.parts[:MOST_PARTS]]
    [*whole] = asked.parts
    if two := AskedWords(whole[0]).compared:
        return [" vs ".join(two), *two]
    parts = [part.strip(" ,") for part in _JOINT.split(whole[0]) if stems(part)] if asked.given else []
    whole = whole if asked.is_restated else []
    return [*whole, *(parts if 1 < len(parts) <= MOST_PARTS - len(whole) else [])]


def _read(messages: Sequence[ChatMessage]) -> _Asked:
    """Return the newest question and what was found for it."""
    found: list[list[dict[str, Any]]] = []
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message["role"] == "user":
            content = str(message["content"])
            given, question = read_passages(content) or (None, content)
            together = zip_longest(*reversed(found))  # the best of each search first
            newest = tuple(result for results in together for result in results if result)
            subject = _subject(messages[:at])
            parts = restated(question, subject)
            is_new = parts != (" ".join(question.split()).strip(AROUND),)
            is_first = all(each["role"] != "assistant" for each in messages[:at])
            given = None if given is None else tuple(given)
            return _Asked(question, parts, given, newest, bool(found), parts != restated(question), is_new, is_first)
        if message["role"] == "tool":
            data: dict[str, Any] = json.loads(message["content"])["data"] or {}
            found.append(data.get("results", []))
    return _Asked("", (), None, (), has_searched=False, follows=False, is_restated=False, is_first=True)


def _subject(messages: Sequence[ChatMessage]) -> str:
    """Return what the last question that was answered is about; nothing if no question says so."""
    for asked, answer in reversed([*pairwise(messages)]):
        is_turn = (asked["role"], answer["role"]) == ("user", "assistant")
        if is_turn and not str(answer["content"]).startswith(NO_CONTEXT):
            *_, last = restated(str(asked["content"]))
            if found := subject_of(last):
                return found
    return ""


def restated(question: str, subject: str = "") -> tuple[str, ...]:
    """Return the questions that one consists of in plainer words, without how it shall be explained.

    Words that point back are replaced by what the question before is about, or the *subject*.
    """
    text = _MANNER.sub("", " ".join(question.split()).strip(AROUND))
    text = _TO.sub(r"\1-to-\2", _CONTRACTED.sub(r"\1 is", text))
    parts = list[str]()
    for part in QUESTIONS.split(text):
        plain = part.strip(AROUND)
        if named := _NAMED.fullmatch(plain):
            plain = f"what is {next(filter(None, named.groups()))}"
        if subject and len(set(stems(plain))) < WORDS_ALONE:
            plain = subject.join(_POINTS_AT.split(plain, maxsplit=1))
        subject = subject_of(plain) or subject
        parts.append(plain)
    return tuple(filter(None, parts)) or (question,)


def subject_of(question: str) -> str:
    """Return what a short question is about, in its own words; nothing if that is not plain."""
    if stems(topic := topic_of(question)):
        return topic
    found = _OBJECT.match(question)
    return next(filter(None, found.groups()), "") if found else ""
