"""What the terminal shows: plain in a pipe, drawn and linked on a screen, JSON for programs; never an order to it."""

from __future__ import annotations

import io
import json
import re
import threading
from collections.abc import AsyncIterator, Sequence

import pytest
from rich.console import Console

from adapters.terminal import JsonSurface, PlainSurface, ScreenSurface
from adapters.terminal.render import as_json, failure_as_json, plain
from core.answering.dialect import one_line
from core.messages import AWAITED
from core.model import (
    Answer,
    Awaited,
    Citation,
    Claim,
    Delivery,
    Drafted,
    Progress,
    Reaction,
    Restarted,
    SearchFailed,
    Searching,
    Status,
    Waiting,
)
from core.model.markup import Block
from tests.builders import question
from tests.fakes.surface import drafted
from tests.waiting import wait_until

URL = "https://docs.example/robots#what"
WHAT = Citation(number=1, chapter="one", section="What they are", title="Robots", url=URL, relevance_score=0.914)
CODE = Citation(number=2, chapter="one", section="Code", title="Robots", url=f"{URL}-code", relevance_score=0.5)
ANSWER = Answer(
    id="a1",
    text="Robots **act**. [1] Write `grip[1]`. [2]",
    citations=(WHAT, CODE),
    status=Status.ANSWERED,
    has_relevant_context=True,
)
HOSTILE = "a\x1b]0;owned\x07b\x1b[2Jc\x9b31md\u202ee\x08"
CLAIM = Claim(question())
CONTROL = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b\](.*?)\x1b\\|[\r\n]|[^\x1b\r\n]+", re.DOTALL)


async def items(*progress: Progress) -> AsyncIterator[Progress]:
    """Give progress at once."""
    for item in progress:
        yield item


class Screen(io.StringIO):
    """A terminal with an endless memory of which only the last lines can be changed, as on a real one."""

    def __init__(self, *, width: int = 100, height: int = 20) -> None:
        """Make an empty one."""
        super().__init__()
        self.height = height
        self.console = Console(file=self, force_terminal=True, width=width, height=height, color_system="truecolor")

    def lines(self) -> list[str]:
        """Give the lines that are left after everything that was written was obeyed."""
        lines, row, column = [""], 0, 0
        for found in CONTROL.finditer(self.getvalue()):
            count, order, _ = found.groups()
            if order == "A":
                row = max(row - int(count or 1), len(lines) - self.height, 0)
            elif order == "K":
                lines[row] = ""
            elif found[0] == "\r":
                column = 0
            elif found[0] == "\n":
                row, column = row + 1, 0
                lines += [""] * (row + 1 - len(lines))
            elif not found[0].startswith("\x1b"):
                lines[row] = lines[row][:column] + found[0] + lines[row][column + len(found[0]) :]
                column += len(found[0])
        return [line.rstrip() for line in lines]

    def links(self) -> list[tuple[str, str]]:
        """Give address and text of each link."""
        found = re.findall(r"\x1b\]8;[^;]*;([^\x1b]+)\x1b\\(.*?)\x1b\]8;;\x1b\\", self.getvalue())
        return [(url, re.sub(r"\x1b\[[0-9;]*m", "", text).strip()) for url, text in found]


async def test_a_pipe_gets_the_answer_and_its_sources_as_text() -> None:
    """Nothing but the finished answer is written, since a pipe cannot take anything back."""
    out = io.StringIO()

    delivery = await PlainSurface(out).reply(CLAIM, items(drafted("draft"), Restarted(), drafted("Ro"), ANSWER))

    assert out.getvalue() == (
        "Robots **act**. [1] Write `grip[1]`. [2]\n\n"
        "Sources:\n"
        f"[1] Robots › What they are {URL} (0.91)\n"
        f"[2] Robots › Code {URL}-code (0.50)\n"
    )
    assert delivery == Delivery(messages=(CLAIM.question.message,))


async def test_programs_get_one_json_object() -> None:
    """The object is the whole output, on one line."""
    out = io.StringIO()

    await JsonSurface(out).reply(CLAIM, items(Searching("robots"), drafted("Ro"), ANSWER))

    assert json.loads(out.getvalue()) == as_json(ANSWER)
    assert out.getvalue().count("\n") == 1


async def test_a_screen_shows_the_answer_with_links_to_click() -> None:
    """Each mark and each address is a link; a bracket in code stays what it is."""
    screen = Screen()

    await ScreenSurface(screen.console).reply(CLAIM, items(Searching("robots"), drafted("Ro"), ANSWER))

    assert screen.lines() == [
        "Robots act. [1] Write grip[1]. [2]",
        "",
        "Sources",
        "[1] Robots › What they are  0.91",
        f"    {URL}",
        "[2] Robots › Code  0.50",
        f"    {URL}-code",
        "",
        "",
    ]
    assert screen.links() == [(URL, "[1]"), (f"{URL}-code", "[2]"), (URL, URL), (f"{URL}-code", f"{URL}-code")]


