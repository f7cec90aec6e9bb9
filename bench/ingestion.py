"""How fast documents come in, the first time and when nothing has changed, and how much memory that takes.

`python -m bench.ingestion`
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from adapters.minilm import MiniLM
from adapters.qdrant import EdgeIndex
from bench.corpora import CACHE, course, course_questions, ros
from bench.report import Row, at_least, print_rows
from core.documents.ingest import Ingestion, Summary
from core.documents.retrieval import HybridRetriever
from core.model import Scope
from core.ports import DocumentSource


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


async def first_and_again(source: DocumentSource, least: float) -> list[Row]:
    """Ingest into an empty index, then once more, which has to be at *least* so many times faster."""
    embedder = MiniLM(CACHE / "models")
    await embedder.embed_query("load the model")
    with tempfile.TemporaryDirectory() as folder:
        summary, first = await ingest(source, Path(folder), embedder)
        memory = resident_mb()
        unchanged, again = await ingest(source, Path(folder), embedder)
    assert unchanged.unchanged == unchanged.pages == summary.pages, unchanged
    return [
        at_least(
            f"{source.name}, {summary.pages:,} pages, {summary.passages:,} passages with {embedder.name}",
            summary.passages / first,
            25,
            " passages/s and core",
        ),
        at_least(f"{source.name} again, nothing changed: times faster", first / again, least),
        Row(f"{source.name} again: CPU seconds", f"{again:.2f}"),
        Row("resident while ingesting", memory),
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
    else:
        rows = [*asyncio.run(first_and_again(course(), 40)), *asyncio.run(first_and_again(ros(), 40))]
        own = [sys.executable, "-m", "bench.ingestion", "answering"]
        figure = subprocess.run(own, check=True, capture_output=True, text=True).stdout.strip()
        print_rows("Ingestion", [*rows, Row("resident while answering", figure)])
