"""The server of these tests refuses what the real one refuses, so that a wrong request cannot pass unseen."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest

from tests.adapters.discord.conftest import Place
from tests.servers.discord import Channel, DiscordServer, Message, Permission, Reset
from tests.servers.discord.posting import Marks, create
from tests.servers.discord.session import ACK, HEARTBEAT, HELLO, IDENTIFY, INVALID, RESUME

GUILDS = 1


class Requests:
    """Sends requests as they are, with the bot's token."""

    def __init__(self, session: aiohttp.ClientSession, server: DiscordServer) -> None:
        self._session = session
        self._server = server

    async def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Give the status and the answer, which is a refusal's code where it has one."""
        async with self._session.request(method, f"{self._server.api_url}{path}", json=body) as response:
            answer: Any = await response.json() if response.status != 204 else None
            return response.status, answer["code"] if response.status >= 400 and "code" in answer else answer


@pytest.fixture
async def ask(server: DiscordServer) -> AsyncIterator[Requests]:
    """The way to send a request; messages are not counted."""
    server.limits.routes.clear()
    async with aiohttp.ClientSession(headers={"Authorization": f"Bot {server.token}"}) as session:
        yield Requests(session, server)


def posted(server: DiscordServer, channel: Channel, text: str = "x") -> Message:
    """Give a message of the bot's."""
    return create(server.platform, channel, {"content": text}, Marks(server.bot.id))


def row(*ids: str, label: str = "x") -> dict[str, Any]:
    """Give a row of buttons."""
    return {
        "type": 1,
        "components": [{"type": 2, "style": 1, "label": label, "custom_id": custom_id} for custom_id in ids],
    }


EMBED = {"title": "t" * 100, "description": "d" * 2000}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"content": "x" * 2001}, 50035),
        ({"content": "  "}, 50006),
        ({"content": "x", "nonce": "n" * 26}, 50035),
        ({"content": "x", "embeds": [{"title": "t"}] * 11}, 50035),
        ({"embeds": [EMBED] * 3}, 50035),
        ({"embeds": [{"title": "t" * 257}]}, 50035),
        ({"content": "x", "components": [row(str(number)) for number in range(6)]}, 50035),
        ({"content": "x", "components": [row(*"abcdef")]}, 50035),
        ({"content": "x", "components": [row("a", "a")]}, 50035),
        ({"content": "x", "components": [row("a" * 101)]}, 50035),
        ({"content": "x", "components": [row("a", label="l" * 81)]}, 50035),
        ({"content": "x", "components": [{"type": 2, "style": 1, "custom_id": "a"}]}, 50035),
        ({"content": "x", "flags": 1 << 15, "components": [{"type": 10, "content": "y"}]}, 50035),
        ({"flags": 1 << 15, "components": [{"type": 10, "content": "y" * 4001}]}, 50035),
        ({"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}}, 50035),
        ({"content": "x", "allowed_mentions": {"parse": ["all"]}}, 50035),
        ({"content": "x", "message_reference": {"message_id": "1"}}, 50035),
    ],
)
async def test_a_message_beyond_a_limit_is_refused(
    server: DiscordServer, place: Place, ask: Requests, body: dict[str, Any], code: int
) -> None:
    """Nothing of it is posted."""
    assert await ask("POST", f"/channels/{place.channel.id}/messages", body) == (400, code)
    assert server.platform.messages_in(place.channel) == []


async def test_what_is_not_there_is_unknown(server: DiscordServer, place: Place, ask: Requests) -> None:
    """Channels, messages, deleted ones too, and addresses."""
    gone = posted(server, place.channel)
    server.delete_as(place.ada, gone)
    assert await ask("POST", "/channels/1/messages", {"content": "x"}) == (404, 10003)
    assert await ask("PATCH", f"/channels/{place.channel.id}/messages/{gone.id}", {"content": "y"}) == (404, 10008)
    assert await ask("GET", f"/channels/{place.channel.id}/messages/1") == (404, 10008)
    assert await ask("GET", "/users/1") == (404, 10013)
    assert await ask("GET", "/nothing") == (404, 0)


