"""`footnote run` on Slack: over sockets and over HTTP, and beside another platform."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from redis.asyncio import Redis
from slack_sdk.oauth.installation_store import Bot

from adapters.discord.connection import REFUSAL
from adapters.redis.secrets import RedisVault, Seal
from adapters.slack.health import BOT_TOKEN_REFUSED, LACKING
from adapters.slack.oauth import VaultInstallations
from tests.end_to_end.community import SECRET
from tests.fixtures.commands import Footnote
from tests.fixtures.nursery import Running
from tests.fixtures.redis import say
from tests.pages import page
from tests.servers.discord import DiscordServer
from tests.servers.slack import Channel, Message, SlackServer, User, Workspace
from tests.servers.valkey import free_port

PATIENCE = 60.0  # seconds for a process to start, to answer, or to end, also on a busy machine
LINK = "https://zoo.example/birds/penguins#food"


@dataclass
class Place:
    """A workspace in which somebody asks."""

    server: SlackServer
    workspace: Workspace
    channel: Channel
    ada: User

    def settings(self, **more: str) -> dict[str, str]:
        """Give the settings of a bot there; what is empty is not set."""
        usual = {
            "SLACK_BOT_TOKEN": self.workspace.token,
            "SLACK_APP_TOKEN": self.server.app_token,
            "SLACK_API_URL": self.server.api_url,
        }
        return {**usual, **more}

    @property
    def title(self) -> str:
        """Who the bot is there."""
        return f"{self.workspace.bot.name} in {self.workspace.name}"

    def ask(self) -> Message:
        """Mention the bot."""
        text = f"{self.server.mention(self.workspace.bot)} What do penguins eat?"
        return self.server.post_as(self.ada, self.channel, text)

    def replies(self, asked: Message) -> Sequence[Message]:
        """Give what the bot has said in the question's thread."""
        return self.server.messages(self.channel, by=self.workspace.bot, thread_ts=asked.ts)

    async def answered(self, asked: Message) -> None:
        """Wait for an answer from the documents in the question's thread."""

        def said() -> bool:
            return any(LINK in f"{one.blocks}" for one in self.replies(asked))

        await self.server.until(said, what="an answer", seconds=PATIENCE)


@pytest.fixture(name="place")
async def _place() -> AsyncGenerator[Place]:
    """Run Slack."""
    async with SlackServer() as server:
        workspace = server.add_workspace()
        yield Place(server, workspace, server.add_channel(workspace), server.add_member(workspace))


@contextlib.asynccontextmanager
async def started(footnote: Footnote, *roles: str, **settings: str) -> AsyncGenerator[Running]:
    """Start the bot."""
    running = await footnote.start("run", *roles, **settings)
    try:
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            running.kill()
        await running.wait()


async def stopped(running: Running) -> tuple[int | None, list[str]]:
    """Stop it in good order; give the exit code and what was told."""
    running.send_signal(signal.SIGTERM)
    _, err = await asyncio.wait_for(running.communicate(), PATIENCE)
    return running.returncode, err.decode().splitlines()


async def told_until(running: Running, beginning: str) -> list[str]:
    """Give what it tells up to a line that begins so."""
    assert running.stderr is not None
    told = [""]
    async with asyncio.timeout(PATIENCE):
        while not told[-1].startswith(beginning):
            line = (await running.stderr.readline()).decode()
            assert line, told
            told.append(line.rstrip())
    return told[1:]


async def test_a_start_tells_which_scopes_are_missing(footnote: Footnote, place: Place) -> None:
    """The bot works with those that it has."""
    place.workspace.scopes.discard("reactions:write")
    async with started(footnote, **place.settings()) as running:
        await place.answered(place.ask())
        code, told = await stopped(running)

    lacking = LACKING.format(scopes="reactions:write")
    assert (code, told.count(f"Slack: {lacking}")) == (0, 1)
    assert f"Slack: connected as {place.title}. Ctrl-C stops." in told


@pytest.mark.promise("journey")
@pytest.mark.promise("degradation")
@pytest.mark.promise("catches-up")
async def test_slack_is_answered_also_where_another_platform_refuses_the_bot(footnote: Footnote, place: Place) -> None:
    """Over sockets, from the documents, in a thread; the operator is told about the other, and it goes in order.

    What was asked before it started is answered too.
    """
    missed = place.ask()
    async with DiscordServer() as discord:
        other = {
            "DISCORD_TOKEN": "wr0ng.t0ken.s3cret",
            "DISCORD_API_URL": discord.api_url,
            "DISCORD_GATEWAY_URL": discord.gateway_url,
        }
        async with started(footnote, **place.settings(**other)) as running:
            await place.server.connected(2, seconds=PATIENCE)
            await place.answered(missed)
            await place.answered(place.ask())
            before = await told_until(running, "Discord: ")
            code, told = await stopped(running)

    assert (code, sorted([*before, *told])) == (
        0,
        [
            f"Discord: not connected. {REFUSAL}",
            f"Slack: connected as {place.title}. Ctrl-C stops.",
            f"slack:{place.workspace.team_id} sees zoo.",
        ],
    )
    assert place.server.outbox.unacknowledged == missed.deliveries


