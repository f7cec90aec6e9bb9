"""The real corpora and their questions, and indexes over them that the benchmarks share."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import sys
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

from adapters.documents.folder import Folder
from adapters.minilm import MiniLM
from adapters.qdrant import EdgeIndex
from core.documents.ingest import Ingestion
from core.model import Document
from core.ports import NOTHING_SEEN, DocumentSource, Embedder, Found

SHARED = Path(os.environ.get("FOOTNOTE_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
CACHE = Path(os.environ.get("FOOTNOTE_BENCH_DIR", Path.home() / ".cache" / "footnote-bench"))
TURNS = ("clapnq", "fiqa", "govt", "cloud")

_LESSON = re.compile(r"(module\d+)/(lesson\d+)_")


def need(folder: str) -> Path:
    """Give a corpus, or end with a sentence that says what is missing."""
    path = SHARED / folder
    if not path.is_dir():
        sys.exit(f"The corpus {folder} is not in {SHARED}. Name the folder that holds it in FOOTNOTE_SHARED_DATA.")
    return path


def course() -> DocumentSource:
    """Give the lessons of the course book."""
    return Folder(need("course-physical-ai") / "lessons", name="course")


def textbook() -> DocumentSource:
    """Give the textbook."""
    return Folder(need("docusaurus-textbook") / "docs", name="textbook")


def ros() -> DocumentSource:
    """Give the documentation of ROS 2."""
    return Folder(need("ros2-docs") / "source", name="ros")


def lesson_of(url: str) -> str:
    """Give a page's lesson as the questions name it."""
    found = _LESSON.search(url)
    return "-".join(found.groups()) if found else ""


def course_questions() -> list[tuple[str, str]]:
    """Give the questions with the lesson that each belongs to."""
    folder = need("course-physical-ai")
    texts = {item["id"]: item["text"] for item in lines(folder / "queries.jsonl")}
    with (folder / "qrels.tsv").open(encoding="utf-8") as file:
        return [(texts[row["query-id"]], row["doc-id"]) for row in csv.DictReader(file, delimiter="\t")]


def foreign_questions() -> list[str]:
    """Give questions that people asked about other things: the last turns of real conversations in four domains."""
    folder = need("mtrag-queries")
    turns = (item["text"] for name in TURNS for item in lines(folder / f"{name}_lastturn.jsonl"))
    return [turn.replace("|user|:", "").strip() for turn in turns]


class Abstracts:
    """SciFact's abstracts, each a page of its own."""

    name = "scifact"

    async def size(self) -> int:
        """Count them."""
        return len(lines(need("scifact") / "corpus.jsonl"))

    async def documents(self, seen: Mapping[str, str] = NOTHING_SEEN) -> AsyncGenerator[Found]:
        """Give title and text."""
        for item in lines(need("scifact") / "corpus.jsonl"):
            yield Document(source=self.name, url=f"scifact:{item['id']}", title=item["title"], text=item["text"])


def claims() -> list[tuple[str, list[str]]]:
    """Return SciFact's claims, each with the abstracts that speak for or against it."""
    folder = need("scifact")
    texts = {item["id"]: item["text"] for item in lines(folder / "queries.jsonl")}
    found: dict[str, list[str]] = {}
    with (folder / "qrels.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            found.setdefault(row["query-id"], []).append(f"scifact:{row['corpus-id']}")
    return [(texts[name], urls) for name, urls in found.items()]


@contextlib.asynccontextmanager
async def indexed(
    name: str, *sources: DocumentSource, embedder: Embedder | None = None
) -> AsyncGenerator[tuple[Embedder, EdgeIndex]]:
    """Give the embedder, built in if none is given, and an index over *sources*; the second run finds it made."""
    folder = CACHE / name if embedder is None else CACHE / f"{name}-{embedder.name}"
    embedder = embedder or MiniLM(CACHE / "models")
    index = EdgeIndex(folder, embedder=embedder.name, dimension=embedder.dimension)
    try:
        ingestion = Ingestion(index, embedder)
        for source in sources:
            async for _ in ingestion.run(source):
                pass
        yield embedder, index
    finally:
        await index.aclose()


def lines(path: Path) -> list[dict[str, str]]:
    """Read one JSON object a line."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]
