"""TLS: the other side has to prove who it is, unless somebody says in so many words that it need not."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.redis.connection import connect, translated
from core.errors import StoreUnavailable
from tests.servers.tls import Proxy, certificate
from tests.servers.valkey import Node

KEY = "footnote:nothing"


async def refusal(url: str) -> str:
    """What a first command says."""
    client = connect(url, timeout=1.0)
    with pytest.raises(StoreUnavailable) as caught, translated():
        await client.get(KEY)
    await client.aclose()
    return str(caught.value)


async def test_a_certificate_that_nobody_vouches_for_is_refused(redis_with_tls: str) -> None:
    """The sentence says how to name an own CA."""
    assert "?ssl_ca_certs=/path/to/ca.pem" in await refusal(redis_with_tls.partition("?")[0])


async def test_a_certificate_for_another_name_is_refused(tmp_path: Path, redis_alone: Node) -> None:
    """Whoever has some certificate of the same CA is not the server for that."""
    other = certificate(tmp_path, name="127.0.0.2")
    with Proxy(redis_alone.port, other) as proxy:
        url = f"rediss://127.0.0.1:{proxy.port}?ssl_ca_certs={other.ca}"
        assert "certificate of the server in REDIS_URL cannot be verified" in await refusal(url)

        client = connect(f"{url}&ssl_check_hostname=false")
        assert await client.get(KEY) is None
        await client.aclose()


async def test_verification_is_off_only_when_that_is_said(redis_with_tls: str) -> None:
    """The option has one spelling."""
    client = connect(f"{redis_with_tls.partition('?')[0]}?ssl_cert_reqs=none")
    assert await client.get(KEY) is None
    await client.aclose()


async def test_a_ca_that_was_renewed_is_read_again(tmp_path: Path, redis_alone: Node) -> None:
    """The connections share what they have read of a file until it changes."""
    old = certificate(tmp_path)
    with Proxy(redis_alone.port, old) as proxy:
        url = f"rediss://127.0.0.1:{proxy.port}?ssl_ca_certs={old.ca}"
        client = connect(url)
        assert await client.get(KEY) is None
        await client.aclose()

    with Proxy(redis_alone.port, certificate(tmp_path)) as proxy:
        client = connect(f"rediss://127.0.0.1:{proxy.port}?ssl_ca_certs={old.ca}")
        assert await client.get(KEY) is None
        await client.aclose()
