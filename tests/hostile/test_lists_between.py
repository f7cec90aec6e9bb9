"""Lists of sources that a model writes before an answer is over: in no draft, and not at the end."""

from __future__ import annotations

import pytest

from adapters.discord.dialect import DiscordRenderer
from adapters.slack.dialect import SlackRenderer
from core.answering.citations import Footnotes, Sources
from core.answering.dialect import MARKDOWN
from core.answering.markup import MarkupReader, read
from tests.answers import make_sources
from tests.hostile.forgeries import LISTS

BEFORE, BELOW = "Robots act.", "That is all there is."
ON_ONE_LINE = (
    "Sources: Somewhere [1] Elsewhere [2]",
    "## Sources & notes - Somewhere - Elsewhere",
    "| Source | Link | |---|---| | [1] | Somewhere |",
)
PROSE = (
    "Sources - what sends messages - are nodes.",
    "## References\n\nA reference is an alias of an object, and never null.\n\nIt is bound once.",
    "## References\n\n- A reference is an alias of an object.\n- It is never null.\n\nIt is bound once.",
    "## References\n\n1. A reference is an alias of an object.\n2. It is never null.\n\nIt is bound once.",
    "**Sources**\n\n- Batteries\n- Sockets\n\nBoth have poles.",
    "A reference has two\nsources:\n\n- Batteries\n- Sockets",
    "It is an alias, says\nSources: a source in ROS 2 is what sends messages.",
    "It has joints and\nlinks",
    "## Sources and sinks\n\n- A source sends.\n- A sink takes.",
    "## Links\n\n| Link | Strength |\n|---|---|\n| chain | high |\n\nBoth hold.",
)


def whole(text: str) -> str:
    """Give an answer as Markdown."""
    return MARKDOWN.write(read(text, make_sources()))


def drafts(text: str) -> list[list[str]]:
    """Give what is shown after each character: as Markdown, on Discord and on Slack."""
    reader, renderers = MarkupReader(Footnotes(Sources())), (DiscordRenderer(), SlackRenderer())
    found = list[list[str]]()
    for character in text:
        reader.feed(character)
        markdown = MARKDOWN.write([block for part in reader.read() for block in part])
        sketches = (each.sketch(reader) for each in renderers)
        found.append([markdown, *("\n".join(part.text for part in parts) for parts in sketches)])
    return found


@pytest.mark.promise("no-hostile-text")
@pytest.mark.parametrize("forged", [*LISTS, *ON_ONE_LINE])
@pytest.mark.parametrize("before", ["", f"{BEFORE}\n\n", f"{BEFORE}\n"])
def test_a_list_between_is_in_no_draft_and_not_in_the_answer(forged: str, before: str) -> None:
    """However it is written; what is below it is shown."""
    reader = MarkupReader(Footnotes(make_sources()))
    reader.feed(f"{before}{forged}\n\n{BELOW}", is_last=True)
    shown = {text for draft in drafts(f"{before}{forged}\n\n{BELOW}\n") for text in draft}

    left = f"{before.rstrip()}\n\n{BELOW}".strip()
    assert MARKDOWN.write(reader.blocks) == left
    assert {text for text in shown if not left.startswith(text.strip().strip("…").strip())} == set()
    assert reader.citations == ()


@pytest.mark.promise("no-hostile-text")
@pytest.mark.parametrize("forged", LISTS)
def test_a_draft_that_ends_within_a_list_shows_nothing_of_it(forged: str) -> None:
    """Nor does an answer that is cut off there."""
    text = f"{BEFORE}\n\n{forged}"
    for end in range(len(BEFORE) + 2, len(text) + 1):
        reader = MarkupReader(Footnotes(make_sources()))
        reader.feed(text[:end])
        assert MARKDOWN.write([block for part in reader.read() for block in part]) == BEFORE


@pytest.mark.parametrize("text", PROSE)
def test_what_is_said_of_references_stays(text: str) -> None:
    """Under a title that a list of sources could have, sentences, names and values are an answer."""
    assert whole(text) == text
    assert drafts(f"{text}\n\nMore.\n")[-1][0].startswith(text)


@pytest.mark.parametrize(
    "below",
    [
        "Sources: [1], [2]",
        "[1]: Robots, https://evil.example\n[2]: More",
        "---\n\n**Quellen:**\n\n* Robots",
        "[1] Robots https://docs.example/page1#part",
        "## References\n\n- [1] Robots\n- They bind to objects.\n- They are never null.",
    ],
)
def test_what_may_be_more_than_a_list_of_sources_is_only_left_off_at_the_end(below: str) -> None:
    """In the middle, footnotes say where the words before them come from, and names and sentences are an answer."""
    at_end, between = whole(f"{BEFORE}\n\n{below}"), whole(f"{BEFORE}\n\n{below}\n\n{BELOW}")

    assert (at_end, between.startswith(BEFORE), between.endswith(BELOW)) == (BEFORE, True, True)
    assert len(between) > len(f"{BEFORE}\n\n{BELOW}")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1. Sources:\n   - [1] Robots\n\n   They act.", "1. They act."),
        ("- **Sources**\n  - [1] Robots\n- They act.", "- They act."),
        ("Sources [1] send messages.", "Sources [1] send messages."),
        ("Sources: noise [1] and drift.", "Sources: noise [1] and drift."),
        ("**Links**: base [1], arm\n\nBoth hold.", "**Links**: base [1], arm\n\nBoth hold."),
        ("> Sources\n> [1] Robots\n>\n> They act.", "> They act."),
        ("They act.\n\n## Sources\n- [1] Robots\n## More\nThey see.", "They act.\n\n## More\nThey see."),
    ],
)
def test_what_stands_around_a_list_of_sources_stays_what_it_is(text: str, shown: str) -> None:
    """An item that began with such a list begins with the words below it."""
    assert whole(text) == shown
