"""`footnote evaluate`: reading cases, and the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.fixtures.commands import Footnote

CASE = {
    "id": "food",
    "kind": "single_topic",
    "question": "What do penguins\u2028eat?",
    "chapters": ["birds"],
}


def test_the_report_as_json_names_each_case_and_check(footnote: Footnote, tmp_path: Path) -> None:
    """A separator of lines inside of a text does not end the line of JSON, and a byte-order mark is none of it."""
    path = tmp_path / "cases.jsonl"
    case = {**CASE, "before": ["What is a penguin?"], "reference": "Fish."}
    path.write_text(json.dumps(case, ensure_ascii=False) + "\n\n", encoding="utf-8-sig")

    ended = footnote("evaluate", str(path), "--json")

    report = json.loads(ended.out)
    assert (ended.code, ended.err, report["passed"], report["total"]) == (0, "", 1, 1)
    assert [(case["id"], case["status"], case["cited"]) for case in report["cases"]] == [
        ("food", "answered", ["https://zoo.example/birds/penguins#food"])
    ]
    [told] = report["cases"]
    assert (told["before"], told["reference"]) == (["What is a penguin?"], "Fish.")
    assert [call["name"] for call in told["tool_calls"]] == ["search_documents"]


@pytest.mark.promise("documents-apart")
def test_the_operator_evaluates_all_sources_whoever_may_read_them(footnote: Footnote, tmp_path: Path) -> None:
    """What nobody may read, and what is another community's: what an answer cites is told to the operator alone."""
    path, found = tmp_path / "cases.jsonl", list[object]()
    path.write_text(json.dumps(CASE), encoding="utf-8")
    for audience in (("--nobody",), ("--with", "discord:81384788765712384")):
        shared = footnote("sources", "share", "zoo", *audience)
        report = json.loads(footnote("evaluate", str(path), "--json").out)
        found.append((shared.code, [(case["status"], case["cited"]) for case in report["cases"]]))

    assert found == [(0, [("answered", ["https://zoo.example/birds/penguins#food"])])] * 2


def test_cases_that_cannot_be_read_are_told_in_words(footnote: Footnote, tmp_path: Path) -> None:
    """A missing file is wrong input."""
    ended = footnote("evaluate", str(tmp_path / "none.jsonl"))

    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"The cases in {tmp_path / 'none.jsonl'} cannot be read. Check the path.\n"


def test_the_report_as_a_page_loads_nothing_and_shows_every_case(footnote: Footnote, tmp_path: Path) -> None:
    """What was asked and answered is text there, whatever it looks like."""
    hostile = {**CASE, "id": "<script>", "question": "What do <b>penguins</b> eat?", "must_contain": ["<img src=x>"]}
    hostile["reference"] = "**Fish** ![x](https://a.example) [x](https://a.example) <img src=x>"
    path, page = tmp_path / "cases.jsonl", tmp_path / "report.html"
    path.write_text(
        f"{json.dumps({**CASE, 'pages': ['birds/penguins#food']})}\n{json.dumps(hostile)}\n", encoding="utf-8"
    )

    ended = footnote("evaluate", str(path), "--html", str(page))

    tree = LexborHTMLParser(page.read_text(encoding="utf-8"))
    cases = {each.text(): "open" in each.parent.attributes for each in tree.css("summary") if each.parent}
    assert (ended.code, [each.text() for each in tree.css("h1")]) == (0, ["1 of 2 cases passed"])
    assert cases == {
        "✓ food: What do penguins\neat?": False,  # as it is asked
        "✗ <script>: What do <b>penguins</b> eat?": True,
    }
    assert [each.text() for each in tree.css(".text strong")] == ["Fish"]
    assert "Is not said" in [each.text() for each in tree.css("h3")]
    assert tree.css("script, img, link, iframe, [src], [href]") == []
    assert {"recall@5", "acceptable"} <= {each.text() for each in tree.css("svg text")}


