"""`footnote run`: the bot as a process, started, asked and stopped as its operator would."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import ClientSession

from adapters.discord.connection import MESSAGE_CONTENT_DENIED, REFUSAL
from bot.roles import NOT_SHARED, NOTHING_TO_RUN
from tests.fixtures.commands import Footnote
from tests.fixtures.nursery import Running
from tests.pages import page
from tests.servers.discord import Channel, DiscordServer, Message, Permission, Reply, User
from tests.servers.valkey import Node, free_port
from tests.servers.valkey import running as served

LEAST = (
    Permission.VIEW_CHANNEL
    | Permission.READ_MESSAGE_HISTORY
    | Permission.SEND_MESSAGES
    | Permission.CREATE_PUBLIC_THREADS
    | Permission.SEND_MESSAGES_IN_THREADS
    | Permission.ADD_REACTIONS
)
PATIENCE = 60.0  # seconds for a process to start, to answer, or to end, also on a busy machine


@dataclass
class Process:
    """A bot that runs, and a guild in which somebody asks."""

    running: Running
    server: DiscordServer
    channel: Channel
    ada: User

    def ask(self, text: str) -> Message:
        """Mention the bot."""
        return self.server.post_as(self.ada, self.channel, text, mentions=[self.server.bot])

    async def sees(self, asked: Message, words: str) -> None:
        """Wait for an answer with these words in the question's thread."""
        await self.server.until(lambda: words in said(self.server, asked), what=words, seconds=PATIENCE)

    async def tells(self, words: str, *, seconds: float = PATIENCE) -> str:
        """Wait for a line with these words on standard error; give all that was said up to it."""
        assert self.running.stderr is not None
        told = ""
        async with asyncio.timeout(seconds):
            while words not in told:
                told += (await self.running.stderr.readline()).decode()
        return told

    async def ended(self) -> tuple[int | None, str]:
        """Wait for the end; give the exit code and what was said on standard error."""
        return await ended(self.running)


async def ended(running: Running) -> tuple[int | None, str]:
    """Wait for the end of a process; give the exit code and what was said on standard error."""
    _, err = await asyncio.wait_for(running.communicate(), PATIENCE)
    return running.returncode, err.decode()


async def run_to_its_end(footnote: Footnote, **settings: str) -> tuple[int | None, str]:
    """Start a bot that ends by itself, without a traceback; give the exit code and what was said."""
    code, err = await ended(await footnote.start("run", **settings))
    assert "Traceback" not in err
    return code, err


def said(server: DiscordServer, asked: Message) -> str:
    """Give what the bot says in the thread of a question."""
    messages = server.platform.messages.values()
    return "\n".join(
        one.content
        for one in messages
        if one.channel_id == asked.id and one.author_id == server.bot.id and not one.deleted
    )


def environment(server: DiscordServer, **more: str) -> dict[str, str]:
    """Give the settings of a bot on this server."""
    return {
        "DISCORD_TOKEN": server.token,
        "DISCORD_API_URL": server.api_url,
        "DISCORD_GATEWAY_URL": server.gateway_url,
        "DISCORD_MESSAGE_CONTENT": "true",
        **more,
    }


@contextlib.asynccontextmanager
async def started(footnote: Footnote, server: DiscordServer, **more: str) -> AsyncGenerator[Process]:
    """Start the bot in a guild, and wait until it is there."""
    guild = server.add_guild()
    channel, ada = server.add_channel(guild), server.add_member(guild)
    bot = await footnote.start("run", **environment(server, **more))
    try:
        await server.connected(seconds=PATIENCE)
        yield Process(bot, server, channel, ada)
    finally:
        with contextlib.suppress(ProcessLookupError):
            bot.kill()
        await bot.wait()


@pytest.fixture(name="server")
async def _server() -> AsyncGenerator[DiscordServer]:
    """Run Discord."""
    async with DiscordServer() as server:
        yield server


