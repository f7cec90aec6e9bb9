"""The server of these tests is Slack to the real client, also when it misbehaves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncBoltRequest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.servers.slack import Channel, Lost, Message, SlackServer, User, Workspace
from tests.servers.slack.apps import app_of, by_requests, by_sockets

VOTE: dict[str, Any] = {
    "type": "context_actions",
    "elements": [
        {
            "type": "feedback_buttons",
            "action_id": "vote",
            "positive_button": {"text": {"type": "plain_text", "text": "Helpful"}, "value": "up"},
            "negative_button": {"text": {"type": "plain_text", "text": "Not helpful"}, "value": "down"},
        }
    ],
}
FORM: dict[str, Any] = {
    "type": "modal",
    "callback_id": "why",
    "title": {"type": "plain_text", "text": "Why?"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "reason",
            "label": {"type": "plain_text", "text": "Reason"},
            "element": {"type": "plain_text_input", "action_id": "words"},
        }
    ],
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a test happens."""

    server: SlackServer
    workspace: Workspace
    channel: Channel
    ada: User
    client: Any
    asked: Message


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    """A workspace with a channel, somebody who has asked something, and the bot's client."""
    async with SlackServer() as server, aiohttp.ClientSession() as session:
        workspace = server.add_workspace()
        channel = server.add_channel(workspace)
        ada = server.add_member(workspace)
        client = AsyncWebClient(workspace.token, base_url=server.api_url, session=session)
        asked = server.post_as(ada, channel, "What is a robot?")
        yield Place(server, workspace, channel, ada, client, asked)


async def refusal_of(call: Awaitable[Any]) -> Any:
    """Give the answer with which a call is refused."""
    with pytest.raises(SlackApiError) as raised:
        await call
    error: Any = raised.value
    return error.response


async def refused(call: Awaitable[Any]) -> str:
    """Give the code with which a call is refused."""
    return str((await refusal_of(call))["error"])


async def start(place: Place, text: str = "It") -> str:
    """Begin a stream; give its timestamp."""
    answer = await place.client.chat_startStream(
        channel=place.channel.id,
        thread_ts=place.asked.ts,
        markdown_text=text,
        recipient_user_id=place.ada.id,
        recipient_team_id=place.workspace.team_id,
    )
    return str(answer["ts"])


async def test_what_the_client_posts_and_streams_is_there(place: Place) -> None:
    """A stream is one message, an update keeps what it does not name, and a thread can be read with what marks it."""
    server, client, channel = place.server, place.client, place.channel
    ts = await start(place)
    await client.chat_appendStream(channel=channel.id, ts=ts, markdown_text=" acts.")
    await client.chat_stopStream(channel=channel.id, ts=ts, blocks=[VOTE])
    mark = {"event_type": "footnote_answer", "event_payload": {"nonce": "n1"}}
    posted = await client.chat_postMessage(
        channel=channel.id, thread_ts=place.asked.ts, text="More", metadata=mark, unfurl_links=False, unfurl_media=False
    )
    await client.chat_update(channel=channel.id, ts=posted["ts"], text="Much more")
    await client.reactions_add(channel=channel.id, timestamp=place.asked.ts, name="eyes")
    _, streamed, more = server.messages(channel)
    assert (streamed.markdown, streamed.action_ids, streamed.unfurls) == ("It acts.", ["vote"], True)
    assert (more.text, more.metadata, more.unfurls, place.asked.reactions) == (
        "Much more",
        mark,
        False,
        {"eyes": [place.workspace.bot.id]},
    )
    thread = await client.conversations_replies(channel=channel.id, ts=place.asked.ts, include_all_metadata=True)
    assert [one.get("metadata") for one in thread["messages"]] == [None, None, mark]
    first = await client.conversations_replies(channel=channel.id, ts=place.asked.ts, limit=2)
    assert ([one["ts"] for one in first["messages"]], first["has_more"]) == ([place.asked.ts, ts], True)


