"""The server of these tests is Discord to the real client, also when it misbehaves."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import aiohttp
import discord
import pytest
from discord.http import Route, handle_message_parameters

from adapters.discord.connection import reason_of, stay_connected
from adapters.retry import CONNECTING
from core.errors import Misconfigured
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.eager import EagerClient, client_of, online
from tests.servers.discord import DiscordServer, Lost, Permission, Reply
from tests.servers.discord.session import IDENTIFY, RESUME

CREATE = "POST /channels/{channel}/messages"


async def heard(client: EagerClient) -> str:
    """Give the text of the next message that the client hears."""
    async with asyncio.timeout(5):
        return (await client.messages.get()).content


async def used(client: EagerClient) -> discord.Interaction[Any]:
    """Give the next interaction that the client hears of."""
    async with asyncio.timeout(5):
        return await client.interactions.get()


async def test_the_client_logs_in_and_hears_what_people_write(server: DiscordServer, place: Place) -> None:
    """In a channel, in a thread, in a forum's post and in direct messages."""
    forum = server.add_channel(place.guild, "help", forum=True)
    async with online(server) as client:
        server.post_as(place.ada, place.channel, "What is a robot?", mentions=[server.bot])
        assert await heard(client) == f"{server.bot.mention} What is a robot?"
        server.post_as(place.ada, server.thread_as(place.ada, place.channel), "In a thread")
        assert await heard(client) == "In a thread"
        server.post_in_forum_as(place.ada, forum, "Robots", "In a post")
        assert await heard(client) == "In a post"
        server.post_as(place.ada, server.dm(place.ada), "Between us")
        assert await heard(client) == "Between us"
    (arrival,) = server.gateway.arrivals
    assert (arrival.op, arrival.shard, server.gateway.sessions) == (IDENTIFY, (0, 1), {})


@pytest.mark.promise("says-how-to-go-on")
async def test_without_the_intent_only_what_is_for_the_bot_can_be_read(server: DiscordServer, place: Place) -> None:
    """Mentions, direct messages and replies that ping have their text; the rest is blank, as are silent replies."""
    async with online(server, message_content=False) as client:
        ours = server.platform.messages[(await client.text_channel(place.channel.id).send("Ours")).id]
        server.post_as(place.ada, place.channel, "to nobody")
        server.post_as(place.ada, place.channel, "to the bot", mentions=[server.bot])
        server.post_as(place.ada, server.dm(place.ada), "between us")
        server.post_as(place.ada, place.channel, "a reply", reply_to=ours)
        server.post_as(place.ada, place.channel, "a silent reply", reply_to=ours, ping=False)

        texts = [await heard(client) for _ in range(5)]
        assert texts == ["", f"{server.bot.mention} to the bot", "between us", "a reply", ""]


@pytest.mark.promise("pings-nobody")
async def test_a_message_pings_nobody_unless_the_call_says_so(server: DiscordServer, place: Place) -> None:
    """The client's own default is given with every message; an edit that leaves it out is parsed with Discord's."""
    server.allow(place.channel, Permission.MENTION_EVERYONE)
    async with online(server) as client:
        sent = await client.text_channel(place.channel.id).send(f"Hello @everyone and {place.ada.mention}")
        message = server.platform.messages[sent.id]
        assert (message.allowed_mentions, bool(message.pings)) == ({"parse": []}, False)
        await client.http.edit_message(
            place.channel.id, message.id, params=handle_message_parameters(f"Edited {place.ada.mention}")
        )
        assert (message.edits[-1].allowed_mentions, message.edits[-1].pings.users) == (None, {place.ada.id})


async def test_an_edit_without_flags_shows_previews_again(server: DiscordServer, place: Place) -> None:
    """The library's own edit takes back what suppressed them; the state says which addresses would be shown."""
    async with online(server) as client:
        sent = await client.text_channel(place.channel.id).send("See https://a.example", suppress_embeds=True)
        message = server.platform.messages[sent.id]
        assert (message.suppresses_embeds, message.previews) == (True, [])
        await sent.edit(content="See https://a.example and <https://b.example>")
        assert (message.suppresses_embeds, message.previews) == (False, ["https://a.example"])
        await sent.edit(content="See https://a.example", suppress=True)
        assert message.previews == []