async def test_an_archived_thread_takes_nothing_but_a_message(
    server: DiscordServer, place: Place, ask: Requests
) -> None:
    """Edits, reactions and new names are refused; a message opens it again, unless it is locked."""
    thread = server.thread_as(server.bot, place.channel)
    message = posted(server, thread)
    path = f"/channels/{thread.id}"
    server.change_thread(thread, archived=True)
    assert await ask("PATCH", f"{path}/messages/{message.id}", {"content": "y"}) == (400, 50083)
    assert await ask("PUT", f"{path}/messages/{message.id}/reactions/{quote('👍')}/@me") == (400, 50083)
    assert await ask("PATCH", path, {"name": "new"}) == (400, 50083)
    assert await ask("DELETE", f"{path}/messages/{message.id}") == (400, 50083)
    assert (await ask("POST", f"{path}/messages", {"content": "z"}))[0] == 200
    assert thread.archived is False
    assert (await ask("PATCH", path, {"name": "new", "archived": True}))[0] == 200
    assert thread.names == ["thread", "new"]
    server.change_thread(thread, archived=True, locked=True)
    assert await ask("POST", f"{path}/messages", {"content": "z"}) == (400, 160005)
    assert await ask("PATCH", path, {"archived": False}) == (403, 50013)


async def test_forums_hold_posts_only(server: DiscordServer, place: Place, ask: Requests) -> None:
    """Each with its first message, and with a tag where one is required."""
    forum = server.add_channel(place.guild, "help", forum=True, tags=["question"])
    forum.requires_tag = True
    path = f"/channels/{forum.id}"
    assert await ask("POST", f"{path}/messages", {"content": "x"}) == (400, 50008)
    assert await ask("POST", f"{path}/threads", {"name": "n", "message": {"content": "x"}}) == (400, 40067)
    body = {"name": "n", "message": {"content": "x"}, "applied_tags": [str(tag) for tag in forum.tags]}
    status, made = await ask("POST", f"{path}/threads", body)
    assert (status, made["id"], made["message"]["content"]) == (201, made["message"]["id"], "x")


async def test_a_tag_for_moderators_takes_the_right_to_manage_threads(
    server: DiscordServer, place: Place, ask: Requests
) -> None:
    """Also on a post of one's own; others go with it or without, and posts of others take the right for any tag."""
    forum = server.add_channel(place.guild, "help", forum=True, tags=["bug", "answered"])
    bug, answered = map(str, forum.tags)
    forum.moderated_tags = {int(answered)}
    _, own = await ask("POST", f"/channels/{forum.id}/threads", {"name": "n", "message": {"content": "x"}})
    others = server.post_in_forum_as(place.ada, forum, "n", "x")[0]
    paths = f"/channels/{own['id']}", f"/channels/{others.id}"
    _, shown = await ask("GET", f"/channels/{forum.id}")
    assert [tag["moderated"] for tag in shown["available_tags"]] == [False, True]
    assert (await ask("PATCH", paths[0], {"applied_tags": [bug]}))[0] == 200
    assert await ask("PATCH", paths[0], {"applied_tags": [bug, answered]}) == (403, 50013)
    assert await ask("PATCH", paths[1], {"applied_tags": [bug]}) == (403, 50013)
    server.allow(forum, Permission.MANAGE_THREADS)
    assert (await ask("PATCH", paths[0], {"applied_tags": [bug, answered]}))[0] == 200
    server.deny(forum, Permission.MANAGE_THREADS)
    assert (await ask("PATCH", paths[0], {"applied_tags": [answered]}))[0] == 200
    assert await ask("PATCH", paths[0], {"applied_tags": []}) == (403, 50013)


