"""What is known of each source, as it lies beside its passages: so a lost data store opens nothing to anybody."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.model import Audience, SourceRecord


def written(record: SourceRecord) -> dict[str, Any]:
    """Return a record as JSON values."""
    return record.model_dump(mode="json")


def read(name: str, found: object) -> SourceRecord:
    """Return what is written of a source; what this version cannot read is open to nobody."""
    with suppress(ValidationError):
        record = SourceRecord.model_validate(found)
        if record.name == name:
            return record
    return SourceRecord(name=name, audience=Audience())


class RecordFile:
    """Keeps the records of an embedded index, in one file beside it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._records: dict[str, SourceRecord] | None = None

    def load(self, known: Callable[[], Iterable[str]]) -> Mapping[str, SourceRecord]:
        """Return all records; an index of an earlier version has none yet, and gets one for each *known* source.

        Where the file cannot be read, each of them is open to nobody.
        """
        if self._records is None:
            try:
                found = json.loads(self._path.read_text())
                self._records = {name: read(name, each) for name, each in found.items()}
            except FileNotFoundError:
                self._records = {name: SourceRecord(name=name) for name in known()}
            except (ValueError, AttributeError):
                self._records = {name: read(name, None) for name in known()}
        return self._records

    def save(self, record: SourceRecord, known: Callable[[], Iterable[str]]) -> None:
        """Replace one record: the file is there as it was, or as it is to be, whatever happens meanwhile."""
        records = {**self.load(known), record.name: record}
        half = self._path.with_suffix(".new")
        with half.open("w") as file:
            json.dump({name: written(each) for name, each in records.items()}, file)
            file.flush()
            os.fsync(file.fileno())
        half.replace(self._path)
        self._records = records
