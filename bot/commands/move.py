"""`footnote move`: everything from the data folder to the servers in the settings, without reading documents again."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections import defaultdict

import uvloop

from bot.commands.session import hold, private_files
from bot.outcome import OK
from bot.settings import Settings, read_settings, revealed
from bot.wiring import assemble
from core.errors import Misconfigured

NOWHERE = (
    "Say where to: set QDRANT_URL for the documents, REDIS_URL for conversations, questions and the moderators' "
    "settings, or both."
)
NO_INDEX = "There is no index in the data folder, so there are no documents to move."
NO_STORE = "There is no store in the data folder, so there are no conversations to move."
DOCUMENTS = "{:,} pages of {} are on the Qdrant server now."
STORED = "{:,} entries of the store are on the server in REDIS_URL now."
KEY = "Texts stay encrypted with the key in {}. Machines without this data folder need it too, as FOOTNOTE_SECRET_KEY."
LAST = "What is here was left as it is. Once all works, you can remove {} from the data folder."


def move() -> int:
    """Copy index and store to the servers that are set. Raises `Misconfigured`, and `Unavailable` if one is away."""
    settings = read_settings()
    if settings.qdrant_url is None and settings.redis_url is None:
        raise Misconfigured(NOWHERE)
    with contextlib.ExitStack() as stack:
        stack.enter_context(private_files())
        stack.enter_context(hold(settings.data_dir, command="footnote move"))
        moved = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop)).run(_moved(settings))
    _say(LAST.format(" and ".join(moved)))
    return OK


async def _moved(settings: Settings) -> list[str]:
    """Return the folders of which everything is on a server now."""
    moved = list[str]()
    if settings.redis_url is not None:
        _say(await _move_store(settings))
        moved.append("store")
        if settings.secret_key is None:
            _say(KEY.format(settings.data_dir / "secret.key"))
    if settings.qdrant_url is not None:
        _say(await _move_index(settings))
        moved.append("index")
    return moved


async def _move_store(settings: Settings) -> str:
    from adapters.redis.connection import connect
    from adapters.redis.server import PrivateServer, copy_all

    folder = settings.data_dir / "store"
    if not folder.exists():
        raise Misconfigured(NO_STORE)
    async with contextlib.AsyncExitStack() as stack:
        source, target = await stack.enter_async_context(PrivateServer(folder)), revealed(settings.redis_url) or ""
        clients = [await stack.enter_async_context(contextlib.aclosing(connect(url))) for url in (source, target)]
        return STORED.format(await copy_all(*clients))


async def _move_index(settings: Settings) -> str:
    """Write page by page what is stored, with its vectors, and then who may read each source."""
    from adapters.qdrant.moving import StoredIndex

    async with assemble(settings) as app:
        embedder = app.embedder
        stored = StoredIndex(settings.data_dir / "index", embedder=embedder.name, dimension=embedder.dimension)
        if not stored.exists:
            raise Misconfigured(NO_INDEX)
        kept: defaultdict[str, list[str]] = defaultdict(list)
        for source, url, passages in stored.pages():
            await app.index.replace(source, url, passages)
            kept[source].append(url)
        for source, urls in kept.items():
            await app.index.prune(source, keep=urls)
        for record in stored.records(list(kept)):
            await app.index.record(record)
    return DOCUMENTS.format(sum(map(len, kept.values())), ", ".join(kept))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
