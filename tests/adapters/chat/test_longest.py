"""An answer has so many messages at most, whatever becomes of the words of the model on a platform."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from adapters.chat.pager import MOST_PARTS, units
from adapters.discord.dialect import DiscordRenderer
from adapters.slack.dialect import SlackRenderer
from core.answering.citations import Footnotes, Sources
from core.answering.dialect import MARKDOWN
from core.answering.markup import MarkupReader
from core.messages import CUT
from core.model import Answer, Hit, Status
from tests.builders import passage

Made = Callable[[], DiscordRenderer | SlackRenderer]
RENDERERS: list[Made] = [DiscordRenderer, SlackRenderer]
GROWING = {
    "footnotes with long addresses": "a [1] b [2] " * 200,
    "ranges of footnotes": "a [1-20] b " * 60,
    "a table with a long head": f"| {'name ' * 500} | b |\n|---|---|\n" + "| c [1] | d |\n" * 300,
}


def sources() -> Sources:
    """Sections with addresses as long as a link may have."""
    found = Sources()
    for number in range(20):
        found.add(Hit(passage(url=f"https://docs.example/{'long/' * 140}{number}", text="A robot acts."), 0.9))
    return found


@pytest.mark.parametrize("make", RENDERERS)
@pytest.mark.parametrize("text", list(GROWING.values()), ids=list(GROWING))
def test_what_grows_on_a_platform_is_cut_off_and_says_so(make: Made, text: str) -> None:
    """Its sources stand below that, and nothing of it was shown before that is not shown then."""
    reader, renderer = MarkupReader(Footnotes(sources())), make()
    drafts = list[list[str]]()
    for at in range(0, len(text), len(text) // 3):
        reader.feed(text[at : at + len(text) // 3])
        drafts.append([part.text for part in renderer.sketch(reader)])
    reader.feed("", is_last=True)
    answer = Answer(
        id="a",
        text=MARKDOWN.write(reader.blocks),
        blocks=tuple(reader.blocks),
        citations=reader.citations,
        status=Status.ANSWERED,
    )
    parts = make().whole(answer)

    assert (len(parts), max(map(len, drafts))) == (MOST_PARTS, MOST_PARTS - 1)
    assert parts[-1].text.startswith((f"_{CUT}_", f"*{CUT}*"))
    assert "docs.example" in f"{parts[-1].text}{parts[-1].below}"
    assert [units(part.text) <= renderer.dialect.limit for part in parts] == [True] * MOST_PARTS
    assert [part.text for part in parts[: MOST_PARTS - 1]] == drafts[-1]
    assert all(later[: max(len(sooner) - 1, 0)] == sooner[:-1] for sooner, later in pairwise(drafts))
