"""Connections with TLS that share one context: to make one for each would read all CAs of the system every time."""

from __future__ import annotations

from asyncio import StreamWriter
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from redis.asyncio.connection import RedisSSLContext, SSLConnection
from redis.asyncio.sentinel import SentinelManagedConnection


class SecureConnection(SSLConnection):
    """One server's connection; those with equal settings share a context, until one of its files is renewed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # pyright: ignore[reportUnknownMemberType] - its options are untyped
        own = cast("Any", self.ssl_context)
        files: list[str | None] = [own.ca_certs, own.certfile, own.keyfile]
        versions = tuple((file, Path(file).stat().st_mtime_ns) if file else (None, 0) for file in files)
        self.ssl_context = _shared(versions, cert_reqs=own.cert_reqs, check_hostname=own.check_hostname)

    async def disconnect(self, nowait: bool = False, *args: Any, **options: Any) -> None:
        """Close the connection; one that nobody waits for is broken, and is cut without the farewell of TLS."""
        writer = cast("StreamWriter | None", cast("Any", self)._writer)  # noqa: SLF001 - no public name
        await super().disconnect(nowait, *args, **options)
        if nowait and writer is not None:
            writer.transport.abort()


class SecureManagedConnection(SentinelManagedConnection, SecureConnection):
    """The same to whichever server the Sentinels name."""


@lru_cache(maxsize=4)
def _shared(versions: tuple[tuple[str | None, int], ...], **settings: Any) -> RedisSSLContext:
    ca_certs, certfile, keyfile = (file for file, _ in versions)
    return RedisSSLContext(ca_certs=ca_certs, certfile=certfile, keyfile=keyfile, **settings)
