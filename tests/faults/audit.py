"""Reads what people have before their eyes, and says what is wrong with it. Nothing here waits, reads or writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from core.messages import AWAY, BUSY, CANNOT_TAKE, FAILED, LEXICAL_ONLY, NOT_TAKEN, STOPPED, UNAVAILABLE
from tests.faults.model import said, word, words

EXCUSES = (AWAY, CANNOT_TAKE, FAILED, NOT_TAKEN, UNAVAILABLE)
MOST_GIVEN = 3  # times that the model may be given a question


class Ending(Enum):
    """What became of a question."""

    PENDING = "pending"
    ANSWERED = "answered"
    EXCUSED = "excused"
    UNHEARD = "unheard"
    GONE = "gone with the store"
    STOPPED = "stopped"
    WITHDRAWN = "withdrawn"


class Kind(Enum):
    """What can be wrong at the end."""

    LOST = "lost"
    DOUBLED = "doubled"
    DISORDERED = "out of order"
    UNFINISHED = "left unfinished"
    STRAY = "said where nobody asked"
    REMOVED = "posted and removed again"
    REMEMBERED = "not remembered once"
    GIVEN = "given to the model too often"
    COUNTED = "counted or set aside wrongly"
    LEAKED = "readable in a file"


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

    Of those `unheard`, the platform itself has said that nobody answered. What was `removed` stood there before.
    Some were `withdrawn`, or `stopped`, and `former` are what others were before they were edited. Answers that are
    `kept` may stay as they were, since the bot need not have heard of the change.
    Of what is `gone` the store lost all, and so did whoever had heard it, and no platform tells of it again: of its
    answer, the beginning may stand there.
    """

    asked: tuple[int, ...]
    shown: tuple[Shown, ...] = ()
    warned: frozenset[int] = frozenset()
    unheard: frozenset[int] = frozenset()
    gone: frozenset[int] = frozenset()
    removed: tuple[Shown, ...] = ()
    withdrawn: frozenset[int] = frozenset()
    stopped: frozenset[int] = frozenset()
    former: Mapping[int, int] = field(default_factory=dict[int, int])
    kept: frozenset[int] = frozenset()
    is_working: bool = False

    @property
    def told(self) -> Counter[int]:
        """The questions with whole answers, and how many end each has."""
        return Counter(number for message in self.shown for number in message.numbers if message.is_whole)

    def words_of(self, number: int) -> int:
        """Give the question whose answer is that of another: its own, or what it was before."""
        was = self.former.get(number)
        return was if was is not None and number in self.kept and self.told[was] else number


@dataclass(frozen=True, slots=True)
class Behind:
    """What people do not see of a question: how often the model was given it, and how many turns are remembered.

    It is `given` once more from the beginning where somebody has it tried again, and only the most counts. `losses` are
    how often the store lost what it knew of it, and `begun` how often before it was over: then nobody knows any more
    how often it was given. Where `memory` is not empty, so many turns may be remembered. It is `counted` as so many
    questions, None where nobody can know, which may be more where it `was_changed`, and something may be `held` for it.
    """

    ending: Ending
    given: int = 1
    turns: int = 1
    losses: int = 0
    memory: frozenset[int] = frozenset()
    begun: int = 0
    counted: int | None = None
    was_changed: bool = False
    is_held: bool = False


def endings(scene: Scene) -> Mapping[int, Ending]:
    """Say what became of each question; nothing that still goes on has ended."""
    is_unfinished = scene.is_working or any(message.is_unfinished for message in scene.shown)
    if is_unfinished and scene.gone.issuperset(scene.asked):
        return dict.fromkeys(scene.asked, Ending.GONE)
    if is_unfinished:
        return dict.fromkeys(scene.asked, Ending.PENDING)
    excuses = sum(message.is_excuse for message in scene.shown)
    found: dict[int, Ending] = {}
    for number in scene.asked:
        found[number] = _ending(scene, number)
        is_told = number in scene.warned or number in scene.withdrawn & scene.kept  # a mark goes with the message
        if found[number] is Ending.PENDING and excuses and is_told:
            found[number] = Ending.EXCUSED
            excuses -= 1
        elif found[number] is Ending.PENDING and number in scene.unheard:
            found[number] = Ending.UNHEARD
        elif found[number] is Ending.PENDING and number in scene.gone:
            found[number] = Ending.GONE
    return found


def _ending(scene: Scene, number: int) -> Ending:
    """Say what became of a question, where the bot has said something to it or took it back."""
    told = scene.told
    if number in scene.withdrawn and (number not in scene.kept or not told[number]):
        return Ending.PENDING if scene.shown else Ending.WITHDRAWN
    if number in scene.stopped and any(STOPPED in message.text for message in scene.shown):
        return Ending.STOPPED  # also if it can be voted on, as one is that was shown again by who took it over
    if told[scene.words_of(number)]:
        return Ending.ANSWERED
    return Ending.PENDING


def wrongs(scene: Scene) -> Iterator[Wrong]:
    """Give everything that should not be so once all is over."""
    ended = endings(scene)
    for number, ending in ended.items():
        yield from _wrong_ending(scene, number, ending)
    yield from _wrong_messages(scene, Counter(ended.values()))
    yield from _wrong_order(scene.asked, scene.shown)
    is_changed = not scene.withdrawn.isdisjoint(scene.asked) or not scene.former.keys().isdisjoint(scene.asked)
    for message in scene.removed:
        if not is_changed and not message.text.startswith(BUSY):
            yield Wrong(Kind.REMOVED, f"{message.text[:80]!r} in the place of {list(scene.asked)}")


