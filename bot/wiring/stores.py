"""What is kept on the given server, or by a private one in the data folder."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from bot.settings import Settings, revealed
from bot.wiring.communities import CommunityAccess
from bot.wiring.communities import verdict as on_communities
from bot.wiring.services import Advice
from core.errors import Misconfigured, StoreUnavailable, Unavailable
from core.events import Observer, unobserved
from core.messages import counted
from core.model import Backlog
from core.ports import (
    ChannelCursor,
    CommunityStore,
    ConversationStore,
    Dedup,
    PassageIndex,
    PolicyStore,
    Quota,
    Removals,
    Vault,
    VoteStore,
)

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from adapters.redis.inbox import RedisInbox
    from adapters.redis.inbox_store import Bounds
    from adapters.redis.secrets import Seal

KEY_FILE = "secret.key"
LONGEST_WAIT = 60.0  # seconds for a question before the doctor wonders
UNREADABLE = "The moderators' settings in {} cannot be read, so nothing is answered there."
SHORTEST_ACCEPTED = 6.0  # seconds for the place of a command's question: no fewer than acknowledging takes
LONGEST_ACCEPTED = 60.0  # seconds: so few that somebody still waits afterwards
SEEN = timedelta(minutes=10)  # twice as long as the signature of a request is good


@dataclass(frozen=True, slots=True)
class Stores:
    """Everything that outlives a process; `seen` are the requests that arrived, remembered for some minutes.

    All of it lies on the server at the `address`, which may be the private one.
    `require_durable` raises `Misconfigured` for a server that may lose questions, or `StoreUnavailable`.
    """

    conversations: ConversationStore
    policies: PolicyStore
    communities: CommunityStore
    votes: VoteStore
    quota: Quota
    dedup: Dedup
    seen: Dedup
    channel_cursor: ChannelCursor
    removals: Removals
    vault: Vault
    address: str
    opened: Callable[[Observer], AbstractAsyncContextManager[RedisInbox]]
    require_durable: Callable[[], Awaitable[object]]

    def inbox(self, observer: Observer = unobserved) -> AbstractAsyncContextManager[RedisInbox]:
        """Return the inbox, to be opened, with connections of its own for reads that wait."""
        return self.opened(observer)


@contextlib.asynccontextmanager
async def open_stores(settings: Settings, private: str | None = None) -> AsyncGenerator[Stores]:
    """Reach the server, or start the private one, until the end of the context; *private* is one that runs already."""
    from adapters.redis.community import RedisCommunities, RedisPolicies, RedisVotes
    from adapters.redis.connection import connect
    from adapters.redis.conversations import RedisConversations
    from adapters.redis.dedup import RedisChannelCursor, RedisDedup, RedisRemovals
    from adapters.redis.health import require_durable
    from adapters.redis.inbox import RedisInbox
    from adapters.redis.quota import RedisQuota
    from adapters.redis.secrets import RedisVault

    seal = _seal(settings)
    bounds, longest = _bounds(settings), timedelta(seconds=settings.answer_seconds)
    async with _open_client(settings, private) as (url, client):

        @contextlib.asynccontextmanager
        async def opened(observer: Observer) -> AsyncGenerator[RedisInbox]:
            async with contextlib.AsyncExitStack() as stack:
                blocking = await stack.enter_async_context(contextlib.aclosing(connect(url, blocking=True)))
                inbox = RedisInbox(client, blocking, seal=seal, bounds=bounds, observer=observer)
                yield await stack.enter_async_context(inbox)

        yield Stores(
            conversations=RedisConversations(client, ttl=settings.conversation_ttl, seal=seal),
            policies=RedisPolicies(client),
            communities=RedisCommunities(client, named=settings.named_communities),
            votes=RedisVotes(client),
            quota=RedisQuota(client, pseudonym=seal.pseudonym, longest=longest),
            dedup=RedisDedup(client, pseudonym=seal.pseudonym),
            seen=RedisDedup(client, pseudonym=seal.pseudonym, kept=SEEN),
            channel_cursor=RedisChannelCursor(client),
            removals=RedisRemovals(client),
            vault=RedisVault(client, seal=seal),
            address=url,
            opened=opened,
            require_durable=partial(require_durable, client, allows_loss=settings.redis_allow_loss),
        )


def _bounds(settings: Settings) -> Bounds:
    from adapters.redis.inbox_store import Bounds

    return Bounds(
        settings.lease_seconds,
        settings.answers_per_person,
        settings.answers_per_workspace,
        accepted=min(max(settings.lease_seconds, SHORTEST_ACCEPTED), LONGEST_ACCEPTED),
    )


def _seal(settings: Settings) -> Seal:
    """Return what encrypts, by the given key or the one in the data folder. Raises `Misconfigured`."""
    from adapters.redis.secrets import Seal

    key = revealed(settings.secret_key)
    return Seal.parse(key) if key is not None else Seal.from_file(settings.data_dir / KEY_FILE)


async def check_seal(settings: Settings) -> str:
    """Return where the secret key is. Raises `Misconfigured`."""
    _seal(settings)
    place = "FOOTNOTE_SECRET_KEY" if settings.secret_key is not None else f"the file {KEY_FILE} in the data folder"
    return f"from {place}"


async def check_stores(settings: Settings, private: str | None = None) -> str:
    """Return one line on what keeps the conversations. Raises `Misconfigured` or `StoreUnavailable`."""
    from adapters.redis.address import Address
    from adapters.redis.failure import NEEDS_TLS, UNREACHABLE
    from adapters.redis.health import check, speaks_tls

    async with _open_client(settings, private) as (url, client):
        parsed = Address.parse(url)
        is_private, address = settings.redis_url is None, str(parsed)
        place = "a private socket in the data folder" if is_private else address
        try:
            says, advice = await check(client, place, allows_loss=settings.redis_allow_loss)
            return Advice(" ".join([f"{says}.", *advice])) if advice else says
        except StoreUnavailable as error:
            if is_private or str(error) != UNREACHABLE:
                raise
            if parsed.tls is None and any([await speaks_tls(*host) for host in parsed.hosts]):
                raise Misconfigured(NEEDS_TLS) from error
            raise Misconfigured(f"{error} Check REDIS_URL ({address}), and whether the server is running.") from error


async def check_inbox(settings: Settings, private: str | None = None) -> str:
    """Return how many questions wait; ones that wait for long or have failed are worth a look."""
    async with open_stores(settings, private) as stores, stores.inbox() as inbox:
        return verdict(await inbox.backlog(), is_shared=settings.is_shared)


async def check_policies(settings: Settings, private: str | None = None) -> str:
    """Return whether what moderators have set can be read everywhere. Raises `Misconfigured` where it cannot."""
    async with open_stores(settings, private) as stores:
        closed = [str(home) for home in await stores.policies.closed()]
    if not closed:
        return "the moderators' settings can be read"
    todo = "A moderator can use resume there, or type: footnote resume " + (
        closed[0] if len(closed) == 1 else "WORKSPACE"
    )
    raise Misconfigured(f"{UNREADABLE.format(', '.join(closed))} {todo}")


async def check_communities(settings: Settings, index: PassageIndex, private: str | None = None) -> str:
    """Return which communities may use the bot and what they see; those that wait for the operator are worth a look."""
    platforms = {"discord": settings.discord_token is not None, "slack": settings.has_slack}
    async with open_stores(settings, private) as stores:
        return on_communities(
            await CommunityAccess.of(stores.communities, index), [name for name, is_on in platforms.items() if is_on]
        )


def verdict(backlog: Backlog, *, is_shared: bool) -> str:
    """Judge what there is to do. Raises `Unavailable` where nobody seems to do it."""
    waiting = f"{counted(backlog.waiting, 'question')} waiting"
    dead = f"{counted(backlog.dead, 'question')} failed: footnote inbox list" if backlog.dead else ""
    if backlog.oldest > LONGEST_WAIT:
        worker = "footnote run worker" if is_shared else "footnote run"
        asked = f"{waiting}, the oldest for {backlog.oldest:.0f} seconds. Is a worker running? `{worker}`"
        raise Unavailable(f"{asked}. {dead}" if dead else asked)
    return Advice(dead) if dead else f"{waiting}, {backlog.running} being answered"


@contextlib.asynccontextmanager
async def _open_client(settings: Settings, private: str | None) -> AsyncGenerator[tuple[str, Redis]]:
    from adapters.redis.connection import connect
    from adapters.redis.server import PrivateServer

    async with contextlib.AsyncExitStack() as stack:
        url = revealed(settings.redis_url) or private
        if url is None:
            url = await stack.enter_async_context(PrivateServer(settings.data_dir / "store"))
        yield url, await stack.enter_async_context(contextlib.aclosing(connect(url)))
