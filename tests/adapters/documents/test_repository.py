"""Repositories: what is asked of a git server, what it may do without any harm, and where pages are cited."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from adapters.documents.repository import Repository, RepositoryPlace
from adapters.fetching import FetchLimits, FetchRules, fetcher
from adapters.retry import SITE
from adapters.unix import UNFINISHED
from core.errors import InvalidInput, SourceUnavailable
from core.model import Document, LeftOut, Unchanged, Unreadable
from core.ports import Found
from tests.servers.git import GitServer
from tests.servers.service import Hang, Reply, Reset, Trickle
from tests.waiting import wait_until

RULES = FetchRules(networks=[ipaddress.ip_network("127.0.0.1/32")])
BASE = "https://x.example"


@pytest.fixture(name="server")
async def _server() -> AsyncGenerator[GitServer]:
    """Run a server whose repository has two pages, one of them in a folder."""
    async with GitServer() as server:
        server.put({"README.md": b"# Start\n\nWelcome.\n", "docs/goats.md": b"# Goats\n\nGoats eat thistles.\n"})
        yield server


def source(
    server: GitServer, home: Path, words: str = "", limits: FetchLimits | None = None, **macros: str
) -> Repository:
    """Give the repository as a source, which is asked once."""
    fetching = partial(fetcher, RULES, limits or FetchLimits(seconds=20.0))
    address, once = server.address + words, replace(SITE, attempts=1)
    return Repository(address, name="shelf", home=home, base_url=BASE, macros=macros, fetching=fetching, retries=once)


async def read(repository: Repository, seen: Mapping[str, str] | None = None) -> list[Found]:
    """Read it to its end."""
    return [found async for found in repository.documents(seen or {})]


def names(folder: Path, pattern: str = "*/*") -> list[str]:
    """Return the names of what a folder holds."""
    return [path.name for path in folder.glob(pattern)]


def titles(found: list[Found]) -> list[str]:
    """Return the titles of pages that were read."""
    return [each.title for each in found if isinstance(each, Document)]


@pytest.mark.promise("incremental")
async def test_an_unchanged_commit_costs_two_small_requests(server: GitServer, tmp_path: Path) -> None:
    """Nothing is fetched or read again, and what could not be read or is left out is still counted."""
    server.put({"a.md": b"# A\n", "b.md": b"\x00", "c.png": b""})
    first = await read(source(server, tmp_path))
    server.received.clear()
    seen = {each.url: each.stamp for each in first if isinstance(each, Document)}

    again = await read(source(server, tmp_path), seen)

    assert [each.method for each in server.received] == ["GET", "POST"]
    assert [type(each) for each in again] == [Unchanged, Unreadable, LeftOut]


@pytest.mark.promise("incremental")
async def test_of_a_new_commit_only_what_changed_is_read_and_one_commit_is_kept(
    server: GitServer, tmp_path: Path
) -> None:
    """Also where another commit came between."""
    seen = {each.url: each.stamp for each in await read(source(server, tmp_path)) if isinstance(each, Document)}
    server.put({"README.md": b"# Start\n\nWelcome.\n", "docs/goats.md": b"# Sheep\n"})

    again = await read(source(server, tmp_path), seen)

    assert (titles(again), [type(each) for each in again]) == (["Sheep"], [Unchanged, Document])
    assert names(tmp_path) == [server.git("rev-parse", "HEAD")]


async def test_macros_are_put_into_pages_of_a_repository(server: GitServer, tmp_path: Path) -> None:
    """As into those of a folder."""
    server.put({"goats.rst": b"Goats\n=====\n\nGoats of {BREED} and {PLACE}.\n"})

    [goats, *_] = [each for each in await read(source(server, tmp_path, BREED="Agri")) if isinstance(each, Document)]

    assert ("Goats of Agri and {PLACE}." in goats.text, goats.macros) == (True, ("PLACE",))


async def test_a_branch_and_a_folder_can_be_named(server: GitServer, tmp_path: Path) -> None:
    """A tag counts as a branch, whether it is a note of its own or not."""
    server.git("tag", "-a", "v1", "-m", "One")
    server.git("checkout", "-q", "-b", "next/try")
    server.put({"docs/hens.md": b"# Hens\n"})
    server.git("checkout", "-q", "main")

    assert titles(await read(source(server, tmp_path, "#next/try:docs"))) == ["Hens"]
    assert titles(await read(source(server, tmp_path, "#v1:docs/goats.md"))) == ["Goats"]
    assert titles(await read(source(server, tmp_path))) == ["Start", "Goats"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("#nobody", "has no branch or tag 'nobody'."),
        ("#main:nothing", "has no folder or file 'nothing'."),
        ("#main:../..", "has no folder or file '../..'."),
    ],
)
async def test_what_is_not_there_is_named(server: GitServer, tmp_path: Path, words: str, says: str) -> None:
    """In words, and with the repository's address."""
    with pytest.raises(InvalidInput) as raised:
        await read(source(server, tmp_path, words))
    assert str(raised.value) == f"{server.address} {says}"


