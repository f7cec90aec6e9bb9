"""The documents say what is true: examples are run again, links lead somewhere, and settings are the real ones."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from datetime import date
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from adapters.documents.folder import READERS
from bot.cli import app
from bot.commands.ask import AskOptions
from bot.commands.ingest import FORMATS, KINDS
from bot.settings import Settings
from bot.wiring import assemble
from core.documents.sections import slug
from tests.fixtures.commands import copy_data

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
MARKDOWN = [ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md", *PAGES]
SCORE = re.compile(r"\(\d\.\d\d\)")
BREAK_INSIDE = re.compile(r"(?<!^\d)[.!?]`? +[A-Z]")
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
STUMBLES = re.compile(
    r"(?<!here )\b(?:is|are|was|were|be) no (?!longer\b)|\bstands? in\b|\banew\b|\bin the place of\b|\bby themselves\b"
    r"|\bpassed over\b|\bnobody knows\b|\btoo much to do\b|\byou resume\b|\bpeople's talk\b|\bmay not be written\b",
    re.IGNORECASE,
)
SENTENCE = 4  # words, from which on a text in the code is one for people
ABOUT = {
    "What is Footnote?": "",
    "How do I install it?": "installing",
    "How do I configure it?": "configuring",
    "How do I moderate it?": "moderating",
    "How long are conversations kept?": "privacy",
    "Can I use my own documents?": "ingesting",
    "What happens when nothing relevant is found?": "answers",
    "Can I use it on Discord?": "connecting",
    "How do I invite the bot?": "discord",
    "How do I connect Redis?": "connecting",
    "What are the exit codes?": "asking",
}


def names(path: Path) -> str:
    """Name a file in a test's id."""
    return path.name


@pytest.fixture(name="ingested", scope="module")
def _ingested(ingested_docs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a data folder with the documents in it."""
    return copy_data(ingested_docs, tmp_path_factory.mktemp("docs") / "data")


def run(folder: Path, *words: str) -> str:
    """Run the command line as a person does, and give what it wrote."""
    ended = subprocess.run(
        [sys.executable, "-m", "bot", *words],
        cwd=ROOT,
        env={**os.environ, "FOOTNOTE_DATA_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout


@pytest.mark.promise("true-readme")
def test_the_exchange_in_the_readme_is_a_real_one(ingested: Path) -> None:
    """Asking the README's question again gives the README's answer, whatever the scores."""
    found = re.search(
        r'^\$ footnote ask "([^"\n]+)"\n(.*?)^```$', (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    assert found is not None

    assert SCORE.sub("", run(ingested, "ask", found[1])) == SCORE.sub("", found[2])


@pytest.mark.promise("demo-knows")
async def test_the_demo_knows_its_own_product(ingested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What newcomers ask is answered, first of all from the page about it."""
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(ingested))
    settings = Settings()
    async with assemble(settings) as product:
        answers = {text: await product.agent.answer(AskOptions(text).question(settings)) for text in ABOUT}

    cited = {text: [urlsplit(citation.url).path for citation in answer.citations] for text, answer in answers.items()}
    assert {text: pages[0].strip("/") if pages else None for text, pages in cited.items()} == ABOUT


def described() -> dict[str, str]:
    """Return what stands below each setting, by its environment variable."""
    paths = (ROOT / "bot" / "settings" / name for name in ("fields.py", "__init__.py"))
    classes = (node for path in paths for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef))
    found: dict[str, str] = {}
    for one, below in (pair for each in classes for pair in pairwise(each.body)):
        match one, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[str(Settings.model_fields[name].validation_alias)] = " ".join(text.split())
            case _:
                pass
    return found


