"""Where on the way of a question a process can be stopped: every step, every state, and what happens in between."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from core.events import (
    AnswerAssumed,
    Answered,
    CatchUpCutShort,
    Event,
    LostByStore,
    MemoryFailed,
    Passed,
    PlaceRefused,
    PossiblyDoubled,
    State,
    StateChanged,
    Step,
    TakenOver,
    TaskFailed,
    TokensUsed,
    ToolCalled,
)

TOOL: Final = "tool called"
TOKENS: Final = "tokens used"
ACCEPTING: Final = ("step accepted", "step acknowledged")
"""What a process does for commands, before it knows where they belong."""

MENTIONED: Final = ("step heard", "step put")
COMMANDED: Final = (*ACCEPTING, "step heard", "step moved")
LISTENING: Final = (*ACCEPTING, *MENTIONED, "step moved")
"""What a process does that listens to a platform; all others are done by workers."""

STEPS: Final = tuple(f"step {step.value}" for step in Step)
STATES: Final = tuple(f"state {state.value}" for state in State if state is not State.ERROR)
POINTS: Final = (*STEPS, *STATES, TOOL, TOKENS)


def point_of(event: Event) -> str | None:
    """Give the point that an event is; None for one at which nothing is stopped."""
    match event:
        case Passed(_, step):
            return f"step {step.value}"
        case StateChanged(_, state):
            return f"state {state.value}"
        case ToolCalled():
            return TOOL
        case TokensUsed():
            return TOKENS
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Order:
    """Stop at a point: die, or freeze.

    It is for one question by the id of its message, or for any one of a platform; empty is every one.
    """

    point: str
    freeze: bool = False
    question: str = ""
    platform: str = ""

    def write(self, path: Path) -> None:
        """Have it carried out by whichever process comes to the point first, of those that look into the folder."""
        draft = path.with_name(f".{path.name}")
        draft.write_text(json.dumps(asdict(self)))
        draft.rename(path)

    @classmethod
    def read(cls, path: Path) -> Order | None:
        """Read it; None if there is none any more."""
        try:
            return cls(**json.loads(path.read_text()))
        except FileNotFoundError:
            return None

    def is_at(self, event: Any, point: str) -> bool:
        """Say whether an event is what was ordered."""
        question = event.question
        return (
            point == self.point
            and self.question in ("", question.id)
            and self.platform in ("", question.thread.platform)
        )


class Obedient:
    """An observer that stops its own process where an order says so; of several processes, one carries it out."""

    def __init__(self, folder: Path, tell: Callable[..., None]) -> None:
        """Look for orders in a folder, and *tell* of one before it is carried out."""
        self._folder = folder
        self._tell = tell

    def __call__(self, event: Event) -> None:
        """Stop here if that is the order; nothing that comes after the event happens."""
        self._report(event)
        point = point_of(event)
        if point is None:
            return
        for path in [each for each in self._folder.iterdir() if not each.name.startswith(".")]:
            order = Order.read(path)
            if order is not None and order.is_at(event, point) and _takes(path):
                question: Any = getattr(event, "question", None)
                self._tell("met", order=path.name, point=point, question=str(question.id))
                os.kill(os.getpid(), signal.SIGSTOP if order.freeze else signal.SIGKILL)

    def _report(self, event: Event) -> None:
        """Tell what becomes of questions, for the report."""
        match event:
            case TakenOver(question, attempt):
                self._tell("taken over", question=question.id, attempt=attempt)
            case TaskFailed(question, attempt, is_last, reason):
                self._tell("failed", question=question.id, attempt=attempt, is_last=is_last, reason=reason)
            case Passed(question, Step.TAKEN):
                self._tell("taken", question=question.id)
            case Passed(question, Step.SETTLED):
                self._tell("settled", question=question.id)
            case Answered(question, status):
                self._tell("answered", question=question.id, status=status.value)
            case (
                AnswerAssumed()
                | CatchUpCutShort()
                | LostByStore()
                | MemoryFailed()
                | PlaceRefused()
                | PossiblyDoubled()
            ):
                self._tell("event", what=repr(event))
            case _:
                pass


def _takes(path: Path) -> bool:
    """Take an order away; say whether nobody was quicker."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True