async def test_a_message_whose_answer_was_lost_is_posted_once(server: DiscordServer, place: Place) -> None:
    """The same nonce gives the message that was posted, for as long as the platform remembers it."""
    async with online(server) as client:
        channel = client.text_channel(place.channel.id)
        server.faults.add(CREATE, Lost())
        with pytest.raises((aiohttp.ClientError, OSError)):
            await channel.send("Once", nonce="q1")
        again = await channel.send("Once", nonce="q1")
        assert [message.id for message in server.platform.messages_in(place.channel)] == [again.id]
        server.clock.advance(600)
        await channel.send("Once", nonce="q1")
        assert len(server.platform.messages_in(place.channel)) == 2


async def test_a_thread_on_a_message_has_its_id_and_is_the_only_one(server: DiscordServer, place: Place) -> None:
    """What is posted there is there, and a second thread is refused with the code for it."""
    async with online(server) as client:
        asked = server.post_as(place.ada, place.channel, "What is a robot?")
        async with asyncio.timeout(5):
            message = await client.messages.get()
        thread = await message.create_thread(name="Robots", reason="a question")
        await thread.send("It acts.")
        (stored,) = server.platform.threads_in(place.channel)
        assert (stored.id, stored.name, stored.reason) == (asked.id, "Robots", "a question")
        assert [one.content for one in server.platform.messages_in(stored, by=server.bot)] == ["It acts."]
        with pytest.raises(discord.HTTPException) as refused:
            await message.create_thread(name="Again")
        assert (refused.value.status, refused.value.code) == (400, 160004)


async def test_a_bucket_that_is_empty_is_refused_until_it_is_full_again(server: DiscordServer, place: Place) -> None:
    """The client waits as long as it is told, whether the headers warned it or a refusal came first."""
    server.limits.set(CREATE, 2, 0.3)
    async with online(server) as client:
        channel = client.text_channel(place.channel.id)
        start = time.monotonic()
        for number in range(3):
            await channel.send(str(number))
        assert (time.monotonic() - start >= 0.3, server.limits.refused) == (True, [])
        server.limits.exhaust(CREATE, place.channel.id, 0.2)
        await channel.send("late")
        assert [(limited.route, limited.everywhere) for limited in server.limits.refused] == [(CREATE, False)]
    assert [message.content for message in server.platform.messages_in(place.channel)] == ["0", "1", "2", "late"]


@pytest.mark.promise("stays-connected")
async def test_what_was_missed_comes_once_after_a_dropped_connection(server: DiscordServer, place: Place) -> None:
    """The client resumes at the address that it was given, and hears what happened meanwhile, in order."""
    async with online(server) as client:
        server.post_as(place.ada, place.channel, "before")
        assert await heard(client) == "before"
        server.gateway.drop()
        await server.until(lambda: not server.gateway.connected)
        server.post_as(place.ada, place.channel, "meanwhile")
        server.post_as(place.ada, place.channel, "and more")
        assert [await heard(client), await heard(client)] == ["meanwhile", "and more"]
        await server.connected()
        server.post_as(place.ada, place.channel, "after")
        assert (await heard(client), client.messages.empty()) == ("after", True)
    assert [(one.op, one.path) for one in server.gateway.arrivals] == [(IDENTIFY, "/gateway/"), (RESUME, "/resume/")]


async def test_a_resumed_session_may_repeat_what_was_heard(server: DiscordServer, place: Place) -> None:
    """Told to, the server sends events again; the client passes them on."""
    server.gateway.repeats = 1
    async with online(server) as client:
        server.post_as(place.ada, place.channel, "twice")
        assert await heard(client) == "twice"
        server.gateway.ask_to_reconnect()
        assert await heard(client) == "twice"


@pytest.mark.promise("stays-connected")
async def test_an_invalid_session_begins_anew(server: DiscordServer, place: Place) -> None:
    """What happened between the two sessions is not told, but what comes after is."""
    async with online(server) as client:
        server.gateway.invalidate()
        server.post_as(place.ada, place.channel, "lost")
        await server.connected()
        server.post_as(place.ada, place.channel, "after")
        assert await heard(client) == "after"
    assert [(one.op, one.path) for one in server.gateway.arrivals] == 2 * [(IDENTIFY, "/gateway/")]


