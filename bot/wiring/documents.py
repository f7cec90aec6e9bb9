"""Where documents come from: what each kind of source is read by, and what an address stands for."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

from bot.settings import Settings
from core.errors import InvalidInput
from core.model import Origin, SourceKind
from core.ports import DocumentSource

if TYPE_CHECKING:
    from adapters.documents.repository import Repository
    from adapters.fetching import FetchRules

ADDRESS = re.compile(r"https?://", re.IGNORECASE)
REPOSITORY = re.compile(r"https?://[^#?]+\.git(?:#|$)", re.IGNORECASE)
REPOSITORIES = "repositories"  # the folder of the data folder in which their files are kept
NO_PAGE = "--page is for an address on the web, which begins with https:// or http://."
NO_BASE = "--base-url is for folders and repositories: the pages of a website have their own addresses."


def folder(path: Path, *, name: str, base_url: str | None) -> DocumentSource:
    """Return a folder or file as a source of documents."""
    from adapters.documents.folder import Folder

    return Folder(path, name=name, base_url=base_url)


def opened(settings: Settings, name: str, origin: Origin) -> DocumentSource:
    """Return the source that is meant by where it comes from."""
    if origin.kind is SourceKind.FOLDER:
        return folder(Path(origin.address), name=name, base_url=origin.base_url or None)
    from adapters.fetching import FetchRules

    proxies = getproxies_environment()
    rules = FetchRules(
        networks=settings.allowed_networks,
        hosts=settings.allowed_hosts,
        proxy=proxies.get(urlsplit(origin.address).scheme),
    )
    if origin.kind is SourceKind.REPOSITORY:
        return _repository(settings, name, origin, rules)
    from adapters.documents.website import Website

    return Website(origin.address, name=name, alone=origin.kind is SourceKind.PAGE, rules=rules)


def _repository(settings: Settings, name: str, origin: Origin, rules: FetchRules | None = None) -> Repository:
    from adapters.documents.repository import LIMITS, Repository
    from adapters.fetching import fetcher

    home, base_url = settings.data_dir / REPOSITORIES, origin.base_url or None
    fetching = partial(fetcher, rules, LIMITS)
    return Repository(origin.address, name=name, home=home, base_url=base_url, fetching=fetching)


def forget(settings: Settings, name: str, origin: Origin) -> None:
    """Delete what is kept of a source beside its passages."""
    if origin.kind is SourceKind.REPOSITORY:
        _repository(settings, name, origin).forget()


def origin_of(address: str, base_url: str | None, *, alone: bool = False, every: int = 0) -> Origin:
    """Return where a folder or file is, from wherever the next command is typed, or a website, or *alone* a page of it.

    An address that ends in `.git`, before `#branch:folder`, is a repository's. Raises `InvalidInput` where not all of
    that can be.
    """
    if not ADDRESS.match(address):
        if alone:
            raise InvalidInput(NO_PAGE, field="page")
        path = str(Path(address).expanduser().absolute())
        return Origin(kind=SourceKind.FOLDER, address=path, base_url=base_url or "", every=every)
    if REPOSITORY.match(address) and not alone:
        return Origin(kind=SourceKind.REPOSITORY, address=address, base_url=base_url or "", every=every)
    if base_url:
        raise InvalidInput(NO_BASE, field="base_url")
    return Origin(kind=SourceKind.PAGE if alone else SourceKind.WEBSITE, address=address, every=every)


def name_of(origin: Origin) -> str:
    """Return what a source is called unless somebody names it: by its folder, its repository, or its website's host."""
    if origin.kind is SourceKind.FOLDER:
        return Path(origin.address).resolve().name
    if origin.kind is SourceKind.REPOSITORY:
        return urlsplit(origin.address).path.rpartition("/")[2].removesuffix(".git")
    return urlsplit(origin.address).hostname or origin.address
