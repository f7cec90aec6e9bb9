"""A whole kind of source, as a package of somebody else would bring it: notes in one JSON file, by their names."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

from adapters.documents.markdown import read
from adapters.documents.page import NotReadable
from core.errors import InvalidInput
from core.model import Document, Unchanged, Unreadable
from core.ports import NOTHING_SEEN, Found


class JsonNotes:
    """The notes in a file; each is Markdown."""

    def __init__(self, address: str, *, name: str) -> None:
        """Read `notes:/path/to/file.json`, or the file itself."""
        self.name = name
        self._file = Path(address.removeprefix("notes:"))

    async def size(self) -> int | None:
        """Count the notes."""
        return len(await self._notes())

    async def documents(self, seen: Mapping[str, str] = NOTHING_SEEN) -> AsyncGenerator[Found]:
        """Yield the notes by their names; one whose hash was seen is not read again."""
        for name, content in sorted((await self._notes()).items()):
            url, stamp = f"https://notes.example/docs/{name}", hashlib.sha256(content.encode()).hexdigest()
            if seen.get(url) == stamp:
                yield Unchanged(url=url, name=name)
                continue
            try:
                page = read(content.encode("latin-1"))
            except NotReadable as error:
                yield Unreadable(name=name, reason=str(error), url=url)
                continue
            yield Document(source=self.name, url=url, title=page.title, text=page.text, stamp=stamp, name=name)

    async def _notes(self) -> Mapping[str, str]:
        try:
            return json.loads(await asyncio.to_thread(self._file.read_text))
        except OSError as error:
            raise InvalidInput(f"There are no notes at {self._file}.", field="source") from error