@pytest.mark.promise("shards")
async def test_shards_hear_of_their_own_guilds(server: DiscordServer) -> None:
    """Every guild is told to one shard, and every message is heard once."""
    guilds = [server.add_guild(f"guild {number}", id=(1000 + number) << 22) for number in range(4)]
    channels = [server.add_channel(guild) for guild in guilds]
    ada = server.add_member(guilds[0])
    async with online(server, shards=2) as client:
        shards = {guild.id: guild.shard_id for guild in client.guilds}
        for guild, channel in zip(guilds, channels, strict=True):
            server.platform.member(guild, ada)
            server.post_as(ada, channel, guild.name)
        texts = {await heard(client) for _ in guilds}
    assert shards == {guild.id: number % 2 for number, guild in enumerate(guilds)}
    assert texts == {guild.name for guild in guilds}


async def test_an_interaction_is_deferred_filled_and_followed_up(server: DiscordServer, place: Place) -> None:
    """A command that is registered can be used; the state tells how it was answered."""
    async with online(server) as client:
        tree = discord.app_commands.CommandTree(client)

        @tree.command(name="ask", description="Ask the documents")
        async def ask(interaction: discord.Interaction[Any], question: str) -> None:
            await interaction.response.defer(ephemeral=True)
            await interaction.edit_original_response(content=f"About {question}")
            await interaction.followup.send("More", ephemeral=True)

        assert [command.name for command in await tree.sync()] == [ask.name]
        used = server.slash(place.ada, place.channel, "ask", question="robots")
        await server.until(lambda: used.follow_ups, what="the follow-up")
        original = server.platform.messages[used.original_id or 0]
        assert (used.deferred, original.content, original.seen_by) == (True, "About robots", place.ada.id)
        assert (original.thinking, original.ephemeral) == (False, True)


async def test_buttons_open_forms_that_people_fill_in(server: DiscordServer, place: Place) -> None:
    """A press comes with its message, a form with what was written in it."""
    async with online(server) as client:
        view = discord.ui.View(timeout=None)
        view.add_item(discord.ui.Button(label="No", custom_id="vote:no"))
        sent = await client.text_channel(place.channel.id).send("Good?", view=view)
        pressed = server.press(place.ada, server.platform.messages[sent.id], "vote:no")
        press = await used(client)
        modal = discord.ui.Modal(title="Why?", custom_id="why")
        modal.add_item(discord.ui.TextInput(label="Reason", custom_id="reason"))
        await press.response.send_modal(modal)
        server.submit(place.ada, pressed, {"reason": "too long"})
        form = await used(client)
        await form.response.edit_message(content="Thanks", view=None)
    assert press.message is not None
    assert (press.message.content, form.data and form.data.get("custom_id")) == ("Good?", "why")
    assert (server.platform.messages[sent.id].content, server.platform.messages[sent.id].components) == ("Thanks", [])


async def test_an_interaction_is_answered_once_and_in_time(server: DiscordServer, place: Place) -> None:
    """After three seconds it is unknown, twice is once too often, and its token lives for fifteen minutes."""
    async with online(server) as client:
        view = discord.ui.View(timeout=None)
        view.add_item(discord.ui.Button(label="Yes", custom_id="yes"))
        sent = await client.text_channel(place.channel.id).send("Good?", view=view)
        message = server.platform.messages[sent.id]
        server.press(place.ada, message, "yes")
        late = await used(client)
        server.clock.advance(4)
        with pytest.raises(discord.NotFound) as unknown:
            await late.response.defer()
        server.press(place.ada, message, "yes")
        prompt = await used(client)
        await prompt.response.defer()
        with pytest.raises(discord.HTTPException) as twice:
            await client.http.request(
                Route("POST", f"/interactions/{prompt.id}/{prompt.token}/callback"), json={"type": 6}
            )
        server.clock.advance(16 * 60)
        with pytest.raises(discord.HTTPException) as dead:
            await prompt.followup.send("Too late")
    assert (unknown.value.code, twice.value.code, dead.value.code) == (10062, 40060, 50027)


@pytest.mark.promise("stays-connected")
async def test_the_first_connection_may_fail(server: DiscordServer, place: Place) -> None:
    """While nobody answers, new clients are tried; once one is connected it stays."""
    await server.down()
    waits = asyncio.Queue[float]()
    clients: list[EagerClient] = []

    def make() -> EagerClient:
        clients.append(client_of(server))
        return clients[-1]

    async def up_after_two(seconds: float) -> None:
        waits.put_nowait(seconds)
        if waits.qsize() == 2:
            await server.up()

    told = dict[int, str]()

    retries = replace(CONNECTING, sleep=up_after_two, told=told.__setitem__)
    running = asyncio.create_task(stay_connected(make, server.token, retries))
    await server.connected()
    server.post_as(place.ada, place.channel, "Hello")
    assert await heard(clients[-1]) == "Hello"
    await clients[-1].close()
    await running
    assert [waits.get_nowait(), waits.get_nowait(), len(clients)] == [1.0, 2.0, 3]
    assert told == {1: "network error", 2: "network error"}


