"""`footnote sources`: which documents there are, where they come from, and who may read them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.commands.sources import NOT_ALLOWED, WHO
from core.documents.ingest import ALL_GONE
from tests.end_to_end.test_run import PATIENCE
from tests.fixtures.commands import Footnote, Here
from tests.fixtures.redis import clean
from tests.servers.git import GitServer
from tests.servers.service import Hang, Reply, Service
from tests.servers.website import WebSite, html

OTHER, THIRD = "discord:81384788765712384", "slack:T012AB3CD"


@pytest.fixture(name="url")
async def _url(redis_url: str) -> AsyncGenerator[str]:
    """Give a store that knows of no community."""
    async with clean(redis_url):
        yield redis_url


def listed(footnote: Footnote, here: Here, **env: str) -> list[dict[str, object]]:
    """Give the list as a program reads it, as far as it says who may read what."""
    ended = here(footnote, "sources", "list", "--json", **env)
    assert (ended.code, ended.err) == (0, "")
    kept = ("name", "pages", "is_shared", "everyone", "communities")
    return [{key: found[key] for key in kept} for found in json.loads(ended.out)["sources"]]


def zoo(*communities: str, is_shared: bool = True, everyone: bool = False) -> list[dict[str, object]]:
    """Give the one source as the list should have it."""
    who = {"is_shared": is_shared, "everyone": everyone, "communities": list(communities)}
    return [{"name": "zoo", "pages": 2, **who}]


@pytest.mark.promise("documents-apart")
def test_who_may_read_a_source_is_said_and_listed(footnote: Footnote, here: Here, url: str) -> None:
    """What is said replaces what was said before; before that it is the first community's."""
    env = {"REDIS_URL": url}
    steps = [("--with", OTHER, "--with", THIRD), ("--everyone",), ("--nobody",), ("--with", THIRD)]
    found = [listed(footnote, here, **env)]
    told: list[str] = []
    for words in steps:
        ended = here(footnote, "sources", "share", "zoo", *words, **env)
        told.append(ended.out.removeprefix("zoo may be read by ").removesuffix(", from the next question on.\n"))
        found.append(listed(footnote, here, **env))
        assert ended.code == 0
        assert ended.err == "".join(f"{NOT_ALLOWED.format(each, each)}\n" for each in words if ":" in each)
    table = here(footnote, "sources", "list", **env).out.splitlines()

    assert found == [zoo(is_shared=False), zoo(OTHER, THIRD), zoo(everyone=True), zoo(), zoo(THIRD)]
    assert told == [f"{OTHER} and {THIRD}", "everybody", "nobody", THIRD]
    head, line = (" ".join(line.split()) for line in table)
    assert head == "SOURCE pages read skipped failed who may read it"
    assert re.fullmatch(rf"zoo 2 (less than a minute|\d+ minutes?) ago 0 0 {THIRD}", line)  # the machine may be busy


@pytest.mark.promise("says-what-to-do")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("zoo",), WHO),
        (("zoo", "--everyone", "--nobody"), WHO),
        (("zoo", "--everyone", "--with", OTHER), WHO),
        (
            ("farm", "--everyone"),
            "There is no source 'farm'. The sources are: zoo.",
        ),
        (("zoo", "--with", "Cooks"), "'Cooks' is not a server or workspace"),
    ],
)
def test_what_is_shared_with_whom_has_to_be_said(
    footnote: Footnote, here: Here, url: str, words: tuple[str, ...], said: str
) -> None:
    """The sentence names the next step, and nothing is changed."""
    ended = here(footnote, "sources", "share", *words, REDIS_URL=url)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(said)
    assert listed(footnote, here, REDIS_URL=url) == zoo(is_shared=False)


def shown(here: Here, footnote: Footnote, **env: str) -> dict[str, str]:
    """Give what is shown of the source `farm`, by the words in front of it."""
    ended = here(footnote, "sources", "show", "farm", **env)
    assert (ended.code, ended.err) == (0, "")
    rows = (line.split("  ", 1) for line in ended.out.splitlines() if not line.startswith(" "))
    return {row[0]: row[1].strip() for row in rows}


