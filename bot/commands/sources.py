"""`footnote sources`: which documents there are, where they come from and who may read them, for operators."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from adapters.unix import give_way
from bot.commands.inbox import aligned
from bot.commands.ingest import say_overlaps, watched
from bot.commands.session import Session, say, session
from bot.outcome import OK, WRONG_INPUT, explain
from bot.settings import community_named
from bot.wiring import NOTHING_TO_SEARCH
from bot.wiring.documents import forget, name_of
from core.community.visibility import audience_of
from core.documents.ingest import Summary
from core.documents.library import NO_ORIGIN
from core.errors import FootnoteError, InvalidInput, StoreUnavailable
from core.messages import ago, counted, joined
from core.model import Audience, Origin, Outline, Scope, SourceRecord, WorkspaceRef, without_controls

COLUMNS = ("SOURCE", "pages", "read", "skipped", "failed", "who may read it")
EVERYBODY, NOBODY = "everybody", "nobody"
UNSAID = "{}, the first community"
UNDECIDED = "the first community, once there is one"
WHO = "Say who may read it: --with COMMUNITY, which may be repeated, --everyone or --nobody."
NOT_ALLOWED = "{} is not among those that may use the bot. To allow it, type: footnote communities allow {}"
REMOVED = "{} is removed, with {}."
EXISTS = "There is already a source {!r}, from {}. Name this one with --name, or remove that one first."
NEVER, SHORTEST, UNITS = "never", 600, {"m": 60, "h": 3_600, "d": 86_400}
HOW_OFTEN = "{!r} is not an interval at which a source can be read. Write 6h, 1d or at least 10m; never stops it."


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source with what it holds, and the first community, which has what nobody has shared."""

    record: SourceRecord
    holds: Outline
    first: WorkspaceRef | None

    @property
    def said(self) -> tuple[str, ...]:
        """What a person may want to know of it, in the columns."""
        last, readers = self.record.last, self.readers
        counts = (f"{last.skipped:,}", f"{last.failed:,}") if last else ("?", "?")
        return self.record.name, f"{self.holds.pages:,}", self.age, *counts, readers

    @property
    def readers(self) -> str:
        """Who may read it, in words."""
        if self.record.audience:
            return described(self.record.audience)
        return UNDECIDED if self.first is None else UNSAID.format(self.first)

    @property
    def age(self) -> str:
        """How long ago it was read to its end, and whether it could not be since."""
        last = self.record.last
        read = (
            ago(datetime.now(UTC) - last.read_at)
            if last and last.read_at
            else "unknown"
            if self.holds.pages
            else "never"
        )
        return f"{read} (!)" if last and last.problem else read

    @property
    def facts(self) -> dict[str, object]:
        """The same for a program; `is_shared` says whether anybody has said who may read it."""
        audience, record = audience_of(self.record, self.first), self.record
        return {
            "name": record.name,
            "pages": self.holds.pages,
            "passages": self.holds.passages,
            "origin": record.origin and record.origin.model_dump(mode="json"),
            "last": record.last and record.last.model_dump(mode="json"),
            "is_shared": record.audience is not None,
            "everyone": audience.everyone,
            "communities": sorted(map(str, audience.communities)),
        }

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Everything about it, a line each."""
        origin, last = self.record.origin, self.record.last
        found = [("source", self.record.name)]
        if origin is not None:
            found += [("from", f"{origin.address} ({origin.kind})")]
            found += [("published at", origin.base_url)] if origin.base_url else []
            found += [(f"{{{name}}}", words) for name, words in origin.macros.items()]
            found += [("is read", f"every {spoken(origin.every)}")] if origin.every else []
        found += [
            ("holds", f"{counted(self.holds.pages, 'page')}, {counted(self.holds.passages, 'passage')}"),
            ("who may read it", self.readers),
            ("read", self.age),
        ]
        if last is not None:
            found += [("problem", last.problem)] if last.problem else []
            found += [("skipped", f"{last.skipped:,}"), ("failed", f"{last.failed:,}")]
            found += [(f"  {each.name}", each.reason) for each in last.failures]
        return found


def seconds_in(text: str) -> int:
    """Return the seconds that are meant by `30m`, `6h` or `1d`; `never` is none. Raises `InvalidInput`."""
    if text.strip().lower() == NEVER:
        return 0
    said = re.fullmatch(r"(\d{1,4})\s*([mhd])", text.strip().lower())
    seconds = int(said[1]) * UNITS[said[2]] if said else 0
    if seconds < SHORTEST:
        raise InvalidInput(HOW_OFTEN.format(text), field="every")
    return seconds


def spoken(seconds: int) -> str:
    """Return a time in the largest unit that measures it whole."""
    return next(f"{seconds // size}{unit}" for unit, size in reversed(UNITS.items()) if seconds % size == 0)


def list_sources(*, as_json: bool) -> int:
    """Print all sources, with who may read each."""
    with session("footnote sources list", memory=True) as opened:
        found = opened.run(_statuses(opened))
    words = aligned([COLUMNS, *(each.said for each in found)]) if found else NOTHING_TO_SEARCH
    return say(words, {"sources": [each.facts for each in found]}, as_json=as_json)


def show(name: str, *, as_json: bool) -> int:
    """Print all that is known of a source."""
    with session("footnote sources show", memory=True) as opened:
        opened.run(opened.app.library.find(name))
        [found] = opened.run(_statuses(opened, [name]))
        others = opened.run(opened.app.library.overlapping(name))
    lines = [*found.lines, *([("overlaps with", joined(others))] if others else [])]
    return say(aligned(lines), {**found.facts, "overlaps": others}, as_json=as_json)


def add(origin: Origin, *, name: str | None, as_json: bool) -> int:
    """Write down where a source comes from, and read it; the code tells whether anything could be read."""
    called = name or name_of(origin)

    async def added() -> Summary:
        library = opened.app.library
        known = [each for each in await library.records() if each.name == called]
        if known and (known[0].origin is None or known[0].origin.address != origin.address):
            came_from = known[0].origin.address if known[0].origin else "an earlier version"
            raise InvalidInput(EXISTS.format(called, came_from), field="name")
        await library.opened(called, origin).size()  # there has to be something
        await library.add(called, origin)
        try:
            summary = await _synced(opened, called, mute=as_json)
        except InvalidInput:
            if not known and not await opened.app.index.pages(called):  # nobody should have to take out a slip
                with suppress(InvalidInput):  # somebody has
                    await _removed(opened, called)
            raise
        await say_overlaps(opened, called, quiet=as_json)
        return summary

    with session("footnote sources add") as opened:
        summary = opened.run(added())
    if as_json:
        say("", _facts(called, summary), as_json=True)
    return OK if summary.pages else WRONG_INPUT


def sync(names: Sequence[str], *, quiet: bool, as_json: bool) -> int:
    """Bring sources up to date, all that say where they come from if none is named; one that fails stops no other."""
    codes, facts = list[int](), list[Mapping[str, object]]()
    with session("footnote sources sync") as opened:
        if opened.owner is not None or opened.settings.is_shared:
            give_way()
        chosen = names or [each.name for each in opened.run(opened.app.library.records()) if each.origin]
        for name in chosen:
            try:
                summary = opened.run(_synced(opened, name, quiet=quiet, mute=as_json))
                codes.append(OK if summary.pages else WRONG_INPUT)
                facts.append(_facts(name, summary))
            except FootnoteError as error:
                if len(chosen) == 1:
                    raise
                code, kind, sentence = explain(error)
                codes.append(code)
                facts.append({"name": name, "error": {"error_type": kind, "message": sentence}})
                if not as_json:
                    sys.stderr.write(without_controls(f"{name}: {sentence}") + "\n")
    if as_json:
        say("", {"sources": facts}, as_json=True)
    return max(codes, default=OK)


def remove(name: str, *, as_json: bool) -> int:
    """Take a source out at once, with all its passages."""
    with session("footnote sources remove") as opened:
        pages = opened.run(_removed(opened, name))
    words = REMOVED.format(name, counted(pages, "page"))
    return say(words, {"removed": name, "pages": pages}, as_json=as_json)


def _facts(name: str, summary: Summary) -> Mapping[str, object]:
    """Return what came of reading a source, for a program."""
    failed = [each.model_dump() for each in summary.failed]
    return {"name": name, **asdict(summary), "failed": failed, "error": None}


async def _removed(opened: Session, name: str) -> int:
    origin = (await opened.app.library.find(name)).origin
    pages = await opened.app.library.remove(name)
    if origin is not None:
        forget(opened.settings, name, origin)
    return pages


async def _synced(opened: Session, name: str, *, quiet: bool = False, mute: bool = False) -> Summary:
    library = opened.app.library
    record = await library.find(name)
    if record.origin is None:
        raise InvalidInput(NO_ORIGIN.format(name), field="source")
    source = library.opened(name, record.origin)
    return await watched(source, library.sync(name, source), record, quiet=quiet, mute=mute)


def share(name: str, communities: Sequence[str], *, everyone: bool, nobody: bool) -> int:
    """Have a source read by these *communities* alone, by *everyone* or by *nobody*, from the next question on."""
    if sum([bool(communities), everyone, nobody]) != 1:
        raise InvalidInput(WHO, field="with")
    audience = Audience(everyone=everyone, communities=frozenset(map(community_named, communities)))
    with session("footnote sources share", memory=True) as opened:
        waiting = opened.run(_shared(opened, name, audience))
    for each in waiting:
        sys.stderr.write(f"{NOT_ALLOWED.format(each, each)}\n")
    return say(f"{name} may be read by {described(audience)}, from the next question on.")


def described(audience: Audience) -> str:
    """Return who may read a source, in words."""
    if audience.everyone:
        return EVERYBODY
    return joined(sorted(map(str, audience.communities))) if audience.communities else NOBODY


async def _statuses(opened: Session, names: Collection[str] = ()) -> list[SourceStatus]:
    """Read the sources, all if none is named, also those without a page.

    Raises `StoreUnavailable` or `RetrievalUnavailable`.
    """
    index, first = opened.app.index, (await opened.stores.communities.load()).first
    records = [each for each in await index.sources() if not names or each.name in names]
    return [SourceStatus(record, await index.outline(Scope(sources=(record.name,))), first) for record in records]


async def _shared(opened: Session, name: str, audience: Audience) -> list[WorkspaceRef]:
    """Write down who may read a source; return those who may not use the bot yet, if the store says so.

    Raises `InvalidInput`, or `RetrievalUnavailable`.
    """
    await opened.app.library.find(name)
    await opened.app.index.record(SourceRecord(name=name, audience=audience))
    with suppress(StoreUnavailable):
        allowed = (await opened.stores.communities.load()).allowed
        return sorted((each for each in audience.communities if each not in allowed), key=str)
    return []
