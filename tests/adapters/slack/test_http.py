"""HTTP: what Slack has signed is taken, once, and nothing else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlencode

import pytest

from adapters.slack.http import LARGEST, RequestVerifier, serve
from core.errors import Misconfigured, StoreUnavailable
from core.events import unobserved
from core.messages import AWAY
from tests.adapters.slack.intake import Place
from tests.fakes.dedup import MemoryDedup

LATEST = 3.0  # seconds
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


@pytest.fixture(name="place")
async def _place() -> AsyncIterator[Place]:
    """Run Slack."""
    async with Place.open() as place:
        yield place


@asynccontextmanager
async def listening(
    place: Place,
    seen: MemoryDedup,
    *,
    port: int = 0,
    longest_body: float = LATEST,
    refused: Callable[[Exception], object] = unobserved,
) -> AsyncGenerator[str]:
    """Listen at a port, and let Slack know; give the address."""
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    secret = place.server.signing_secret
    verifier = RequestVerifier(place.app().async_dispatch, signing_secret=secret, seen=seen, refused=refused)
    verifier.longest_body = longest_body
    task = asyncio.create_task(serve(verifier, "127.0.0.1", port, started=started.set_result))
    await asyncio.wait({task, started}, return_when=asyncio.FIRST_COMPLETED)
    try:
        if task.done():
            await task
        url = f"http://127.0.0.1:{started.result()}"
        place.server.deliver_to(f"{url}/slack/events")
        yield url
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Misconfigured):
            await task


async def test_events_commands_and_the_address_itself_are_answered(place: Place) -> None:
    """All at one address; what a listener could not do is not acknowledged, and a retry of it is taken."""
    async with listening(place, MemoryDedup()):
        mention = place.server.post_as(place.ada, place.channel, "one").deliveries[0]
        await mention.acknowledged()
        said = await place.server.slash(place.ada, place.channel, "/footnote", "ask").acknowledged()
        challenge = await place.server.webhooks.verify()
        place.ears.failure = StoreUnavailable("The data store cannot be reached.")
        lost = place.server.post_as(place.ada, place.channel, "two").deliveries[0]
        await place.server.until(lambda: lost.statuses)
        place.ears.failure = None
        await place.server.redeliver(lost)
        await lost.acknowledged()

    assert (place.ears.heard, lost.statuses) == (["one", "two", "two"], [503, 200])
    assert said == {"response_action": "errors", "errors": {"question": "It is empty."}}
    assert "prove-it" in str(challenge)


@pytest.mark.promise("signed-once")
async def test_what_was_overheard_is_refused(place: Place) -> None:
    """The same bytes again, also where the first time failed at the door, and where nobody can know."""
    seen, server = MemoryDedup(), place.server
    async with listening(place, seen):
        asked = server.post_as(place.ada, place.channel, "one").deliveries[0]
        await asked.acknowledged()
        replayed = [await server.webhooks.replay(asked) for _ in range(2)]
        place.ears.failure = StoreUnavailable("The data store cannot be reached.")
        failed = server.post_as(place.ada, place.channel, "two").deliveries[0]
        await server.until(lambda: failed.statuses)
        place.ears.failure = None
        again = [await server.webhooks.replay(failed) for _ in range(2)]
        seen.fails = True
        unknown = server.post_as(place.ada, place.channel, "three").deliveries[0]
        await server.until(lambda: unknown.statuses)

    assert (replayed, again, unknown.statuses) == ([409, 409], [200, 409], [503])
    assert place.ears.heard == ["one", "two", "two"]


@pytest.mark.promise("signed-once")
@pytest.mark.parametrize("hangs", [False, True])
async def test_whoever_uses_a_command_that_cannot_be_let_in_is_told(place: Place, hangs: bool) -> None:
    """Nobody can say whether it is new, and Slack waits for three seconds and does not send it again."""
    seen = MemoryDedup()
    seen.fails, seen.hangs = not hangs, hangs
    async with listening(place, seen):
        said = await place.server.slash(place.ada, place.channel, "/footnote", "ask").acknowledged(LATEST)

    assert (said["text"], said["response_type"]) == (f"⚠️ {AWAY}", "ephemeral")
    assert place.ears.heard == []


@pytest.mark.promise("crash-safe")
async def test_an_event_that_looks_like_a_command_comes_again(place: Place) -> None:
    """People write links, and in any language."""
    seen = MemoryDedup()
    seen.fails = True
    async with listening(place, seen):
        text = "Où est https://robots.example/?a=1&command=2&b=3"
        asked = place.server.post_as(place.ada, place.channel, text).deliveries[0]
        await place.server.until(lambda: asked.statuses)

    assert asked.statuses == [503]


@pytest.mark.promise("signed-once")
async def test_what_slack_has_not_signed_is_not_even_read(place: Place) -> None:
    """Another secret, another body, another time, none of them, junk, and what looks like a check of the platform."""
    hooks = place.server.webhooks
    body = urlencode({"command": "/footnote", "text": "admin forget", "team_id": place.workspace.team_id}).encode()
    check = urlencode({"ssl_check": "1", "command": "/footnote"}).encode()
    good = hooks.signed(body, FORM)
    name, stamp = "X-Slack-Signature", "X-Slack-Request-Timestamp"
    hooks.skew = -301.0
    old = hooks.signed(body, FORM)
    hooks.skew = 0.0
    asked: list[tuple[bytes, dict[str, str]]] = [
        (body, {**good, name: "v0=" + "0" * 64}),
        (body + b"&text=admin", good),
        (body, old),
        (body, {**good, stamp: str(int(time.time()) + 1)}),
        (body, {**good, stamp: "soon"}),
        (body, {**good, stamp: "9" * 5_000}),
        (b"\xff", good),
        (body, {"Content-Type": FORM}),
        (check, {"Content-Type": FORM}),
        (b'{"type": "url_verification", "challenge": "x"}', {"Content-Type": JSON}),
        (b"[", {"Content-Type": JSON}),
    ]
    async with listening(place, MemoryDedup()):
        statuses = [(await hooks.post(*each))[0] for each in asked]
        too_large = (await hooks.post(b" " * (LARGEST + 1), good))[0]
        signed_junk = [(await hooks.post(junk, hooks.signed(junk, JSON)))[0] for junk in (b"[]", b"{", b'"x"')]

    assert (statuses, too_large, signed_junk) == ([401] * len(asked), 413, [400, 400, 400])
    assert (place.ears.heard, place.ears.failures) == ([], [])


EVENT = '{"type": "event_callback", "team_id": "T000000001", "event": %s}'
MENTION = EVENT % '{"type": "app_mention", "channel": "C1", %s}'
ODD = (
    *("{}", "[]", "null", "5", '{"type": []}', '{"authorizations": 5}', '{"type": "x", "authorizations": [5]}'),
    *('{"type": "event_callback"}', EVENT % '"x"', EVENT % "[1]", EVENT % "{}", EVENT % '{"type": 5}'),
    *(MENTION % each for each in ('"channel": 5', '"text": 5', '"ts": []', '"user": 5', '"message": "x"')),
    *('{"type": "block_actions", "actions": 5}', '{"type": "block_actions", "user": 5, "team": []}'),
    *('{"type": "view_submission", "view": 5}', '{"type": "message_action", "message": 5}'),
    *(MENTION % each for each in ('"ts": "soon"', '"edited": 5', '"edited": {"ts": -1}', '"thread_ts": {}')),
    *(EVENT % f'{{"type": "{each}"}}' for each in ("agent_session_stopped", "channel_deleted", "app_home_opened")),
    *('{"type": "block_actions", "user": {"id": "U1"}, "actions": [{}]}', '{"type": "block_actions", "user": {}}'),
    '{"type": "view_submission", "user": {"id": "U1"}, "trigger_id": "1", "view": {"id": "V1", "type": "modal"}}',
)


@pytest.mark.promise("signed-once")
async def test_what_slack_would_never_say_is_refused_and_breaks_nothing(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    """Signed all the same: JSON of another shape, as an event or as a form, no JSON, and forms without anything."""
    hooks = place.server.webhooks
    forms = [*(urlencode({"payload": each}) for each in (*ODD, "{")), "payloads=1", "nothing=1"]
    async with listening(place, MemoryDedup()):
        asked = [*((each, JSON) for each in (*ODD, "[" * 100_000)), *((each, FORM) for each in forms)]
        statuses = [(await hooks.post(each.encode(), hooks.signed(each.encode(), kind)))[0] for each, kind in asked]
        await place.server.post_as(place.ada, place.channel, "one").deliveries[0].acknowledged()

    assert statuses == [400] * len(asked)
    assert (place.ears.heard, place.ears.failures) == (["one"], [])
    assert [each for each in caplog.records if each.exc_info] == []


async def test_of_what_is_refused_the_operator_learns_the_type_and_the_place_and_no_word(place: Place) -> None:
    """Neither a value nor a name that others have chosen."""
    hooks, told = place.server.webhooks, list[Exception]()
    form = '{"type": "view_submission", "view": {"state": {"values": {"a secret": {"another": {"value": 5}}}}}}'
    odd = ['{"type": "a secret"', MENTION % '"edited": {"ts": "a secret"}', EVENT % '{"type": "channel_deleted"}', form]
    async with listening(place, MemoryDedup(), refused=told.append):
        for each in odd:
            await hooks.post(each.encode(), hooks.signed(each.encode(), JSON))

    assert [str(each).rpartition(": ")[2] for each in told] == [
        "of no type, body.",
        "event_callback app_mention, event.edited.ts.",
        "event_callback channel_deleted, event.channel.",
        "view_submission, view.state.values.value.",
    ]


async def test_a_body_that_does_not_come_is_not_waited_for(place: Place) -> None:
    """Whoever sends one holds a connection for some seconds only."""
    async with listening(place, MemoryDedup(), longest_body=0.01) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{")
        answered = await asyncio.wait_for(reader.readline(), LATEST)
        writer.close()

    assert answered.startswith(b"HTTP/1.1 408 ")


async def test_nothing_else_is_answered(place: Place) -> None:
    """Other addresses and methods are refused."""
    session: Any = place.client.session
    async with listening(place, MemoryDedup()) as url:
        asked = [("GET", "/slack/events"), ("GET", "/slack/install"), ("GET", "/metrics"), ("GET", "/")]
        statuses = [(await session.request(method, url + path)).status for method, path in asked]

    assert statuses == [405, 404, 404, 404]


@pytest.mark.promise("says-what-to-do")
async def test_a_port_that_is_taken_is_told(place: Place) -> None:
    """In words."""
    async with listening(place, MemoryDedup()) as url:
        with pytest.raises(Misconfigured, match=r"Set HOST .* and PORT"):
            async with listening(place, MemoryDedup(), port=int(url.rpartition(":")[2])):
                pass


@pytest.mark.promise("orderly-stop")
async def test_a_stop_answers_what_has_arrived(place: Place) -> None:
    """And takes nothing more."""
    async with listening(place, MemoryDedup()):
        place.ears.free.clear()
        asked = place.server.post_as(place.ada, place.channel, "last").deliveries[0]
        await place.server.until(lambda: place.ears.heard)
        asyncio.get_running_loop().call_soon(place.ears.free.set)
    await asked.acknowledged()

    assert asked.statuses == [200]
