"""Commands beside a bot that runs in its default form: each does its work there, and prints the same as alone."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp import web

from adapters.beside import SOCKET
from adapters.unix import LEAST_URGENT
from adapters.web import served_at
from core import messages
from tests.end_to_end.test_ingest import many_pages
from tests.end_to_end.test_run import PATIENCE, Process, environment, said, started
from tests.fixtures.commands import Ended, Footnote, write_documents
from tests.fixtures.nursery import Running
from tests.servers.discord import DiscordServer, Message
from tests.servers.qdrant import QdrantServer
from tests.servers.service import Hang

ASKED = "What do penguins eat?"
EMPTY = "There are no documents yet. Read some first: footnote ingest FOLDER\n"


@pytest.fixture(name="server")
async def _server() -> AsyncGenerator[DiscordServer]:
    """Run Discord."""
    async with DiscordServer() as server:
        yield server


async def typed(footnote: Callable[..., Ended], *words: str, stdin: str = "", **env: str) -> Ended:
    """Run a command while servers of this process go on."""
    return await asyncio.to_thread(footnote, *words, stdin=stdin, **env)


async def told_of_reading(footnote: Footnote, documents: Path, *words: str) -> str:
    """Read documents in a process of its own, which beside a bot gives way to all else; return what it says."""
    reading = await footnote.start("ingest", str(documents), *words)
    said = asyncio.create_task(reading.communicate())
    async with asyncio.timeout(2 * PATIENCE):
        while not said.done():
            hurry(reading.pid)
            await asyncio.wait({said}, timeout=0.1)
    _, err = said.result()
    assert b"Traceback" not in err
    return err.decode()


def hurry(process: int) -> None:
    """Let a process that gives way to all others, and what it has started, get on beside tests that never end.

    Only where this machine allows it.
    """
    for thread in Path(f"/proc/{process}/task").glob("*"):
        with suppress(OSError):
            os.sched_setscheduler(int(thread.name), os.SCHED_OTHER, os.sched_param(0))
            os.setpriority(os.PRIO_PROCESS, int(thread.name), 0)
        with suppress(OSError):
            for child in (thread / "children").read_text().split():
                hurry(int(child))


async def stopped(bot: Process) -> None:
    """Stop the bot in good order, and see that it had nothing to complain of."""
    bot.running.send_signal(signal.SIGTERM)
    code, err = await bot.ended()
    assert (code, err) == (0, "")


@pytest.mark.promise("beside-the-bot")
async def test_what_is_asked_beside_a_bot_is_answered_as_alone(footnote: Footnote, server: DiscordServer) -> None:
    """Plain and as JSON, with memory and in a chat, by the index and the store that the bot has."""
    cases = footnote.data.with_name("cases.jsonl")
    cases.write_text(json.dumps({"id": "f", "kind": "single_topic", "question": ASKED, "chapters": ["birds"]}) + "\n")
    alone = await typed(footnote, "ask", ASKED)
    async with started(footnote, server) as bot:
        await bot.tells("connected as")
        beside = await typed(footnote, "ask", ASKED)
        unknown = await typed(footnote, "ask", ASKED, "--source", "nowhere")
        chat = await typed(footnote, "chat", stdin="What is a lighthouse?\n")
        follow_up = await typed(footnote, "ask", "From how far is its lamp visible?", "--thread", "chat", "--json")
        report = json.loads((await typed(footnote, "evaluate", str(cases), "--json")).out)
        await stopped(bot)

    assert (beside.code, beside.out, beside.err) == (0, alone.out, "")
    assert (unknown.code, unknown.err) == (2, "There is no source 'nowhere'. The sources are: zoo.\n")
    assert "A lighthouse is a tower" in chat.out
    assert json.loads(follow_up.out)["sources"][0]["url"] == "https://zoo.example/sea/lighthouses#lamps"
    assert (report["passed"], report["total"]) == (1, 1)


@pytest.mark.promise("beside-the-bot")
@pytest.mark.promise("starts-empty")
@pytest.mark.timeout(300)
async def test_a_bot_takes_documents_while_it_runs(fresh: Footnote, server: DiscordServer, tmp_path: Path) -> None:
    """It starts without any and says so, takes them from a command beside it, and answers from them at once."""
    documents = write_documents(tmp_path / "zoo")
    async with started(fresh, server) as bot:
        await bot.tells(EMPTY.strip())
        await bot.tells("connected as")
        before = bot.ask(ASKED)
        await bot.sees(before, messages.NO_DOCUMENTS)
        empty = await typed(fresh, "ask", ASKED)
        first = await told_of_reading(fresh, documents, "--base-url", "https://zoo.example")
        after = bot.ask(ASKED)
        await bot.sees(after, "(<https://zoo.example/birds/penguins#food>)")
        shutil.rmtree(documents / "sea")
        again = await told_of_reading(fresh, documents, "--base-url", "https://zoo.example")
        await stopped(bot)

    assert (empty.code, empty.err) == (2, EMPTY)
    assert first == "zoo: 2 added, 0 changed, 0 unchanged, 0 removed, 0 failed (5 new passages)\n"
    assert again == "zoo: 0 added, 0 changed, 1 unchanged, 1 removed, 0 failed (0 new passages)\n"
    assert messages.NO_DOCUMENTS not in said(server, after)


@pytest.mark.promise("beside-the-bot")
async def test_the_doctor_looks_from_inside(footnote: Footnote, server: DiscordServer) -> None:
    """It tells what the running bot sees, with its settings, and then which names are misspelt here.

    Failed questions can be looked after meanwhile.
    """
    async with started(footnote, server) as bot:
        await bot.tells("connected as")
        await bot.sees(bot.ask(ASKED), "fish")
        doctor = await typed(footnote, "doctor", OPENAI_MODLE="gpt")
        inbox = await typed(footnote, "inbox", "list")
        await typed(footnote, "ask", ASKED)
        modes = [(footnote.data / name).stat().st_mode & 0o777 for name in (SOCKET, "footnote-2.log", "")]
        await stopped(bot)

    names = [line.split("  ")[:2] for line in doctor.out.splitlines()]
    parts = [
        "settings",
        "bot",
        "chat model",
        "embedder",
        "secret key",
        "conversations",
        "questions",
        "moderation",
        "communities",
        "index",
        "discord",
        "discord commands",
    ]
    assert names == [*(["ok", name] for name in parts), ["??", "settings"]], doctor
    assert f"footnote run (process {bot.running.pid}) is connected and working" in doctor.out
    assert (inbox.code, inbox.out) == (0, "There are no failed questions.\n")
    assert modes == [0o600, 0o600, 0o700]


@pytest.mark.promise("beside-the-bot")
@pytest.mark.promise("operator-decides")
async def test_who_may_use_the_bot_is_said_beside_it(footnote: Footnote, server: DiscordServer) -> None:
    """A guild that joined later is named at the terminal; an order about it holds at once, and is told by all."""
    async with started(footnote, server) as bot:
        await bot.tells("connected as")
        ours, later = bot.channel.guild_id, server.add_guild("Strangers")
        place, eve = server.add_channel(later), server.add_member(later, "Eve")
        await bot.tells(f"Discord: these may not use the bot: discord:{later.id} (Strangers).")
        asked = server.post_as(eve, place, ASKED, mentions=[server.bot])
        await server.until(lambda: messages.NOT_ALLOWED in beside(server, asked), seconds=PATIENCE)
        waiting = await typed(footnote, "communities", "list")
        doctor = await typed(footnote, "doctor")
        allowed = await typed(footnote, "communities", "allow", f"discord:{later.id}")
        told = json.loads((await typed(footnote, "communities", "list", "--json")).out)
        removed = [await typed(footnote, "communities", "remove", f"discord:{later.id}") for _ in range(2)]
        again = server.post_as(eve, place, ASKED, mentions=[server.bot])
        await server.until(lambda: messages.NOT_ALLOWED in beside(server, again), seconds=PATIENCE)
        bot.running.kill()

    assert waiting.out.splitlines() == [
        f"{'COMMUNITY':{len(str(later.id)) + 10}}{'may ask':24}sees",
        f"discord:{ours}  yes                     zoo",
        f"discord:{later.id}  no; somebody has asked  nothing",
    ]
    says = f"discord:{ours} sees zoo. Somebody has asked in discord:{later.id}, where the bot may not be used. "
    assert f"??  communities  {says}To allow it: footnote communities allow discord:{later.id}" in doctor.out
    assert allowed.out == (
        f"discord:{later.id} may use the bot, from its next question on. "
        f"discord:{ours} sees zoo. discord:{later.id} sees no documents (to open some: footnote sources share). "
        "To open documents to it: footnote sources share\n"
    )
    assert told == {
        "communities": [
            {"community": f"discord:{ours}", "allowed": True, "removable": True, "sources": ["zoo"]},
            {"community": f"discord:{later.id}", "allowed": True, "removable": True, "sources": []},
        ],
        "first": f"discord:{ours}",
    }
    assert [each.out for each in removed] == [
        f"discord:{later.id} may no longer use the bot; its next question will be refused.\n",
        f"discord:{later.id} was not allowed, so nothing has changed.\n",
    ]


def beside(server: DiscordServer, asked: Message) -> str:
    """Give what the bot has replied to a message where it stands."""
    replies = [one for one in server.platform.messages.values() if one.reference and one.reference[1] == asked.id]
    return "\n".join(one.content for one in replies if one.channel_id == asked.channel_id)


@pytest.mark.promise("beside-the-bot")
async def test_a_bot_whose_index_says_nothing_takes_commands_at_once(footnote: Footnote, server: DiscordServer) -> None:
    """That is when somebody needs them: nothing that the bot wants to say itself comes before."""
    async with QdrantServer() as qdrant:
        qdrant.broken = Hang()
        async with started(footnote, server, QDRANT_URL=qdrant.url) as bot:
            inbox = await typed(footnote, "inbox", "list", QDRANT_URL=qdrant.url)
            bot.running.kill()

    assert (inbox.code, inbox.out, inbox.err) == (0, "There are no failed questions.\n", "")


async def seen_while_it_stands_still(footnote: Footnote, reading: Running) -> str:
    """Return which sources there are, read by a process that gets no further while it is looked at."""
    reading.send_signal(signal.SIGSTOP)
    seen = (await typed(footnote, "doctor")).out.rpartition("passages from")[2]
    reading.send_signal(signal.SIGCONT)
    return seen


@pytest.mark.promise("beside-the-bot")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("end", ["ctrl-c", "the bot stops"])
async def test_reading_beside_a_bot_ends_in_words(
    footnote: Footnote, server: DiscordServer, tmp_path: Path, end: str
) -> None:
    """By Ctrl-C, which the bot does not notice; or with the bot. What was read by then is there."""
    pages = many_pages(tmp_path / "pages", 24)
    async with started(footnote, server) as bot:
        await bot.tells("connected as")
        reading = await footnote.start("ingest", str(pages))
        async with asyncio.timeout(2 * PATIENCE):
            while os.getpriority(os.PRIO_PROCESS, reading.pid) != LEAST_URGENT:  # noqa: ASYNC110 - another process does it
                await asyncio.sleep(0.01)
            while "pages" not in await seen_while_it_stands_still(footnote, reading):
                assert reading.returncode is None
                hurry(reading.pid)
                await asyncio.sleep(0.5)
        if end == "ctrl-c":
            reading.send_signal(signal.SIGINT)
            _, err = await asyncio.wait_for(reading.communicate(), PATIENCE)
            await stopped(bot)
        else:
            await stopped(bot)
            _, err = await asyncio.wait_for(reading.communicate(), PATIENCE)
        rest = await told_of_reading(footnote, pages)  # alone, it gives way to nobody

    kept = r"pages: stopped; \d+ pages? are done and kept, and the next run continues from there\.\nStopped\.\n"
    code, told = (
        (130, kept) if end == "ctrl-c" else (3, r"The bot that this command worked with has stopped\. Try again\.\n")
    )
    assert reading.returncode == code
    assert re.fullmatch(told, err.decode())
    assert ", 0 failed" in rest
    assert "pages: 24 added" not in rest


@pytest.mark.promise("beside-the-bot")
async def test_a_bot_of_another_version_is_told(footnote: Footnote, server: DiscordServer) -> None:
    """Whoever has updated and not restarted reads what to do; so does whoever has other settings than the bot."""
    async with started(footnote, server) as bot:
        await bot.tells("connected as")
        settings = {"COHERE_API_KEY": "c0here", "COHERE_BASE_URL": "http://127.0.0.1:1"}
        other = await typed(footnote, "ask", ASKED, **settings)
        ours = bot
        await stopped(ours)

    async def welcome(_: web.Request) -> web.Response:
        return web.json_response({"version": "0+0ld", "embedder": "e", "mood": "old"})

    with_lock = await footnote.start("run", **environment(server))
    await server.connected(seconds=PATIENCE)
    async with served_at(
        footnote.data / SOCKET, [web.get("/welcome", welcome)], refusal="", shutdown_timeout=1, largest=1
    ):
        old = await typed(footnote, "ask", ASKED)
    with_lock.send_signal(signal.SIGTERM)
    await with_lock.communicate()

    assert (other.code, "The bot that runs here searches with the embedder all-MiniLM" in other.err) == (2, True)
    assert old.code == 2
    assert old.err.startswith("The bot that runs here is version 0+0ld, and this command is version ")
    assert old.err.endswith(". Restart the bot.\n")