async def test_nothing_of_a_draft_that_was_taken_back_stays() -> None:
    """What was on the screen for a moment is gone when the answer stands there."""
    screen = Screen()

    async def progress() -> AsyncIterator[Progress]:
        yield drafted("A wrong draft ")
        await wait_until(lambda: "wrong draft" in screen.getvalue(), what="the draft")
        yield Restarted()
        yield ANSWER

    await ScreenSurface(screen.console).reply(CLAIM, progress())

    assert screen.lines()[0] == "Robots act. [1] Write grip[1]. [2]"
    assert "wrong" not in "\n".join(screen.lines())


async def test_a_long_answer_on_a_short_screen_is_there_once() -> None:
    """While it grows only its end is drawn; at the end every line stands there exactly once."""
    screen = Screen(width=40, height=8)
    parts = [f"Line number {number} of many." for number in range(30)]

    async def progress() -> AsyncIterator[Progress]:
        for number in range(len(parts)):
            yield drafted("\n\n".join([*parts[: number + 1], ""]))
        await wait_until(lambda: parts[-1] in screen.getvalue(), what="the end of the text")
        yield ANSWER.model_copy(update={"text": "\n\n".join(parts), "citations": ()})

    await ScreenSurface(screen.console).reply(CLAIM, progress())

    assert [line for line in screen.lines() if line] == parts


@pytest.mark.parametrize("width", [20, 33])
async def test_a_narrow_screen_loses_nothing(width: int) -> None:
    """Lines are folded, and every word and every address is there."""
    screen = Screen(width=width)

    await ScreenSurface(screen.console).reply(CLAIM, items(ANSWER))

    assert max(map(len, screen.lines())) <= width
    shown = "".join("".join(screen.lines()).split())
    assert "Robotsact.[1]Writegrip[1].[2]" in shown
    assert {url for url, _ in screen.links()} == {URL, f"{URL}-code"}


async def test_what_goes_on_is_said_while_one_waits() -> None:
    """The query that is searched for, and trouble with it, are shown on the way to the answer, and no wait so soon."""
    screen = Screen()

    async def progress() -> AsyncIterator[Progress]:
        await wait_until(lambda: "Reading the question …" in screen.getvalue(), what="that it is read")
        yield Searching("what is\na robot")
        await wait_until(lambda: "Searching for “what is a robot” …" in screen.getvalue(), what="the search")
        yield SearchFailed()
        await wait_until(lambda: "⚠️ The search has trouble …" in screen.getvalue(), what="the trouble")
        yield ANSWER

    await ScreenSurface(screen.console).reply(CLAIM, progress())

    assert "robot” …" not in "\n".join(screen.lines())
    assert "still waiting" not in screen.getvalue()


@pytest.mark.promise("never-silent")
async def test_who_sees_nothing_new_for_long_is_told_what_is_waited_for() -> None:
    """Below what was written, if anything was; nothing of it is left at the end."""
    screen, waiting = Screen(width=200), Waiting(Awaited.SEARCH, after=0.01)

    async def progress() -> AsyncIterator[Progress]:
        yield waiting
        await wait_until(lambda: AWAITED[Awaited.SEARCH] in screen.getvalue(), what="what is searched")
        waiting.on = Awaited.MODEL
        yield drafted("Robots act.\n\nAnd")
        await wait_until(lambda: AWAITED[Awaited.MODEL] in screen.getvalue(), what="that the model is waited for")
        yield ANSWER

    await ScreenSurface(screen.console).reply(CLAIM, progress())

    assert "waiting" not in "\n".join(screen.lines())


class Watched:
    """An answer that is being written, and notes by which threads it is read."""

    def __init__(self) -> None:
        """Nobody has read it."""
        self.threads: list[int] = []

    def read(self) -> tuple[Sequence[Block], Sequence[Block]]:
        """Have nothing."""
        self.threads.append(threading.get_ident())
        return (), ()


async def test_an_answer_is_never_read_while_more_of_it_is_being_written() -> None:
    """Only the thread that writes it reads it, however often it is drawn: no word can be lost between the two."""
    watched = Watched()

    async def progress() -> AsyncIterator[Progress]:
        yield Drafted(watched)
        await wait_until(lambda: len(watched.threads) > 1, what="a second drawing")
        yield ANSWER

    await ScreenSurface(Screen().console).reply(CLAIM, progress())

    assert set(watched.threads) == {threading.get_ident()}


FAILURES = [
    Answer(id="f", text="The documents cannot be searched right now.", status=Status.UNAVAILABLE),
    Answer(id="f", text="Something went wrong.", status=Status.FAILED),
    ANSWER.model_copy(update={"lexical_only": True}),
]


@pytest.mark.parametrize("failed", FAILURES, ids=lambda answer: answer.status)
async def test_a_failure_stands_behind_a_warning(failed: Answer) -> None:
    """On a screen and in a pipe alike, where there is no message to put a reaction on."""
    screen, out = Screen(), io.StringIO()

    for surface in (ScreenSurface(screen.console), PlainSurface(out)):
        await surface.reply(CLAIM, items(failed))
        await surface.react(CLAIM, Reaction.WARNING)

    assert screen.lines()[0].startswith("⚠️ ")
    assert out.getvalue().startswith("⚠️ ")


