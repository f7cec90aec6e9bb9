"""The journeys of all platforms, each over a few pages that are read beforehand."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

from bench.path import chat, terminal
from bench.path.tracer import Entered, Tracer
from bot.cli import app
from tests.fixtures.commands import write_documents

PLATFORMS = (*chat.COMMUNITIES, "terminal")


def trace(platform: str, data: str) -> tuple[Entered, ...]:
    """Make the journey with the index in the folder *data*; return what was entered, in order."""
    tracer = Tracer()
    os.environ["FOOTNOTE_DATA_DIR"] = data
    if platform == "terminal":
        terminal.journey(tracer)
    else:
        chat.journey(platform, tracer)
    return tracer.entered


def prepare(data: str) -> None:
    """Read two small pages into the index in the folder *data*."""
    os.environ["FOOTNOTE_DATA_DIR"] = data
    documents = str(write_documents(Path(data, "zoo")))
    with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
        app(args=["ingest", documents, "--base-url", "https://zoo.example"])
