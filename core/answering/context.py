"""How much a model is given: as much of the conversation and of what was found as it can read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from pydantic_core import to_json

from core.answering.prompts import attached, opening, spoken
from core.answering.smalltalk import is_small_talk
from core.documents.excerpt import stems
from core.errors import ModelUnavailable
from core.events import Observer, TokensUsed
from core.model import (
    NOT_KEPT,
    ChatMessage,
    Conversation,
    Cost,
    Handover,
    MessageRef,
    ModelTurn,
    Prices,
    Prompt,
    Question,
    Restarted,
    SearchResult,
    Usage,
)

MESSAGE_LIMIT = 50
BYTES_PER_TOKEN = 4.0  # of UTF-8, for mixed text; counts 6,500 where a large model's tokenizer counts 6,401
TOOLS = 2_500  # bytes that describe the tools, and that ask for a repair
FRAME = 60  # bytes around what a message says, and for what is escaped in it
WIDEST = 3  # bytes of a character, in scripts of which a token is about one character
AROUND = 500  # bytes around an excerpt: where it stands, its score, and its share of what was looked for
ANSWER_SHARE = 4  # a context is at most by this part for the answer
EARLIER, MOST_EARLIER = 2, 4  # questions that a follow-up is searched with: more while the oldest points back itself
WORDS_ALONE = 5  # of meaning; of follow-ups whose words do not say what they are about, an eighth has so many
BREAKS_OFF = "The chat model's service broke off its answers too often. Try again in a moment."
MOST_RESTARTS = 2  # of turns that were broken off, in all: each is paid for, and so is set aside for
NO_ROOM = json.dumps({"success": False, "data": None, "error": "Left out here, since there is no room for it."})
_MARK = re.compile(
    r"((`{3,}).*?(?:\2|\Z)|(?<!`)(`{1,2})(?!`).*?(?<!`)\3(?!`)|\\.)|(?:(?<![ \t])[ \t]+)?\[\d{1,4}\]", re.DOTALL
)
_POINTS = re.compile(
    r"\W*(?:and|but|so|or|then|ok|okay|yes|no|not|like|what about|how about|what if)\b|.*\b(?:it|its|itself|this|that"
    r"|these|those|they|them|theirs?|he|him|his|she|hers?|ones?|there|same|such|others?|another|else|former|latter"
    r"|above|previous|both|either|neither|instead|too|also|more)\b",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one answer may go; one of so many characters is some seven messages on Discord.

    The first of the *tool rounds* is the search that needs no model. After so many seconds of *silence* whoever reads
    is told what is waited for. The *longest* is what a question takes in all, however often it is tried. So many
    *handovers* of a broken turn are set aside for beside its restarts: one, where there is another model.
    """

    tool_rounds: int = 4
    excerpt_characters: int = 500
    answer_characters: int = 12_000
    history_tokens: int = 100_000
    silence: float = 15.0
    longest: float = 300.0
    handovers: int = 0

    @property
    def excerpt_bytes(self) -> int:
        """The most that one excerpt adds to a prompt."""
        return WIDEST * self.excerpt_characters + AROUND


def learned(bytes_per_token: float, size: int, tokens: int) -> float:
    """Return a better estimate, where a service has counted *size* bytes as *tokens*; one odd report changes little.

    Nothing is downloaded for it, as exact tokenizers would have to be.
    """
    if size <= 0 or tokens <= 0:
        return bytes_per_token
    return bytes_per_token + 0.2 * (min(max(size / tokens, 1.0), 8.0) - bytes_per_token)


def readable_bytes(context: int | None, most: int, bytes_per_token: float) -> float:
    """Return the bytes that a prompt may have in a *context* of so many tokens, if that is known.

    The answer has *most* tokens, or nobody knows how many.
    """
    if context is None:
        return inf
    share = context // ANSWER_SHARE
    return (context - (min(most, share) if most else share)) * bytes_per_token


def size_of(messages: Sequence[ChatMessage]) -> int:
    """Return the bytes of messages, without what is for services alone."""
    try:
        return len(to_json(messages, exclude={"__all__": {"memo"}}))
    except ValueError:  # half a character
        said = [{name: each for name, each in message.items() if name != "memo"} for message in messages]
        return len(json.dumps(said, ensure_ascii=False).encode(errors="replace"))


