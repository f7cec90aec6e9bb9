"""Names of moderators that an older version stored."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

import pytest
from redis.asyncio import Redis

from adapters.redis.community import RedisPolicies
from core.model import OrderKind
from tests.adapters.redis.test_policies import (
    HOME,
    LOG,
    NAMED,
    NAMELESS,
    NOTED_BEFORE,
    POLICY,
    WRITTEN_BEFORE,
    ordered,
    raw,
)
from tests.fixtures.redis import clean, place, say
from tests.portion import FORMS


@pytest.fixture(name="client", params=FORMS[1:])
async def _client(request: pytest.FixtureRequest) -> AsyncIterator[Redis]:
    """Give each form of server."""
    async with clean(place(request.param, request).url) as client:
        yield client


OF_OLDER_VERSIONS: dict[str, tuple[Sequence[str | bytes], Mapping[bytes, bytes] | bytes]] = {
    "a text": (("SET", POLICY, WRITTEN_BEFORE), WRITTEN_BEFORE.replace(NAMED, NAMELESS)),
    "a text with more": (
        ("SET", POLICY, b'{"tone":{"name":"Ann","by":[]}, "paused_by" : {"name":"}Zo{\\\\\\"","id":"7"} ,"n":1.0}'),
        b'{"tone":{"name":"Ann","by":[]}, "paused_by" : {"id":"7"} ,"n":1.0}',
    ),
    "fields": (
        ("HSET", POLICY, "version", "1", "paused", b'{"by":%b,"at":"2026-01-01T12:00:00Z"}' % NAMED),
        {b"version": b"1", b"paused": b'{"by":{"id":"7"},"at":"2026-01-01T12:00:00Z"}'},
    ),
    "fields with more": (
        (
            *("HSET", POLICY, "version", "1", "tone", '{"name":"Ann"}'),
            *("paused", b'{"why":[1.0],"by":%b}' % NAMED, "legacy", WRITTEN_BEFORE[:-1] + b',"tone":{}}'),
        ),
        {
            b"version": b"1",
            b"tone": b'{"name":"Ann"}',
            b"paused": b'{"why":[1.0],"by":{"id":"7"}}',
            b"legacy": WRITTEN_BEFORE.replace(NAMED, NAMELESS)[:-1] + b',"tone":{}}',
        },
    ),
}


@pytest.mark.promise("stored-data-lasts")
@pytest.mark.parametrize("touch", ["a look", "an order", "the log"])
@pytest.mark.parametrize("how", OF_OLDER_VERSIONS)
async def test_a_name_that_an_older_version_stored_goes_when_it_is_touched(client: Redis, how: str, touch: str) -> None:
    """In the policy and in the log, whatever is done; all else stays byte for byte."""
    written, after = OF_OLDER_VERSIONS[how]
    await say(client, *written)
    for number, entry in enumerate(NOTED_BEFORE, 1):
        await say(client, "SET", f"{LOG}deed:{number}", entry, "PX", "7775999999")
        await say(client, "LPUSH", f"{LOG}order", str(number))
    await say(client, "PEXPIRE", f"{LOG}order", "7775999999")
    if touch == "a look":
        await RedisPolicies(client).load(HOME)
    elif touch == "an order":
        await ordered(client, OrderKind.FORGET_THREAD, "1")
    else:
        await RedisPolicies(client).recent(HOME, limit=1)

    assert (await raw(client) if isinstance(after, dict) else await client.get(POLICY)) == after
    log = [await say(client, "GET", f"{LOG}deed:{number}") for number in (1, 2)]
    assert log == [entry.replace(b'{"id":"7","name":"Zo\xc3\xab"}', NAMELESS) for entry in NOTED_BEFORE]
    assert 0 < await say(client, "PTTL", f"{LOG}deed:1") <= 7775999999


@pytest.mark.promise("stored-data-lasts")
@pytest.mark.parametrize("how", OF_OLDER_VERSIONS)
async def test_a_name_that_an_older_version_stores_beside_this_one_goes_too(client: Redis, how: str) -> None:
    """From the policy, once a process looks at it again."""
    written, after = OF_OLDER_VERSIONS[how]
    policies = RedisPolicies(client)
    await policies.load(HOME)
    await say(client, *written)
    await policies.load(HOME)

    assert (await raw(client) if isinstance(after, dict) else await client.get(POLICY)) == after