@pytest.mark.promise("keeps-sources")
def test_a_source_is_added_shown_brought_up_to_date_and_removed(
    footnote: Footnote, here: Here, url: str, tmp_path: Path
) -> None:
    """It is known where it comes from; only what has changed is read, and what is removed cannot be found."""
    farm = tmp_path / "farm"
    farm.mkdir()
    (farm / "goats.md").write_text("# Goats\n\nGoats eat thistles.\n")
    (farm / "goat.png").write_bytes(b"")
    env = {"REDIS_URL": url}
    added = here(footnote, "sources", "add", str(farm), "--base-url", "https://farm.example", **env)
    first = shown(here, footnote, **env)
    (farm / "hens.md").write_text("# Hens\n\nHens eat corn.\n")
    (farm / "cows.pdf").write_bytes(b"no PDF")
    synced = here(footnote, "sources", "sync", "farm", **env)
    facts = json.loads(here(footnote, "sources", "show", "farm", "--json", **env).out)
    found = here(footnote, "ask", "What do goats eat?", "--json", **env)
    removed = here(footnote, "sources", "remove", "farm", **env)
    after = here(footnote, "ask", "What do goats eat?", "--json", **env)

    assert added.err == (
        "farm: 1 added, 0 changed, 0 unchanged, 0 removed, 0 failed (1 new passages)\n  1 skipped: 1 .png\n"
    )
    assert first == {
        "source": "farm",
        "from": f"{farm} (folder)",
        "published at": "https://farm.example",
        "holds": "1 page, 1 passage",
        "who may read it": "the first community, once there is one",
        "read": "less than a minute ago",
        "skipped": "1",
        "failed": "0",
    }
    assert synced.err.startswith("farm: 1 added, 0 changed, 1 unchanged, 0 removed, 1 failed (1 new passages)\n")
    assert facts["origin"] == {
        "kind": "folder",
        "address": str(farm),
        "base_url": "https://farm.example",
        "every": 0,
        "macros": {},
    }
    assert ([each["name"] for each in facts["last"]["failures"]], facts["last"]["pages"]) == (["cows.pdf"], 2)
    assert "https://farm.example/goats" in found.out
    assert (removed.code, removed.out) == (0, "farm is removed, with 2 pages.\n")
    assert "https://farm.example/goats" not in after.out
    assert [each["name"] for each in listed(footnote, here, **env)] == ["zoo"]


@pytest.mark.promise("keeps-sources")
@pytest.mark.promise("json")
def test_what_is_done_with_sources_is_told_to_programs(
    footnote: Footnote, here: Here, url: str, tmp_path: Path
) -> None:
    """Each command prints one object and nothing else; a source that fails says why, and stops no other."""
    farm, gone = tmp_path / "farm", tmp_path / "gone"
    for folder in (farm, gone):
        folder.mkdir()
        (folder / "goats.md").write_text("# Goats\n\nGoats eat thistles.\n")
    (farm / "cows.pdf").write_bytes(b"no PDF")
    (farm / "goat.png").write_bytes(b"")

    def told(*words: str) -> tuple[int, dict[str, Any]]:
        ended = here(footnote, "sources", *words, "--json", REDIS_URL=url)
        assert ended.err == ""
        return ended.code, json.loads(ended.out)

    added, _ = told("add", str(farm)), told("add", str(gone))
    (gone / "goats.md").unlink()
    gone.rmdir()
    synced, alone = told("sync", "farm", "gone"), told("sync", "gone")
    removed, unknown = told("remove", "farm"), told("remove", "cows")

    counts = {"name": "farm", "changed": 0, "removed": 0, "skipped": {".png": 1}, "macros": {}, "error": None}
    [failed] = added[1].pop("failed")
    assert added == (0, {**counts, "added": 1, "unchanged": 0, "passages": 1})
    assert (failed["name"], failed["reason"] != "") == ("cows.pdf", True)
    sentence = f"There is no folder or file at '{gone}'"
    [fine, wrong] = synced[1].pop("sources")
    assert (synced, fine) == ((2, {}), {**counts, "added": 0, "unchanged": 1, "passages": 0, "failed": [failed]})
    assert (wrong["name"], wrong["error"]["error_type"]) == ("gone", "validation")
    assert wrong["error"]["message"].startswith(sentence)
    assert (alone[0], alone[1]["error"]) == (2, wrong["error"])
    assert removed == (0, {"removed": "farm", "pages": 1})
    assert (unknown[0], unknown[1]["error"]["error_type"]) == (2, "validation")


