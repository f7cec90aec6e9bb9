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
from tests.servers.slack.events import COMMANDS, EVENTS, INTERACTIVE
from tests.servers.uploads import Upload
from tests.waiting import cancelled

Path: TypeAlias = tuple[str | int, ...]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
NASTY = st.sampled_from(["\ud800", "1e999", "-1", "0", "nan", "{}", "[]", "C1", " ", "http://[", "99999999999.5"])
JSON = st.recursive(
    SCALARS | NASTY, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
GONE: Any = object()
TAKEN = (200, 409)  # the second for the same bytes in the same second, which were taken
RELIED = frozenset(
    {
        *("type", "command", "ssl_check", "callback_id", "trigger_id", "team_id", "enterprise_id", "channel_id"),
        *("user_id", "response_url", "text", "team", "enterprise", "channel", "user", "authorizations", "actions"),
        *("container", "event", "message", "view", "id", "ts", "thread_ts", "message_ts", "deleted_ts", "subtype"),
        *("edited", "previous_message", "tokens", "action_id", "value", "selected_options", "accessory", "blocks"),
        *("initial_conversations", "selected_conversations", "private_metadata", "app_installed_team_id", "state"),
        "values",
    }
)
"""The names under which something stands that listeners need, or that says where all belongs."""


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


def is_free(path: Path) -> bool:
    """Say whether anything may stand somewhere: where nobody looks, and in what other apps may have made."""
    is_others = "view" not in path and any(name in path for name in ("attachments", "files", "blocks"))
    is_field = "values" in path or "tokens" in path  # under names of our own
    return is_others or not (is_field or path[-1] in RELIED or isinstance(path[-1], int))


MESSAGE: dict[str, Any] = {"type": "message", "user": "U9", "channel": "C9", "ts": "1700000000.000100", "text": "Hi"}
PRESS: dict[str, Any] = {"type": "block_actions", "user": {"id": "U9", "team_id": "T1"}, "trigger_id": "1.2.x"}
BUTTON: dict[str, Any] = {"type": "button", "action_id": "x", "block_id": "b", "value": "1", "action_ts": "1.2"}
FORM: dict[str, Any] = {"id": "V9", "type": "modal", "callback_id": "x", "private_metadata": "", "blocks": []}
OTHERS: dict[str, list[Any]] = {
    "attachments": [
        {"ts": 1700000000.5, "text": "A float."},
        {"ts": 1700000000123, "is_share": True, "text": "Thirteen digits.", "author_name": "\ud83e"},
        {"ts": -1, "is_share": True, "text": 5, "files": [{"id": 5, "size": "12", "name": None}, 5]},
        {
            "id": "one",
            "actions": [{"name": "a", "value": 1}],
            "fields": [{"value": 5}],
            "team": 5,
            "user": [],
            "view": 1,
        },
        *(None, "words"),
    ],
    "files": [
        {
            "id": "F1",
            "state": "locked",
            "mode": "quip",
            "mimetype": "application/vnd.slack-docs",
            "size": 1,
            "user": "U1",
        },
        {"id": "F2", "mode": "space", "filetype": "canvas", "channels": [], "channel": None, "size": None},
        {"id": "F3", "mode": "post", "state": "unlocked", "url_private": 5, "file_access": ["visible"]},
        {"id": "F4", "mode": "list", "team_id": None, "text": {"a": 1}, "blocks": {}, "values": []},
    ],
    "blocks": [{"type": "rich_text", "elements": [{"ts": -1, "value": 1}]}, {"type": "x", "accessory": 5}, None],
}
"""What other apps, and Slack itself, put into messages."""
TOLD: list[dict[str, Any]] = [
    {**MESSAGE, "type": "app_mention", **OTHERS},
    {**MESSAGE, "subtype": "message_changed", "message": {**MESSAGE, **OTHERS}, "previous_message": OTHERS},
    {**MESSAGE, "subtype": "bot_message", "user": None, "username": "Flow", "bot_id": "B9", **OTHERS},
    {**MESSAGE, "channel_type": "mpim", "channel": "G9", "user_team": "T8", "source_team": "T8", "user_profile": None},
    {**MESSAGE, "subtype": "channel_topic", "topic": "x", "root": {"ts": -1}, "edited": None},
    {"type": "link_shared", "channel": "COMPOSER", "message_ts": "U9-909b5454-75f8", "user": "U9", "links": []},
    {"type": "channel_rename", "channel": {"id": "C9", "name": "x", "created": 1}},
    {"type": "team_join", "user": {"id": "U9", "team_id": "T9", "profile": {"team": "T9"}}},
    {"type": "channel_shared", "connected_team_id": "E163", "channel": "C9", "event_ts": "1.2"},
    {"type": "workflow_step_execute", "callback_id": "x", "workflow_step": {"inputs": {"text": {"value": 1}}}},
    {"type": "subteam_created", "subteam": {"id": "S1", "team_id": "T9", "users": None}},
]
"""Events as the reference has them, and others with all that may come in a message."""
USED: list[dict[str, Any]] = [
    {
        **PRESS,
        "team": None,
        "enterprise": {"id": "E9", "name": "x"},
        "is_enterprise_install": True,
        "actions": [BUTTON],
    },
    {**PRESS, "channel": {"id": "C9"}, "message": {**MESSAGE, "bot_id": "B9", **OTHERS}, "actions": [BUTTON]},
    {**PRESS, "actions": [{**BUTTON, "type": "number_input"}], "state": {"values": {"b": {"x": {"value": 5}}}}},
    {**PRESS, "type": "message_action", "callback_id": "x", "message_ts": "1.2", "message": {**MESSAGE, **OTHERS}},
    {**PRESS, "type": "shortcut", "callback_id": "x", "action_ts": "1.2"},
    {**PRESS, "type": "view_closed", "view": FORM, "is_cleared": False},
    {**PRESS, "type": "view_submission", "view": {**FORM, "state": {"values": {}}}, "response_urls": []},
    {"type": "workflow_step_edit", "callback_id": "x", "workflow_step": {"workflow_id": "1", "inputs": {}}},
    {
        **PRESS,
        "type": "shortcut",
        "callback_id": "x",
        "team": {"id": "T9"},
        "response_url": "http://127.0.0.1:1/nobody",
    },
    {**PRESS, "type": "block_suggestion", "action_id": "x", "block_id": "b", "value": "x", "view": FORM},
]
"""Interactions in the same way."""


@pytest.mark.promise("signed-once")
@pytest.mark.parametrize("way", ["http", "socket"])
async def test_what_slack_does_say_is_taken(caplog: pytest.LogCaptureFixture, way: str) -> None:
    """All that people do in these tests, as it is, and what the reference has besides; nothing breaks on any of it."""
    async with Ears.open() as ears:
        real, home = await ears.real(), {"team_id": ears.office.workspace.team_id, "api_app_id": "A1"}
        caplog.clear()
        told = [*((EVENTS, {**home, "type": "event_callback", "event": each}) for each in TOLD)]
        told += [(EVENTS, {**home, "type": "app_rate_limited", "minute_rate_limited": 1518467820})]
        told += [(EVENTS, {"type": "event_callback", "event": {"type": "app_uninstalled"}})]
        told += [*((INTERACTIVE, {"team": {"id": home["team_id"]}, **each}) for each in USED), *real]
        if way == "http":
            assert [each for each in told if await ears.post(*each) != 200] == []
        else:
            for each in told:
                await ears.send(*each)
        await ears.ended()

    assert [each for each in caplog.records if each.exc_info and not _is_slacks(each.exc_info[1])] == []


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
                    answered = runner.run(ears.post(kind, odd))
                    assert answered in TAKEN if is_free(path) else answered < 500, (path, value, answered)
                else:
                    runner.run(ears.send(kind, odd))
                runner.run(ears.ended())
                broken = [each for each in caplog.records if each.exc_info and not _is_slacks(each.exc_info[1])]
                assert way == "socket" or broken == [], (path, value, broken)

            try_one()
        finally:
            runner.run(stack.aclose())