@pytest.mark.promise("orderly-stop")
@pytest.mark.promise("tells-how-it-is")
async def test_the_bot_answers_until_it_is_stopped(footnote: Footnote, server: DiscordServer) -> None:
    """From the documents, in a thread, with a link; then it goes in good order, and says nothing that nobody needs.

    All the while it says how it is, and what was asked and answered is counted.
    """
    port = free_port()
    async with started(replace(footnote, is_forked=False), server, FOOTNOTE_HEALTH_PORT=str(port)) as bot:
        asked = bot.ask("What do penguins eat?")
        await bot.sees(asked, "(<https://zoo.example/birds/penguins#food>)")
        await bot.tells("Discord: connected as Footnote#0000 in Robots. Ctrl-C stops.")
        lives, ready, figures = [await page(port, path) for path in ("/live", "/ready", "/metrics")]
        bot.running.send_signal(signal.SIGTERM)
        code, err = await bot.ended()

    assert (lives, ready) == ((200, ["ok"]), (200, ["ok"]))
    assert {
        "footnote_inbox_up 1.0",
        'footnote_questions_total{platform="discord"} 1.0',
        'footnote_answer_stage_seconds_count{stage="waiting"} 1.0',
        'footnote_answer_stage_seconds_count{stage="first_text"} 1.0',
    } - {*figures[1]} == set()
    assert (code, err) == (0, "")


@pytest.mark.promise("tells-how-it-is")
@pytest.mark.parametrize("servers", [[], [LEAST, LEAST ^ Permission.SEND_MESSAGES]])
async def test_a_start_tells_what_is_missing(
    footnote: Footnote, server: DiscordServer, servers: list[Permission]
) -> None:
    """Nowhere to answer, or a right that is needed there: with the link that invites the bot, once."""
    for number, permissions in enumerate(servers):
        guild = server.add_guild(f"Club {number}", permissions=permissions)
        guild.roles[guild.id] = replace(guild.roles[guild.id], permissions=Permission(0))  # what everyone there may do
    running = await footnote.start("run", **environment(server))
    told: list[str] = []
    try:
        await server.connected(seconds=PATIENCE)
        assert running.stderr is not None
        async with asyncio.timeout(PATIENCE):
            while not any("invite" in line for line in told):
                told.append((await running.stderr.readline()).decode())
        running.send_signal(signal.SIGTERM)
        _, rest = await asyncio.wait_for(running.communicate(), PATIENCE)
    finally:
        with contextlib.suppress(ProcessLookupError):
            running.kill()
        await running.wait()

    where = "2 servers" if servers else "0 servers"
    assert f"Discord: connected as Footnote#0000 in {where}. Ctrl-C stops.\n" in told
    start = "Discord: In the server Club 1, the bot lacks these permissions: Send Messages. To grant them"
    assert told[-1].startswith(
        start if servers else "Discord: The bot is not in any server yet. To invite it: https://"
    )
    assert f"client_id={server.bot.id}" in told[-1]
    assert b"invite" not in rest


async def test_without_a_terminal_the_log_is_on_standard_error(footnote: Footnote, server: DiscordServer) -> None:
    """As JSON, each line once there and once in the file, and no sentence repeats one of them."""
    async with started(footnote, server, FOOTNOTE_LOG="auto") as bot:
        await bot.sees(bot.ask("What do penguins eat?"), "fish")
        first = await bot.tells('"event": "connected"')
        bot.running.send_signal(signal.SIGTERM)
        code, rest = await bot.ended()

    err = first + rest
    events = [json.loads(line) for line in err.splitlines()]
    assert (code, err) == (0, (footnote.data / "footnote.log").read_text())
    assert [event["name"] for event in events if event["event"] == "connected"] == ["Footnote#0000 in Robots"]
    assert "background" not in {event["event"] for event in events}
    assert len({*err.splitlines()}) == len(err.splitlines())