@pytest.mark.parametrize("status", [401, 403, 404, 410, 429, 500, 503])
async def test_a_server_that_refuses_says_so_and_keeps_what_was_read(
    server: GitServer, tmp_path: Path, status: int
) -> None:
    """Whether for now or for good; the files that were fetched before stay."""
    await read(source(server, tmp_path))
    server.broken = Reply(status, b"")

    is_down = status in (429, 500, 503)
    step = "footnote sources sync shelf" if is_down else "Check its address"
    with pytest.raises(SourceUnavailable if is_down else InvalidInput, match=rf"\({status}\)\. .*{step}"):
        await read(source(server, tmp_path))
    assert names(tmp_path) == [server.git("rev-parse", "HEAD")]


@pytest.mark.parametrize("fault", [Reset(), Hang(), Trickle()])
async def test_a_server_that_breaks_off_or_never_ends_is_left(
    server: GitServer, tmp_path: Path, fault: Reset | Hang | Trickle
) -> None:
    """While it tells of its branches, and while it sends a commit."""
    limits = FetchLimits(size=1_000, seconds=2.0)
    for before in range(3):
        server.faults.clear()
        server.faults.extend([*[None] * before, fault, fault])  # a client may ask once more by itself

        with pytest.raises((SourceUnavailable, InvalidInput)):
            await read(source(server, tmp_path, limits=limits))
        assert names(tmp_path) == []


@pytest.mark.promise("resumable")
async def test_half_a_commit_is_none(server: GitServer, tmp_path: Path) -> None:
    """Nothing of it is kept, and the next time it comes as a whole."""
    server.half = True
    with pytest.raises(InvalidInput, match=r"is damaged, or broke off\."):
        await read(source(server, tmp_path))
    assert names(tmp_path) == []
    server.half = False

    assert titles(await read(source(server, tmp_path))) == ["Start", "Goats"]


UNPACKS = """
import asyncio, sys
from pathlib import Path
from adapters.documents.checkout import unpack
asyncio.run(unpack(Path(sys.argv[1]), "0" * 40, "", Path(sys.argv[2])))
"""


async def test_nothing_is_unpacked_for_somebody_who_was_killed(tmp_path: Path) -> None:
    """The process that does it ends with the one that started it, whatever it is doing."""
    answer = tmp_path / "answer"
    os.mkfifo(answer)
    started = await asyncio.create_subprocess_exec(sys.executable, "-c", UNPACKS, str(answer), str(tmp_path / "files"))
    with await asyncio.to_thread(answer.open, "wb", buffering=0) as pipe:  # opened once somebody reads
        started.kill()
        await started.wait()

        def is_over() -> bool:
            try:
                pipe.write(b"0000")
            except BrokenPipeError:
                return True
            return False

        await wait_until(is_over, what="the end of the process that unpacks")


async def test_what_somebody_who_was_killed_had_not_unpacked_goes_with_the_source(
    server: GitServer, tmp_path: Path
) -> None:
    """Also where no repository is read any more, which would clear it up."""
    shelf = source(server, tmp_path)
    async for _ in shelf.documents():
        pass
    (tmp_path / f"{UNFINISHED}left").mkdir()

    shelf.forget()

    assert os.listdir(tmp_path) == []  # noqa: PTH208 - a path may not be looked into here


async def test_a_commit_that_is_too_large_is_refused(server: GitServer, tmp_path: Path) -> None:
    """By what is sent."""
    server.put({"a.md": b"# A\n", "b.bin": bytes(hash(n) % 251 * n % 256 for n in range(50_000))})

    with pytest.raises(InvalidInput, match="is larger than"):
        await read(source(server, tmp_path, limits=FetchLimits(size=20_000, seconds=20.0)))


