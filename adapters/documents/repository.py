"""A git repository as a source of documents: one commit of it, fetched like a website, is read as a folder.

Nothing but its newest commit is asked for, in the second version of git's protocol, and only where that is new.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import re
import shutil
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote, urlsplit

from adapters.documents.checkout import NotUnpacked, unpack
from adapters.documents.folder import Folder
from adapters.documents.made_of import NO_MACROS
from adapters.fetching import DOWN, Fetched, Fetcher, FetchFailed, FetchLimits, FetchRefused, ask, fetcher
from adapters.retry import SITE, RetryPolicy
from adapters.unix import scratch
from core.errors import InvalidInput, SourceUnavailable
from core.ports import NOTHING_SEEN, Found

Fetching: TypeAlias = Callable[[], AbstractAsyncContextManager[Fetcher]]
LIMITS = FetchLimits(size=500_000_000, seconds=900.0)
OK, SERVICE = 200, "git-upload-pack"
VIEWS = (
    (re.compile(r"github\."), "blob"),
    (re.compile(r"gitlab\."), "-/blob"),
    (re.compile(r"(?:codeberg|gitea|forgejo)\."), "src/branch"),
    (re.compile(r"bitbucket\.org$"), "src"),
)
"""How hosts name the page on which they show a file, between the repository and the branch."""
NO_VIEW = "It is not known at which addresses {} shows its files. Say where its pages can be read: --base-url ADDRESS"
CHECK = " Check its address; of a private repository, read a copy on this machine: footnote ingest FOLDER"
NO_GIT = "is not a git repository that speaks the second version of git's protocol."
NO_BRANCH, EMPTY = "has no branch or tag {!r}.", "has no commit yet."


@dataclass(frozen=True, slots=True)
class RepositoryPlace:
    """Where in which repository documents are: `https://host/path.git#branch:folder`; both may be left out."""

    address: str
    branch: str = ""
    folder: str = ""

    @classmethod
    def of(cls, address: str) -> RepositoryPlace:
        """Return what an address means."""
        repository, _, rest = address.partition("#")
        branch, _, folder = rest.partition(":")
        return cls(repository.rstrip("/"), branch, folder.strip("/"))

    def view(self, branch: str) -> str | None:
        """Return the address below which the repository's host shows files of a branch, if it is a known one."""
        host = urlsplit(self.address).hostname or ""
        shown = next((path for pattern, path in VIEWS if pattern.match(host)), None)
        return shown and f"{self.address.removesuffix('.git')}/{shown}/{quote(branch)}/"


@dataclass(frozen=True, slots=True)
class Tip:
    """The newest commit of a branch, and where the server is found by now."""

    commit: str
    branch: str
    server: str