def _wrong_ending(scene: Scene, number: int, ending: Ending) -> Iterator[Wrong]:
    match ending:
        case Ending.PENDING if number in scene.withdrawn:
            yield Wrong(Kind.STRAY, f"q{number} was taken back, and its answer was not")
        case Ending.PENDING:
            yield Wrong(Kind.LOST, f"q{number} has neither an answer nor an excuse")
        case Ending.STOPPED | Ending.GONE:
            yield from _wrong_beginning(number, ending, scene.shown)
        case _:
            is_answered = ending is Ending.ANSWERED
            has_reason = any(LEXICAL_ONLY in message.text for message in scene.shown)  # which is marked too
            if is_answered and number in scene.warned and not has_reason:
                yield Wrong(Kind.DOUBLED, f"q{number} has an answer and a warning")
            yield from _wrong_words(scene.words_of(number), scene.shown, is_answered=is_answered)


def wrongs_behind(number: int, behind: Behind) -> Iterator[Wrong]:
    """Give what is wrong with a question that nobody sees."""
    if behind.given > MOST_GIVEN * (1 + behind.begun):
        yield Wrong(Kind.GIVEN, f"q{number}, {behind.given} times")
    allowed = {
        Ending.ANSWERED: {0, 1} if behind.losses else {1},
        Ending.UNHEARD: {0, 1},
        Ending.GONE: {0},
        Ending.PENDING: {0, 1},
        Ending.EXCUSED: {0},
        Ending.STOPPED: {0, 1},
        Ending.WITHDRAWN: {0},
    }
    if behind.turns not in (behind.memory or allowed[behind.ending]):
        yield Wrong(Kind.REMEMBERED, f"q{number}, which is {behind.ending.value}, {behind.turns} times")
    yield from _wrong_count(number, behind)


def _wrong_count(number: int, behind: Behind) -> Iterator[Wrong]:
    """Look at what a question is counted as: once if it was answered, and not if that went wrong."""
    is_certain = not behind.losses and not behind.was_changed
    wanted = {Ending.ANSWERED: {1}, Ending.EXCUSED: {0}}.get(behind.ending) if is_certain else None
    most = {0, 1, 2} if behind.was_changed else {0, 1}
    if behind.counted is not None and behind.counted not in (wanted or most):
        yield Wrong(Kind.COUNTED, f"q{number}, which is {behind.ending.value}, {behind.counted} times")
    if behind.is_held and is_certain and behind.ending in (Ending.ANSWERED, Ending.EXCUSED, Ending.STOPPED):
        yield Wrong(Kind.COUNTED, f"q{number}, which is {behind.ending.value}, and for which something is set aside")


def _wrong_beginning(number: int, ending: Ending, shown: Sequence[Shown]) -> Iterator[Wrong]:
    """Compare the words of an answer that was broken off for good with how it would begin."""
    found = [word(each, at) for message in shown for each, at in said(message.text) if each == number]
    if found != words(number)[: len(found)]:
        yield Wrong(Kind.DISORDERED, f"q{number} is {ending.value}, and no beginning of its answer")


def _wrong_words(number: int, shown: Sequence[Shown], *, is_answered: bool) -> Iterator[Wrong]:
    """Compare the words of an answer, over all its messages, with what the model wrote."""
    found = [word(each, at) for message in shown for each, at in said(message.text) if each == number]
    expected = words(number) if is_answered else []
    doubled = [word for word, count in Counter(found).items() if count > 1 or word not in expected]
    missing = [word for word in expected if word not in found]
    if doubled:
        yield Wrong(Kind.DOUBLED, f"q{number} has too much: {doubled[:3]}")
    if missing:
        yield Wrong(Kind.LOST, f"q{number} has too little: {missing[:3]}")
    if not doubled and not missing and found != expected:
        yield Wrong(Kind.DISORDERED, f"the words of q{number}")


def _wrong_messages(scene: Scene, ended: Counter[Ending]) -> Iterator[Wrong]:
    """Look at each message; one that goes on for ever may stand where nobody knows of any question."""
    excused, is_left = ended[Ending.EXCUSED], ended.keys() == {Ending.GONE}
    known = {scene.words_of(number) for number in scene.asked}
    for message in scene.shown:
        if message.is_unfinished and not is_left:
            yield Wrong(Kind.UNFINISHED, f"a message goes on: {message.text[:80]!r}")
        if not known.issuperset(message.numbers):
            yield Wrong(Kind.STRAY, f"an answer stands in a wrong place: {message.text[:80]!r}")
        elif not (message.numbers or message.is_excuse or _is_sign(scene, message, is_left=is_left)):
            yield Wrong(Kind.STRAY, f"a message belongs to nothing: {message.text[:80]!r}")
    ends = scene.told.items()
    yield from (Wrong(Kind.DOUBLED, f"q{number} ends {count} times") for number, count in ends if count > 1)
    excuses = sum(message.is_excuse for message in scene.shown)
    if excuses != excused:
        yield Wrong(Kind.DOUBLED, f"{excuses} excuses for {excused} questions")
    if scene.is_working and not is_left:
        yield Wrong(Kind.UNFINISHED, "the bot seems to be at work")


def _is_sign(scene: Scene, message: Shown, *, is_left: bool) -> bool:
    """Say whether a message without words of an answer tells that one was stopped, or begun by somebody who is gone."""
    return (bool(scene.stopped) and STOPPED in message.text) or (is_left and message.is_unfinished)


def _wrong_order(asked: Sequence[int], shown: Sequence[Shown]) -> Iterator[Wrong]:
    order = list(dict.fromkeys(number for message in shown for number in message.numbers if number in asked))
    if order != [number for number in asked if number in order]:
        yield Wrong(Kind.DISORDERED, f"answers {order} to questions {list(asked)}")