@pytest.mark.promise("journey")
@pytest.mark.promise("catches-up")
@pytest.mark.promise("tells-how-it-is")
async def test_slack_is_answered_over_http(footnote: Footnote, place: Place) -> None:
    """At the port that the host gives; what was asked before it started too. It says how it is, and no figures."""
    missed = place.ask()
    port = free_port()
    settings = place.settings(SLACK_APP_TOKEN="", SLACK_SIGNING_SECRET=place.server.signing_secret)
    settings |= {"HOST": "127.0.0.1", "PORT": str(port)}
    async with started(replace(footnote, is_forked=False), "slack", "worker", **settings) as running:
        assert running.stderr is not None
        async with asyncio.timeout(PATIENCE):
            lines = [(await running.stderr.readline()).decode() for _ in range(2)]
        place.server.deliver_to(f"http://127.0.0.1:{port}/slack/events")
        await place.answered(missed)
        asked = place.ask()
        await place.answered(asked)
        for delivery in asked.deliveries:
            await delivery.acknowledged()
        lives, ready, figures = [await page(port, path) for path in ("/live", "/ready", "/metrics")]
        code, told = await stopped(running)

    assert (lives, ready, figures[0]) == ((200, ["ok"]), (200, ["ok"]), 404)
    connected = f"Slack: connected as {place.title}, at port {port}. Ctrl-C stops.\n"
    assert sorted(lines) == [connected, f"slack:{place.workspace.team_id} sees zoo.\n"]
    assert (code, told) == (0, [])


@pytest.mark.promise("several-workspaces")
@pytest.mark.promise("nothing-lost")
async def test_workspaces_that_have_installed_the_bot_are_answered_after_the_store_was_emptied(
    footnote: Footnote, place: Place, redis_client: Redis, redis_url: str
) -> None:
    """Also one where nobody had written before; nobody would install the bot again who is left without a word."""
    other = place.server.add_workspace("Arms")
    later = Place(place.server, other, place.server.add_channel(other), place.server.add_member(other, "Bob"))
    port = free_port()
    settings = place.settings(SLACK_APP_TOKEN="", SLACK_BOT_TOKEN="", SLACK_SIGNING_SECRET=place.server.signing_secret)
    settings |= {"SLACK_CLIENT_ID": place.server.client_id, "SLACK_CLIENT_SECRET": place.server.client_secret}
    settings |= {"REDIS_URL": redis_url, "REDIS_ALLOW_LOSS": "true", "FOOTNOTE_SECRET_KEY": SECRET}
    settings["FOOTNOTE_COMMUNITIES"] = f"slack:{place.workspace.team_id},slack:{other.team_id}"
    vault = RedisVault(redis_client, seal=Seal([SECRET]))
    for each in (place.workspace, other):
        ids: dict[str, Any] = {"team_id": each.team_id, "bot_id": each.bot_id, "bot_user_id": each.bot.id}
        bot = Bot(app_id=each.app_id, bot_token=each.token, installed_at=time.time(), **ids)
        await VaultInstallations(vault).async_save_bot(bot)
    async with started(footnote, "slack", "worker", HOST="127.0.0.1", PORT=str(port), **settings) as running:
        await told_until(running, "Slack: connected as")
        place.server.deliver_to(f"http://127.0.0.1:{port}/slack/events")
        await place.answered(place.ask())
        await say(redis_client, "FLUSHALL")
        asked = later.ask()
        await place.server.until(lambda: later.replies(asked), what="an answer", seconds=PATIENCE)
        async with asyncio.timeout(PATIENCE):
            while len(await vault.keys("slack:")) < 2:  # noqa: ASYNC110 - another process gives them back
                await asyncio.sleep(0.2)
        await say(redis_client, "FLUSHALL")  # once more, and nobody notices before the end
        code, _ = await stopped(running)

    assert code == 0
    assert {str(json.loads(await vault.load(key) or "{}")["team_id"]) for key in await vault.keys("slack:")} == {
        place.workspace.team_id,
        other.team_id,
    }


@pytest.mark.promise("no-secrets")
async def test_the_doctor_knows_a_token_that_slack_refuses(footnote: Footnote, place: Place) -> None:
    """And does not show it."""
    doctor = await asyncio.to_thread(footnote, "doctor", **place.settings(SLACK_BOT_TOKEN="xoxb-wr0ng"))

    assert (doctor.code, f"!!  slack  {BOT_TOKEN_REFUSED}" in doctor.out) == (1, True)
    assert "wr0ng" not in doctor.out + doctor.err
