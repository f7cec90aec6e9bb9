"""Front matter: what a page says about itself in a block of YAML or TOML before its text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any

from adapters.documents.page import HEADING_LIMIT, NotReadable

YAML = re.compile(r"\A\s*---[ \t]*\n(.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
TOML = re.compile(r"\A\s*\+\+\+[ \t]*\n(.*?)(?:^|\n)\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
LINE = re.compile(r"^([A-Za-z_][\w-]*):[ \t]+(\S.*)$", re.MULTILINE)
# libyaml follows nesting with the C stack and ends the process when it is used up; 8,000 levels were harmless.
LIMIT = 16_000
RELEASE = ("opens_at", "release", "release_date")
CHANGED = ("last_update", "last_updated", "lastmod", "updated", "date_modified", "modified")


def split(text: str) -> tuple[Mapping[str, Any], str]:
    """Part a page into its front matter and its text; broken front matter gives what its single lines say."""
    if match := YAML.match(text):
        found = _yaml(match[1])
        if found is None and match[1].strip() and ":" not in match[1]:
            return {}, text  # two thematic breaks, and not front matter
        return found or {}, text[match.end() :]
    if match := TOML.match(text):
        found = {}
        with suppress(tomllib.TOMLDecodeError, RecursionError):
            found = tomllib.loads(match[1])
        return found, text[match.end() :]
    return {}, text


def _yaml(block: str) -> Mapping[str, Any] | None:
    import yaml

    if len(block) > LIMIT:
        return _lines(block)
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        found: Any = yaml.load(block, Loader=loader)  # noqa: S506 - both are safe loaders
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, AttributeError):
        return _lines(block)
    match found:
        case {**values}:
            return {str(key): value for key, value in values.items()}
        case _:
            return None


def _lines(block: str) -> Mapping[str, Any]:
    """Read `key: value` lines one by one: most broken front matter is a title with a colon in it."""
    words = {"true": True, "false": False}
    return {key: words.get(value.strip().lower(), value.strip().strip("'\"")) for key, value in LINE.findall(block)}


def word(meta: Mapping[str, Any], *names: str) -> str:
    """Return the first of *names* that holds a word or a number, as text, of which each passage may bear a copy."""
    for name in names:
        value = meta.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()[:HEADING_LIMIT].rstrip()
    return ""


def is_hidden(meta: Mapping[str, Any]) -> bool:
    """Whether the page's author keeps it away from readers."""
    return meta.get("draft") is True or meta.get("unlisted") is True


def opening(meta: Mapping[str, Any]) -> datetime | None:
    """Return when the page is released, in UTC unless it says otherwise; refuse a date that cannot be read."""
    value: Any = next((meta[name] for name in RELEASE if meta.get(name) not in (None, "")), None)
    if value is None:
        return None
    try:
        if isinstance(value, date):  # also a moment, whose own form is read back as it is
            value = value.isoformat()
        moment = datetime.fromisoformat(str(value).strip())
    except (ValueError, OverflowError) as error:
        raise NotReadable("has a release date that is not a date; write it as 2027-01-31.") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def changed(meta: Mapping[str, Any]) -> str:
    """Return the day on which a page says that it was changed, such as 2027-01-31; nothing where it says none."""
    value: Any = next((meta[name] for name in CHANGED if meta.get(name)), None)
    match value:
        case {"date": found}:
            value = found
        case _:
            pass
    with suppress(ValueError):
        return date.fromisoformat(str(value).strip()[:10]).isoformat()
    return ""