class Repository:
    """The files below a folder of a repository, as they are on a branch."""

    def __init__(  # noqa: PLR0913 - each is an option of a source
        self,
        address: str,
        *,
        name: str,
        home: Path,
        base_url: str | None = None,
        macros: Mapping[str, str] = NO_MACROS,
        fetching: Fetching = fetcher,
        retries: RetryPolicy = SITE,
    ) -> None:
        """Keep the files of the newest commit at *home*.

        Without a *base_url*, pages are cited where the host shows their files. Raises `InvalidInput` where no one
        knows that.
        """
        self.name = name
        self._place = RepositoryPlace.of(address)
        self._making = home
        self._home = home / hashlib.sha256(address.encode()).hexdigest()[:16]
        self._base_url = base_url
        self._macros = macros
        self._fetching = fetching
        self._retries = retries
        if base_url is None and self._place.view("") is None:
            raise InvalidInput(NO_VIEW.format(self._place.address), field="base_url")

    async def size(self) -> int | None:
        """Nobody knows how many pages there are before they are fetched."""
        return None

    def forget(self) -> None:
        """Delete the files that are kept, and what somebody who was killed had not unpacked."""
        shutil.rmtree(self._home, ignore_errors=True)
        with suppress(OSError), scratch(self._making):
            pass

    async def documents(self, seen: Mapping[str, str] = NOTHING_SEEN) -> AsyncGenerator[Found]:
        """Fetch the newest commit, unless it is here already, and read it as a folder."""
        try:
            async with self._fetching() as fetch:
                tip = await self._tip(fetch)
                root = self._home / tip.commit
                if not root.is_dir():
                    await self._fetch(fetch, tip, root)
        except (FetchRefused, NotUnpacked) as error:
            raise InvalidInput(f"{self._place.address} {error}", field="source") from error
        except (FetchFailed, OSError) as error:
            says = str(error) if isinstance(error, FetchFailed) else "cannot be kept on this disk."
            raise SourceUnavailable(DOWN.format(self._place.address, says, self.name)) from error
        view = None if self._base_url else self._place.view(tip.branch)
        place, address = root / self._place.folder, self._base_url or view
        pages = Folder(place, name=self.name, base_url=address, is_site=view is None, macros=self._macros)
        async with aclosing(pages.documents(seen)) as documents:
            async for found in documents:
                yield found if view is None else self._viewed(found, view)

    def _viewed(self, found: Found, view: str) -> Found:
        """Have a page cited where the repository's host shows its file."""
        folder = self._place.folder
        path = folder if folder.endswith(f"/{found.name}") or folder == found.name else f"{folder}/{found.name}"
        url = view + quote(path.lstrip("/"))
        return found.model_copy(update={"url": url}) if getattr(found, "url", "") else found

    async def _tip(self, fetch: Fetcher) -> Tip:
        """Ask for the newest commit. Raises `FetchRefused`, `FetchFailed`, `InvalidInput` and `SourceUnavailable`."""
        from dulwich.protocol import pkt_line

        headers = {"Git-Protocol": "version=2"}
        hello = f"{self._place.address}/info/refs?service={SERVICE}"
        got = self._checked(await ask(lambda: fetch.get(hello, headers), self._retries))
        if b"version 2" not in got.body[:200] or not got.url.endswith(f"/info/refs?service={SERVICE}"):
            raise FetchRefused(NO_GIT)
        server, wanted = got.url.partition("/info/refs?")[0], self._place.branch
        prefixes = [f"refs/heads/{wanted}", f"refs/tags/{wanted}"] if wanted else ["HEAD"]
        words = ["symrefs\n", "peel\n", *(f"ref-prefix {prefix}\n" for prefix in prefixes)]
        body = pkt_line(b"command=ls-refs\n") + b"0001" + b"".join(pkt_line(word.encode()) for word in words) + b"0000"
        got = self._checked(await ask(lambda: fetch.post(f"{server}/{SERVICE}", body, _headers()), self._retries))
        found = {words[1]: words for line in _lines(got.body) if len(words := line.split()) > 1}
        for prefix in prefixes:
            if (ref := found.get(prefix)) is not None:
                said = dict(word.split(":", 1) for word in ref[2:] if ":" in word)
                branch = wanted or said.get("symref-target", "HEAD").removeprefix("refs/heads/")
                return Tip(said.get("peeled", ref[0]), branch, server)
        raise FetchRefused(NO_BRANCH.format(wanted) if wanted else EMPTY)

    async def _fetch(self, fetch: Fetcher, tip: Tip, root: Path) -> None:
        """Fetch a commit to its place, in one step for whoever reads it, and delete what was there before."""
        from dulwich.protocol import pkt_line

        words = (f"want {tip.commit}\n", "deepen 1\n", "ofs-delta\n", "no-progress\n", "done\n")
        body = pkt_line(b"command=fetch\n") + b"0001" + b"".join(pkt_line(word.encode()) for word in words) + b"0000"
        await asyncio.to_thread(self._home.mkdir, parents=True, exist_ok=True)
        with scratch(self._making) as made:
            answer, target = made / "answer", made / "files"
            target.mkdir()
            with answer.open("wb") as file:
                self._checked(await fetch.post(f"{tip.server}/{SERVICE}", body, _headers(), file))
            await unpack(answer, tip.commit, self._place.folder, target)
            await asyncio.to_thread(_exchange, target, root)

    def _checked(self, got: Fetched) -> Fetched:
        """Return what was answered. Raises `FetchRefused` or `SourceUnavailable` where it is an error."""
        if got.is_down:
            raise SourceUnavailable(DOWN.format(self._place.address, got.refusal, self.name))
        if got.status != OK:
            raise FetchRefused(got.refusal + CHECK)
        return got


def _headers() -> Mapping[str, str]:
    kinds = {"Content-Type": f"application/x-{SERVICE}-request", "Accept": f"application/x-{SERVICE}-result"}
    return {"Git-Protocol": "version=2", **kinds}


def _lines(body: bytes) -> Iterator[str]:
    """Yield the lines of an answer. Raises `FetchFailed` where it broke off."""
    from dulwich.errors import GitProtocolError
    from dulwich.protocol import Protocol

    lines = Protocol(io.BytesIO(body).read, lambda _: None)
    try:
        while line := lines.read_pkt_line():
            yield line.decode(errors="replace")
    except (GitProtocolError, AssertionError, ValueError) as error:
        raise FetchFailed("broke off.") from error


def _exchange(target: Path, root: Path) -> None:
    """Put new files to their place, and delete what else is kept there."""
    others = [path for path in root.parent.iterdir() if path != root]
    target.rename(root)
    for path in others:
        shutil.rmtree(path, ignore_errors=True)