def section(text: str) -> dict[str, Any]:
    """Make a section."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def button(value: str) -> dict[str, Any]:
    """Make a button."""
    text = {"type": "plain_text", "text": "Go"}
    return {"type": "actions", "elements": [{"type": "button", "action_id": "go", "text": text, "value": value}]}


async def test_calls_are_refused_by_name(place: Place) -> None:
    """Each limit, each wrong place and each wrong message has the platform's own code."""
    client, channel, asked = place.client, place.channel.id, place.asked.ts
    elsewhere = place.server.add_channel(place.workspace, "elsewhere", bot=False)
    hidden = place.server.add_channel(place.workspace, "hidden", private=True, bot=False)
    here: dict[str, Any] = {"channel": channel, "text": "x"}
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("unknown_method", "chat.sing", {}),
        ("channel_not_found", "chat.postMessage", here | {"channel": hidden.id}),
        ("not_in_channel", "chat.postMessage", here | {"channel": elsewhere.id}),
        ("thread_not_found", "chat.postMessage", here | {"thread_ts": "1.2"}),
        ("no_text", "chat.postMessage", here | {"text": " "}),
        ("msg_too_long", "chat.postMessage", {"channel": channel, "markdown_text": "x" * 12_001}),
        ("markdown_text_conflict", "chat.postMessage", here | {"markdown_text": "x"}),
        ("invalid_blocks", "chat.postMessage", here | {"blocks": [section("x")] * 51}),
        ("invalid_blocks", "chat.postMessage", here | {"blocks": [section("x" * 3_001)]}),
        ("invalid_blocks", "chat.postMessage", here | {"blocks": [button("x" * 2_001)]}),
        ("invalid_blocks", "chat.postMessage", here | {"blocks": [{"type": "markdown", "text": "x" * 12_001}]}),
        ("invalid_blocks_format", "chat.postMessage", here | {"blocks": "no blocks"}),
        ("msg_blocks_too_long", "chat.postMessage", here | {"blocks": [section("x" * 3_000)] * 5}),
        ("invalid_metadata_schema", "chat.postMessage", here | {"metadata": {"nonce": "n1"}}),
        ("msg_too_long", "chat.update", here | {"ts": asked, "text": "x" * 4_001}),
        ("cant_update_message", "chat.update", here | {"ts": asked}),
        ("cant_delete_message", "chat.delete", {"channel": channel, "ts": asked}),
        ("message_not_found", "chat.delete", {"channel": channel, "ts": "1.2"}),
        ("user_not_in_channel", "chat.postEphemeral", here | {"user": "U1"}),
        ("missing_recipient_team_id", "chat.startStream", {"channel": channel, "thread_ts": asked}),
        ("missing_recipient_user_id", "chat.startStream", here | {"thread_ts": asked, "recipient_team_id": "T1"}),
        ("thread_not_found", "conversations.replies", {"channel": channel, "ts": "1.2"}),
        ("user_not_found", "users.info", {"user": "U1"}),
        ("invalid_arguments", "chat.delete", {"channel": channel}),
        ("invalid_trigger_id", "views.open", {"trigger_id": "1", "view": FORM}),
    ]
    posted = str((await client.chat_postMessage(channel=channel, text="Ours", thread_ts=asked))["ts"])
    for code, method, arguments in cases:
        if method == "chat.update" and code == "msg_too_long":
            arguments["ts"] = posted
        assert (await refused(client.api_call(method, json=arguments)), method) == (code, method)
    await client.reactions_add(channel=channel, timestamp=asked, name="eyes")
    assert await refused(client.reactions_add(channel=channel, timestamp=asked, name="eyes")) == "already_reacted"
    place.server.lock(place.asked)
    assert await refused(client.reactions_add(channel=channel, timestamp=asked, name="wave")) == "thread_locked"
    reply = client.chat_postMessage(channel=channel, text="x", thread_ts=asked)
    assert await refused(reply) == "restricted_action_thread_locked"
    place.channel.refuses = "restricted_action_read_only_channel"
    assert await refused(client.chat_postMessage(**here)) == place.channel.refuses
    place.channel.is_archived = True
    assert await refused(client.chat_postMessage(**here)) == "is_archived"


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated")  # the client's own way to send secrets
async def test_tokens_end_and_are_renewed(place: Place) -> None:
    """A missing scope is named, an expired token can be renewed once, and a removed app may do nothing."""
    server, client, workspace = place.server, place.client, place.workspace
    workspace.scopes.discard("reactions:write")
    missing = await refusal_of(client.reactions_add(channel=place.channel.id, timestamp=place.asked.ts, name="eyes"))
    assert (missing["error"], missing["needed"]) == ("missing_scope", "reactions:write")
    assert await refused(client.auth_test(token="xoxb-wrong")) == "invalid_auth"

    server.rotates = True
    secrets: dict[str, Any] = {"client_id": server.client_id, "client_secret": server.client_secret}
    code = server.authorize(workspace, place.ada)
    installed = await client.oauth_v2_access(code=code, **secrets)
    assert await refused(client.oauth_v2_access(code=code, **secrets)) == "invalid_code"
    server.clock.advance(installed["expires_in"])
    assert await refused(client.auth_test(token=installed["access_token"])) == "token_expired"
    renewal: dict[str, Any] = {"grant_type": "refresh_token", "refresh_token": installed["refresh_token"], **secrets}
    renewed = await client.oauth_v2_access(**renewal)
    assert (await client.auth_test(token=renewed["access_token"]))["team_id"] == workspace.team_id
    assert await refused(client.oauth_v2_access(**renewal)) == "invalid_refresh_token"
    server.uninstall(workspace)
    assert await refused(client.auth_test(token=renewed["access_token"])) == "account_inactive"
    assert [one.name for one in server.outbox.deliveries][-2:] == ["tokens_revoked", "app_uninstalled"]


