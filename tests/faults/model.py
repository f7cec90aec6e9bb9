"""A chat model whose answers can be checked to the last word: each word has a number, and names the question."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from core.events import unobserved
from tests.servers.openai import ChatServer, Cut, ScriptedAnswer, Stall

SHORT, LONG = 8, 400
PACE, SLOW = 0.01, 0.6  # seconds between two pieces of an answer
PIECES = 6  # of an answer, however long it is
_QUESTION = re.compile(r"\bq(\d+)\b")
_WORD = re.compile(r"\bq([a-j]+)w([a-j]+)\b")
_LETTERS, _DIGITS = str.maketrans("0123456789", "abcdefghij"), str.maketrans("abcdefghij", "0123456789")


def words(number: int) -> list[str]:
    """Give all words of the answer to the question of this number; each tenth answer needs several messages.

    They are words of no language, without numbers: nobody holds them against a passage.
    """
    count = LONG if number % 10 == 9 else SHORT
    return [word(number, at) for at in range(1, count + 1)]


def word(number: int, at: int) -> str:
    """Give one word of the answer to the question of this number."""
    return f"q{number}w{at}".translate(_LETTERS)


def number_of(question: str) -> int:
    """Give the number of a question."""
    return int(_QUESTION.findall(question)[-1])


def said(text: str) -> list[tuple[int, int]]:
    """Give the words of any answers in a text: the question's number, and the word's."""
    return [(int(found[1].translate(_DIGITS)), int(found[2].translate(_DIGITS))) for found in _WORD.finditer(text)]


class NumberingModel(ChatServer):
    """Searches, then writes the words of its answer; the questions have a number in them.

    `troubles` says in which answers something goes wrong in the middle, once; `reached` tells when one hangs there, or
    when a `slow` one begins. Whoever keeps a journal is `told` each time that it is given a question.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pace = PACE
        self.troubles: dict[int, Cut | Stall] = {}
        self.reached: dict[int, asyncio.Event] = {}
        self.slow: set[int] = set()
        self.told: Callable[[str], object] = unobserved
        self._stalling: list[int] = []
        self._searches, self._writings = Counter[int](), Counter[int]()
        self._begun: dict[int, list[int]] = {}  # how often each was given until somebody had it tried again

    def given(self, number: int) -> int:
        """Say how often it was given a question, to search or to write, since somebody asked, or had it tried again.

        Of these, the most counts.
        """
        return max(self._tries(number))

    def given_in_all(self, number: int) -> int:
        """Say how often it was given a question in all."""
        return sum(self._tries(number))

    def begin_again(self, number: int) -> None:
        """Count from the beginning how often it is given a question."""
        self._begun[number] = self._tries(number)
        del self._searches[number], self._writings[number]

    def _tries(self, number: int) -> list[int]:
        return [*self._begun.get(number, ()), max(self._searches[number], self._writings[number])]

    @property
    def streamed(self) -> int:
        """Count the questions of which an answer took seconds."""
        return len(self.slow & (self._writings.keys() | self._begun.keys()))

    def trouble(self, number: int, kind: Cut | Stall) -> asyncio.Event:
        """Let an answer break in the middle; give what is set when it hangs there."""
        self.troubles[number] = kind
        return self.reached.setdefault(number, asyncio.Event())

    def _own_answer(self, body: dict[str, Any]) -> ScriptedAnswer:
        usual = super()._own_answer(body)
        asked = [str(message["content"]) for message in body["messages"] if message["role"] == "user"]
        number = number_of(asked[-1])
        (self._searches if usual.calls else self._writings)[number] += 1
        self.told(f"given to the model: q{number}, to {'search' if usual.calls else 'write'}")
        if usual.calls:
            return usual
        pieces = list(_pieces(words(number)))
        kind = self.troubles.pop(number, None)
        pace = SLOW if number in self.slow else None
        if kind is None:
            if pace:
                self.reached[number].set()
            return ScriptedAnswer(tuple(pieces), pace=pace)
        self._stalling.append(number)
        return ScriptedAnswer(tuple(pieces[: PIECES // 2]), then=kind, pace=pace)

    def slow_down(self, number: int) -> asyncio.Event:
        """Let an answer take seconds; give what is set when it begins."""
        self.slow.add(number)
        return self.reached.setdefault(number, asyncio.Event())

    async def hang(self) -> None:
        """Tell that an answer goes no further."""
        for number in self._stalling:
            self.reached[number].set()
        self._stalling.clear()
        await super().hang()


def _pieces(whole: list[str]) -> Iterator[str]:
    """Cut an answer into pieces, with a mark behind its first word."""
    marked = [f"{whole[0]} [1]", *whole[1:]]
    size = max(1, -(-len(marked) // PIECES))
    for start in range(0, len(marked), size):
        yield " ".join(marked[start : start + size]) + " "
