"""The version of what is stored: what is older is taken over, and what is newer is left alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from adapters.redis.community import RedisPolicies, RedisVotes
from adapters.redis.connection import VERSION, VERSION_KEY, connect
from adapters.redis.conversations import RedisConversations
from adapters.redis.failure import NEWER
from adapters.redis.health import check
from adapters.redis.secrets import RedisVault, Seal
from core.errors import Misconfigured, StoreUnavailable
from core.model import Claim, Conversation, Person, Policy, Tally
from tests.adapters.redis.desk import Desk
from tests.builders import NOON, thread
from tests.contracts.test_conversations import turn
from tests.fixtures.redis import all_keys, clean, place
from tests.inboxes import POSTED, SECRET, asked, taken
from tests.past import write_as_before
from tests.portion import FORMS

WEEK = timedelta(days=7)
SET_BEFORE = Policy(
    paused_by=Person(id="p1", name=""),
    paused_at=NOON,
    auto_answer=frozenset({"c1"}),
    silent_channels=frozenset({"c2"}),
)


@pytest.fixture(name="desk", params=FORMS[1:])
async def _desk(request: pytest.FixtureRequest) -> AsyncIterator[Desk]:
    url = place(request.param, request).url
    async with clean(url) as client:
        blocking = connect(url, blocking=True)
        yield Desk(client, blocking)
        await blocking.aclose()


@pytest.mark.promise("stored-data-lasts")
async def test_what_was_stored_before_there_were_versions_is_taken_over(desk: Desk) -> None:
    """Conversations, questions, votes, secrets, and what moderators set and did; from then on there is a number."""
    await write_as_before(desk.client)
    seal, home = Seal([SECRET]), thread().home
    conversation = await RedisConversations(desk.client, ttl=WEEK, seal=seal).load(thread())
    async with desk.inbox() as inbox:
        (dead,) = await inbox.dead(limit=9)
        tasks = {task.message.id: task for task in [await taken(inbox), await taken(inbox)]}
        gone = await inbox.forget(home, "p1")

    turns = tuple(turn(id_).model_copy(update={"quoted": ("",)}) for id_ in ("m1", "m2"))  # nobody knows whom
    assert conversation == Conversation(thread=thread(), turns=turns)
    assert (dead.question, dead.reason, dead.attempts) == (asked("dead", in_thread="dead").question, "ValueError", 3)
    begun, waited = tasks["posted"], tasks["waits"]
    assert isinstance(begun, Claim)
    assert isinstance(waited, Claim)
    assert (begun.question, begun.delivery) == (asked("posted", in_thread="posted").question, POSTED)
    assert waited.question == asked("waits", in_thread="waits").question
    assert waited.address is not None
    assert waited.address.interaction is not None
    assert gone == 1
    assert await RedisVotes(desk.client).count(home) == Tally(helpful=1)
    assert await RedisVault(desk.client, seal=seal).load("slack:T1") == "a token of theirs"
    policies = RedisPolicies(desk.client)
    assert await policies.load(home) == SET_BEFORE
    assert [entry.did for entry in await policies.recent(home, limit=9)] == ["pause", "silent", "auto"]
    assert await desk.client.get(VERSION_KEY) == VERSION


@pytest.mark.promise("stored-data-lasts")
async def test_what_a_newer_version_stores_is_left_alone(desk: Desk) -> None:
    """Nothing is read or written by a script, and the doctor says what to do."""
    await desk.client.set(VERSION_KEY, "2")

    with pytest.raises(StoreUnavailable, match="newer version"):
        await desk.inbox().put(asked())
    with pytest.raises(Misconfigured) as refused:
        await check(desk.client, "here")
    assert (await all_keys(desk.client), str(refused.value)) == ([], NEWER)