def stands_alone(text: str) -> bool:
    """Return whether a question says by itself what it is about; when in doubt, it does not.

    What it was asked after helps such a question little, and harms it where the topic is another one.
    """
    return len(set(stems(text))) >= WORDS_ALONE and not _POINTS.match(text)


def earlier_questions(conversation: Conversation | None) -> str:
    """Return the last questions that were no small talk, oldest first, for a search of what does not stand alone.

    They reach back to one that names what they are about, so that a topic is kept over several steps.
    """
    turns = conversation.turns if conversation else ()
    asked = [turn.question for turn in turns if turn.question != NOT_KEPT and not is_small_talk(turn.question)]
    start = max(len(asked) - EARLIER, 0)
    while start > 0 and len(asked) - start < MOST_EARLIER and _POINTS.match(asked[start]):
        start -= 1
    return "\n".join(asked[start:])


def history(conversation: Conversation | None, *, budget: float, frame: int = 0) -> tuple[ChatMessage, ...]:
    """Return the newest whole turns that fit into so many bytes, oldest first, in the chat format.

    The *frame* is what counts for each message beside what it says. Marks are taken out, since their numbers mean
    nothing in a new answer; tool calls are not replayed.
    """
    kept: list[ChatMessage] = []
    known = [turn for turn in (conversation.turns if conversation else ()) if turn.answer != NOT_KEPT]
    for turn in reversed(known):
        answer = spoken(_MARK.sub(r"\1", turn.answer))
        said: list[ChatMessage] = [*attached(turn.attachments), {"role": "user", "content": spoken(turn.question)}]
        said.append({"role": "assistant", "content": answer})
        budget -= sum(len(str(each["content"]).encode(errors="replace")) + frame for each in said)
        if budget < 0 or len(kept) + len(said) > MESSAGE_LIMIT:
            break
        kept[:0] = said
    return tuple(kept)


def cost_of(usage: Usage, prices: Prices | None, searches: int = 0) -> Cost:
    """Return what tokens and searches count for in budgets, without the question itself."""
    money = prices.cost(usage, searches=searches) if prices else 0.0
    return Cost(tokens=usage.prompt_tokens + usage.completion_tokens, money=money, searches=searches)


@dataclass
class TokenMeter:
    """Counts what the turns of one question have read and written; *spent* hears of each, also of one broken off.

    Where nobody counts, it is estimated, unless the model costs nothing. The *prices* are those of the model that is
    being asked. *Spent* hears of searches too, where somebody bills them.
    """

    question: MessageRef
    observer: Observer
    spent: Callable[[Cost], object]
    bytes_per_token: float
    costs: bool
    prices: Prices | None
    usage: Usage = Usage()
    money: float = 0.0
    restarts_left: int = MOST_RESTARTS
    is_handed_over: bool = False
    model: str = ""
    reports: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])  # bytes, and the tokens they were

    def count(self, prompt: Prompt, turn: ModelTurn) -> None:
        """Count what was read and written once."""
        self.model = turn.model or self.model
        usage = turn.usage
        if usage.prompt_tokens + usage.completion_tokens == 0 and self.costs:
            said = turn.text + "".join(call.name + call.arguments for call in turn.tool_calls)
            sizes = size_of(prompt.messages), len(said.encode(errors="replace"))
            read, written = (round(size / self.bytes_per_token) for size in sizes)
            usage = Usage(prompt_tokens=read, completion_tokens=written)
        self.usage += usage
        cost = cost_of(usage, self.prices)
        self.money += cost.money
        self.spent(cost)
        self.observer(TokensUsed(self.question, self.model, usage))

    def change(self, change: Restarted | Handover, prompt: Prompt, text: str) -> None:
        """Count what is taken back of a turn, and go on at the prices of another model after a handover.

        Raises `ModelUnavailable` where it was taken back too often, for which the first handover does not count.
        """
        is_handover = isinstance(change, Handover)
        if text or not is_handover:
            if is_handover or not change.goes_on:
                self.count(prompt, ModelTurn(text))
            self.restarts_left -= not is_handover or self.is_handed_over
            self.is_handed_over = self.is_handed_over or is_handover
        if isinstance(change, Handover):
            self.prices = change.prices or self.prices
        if self.restarts_left < 0:
            raise ModelUnavailable(BREAKS_OFF)

    def count_search(self, found: Sequence[SearchResult]) -> None:
        """Count a search by what it brought, which is nothing where it failed; by words alone it costs nothing."""
        if not any(each.lexical_only for each in found):
            cost = cost_of(Usage(), self.prices, searches=1)
            self.money += cost.money
            self.spent(cost)

    def beside(self, prices: Prices | None) -> TokenMeter:
        """Return a meter for another model that works for the same answer."""
        return TokenMeter(self.question, self.observer, self.spent, BYTES_PER_TOKEN, True, prices)

    def include(self, other: TokenMeter) -> None:
        """Count for the answer what another model has cost, which *spent* has heard already."""
        self.usage += other.usage
        self.money += other.money

    def learned(self, bytes_per_token: float) -> float:
        """Return a better estimate of the bytes of a token, by what was reported."""
        for size, tokens in self.reports:
            bytes_per_token = learned(bytes_per_token, size, tokens)
        return bytes_per_token