@pytest.mark.promise("says-what-to-do")
async def test_only_the_operator_can_help_with_a_wrong_token(server: DiscordServer) -> None:
    """The sentence says where the right one is."""
    with pytest.raises(Misconfigured, match="token"):
        await stay_connected(lambda: client_of(server), "wrong")


@pytest.mark.promise("says-what-to-do")
async def test_only_the_operator_can_help_where_an_intent_is_off(server: DiscordServer) -> None:
    """The sentence says which switch it is."""
    server.platform.message_content = False
    with pytest.raises(Misconfigured, match="Message Content Intent"):
        await stay_connected(lambda: client_of(server), server.token)


async def test_a_gateway_that_closes_for_good_is_tried_with_a_new_client(server: DiscordServer, place: Place) -> None:
    """After it was connected, the first wait is a short one again; cancelled, the client says goodbye."""
    waits: list[float] = []
    clients: list[EagerClient] = []

    def make() -> EagerClient:
        clients.append(client_of(server))
        return clients[-1]

    async def noted(seconds: float) -> None:
        waits.append(seconds)

    running = asyncio.create_task(stay_connected(make, server.token, replace(CONNECTING, sleep=noted)))
    for number in range(1, 3):
        await server.until(lambda number=number: len(server.gateway.arrivals) == number)
        await clients[-1].wait_until_ready()
        server.gateway.close(4011)
    await server.until(lambda: len(server.gateway.arrivals) == 3)
    await clients[-1].wait_until_ready()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await server.until(lambda: not server.gateway.sessions, what="the goodbye")
    assert waits == [1.0, 1.0]


async def test_a_mistake_of_ours_is_not_tried_again(server: DiscordServer) -> None:
    """It is raised as it is, and names of failures hold nothing of theirs."""

    class Broken(EagerClient):
        async def setup_hook(self) -> None:
            raise ZeroDivisionError

    def make() -> Broken:
        client_of(server)
        return Broken(intents=discord.Intents.none())

    with pytest.raises(ZeroDivisionError):
        await stay_connected(make, server.token)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (discord.RateLimited(40), "rate limit"),
        (TimeoutError("secret"), "time-out"),
        (discord.GatewayNotFound(), "network error"),
        (aiohttp.ClientError("secret"), "network error"),
        (ConnectionResetError("secret"), "network error"),
        (ValueError("secret"), None),
    ],
)
def test_failures_have_a_word_or_two(error: Exception, reason: str | None) -> None:
    """None of them is quoted."""
    assert reason_of(error) == reason


async def test_a_platform_that_is_overloaded_at_login_is_tried_again(server: DiscordServer) -> None:
    """The status says why."""
    server.faults.add("GET /users/@me", Reply(503))
    told = dict[int, str]()
    client: list[EagerClient] = []

    async def at_once(seconds: float) -> None:
        """Wait for nothing."""

    def make() -> EagerClient:
        client.append(client_of(server))
        return client[-1]

    retries = replace(CONNECTING, sleep=at_once, told=told.__setitem__)
    running = asyncio.create_task(stay_connected(make, server.token, retries))
    await server.connected()
    await client[-1].close()
    await running
    assert told == {1: "HTTP 503"}


async def test_permissions_are_enforced_with_the_true_codes(server: DiscordServer, place: Place) -> None:
    """What the bot does not see is another refusal than what it may not do there."""
    async with online(server) as client:
        channel = client.text_channel(place.channel.id)
        server.deny(place.channel, Permission.SEND_MESSAGES)
        with pytest.raises(discord.Forbidden) as silent:
            await channel.send("x")
        server.deny(place.channel, Permission.VIEW_CHANNEL)
        with pytest.raises(discord.Forbidden) as blind:
            await channel.send("x")
        server.kick_bot(place.guild)
        with pytest.raises(discord.Forbidden) as gone:
            await channel.send("x")
    assert (silent.value.code, blind.value.code, gone.value.code) == (50013, 50001, 50001)
    assert server.limits.invalid == 3
