"""Words that stand below a question for as long as its answer is not there."""

from __future__ import annotations

from pydantic import AwareDatetime

from core.model.refs import MessageRef, Value


class Notice(Value):
    """What the bot says to a question beside its answer, in its own words, and takes away again.

    `place` is the channel that it stands in, by the platform's id, and `at` when it was said. `posted` is the id of the
    message, empty as long as nobody knows whether it was posted.
    """

    question: MessageRef
    revision: int
    place: str
    words: str
    at: AwareDatetime
    posted: str = ""
