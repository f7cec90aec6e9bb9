"""Which of the places that footnotes lead to exist: `python -m bench.anchors FOLDER [BUILT]`.

Each anchor is looked up in the HTML of its page: in *BUILT*, the site that was built of the folder, or in the folder
itself if that holds the HTML. A page of a PDF is one that the file has.
"""

from __future__ import annotations

import asyncio
import html
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pypdfium2

from adapters.documents.folder import Folder
from adapters.minilm import MiniLM
from bench.corpora import CACHE
from bench.report import Row, print_rows
from core.documents.chunking import Chunker
from core.model import Document, LeftOut, Passage, Unreadable

ID = re.compile(r"""\s(?:id|name)=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
BASE = "https://built.example"
SHOWN = 20


@cache
def anchors_of(page: Path) -> frozenset[str]:
    """Return what can be led to in a page: its ids, or the numbers of its pages."""
    if page.suffix == ".pdf":
        return frozenset(f"page={number + 1}" for number in range(len(pypdfium2.PdfDocument(page))))
    found = ID.findall(page.read_text(encoding="utf-8", errors="replace"))
    return frozenset(html.unescape("".join(each)) for each in found)


def built_page(built: Path, url: str) -> Path | None:
    """Return the file that is shown at an address; None where it is no HTML and no PDF."""
    path = built / unquote(urlsplit(url).path).lstrip("/")
    places = (path, path / "index.html", path.with_name(f"{path.name}.html"))
    return next((each for each in places if each.is_file() and each.suffix in (".html", ".htm", ".pdf")), None)


async def passages(folder: Path, kinds: Counter[str]) -> list[Passage]:
    """Read a folder and cut its pages; count what became of them."""
    embedder, found = MiniLM(CACHE / "models"), list[Passage]()
    chunker = Chunker(embedder.window, embedder.count_tokens)
    async for each in Folder(folder, name="folder", base_url=BASE).documents():
        cut = chunker.chunk(each, content_hash="") if isinstance(each, Document) else ()
        kinds["pages read"] += bool(cut)
        kinds["skipped"] += isinstance(each, LeftOut) or (isinstance(each, Document) and not cut)
        kinds["failed"] += isinstance(each, Unreadable)
        found += cut
    return found


def checked(built: Path, found: list[Passage]) -> Iterator[tuple[str, str]]:
    """Yield what each distinct place is, and its address."""
    for url in dict.fromkeys(each.source_url for each in found):
        page, anchor = built_page(built, url), unquote(urlsplit(url).fragment)
        if page is None:
            yield "not checked, of pages without HTML", url
        elif not anchor:
            yield "tops of pages", url
        else:
            yield "anchors that exist" if anchor in anchors_of(page) else "anchors that do not", url


def main(folder: str, built: str = "") -> None:
    """Print a table, and the first anchors that do not exist."""
    kinds = Counter[str]()
    found = asyncio.run(passages(Path(folder), kinds))
    places = [*checked(Path(built or folder), found)]
    counts = Counter(what for what, _ in places)
    exist, missing = counts["anchors that exist"], counts["anchors that do not"]
    share = Row("anchors that exist", f"{exist / max(1, exist + missing):.2%} of {exist + missing:,}")
    rows = [Row(what, f"{count:,}") for what, count in chain(kinds.items(), counts.items()) if "exist" not in what]
    print_rows(f"Where footnotes into {Path(folder).name} lead", [*rows, Row("passages", f"{len(found):,}"), share])
    for what, url in [each for each in places if each[0] == "anchors that do not"][:SHOWN]:
        print(f"{what}: {url}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
