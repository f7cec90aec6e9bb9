"""When the first message of an answer comes: once there is something in it for a notification."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.answering.citations import Footnotes, Remembered
from core.answering.markup import MarkupReader
from core.model import Answer, Citation, Drafted, Progress, Status
from tests.adapters.chat.test_drafts import Pencil, draft, settled
from tests.builders import question
from tests.fakes.poster import Thread

CITATION = Citation(number=1, chapter="", section="", title="Robots", url="https://docs.example/r", relevance_score=0.9)


@pytest.mark.promise("worth-a-notification")
@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("To ", "turn 3.", "5 degrees, e.g. ", "left, pause. ", "And "), "To turn 3.5 degrees, e.g. left, pause. And"),
        (
            ("Use ", "approx.", " 5 GB, ", "z. B. Dr. Adas ", "Kabel. ", "Und "),
            "Use approx. 5 GB, z. B. Dr. Adas Kabel. Und",
        ),
        (
            ("Prévoir env.", " 5 Go, p. ex. ", "ici. ", "Puis dormez. ", "Et "),
            "Prévoir env. 5 Go, p. ex. ici. Puis dormez. Et",
        ),
        (("로봇이 ", "움직입니다. ", "그리고 "), "로봇이 움직입니다. 그리고"),
        (("# Turning\n\n", "Robots ", "act ", "[1]", ". And"), "# Turning\n\nRobots act [1]"),
        (("word " * 16, "word ", "word ", "word "), ("word " * 17).strip()),
        (("機器人", "會動。", "然後 "), "機器人會動。"),
        (("```\n", "act()\n", "rest()\n", "wait()"), "```\nact()\n```"),
    ],
)
async def test_the_first_message_begins_with_a_sentence_or_much_of_one(words: tuple[str, ...], first: str) -> None:
    """People are notified of it, and read no more than that."""
    platform = Thread()
    reader = MarkupReader(Footnotes(Remembered([CITATION])))

    async def progress() -> AsyncIterator[Progress]:
        for word in words:
            reader.feed(word)
            yield Drafted(reader)
            await settled()
        yield Answer(id="a1", text="Robots act.", status=Status.ANSWERED)

    async with draft(platform) as shown:
        await shown.draw(progress(), Pencil(), question())

    assert platform.calls[0][2] == first
