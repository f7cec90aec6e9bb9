"""Turns Markdown into Markdown that Slack can be trusted with, whatever a model wrote. Nothing here waits."""

from __future__ import annotations

import re
from collections.abc import Mapping

from adapters.chat.fences import Fenced, segments
from adapters.chat.inline import Dialect, Inline
from adapters.chat.kept import Kept, cleaned
from adapters.chat.links import usable
from adapters.chat.tags import complete, plain
from adapters.slack.rendering.code import fence, span
from adapters.slack.rendering.escaping import defused, settled
from adapters.slack.rendering.links import bare, target
from adapters.slack.rendering.tables import without_open_table
from core.model import without_controls

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_TASK = re.compile(r"^([ \t>]{0,40}[-*+][ \t]{1,4})\\\[([ xX])\](?=[ \t])", re.MULTILINE)
_OPEN_TASK = re.compile(r"^([ \t>]{0,40}[-*+])[ \t]{1,4}\\\[(?:[ xX]\]?)?\Z", re.MULTILINE)
_OPEN_BREAK = re.compile(r"<br[ \t]{0,9}/?>[^\n|]*\Z", re.IGNORECASE)  # in a table, it is no end of a line
_PIPE_BEFORE = re.compile(r"[^\n]*\|[^\n]*\Z")

DIALECT = Dialect(span, bare, target, usable)


def dialect(text: str, targets: Mapping[str, str], *, final: bool = True) -> str:
    """Rewrite Markdown for Slack; unless *final*, what more text could change is left off.

    Of a text that grows, every result that is not final begins with the one before it: a stream is appended to, and
    nothing that it has shown can be taken back. *targets* are the addresses of footnotes, by the mark in the text.
    """
    kept = Kept()
    inline = Inline(DIALECT, kept, targets)
    pieces = list(segments(cleaned(without_controls(text)), final=final))
    drawn: list[str] = []
    for number, piece in enumerate(pieces, 1):
        is_whole = final or number < len(pieces)
        if isinstance(piece, Fenced):
            drawn.append(kept.keep(fence(piece, final=is_whole)))
        else:
            drawn.append(inline.write(piece, final=is_whole))
    prose = "\n".join(part.removesuffix("\n") for part in drawn) if len(drawn) > 1 else drawn[0]
    prose = plain(prose) if final else _certain(prose)
    prose = _TASK.sub(lambda found: found[1] + ("☐" if found[2] == " " else "☑"), prose)
    return _BLANK_LINES.sub("\n\n", kept.restore(defused(prose))).strip("\n").rstrip()


def _certain(prose: str) -> str:
    """Leave off the end that more text could change, and make the rest plain."""
    prose = complete(prose)
    opened = _OPEN_BREAK.search(prose)
    if opened and not _PIPE_BEFORE.search(prose[: opened.start()]):
        prose = prose[: opened.start()]
    return without_open_table(_OPEN_TASK.sub(r"\1", settled(plain(prose))))