@pytest.mark.parametrize(
    "target", ["http://127.0.0.2:9/x.git/info/refs?service=git-upload-pack", "http://169.254.169.254/", "file:///etc"]
)
async def test_no_redirect_leads_to_what_is_not_public(server: GitServer, tmp_path: Path, target: str) -> None:
    """What is not allowed is not connected to, and other schemes are no addresses."""
    server.at["/shelf.git/info/refs"] = Reply(302, b"", {"Location": target})

    with pytest.raises(InvalidInput, match=r"not public|is not a web address"):
        await read(source(server, tmp_path))


async def test_a_repository_that_moved_is_followed(server: GitServer, tmp_path: Path) -> None:
    """Its server is the one that answered in the end."""
    moved = f"{server.url}/old.git"
    server.at["/old.git/info/refs"] = Reply(
        301, b"", {"Location": f"{server.address}/info/refs?service=git-upload-pack"}
    )
    repository = Repository(moved, name="shelf", home=tmp_path, base_url=BASE, fetching=partial(fetcher, RULES))

    assert titles(await read(repository)) == ["Start", "Goats"]


async def test_a_page_that_is_no_repository_says_so(server: GitServer, tmp_path: Path) -> None:
    """Such as one of a website, or a server of long ago, whose addresses of other servers nobody follows."""
    server.at["/shelf.git/info/refs"] = Reply(200, b"0" * 40 + b"\trefs/heads/main\n", {"Content-Type": "text/plain"})

    with pytest.raises(InvalidInput, match="is not a git repository"):
        await read(source(server, tmp_path))


async def test_no_link_in_a_repository_leads_out_of_it(server: GitServer, tmp_path: Path) -> None:
    """Neither a page, nor a folder, nor the folder that is read; and no name of a file does."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("# Secret\n")
    (server.root / "page.md").symlink_to(outside / "secret.md")
    (server.root / "folder").symlink_to(outside)
    (server.root / "inside.md").symlink_to("docs/goats.md")
    server.git("add", "--all")
    blob = server.git("hash-object", "-w", "README.md")
    link = server.git("rev-parse", ":folder")
    tree = b"".join(
        mode + b" " + name + b"\0" + bytes.fromhex(sha)
        for mode, name, sha in ((b"120000", b"a", link), (b"100644", b"../out.md", blob), (b"100644", b".git", blob))
    )
    (server.root.parent / "tree").write_bytes(tree)
    odd = server.git("hash-object", "-w", "--literally", "-t", "tree", str(server.root.parent / "tree"))
    server.git("commit", "-q", "-m", "Links")
    server.git("branch", "odd", server.git("commit-tree", odd, "-m", "Odd"))

    whole = await read(source(server, tmp_path / "home"))
    assert [each.name for each in whole if isinstance(each, Document)] == ["README.md", "docs/goats.md"]
    with pytest.raises(InvalidInput, match="has no folder"):
        await read(source(server, tmp_path / "home", "#main:folder"))
    assert titles(await read(source(server, tmp_path / "home", "#odd"))) == []
    assert names(tmp_path, "**/out.md") == []


@pytest.mark.parametrize(
    ("address", "view"),
    [
        ("https://github.com/ros2/book.git#rolling:src", "https://github.com/ros2/book/blob/rolling/"),
        ("https://gitlab.com/a/b/c.git", "https://gitlab.com/a/b/c/-/blob/main/"),
        ("https://codeberg.org/a/b.git", "https://codeberg.org/a/b/src/branch/main/"),
        ("https://bitbucket.org/a/b.git", "https://bitbucket.org/a/b/src/main/"),
        ("https://git.example/a/b.git", None),
    ],
)
def test_pages_are_cited_where_a_known_host_shows_their_files(address: str, view: str | None) -> None:
    """Elsewhere nobody knows that."""
    place = RepositoryPlace.of(address)

    assert place.view(place.branch or "main") == view


async def test_without_a_known_host_somebody_has_to_say_where_pages_are(server: GitServer, tmp_path: Path) -> None:
    """Before anything is fetched."""
    with pytest.raises(InvalidInput, match="--base-url"):
        Repository(server.address, name="shelf", home=tmp_path)
    assert server.received == []
