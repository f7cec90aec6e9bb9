"""`footnote sources`: which documents there are and who may read them, for whoever runs the bot."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from bot.commands.inbox import aligned
from bot.commands.session import Session, session
from bot.outcome import OK
from bot.settings import community_named
from bot.wiring import NOTHING_TO_SEARCH
from core.community.visibility import audience_of
from core.errors import InvalidInput, StoreUnavailable
from core.messages import joined, listed
from core.model import Audience, Communities, Scope, SourceRecord, WorkspaceRef, without_controls

COLUMNS = ("SOURCE", "pages", "who may read it")
EVERYBODY, NOBODY = "everybody", "nobody"
UNSAID = "{}, the first community"
UNDECIDED = "the first community, once there is one"
WHO = "Say who may read it: --with COMMUNITY, which may be repeated, --everyone or --nobody."
UNKNOWN = "There is no source {!r}. The sources are: {}. Type footnote sources list to see who may read them."
NOT_ALLOWED = "{} is not among those that may use the bot. To let it, type: footnote communities allow {}"


@dataclass(frozen=True, slots=True)
class Shelved:
    """A source with its number of pages, and the first community, which has what nobody has shared."""

    record: SourceRecord
    pages: int
    first: WorkspaceRef | None

    @property
    def said(self) -> tuple[str, str, str]:
        """What a person may want to know of it, in the columns."""
        readers = described(self.record.audience) if self.record.audience else UNDECIDED
        if self.record.audience is None and self.first is not None:
            readers = UNSAID.format(self.first)
        return self.record.name, f"{self.pages:,}", readers

    @property
    def facts(self) -> dict[str, object]:
        """The same for a program; `is_shared` says whether anybody has said who may read it."""
        audience = audience_of(self.record, self.first)
        return {
            "name": self.record.name,
            "pages": self.pages,
            "is_shared": self.record.audience is not None,
            "everyone": audience.everyone,
            "communities": sorted(map(str, audience.communities)),
        }


def list_sources(*, as_json: bool) -> int:
    """Print all sources, with who may read each."""
    with session("footnote sources list", memory=True) as opened:
        found = opened.run(_shelved(opened))
    if as_json:
        _print(json.dumps({"sources": [each.facts for each in found]}, ensure_ascii=False))
    else:
        _print(aligned([COLUMNS, *(each.said for each in found)]) if found else NOTHING_TO_SEARCH)
    return OK


def share(name: str, communities: Sequence[str], *, everyone: bool, nobody: bool) -> int:
    """Have a source read by these *communities* alone, by *everyone* or by *nobody*, from the next question on."""
    if sum([bool(communities), everyone, nobody]) != 1:
        raise InvalidInput(WHO, field="with")
    audience = Audience(everyone=everyone, communities=frozenset(map(community_named, communities)))
    with session("footnote sources share", memory=True) as opened:
        waiting = opened.run(_shared(opened, SourceRecord(name=name, audience=audience)))
    _print(f"{name} may be read by {described(audience)}, from the next question on.")
    for each in waiting:
        sys.stderr.write(f"{NOT_ALLOWED.format(each, each)}\n")
    return OK


def described(audience: Audience) -> str:
    """Return who may read a source, in words."""
    if audience.everyone:
        return EVERYBODY
    return joined(sorted(map(str, audience.communities))) if audience.communities else NOBODY


async def _communities(opened: Session) -> Communities:
    assert opened.app.stores is not None  # noqa: S101 - the session was opened with memory
    return await opened.app.stores.communities.load()


async def _shelved(opened: Session) -> list[Shelved]:
    """Read all sources, also those without a page. Raises `StoreUnavailable` or `RetrievalUnavailable`."""
    index, first = opened.app.index, (await _communities(opened)).first
    records = await index.sources()
    return [Shelved(record, (await index.outline(Scope(sources=(record.name,)))).pages, first) for record in records]


async def _shared(opened: Session, record: SourceRecord) -> list[WorkspaceRef]:
    """Write down who may read a source; return those who may not use the bot yet, if the store says so.

    Raises `InvalidInput`, or `RetrievalUnavailable`.
    """
    index = opened.app.index
    known = [each.name for each in await index.sources()]
    if record.name not in known:
        raise InvalidInput(UNKNOWN.format(record.name, listed(known)) if known else NOTHING_TO_SEARCH, field="name")
    await index.record(record)
    named = record.audience.communities if record.audience else ()
    with suppress(StoreUnavailable):
        allowed = (await _communities(opened)).allowed
        return sorted((each for each in named if each not in allowed), key=str)
    return []


def _print(text: str) -> None:
    sys.stdout.write(f"{without_controls(text)}\n")