@pytest.mark.promise("websites")
async def test_a_website_is_a_source(footnote: Footnote, url: str) -> None:
    """It is added by its address, brought up to date, and cited; where it is down, what was read of it stays."""
    pages = {"/": html("Farm", "Hello.", links=("/goats",)), "/goats": html("Goats", "Goats eat thistles.")}
    env = {"REDIS_URL": url, "FOOTNOTE_FETCH_NETWORKS": "127.0.0.1"}
    async with WebSite(pages) as site:
        added = await asyncio.to_thread(footnote, "sources", "add", site.url, "--name", "farm", **env)
        refused = await asyncio.to_thread(footnote, "sources", "add", site.url, "--name", "x", REDIS_URL=url)
        site.received.clear()
        again = await asyncio.to_thread(footnote, "sources", "sync", "farm", **env)
        asked = [path for path in site.asked if path in pages]
        address = site.url
    down = await asyncio.to_thread(footnote, "sources", "sync", "farm", **env)
    found = await asyncio.to_thread(footnote, "ask", "What do goats eat?", "--json", **env)

    assert added.err == "farm: 2 added, 0 changed, 0 unchanged, 0 removed, 0 failed (2 new passages)\n"
    assert (refused.code, "FOOTNOTE_FETCH_NETWORKS" in refused.err) == (2, True)
    assert again.err == "farm: 0 added, 0 changed, 2 unchanged, 0 removed, 0 failed (0 new passages)\n"
    assert asked == ["/", "/goats"]
    assert (down.code, "cannot be reached" in down.err) == (3, True)
    assert f"{address}/goats" in found.out


@pytest.mark.promise("websites")
@pytest.mark.parametrize(
    ("spared", "code"), [("localhost,127.0.0.1", 0), ("127.0.0.1:PORT", 0), ("x.example", 2), ("", 2)]
)
async def test_what_needs_no_proxy_is_fetched_directly(footnote: Footnote, url: str, spared: str, code: int) -> None:
    """As `NO_PROXY` says; through one, only the hosts that are named are asked for."""
    env = {"REDIS_URL": url, "FOOTNOTE_FETCH_NETWORKS": "127.0.0.1", "HTTP_PROXY": "http://127.0.0.1:1"}
    async with WebSite({"/goats": html("Goats", "Goats eat thistles.")}) as site:
        words = ("sources", "add", f"{site.url}/goats", "--page", "--name", "farm")
        env["NO_PROXY"] = spared.replace("PORT", site.url.rpartition(":")[2])
        added = await asyncio.to_thread(footnote, *words, **env)

    assert (added.code, "is reached through a proxy" in added.err) == (code, code == 2)


@pytest.mark.promise("websites")
async def test_a_single_page_that_has_gone_is_removed(footnote: Footnote, url: str) -> None:
    """Where it answers that there is nothing; where its site is down, it stays. Once it is back, it is read again."""
    env = {"REDIS_URL": url, "FOOTNOTE_FETCH_NETWORKS": "127.0.0.1"}
    sync, show = ("sources", "sync", "farm"), ("sources", "show", "farm", "--json")
    async with WebSite({"/goats": html("Goats", "Goats eat thistles.")}) as site:
        await asyncio.to_thread(footnote, "sources", "add", f"{site.url}/goats", "--page", "--name", "farm", **env)
        pages, ends = dict(site.pages), list[tuple[int, str, int, str]]()
        for broken, there in ((Reply(503, b""), pages), (None, {}), (None, {}), (None, pages)):
            site.broken, site.pages = broken, dict(there)
            ended = await asyncio.to_thread(footnote, *sync, **env)
            facts = json.loads((await asyncio.to_thread(footnote, *show, **env)).out)
            ends.append((ended.code, ended.err, facts["pages"], facts["last"]["problem"]))

    (_, _, kept, down), (code, told, left, gone), (_, told_again, *_), (ok, _, back, fine) = ends
    assert (kept, "Nothing was removed" in down) == (1, True)
    assert (code, left, gone) == (2, 0, ALL_GONE)
    summed = "farm: 0 added, 0 changed, 0 unchanged, 1 removed, 0 failed (0 new passages)"
    removal = "To remove the source as well: footnote sources remove farm"
    assert told.splitlines() == [summed, "  1 skipped: 1 gone", f"{ALL_GONE} {removal}"]
    assert "Nothing in it could be read (1 gone), so nothing was changed. Check that its pages open" in told_again
    assert (ok, back, fine) == (0, 1, "")


