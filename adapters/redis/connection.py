"""One way to reach a Redis or Valkey server, with every time limit said aloud."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.errors import Misconfigured, StoreUnavailable

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from redis.exceptions import RedisError

CONNECTIONS = 50
PATIENCE = 5.0  # seconds for a connection, an answer, or a free place in the pool

UNREACHABLE = "The conversation store cannot be reached. Try again in a moment."
LOGIN = "The conversation store refused the login. Check the user and the password in REDIS_URL."
FULL = "The conversation store has no room left. Give it more memory or disk."
REFUSED = "The conversation store refused the request. Its log says why."


def connect(url: str) -> Redis:
    """Give a client for `redis://`, `rediss://` or `unix://`; it connects when it is first used.

    Nothing is tried twice by the client, because it cannot know whether repeating is safe. A connection that the server
    closed while it was idle is noticed and replaced before a command is sent, so a restarted server costs no error.
    """
    from redis.asyncio import BlockingConnectionPool, Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff
    from redis.maint_notifications import MaintNotificationsConfig

    try:
        pool = BlockingConnectionPool.from_url(  # pyright: ignore[reportUnknownMemberType] - its options are untyped
            url,
            max_connections=CONNECTIONS,
            timeout=PATIENCE,
            socket_timeout=PATIENCE,
            socket_connect_timeout=PATIENCE,
            retry=Retry(NoBackoff(), 0),
            protocol=3,
            legacy_responses=False,
            decode_responses=False,
            # With notifications on, the client does not notice connections that the server has closed.
            maint_notifications_config=MaintNotificationsConfig(enabled=False),
        )
    except (ValueError, TypeError) as error:
        raise Misconfigured("REDIS_URL is not an address. It looks like redis://localhost:6379/0.") from error
    return Redis.from_pool(pool)


@contextmanager
def translated() -> Generator[None, None, None]:
    """Turn every failure of the server, or of the way to it, into `StoreUnavailable` with the failure as its cause."""
    from redis.exceptions import RedisError

    try:
        yield
    except (RedisError, OSError) as error:
        raise StoreUnavailable(_sentence(error)) from error


def _sentence(error: RedisError | OSError) -> str:
    from redis import exceptions

    match error.__cause__ or error:  # a refused login comes wrapped in a failed connection
        case exceptions.AuthenticationError() | exceptions.NoPermissionError():
            return LOGIN
        case exceptions.OutOfMemoryError():
            return FULL
        case exceptions.ResponseError() if str(error).startswith("MISCONF"):
            return FULL
        case exceptions.ResponseError():
            return REFUSED
        case _:
            return UNREACHABLE
