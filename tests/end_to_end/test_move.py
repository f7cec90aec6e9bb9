"""`footnote move`: from the data folder to servers, without reading a document again."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from bot.commands.move import NOWHERE
from tests.fixtures.commands import Footnote
from tests.servers.qdrant import QdrantServer
from tests.servers.valkey import alone


@pytest.mark.promise("moves-whole")
@pytest.mark.timeout(300)  # eleven commands, one after the other
async def test_everything_moves_to_servers(footnote: Footnote, tmp_path: Path) -> None:
    """Documents with who may read them, conversations, and who may use the bot: all of it is used from there on.

    The first time, Qdrant refuses the second page: who may read the first one is known by then, and all is done again.
    """
    footnote("sources", "share", "zoo", "--with", "discord:42")
    footnote("communities", "allow", "discord:42")
    before = footnote("ask", "What is a lighthouse?", "--thread", "sea")
    async with QdrantServer() as qdrant:
        with alone(tmp_path / "redis") as node:
            servers = {"QDRANT_URL": qdrant.url, "REDIS_URL": f"redis://{node.host}/0"}
            qdrant.writes = 2  # who may read it, and a page
            begun = await asyncio.to_thread(footnote, "move", **servers)
            readers = await asyncio.to_thread(footnote, "sources", "list", QDRANT_URL=qdrant.url)
            qdrant.writes = None
            moved = await asyncio.to_thread(footnote, "move", **servers)
            again = await asyncio.to_thread(footnote, "move", **servers)
            for name in ("index", "store"):
                (footnote.data / name).rename(footnote.data / f"{name}.old")
            after = await asyncio.to_thread(footnote, "ask", "What is a lighthouse?", **servers)
            chat = await asyncio.to_thread(footnote, "chat", "--thread", "sea", **servers)
            sources = await asyncio.to_thread(footnote, "sources", "list", **servers)
            allowed = await asyncio.to_thread(footnote, "communities", "list", **servers)

    assert (begun.code, "The Qdrant server now has" in begun.out) == (3, False)
    assert re.search(r"^zoo +0 .*discord:42", readers.out, re.MULTILINE)
    assert (moved.code, moved.err) == (0, "")
    assert "The Qdrant server now has 2 pages from zoo." in moved.out
    assert (again.code, "already has data of Footnote" in again.err) == (2, True)
    assert after.out.partition("_")[0] == before.out.partition("_")[0]
    assert "1 question so far" in chat.out
    assert "discord:42" in sources.out
    assert "discord:42" in allowed.out


async def test_a_move_needs_somewhere_to_go_and_something_to_move(footnote: Footnote, fresh: Footnote) -> None:
    """Each is told in a sentence."""
    nowhere = footnote("move")
    async with QdrantServer() as qdrant:
        nothing = await asyncio.to_thread(fresh, "move", QDRANT_URL=qdrant.url)

    assert (nowhere.code, nowhere.err) == (2, f"{NOWHERE}\n")
    assert (nothing.code, nothing.err.startswith("There is no index in the data folder")) == (2, True)