@pytest.mark.promise("settings-documented")
def test_the_settings_table_is_the_settings() -> None:
    """The README lists each setting with its default and its description, in their order."""
    rows = re.findall(r"^\| `([A-Z_]+)` \| (.+?) \| (.+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)

    texts = described()
    assert rows == [
        (name := str(field.validation_alias), "none" if field.default is None else f"`{field.default}`", texts[name])
        for field in Settings.model_fields.values()
    ]


@pytest.mark.promise("settings-documented")
def test_the_example_settings_are_the_settings() -> None:
    """`.env.example` holds each setting with its default and its description, in their order."""
    entries = re.findall(r"^# ([^\n]+)\n# ([A-Z_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE)

    texts = described()
    assert entries == [
        (texts[name := str(field.validation_alias)], name, "" if field.default is None else str(field.default))
        for field in Settings.model_fields.values()
    ]


def test_every_setting_is_explained() -> None:
    """The page about configuring names every setting."""
    page = (ROOT / "docs" / "configuring.md").read_text()

    assert [name for field in Settings.model_fields.values() if (name := str(field.validation_alias)) not in page] == []


def test_the_formats_in_the_readme_are_those_that_people_are_told() -> None:
    """Whoever names a folder without any page is told what is read, and it is what the README says."""
    assert f"reads {FORMATS};" in (ROOT / "README.md").read_text()
    assert f"Footnote reads {FORMATS}. " == KINDS
    assert len(re.split(", | and ", FORMATS)) == len(set(READERS.values()))


def test_every_command_and_option_is_in_the_readme() -> None:
    """The README's table of commands is the command line."""
    rows = re.findall(
        r"^\| `footnote ([a-z]+(?: [a-z]+)?)[^`]*` \| ([^|]+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    options: dict[str, set[str]] = {}
    commands = _listed(_help())
    while commands:
        name = commands.pop(0)
        said = _help(*name.split())
        inner = [f"{name} {each}" for each in _listed(said)]
        commands += inner
        if not inner:
            options[name] = {*re.findall(r"^  (--[\w-]+)", said, re.MULTILINE)} - {"--help"}

    assert {name: set(re.findall(r"--[\w-]+", text)) for name, text in rows} == options


def _help(*words: str) -> str:
    return CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"}).stdout


def _listed(help_: str) -> list[str]:
    """Give the names of the commands that a help names."""
    return re.findall(r"^  (\w+)  ", help_.partition("Commands:")[2], re.MULTILINE)


@pytest.mark.parametrize("page", MARKDOWN, ids=names)
def test_a_line_holds_one_sentence(page: Path) -> None:
    """Outside of code and tables, no line of a page goes on after the end of a sentence."""
    lines = CODE.sub("", page.read_text()).splitlines()

    assert [line for line in lines if BREAK_INSIDE.search(line) and not line.startswith("|")] == []


def test_no_sentence_stops_a_native_reader() -> None:
    """None is built as in another language, in what people are told or read."""
    for_developers = {"architecture.md", "CONTRIBUTING.md"}
    pages = [ROOT / ".env.example", *(page for page in MARKDOWN if page.name not in for_developers)]
    lines = [line for page in pages for line in page.read_text().splitlines()]

    assert [line for line in (*lines, *_sentences()) if STUMBLES.search(line)] == []


def _sentences() -> list[str]:
    """Return the texts in the code that are long enough to be sentences, and no docstrings."""
    found: list[str] = []
    for path in (path for package in ("bot", "core", "adapters") for path in (ROOT / package).rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        docstrings = {id(each.value) for each in nodes if isinstance(each, ast.Expr)}
        texts = [each.value for each in nodes if isinstance(each, ast.Constant) and id(each) not in docstrings]
        found += (text for text in texts if isinstance(text, str) and len(text.split()) >= SENTENCE)
    return found


@pytest.mark.parametrize("page", MARKDOWN, ids=names)
def test_links_lead_to_files(page: Path) -> None:
    """Every relative link leads to a file, and to a heading of it where it names one."""
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", page.read_text())

    assert [link for link in links if not _leads_somewhere(page, *link)] == []


def _leads_somewhere(page: Path, path: str, anchor: str) -> bool:
    target = page.parent / path if path else page
    headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE) if target.is_file() else []
    return target.is_file() and (not anchor or anchor in [slug(heading) for heading in headings])


def test_the_code_map_names_files_that_exist() -> None:
    """Every file and folder that developers are told of is there, and every module of the product is named."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    pages = text + (ROOT / ".github" / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`((?:bot|core|adapters|tests|bench|docs)/[\w/.]+)`", pages)
    within = {path.name for package in ("bot", "core", "adapters") for path in (ROOT / package).rglob("*.py")}
    alone = [name for name in re.findall(r"`(\w+\.py)`", pages) if name not in within]
    modules = [
        path.relative_to(ROOT).with_suffix("").as_posix()
        for package in ("core", "bot", "adapters")
        for path in sorted((ROOT / package).iterdir())
        if not path.name.startswith("__")
    ]

    assert [name for name in named if not (ROOT / name).exists()] + alone == []
    assert [module for module in modules if module not in text] == []


def test_releases_have_a_date_and_say_what_an_update_needs() -> None:
    """The newest one is what is installed; only what comes after it has no date; each begins with its update."""
    text = (ROOT / "docs" / "changelog.md").read_text()
    unreleased, *releases = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    heads = [re.match(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)\n", each) for each in releases]
    dates = [date.fromisoformat(head[2]) for head in heads if head]
    assert unreleased.startswith("[Unreleased]\n")
    assert (None in heads, sorted(dates, reverse=True)) == (False, dates)
    assert heads[0] is not None
    assert heads[0][1] == version
    assert CliRunner().invoke(app, ["--version"]).stdout.startswith(f"footnote {version}+")
    begins = [each.partition("### ")[2].partition("\n")[0] for each in (unreleased, *releases) if "### " in each]
    assert begins == ["When you update"] * len(begins)
    assert len(begins) >= len(releases)


def test_figures_about_growing_are_measured_ones() -> None:
    """Each figure of that table stands in the measurements too."""
    page, measured = ((ROOT / "docs" / name).read_text() for name in ("growing.md", "measurements.md"))
    table = page.partition("| what was measured | figure |")[2].partition("\n\n")[0]
    figures = [figure for row in table.splitlines()[2:] for figure in re.findall(r"\d[\d.,]*", row)]

    assert len(figures) > 10
    assert [
        figure for figure in figures if not re.search(rf"(?<![\d.,]){re.escape(figure)}(?![\d.,]*\d)", measured)
    ] == []
