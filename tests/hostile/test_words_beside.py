"""What is shown beside answers: documents, sources, quoted questions, titles of threads, and replies to words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from adapters.chat.dialect import ChatDialect, heading
from adapters.discord.dialect import DISCORD, quoted
from adapters.discord.interactions import DRAWING as ON_DISCORD
from adapters.slack.dialect import SLACK
from adapters.slack.interactions import DRAWING as ON_SLACK
from core.messages import Drawing, document_pages, not_understood, outline_lines, policy_lines
from core.model import Citation, Outline, Person, Policy
from tests.hostile.corpus import ATTACKS
from tests.hostile.readers import Seen, SmallPrint, discord, slack, unseen

URL = "https://docs.example/robots"
NUMBERS = (1,)


def _small(text: str) -> Seen:
    return slack(SmallPrint(text))


PLATFORMS: dict[str, tuple[ChatDialect, Drawing, Callable[[str], Seen]]] = {
    "discord": (DISCORD, ON_DISCORD, discord),
    "slack": (SLACK, ON_SLACK, _small),
}


def words_of(payload: str, dialect: ChatDialect, drawing: Drawing) -> Iterator[str]:
    """Give everything that is said beside answers with words of others in it."""
    outline = Outline(sources=(payload,), pages=1, passages=1, chapters=(payload,))
    citation = Citation(number=1, chapter="", section=payload, title=payload, url=URL, relevance_score=0.5)
    yield from ("\n".join(page) for page in document_pages([(payload, outline, None)], drawing))
    yield from ("\n".join(line.text for line in dialect.sources((citation,), are_near=near)) for near in (False, True))
    yield from policy_lines(Policy(paused_by=Person(id="", name=payload)), drawing)
    if dialect is DISCORD:
        yield quoted(payload)
    else:
        yield f"• {dialect.on_one_line(outline_lines(outline)[-1])}"
        yield not_understood(dialect.on_one_line(payload))


@pytest.mark.promise("no-hostile-text")
@pytest.mark.parametrize("platform", PLATFORMS)
def test_words_beside_answers_show_nothing_foreign(platform: str) -> None:
    """In names of sources and chapters, in titles, in what somebody has asked or typed, and in stored names."""
    dialect, drawing, reader = PLATFORMS[platform]
    found = [
        f"{attack.kind} {attack.payload!r}: {wrong} in {text!r}"
        for attack in ATTACKS
        for text in words_of(attack.payload, dialect, drawing)
        for wrong in (*reader(text).wrongs((URL,), NUMBERS), *unseen(text))
    ]

    assert found == []


@pytest.mark.promise("no-hostile-text")
def test_the_title_of_a_thread_holds_no_mark() -> None:
    """Platforms draw none there, and nobody is called by one."""
    found = [
        f"{title!r}: {wrong}"
        for attack in ATTACKS
        for title in (heading(attack.payload, 80),)
        for wrong in (*unseen(title), *(sign for sign in "`*_~|<>#[]\\" if sign in title))
    ]

    assert found == []