async def test_nearest_sections_stand_where_the_sources_would() -> None:
    """They carry no number, because no statement leans on them."""
    screen = Screen()
    nothing = Answer(id="n", text="Nothing was found.", status=Status.NO_CONTEXT, nearest=(WHAT,))

    await ScreenSurface(screen.console).reply(CLAIM, items(nothing))

    assert [line for line in screen.lines() if line] == [
        "Nothing was found.",
        "Nearest sections",
        "- Robots › What they are  0.91",
        f"    {URL}",
    ]
    assert plain(nothing) == f"Nothing was found.\n\nNearest sections:\n- Robots › What they are {URL} (0.91)"


async def test_no_order_to_the_terminal_passes() -> None:
    """Escape sequences in text, titles, sections and addresses are taken apart, on every surface."""
    citation = WHAT.model_copy(update={"title": HOSTILE, "section": HOSTILE, "url": f"https://docs.example/{HOSTILE}"})
    hostile = ANSWER.model_copy(update={"text": f"{HOSTILE} [1]", "citations": (citation,), "nearest": (citation,)})
    screen, out = Screen(), io.StringIO()

    await ScreenSurface(screen.console).reply(CLAIM, items(Searching(HOSTILE), drafted(HOSTILE), hostile))
    await PlainSurface(out).reply(CLAIM, items(hostile))
    await JsonSurface(out).reply(CLAIM, items(hostile))

    assert re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", out.getvalue()) == []
    assert re.findall(r"[\x07\x08\x9b\u202e]|\x1b\]0|\x1b\[2J|\x1b\[31m", screen.getvalue()) == []


async def test_nothing_from_outside_is_read_as_markup() -> None:
    """Words in square brackets are words, in a question, a query, an answer and a title."""
    screen, marked = Screen(), "[/url] [bold]x[/bold] [link=https://evil.example]y[/link]"
    citation = WHAT.model_copy(update={"title": marked, "section": ""})
    answer = ANSWER.model_copy(update={"text": f"{marked} [1]", "citations": (citation,)})

    await ScreenSurface(screen.console).reply(CLAIM, items(Searching(marked), drafted(f"{marked} And"), answer))

    shown = " ".join(screen.lines())
    assert shown.count("[/url] [bold]x[/bold] [link=") == 2
    assert {url for url, _ in screen.links()} == {URL}


def test_an_address_in_a_title_is_code_behind_a_backslash_too() -> None:
    """To Markdown, one right before a backtick would mean that no code begins there."""
    near = WHAT.model_copy(update={"title": r"https://evil.example\@docs.example/x", "section": ""})

    shown = plain(Answer(id="n", text="Nothing.", status=Status.NO_CONTEXT, nearest=(near,)))

    assert r"- `https://evil.example`\ `@docs.example/x` " in shown


async def test_a_page_in_a_file_can_be_clicked_too() -> None:
    """On a screen its reader sits at the machine with the file."""
    screen, url = Screen(), "file:///home/ada/docs/robots.md#what"
    answer = ANSWER.model_copy(update={"text": "It acts [1].", "citations": (WHAT.model_copy(update={"url": url}),)})

    await ScreenSurface(screen.console).reply(CLAIM, items(answer))

    assert screen.lines()[0] == "It acts [1]."
    assert screen.links() == [(url, "[1]"), (url, url)]


async def test_a_screen_draws_what_markdown_means() -> None:
    """Lists, quotes, code and tables, with the words in their place."""
    screen = Screen(width=60)
    text = (
        "# Title\n\n- a\n  1. b\n\n> c\n\n```py\nd = 1\n```\n\n"
        "| E | F |\n|---|---|\n| g | **h** |\n\n---\n\n~~i~~ *j*  \nk"
    )

    await ScreenSurface(screen.console).reply(CLAIM, items(ANSWER.model_copy(update={"text": text, "citations": ()})))

    lines = [line.strip(" ┃│") for line in screen.lines() if line]
    assert lines[:5] == ["Title", "- a", "1. b", "> c", "d = 1"]
    assert ["E" in line and "F" in line for line in lines].count(True) == 1
    assert lines[-2:] == ["i j", "k"]


def test_an_error_before_any_answer_has_the_same_keys() -> None:
    """Programs read one shape, whatever happened."""
    failure = failure_as_json(Status.FAILED, "validation", "Please ask.")

    assert list(failure) == list(as_json(ANSWER))
    assert failure["error"] == {"error_type": "validation", "message": "Please ask."}


@pytest.mark.parametrize(
    ("text", "line"),
    [("short", "short"), ("a\n b\t c", "a b c"), ("abcdefghijk", "abcdefghi…"), (HOSTILE, "a]0;ownedb…")],
)
def test_a_status_line_is_one_short_line(text: str, line: str) -> None:
    """Line breaks become spaces, and what is too long is cut."""
    assert one_line(text, 10 if "]0" not in text else 11) == line