async def test_tiers_are_counted_where_a_test_turns_them_on(place: Place) -> None:
    """The twenty-first stream of a minute is refused, with the time to wait, in one workspace alone."""
    server = place.server
    server.clock.freeze()
    for _ in range(21):
        await start(place)
    server.limits.on = True
    for _ in range(20):
        await start(place)
    limited = await refusal_of(start(place))
    assert (limited.status_code, limited["error"]) == (429, "ratelimited")
    assert 0 < int(limited.headers["Retry-After"]) <= 60
    server.clock.advance(60)
    await start(place)
    posts = [place.client.chat_postMessage(channel=place.channel.id, text="x") for _ in range(5)]
    assert [await refused(post) if number == 4 else bool(await post) for number, post in enumerate(posts)] == [
        *[True] * 4,
        "ratelimited",
    ]
    assert [one.method for one in server.limits.refused] == ["chat.startStream", "chat.postMessage"]


async def test_streams_end_by_age_by_hand_and_by_being_stopped(place: Place) -> None:
    """Each end has its own code; a message that streams cannot be updated, and one whose stream has ended can."""
    server, client, channel = place.server, place.client, place.channel.id
    dead, stopped, over = await start(place), await start(place), await start(place)

    def append(ts: str) -> Awaitable[Any]:
        return client.chat_appendStream(channel=channel, ts=ts, markdown_text="x")

    assert await refused(client.chat_update(channel=channel, ts=dead, text="x")) == "streaming_state_conflict"
    await client.chat_stopStream(channel=channel, ts=over)
    assert await refused(append(over)) == "message_not_in_streaming_state"
    session = client.agents_sessions_setStatus(channel_id=channel, thread_ts=place.asked.ts, status="processing")
    assert "warning" not in await session
    delivery = server.stop(place.ada, place.asked)
    assert delivery.payload["event"]["streaming_message_ts"] == [dead, stopped]
    assert await refused(append(stopped)) == "stopped_by_user"
    await client.chat_stopStream(channel=channel, ts=stopped, session_status="active")
    assert server.platform.sessions[channel, place.asked.ts].history == ["processing", "active"]
    dead = await start(place)
    server.clock.advance(300)
    assert await refused(append(dead)) == "message_not_in_streaming_state"
    assert await refused(client.chat_stopStream(channel=channel, ts=dead)) == "message_not_in_streaming_state"
    await client.chat_update(channel=channel, ts=dead, text="The whole answer")
    server.subscriptions.discard("agent_session_stopped")
    warned = await client.agents_sessions_setStatus(
        channel_id=channel, thread_ts=place.asked.ts, status="processing", title="Robots"
    )
    assert warned["warning"] == "missing_agent_session_stopped_event_subscription"


async def test_a_call_whose_answer_was_lost_was_carried_out(place: Place) -> None:
    """The client hears of a broken connection, and what it posted stands there."""
    place.server.faults.add("chat.postMessage", Lost())
    place.client.retry_handlers = []
    with pytest.raises((aiohttp.ClientError, OSError)):
        await place.client.chat_postMessage(channel=place.channel.id, text="Once")
    assert [one.text for one in place.server.messages(place.channel, by=place.workspace.bot)] == ["Once"]