async def test_the_bot_may_do_what_its_permissions_say(server: DiscordServer, place: Place, ask: Requests) -> None:
    """Opening threads, reacting, reading back and replying each need their own."""
    path = f"/channels/{place.channel.id}/messages"
    message = server.post_as(place.ada, place.channel, "x")
    denied = Permission.CREATE_PUBLIC_THREADS | Permission.ADD_REACTIONS | Permission.READ_MESSAGE_HISTORY
    server.deny(place.channel, denied)
    assert await ask("POST", f"{path}/{message.id}/threads", {"name": "n"}) == (403, 50013)
    assert await ask("PUT", f"{path}/{message.id}/reactions/{quote('👍')}/@me") == (403, 50013)
    assert await ask("GET", path) == (200, [])
    reply = {"content": "x", "message_reference": {"message_id": str(message.id)}}
    assert await ask("POST", path, reply) == (400, 160002)
    assert await ask("DELETE", f"{path}/{message.id}") == (403, 50013)
    assert await ask("PATCH", f"{path}/{message.id}", {"content": "y"}) == (403, 50005)
    server.allow(place.channel, denied)
    assert (await ask("POST", path, reply))[0] == 200


async def test_a_message_takes_twenty_reactions(server: DiscordServer, place: Place, ask: Requests) -> None:
    """The twenty-first is refused, what is no emoji too; the same one again is nothing new."""
    message = posted(server, place.channel)
    path = f"/channels/{place.channel.id}/messages/{message.id}/reactions"
    emojis = [chr(0x1F600 + number) for number in range(21)]
    statuses = [await ask("PUT", f"{path}/{quote(emoji)}/@me") for emoji in (*emojis[:20], *emojis)]
    assert statuses == [(204, None)] * 40 + [(400, 30010)]
    assert await ask("PUT", f"{path}/warning/@me") == (400, 10014)
    assert await ask("DELETE", f"{path}/{quote(emojis[0])}/@me") == (204, None)
    assert list(message.reactions) == emojis[1:20]


async def test_an_hour_old_message_is_edited_no_more(server: DiscordServer, place: Place, ask: Requests) -> None:
    """Unless the platform is told to allow some."""
    message = posted(server, place.channel)
    path = f"/channels/{place.channel.id}/messages/{message.id}"
    server.clock.advance(3601)
    assert await ask("PATCH", path, {"content": "y"}) == (429, 30046)
    server.platform.late_edits = 1
    assert (await ask("PATCH", path, {"content": "y"}))[0] == 200
    assert await ask("PATCH", path, {"content": "z"}) == (429, 30046)


async def test_history_is_read_from_any_place(server: DiscordServer, place: Place, ask: Requests) -> None:
    """Newest first, whatever is asked for; direct messages to people who want none are refused."""
    ids = [str(posted(server, place.channel).id) for _ in range(6)]
    path = f"/channels/{place.channel.id}/messages"

    async def read(query: str) -> list[int]:
        _, found = await ask("GET", f"{path}?{query}")
        return [ids.index(message["id"]) for message in found]

    assert await read("limit=2") == [5, 4]
    assert await read(f"limit=2&before={ids[3]}") == [2, 1]
    assert await read(f"limit=2&after={ids[1]}") == [3, 2]
    assert await read(f"limit=3&around={ids[2]}") == [3, 2, 1]
    assert await ask("GET", f"{path}?limit=101") == (400, 50035)


async def test_people_may_refuse_direct_messages(server: DiscordServer, place: Place, ask: Requests) -> None:
    """The channel is given, but nothing can be posted in it."""
    path = f"/channels/{server.dm(place.ada).id}/messages"
    assert (await ask("POST", path, {"content": "x"}))[0] == 200
    place.ada.refuses_dms = True
    assert await ask("POST", path, {"content": "x"}) == (403, 50007)


async def test_commands_are_counted_and_checked(server: DiscordServer, ask: Requests) -> None:
    """Fifteen menus at most, names in small letters, and ids that stay when the set is replaced."""
    path = f"/applications/{server.bot.id}/commands"
    slash = {"name": "ask", "description": "Ask"}
    assert await ask("PUT", path, [{"name": f"Menu {number}", "type": 3} for number in range(16)]) == (400, 30032)
    assert await ask("PUT", path, [{**slash, "name": "Ask"}]) == (400, 50035)
    assert await ask("PUT", path, [{**slash, "description": ""}]) == (400, 50035)
    assert await ask("PUT", path, [slash, slash]) == (400, 50035)
    first, second = [(await ask("PUT", path, [slash]))[1] for _ in range(2)]
    assert [command["id"] for command in first] == [command["id"] for command in second]
    assert (await ask("GET", path))[1] == second


