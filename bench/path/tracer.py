"""Notes which functions of the product are entered, in whichever thread; the standard library tells of each one."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = tuple(str(ROOT / package) + "/" for package in ("bot", "adapters", "core"))


@dataclass(frozen=True, slots=True)
class Entered:
    """A function or method, by its file and its name there; functions of the same name differ by their lines."""

    module: str
    name: str
    line: int


class Tracer:
    """What was entered between `begin` and `end`, in order; what goes on after it was interrupted is entered again.

    Where the two are called again and again, it is what was entered each time: what a question passes, and not what
    came about meanwhile, such as a page of answers that are sought again or a sign of life on a slow machine.
    """

    def __init__(self) -> None:
        self._times: list[dict[Entered, None]] = []
        self._is_on = False
        self._left_out: set[int] = set()

    @property
    def entered(self) -> tuple[Entered, ...]:
        """Everything, in the order of the first entry."""
        first, *others = self._times
        return tuple(each for each in first if all(each in entered for entered in others))

    def begin(self, _: str = "") -> None:
        """Note from now on, in whichever way is asked."""
        self._times.append({})
        self._is_on = True

    def end(self) -> None:
        """Note nothing more."""
        self._is_on = False

    def leave_out(self) -> None:
        """Note nothing of the calling thread, which belongs to whoever asks and not to the product."""
        self._left_out.add(threading.get_ident())

    @contextmanager
    def installed(self) -> Generator[None]:
        """Hear of calls, in this thread and in all that begin from now on."""
        if sys.version_info >= (3, 12):
            with self._monitoring():
                yield
            return
        threading.setprofile(self._profiled)
        sys.setprofile(self._profiled)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextmanager
    def _monitoring(self) -> Generator[None]:
        monitoring: Any = getattr(sys, "monitoring")  # noqa: B009 - it is not there before 3.12
        tool, events = monitoring.PROFILER_ID, monitoring.events
        kinds = (events.PY_START, events.PY_RESUME, events.PY_THROW)
        monitoring.use_tool_id(tool, "bench.path")
        for kind in kinds:
            monitoring.register_callback(tool, kind, self._monitored)
        monitoring.set_events(tool, sum(kinds))
        try:
            yield
        finally:
            monitoring.free_tool_id(tool)

    def _monitored(self, code: CodeType, *_: object) -> None:
        self._note(code)

    def _profiled(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._note(frame.f_code)

    def _note(self, code: CodeType) -> None:
        if self._is_on and _is_named_function(code) and threading.get_ident() not in self._left_out:
            module = str(Path(code.co_filename).relative_to(ROOT))
            self._times[-1].setdefault(Entered(module, code.co_qualname, code.co_firstlineno))


def _is_named_function(code: CodeType) -> bool:
    """Tell functions of the product from its modules and bodies of classes, and from comprehensions and lambdas."""
    is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
    return is_function and not code.co_name.startswith("<") and code.co_filename.startswith(PRODUCT)
