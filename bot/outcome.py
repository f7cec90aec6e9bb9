"""How a command ends: an exit code, and one sentence for a person where something was wrong; never a traceback."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.errors import FootnoteError, InvalidInput, Misconfigured

if TYPE_CHECKING:
    from core.events import ErrorType

OK = 0
WRONG_INPUT = 2
UNAVAILABLE = 3
STOPPED = 130  # as shells count a stop by Ctrl-C

_UNEXPECTED = "Something unexpected went wrong ({kind}). footnote.log in the data folder has the details."


def report(command: Callable[[], int], *, as_json: bool = False) -> int:
    """Run *command* and give its exit code; its errors become a sentence on standard error, or the JSON object."""
    try:
        return command()
    except BrokenPipeError:  # whoever reads our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last line of defence
        code, error_type, sentence = _explain(error)
        _say(sentence, error_type, stopped=code == STOPPED, as_json=as_json)
        return code


def _explain(error: BaseException) -> tuple[int, ErrorType, str]:
    """Give exit code, kind and sentence of an error."""
    match error:
        case KeyboardInterrupt():
            return STOPPED, "generation", "Stopped."
        case InvalidInput() | Misconfigured():
            return WRONG_INPUT, "validation", str(error)
        case FootnoteError():
            return UNAVAILABLE, "retrieval", str(error)
        case _:
            logging.getLogger("footnote").error("unexpected", exc_info=error)
            return UNAVAILABLE, "generation", _UNEXPECTED.format(kind=type(error).__name__)


def _say(sentence: str, error_type: ErrorType, *, stopped: bool, as_json: bool) -> None:
    """Say why it ends, in the form that was asked for."""
    from core.model import Status, without_controls

    if not as_json:
        sys.stderr.write(f"{without_controls(sentence)}\n")
        return
    from adapters.terminal.render import failure_as_json

    failure = failure_as_json(Status.STOPPED if stopped else Status.FAILED, error_type, sentence)
    sys.stdout.write(json.dumps(failure, ensure_ascii=False) + "\n")
