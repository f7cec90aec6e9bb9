"""`footnote doctor` and `footnote evaluate`: what is well, and how the answers do."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import ssl
from pathlib import Path
from typing import Any

import pytest

from adapters.redis.failure import FULL, NEEDS_TLS
from bot.commands.doctor import Finding, Sign, look_at
from bot.settings import Settings
from bot.wiring import Check, assemble
from core.events import ConnectionLost, Event, PlatformFailed, PlatformWaited
from tests.fixtures.commands import Footnote, Here, write_documents
from tests.servers.discord import DiscordServer, Reply
from tests.servers.tls import certificate
from tests.servers.valkey import alone

CASES = """\
{"id": "food", "kind": "single_topic", "question": "What do penguins eat?", "chapters": ["birds"]}
{"id": "silent", "kind": "not_in_documents", "question": "What is the capital of France?", "should_abstain": true}
{"id": "wrong", "kind": "single_topic", "question": "What do penguins eat, [b]really[/]?", "chapters": ["sea"]}
"""


def test_the_doctor_finds_everything_well(footnote: Footnote) -> None:
    """Each part has a line, and the exit code is 0."""
    ended = footnote("doctor")

    names = [line.split("  ")[:2] for line in ended.out.splitlines()]
    parts = ("settings", "chat model", "embedder", "secret key", "conversations", "questions", "moderation", "index")
    assert names == [["ok", name] for name in parts]
    assert "2 pages, 5 passages from zoo" in ended.out
    assert (ended.code, ended.err) == (0, "")


def test_the_doctor_says_what_to_do(fresh: Footnote) -> None:
    """Without documents and without its store, the exit code is 1 and each line is a sentence."""
    ended = fresh("doctor", REDIS_URL="redis://:s3cret@127.0.0.1:1/0")

    troubles = [line for line in ended.out.splitlines() if line.startswith("!!")]
    assert troubles == [
        (
            "!!  conversations  The data store cannot be reached. Try again in a moment. "
            "Check REDIS_URL (127.0.0.1:1), and whether the server is running."
        ),
        "!!  index  There are no documents yet. Read some first: footnote ingest FOLDER",
    ]
    assert (ended.code, ended.err) == (1, "")


def test_each_wrong_setting_has_a_line_with_a_right_one(fresh: Footnote) -> None:
    """Nothing else can be looked at then."""
    ended = fresh("doctor", FOOTNOTE_TOP_K="many", QDRANT_URL="localhost:6333", OPENAI_MODLE="x")

    assert ended.out.splitlines() == [
        "??  settings  OPENAI_MODLE is not a setting. Did you mean OPENAI_MODEL?",
        (
            "!!  settings  QDRANT_URL: this is not a web address, which begins with http:// or https://. "
            "For example: QDRANT_URL=http://localhost:6333"
        ),
        (
            "!!  settings  FOOTNOTE_TOP_K: this has to be a whole number, at least 1 and at most 20. "
            "For example: FOOTNOTE_TOP_K=5"
        ),
    ]
    assert (ended.code, ended.err) == (1, "")


def test_a_weak_key_has_a_line_of_its_own(fresh: Footnote) -> None:
    """What needs the key is not looked at, and the conversations are not to blame."""
    ended = fresh("doctor", FOOTNOTE_SECRET_KEY="password")

    lines = [line.split("  ")[:2] for line in ended.out.splitlines()]
    assert lines[3:] == [["!!", "secret key"], ["ok", "conversations"], ["!!", "index"]]
    assert "FOOTNOTE_SECRET_KEY holds a key that is too weak" in ended.out


async def test_a_port_with_tls_is_told_from_one_that_is_shut(fresh: Footnote, tmp_path: Path) -> None:
    """A server that hangs up at words without TLS says nothing about it: the doctor tries."""
    made = certificate(tmp_path / "certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.chain, made.key)

    async def hear(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(hear, "127.0.0.1", 0, ssl=context) as server:
        port = server.sockets[0].getsockname()[1]
        ended = await asyncio.to_thread(fresh, "doctor", REDIS_URL=f"redis://127.0.0.1:{port}/0")

    assert f"!!  conversations  {NEEDS_TLS}" in ended.out.splitlines()


def test_a_damaged_index_says_so_and_is_made_again(footnote: Footnote, tmp_path: Path) -> None:
    """The disk is not to blame; what the message says helps, and who may read a source is kept."""
    footnote("sources", "share", "zoo", "--everyone")
    for file in (footnote.data / "index" / "shard").rglob("*.json"):
        file.write_bytes(b"\0")

    doctor, asked = footnote("doctor"), footnote("ask", "What do penguins eat?")
    shutil.rmtree(footnote.data / "index" / "shard")
    (footnote.data / "index" / "label.json").unlink()
    footnote("ingest", str(write_documents(tmp_path / "zoo")))

    line = next(line for line in doctor.out.splitlines() if line.startswith("!!"))
    assert re.search(r"^!!  index  The index in .* damaged .* remove shard and label\.json there", line)
    assert (doctor.code, asked.code, "damaged" in asked.err + asked.out) == (1, 2, True)
    assert "everybody" in footnote("sources", "list").out


@pytest.mark.parametrize(
    ("setting", "todo"),
    [("QDRANT_URL", "Check QDRANT_URL, and whether the service is working."), (None, "Try again in a moment.")],
)
async def test_a_part_that_does_not_answer_is_given_up(setting: str | None, todo: str) -> None:
    """The line names the setting that says where it is."""

    async def never() -> str:
        return await asyncio.Future[str]()

    finding = await look_at(Check("part", never, setting), within=0.01)

    assert finding == Finding(Sign.WRONG, "part", f"It did not answer within 0.01 seconds. {todo}")


async def test_an_odd_answer_ends_nothing() -> None:
    """Whatever a proxy or another version says, the doctor goes on, and names the kind of mistake only."""

    async def odd() -> str:
        raise TypeError("hunter2")

    finding = await look_at(Check("part", odd, "PART_URL"))

    says = "It answered in a way that this version does not understand (TypeError)."
    assert finding == Finding(Sign.WRONG, "part", f"{says} Check PART_URL, and whether the service is working.")


async def test_what_the_doctor_sees_is_no_news_of_the_bot(tmp_path: Path) -> None:
    """Beside a bot that has told that its address is refused, it looks once more, and tells its own reader alone."""
    told: list[Event] = []
    async with DiscordServer() as server:
        settings: dict[str, Any] = {
            "FOOTNOTE_DATA_DIR": str(tmp_path),
            "DISCORD_TOKEN": server.token,
            "DISCORD_API_URL": server.api_url,
        }
        async with assemble(Settings(**settings), observer=told.append) as app:
            (check,) = [check for check in app.checks if check.name == "discord"]
            signs = [(await look_at(check)).sign]
            server.faults.break_("*", Reply(429, "error code: 1015", {"Retry-After": "900"}))
            signs.append((await look_at(check)).sign)

    assert signs == [Sign.WELL, Sign.WRONG]
    assert [each for each in told if isinstance(each, ConnectionLost | PlatformFailed | PlatformWaited)] == []


async def test_a_store_without_room_is_no_matter_of_its_address(tmp_path: Path) -> None:
    """The sentence of the store is the whole of it."""
    with alone(tmp_path / "redis", maxmemory="1") as node:
        settings: dict[str, Any] = {"FOOTNOTE_DATA_DIR": str(tmp_path), "REDIS_URL": f"redis://{node.host}/0"}
        async with assemble(Settings(**settings)) as app:
            (check,) = [check for check in app.checks if check.name == "conversations"]
            finding = await look_at(check)

    assert finding == Finding(Sign.WRONG, "conversations", FULL)


def test_an_evaluation_is_a_report(footnote: Footnote, tmp_path: Path) -> None:
    """Answers that fall short are counted, as JSON and as a table; they are no error."""
    cases = tmp_path / "cases.jsonl"
    cases.write_text(CASES)

    report = json.loads(footnote("evaluate", str(cases), "--json").out)
    table = footnote("evaluate", str(cases))

    assert (report["passed"], report["total"]) == (2, 3)
    assert [(case["id"], case["passed"]) for case in report["cases"]] == [
        ("food", True),
        ("silent", True),
        ("wrong", False),
    ]
    assert (table.code, table.err) == (0, "")
    assert "2 of 3 cases passed" in table.out
    assert "[b]really[/]" in table.out


@pytest.mark.parametrize("text", [None, "not json\n", '{"id": "x"}\n', "\n", "\udcff"])
def test_cases_that_cannot_be_used_are_told_in_words(
    footnote: Footnote, here: Here, tmp_path: Path, text: str | None
) -> None:
    """Missing, broken, incomplete or empty: exit code 2 and a sentence."""
    cases = tmp_path / "cases.jsonl"
    if text is not None:
        cases.write_bytes(text.encode("utf-8", "surrogateescape"))

    ended = here(footnote, "evaluate", str(cases))

    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1
