"""What Slack would never say: its real requests with any part left out, or with any JSON in its place."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, cast
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from adapters.chat.background import BackgroundTasks
from adapters.chat.platform import Controls
from adapters.slack import dialect
from adapters.slack.api import connect, open_session
from adapters.slack.commands import ANSWER_FROM, SHOW_SOURCES, install
from adapters.slack.home import PAUSE, SILENT
from adapters.slack.http import RequestVerifier, serve
from adapters.slack.listener import SlackHooks, make_app
from adapters.slack.listener import install as install_listener
from adapters.slack.people import People
from adapters.slack.sockets import SocketConnection
from adapters.slack.workspaces import OneWorkspace
from core.answering.agent import answer_id
from core.errors import PostingFailed
from core.model import Question, ThreadRef
from tests.adapters.slack.office import Office
from tests.adapters.slack.test_presses import answered
from tests.builders import question
from tests.fakes.dedup import MemoryDedup
from tests.portion import examples
from tests.servers.slack.events import COMMANDS, EVENTS
from tests.servers.uploads import Upload
from tests.waiting import cancelled

Path: TypeAlias = tuple[str | int, ...]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
NASTY = st.sampled_from(["\ud800", "1e999", "-1", "0", "nan", "{}", "[]", "C1", " ", "http://[", "99999999999.5"])
JSON = st.recursive(
    SCALARS | NASTY, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
GONE: Any = object()


@dataclass(frozen=True)
class Ears:
    """An app with all its listeners, which hears Slack over HTTP and on a socket."""

    office: Office
    background: Sequence[BackgroundTasks]
    address: str

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncGenerator[Ears]:
        """Run all of it."""
        async with Office.at_work() as office, open_session() as session, AsyncExitStack() as stack:
            server = office.server
            client = connect(session, token=office.workspace.token, api_url=server.api_url)
            workspaces = OneWorkspace(session, office.workspace.token, server.api_url)
            people = People(workspaces, policies=office.policies)
            office.memberships["slack"] = people
            app = make_app(workspaces, client)
            commands = install(app, office.services, workspaces, people)
            hooks = SlackHooks(running=_running, is_moderator=people.is_moderator, text_command=commands.said)
            listener = install_listener(app, office.services, workspaces, hooks)
            opened: Any = await cast("Any", client).apps_connections_open(app_token=server.app_token)
            link = await SocketConnection.open(session, str(opened["url"]), app.async_dispatch)
            stack.push_async_callback(link.close)
            started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            secret = server.signing_secret
            verifier = RequestVerifier(app.async_dispatch, signing_secret=secret, seen=MemoryDedup())
            serving = asyncio.create_task(serve(verifier, "127.0.0.1", 0, started=started.set_result))
            stack.push_async_callback(cancelled, serving)
            for tasks in (listener.background, commands.background):
                stack.push_async_callback(tasks.close)
            yield cls(office, (listener.background, commands.background), f"http://127.0.0.1:{await started}")

    async def real(self) -> list[tuple[str, Any]]:
        """Let people do all that Slack tells of, and give what it said: of which kind, and what."""
        office, server = self.office, self.office.server
        ada, boss, channel = office.ada, office.boss, office.channel
        said = server.post_as(ada, channel, f"{office.workspace.bot.mention} What is a robot?")
        server.post_as(ada, channel, "And an arm?", said)
        server.edit_as(ada, said, f"{office.workspace.bot.mention} What are robots?")
        server.upload_as(ada, server.direct(office.workspace, ada), Upload("a.txt", b"A robot."), text="What is this?")
        server.forward_as(ada, channel, said, f"{office.workspace.bot.mention} Why?")
        server.open_home(ada)
        server.open_home(ada, "messages")
        server.stop(ada, said)
        server.join(boss, channel)
        server.tell(office.workspace, {"type": "channel_deleted", "channel": "C0000"})
        server.tell(office.workspace, {"type": "tokens_revoked", "tokens": {"oauth": ["U1"]}})
        for words in ("ask What is an arm?", "ask private What is an arm?", "help", "admin status", "forget me"):
            await server.slash(boss, channel, "/footnote", words).acknowledged()
        server.shortcut(ada, channel, said, SHOW_SOURCES)
        form = await office.form(ada, server.shortcut(ada, channel, said, ANSWER_FROM))
        server.submit(ada, form, {"question": "What is a robot?", "text": "A robot is a machine."})
        shown, asked = await answered(office, Controls.VOTE)
        name = answer_id(asked)
        form = await office.form(boss, server.press(boss, shown, dialect.VOTE, f"{dialect.DOWN} {name}"))
        server.submit(boss, form, {"reasons": ["wrong"]})
        await server.open_home(boss).acknowledged()
        await server.until(lambda: server.home_of(boss), what="the home")
        home = server.home_of(boss)
        assert home is not None
        server.press(boss, home, PAUSE)
        server.choose(boss, home, SILENT, [channel])
        server.delete_as(ada, said)
        await server.settled()
        return [(one.kind, one.payload) for one in server.outbox.deliveries]

    async def ended(self) -> None:
        """Wait until nothing more comes of what was said."""
        for tasks in self.background:
            await tasks.finish()

    async def post(self, kind: str, payload: Any) -> int:
        """Send it as a signed request; give the status of the answer."""
        form = payload if kind == COMMANDS else {"payload": json.dumps(payload)}
        is_form = kind != EVENTS
        body = urlencode(form, errors="replace").encode() if is_form else json.dumps(payload).encode()
        hooks = self.office.server.webhooks
        hooks.url = f"{self.address}/slack/events"
        content = "application/x-www-form-urlencoded" if is_form else "application/json"
        status, *_ = await hooks.post(body, hooks.signed(body, content))
        hooks.url = ""
        return status

    async def send(self, kind: str, payload: Any) -> None:
        """Send it over the socket, and see that the connection lives."""
        (link,) = self.office.server.sockets.connected
        link.send({"envelope_id": "odd", "type": kind, "payload": payload})
        told = self.office.server.tell(self.office.workspace, {"type": "emoji_changed"})
        await told.acknowledged()


def _is_slacks(error: BaseException | None) -> bool:
    """Say whether Slack would not do something, such as show a second form for one use."""
    return isinstance(error, PostingFailed)


async def _running(_: ThreadRef) -> Question | None:
    """Give what somebody else waits for, who may be stopped by moderators alone."""
    return question()


def paths(payload: Any, before: Path = ()) -> list[Path]:
    """Give where something stands in a payload."""
    inner: dict[str | int, Any] = {}
    if isinstance(payload, dict):
        inner |= cast("dict[str, Any]", payload)
    elif isinstance(payload, list):
        inner |= enumerate(cast("list[Any]", payload))
    return [path for name, each in inner.items() for path in ((*before, name), *paths(each, (*before, name)))]


def changed(payload: Any, path: Path, value: Any) -> Any:
    """Give a payload with another value somewhere, or with nothing there."""
    payload = copy.deepcopy(payload)
    place = payload
    for name in path[:-1]:
        place = place[name]
    if value is GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return payload


@pytest.mark.promise("signed-once")
@pytest.mark.parametrize("way", ["http", "socket"])
def test_whatever_stands_in_a_request_breaks_nothing(caplog: pytest.LogCaptureFixture, way: str) -> None:
    """Over HTTP it is refused or taken, and never fails, nor leaves a traceback; a connection to Slack goes on."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        ears = runner.run(stack.enter_async_context(Ears.open()))
        try:
            real = runner.run(ears.real())
            everywhere = [(kind, payload, path) for kind, payload in real for path in paths(payload)]

            @settings(
                max_examples=examples(3_200),
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            )
            @given(st.sampled_from(everywhere), st.just(GONE) | JSON)
            def try_one(where: tuple[str, Any, Path], value: Any) -> None:
                kind, payload, path = where
                assume(kind != COMMANDS or value is GONE or isinstance(value, str))  # a form has nothing else
                odd = changed(payload, path, value)
                caplog.clear()
                if way == "http":
                    assert runner.run(ears.post(kind, odd)) < 500, (path, value)
                else:
                    runner.run(ears.send(kind, odd))
                runner.run(ears.ended())
                broken = [each for each in caplog.records if each.exc_info and not _is_slacks(each.exc_info[1])]
                assert way == "socket" or broken == [], (path, value, broken)

            try_one()
        finally:
            runner.run(stack.aclose())