@pytest.mark.promise("keeps-sources")
async def test_a_repository_is_a_source(footnote: Footnote, url: str) -> None:
    """Its branch and folder stand in its address, what is kept of it goes with it, and a slip leaves nothing."""
    env = {"REDIS_URL": url, "FOOTNOTE_FETCH_NETWORKS": "127.0.0.1/32"}
    async with GitServer() as server:
        server.put({"docs/goats.md": b"# Goats\n\nGoats eat thistles.\n"})
        added = await asyncio.to_thread(
            footnote, "sources", "add", f"{server.address}#main:docs", "--base-url", "https://x.example", **env
        )
        kept = [path.name for path in (footnote.data / "repositories").glob("*/*/docs/*")]
        slip = ("sources", "add", f"{server.address}#maind", "--name", "slip", "--base-url", "https://x.example")
        slipped = await asyncio.to_thread(footnote, *slip, **env)
        names = await asyncio.to_thread(footnote, "sources", "list", **env)
        removed = await asyncio.to_thread(footnote, "sources", "remove", "shelf", **env)

    assert (added.code, kept, removed.code) == (0, ["goats.md"], 0)
    assert (slipped.code, "has no branch or tag 'maind'" in slipped.err, "slip" in names.out) == (2, True, False)
    assert [*(footnote.data / "repositories").iterdir()] == []


@asynccontextmanager
async def place(kind: str) -> AsyncGenerator[tuple[Service, tuple[str, ...]]]:
    """Run a repository or a website of one page, and say how it is added."""
    if kind == "repository":
        async with GitServer() as git:
            git.put({"goats.md": b"# Goats\n\nGoats eat thistles.\n"})
            yield git, (git.address, "--base-url", "https://x.example")
    else:
        async with WebSite({"/": html("Goats", "Goats eat thistles.")}) as site:
            yield site, (site.url,)


@pytest.mark.promise("resumable")
@pytest.mark.parametrize(("kind", "answered", "kept"), [("repository", 2, ["goats.md"]), ("website", 3, [])])
async def test_what_a_kill_leaves_goes_the_next_time(
    footnote: Footnote, url: str, tmp_path: Path, kind: str, answered: int, kept: list[str]
) -> None:
    """In the data folder, and nothing is left elsewhere."""
    places = [footnote.data / "repositories", footnote.data / "websites", tmp_path / "tmp"]
    places[-1].mkdir()
    env = {"REDIS_URL": url, "FOOTNOTE_FETCH_NETWORKS": "127.0.0.1/32", "TMPDIR": str(places[-1])}

    def left() -> set[Path]:
        return {
            path for each in places for path in each.rglob("*") if path.is_file() or path.name[:4] in ("new-", "foot")
        }

    async with place(kind) as (service, words):
        service.faults.extend([*[None] * answered, Hang()])
        adding = await replace(footnote, is_forked=False).start("sources", "add", *words, "--name", "farm", **env)
        await service.was_asked(answered + 1, seconds=PATIENCE)
        adding.kill()
        await adding.wait()
        before = left()
        synced = await asyncio.to_thread(footnote.apart, "sources", "sync", "farm", **env)

    assert (synced.code, bool(before), left() & before, [path.name for path in left()]) == (0, True, set(), kept)


