"""Where documents come from: what each kind of source is read by, and what an address stands for."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from adapters.documents.page import readable
from bot.settings import Settings
from core.errors import FootnoteError, InvalidInput, Misconfigured, SourceUnavailable
from core.messages import listed
from core.model import Document, Origin, SourceKind, Unreadable
from core.ports import NOTHING_SEEN, OUTDATED, DocumentSource, Found

if TYPE_CHECKING:
    from adapters.documents.repository import Repository
    from adapters.fetching import FetchRules

ADDRESS = re.compile(r"https?://", re.IGNORECASE)
REPOSITORY = re.compile(r"https?://[^#?]+\.git(?:#|$)", re.IGNORECASE)
REPOSITORIES = "repositories"  # the folder of the data folder in which their files are kept
WEBSITES = "websites"  # the one in which each of their pages is while it is read
GROUP = "footnote.sources"
"""The group of entry points by which other packages bring kinds of sources; each is the first word of an address."""
KIND = re.compile(r"([a-z][a-z0-9+.-]+):")
UNKNOWN_KIND = "No kind of source called {!r} is installed; `footnote docs sources` says how to add one."
NOT_INSTALLED = "Sources of the kind {!r} need a package that is no longer installed. Install it again."
FAILED = "The package that brings sources of the kind {!r} failed ({}). Tell its authors; nothing was removed."
NO_ADDRESS = "has no web address that footnotes could lead to."
NO_TEXT = "The path {} contains bytes that are not UTF-8; rename that file or folder, for example with `mv`."
NO_PAGE = "--page is for an address on the web, which begins with https:// or http://."
MACRO = re.compile(r"([\w.-]+)=(.*)", re.DOTALL)
NO_MACRO = "{!r} does not say what a name stands for. Write --macro NAME=WORDS, such as --macro DISTRO=jazzy."
NO_BUILD = "--macro is for folders and repositories: the pages of a website are built already."
NO_BASE = "--base-url is for folders and repositories: the pages of a website have their own addresses."


class BroughtSource:
    """A source of a kind that another package brings; whatever that one does, it fails in a way that is known."""

    def __init__(self, source: DocumentSource, *, name: str, kind: str) -> None:
        self.name = name
        self._source = source
        self._kind = kind

    @classmethod
    def opened(cls, name: str, address: str) -> Self:
        """Open an address such as `wiki:team` by the package that brings its kind. Raises `Misconfigured`."""
        kind = address.partition(":")[0]
        entry = next((each for each in entry_points(group=GROUP) if each.name == kind), None)
        if entry is None:
            raise Misconfigured(NOT_INSTALLED.format(kind))
        try:
            return cls(entry.load()(address, name=name), name=name, kind=kind)
        except FootnoteError:
            raise
        except Exception as error:
            raise Misconfigured(FAILED.format(kind, type(error).__name__)) from error

    async def size(self) -> int | None:
        """Return what the package says."""
        return await self._source.size()

    async def documents(self, seen: Mapping[str, str] = NOTHING_SEEN) -> AsyncGenerator[Found]:
        """Read it; all pages belong to this source, since that says who may read them, and have a place on the web."""
        own = {url: stamp for url, stamp in seen.items() if stamp != OUTDATED}  # others mean nothing to a package
        try:
            async with aclosing(self._source.documents(own)) as documents:
                async for found in documents:
                    if not isinstance(found, Document):
                        yield found
                    elif ADDRESS.match(found.url):
                        yield found.model_copy(update={"source": self.name})
                    else:
                        yield Unreadable(name=found.name or found.title, reason=NO_ADDRESS)
        except FootnoteError:
            raise
        except Exception as error:
            raise SourceUnavailable(FAILED.format(self._kind, type(error).__name__)) from error


def folder(path: Path, *, name: str, base_url: str | None, macros: Mapping[str, str] | None = None) -> DocumentSource:
    """Return a folder or file as a source of documents."""
    from adapters.documents.folder import Folder

    return Folder(path, name=name, base_url=base_url, macros=macros or {})


def opened(settings: Settings, name: str, origin: Origin) -> DocumentSource:
    """Return the source that is meant by where it comes from."""
    if origin.kind is SourceKind.FOLDER:
        return folder(Path(origin.address), name=name, base_url=origin.base_url or None, macros=origin.macros)
    if origin.kind is SourceKind.BROUGHT:
        return BroughtSource.opened(name, origin.address)
    from adapters.fetching import FetchRules

    place = urlsplit(origin.address)
    proxy = None if proxy_bypass(place.netloc.rpartition("@")[2]) else getproxies_environment().get(place.scheme)
    rules = FetchRules(networks=settings.allowed_networks, hosts=settings.allowed_hosts, proxy=proxy)
    if origin.kind is SourceKind.REPOSITORY:
        return _repository(settings, name, origin, rules)
    from adapters.documents.website import Website

    home, alone = settings.data_dir / WEBSITES, origin.kind is SourceKind.PAGE
    return Website(origin.address, name=name, home=home, alone=alone, rules=rules)


def _repository(settings: Settings, name: str, origin: Origin, rules: FetchRules | None = None) -> Repository:
    from adapters.documents.repository import LIMITS, Repository
    from adapters.fetching import fetcher

    home, base_url = settings.data_dir / REPOSITORIES, origin.base_url or None
    fetching = partial(fetcher, rules, LIMITS)
    return Repository(origin.address, name=name, home=home, base_url=base_url, macros=origin.macros, fetching=fetching)


def forget(settings: Settings, name: str, origin: Origin) -> None:
    """Delete what is kept of a source beside its passages."""
    if origin.kind is SourceKind.REPOSITORY:
        _repository(settings, name, origin).forget()


def origin_of(
    address: str, base_url: str | None, *, alone: bool = False, every: int = 0, macros: Sequence[str] = ()
) -> Origin:
    """Return where a folder or file is, from wherever the next command is typed, or a website, or *alone* a page of it.

    An address that ends in `.git`, before `#branch:folder`, is a repository's. Raises `InvalidInput` where not all of
    that can be.
    """
    files: dict[str, Any] = {"base_url": base_url or "", "macros": dict(map(_macro, macros))}
    if not ADDRESS.match(address):
        if (kind := KIND.match(address)) and kind[1] in entry_points(group=GROUP).names:
            return Origin(kind=SourceKind.BROUGHT, address=address, base_url=base_url or "", every=every)
        if kind and address.startswith("//", kind.end()):
            raise InvalidInput(UNKNOWN_KIND.format(kind[1]), field="address")
        if alone:
            raise InvalidInput(NO_PAGE, field="page")
        return Origin(kind=SourceKind.FOLDER, address=_path(address), every=every, **files)
    if REPOSITORY.match(address) and not alone:
        return Origin(kind=SourceKind.REPOSITORY, address=address, every=every, **files)
    if base_url:
        raise InvalidInput(NO_BASE, field="base_url")
    if macros:
        raise InvalidInput(NO_BUILD, field="macro")
    return Origin(kind=SourceKind.PAGE if alone else SourceKind.WEBSITE, address=address, every=every)


def _path(address: str) -> str:
    """Return the whole path of a folder or file. Raises `InvalidInput` for one that could not be stored."""
    path = str(Path(address).expanduser().absolute())
    if (shown := readable(path)) != path:
        raise InvalidInput(NO_TEXT.format(shown), field="address")
    return path


def _macro(said: str) -> tuple[str, str]:
    """Return the name and the words of `NAME=WORDS`. Raises `InvalidInput`."""
    if (found := MACRO.fullmatch(said)) is None:
        raise InvalidInput(NO_MACRO.format(said), field="macro")
    return found[1], found[2]


def unknown_macros(names: Sequence[str]) -> str:
    """Return what to do about names in pages that nobody has given words."""
    said = listed([f"{{{name}}}" for name in names])
    return f"{said} may stand for words that only a build knows; if so, say which: --macro {names[0]}=WORDS"


def name_of(origin: Origin) -> str:
    """Return what a source is called unless somebody names it: by its folder, its repository, or its website's host."""
    if origin.kind is SourceKind.FOLDER:
        return Path(origin.address).resolve().name
    if origin.kind is SourceKind.BROUGHT:
        return re.sub(r"[^\w.-]+", "-", origin.address).strip("-")
    if origin.kind is SourceKind.REPOSITORY:
        return urlsplit(origin.address).path.rpartition("/")[2].removesuffix(".git")
    return urlsplit(origin.address).hostname or origin.address