@dataclass
class PromptWriter:
    """Writes the prompts of one question, each of which begins as the one before it, unless that was too long.

    A prompt has at most *most* bytes, of which the conversation and the question, without what was *found* for it,
    have *most_said*.
    """

    question: Question
    conversation: Conversation | None
    most: float
    most_said: float
    found: Sequence[Mapping[str, Any]] | None = None
    newest: Prompt = Prompt(())
    _more: tuple[ChatMessage, ...] = ()
    _is_for_another: bool = False
    _whole: tuple[Question, Sequence[Mapping[str, Any]] | None, tuple[ChatMessage, ...]] | None = None  # before cuts

    @property
    def size(self) -> int:
        """The bytes of the newest prompt."""
        return size_of(self.newest.messages)

    @property
    def has_more(self) -> bool:
        """Whether anything stands behind the question."""
        return bool(self._more)

    def add(self, *messages: ChatMessage) -> None:
        """Have all that is written from now on end with *messages*."""
        self._more = (*self._more, *messages)
        self.newest = replace(self.newest, messages=(*self.newest.messages, *messages))

    def write(self) -> Prompt:
        """Return the newest prompt, cut to what fits."""
        if not self.newest.messages or (self.most < inf and self.size + TOOLS > self.most):
            smaller = self._smaller()
            while (room := self._room()) < 0 and next(smaller, False):
                pass
            asked = opening(self.question, ()).messages
            said = self.most_said - sum(len(str(each["content"]).encode(errors="replace")) for each in asked)
            past = history(self.conversation, budget=min(said, room), frame=0 if room == inf else FRAME)
            messages = (*opening(self.question, past, self.found).messages, *self._more)
            self.newest = Prompt(messages, self._is_for_another)
        return self.newest

    def _room(self) -> float:
        """Return the bytes that are left for the conversation, below 0 where not even all else fits."""
        if self.most == inf:
            return inf
        return self.most - TOOLS - size_of((*opening(self.question, (), self.found).messages, *self._more))

    def hand_over(self) -> bool:
        """Write all of it again, for a model that reads more; return whether that was not done yet."""
        if self._is_for_another or self._whole is None:
            return False
        self.question, self.found, self._more = self._whole
        self._is_for_another, self.most, self.newest = True, inf, Prompt(())
        return True

    def tighten(self, most: float) -> bool:
        """Cut the prompt to so many bytes, or to half of what it has now; return whether it has become smaller."""
        before, self._whole = self.size, self._whole or (self.question, self.found, self._more)
        self.most = most if most < before + TOOLS else (before + TOOLS) / 2
        self.write()
        return self.size < before

    def _smaller(self) -> Iterator[bool]:
        """Take one thing more away at each step: passages, older results, quoted messages, halves of files."""
        while self.found and len(self.found) > 1:
            self.found = self.found[:-1]  # the worst one
            yield True
        for place, message in enumerate(self._more):
            if message["role"] == "tool":
                self._more = (*self._more[:place], {**message, "content": NO_ROOM}, *self._more[place + 1 :])
                yield True
        while self.question.context:
            self.question = self.question.model_copy(update={"context": self.question.context[1:]})
            yield True
        while any(each.text for each in self.question.attachments):
            files = [
                each.model_copy(update={"text": each.text[: len(each.text) // 2]}) for each in self.question.attachments
            ]
            self.question = self.question.model_copy(update={"attachments": tuple(files)})
            yield True
