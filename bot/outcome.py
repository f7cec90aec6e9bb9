"""How a command ends: an exit code, and one sentence for a person where something was wrong; never a traceback."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from core.errors import FootnoteError, InvalidInput, Misconfigured

OK = 0
WRONG_INPUT = 2
UNAVAILABLE = 3
STOPPED = 130  # as shells count a stop by Ctrl-C

_UNEXPECTED = "Something unexpected went wrong ({kind}). footnote.log in the data folder has the details."


def report(command: Callable[[], int], *, as_json: bool = False) -> int:
    """Run *command* and give its exit code; its errors become a sentence on standard error, or the JSON object."""
    try:
        return command()
    except KeyboardInterrupt:
        _say("Stopped.", "stopped", as_json=as_json)
        return STOPPED
    except (InvalidInput, Misconfigured) as error:
        _say(str(error), "validation", as_json=as_json)
        return WRONG_INPUT
    except FootnoteError as error:
        _say(str(error), "retrieval", as_json=as_json)
        return UNAVAILABLE
    except BrokenPipeError:  # the reader of our pipe has seen enough
        sys.stderr.close()
        return OK
    except Exception as error:  # noqa: BLE001 - the last line of defence
        _log(error)
        _say(_UNEXPECTED.format(kind=type(error).__name__), "generation", as_json=as_json)
        return UNAVAILABLE


def _say(sentence: str, error_type: str, *, as_json: bool) -> None:
    if as_json:
        error = {"error_type": error_type, "message": sentence}
        sys.stdout.write(json.dumps({"answer": None, "status": "failed", "error": error}) + "\n")
    else:
        sys.stderr.write(f"{sentence}\n")


def _log(error: BaseException) -> None:
    import logging

    logging.getLogger("footnote").error("unexpected", exc_info=error)
