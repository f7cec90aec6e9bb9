"""How fast documents come in, the first time and when nothing has changed, and how much memory that takes.

`python -m bench.ingestion`, or with folders behind it of these; and `python -m bench.ingestion website` for what an
unchanged website costs: a server on a socket counts what is asked of it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from adapters.documents.folder import Folder
from adapters.documents.website import SiteLimits, Website
from adapters.fetching import FetchRules
from adapters.minilm import MiniLM
from adapters.qdrant import EdgeIndex
from bench.corpora import CACHE, course, course_questions, ros
from bench.report import Row, at_least, at_most, print_rows, shown
from core.documents.ingest import Ingestion, Summary
from core.documents.retrieval import HybridRetriever
from core.model import Scope, Vector
from core.ports import DocumentSource
from tests.fakes.embedder import HashEmbedder
from tests.fakes.index import MemoryIndex
from tests.servers.website import WebSite, html

SITE_PAGES, FASTER = 1_000, 40
BESIDE = ("/robots.txt", "/sitemap.xml")  # what a sync asks for that is no page


class CountingEmbedder(HashEmbedder):
    """Counts the texts that it embeds."""

    embedded = 0

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Count them."""
        self.embedded += len(texts)
        return await super().embed_passages(texts)


def resident_mb() -> str:
    """Give the memory of this process now and at most, where the system tells."""
    status = Path("/proc/self/status")
    if not status.exists():
        return "unknown"
    found = dict(re.findall(r"(VmRSS|VmHWM):\s+(\d+)", status.read_text()))
    return f"{int(found['VmRSS']) // 1024} MB (at most {int(found['VmHWM']) // 1024} MB)"


def cpu_seconds() -> float:
    """Give what this process and those that it has waited for, which read the files, have used."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


async def ingest(source: DocumentSource, folder: Path, embedder: MiniLM) -> tuple[Summary, float]:
    """Bring a source in; give the summary and the CPU seconds of all threads and processes."""
    index = EdgeIndex(folder, embedder=embedder.name, dimension=embedder.dimension)
    begun, summary = cpu_seconds(), Summary()
    async for step in Ingestion(index, embedder).run(source):
        summary = step if isinstance(step, Summary) else summary
    await index.aclose()
    return summary, cpu_seconds() - begun


async def first_and_again(source: DocumentSource, *, has_bar: bool = True) -> list[Row]:
    """Ingest into an empty index, then once more, which has to be much faster where there is much to read."""
    embedder = MiniLM(CACHE / "models")
    await embedder.embed_query("load the model")
    with tempfile.TemporaryDirectory() as folder:
        summary, first = await ingest(source, Path(folder), embedder)
        memory = resident_mb()
        unchanged, again = await ingest(source, Path(folder), embedder)
    assert unchanged.unchanged == unchanged.pages == summary.pages, unchanged
    again_faster = f"{source.name} again, nothing changed: times faster"
    return [
        at_least(
            f"{source.name}, {summary.pages:,} pages, {summary.passages:,} passages with {embedder.name}",
            summary.passages / first,
            25,
            " passages/s and core",
        ),
        at_least(again_faster, first / again, FASTER) if has_bar else shown(again_faster, first / again),
        Row(f"{source.name} again: CPU seconds", f"{again:.2f}"),
        Row("resident while ingesting", memory),
    ]


async def unchanged_site(pages: int = SITE_PAGES, *validators: str) -> list[Row]:
    """Read a site twice, whose pages have these *validators*; its content is the same, and nothing waits."""
    embedder, index, summary = CountingEmbedder(), MemoryIndex(), Summary()
    names = {f"/docs/page-{number}": html(f"Page {number}", f"This is page {number}.") for number in range(pages)}
    with tempfile.TemporaryDirectory() as home:
        async with WebSite({**names, "/docs/": html("Start", "Welcome.")}) as site:
            site.validators = validators
            site.list(*names, "/docs/")
            rules = FetchRules(networks=[ipaddress.ip_network("127.0.0.1/32")])
            website = Website(
                f"{site.url}/docs/", name="site", home=Path(home), rules=rules, limits=SiteLimits(pace=0.0)
            )
            async for _ in Ingestion(index, embedder).run(website):
                pass
            embedder.embedded = 0
            site.received.clear()
            begun, used = time.monotonic(), cpu_seconds()
            async for step in Ingestion(index, embedder).run(website):
                summary = step if isinstance(step, Summary) else summary
            took, used = time.monotonic() - begun, cpu_seconds() - used
            asked = Counter(site.asked)
    assert summary.unchanged == summary.pages == pages + 1, summary
    what = f"unchanged site of {summary.pages:,} pages with {' and '.join(validators) or 'neither header'}"
    most = max(count for path, count in asked.items() if path not in BESIDE)
    return [
        at_most(f"{what}: requests for any page", most, 1),
        at_most("requests besides, for robots.txt and the sitemap", sum(map(asked.__getitem__, BESIDE)), len(BESIDE)),
        at_most("texts embedded", embedder.embedded, 0),
        Row("seconds, without the pause between two requests", f"{took:.1f} ({used:.1f} of the processor)"),
    ]


async def answering() -> list[Row]:
    """Search in a process that never ingested."""
    embedder = MiniLM(CACHE / "models")
    index = EdgeIndex(CACHE / "course", embedder=embedder.name, dimension=embedder.dimension)
    retriever = HybridRetriever(embedder, index, clock=time.monotonic)
    for text, _ in course_questions()[:50]:
        await retriever.search(text, limit=5, scope=Scope())
    await index.aclose()
    return [Row("resident while answering", resident_mb())]


if __name__ == "__main__":
    if sys.argv[1:] == ["answering"]:
        print(asyncio.run(answering())[0].figure)
    elif sys.argv[1:] == ["website"]:
        kinds = (("ETag", "Last-Modified"), ("Last-Modified",), ())
        print_rows(
            "An unchanged website", [row for each in kinds for row in asyncio.run(unchanged_site(SITE_PAGES, *each))]
        )
    else:
        named = [Folder(Path(each), name=Path(each).resolve().name) for each in sys.argv[1:]]
        sources = named or [course(), ros()]
        rows = [row for each in sources for row in asyncio.run(first_and_again(each, has_bar=not named))]
        if not named:
            own = [sys.executable, "-m", "bench.ingestion", "answering"]
            figure = subprocess.run(own, check=True, capture_output=True, text=True).stdout.strip()
            rows.append(Row("resident while answering", figure))
        print_rows("Ingestion", rows)
