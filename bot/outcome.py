"""How a command ends: an exit code, and one sentence for a person where something was wrong; never a traceback."""

from __future__ import annotations

import errno
import json
import logging
import os
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from core.errors import FootnoteError, InvalidInput, Misconfigured

if TYPE_CHECKING:
    from core.events import ErrorType


def places(error: BaseException) -> list[str]:
    """Return the lines of code that an error passed, and those of the errors that it groups."""
    here = [f"{place.filename}:{place.lineno} {place.name}" for place in traceback.extract_tb(error.__traceback__)]
    inner: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return here + [place for each in inner for place in places(each)]


OK = 0
WRONG_INPUT = 2
UNAVAILABLE = 3
STOPPED = 130  # as shells count a stop by Ctrl-C

_FULL = "There is no space left to write. Free some space on the disk and try again."
_UNEXPECTED = "Something unexpected went wrong ({kind})."
_DETAILS = " The log has the details."


def report(command: Callable[[], int], *, as_json: bool = False) -> int:
    """Run *command* and give its exit code; its errors become a sentence on standard error, or the JSON object."""
    try:
        code = command()
        sys.stdout.flush()  # here and not at exit, where an error could no longer be told
    except (BrokenPipeError, SystemExit):  # whoever reads our output has seen enough; rich makes an exit of it
        _discard(sys.stdout)
        return OK
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last line of defence
        code, error_type, sentence = explain(error)
        _tell(sentence, error_type, stopped=code == STOPPED, as_json=as_json)
    return code


def explain(error: BaseException) -> tuple[int, ErrorType, str]:
    """Return exit code, kind and sentence of an error."""
    match error:
        case KeyboardInterrupt():
            return STOPPED, "generation", "Stopped."
        case InvalidInput() | Misconfigured():
            return WRONG_INPUT, "validation", str(error)
        case FootnoteError():
            return UNAVAILABLE, "retrieval", str(error)
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return UNAVAILABLE, "generation", _FULL
        case _:
            return UNAVAILABLE, "generation", _UNEXPECTED.format(kind=type(error).__name__) + _logged(error)


def _logged(error: BaseException) -> str:
    """Log where an error comes from, without its words, which may be somebody's; return where to look."""
    log = logging.getLogger("footnote")
    if not log.handlers:  # it happened before there was a data folder
        return ""
    said = {"event": "unexpected", "level": "error", "kind": type(error).__name__, "places": places(error)}
    log.error(json.dumps(said))
    return _DETAILS


def _tell(sentence: str, error_type: ErrorType, *, stopped: bool, as_json: bool) -> None:
    """Write why it ends, in the form that was asked for; where that cannot be written, on standard error."""
    from core.model import Status, without_controls

    if as_json:
        from adapters.terminal.render import failure_as_json

        failure = failure_as_json(Status.STOPPED if stopped else Status.FAILED, error_type, sentence)
        if _write(sys.stdout, without_controls(json.dumps(failure, ensure_ascii=False))):
            return
    else:
        _write(sys.stdout, "", end="")
    _write(sys.stderr, without_controls(sentence))


def _write(stream: TextIO, text: str, *, end: str = "\n") -> bool:
    """Write with all that waits; return whether it went through. What did not is given up."""
    try:
        stream.write(text + end)
        stream.flush()
    except OSError:
        _discard(stream)
        return False
    return True


def _discard(stream: TextIO) -> None:
    """Send what is still waiting, and what comes, to nowhere: Python would complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
