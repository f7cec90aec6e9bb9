"""A journey at the keyboard: questions, each a line that is entered; the answers are drawn as on a screen."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout, suppress

from bench.path.tracer import Tracer
from bot.cli import app

QUESTIONS = ("What do penguins eat?", *("And what do they build nests of?", "And what of their nests?") * 2)


class Keyboard(io.StringIO):
    """Where lines are entered; the tracer begins with each but the first and ends when the next is waited for."""

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self._tracer = tracer
        self._asked = 0

    def readline(self, size: int | None = -1, /) -> str:
        """Return the next question, or the end of the input."""
        self._tracer.end()
        if self._asked == len(QUESTIONS):
            return ""
        self._asked += 1
        if self._asked > 1:
            self._tracer.begin()
        return f"{QUESTIONS[self._asked - 1]}\n"


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True


def journey(tracer: Tracer) -> None:
    """Trace what the program does for each question but the first."""
    sys.stdin = Keyboard(tracer)
    with redirect_stdout(Screen()), tracer.installed(), suppress(SystemExit):
        app(args=["chat"])
