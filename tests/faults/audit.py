"""Reads what people have before their eyes, and says what is wrong with it. Nothing here waits, reads or writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from core.messages import BUSY, CANNOT_TAKE, FAILED, UNAVAILABLE
from tests.faults.model import said, words

EXCUSES = (CANNOT_TAKE, FAILED, UNAVAILABLE)


class Ending(Enum):
    """What became of a question."""

    PENDING = "pending"
    ANSWERED = "answered"
    EXCUSED = "excused"
    UNHEARD = "unheard"


class Kind(Enum):
    """What can be wrong at the end."""

    LOST = "lost"
    DOUBLED = "doubled"
    DISORDERED = "out of order"
    UNFINISHED = "left unfinished"
    STRAY = "said where nobody asked"


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something that people see and should not."""

    kind: Kind
    what: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A message of the bot's; `is_open` where people see that it goes on, `is_whole` where they can vote on it."""

    text: str
    is_open: bool = False
    is_whole: bool = False

    @property
    def is_excuse(self) -> bool:
        """Whether it says that there will be no answer."""
        return any(excuse in self.text for excuse in EXCUSES)

    @property
    def is_unfinished(self) -> bool:
        """Whether it says that something is still to come."""
        return self.is_open or self.text.startswith(BUSY)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The questions that it answers, in order."""
        return tuple(dict.fromkeys(number for number, _ in said(self.text)))


@dataclass(frozen=True, slots=True)
class Scene:
    """A place where questions were asked, in this order, and what is there: messages, warnings, and signs of work.

    Of those `unheard`, the platform itself has said that nobody answered.
    """

    asked: tuple[int, ...]
    shown: tuple[Shown, ...] = ()
    warned: frozenset[int] = frozenset()
    unheard: frozenset[int] = frozenset()
    is_working: bool = False


def endings(scene: Scene) -> Mapping[int, Ending]:
    """Say what became of each question; nothing that still goes on has ended."""
    if scene.is_working or any(message.is_unfinished for message in scene.shown):
        return dict.fromkeys(scene.asked, Ending.PENDING)
    told = Counter(number for message in scene.shown for number in message.numbers if message.is_whole)
    excuses = sum(message.is_excuse for message in scene.shown)
    found: dict[int, Ending] = {}
    for number in scene.asked:
        if told[number]:
            found[number] = Ending.ANSWERED
        elif excuses and number in scene.warned:
            found[number] = Ending.EXCUSED
            excuses -= 1
        elif number in scene.unheard:
            found[number] = Ending.UNHEARD
        else:
            found[number] = Ending.PENDING
    return found


def wrongs(scene: Scene) -> Iterator[Wrong]:
    """Give everything that should not be so once all is over."""
    ended = endings(scene)
    for number, ending in ended.items():
        if ending is Ending.PENDING:
            yield Wrong(Kind.LOST, f"q{number} has neither an answer nor an excuse")
        if ending is Ending.ANSWERED and number in scene.warned:
            yield Wrong(Kind.DOUBLED, f"q{number} has an answer and a warning")
        if ending is not Ending.PENDING:
            yield from _wrong_words(number, scene.shown, is_answered=ending is Ending.ANSWERED)
    yield from _wrong_messages(scene, sum(ending is Ending.EXCUSED for ending in ended.values()))
    yield from _wrong_order(scene.asked, scene.shown)


def _wrong_words(number: int, shown: Sequence[Shown], *, is_answered: bool) -> Iterator[Wrong]:
    """Compare the words of an answer, over all its messages, with what the model wrote."""
    found = [f"q{each}w{at}" for message in shown for each, at in said(message.text) if each == number]
    expected = words(number) if is_answered else []
    doubled = [word for word, count in Counter(found).items() if count > 1 or word not in expected]
    missing = [word for word in expected if word not in found]
    if doubled:
        yield Wrong(Kind.DOUBLED, f"q{number} has too much: {doubled[:3]}")
    if missing:
        yield Wrong(Kind.LOST, f"q{number} has too little: {missing[:3]}")
    if not doubled and not missing and found != expected:
        yield Wrong(Kind.DISORDERED, f"the words of q{number}")


def _wrong_messages(scene: Scene, excused: int) -> Iterator[Wrong]:
    known = set(scene.asked)
    for message in scene.shown:
        if message.is_unfinished:
            yield Wrong(Kind.UNFINISHED, f"a message goes on: {message.text[:80]!r}")
        if not known.issuperset(message.numbers):
            yield Wrong(Kind.STRAY, f"an answer stands in a wrong place: {message.text[:80]!r}")
        elif not message.numbers and not message.is_excuse:
            yield Wrong(Kind.STRAY, f"a message belongs to nothing: {message.text[:80]!r}")
    whole = Counter(number for message in scene.shown for number in message.numbers if message.is_whole)
    yield from (Wrong(Kind.DOUBLED, f"q{number} ends {count} times") for number, count in whole.items() if count > 1)
    excuses = sum(message.is_excuse for message in scene.shown)
    if excuses != excused:
        yield Wrong(Kind.DOUBLED, f"{excuses} excuses for {excused} questions")
    if scene.is_working:
        yield Wrong(Kind.UNFINISHED, "the bot seems to be at work")


def _wrong_order(asked: Sequence[int], shown: Sequence[Shown]) -> Iterator[Wrong]:
    order = list(dict.fromkeys(number for message in shown for number in message.numbers if number in asked))
    if order != [number for number in asked if number in order]:
        yield Wrong(Kind.DISORDERED, f"answers {order} to questions {list(asked)}")
