"""The search tool: what the model may ask, and what it is given."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.answering.citations import Sources
from core.answering.tools import MOST_FOUND, SearchTool, Tool, Toolbox
from core.documents.retrieval import HybridRetriever
from core.events import unobserved
from core.model import Candidate, Citation, Hit, Question, Scope, ToolSpec
from core.ports import Retriever
from tests.builders import NOON, OPEN, hit, passage, question
from tests.fakes.chat import call as search_call
from tests.fakes.clock import Clock
from tests.fakes.embedder import HashEmbedder
from tests.fakes.shelf import Asked, Shelf
from tests.unit.documents.test_retrieval import ScriptedIndex

ARMS = "https://docs.example/arms#a"
TEXT = """\
Wheels roll on floors. A gripper closes around a part with two fingers. Legs carry weight over stones. \
Batteries store energy for later. The torque of a gripper depends on its motor. Cables lead current to motors."""


def make_tool(shelf: Retriever, asked: Question | None = None, *, earlier: str = "", limit: int = 500) -> SearchTool:
    """The tool for one question."""
    return SearchTool(shelf, asked or question(), Sources(), earlier=earlier, excerpt_limit=limit)


async def call(tool: SearchTool, **arguments: Any) -> dict[str, Any]:
    """Call it as a model does, and read what comes back."""
    toolbox = Toolbox([Tool(tool.search_documents)], tool.question.message, Clock(), unobserved)
    [message] = await toolbox.call([search_call(json.dumps(arguments))])
    return json.loads(str(message["content"]))


def test_the_model_is_told_about_the_tool_by_its_signature() -> None:
    """Name, description and schema come from the function; there are no titles, which cost tokens."""
    assert Tool(make_tool(Shelf()).search_documents).spec == ToolSpec(
        name="search_documents",
        description="Search the community's documents. Returns passages numbered for citing as [n], best first.",
        parameters={
            "type": "object",
            "additionalProperties": False,
            "required": ["query"],
            "properties": {
                "query": {
                    "type": "string",
                    "description": "What to look for, as a full question or phrase that stands alone.",
                },
                "top_k": {
                    "anyOf": [{"type": "integer"}, {"type": "null"}],
                    "default": None,
                    "description": "How many passages to return, 1 to 20.",
                },
                "chapter": {
                    "anyOf": [{"type": "string"}, {"type": "null"}],
                    "default": None,
                    "description": "Search only this chapter, by its exact name.",
                },
            },
        },
    )


async def test_the_model_is_given_numbered_passages() -> None:
    """The result has exactly this shape."""
    given = await call(make_tool(Shelf(hit(0.876), hit(0.7, "Arms grip.", url=ARMS))), query="robot")

    assert given == {
        "success": True,
        "data": {
            "results": [
                {
                    "number": 1,
                    "text": "A robot acts.",
                    "title": "Robots",
                    "section": "What they are",
                    "url": "https://docs.example/robots#what",
                    "score": 0.88,
                },
                {
                    "number": 2,
                    "text": "Arms grip.",
                    "title": "Robots",
                    "section": "What they are",
                    "url": ARMS,
                    "score": 0.7,
                },
            ],
            "total": 2,
            "query": "robot",
        },
        "error": None,
    }


async def test_a_section_keeps_its_number_over_all_searches() -> None:
    """Two passages of one section are one footnote; other sections get the next numbers."""
    shelf = Shelf(
        by_query={
            "a": [hit(0.9, "One."), hit(0.8, "Two.", position=1)],
            "b": [hit(0.9, "Arms.", url=ARMS), hit(0.7, "One.")],
        }
    )
    tool = make_tool(shelf)

    first = await call(tool, query="a")
    second = await call(tool, query="b")

    assert [result["number"] for result in first["data"]["results"]] == [1, 1]
    assert [result["number"] for result in second["data"]["results"]] == [2, 1]


@pytest.mark.parametrize(("wanted", "most"), [(None, 5), (1, 1), (5, 5), (6, 5), (10**30, 5), (0, 5), (-3, 1)])
async def test_the_models_top_k_stays_within_the_questions(wanted: int | None, most: int) -> None:
    """More than the question allows is not given, and never less than one."""
    shelf = Shelf(*(hit(0.9, url=f"https://docs.example/{n}") for n in range(8)))

    given = await call(make_tool(shelf), query="robot", top_k=wanted)

    assert given["data"]["total"] == most
    assert shelf.asked == [Asked("robot", MOST_FOUND, OPEN)]


@pytest.mark.parametrize(
    ("chapters", "chapter", "searched"),
    [
        ((), "one", ("one",)),
        ((), "", ()),
        ((), None, ()),
        (("one", "two"), "two", ("two",)),
        (("one",), "two", ("one",)),
    ],
)
async def test_a_chapter_narrows_the_scope_and_never_widens_it(
    chapters: tuple[str, ...], chapter: str | None, searched: tuple[str, ...]
) -> None:
    """A question that was limited to chapters stays within them."""
    shelf = Shelf(hit())

    await call(make_tool(shelf, question(scope=Scope(chapters=chapters))), query="robot", chapter=chapter)

    assert shelf.asked == [Asked("robot", MOST_FOUND, Scope(chapters=searched, open_at=NOON))]


async def test_a_chapter_without_passages_is_told_to_the_model() -> None:
    """It may have made the name up: nothing found there does not mean that nothing is in the documents."""
    result = await call(make_tool(Shelf(hit())), query="robot", chapter="Chapter 9")

    assert result == {
        "success": False,
        "data": None,
        "error": "Nothing can be found in a chapter 'Chapter 9'. Search again without a chapter.",
    }


async def test_the_question_before_goes_along() -> None:
    """A follow-up is searched with what it follows."""
    shelf = Shelf(hit())

    await call(make_tool(shelf, earlier="What is VLA?"), query="How do I train one?")

    assert shelf.asked == [Asked("How do I train one?", MOST_FOUND, OPEN, earlier="What is VLA?")]


async def test_only_what_reaches_the_threshold_is_given() -> None:
    """The threshold itself is enough; what is below is remembered as nearest, the best three of all searches."""
    far = [hit(score, f"Far {score}.", url=f"https://docs.example/far{score}#x") for score in (0.1, 0.2, 0.3, 0.4)]
    shelf = Shelf(
        by_query={"near": [hit(0.5)], "far": far, "far again": [hit(0.45, url="https://docs.example/far0.2#x")]}
    )
    tool = make_tool(shelf)

    given = [await call(tool, query=query) for query in ("far", "far again", "near")]

    assert [(one["data"]["total"], len(one["data"]["results"])) for one in given] == [(0, 0), (0, 0), (1, 1)]
    assert [(c.number, c.url, c.relevance_score) for c in tool.nearest] == [
        (1, "https://docs.example/robots#what", 0.5),
        (2, "https://docs.example/far0.2#x", 0.45),
        (3, "https://docs.example/far0.4#x", 0.4),
    ]


async def test_what_has_nothing_to_do_with_the_question_is_not_near() -> None:
    """A section that scores next to nothing helps nobody."""
    far = [hit(score, url=f"https://docs.example/far{score}#x") for score in (0.04, 0.05)]
    tool = make_tool(Shelf(*far))

    await call(tool, query="pizza")

    assert [c.url for c in tool.nearest] == ["https://docs.example/far0.05#x"]


async def test_passages_are_cut_to_the_window_that_fits_the_query() -> None:
    """The model reads whole sentences about what it asked."""
    tool = make_tool(Shelf(hit(0.9, TEXT)), limit=60)

    given = await call(tool, query="How strong is the torque of a gripper?")

    assert given["data"]["results"][0]["text"] == "The torque of a gripper depends on its motor."


@pytest.mark.promise("abstains")
async def test_what_is_relevant_is_not_cut_off_by_what_only_ranks_higher() -> None:
    """Else nothing would be found, and a section be named as nearest whose score is above the threshold."""
    wordy = [Candidate(passage(f"Text {n}.", url=f"https://docs.example/{n}"), 0.1, 1.0) for n in range(6)]
    relevant = Candidate(passage("Robots act.", url=ARMS), 0.6, 0.0)
    tool = make_tool(HybridRetriever(HashEmbedder(), ScriptedIndex({"q": [*wordy, relevant]}), clock=Clock()))

    given = await call(tool, query="q")

    assert [each["text"] for each in given["data"]["results"]] == ["Robots act."]


async def test_a_search_that_fails_is_told_to_the_model_and_remembered() -> None:
    """The tool says so in words; what it had found stays."""
    shelf = Shelf(hit())
    tool = make_tool(shelf)
    await call(tool, query="robot")
    shelf.fails = True

    given = await call(tool, query="arms")

    assert given == {"success": False, "data": None, "error": "The documents cannot be searched right now."}
    assert (tool.searches > 0, tool.failed, tool.lexical_only, list(tool.sources.citations)) == (True, True, False, [1])


async def test_searching_by_words_alone_is_remembered() -> None:
    """One such search is enough to warn."""
    shelf = Shelf(hit())
    tool = make_tool(shelf)
    shelf.lexical_only = True
    await call(tool, query="robot")
    shelf.lexical_only = False
    await call(tool, query="robot")

    assert (tool.lexical_only, tool.failed, tool.retrieval_time_ms) == (True, False, 6.0)


async def test_nothing_was_searched_before_a_query_arrives() -> None:
    """A blank query is refused without a search."""
    shelf = Shelf(hit())
    tool = make_tool(shelf)

    await call(tool, query=" \n")

    assert (shelf.asked, tool.searches > 0, tool.failed, tool.nearest) == ([], False, False, ())


async def test_the_footnote_carries_the_best_score_of_its_section() -> None:
    """Two passages of one section do not make it worse."""
    tool = make_tool(Shelf(Hit(passage("Low."), 0.6), Hit(passage("High.", position=1), 0.91234)))

    await call(tool, query="robot")

    assert tuple(tool.sources.citations.values()) == (
        Citation(
            number=1,
            chapter="one",
            section="What they are",
            title="Robots",
            url="https://docs.example/robots#what",
            relevance_score=0.9123,
            source="docs",
        ),
    )