async def test_the_app_hears_what_people_write(place: Place) -> None:
    """A mention is two events of one message, an edit mentions again, previews are changes, and deletions name both."""
    server, app = place.server, app_of(place.server, place.client)
    heard: list[dict[str, Any]] = []
    bot = place.workspace.bot

    async def hear(event: dict[str, Any]) -> None:
        heard.append(event)

    app.event("app_mention")(hear)
    app.event("message")(hear)
    async with by_sockets(server, app):
        server.platform.mention_first = False
        message = server.post_as(place.ada, place.channel, f"{server.mention(bot)} a &lt; b?")
        server.post_as(place.ada, server.direct(place.workspace, place.ada), "Between us", place.asked.ts)
        server.edit_as(place.ada, message, f"{server.mention(bot)} a &gt; b?")
        server.unfurl(message, "A page")
        server.delete_as(place.ada, message)
        await server.until(lambda: len(heard) == 7)
        assert all([not await one.acknowledged() for one in message.deliveries])
    kinds = [(one["type"], one.get("subtype"), one.get("channel_type"), one["ts"] == message.ts) for one in heard]
    assert kinds == [
        ("message", None, "channel", True),
        ("app_mention", None, None, True),
        ("message", None, "im", False),
        ("message", "message_changed", "channel", False),
        ("app_mention", None, None, True),
        ("message", "message_changed", "channel", False),
        ("message", "message_deleted", "channel", False),
    ]
    assert heard[0]["blocks"][0]["elements"][0]["elements"] == [
        {"type": "user", "user_id": bot.id},
        {"type": "text", "text": " a < b?"},
    ]
    assert (heard[4]["text"], "edited" in heard[1], heard[4]["edited"]["user"]) == (
        f"{server.mention(bot)} a &gt; b?",
        False,
        place.ada.id,
    )
    assert heard[5]["message"]["text"] == heard[5]["previous_message"]["text"]
    assert (heard[6]["deleted_ts"], heard[6]["previous_message"]["user"]) == (message.ts, place.ada.id)


async def test_what_is_not_acknowledged_comes_again(place: Place) -> None:
    """An event that failed, one that nobody listens to, and one that came while nobody was there; with its number."""
    server, app = place.server, app_of(place.server, place.client)
    retries: list[list[str]] = []

    @app.event("app_mention")
    async def hear(request: AsyncBoltRequest) -> None:
        retries.append(list(request.headers["x-slack-retry-num"]))
        if len(retries) < 2:
            raise ConnectionError

    async with by_sockets(server, app, 2):
        mention = server.post_as(place.ada, place.channel, f"{server.mention(place.workspace.bot)} hello")
        await server.until(lambda: retries)
        (again,) = await server.redeliver(mention.deliveries[0])
        await again.acknowledged()
        assert retries == [["0"], ["1"]]
        unheard = server.post_as(place.ada, place.channel, "to nobody").deliveries[0]
        assert {one.id for one in await server.redeliver()} >= {unheard.id, place.asked.deliveries[0].id}
        server.refresh()
        await server.until(lambda: len(server.sockets.arrivals) == 3 and len(server.sockets.connected) == 2)
        server.sockets.drop()
        assert not server.sockets.connected
        late = server.post_as(place.ada, place.channel, f"{server.mention(place.workspace.bot)} again")
        assert late.deliveries[0].attempts == []


async def check(ack: Callable[..., Awaitable[None]], view: dict[str, Any]) -> None:
    """Accept a form that says why."""
    words = view["state"]["values"]["reason"]["words"]["value"]
    await (ack() if words else ack(response_action="errors", errors={"reason": "?"}))


async def test_people_use_commands_shortcuts_buttons_and_forms(place: Place) -> None:
    """Each comes once with all that it is about, and with a trigger that opens one form, soon."""
    server, app, channel = place.server, app_of(place.server, place.client), place.channel
    heard: list[dict[str, Any]] = []

    async def take(ack: Callable[..., Awaitable[None]], body: dict[str, Any]) -> None:
        heard.append(body)
        await ack()

    app.command("/footnote")(take)
    app.shortcut("show")(take)
    app.action("vote")(take)
    app.view("why")(check)
    async with by_sockets(server, app):
        await server.slash(place.ada, channel, "/footnote", "ask What?").acknowledged()
        await server.shortcut(place.ada, channel, place.asked, "show").acknowledged()
        sent = await place.client.chat_postMessage(channel=channel.id, text="Good?", blocks=[VOTE])
        await server.press(place.ada, server.messages(channel)[-1], "vote", "down").acknowledged()
        slash, shortcut, press = heard
        said = (slash["text"], shortcut["message"]["ts"], press["actions"][0]["value"], press["message"]["ts"])
        assert said == ("ask What?", place.asked.ts, "down", sent["ts"])
        once, late = press["trigger_id"], slash["trigger_id"]
        await place.client.views_open(trigger_id=once, view=FORM)
        assert await refused(place.client.views_open(trigger_id=once, view=FORM)) == "exchanged_trigger_id"
        server.clock.advance(4)
        assert await refused(place.client.views_open(trigger_id=late, view=FORM)) == "expired_trigger_id"
        form = server.view_of(place.ada)
        assert form is not None
        said = await server.submit(place.ada, form, {"words": ""}).acknowledged()
        assert (said["response_action"], form.is_open) == ("errors", True)
        server.submit(place.ada, form, {"words": "too long"})
        await server.until(lambda: not form.is_open)


