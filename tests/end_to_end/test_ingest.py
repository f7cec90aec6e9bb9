"""`footnote ingest`: counts, what cannot be read, one owner, and what a kill leaves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from adapters.qdrant.shard import check_room
from bot.commands.ingest import watched
from core.documents.ingest import Outcome, PageDone, PassagesDone, Step
from core.errors import RetrievalUnavailable
from tests.fakes.documents import ListSource
from tests.fixtures.commands import Footnote, Here, write_documents
from tests.servers.website import WebSite, html
from tests.waiting import cancelled

FIXTURES = Path(__file__).parents[1] / "fixtures"
EMPTY_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\n"
    b"trailer<</Root 1 0 R/Size 4>>\n%%EOF\n"
)


@pytest.mark.promise("summary")
def test_counts_say_what_came_changed_and_went(fresh: Footnote, tmp_path: Path) -> None:
    """The first run adds, the second does nothing, the third changes, removes and adds."""
    documents = write_documents(tmp_path / "zoo")
    first = fresh("ingest", str(documents)).err
    again = fresh("ingest", str(documents)).err
    (documents / "birds" / "penguins.md").write_text("# Penguins\n\nPenguins are black and white.")
    (documents / "sea" / "lighthouses.md").rename(documents / "sea" / "towers.md")
    third = fresh("ingest", str(documents)).err

    assert first == "zoo: 2 added, 0 changed, 0 unchanged, 0 removed, 0 failed (5 new passages)\n"
    assert again == "zoo: 0 added, 0 changed, 2 unchanged, 0 removed, 0 failed (0 new passages)\n"
    assert third == "zoo: 1 added, 1 changed, 0 unchanged, 1 removed, 0 failed (3 new passages)\n"


@pytest.mark.promise("keeps-sources")
def test_what_a_build_would_have_put_into_pages_is_said_once(fresh: Footnote, tmp_path: Path) -> None:
    """It is named where nobody has said it, and what was said is kept for each reading."""
    farm = tmp_path / "farm"
    farm.mkdir()
    (farm / "goats.rst").write_text("Goats\n=====\n\nGoats of {BREED} eat thistles in {PLACE}.\n")
    told, doctor = fresh("ingest", str(farm)), fresh("doctor").out
    added = fresh("sources", "add", str(farm), "--macro", "BREED=Girgentana", "--macro", "PLACE=Agri")
    first = json.loads(fresh("sources", "show", "farm", "--json").out)["origin"]["macros"]
    shown = fresh("sources", "show", "farm").out
    (farm / "hens.rst").write_text("Hens\n====\n\nHens of {BREED} eat corn.\n")
    fresh("sources", "sync", "farm")
    answers = [fresh("ask", f"What do {each} eat?").out for each in ("goats", "hens")]
    wrong = fresh("sources", "add", str(farm), "--macro", "BREED")
    built = fresh("sources", "add", "https://farm.example", "--macro", "BREED=x")

    for said in (told.err, doctor):
        assert "{BREED} and {PLACE} may stand for words that only a build knows; if so, say which: " in said
    assert ("{BREED}" in added.err, first) == (False, {"BREED": "Girgentana", "PLACE": "Agri"})
    assert re.search(r"^\{BREED\} +Girgentana$", shown, re.MULTILINE)
    assert [("Girgentana" in each, "{" in each) for each in answers] == [(True, False)] * 2
    assert (wrong.code, built.code) == (2, 2)
    assert wrong.err.startswith("'BREED' does not say what a name stands for. Write --macro NAME=WORDS")
    assert built.err.startswith("--macro is for folders and repositories")


def test_folders_that_would_be_one_source_are_refused(footnote: Footnote, tmp_path: Path) -> None:
    """The second would take out the pages of the first; nothing is read."""
    folders = [str(write_documents(tmp_path / place / "zoo")) for place in ("here", "there")]

    ended = footnote("ingest", *folders)

    sentence = (
        "Several sources would be called 'zoo', and each would replace the one before. "
        "Read them one by one, and name them with --source.\n"
    )
    assert (ended.code, ended.err) == (2, sentence)


def test_quiet_says_nothing_when_nothing_has_changed(footnote: Footnote, tmp_path: Path) -> None:
    """What runs at every start does not fill the screen."""
    documents = write_documents(tmp_path / "zoo")
    footnote("ingest", str(documents), "--quiet")

    ended = footnote("ingest", str(documents), "--quiet")

    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_quiet_tells_a_failure_once(footnote: Footnote, tmp_path: Path) -> None:
    """What could not be read the last time either is no news; what can be read again is, and so is another reason."""
    documents = write_documents(tmp_path / "zoo")
    told: list[str] = []
    for content in (b"no PDF", b"no PDF", EMPTY_PDF):
        (documents / "scan.pdf").write_bytes(content)
        told.append(footnote("ingest", str(documents), "--quiet", "--base-url", "https://zoo.example").err)

    assert [text.count("scan.pdf") for text in told] == [1, 0, 1]
    assert told[1] == ""


@pytest.mark.promise("unreadable-files")
def test_files_that_cannot_be_read_are_named_and_do_not_stop_the_rest(fresh: Footnote, tmp_path: Path) -> None:
    """Junk, a huge file, a PDF of pictures and a loop of links lie beside good pages."""
    documents = write_documents(tmp_path / "zoo")
    (documents / "junk.md").write_bytes(bytes(range(256)) * 20)
    (documents / "scan.pdf").write_bytes(EMPTY_PDF)
    with (documents / "huge.md").open("wb") as file:
        file.truncate(50_000_000)
    (documents / "loop").symlink_to(documents)

    ended = fresh("ingest", str(documents))

    assert ended.code == 0
    assert "2 added" in ended.err
    assert "junk.md: is not text" in ended.err
    assert "huge.md: is 50 MB large; the limit is 20 MB" in ended.err
    assert "scan.pdf: " in ended.err
    assert "penguins" in fresh("ask", "What do penguins eat?").out


@pytest.mark.promise("empty-folder-keeps-index")
@pytest.mark.parametrize("make", ["missing", "empty", "unreadable"])
def test_a_source_without_a_page_changes_nothing(footnote: Footnote, tmp_path: Path, make: str) -> None:
    """A wrong path must not empty the index: exit code 2, a sentence, and the old pages are still there."""
    folder = tmp_path / "zoo"
    if make != "missing":
        folder.mkdir()
    if make == "unreadable":
        (folder / "junk.md").write_bytes(bytes(range(256)) * 20)

    ended = footnote("ingest", str(folder))

    assert ended.code == 2
    assert ("There is no folder or file" if make == "missing" else "nothing was changed") in ended.err
    assert "Penguins eat fish" in footnote("ask", "What do penguins eat?").out


def start(footnote: Footnote, *words: str) -> subprocess.Popen[str]:
    """Start a command and leave it running; it has to have enough to do that it goes on while this process acts."""
    command, pipe = footnote.command(*words), subprocess.PIPE
    return subprocess.Popen(command, env=footnote.env(), stdout=pipe, stderr=pipe, text=True)


def many_pages(folder: Path, count: int) -> Path:
    """Write enough pages that reading them takes a while."""
    folder.mkdir()
    for number in range(count):
        text = f"# Page {number}\n\n" + f"Page {number} tells about penguins and ships at sea. " * 40
        (folder / f"page{number}.md").write_text(text)
    return folder


def wait_for_index(footnote: Footnote, process: subprocess.Popen[str]) -> None:
    """Wait until the index is open, which is when pages begin to come in; pytest ends it where that never happens."""
    while not (footnote.data / "index" / "label.json").exists() and process.poll() is None:
        time.sleep(0.01)  # what is waited for happens in another process


KILLED_AFTER_FIVE = """
import os, signal, sys
from pathlib import Path
from bot.commands.session import session
from bot.wiring import folder

