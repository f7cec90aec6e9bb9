"""What a model thinks aloud before it answers, taken out of the text while it comes."""

from __future__ import annotations

OPENINGS = {"<think>": "</think>", "<thinking>": "</thinking>", "<thought>": "</thought>"}


class Thoughts:
    """Lets text through, but for blocks of thoughts before its first word; further on such marks are only text."""

    def __init__(self) -> None:
        self._answering = False
        self._closing = ""
        self._held = ""
        self._thought = False

    def without(self, text: str) -> str:
        """Give what may be shown of the next piece; what may still become a mark is held back."""
        if self._answering:
            return text
        self._held += text
        while not self._answering:
            if not (self._enter() if not self._closing else self._leave()):
                return ""
        shown, self._held = self._held, ""
        return shown

    def rest(self) -> str:
        """Give what was held back, at the end of the text; thoughts that never ended are not shown."""
        shown, self._held = ("" if self._closing else self._held), ""
        return shown

    def _enter(self) -> bool:
        """Find out whether thoughts begin; say whether that could be decided."""
        begun = self._held.lstrip()
        for opening, closing in OPENINGS.items():
            if begun.startswith(opening):
                self._held, self._closing, self._thought = begun.removeprefix(opening), closing, True
                return True
            if opening.startswith(begun):
                return False
        self._held = begun if self._thought else self._held
        self._answering = True
        return True

    def _leave(self) -> bool:
        """Find the end of the thoughts; say whether it has come."""
        _, mark, after = self._held.partition(self._closing)
        if not mark:
            self._held = self._held[-len(self._closing) :]
            return False
        self._held, self._closing = after, ""
        return True