async def test_without_a_terminal_what_is_missing_is_logged_too(fresh: Footnote, server: DiscordServer) -> None:
    """There is no document, and no sentence between the lines of JSON."""
    async with started(fresh, server, FOOTNOTE_LOG="stderr") as bot:
        first = await bot.tells("There are no documents yet")
        bot.running.send_signal(signal.SIGTERM)
        _, rest = await bot.ended()

    events = [json.loads(line) for line in (first + rest).splitlines()]
    assert [event["level"] for event in events if event["event"] == "shortcoming"] == ["warning"]


@pytest.mark.promise("stays-connected")
async def test_a_connection_that_is_lost_for_a_moment_is_no_news(footnote: Footnote, server: DiscordServer) -> None:
    """Nobody notices: it is back before anybody had to be told."""
    async with started(footnote, server) as bot:
        await bot.tells("connected as")
        server.gateway.drop()
        asked = bot.ask("What do penguins eat?")
        await bot.sees(asked, "fish")
        bot.running.send_signal(signal.SIGTERM)
        code, err = await bot.ended()

    assert (code, err) == (0, "")


@pytest.mark.promise("catches-up")
async def test_what_was_asked_while_it_was_away_is_answered_once(footnote: Footnote, server: DiscordServer) -> None:
    """The next process finds the mention, and does not answer again what was answered before."""
    async with started(footnote, server) as bot:
        before = bot.ask("What do penguins eat?")
        await bot.sees(before, "fish")
        bot.running.send_signal(signal.SIGINT)
        await bot.ended()
        missed = bot.ask("What is a lighthouse?")
    answered = said(server, before)
    again = await footnote.start("run", **environment(server))
    await server.until(lambda: "tower" in said(server, missed), what="the late answer", seconds=PATIENCE)
    again.send_signal(signal.SIGTERM)

    assert (await ended(again))[0] == 0
    assert said(server, before) == answered


def test_a_bot_without_a_platform_says_what_to_set(footnote: Footnote) -> None:
    """And so do processes that could not meet."""
    alone, apart = footnote("run"), footnote("run", "worker", DISCORD_TOKEN="t0ken")

    assert (alone.code, alone.err) == (2, f"{NOTHING_TO_RUN}\n")
    assert (apart.code, apart.err) == (2, f"{NOT_SHARED}\n")


def test_a_misspelt_token_is_pointed_out_before_it_is_missed(footnote: Footnote) -> None:
    """Whoever wrote it would look for it in vain."""
    ended = footnote("run", DISCORD_TOKN="t0ken")

    said = "DISCORD_TOKN is not a setting. Did you mean DISCORD_TOKEN?"
    assert (ended.code, ended.err) == (2, f"{said}\n{NOTHING_TO_RUN}\n")


async def test_a_bot_that_is_forked_ends_as_one_that_was_started(footnote: Footnote) -> None:
    """With the same words and the same code, so that what other tests see of a fork holds for what people start."""
    forked, started = [
        await run_to_its_end(replace(footnote, is_forked=is_forked), DISCORD_TOKN="t0ken")
        for is_forked in (True, False)
    ]

    assert forked == started
    assert (forked[0], "Did you mean DISCORD_TOKEN?" in forked[1]) == (2, True)


@pytest.mark.promise("no-secrets")
async def test_what_only_the_operator_can_change_ends_the_bot_with_a_sentence(
    footnote: Footnote, server: DiscordServer
) -> None:
    """A token that Discord refuses, and an intent that is switched off; the token is not shown."""
    server.platform.message_content = False
    settings = environment(server)

    refused = await run_to_its_end(footnote, **{**settings, "DISCORD_TOKEN": "wr0ng.t0ken.s3cret"})
    denied = await run_to_its_end(footnote, **settings)
    doctor = await asyncio.to_thread(footnote, "doctor", **settings)

    assert refused == (2, f"{REFUSAL}\n")
    assert denied == (2, f"{MESSAGE_CONTENT_DENIED}\n")
    assert f"!!  discord  {MESSAGE_CONTENT_DENIED}" in doctor.out
    assert doctor.code == 1