async def five(app, source):
    done = 0
    async for _ in app.ingestion.run(source):
        done += 1
        if done == 5:
            os.kill(os.getpid(), signal.SIGKILL)

with session("footnote ingest") as opened:
    opened.run(five(opened.app, folder(Path(sys.argv[1]), name="pages", base_url=None)))
"""


@pytest.mark.promise("resumable")
def test_a_killed_ingestion_goes_on_where_it_was(fresh: Footnote, tmp_path: Path) -> None:
    """After SIGKILL the next run does only the rest."""
    documents = many_pages(tmp_path / "pages", 12)
    command = [sys.executable, "-c", KILLED_AFTER_FIVE, str(documents)]
    killed = subprocess.run(command, env=fresh.env(), cwd=Path(__file__).parents[2], check=False)

    rest = fresh("ingest", str(documents))

    assert killed.returncode == -9
    assert rest.err.startswith("pages: 7 added, 0 changed, 5 unchanged, 0 removed, 0 failed")


@pytest.mark.promise("ctrl-c")
@pytest.mark.timeout(300)
def test_ctrl_c_stops_an_ingestion_in_words(fresh: Footnote, tmp_path: Path) -> None:
    """It ends with code 130 and without a traceback, and the next run completes."""
    documents = many_pages(tmp_path / "pages", 24)
    process = start(fresh, "ingest", str(documents))
    wait_for_index(fresh, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    rest = fresh("ingest", str(documents))

    assert process.returncode == 130
    assert err.endswith("Stopped.\n")  # and before that, where pages were done by then, how many
    assert (rest.code, ", 0 failed" in rest.err) == (0, True)
    assert "24 unchanged" in fresh("ingest", str(documents)).err


@pytest.mark.promise("ctrl-c")
async def test_who_stops_is_told_what_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """The number of pages that are done, and that the next time goes on."""
    reading = asyncio.Event()

    async def steps() -> AsyncGenerator[Step]:
        yield PageDone("https://zoo.example/a", Outcome.ADDED, 2)
        yield PageDone("https://zoo.example/b", Outcome.UNCHANGED)
        yield PassagesDone(384)  # of a third page
        reading.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(watched(ListSource("zoo", []), steps(), None, quiet=False))
    await reading.wait()
    await cancelled(task)

    says = "zoo: stopped; 2 pages are done and kept, and the next run continues from there.\n"
    assert capsys.readouterr().err == says


@pytest.mark.promise("summary")
def test_a_terminal_shows_how_far_it_is(fresh: Footnote, tmp_path: Path) -> None:
    """Pages and passages that are done, how many pages a second, and the time that is left; in 80 characters."""
    documents = many_pages(tmp_path / "pages", 8)
    code, shown = on_a_terminal(fresh, "ingest", str(documents))

    line = rb"[1-7]/8 pages, (?!0\.0)\d+\.\d/s, [1-9]\d* new passages, left: 0:00:\d\d"
    assert code == 0
    assert re.search(line, shown), shown


@pytest.mark.promise("summary")
async def test_a_terminal_shows_how_much_of_a_website_is_left(fresh: Footnote) -> None:
    """As soon as the site has said how many pages it has."""
    pages = {f"/{number}": html(f"Page {number}", f"Goats eat {number} thistles.") for number in range(7)}
    async with WebSite({"/": html("Start", "Welcome."), **pages}) as site:
        site.list(*pages)
        words, env = ("sources", "add", site.url), {"FOOTNOTE_FETCH_NETWORKS": "127.0.0.1"}
        code, shown = await asyncio.to_thread(on_a_terminal, fresh, *words, **env)

    assert code == 0
    assert re.search(rb"[1-7]/8 pages, \d+\.\d/s, [1-9]\d* new passages, left: 0:00:\d\d", shown), shown


def on_a_terminal(footnote: Footnote, *words: str, **more: str) -> tuple[int, bytes]:
    """Run a command to its end; return its code and what a terminal of 80 characters showed."""
    screen, terminal = os.openpty()
    env = {**footnote.env(**more), "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(footnote.command(*words), env=env, stderr=terminal)
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # how a terminal ends
        while piece := os.read(screen, 65_536):
            shown += piece
    os.close(screen)
    return process.wait(30), re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", shown)


@pytest.mark.promise("one-owner")
@pytest.mark.timeout(300)
def test_a_second_process_is_told_who_holds_the_data_folder(fresh: Footnote, tmp_path: Path) -> None:
    """It ends with code 3 and names the command and the process that it has to wait for."""
    process = start(fresh, "ingest", str(many_pages(tmp_path / "pages", 60)))
    wait_for_index(fresh, process)

    second = fresh("ask", "What do penguins eat?")
    process.kill()
    process.communicate(timeout=60)

    assert second.code == 3
    assert f"is in use by `footnote ingest` (process {process.pid}). Wait until it ends or stop it" in second.err


@pytest.mark.promise("full-disk")
def test_a_disk_that_is_nearly_full_is_told_in_words(tmp_path: Path) -> None:
    """The index is not touched where room is short: the check stands before every write."""
    needed = shutil.disk_usage(tmp_path).free + 1_000_000_000

    with pytest.raises(RetrievalUnavailable, match=r"MB left; the index needs .* Free some space and try again"):
        check_room(tmp_path / "not" / "yet" / "there", least=needed)


@pytest.mark.promise("encrypted")
def test_nobody_else_can_read_the_data_folder(footnote: Footnote) -> None:
    """Nor anything in it, also where an earlier version had made it."""
    for path in (footnote.data, *footnote.data.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (footnote.data / "old").mkdir(mode=0o755)
    footnote("ask", "What do penguins eat?", "--thread", "t")

    open_to_others = [path for path in (footnote.data, *footnote.data.rglob("*")) if path.lstat().st_mode & 0o077]
    assert open_to_others == []


@pytest.mark.promise("stored-data-lasts")
def test_an_index_of_the_version_before_is_used_as_it_is(here: Here, fresh: Footnote, tmp_path: Path) -> None:
    """The one that d4da93aa wrote, by `footnote ingest` of this page: it answers, and nothing is embedded again."""
    subprocess.run(["tar", "-xf", FIXTURES / "index_before.tar.xz", "-C", fresh.data], check=True)
    (tmp_path / "zoo").mkdir()
    text = "# Penguins\n\nPenguins eat fish, krill and squid.\n\n## Where\n\nThey live in the south.\n"
    (tmp_path / "zoo" / "penguins.md").write_text(text)

    asked = here(fresh, "ask", "What do penguins eat?")
    again = here(fresh, "ingest", str(tmp_path / "zoo"), "--base-url", "https://zoo.example")

    assert "fish, krill and squid. [1]" in asked.out
    assert "[1] Penguins https://zoo.example/penguins" in asked.out
    assert again.err == "zoo: 0 added, 0 changed, 1 unchanged, 0 removed, 0 failed (0 new passages)\n"
