"""`footnote move`: everything from the data folder to the servers in the settings, without reading documents again."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Mapping

import uvloop

from bot.commands.session import hold, private_files, say
from bot.settings import Settings, read_settings, revealed
from bot.wiring import assemble
from core.errors import Misconfigured
from core.messages.wording import counted, listed

NOWHERE = (
    "Say where to: set QDRANT_URL for the documents, REDIS_URL for conversations, questions and the moderators' "
    "settings, or both."
)
NO_INDEX = "There is no index in the data folder, so there are no documents to move."
NO_STORE = "There is no store in the data folder, so there are no conversations to move."
DOCUMENTS = "The Qdrant server now has {}."
STORED = "The server in REDIS_URL now has {} from the store."
KEY = "Texts stay encrypted with the key in {}. Machines without this data folder need it too, as FOOTNOTE_SECRET_KEY."
LAST = "Nothing was changed here. Once everything works, you can remove {} from the data folder."


def move() -> int:
    """Copy index and store to the servers that are set. Raises `Misconfigured`, and `Unavailable` if one is away."""
    settings = read_settings()
    if settings.qdrant_url is None and settings.redis_url is None:
        raise Misconfigured(NOWHERE)
    with contextlib.ExitStack() as stack:
        stack.enter_context(private_files())
        stack.enter_context(hold(settings.data_dir, command="footnote move"))
        moved = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop)).run(_moved(settings))
    return say(LAST.format(" and ".join(moved)))


async def _moved(settings: Settings) -> list[str]:
    """Return the folders of which everything is on a server now.

    The store is last, since what is there keeps a second move from beginning: until then, all can be done again.
    """
    moved = list[str]()
    if settings.redis_url is not None:
        await _move_store(settings, only_look=True)
    if settings.qdrant_url is not None:
        say(await _move_index(settings))
        moved.append("index")
    if settings.redis_url is not None:
        say(STORED.format(counted(await _move_store(settings), "key")))
        moved.append("store")
        if settings.secret_key is None:
            say(KEY.format(settings.data_dir / "secret.key"))
    return moved


async def _move_store(settings: Settings, *, only_look: bool = False) -> int:
    """Return how many entries were copied; with *only_look*, none is."""
    from adapters.redis.connection import connect
    from adapters.redis.server import PrivateServer, check_free, copy_all

    folder = settings.data_dir / "store"
    if not folder.exists():
        raise Misconfigured(NO_STORE)
    async with contextlib.AsyncExitStack() as stack:
        target = await stack.enter_async_context(contextlib.aclosing(connect(revealed(settings.redis_url) or "")))
        if only_look:
            await check_free(target)
            return 0
        url = await stack.enter_async_context(PrivateServer(folder))
        return await copy_all(await stack.enter_async_context(contextlib.aclosing(connect(url))), target)


async def _move_index(settings: Settings) -> str:
    """Write who may read each source, then page by page what is stored, with its vectors, unless it is there already.

    In this order, since a source of which nobody said who may read it is the first community's.
    """
    from adapters.qdrant.moving import StoredIndex

    async with assemble(settings) as app:
        embedder, kept = app.embedder, defaultdict[str, list[str]](list)
        stored = StoredIndex(settings.data_dir / "index", embedder=embedder.name, dimension=embedder.dimension)
        if not stored.exists:
            raise Misconfigured(NO_INDEX)
        for record in stored.records():
            await app.index.record(record)
        there: Mapping[str, str] = {}
        for source, url, passages in stored.pages():
            if source not in kept:
                there = await app.index.pages(source)
            kept[source].append(url)
            if there.get(url) != passages[0].passage.content_hash:
                await app.index.replace(source, url, passages)
        for source, urls in kept.items():
            await app.index.prune(source, keep=urls)
    pages = counted(sum(map(len, kept.values())), "page")
    return DOCUMENTS.format(f"{pages} from {listed([*kept])}" if kept else pages)