@pytest.mark.promise("keeps-sources")
def test_two_sources_may_hold_the_same_pages(footnote: Footnote, here: Here, url: str, tmp_path: Path) -> None:
    """Both say so; a page that is in both is cited once, and stays until the second source goes as well."""
    farm, env = tmp_path / "farm", {"REDIS_URL": url}
    (farm / "hens").mkdir(parents=True)
    (farm / "goats.md").write_text("# Goats\n\nGoats eat thistles.\n")
    (farm / "hens" / "food.md").write_text("# Food of hens\n\nHens eat corn and worms.\n")
    alone = here(footnote, "ingest", str(farm), **env)
    both = [
        here(footnote, *words, str(farm / "hens"), **env)
        for words in (("ingest",), ("sources", "add"), ("ingest", "--quiet"))
    ]
    known = shown(here, footnote, **env)
    cited: list[list[str]] = []
    for source in ("farm", "hens", ""):
        found = json.loads(here(footnote, "ask", "What do hens eat?", "--json", **env).out)
        cited.append([each["title"] for each in found["sources"]])
        if source:
            assert here(footnote, "sources", "remove", source, **env).code == 0

    assert [("overlaps with farm" in each.err, each.code) for each in (alone, *both)] == [
        (False, 0),
        (True, 0),
        (True, 0),
        (False, 0),
    ]
    assert known["overlaps with"] == "hens"
    assert cited == [["Food of hens"], ["Food of hens"], []]


@pytest.mark.promise("empty-folder-keeps-index")
def test_a_folder_that_has_gone_removes_nothing_and_says_how_to(
    footnote: Footnote, here: Here, url: str, tmp_path: Path
) -> None:
    """It is a problem of that source, which is shown; others are brought up to date all the same."""
    farm = tmp_path / "farm"
    farm.mkdir()
    (farm / "goats.md").write_text("# Goats\n\nGoats eat thistles.\n")
    here(footnote, "sources", "add", str(farm), REDIS_URL=url)
    (farm / "goats.md").unlink()
    emptied = here(footnote, "sources", "sync", "farm", REDIS_URL=url)
    farm.rmdir()
    gone = here(footnote, "sources", "sync", REDIS_URL=url)
    known = shown(here, footnote, REDIS_URL=url)
    looked = here(footnote, "doctor", REDIS_URL=url)

    assert (emptied.code, gone.code) == (2, 2)
    assert f"farm: There is no folder or file at '{farm}'" in looked.out
    assert "To remove what was read before: footnote sources remove farm" in emptied.err
    assert f"farm: There is no folder or file at '{farm}'" in gone.err
    assert known["problem"].startswith("There is no folder or file")
    assert (known["holds"], known["read"]) == ("1 page, 1 passage", "less than a minute ago (!)")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "FOLDER", "--name", "zoo"), "There is already a source 'zoo', from "),
        (("add", "FOLDER/nowhere"), "There is no folder or file at "),
        (("add", "https://x.example", "--base-url", "https://y.example"), "--base-url is for folders"),
        (("add", "FOLDER", "--page"), "--page is for an address on the web"),
        (("sync", "farm"), "There is no source 'farm'. The sources are: zoo."),
        (("remove", "farm"), "There is no source 'farm'. The sources are: zoo."),
        (("show", "farm"), "There is no source 'farm'. The sources are: zoo."),
    ],
)
def test_what_cannot_be_done_with_a_source_is_told(
    footnote: Footnote, here: Here, url: str, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    """And nothing of any other is changed."""
    ended = here(footnote, "sources", *(word.replace("FOLDER", str(tmp_path)) for word in words), REDIS_URL=url)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(said)
    assert listed(footnote, here, REDIS_URL=url) == zoo(is_shared=False)


@pytest.mark.promise("starts-empty")
def test_without_documents_the_list_says_so(here: Here, tmp_path: Path) -> None:
    """And how to read some."""
    ended = here(Footnote(tmp_path / "data"), "sources", "list")

    assert (ended.code, ended.out) == (0, "There are no documents yet. Read some first: footnote ingest FOLDER\n")
