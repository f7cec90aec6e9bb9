"""Policies and the log in Redis: what other versions wrote, orders of many processes, and how long entries stay."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from typing import Any

import pytest
from redis.asyncio import Redis

from adapters.redis import community as stored
from adapters.redis.community import RedisPolicies
from adapters.redis.connection import connect
from core.errors import StoreUnavailable
from core.model import Applied, AuditEntry, ModerationOrder, OrderKind, Person, Policy, PolicyFault, WorkspaceRef
from tests.builders import NOON
from tests.fakes.moderation import MemoryPolicies
from tests.fixtures.nursery import forks
from tests.fixtures.redis import all_keys, clean, place, say
from tests.past import let_pass
from tests.portion import FORMS

FORKS = forks(__name__)
HOME = WorkspaceRef(platform="discord", workspace="42")
ZOE = Person(id="7", name='Zoë "Z" /x\\')
KNOWN = Person(id="7")  # of her, in whatever version it was written
POLICY, LOG = "footnote:policy:{discord:42}", "footnote:audit:{discord:42}:"
DAY = timedelta(days=1).total_seconds()

# As the last version without a version wrote them.
WRITTEN_BEFORE = (
    b'{"paused_by":{"id":"7","name":"Zo\xc3\xab \\"Z\\" /x\\\\"},"paused_at":"2026-01-01T12:00:00Z",'
    b'"auto_answer":["9","8"],"silent_channels":["5","6"]}'
)
NAMED, NAMELESS = b'{"id":"7","name":"Zo\xc3\xab \\"Z\\" /x\\\\"}', b'{"id":"7"}'
SILENT_BEFORE = b'{"paused_by":null,"paused_at":null,"auto_answer":[],"silent_channels":["5"]}'
FIRST_EVER = b'{"paused_by":null,"paused_at":null,"auto_answer":["7"]}'
NOTED_BEFORE = (
    b'{"by":{"id":"7","name":"Zo\xc3\xab"},"did":"pause channel","about":"5","at":"2026-01-01T12:00:00Z"}',
    b'{"by":{"id":"7","name":"Zo\xc3\xab"},"did":"pause","about":"","at":"2026-01-01T12:00:00Z"}',
)
BEFORE = Policy(
    paused_by=KNOWN, paused_at=NOON, auto_answer=frozenset({"8", "9"}), silent_channels=frozenset({"5", "6"})
)
NEWER = {"version": "2", "silent:5": "until Friday", "auto:9": "1", "paused": '{"by":{"id":"7","name":"Zo"}}'}
DAMAGED: dict[str, Sequence[str | bytes]] = {
    "no JSON": ("SET", POLICY, '{"paused_by":'),
    "no policy": ("SET", POLICY, '"paused"'),
    "an empty list": ("SET", POLICY, "[]"),
    "a list": ("SET", POLICY, '[{"paused_by":null}]'),
    "a pause that is no person": ("SET", POLICY, '{"paused_by":false}'),
    "channels that are none": ("SET", POLICY, '{"silent_channels":false}'),
    "a pause by nobody": ("SET", POLICY, '{"paused_by":{"name":"Ada"}}'),
    "channels of another kind": ("SET", POLICY, '{"silent_channels":[["7"]]}'),
    "a channel where there should be several": ("SET", POLICY, '{"silent_channels":"7"}'),
    "bytes": ("SET", POLICY, b"\xff\x00"),
    "nothing": ("SET", POLICY, ""),
    "another kind of value": ("SADD", POLICY, "silent:7"),
    "no version": ("HSET", POLICY, "silent:7", "1"),
    "a version that is none": ("HSET", POLICY, "version", "one"),
    "a version that never was": ("HSET", POLICY, "version", "0"),
}


@pytest.fixture(name="client", params=FORMS[1:])
async def _client(request: pytest.FixtureRequest) -> AsyncIterator[Redis]:
    """Give each form of server."""
    async with clean(place(request.param, request).url) as client:
        yield client


BUDGETS = {OrderKind.SET_BUDGET: "person {} questions day", OrderKind.LIFT_BUDGET: "person questions day"}


async def ordered(client: Redis, kind: OrderKind, about: str = "") -> Applied:
    """Give an order; of a budget, by its name or with so much."""
    about = BUDGETS.get(kind, "{}").format(about)
    return await RedisPolicies(client).apply(HOME, ModerationOrder(kind, about), by=ZOE, at=NOON)


async def raw(client: Redis) -> dict[bytes, bytes]:
    """Give the fields of the stored policy."""
    return await say(client, "HGETALL", POLICY)


@pytest.mark.promise("stored-data-lasts")
@pytest.mark.parametrize(
    ("text", "policy"),
    [
        (WRITTEN_BEFORE, BEFORE),
        (SILENT_BEFORE, Policy(silent_channels=frozenset({"5"}))),
        (FIRST_EVER, Policy(auto_answer=frozenset({"7"}))),
    ],
)
async def test_what_the_version_before_has_set_is_taken_over(client: Redis, text: bytes, policy: Policy) -> None:
    """It stays as it was until an order changes it, and all of it holds afterwards."""
    policies = RedisPolicies(client)
    await say(client, "SET", POLICY, text)
    read, same = await policies.load(HOME), await ordered(client, OrderKind.RESUME_CHANNEL, "1")
    untouched = await client.get(POLICY)
    changed = await ordered(client, OrderKind.PAUSE_CHANNEL, "1")

    assert (read, same) == (policy, Applied(is_new=False, before=policy))
    assert untouched == text.replace(NAMED, NAMELESS)
    assert changed == Applied(is_new=True, before=policy)
    assert await policies.load(HOME) == policy.model_copy(update={"silent_channels": policy.silent_channels | {"1"}})
    assert {value for name, value in (await raw(client)).items() if name != b"paused"} == {b"1"}
    assert b"legacy" not in await raw(client)


@pytest.mark.promise("stored-data-lasts")
async def test_what_the_version_before_has_noted_is_taken_over(client: Redis) -> None:
    """New entries come before it."""
    for number, entry in enumerate(NOTED_BEFORE, 1):
        await say(client, "SET", f"{LOG}deed:{number}", entry, "PX", "7775999999")
    await say(client, "LPUSH", f"{LOG}order", "1", "2")
    await say(client, "PEXPIRE", f"{LOG}order", "7775999999")
    await ordered(client, OrderKind.AUTO_ANSWER_ON, "9")

    assert await RedisPolicies(client).recent(HOME, limit=9) == (
        AuditEntry(by=KNOWN, did="auto-answer on", about="9", at=NOON),
        AuditEntry(by=KNOWN, did="pause", at=NOON),
        AuditEntry(by=KNOWN, did="pause channel", about="5", at=NOON),
    )


@pytest.mark.promise("stored-data-lasts")
async def test_no_name_of_a_moderator_is_stored(client: Redis) -> None:
    """Though one is given; and one that another version kept goes with its pause."""
    await say(client, "SET", POLICY, WRITTEN_BEFORE)
    await ordered(client, OrderKind.RESUME)
    for kind in OrderKind:
        await ordered(client, kind, "1")
    await ordered(client, OrderKind.PAUSE)

    stored_ = [await say(client, "GET", name) for name in await all_keys(client) if b"deed" in name]
    assert len(stored_) == len(OrderKind) + 2
    assert not any(b"Zo" in text for text in [*stored_, *(await raw(client)).values()])


@pytest.mark.promise("stored-data-lasts")
async def test_fields_of_other_versions_stay_through_every_order(client: Redis) -> None:
    """What is known holds as ever, and what is not known comes back byte for byte."""
    unknown = {b"tone": b'{"formal":[],"n":1.0}', b"silence_at_night": b"silent:9", b"version": b"1"}
    await say(client, "HSET", POLICY, *[each for pair in unknown.items() for each in pair], b"silent:5", b"1")
    assert await RedisPolicies(client).load(HOME) == Policy(silent_channels=frozenset({"5"}))
    for kind in OrderKind:
        await ordered(client, kind, "5")
        assert unknown.items() <= (await raw(client)).items()

    assert await raw(client) == unknown


@pytest.mark.promise("stored-data-lasts")
async def test_unknown_fields_beside_what_the_version_before_knew_stay_too(client: Redis) -> None:
    """As the text that they stood in."""
    text = b'{"silent_channels":["5"],"tone":{"formal":[]}}'
    await say(client, "SET", POLICY, text)
    await ordered(client, OrderKind.RESUME_CHANNEL, "5")

    assert await RedisPolicies(client).load(HOME) == Policy()
    assert await raw(client) == {b"version": b"1", b"legacy": text}


@pytest.mark.promise("unreadable-is-closed")
@pytest.mark.parametrize("how", DAMAGED)
async def test_what_cannot_be_read_is_closed_until_moderators_resume(client: Redis, how: str) -> None:
    """No other order changes or notes anything, but that things were forgotten; and the operator can find it."""
    policies = RedisPolicies(client)
    await say(client, *DAMAGED[how])
    read, form = await policies.load(HOME), await say(client, "TYPE", POLICY)
    for kind in OrderKind:
        if kind is not OrderKind.RESUME:
            await ordered(client, kind, "5")
    closed, kept = await policies.closed(), await say(client, "TYPE", POLICY)
    resumed = await ordered(client, OrderKind.RESUME)

    assert (read.fault, read.answers_in("9"), closed, kept) == (PolicyFault.DAMAGED, False, [HOME], form)
    assert (resumed, await policies.load(HOME)) == (Applied(is_new=True, before=read), Policy())
    assert await policies.closed() == []
    assert [entry.did for entry in await policies.recent(HOME, limit=9)] == [
        "resume",
        "forget everything",
        "forget person",
        "forget thread",
    ]


@pytest.mark.promise("unreadable-is-closed")
async def test_what_a_newer_version_has_written_is_closed(client: Redis) -> None:
    """What is known of it is told to whoever replaces it; otherwise it stays as it was for that version."""
    await say(client, "HSET", POLICY, *[each for pair in NEWER.items() for each in pair])
    before = await raw(client)
    told = await ordered(client, OrderKind.PAUSE_CHANNEL, "1")
    after = await raw(client)
    resumed = await ordered(client, OrderKind.RESUME)

    known = Policy(
        paused_by=KNOWN,
        auto_answer=frozenset({"9"}),
        silent_channels=frozenset({"5"}),
        fault=PolicyFault.NEWER,
    )
    assert (told, before == after) == (Applied(is_new=False, before=known), True)
    assert resumed == Applied(is_new=True, before=known)
    assert await client.exists(POLICY) == 0


async def test_a_pause_is_one_whoever_has_ordered_it(client: Redis) -> None:
    """Though nobody can say who did."""
    await say(client, "HSET", POLICY, "version", "1", "paused", "{}")

    assert (await RedisPolicies(client).load(HOME)).paused_by


@pytest.mark.promise("unreadable-is-closed")
async def test_the_operator_finds_what_is_closed_among_all_that_is_stored(client: Redis) -> None:
    """On every node, whatever the workspaces are called."""
    homes = [WorkspaceRef(platform="slack", workspace=f"{{T}}:{number} ü") for number in range(30)]
    for home in homes:
        await RedisPolicies(client).apply(home, ModerationOrder(OrderKind.PAUSE), by=ZOE, at=NOON)
    for home in homes[::3]:
        await say(client, "HSET", f"footnote:policy:{{{home}}}", "version", "9")

    assert set(await RedisPolicies(client).closed()) == set(homes[::3])


async def give_orders(url: str, name: str, count: int, ends: Connection) -> None:
    """Give orders at random as soon as one is told to, and tell whose took effect."""
    client, dice, told = connect(url), random.Random(name), list[str]()
    policies = RedisPolicies(client)
    await policies.load(HOME)
    ends.send("ready")
    ends.recv()
    for number in range(count):
        kind = dice.choice([kind for kind in OrderKind if not kind.startswith("forget")])
        about = dice.choice("123") if kind not in (OrderKind.PAUSE, OrderKind.RESUME) else ""
        if kind in (OrderKind.SET_BUDGET, OrderKind.LIFT_BUDGET):
            about = f"person {about} questions day" if kind is OrderKind.SET_BUDGET else "person questions day"
        by = Person(id=f"{name} {number}")
        applied = await policies.apply(HOME, ModerationOrder(kind, about), by=by, at=datetime.now(UTC))
        if applied.is_new:
            told.append(by.id)
    await client.aclose()
    ends.send(told)


def giving_orders(*given: Any) -> None:
    """Be a process that does."""
    asyncio.run(give_orders(*given))


@pytest.mark.promise("orders-hold")
async def test_orders_of_many_processes_all_hold_and_are_noted_once(redis_url: str, redis_client: Redis) -> None:
    """What took effect is in the log, nothing else is, and the log ends where the policy stands."""
    lines = [FORKS.Pipe() for _ in range(6)]
    processes = [
        FORKS.Process(target=giving_orders, args=(redis_url, f"p{number}", 100, theirs))
        for number, (_, theirs) in enumerate(lines)
    ]
    for process in processes:
        await asyncio.to_thread(process.start)
    for ours, theirs in lines:
        theirs.close()
        assert await asyncio.to_thread(ours.recv) == "ready"
    for ours, _ in lines:
        ours.send("go")
    told = [name for ours, _ in lines for name in await asyncio.to_thread(ours.recv)]
    for (ours, _), process in zip(lines, processes, strict=True):
        await asyncio.to_thread(process.join)
        ours.close()
    policies, replayed = RedisPolicies(redis_client), MemoryPolicies()
    entries = list(reversed(await policies.recent(HOME, limit=999)))
    for entry in entries:
        order = ModerationOrder(kind=OrderKind(entry.did), about=entry.about)
        assert (await replayed.apply(HOME, order, by=entry.by, at=entry.at)).is_new

    assert [process.exitcode for process in processes] == [0] * len(processes)
    assert sorted(entry.by.id for entry in entries) == sorted(told)
    assert len({name.split()[0] for name in told}) == len(processes)
    assert await policies.load(HOME) == await replayed.load(HOME)


@pytest.mark.promise("orders-hold")
async def test_an_order_that_cannot_be_written_changes_and_notes_nothing(client: Redis) -> None:
    """A server without room refuses it whole; what it frees is done and noted."""
    await ordered(client, OrderKind.PAUSE)
    before = {name: await say(client, "DUMP", name) for name in await all_keys(client)}
    await say(client, "CONFIG SET", "maxmemory", "1")
    with pytest.raises(StoreUnavailable):
        await ordered(client, OrderKind.PAUSE_CHANNEL, "5")
    after = {name: await say(client, "DUMP", name) for name in await all_keys(client)}

    assert before == after
    assert (await ordered(client, OrderKind.RESUME)).is_new
    assert [entry.did for entry in await RedisPolicies(client).recent(HOME, limit=9)] == ["resume", "pause"]
    await say(client, "CONFIG SET", "maxmemory", "0")


@pytest.mark.promise("orders-end")
async def test_each_entry_ends_with_its_own_time(redis_client: Redis) -> None:
    """Newer ones do not keep it, and nothing has to happen for it to go."""
    recent: list[list[str]] = []
    for kind in (OrderKind.FORGET_THREAD, OrderKind.FORGET_PERSON, OrderKind.FORGET_EVERYTHING):
        await ordered(redis_client, kind)
        await let_pass(redis_client, 40 * DAY)
        recent.append([entry.did for entry in await RedisPolicies(redis_client).recent(HOME, limit=5)])
    kept = [key for key in await all_keys(redis_client) if b":deed:" in key]

    assert recent == [
        ["forget thread"],
        ["forget person", "forget thread"],
        ["forget everything", "forget person"],
    ]
    assert len(kept) == 2


@pytest.mark.promise("orders-end")
async def test_of_old_entries_nothing_is_left(redis_client: Redis) -> None:
    """Not even that there were any."""
    await ordered(redis_client, OrderKind.FORGET_EVERYTHING)
    await let_pass(redis_client, stored.LIFE / 1000)

    assert await all_keys(redis_client) == []


async def test_no_more_entries_are_kept_than_anybody_reads(redis_client: Redis) -> None:
    """The oldest give way."""
    policies = RedisPolicies(redis_client, most=3)
    for number in range(5):
        order = ModerationOrder(OrderKind.FORGET_PERSON, str(number))
        await policies.apply(HOME, order, by=ZOE, at=NOON)

    assert [entry.about for entry in await policies.recent(HOME, limit=9)] == ["4", "3", "2"]
    assert len(await all_keys(redis_client)) == 4


async def test_a_thousand_entries_are_kept(redis_client: Redis) -> None:
    """Unless another number is named; the first gives way to one more."""
    await ordered(redis_client, OrderKind.FORGET_EVERYTHING)
    await say(redis_client, "LPUSH", f"{LOG}order", *map(str, range(2, 1_001)))
    before = await say(redis_client, "LLEN", f"{LOG}order")
    await ordered(redis_client, OrderKind.FORGET_EVERYTHING)

    assert [before, await say(redis_client, "LLEN", f"{LOG}order")] == [1_000, 1_000]
    assert await say(redis_client, "LINDEX", f"{LOG}order", "-1") == b"2"


async def test_a_policy_that_is_the_usual_one_again_is_not_stored(client: Redis) -> None:
    """Nothing stays of a workspace without a reason."""
    await ordered(client, OrderKind.PAUSE)
    await ordered(client, OrderKind.RESUME)

    assert await client.exists(POLICY) == 0


async def test_a_server_that_is_away_is_no_unreadable_policy() -> None:
    """It raises, so that whoever reads can tell the two apart."""
    client = connect("redis://127.0.0.1:1/0")
    policies = RedisPolicies(client)
    with pytest.raises(StoreUnavailable):
        await policies.load(HOME)
    with pytest.raises(StoreUnavailable):
        await policies.closed()
    await client.aclose()