def test_what_looks_like_markup_of_the_terminal_is_text_in_the_table(footnote: Footnote, tmp_path: Path) -> None:
    """Whatever a case is called, and whatever it asks; nor does it colour anything."""
    path = tmp_path / "cases.jsonl"
    named = ("[/foo]", "[red]x[/red]\x1b[31m", ":fish:")
    path.write_text("\n".join(json.dumps({**CASE, "id": each, "question": each}) for each in named), encoding="utf-8")

    ended = footnote("evaluate", str(path))

    assert (ended.code, ended.err) == (0, "")
    assert [ended.out.count(each) for each in ("[/foo]", "[red]x[/red][31m", ":fish:", "\x1b")] == [2, 2, 2, 0]


def test_a_run_is_compared_with_an_earlier_one(footnote: Footnote, tmp_path: Path) -> None:
    """The code is 1 where it is worse by more than the margin, and says which measures are."""
    path, before = tmp_path / "cases.jsonl", tmp_path / "before.json"
    path.write_text(json.dumps(CASE), encoding="utf-8")
    before.write_text(footnote("evaluate", str(path), "--json").out, encoding="utf-8")
    changed = {**CASE, "must_contain": [["plutonium", "tin"], "FISH"], "must_not_contain": ["fish"]}
    path.write_text(json.dumps(changed), encoding="utf-8")

    worse = footnote("evaluate", str(path), "--json", "--against", str(before), "--margin", "0.5")
    allowed = footnote("evaluate", str(path), "--against", str(before), "--margin", "1000")
    none = footnote("evaluate", str(path), "--against", str(path))

    report = json.loads(worse.out)
    [told], against = report["cases"], report["against"]
    assert (told["missing"], told["unwanted"]) == (["plutonium / tin"], ["fish"])
    assert (worse.code, allowed.code, none.code) == (1, 0, 2)
    assert "Compared over 1 case. Worse by more than 100000%: nothing.\n" in allowed.out
    assert "acceptable" in against["worse"]
    assert against["differences"]["acceptable"]["change"]["mean"] == -1.0
    assert none.err == f"{path} is not a report of `footnote evaluate --json`. Check the path, or write a new one.\n"


def test_runs_are_compared_only_over_what_both_have_asked(footnote: Footnote, tmp_path: Path) -> None:
    """A question that was changed is another case; how many are left out is said, and without any there is no run."""
    path, before = tmp_path / "cases.jsonl", tmp_path / "before.json"
    other = [{**CASE, "id": "other", "question": question} for question in ("Do penguins fly?", "What builds nests?")]
    path.write_text(f"{json.dumps(CASE)}\n{json.dumps(other[0])}\n", encoding="utf-8")
    before.write_text(footnote("evaluate", str(path), "--json").out, encoding="utf-8-sig")
    path.write_text(f"{json.dumps(CASE)}\n{json.dumps(other[1])}\n", encoding="utf-8")
    page = tmp_path / "report.html"

    told = footnote("evaluate", str(path), "--against", str(before), "--html", str(page))
    path.write_text(json.dumps({**CASE, "before": ["What is a penguin?"]}), encoding="utf-8")
    none = footnote("evaluate", str(path), "--against", str(before))

    said = "Compared over 1 case; left out, as the other run does not ask them: 1 now, 1 before."
    assert (told.code, said in told.out, said in page.read_text(encoding="utf-8")) == (0, True, True)
    assert (none.code, none.out) == (2, "")
    assert none.err.startswith("The earlier run has no case with the id and the question of one of these.")


def test_cases_to_begin_with_come_from_headings(footnote: Footnote, tmp_path: Path) -> None:
    """They say so, can be asked at once, and nothing is overwritten."""
    path = tmp_path / "cases.jsonl"

    drafted = footnote("evaluate", str(path), "--make", "3")
    again = footnote("evaluate", str(path), "--make", "3")
    nowhere = footnote("evaluate", str(tmp_path / "none" / "cases.jsonl"), "--make", "3")
    report = json.loads(footnote("evaluate", str(path), "--json").out)

    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert (drafted.code, again.code, nowhere.code) == (0, 2, 2)
    assert nowhere.err == f"There is no folder {tmp_path / 'none'} to write cases.jsonl into. Make it first.\n"
    assert [case["drafted"] for case in cases] == ["from headings"] * 3
    assert report["total"] == 3
    assert drafted.out == f"{path} has 3 cases, drafted from headings. Read them, and change what nobody would ask.\n"