async def test_interactions_are_answered_at_an_address_that_ends(place: Place) -> None:
    """Five answers within half an hour, which one person sees, and of which each can replace the first."""
    server, channel = place.server, place.channel
    url = server.slash(place.ada, channel, "/footnote").payload["response_url"]
    late = server.slash(place.ada, channel, "/footnote").payload["response_url"]
    answers = [{"text": "One"}, {"text": "Two", "replace_original": True}, *[{"text": "More"}] * 4]
    async with aiohttp.ClientSession() as session:
        statuses = [(await session.post(url, json=one)).status for one in answers]
        server.clock.advance(1801)
        statuses.append((await session.post(late, json={"text": "Late"})).status)
    assert statuses == [200, 200, 200, 200, 200, 404, 404]
    private = [(one.text, one.seen_by) for one in server.messages(channel) if one.ephemeral]
    assert private == [(text, place.ada.id) for text in ("Two", "More", "More", "More")]
    assert [one.error for one in server.requests_to("response_url")][-2:] == ["used_url", "expired_url"]


async def test_requests_over_http_are_signed_and_repeated(place: Place) -> None:
    """The app's address is proved, stale signatures are refused, and repetitions carry their number and the reason."""
    server, app = place.server, app_of(place.server, place.client)
    seen: list[tuple[list[str], list[str]]] = []

    @app.event("app_mention")
    async def hear(request: AsyncBoltRequest) -> None:
        headers = request.headers
        seen.append((list(headers.get("x-slack-retry-num", ())), list(headers.get("x-slack-retry-reason", ()))))
        if len(seen) < 2:
            raise ConnectionError

    async with by_requests(server, app):
        assert await server.webhooks.verify() == {"challenge": "prove-it"}
        mention = server.post_as(place.ada, place.channel, f"{server.mention(place.workspace.bot)} hello").deliveries[0]
        await server.until(lambda: mention.statuses)
        await server.redeliver(mention)
        await mention.acknowledged()
        assert (mention.statuses, seen) == ([500, 200], [([], []), (["1"], ["http_timeout"])])
        assert await server.webhooks.replay(mention) == 200
        server.webhooks.skew = -600
        stale = server.post_as(place.ada, place.channel, f"{server.mention(place.workspace.bot)} late").deliveries[0]
        await server.until(lambda: stale.statuses)
        assert stale.statuses == [401]


async def test_organisations_strangers_and_guests_look_as_they_do(place: Place) -> None:
    """One token serves the workspaces of an organisation, and people of another team are seen where they are met."""
    server, client = place.server, place.client
    first = server.add_workspace("East", enterprise_id="E0ORG", org_wide=True)
    second = server.add_workspace("West", enterprise_id="E0ORG", org_wide=True)
    member = server.add_member(second, "grace")
    there = server.add_channel(second)
    said = server.post_as(member, there, "Hello").deliveries[0].payload
    assert (first.token, said["team_id"], said["enterprise_id"]) == (second.token, second.team_id, "E0ORG")
    (authorization,) = said["authorizations"]
    assert (authorization["team_id"], authorization["is_enterprise_install"]) == (second.team_id, True)
    tested = await client.auth_test(token=first.token)
    assert (tested["team_id"], tested["is_enterprise_install"]) == ("E0ORG", True)

    guest = server.add_member(place.workspace, "guest", is_restricted=True)
    partner = server.add_member(place.workspace, "partner", team_id="T0ELSE")
    asked = server.post_as(partner, place.channel, "May I?").deliveries[0].payload
    assert (asked["is_ext_shared_channel"], asked["event"]["user_team"], asked["team_id"]) == (
        True,
        "T0ELSE",
        place.workspace.team_id,
    )
    seen = [(await client.users_info(user=user.id))["user"] for user in (guest, partner)]
    assert [(one["is_restricted"], one["team_id"]) for one in seen] == [
        (True, place.workspace.team_id),
        (False, "T0ELSE"),
    ]
    assert await refused(client.users_info(user=member.id)) == "user_not_visible"