@pytest.mark.promise("least-rights")
async def test_the_doctor_gives_the_link_to_invite_the_bot(footnote: Footnote, server: DiscordServer) -> None:
    """With the least permissions, and the number of servers that it is in."""
    server.add_guild()

    ended = await asyncio.to_thread(footnote, "doctor", **environment(server))

    line = next(line for line in ended.out.splitlines() if line.startswith("ok  discord"))
    link = parse_qs(urlsplit(line.partition("invite it: ")[2].split()[0]).query)
    assert "in 1 server, reads follow-ups without a mention" in line
    assert link == {
        "client_id": [str(server.bot.id)],
        "scope": ["bot applications.commands"],
        "permissions": [str(int(LEAST))],
    }
    assert ended.code == 0


@pytest.mark.promise("commands-once")
async def test_the_doctor_compares_the_commands_that_discord_has(footnote: Footnote, server: DiscordServer) -> None:
    """Before the first start it has none; then somebody takes one away, changes one and adds one."""
    server.add_guild()

    async def line(sign: str) -> str:
        ended = await asyncio.to_thread(footnote, "doctor", **environment(server))
        assert ended.code == 0
        return next(one for one in ended.out.splitlines() if one.startswith(f"{sign}  discord commands"))

    before = await line("??")
    async with started(footnote, server):
        await server.until(lambda: server.platform.commands.get(None), seconds=PATIENCE)
    well = await line("ok")
    ask, sources, *rest = server.platform.commands[None]
    server.platform.commands[None] = [{**sources, "description": "Another one."}, *rest, {**ask, "name": "older"}]
    changed = await line("??")

    assert "Discord has none of the commands. `footnote run` registers them" in before
    assert "all commands are registered" in well
    assert "missing: ask; different: sources; unknown: older. `footnote run` registers them" in changed


@pytest.mark.promise("commands-once")
async def test_commands_that_discord_refuses_are_shown_until_it_takes_them(
    footnote: Footnote, server: DiscordServer
) -> None:
    """By the doctor and to whoever asks whether the bot is ready, which it is all the same."""
    port = str(free_port())
    server.faults.break_("PUT /applications/{application}/commands", Reply(403, {"code": 50001, "message": "No"}))
    async with started(footnote, server, FOOTNOTE_HEALTH_PORT=port) as bot, ClientSession() as session:
        await bot.tells("connected as")
        await server.until(lambda: server.requests_to("PUT /applications/{application}/commands"), seconds=PATIENCE)
        doctor = await asyncio.to_thread(footnote, "doctor")
        async with session.get(f"http://127.0.0.1:{port}/ready") as said:
            status, ready = said.status, await said.text()

    told = "Discord rejected the commands (code 50001); they are tried again every hour."
    assert re.search(rf"\?\?  bot  .* is connected and working\. {re.escape(told)}", doctor.out)
    assert (status, ready.splitlines()) == (200, ["ok", told])


@pytest.mark.promise("crash-safe")
async def test_a_store_that_may_lose_questions_is_refused_unless_that_is_allowed(
    footnote: Footnote, server: DiscordServer, tmp_path: Path
) -> None:
    """Before anything is heard; one that is away is looked at as soon as it is there."""
    node = Node(tmp_path / "forgetful", appendonly="no")
    settings = {"REDIS_URL": f"redis://{node.host}"}
    with served(node):
        refused = await run_to_its_end(footnote, **environment(server), **settings)
        doctor = await asyncio.to_thread(footnote, "doctor", **environment(server), **settings, REDIS_ALLOW_LOSS="true")
        async with started(footnote, server, **settings, REDIS_ALLOW_LOSS="true") as process:
            await process.sees(process.ask("What do penguins eat?"), "fish")
    async with started(footnote, server, **settings) as process:
        with served(node):
            late = await process.ended()

    assert (refused[0], "set appendonly to yes. Or set REDIS_ALLOW_LOSS=true" in refused[1]) == (2, True)
    assert (late[0], "set appendonly to yes" in late[1]) == (2, True)
    assert re.search(r"\?\?  conversations +Valkey .* set appendonly to yes", doctor.out)