async def test_fifty_requests_a_second_are_enough(server: DiscordServer, ask: Requests) -> None:
    """One more is refused for every route, and says that it is."""
    server.limits.per_second = 2
    answers = [await ask("GET", "/users/@me") for _ in range(3)]
    assert [status for status, _ in answers] == [200, 200, 429]
    assert answers[2][1]["global"] is True
    server.clock.advance(1)
    assert (await ask("GET", "/users/@me"))[0] == 200


async def test_every_request_is_on_record(server: DiscordServer, place: Place, ask: Requests) -> None:
    """With its route, its body and how it was answered; a reset one was not."""
    route = "POST /channels/{channel}/messages"
    server.faults.add(route, Reset())
    with pytest.raises(aiohttp.ClientError):
        await ask("POST", f"/channels/{place.channel.id}/messages", {"content": "x"})
    await ask("POST", f"/channels/{place.channel.id}/messages", {"content": "y"})
    found = [(handled.status, handled.received.body) for handled in server.requests_to(route)]
    assert found == [(None, {"content": "x"}), (200, {"content": "y"})]


@contextlib.asynccontextmanager
async def gateway(server: DiscordServer, version: int = 10) -> AsyncGenerator[aiohttp.ClientWebSocketResponse]:
    """Open a websocket that has been greeted."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{server.gateway_url}?v={version}&encoding=json") as socket,
    ):
        assert (await socket.receive_json())["op"] == HELLO
        yield socket


def identify(server: DiscordServer, **changes: Any) -> dict[str, Any]:
    """Give the frame that identifies the bot."""
    return {"op": IDENTIFY, "d": {"token": server.token, "intents": GUILDS, "properties": {}, **changes}}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"token": "wrong"}, 4004),
        ({"shard": [2, 2]}, 4010),
        ({"intents": 1 << 40}, 4013),
        ({"intents": 1 << 1}, 4014),
    ],
)
async def test_who_identifies_wrongly_is_turned_away(server: DiscordServer, changes: dict[str, Any], code: int) -> None:
    """The close code says why."""
    async with gateway(server) as socket:
        await socket.send_json(identify(server, **changes))
        await socket.receive()
        assert socket.close_code == code


@pytest.mark.parametrize(("frame", "code"), [('{"op": 99}', 4001), ("no json", 4002), ('{"op": 8, "d": {}}', 4003)])
async def test_frames_that_mean_nothing_end_the_connection(server: DiscordServer, frame: str, code: int) -> None:
    """The close code says why."""
    async with gateway(server) as socket:
        await socket.send_str(frame)
        await socket.receive()
        assert socket.close_code == code


async def test_a_session_is_kept_alive_and_resumed_by_its_number(server: DiscordServer, place: Place) -> None:
    """What came after the number is told again, then that it has resumed; an unknown session is invalid."""
    async with gateway(server) as socket:
        await socket.send_json(identify(server))
        ready, guild = await socket.receive_json(), await socket.receive_json()
        await socket.send_json({"op": HEARTBEAT, "d": guild["s"]})
        assert (await socket.receive_json())["op"] == ACK
        server.gateway.drop()
    async with gateway(server) as socket:
        data = {"token": server.token, "session_id": ready["d"]["session_id"], "seq": ready["s"]}
        await socket.send_json({"op": RESUME, "d": data})
        assert [(await socket.receive_json())["t"] for _ in range(2)] == ["GUILD_CREATE", "RESUMED"]
        await socket.send_json({"op": RESUME, "d": {**data, "session_id": "other"}})
        assert await socket.receive_json() == {"op": INVALID, "d": False}
    assert server.gateway.heartbeats == [2]


async def test_the_gateway_refuses_connections_when_told_to(server: DiscordServer) -> None:
    """While it does, requests are answered."""
    server.gateway.refusing = True
    with pytest.raises(aiohttp.ClientError):
        async with gateway(server):
            pass
    server.gateway.refusing = False
    async with gateway(server):
        pass
