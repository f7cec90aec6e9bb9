"""The events of a stream, cut out of its bytes however these arrive."""

from __future__ import annotations

import re

_LINE_END = re.compile(rb"\r\n|\n|\r")


class Events:
    """Give it bytes with `feed`; it gives the data of every event that is whole by then."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._half_end = False
        self.ended = False

    def feed(self, piece: bytes) -> list[bytes]:
        """Take more bytes; what comes after the end is nothing."""
        if self._half_end:
            piece = piece.removeprefix(b"\n")
        self._half_end = piece.endswith(b"\r")
        text = self._rest + piece
        *lines, self._rest = _LINE_END.split(text) if b"\r" in text else text.split(b"\n")
        events: list[bytes] = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                events += self._event()
        return events

    def _event(self) -> list[bytes]:
        data = b"\n".join(self._data)
        self._data.clear()
        self.ended = self.ended or data.startswith(b"[DONE]")
        return [] if self.ended else [data]
