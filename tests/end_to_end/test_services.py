"""The whole command line over services: what the doctor says of each, and that no secret is ever shown."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adapters.unix import LEAST_URGENT
from bot.cli import app
from bot.wiring.services import ESTIMATED, IN_USE, UNREVIEWED
from tests.fakes.chat import asked_of
from tests.fixtures.commands import Ended, write_documents
from tests.servers.service import Received, Reply
from tests.servers.world import World, everything

ASKED = "Which stones do penguins build nests of?"


@dataclass(frozen=True, slots=True)
class Shop:
    """The command over services, with the small pages ingested."""

    world: World
    data: Path

    async def __call__(self, *words: str, **changes: str) -> Ended:
        """Run a command with the settings of the services, and with *changes*; the clients are loaded only once."""
        env = {**self.world.environment(self.data), "COLUMNS": "200", **changes}
        ended = await asyncio.to_thread(CliRunner().invoke, app, words, env=env)
        assert "Traceback" not in ended.stderr
        return Ended(ended.exit_code, ended.stdout, ended.stderr)

    @property
    def log(self) -> str:
        """What has been logged."""
        path = self.data / "footnote.log"
        return path.read_text() if path.exists() else ""


@pytest.fixture(name="asked_of_index", scope="module")
def _asked_of_index() -> list[Received]:
    """Give what an index on a server is asked while documents are read, once some have been."""
    return []


@pytest.fixture(name="shop")
async def _shop(tmp_path: Path, asked_of_index: list[Received]) -> AsyncGenerator[Shop]:
    """Open the shop, with the chat client loaded: on a busy machine that may take all the time of a look."""
    await asyncio.to_thread(import_module, "openai")
    async with everything(tmp_path / "services") as world:
        shop = Shop(world, tmp_path / "data")
        if asked_of_index:
            await world.qdrant.replay(asked_of_index)
        else:
            documents = write_documents(tmp_path / "zoo")
            ended = await shop("ingest", str(documents), "--base-url", "https://zoo.example")
            assert (ended.code, ended.out) == (0, ""), ended.err
            assert "zoo: 2 added" in ended.err
            asked_of_index += world.qdrant.received
        yield shop


def lines(ended: Ended) -> list[str]:
    """Give the doctor's lines without the times."""
    return [re.sub(r" \(\d+ ms\)$", "", line) for line in ended.out.splitlines()]


async def test_the_same_question_is_answered_by_the_services(shop: Shop) -> None:
    """Model, embeddings, reranking, index and store are other ones; the answer has the same shape."""
    ended = await shop("ask", ASKED, "--thread", "t", "--json")

    answer = json.loads(ended.out)
    assert (ended.code, ended.err) == (0, "")
    assert (answer["status"], answer["usage"]["prompt_tokens"] > 0) == ("answered", True)
    assert answer["sources"][0]["url"] == "https://zoo.example/birds/penguins#nests"
    assert [received.path for received in shop.world.cohere.received][-2:] == ["/v2/embed", "/v2/rerank"]
    again = json.loads((await shop("ask", "And of what else?", "--thread", "t", "--json")).out)
    assert again["status"] in ("answered", "no_context")
    asked = [asked_of(message) for message in shop.world.chat.received[-1].body["messages"]]
    assert ASKED in asked


async def test_ingestion_beside_bots_gives_way_to_them(shop: Shop, tmp_path: Path) -> None:
    """With index and store on servers nobody owns the data folder, and a bot may be at work anywhere beside it.

    On a busy machine its end takes as long as there is other work, and is not waited for.
    """
    env = {**os.environ, **shop.world.environment(shop.data)}
    words = [sys.executable, "-m", "bot", "ingest", str(write_documents(tmp_path / "more")), "--quiet"]
    ended = await asyncio.create_subprocess_exec(*words, env=env, stderr=asyncio.subprocess.DEVNULL)
    ways = {0}
    while ended.returncode is None and LEAST_URGENT not in ways:
        with contextlib.suppress(ProcessLookupError):
            ways.add(os.getpriority(os.PRIO_PROCESS, ended.pid))
        await asyncio.sleep(0.005)  # what is waited for happens in another process
    with contextlib.suppress(ProcessLookupError):
        ended.kill()
    code = await ended.wait()

    assert (code in (0, -signal.SIGKILL), max(ways)) == (True, LEAST_URGENT)


async def test_what_an_answer_costs_is_said(shop: Shop) -> None:
    """In JSON, in the log and in an evaluation, as soon as there are prices."""
    prices = {"OPENAI_PRICE_PROMPT": "1000000", "OPENAI_PRICE_COMPLETION": "0", "OPENAI_PRICE_CACHED": "0"}

    usage = json.loads((await shop("ask", ASKED, "--json", **prices)).out)["usage"]

    assert usage["cost"] == usage["prompt_tokens"] - usage["cached_tokens"]
    answered = [line for line in map(json.loads, shop.log.splitlines()) if line["event"] == "answered"]
    assert [line["cost"] for line in answered] == [usage["cost"]]
    assert {"prompt_tokens", "cached_tokens", "completion_tokens"} <= answered[0].keys()


async def test_the_doctor_names_every_service(shop: Shop) -> None:
    """With its address, its version where it has one, and the time that it took."""
    ended = await shop("doctor")

    world = shop.world
    port = {
        name: service.url.rpartition(":")[2]
        for name, service in (("chat", world.chat), ("cohere", world.cohere), ("qdrant", world.qdrant))
    }
    assert lines(ended)[1:] == [
        f"ok  chat model  gpt-4o-mini at 127.0.0.1:{port['chat']}, calls tools",
        f"ok  review model  {UNREVIEWED}",
        f"ok  embedder  embed-v4.0 (1536 dimensions) at 127.0.0.1:{port['cohere']}; {ESTIMATED}",
        f"ok  reranker  rerank-v3.5 at 127.0.0.1:{port['cohere']}; {ESTIMATED}",
        f"ok  qdrant  Qdrant 1.20.0 at 127.0.0.1:{port['qdrant']}, collection documents: 2 pages",
        "ok  secret key  from the file secret.key in the data folder",
        f"ok  conversations  Valkey 9.1.2 at 127.0.0.1:{world.redis.port}",
        "ok  questions  0 questions waiting, 0 being answered",
        "ok  moderation  the moderators' settings can be read",
        "ok  index  2 pages, 5 passages from zoo",
    ]
    assert all(re.search(r"\(\d+ ms\)$", line) for line in ended.out.splitlines()[1:])
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize(
    ("changes", "part", "says"),
    [
        ({"OPENAI_API_KEY": "sk-wrong"}, "chat model", "OPENAI_API_KEY"),
        ({"OPENAI_MODEL": "gpt-5-imaginary"}, "chat model", "OPENAI_MODEL"),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "chat model", "OPENAI_BASE_URL"),
        ({"COHERE_API_KEY": "wrong"}, "embedder", "COHERE_API_KEY"),
        ({"COHERE_API_KEY": "wrong"}, "reranker", "COHERE_API_KEY"),
        ({"COHERE_EMBED_MODEL": "embed-imaginary"}, "embedder", "COHERE_EMBED_MODEL"),
        ({"COHERE_RERANK_MODEL": "rerank-imaginary"}, "reranker", "COHERE_RERANK_MODEL"),
        ({"COHERE_DIMENSION": "1000"}, "embedder", "COHERE_DIMENSION"),
        ({"COHERE_DIMENSION": "512"}, "index", "footnote ingest"),
        ({"QDRANT_API_KEY": "wrong"}, "qdrant", "QDRANT_API_KEY"),
        ({"QDRANT_URL": "http://127.0.0.1:1"}, "qdrant", "QDRANT_URL"),
        ({"QDRANT_COLLECTION": "empty"}, "index", "There are no documents yet"),
        ({"REDIS_URL": "redis://127.0.0.1:1/0"}, "conversations", "REDIS_URL"),
    ],
)
async def test_the_doctor_says_what_to_do(shop: Shop, changes: dict[str, str], part: str, says: str) -> None:
    """Each wrong setting has a line that names it, and the exit code is 1."""
    ended = await shop("doctor", **changes)

    wrong = [line for line in lines(ended) if line.startswith(f"!!  {part}  ")]
    assert (ended.code, len(wrong)) == (1, 1)
    assert says in wrong[0]


@pytest.mark.parametrize(
    ("changes", "service", "says", "code"),
    [
        ({"OPENAI_API_KEY": "sk-wrong"}, "chat model", "OPENAI_API_KEY", 3),
        ({"COHERE_API_KEY": "wrong"}, "embedder", "COHERE_API_KEY", 0),
        ({"COHERE_RERANK_MODEL": "rerank-imaginary"}, "reranker", "COHERE_RERANK_MODEL", 0),
        ({"QDRANT_API_KEY": "wrong"}, "index", "QDRANT_API_KEY", 3),
    ],
)
async def test_the_log_says_what_failed_and_what_to_do(
    shop: Shop, changes: dict[str, str], service: str, says: str, code: int
) -> None:
    """So does standard error, once; the answer itself bothers no reader with it."""
    ended = await shop("ask", ASKED, **changes)

    reasons = [
        (line["service"], says in line["reason"])
        for line in map(json.loads, shop.log.splitlines())
        if line["event"] == "service_failed"
    ]
    assert (set(reasons), ended.code) == ({(service, True)}, code)
    assert (ended.out.count(says), ended.err.count(says)) == (0, 1)


@pytest.mark.promise("refusals-told")
async def test_what_a_service_says_reaches_the_operator_alone(shop: Shop) -> None:
    """Its code and its words are in the log and in the doctor's line, without the question, and in no answer."""
    words = "The wizard has left the tower."
    error = {"message": f"{words} {ASKED}", "type": "odd", "code": "odd_7"}
    shop.world.chat.broken = Reply(400, {"error": error})
    asked, doctor = await shop("ask", ASKED), await shop("doctor")

    said = [line["detail"] for line in map(json.loads, shop.log.splitlines()) if line["event"] == "service_said"]
    assert said[0] == f"status 400, odd, odd_7: {words}…"
    assert (ASKED in shop.log, words in asked.out + asked.err) == (False, False)
    assert f"It said: status 400, odd, odd_7: {words}" in next(line for line in lines(doctor) if "chat model" in line)


async def test_times_that_no_question_has_are_told_by_the_doctor(shop: Shop) -> None:
    """What a chat model is given ends with the question; what nobody has set contradicts nothing."""
    doctor = await shop("doctor", OPENAI_FIRST_SECONDS="900", OPENAI_SECONDS="60", FOOTNOTE_ANSWER_SECONDS="200")

    line = next(line for line in lines(doctor) if "chat model  " in line)
    assert line.startswith("??")
    assert line.endswith("OPENAI_FIRST_SECONDS=900 is more than a question has: FOOTNOTE_ANSWER_SECONDS=200")


@pytest.mark.promise("second-model")
async def test_a_second_model_answers_while_the_first_is_away(shop: Shop) -> None:
    """The answer has its name, the log says why, and the doctor looks at both."""
    chat = shop.world.chat
    settings = {
        "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        "OPENAI_FALLBACK_MODEL": "gpt-4o-mini",
        "OPENAI_FALLBACK_BASE_URL": chat.base_url,
        "OPENAI_FALLBACK_API_KEY": chat.key,
    }
    asked, doctor = await shop("ask", ASKED, "--json", **settings), await shop("doctor", **settings)
    half = await shop("ask", ASKED, OPENAI_FALLBACK_BASE_URL=chat.base_url)

    logged = [line for line in map(json.loads, shop.log.splitlines()) if line["event"] == "fell_back"]
    assert (json.loads(asked.out)["status"], asked.code, bool(logged)) == ("answered", 0, True)
    assert logged[0]["reason"].startswith("The chat model's service cannot be reached.")
    looked = [line for line in lines(doctor) if "chat model  " in line]
    assert ([line[:4] for line in looked], looked[1].endswith(IN_USE)) == (["!!  ", "ok  "], True)
    assert (half.code != 0, "Set OPENAI_FALLBACK_MODEL too" in half.err) == (True, True)


async def test_drafted_cases_are_kept_where_the_model_then_fails(shop: Shop, tmp_path: Path) -> None:
    """Their file is as good as any, and what happened is said; where there is none, there is no file."""
    path, chat = tmp_path / "cases.jsonl", shop.world.chat
    chat.say("What do penguins build?")
    chat.say("", finish="content_filter")
    some = await shop("evaluate", str(path), "--make", "3")
    chat.broken = Reply(401, {"error": {"message": "no", "type": "auth", "code": "invalid_api_key"}})
    none = await shop("evaluate", str(tmp_path / "none.jsonl"), "--make", "3")

    assert (some.code, none.code != 0, (tmp_path / "none.jsonl").exists()) == (0, True, False)
    assert [json.loads(line)["question"] for line in path.read_text().splitlines()] == ["What do penguins build?"]
    assert some.out.startswith(f"{path} has 1 case, drafted by the chat model. ")
    assert some.err.startswith("Then it failed: ")


@pytest.mark.promise("answers-reviewed")
async def test_another_model_reviews_an_answer(shop: Shop) -> None:
    """It tells of a negation; while it is away, the answer is as it was written, and log and doctor say so."""
    chat, named = shop.world.chat, {"OPENAI_REVIEW_MODEL": "gpt-4o-mini"}
    said = ("Penguins build their nests of small stones [1].", "Penguins do not build their nests [1].")
    chat.say(" ".join(said))
    chat.say("2")
    reviewed, doctor = await shop("ask", ASKED, **named), await shop("doctor", **named)
    chat.say(" ".join(said))
    away = {**named, "OPENAI_REVIEW_BASE_URL": "http://127.0.0.1:1/v1"}
    alone, late = await shop("ask", ASKED, **away), await shop("doctor", **away)
    half = await shop("ask", ASKED, OPENAI_REVIEW_BASE_URL=chat.base_url)

    warned = "“Penguins do not build their nests.”"
    assert (warned in reviewed.out, reviewed.code, warned in alone.out, alone.code) == (True, 0, False, 0)
    logged = [line for line in map(json.loads, shop.log.splitlines()) if line["event"] == "service_failed"]
    assert [line["service"] for line in logged] == ["review model"]
    assert [line[:4] for each in (doctor, late) for line in lines(each) if "review model" in line] == ["ok  ", "!!  "]
    assert "calls tools" not in next(line for line in lines(doctor) if "review model" in line)
    assert (half.code != 0, "Set OPENAI_REVIEW_MODEL too" in half.err) == (True, True)


async def test_the_doctor_points_out_names_that_nobody_reads(shop: Shop) -> None:
    """That is advice, and no reason for a bad exit code; a likely slip is also told before an answer."""
    ended = await shop("doctor", OPENAI_MODLE="x", QDRANT_COLOUR="y")
    asked = await shop("ask", ASKED, OPENAI_MODLE="x", QDRANT_COLOUR="y")

    assert [line for line in lines(ended) if line.startswith("??")] == [
        "??  settings  OPENAI_MODLE is not a setting. Did you mean OPENAI_MODEL?",
        "??  settings  QDRANT_COLOUR is not a setting, and nothing reads it.",
    ]
    assert (ended.code, asked.code) == (0, 0)
    assert asked.err == "OPENAI_MODLE is not a setting. Did you mean OPENAI_MODEL?\n"


SECRETS = {
    "FOOTNOTE_SECRET_KEY": "planted-seal-0123456789abcdef0123456789",
    "OPENAI_API_KEY": "planted-chat-0123456789",
    "COHERE_API_KEY": "planted-cohere-0123456789",
    "QDRANT_API_KEY": "planted-qdrant-0123456789",
    "REDIS_URL": "redis://planted-user:planted-password@127.0.0.1:{port}/0",
}


DOCTOR, ASK, INGEST = ("doctor",), ("ask", ASKED, "--thread", "t"), ("ingest", str(Path(__file__).parent))
ASK_JSON = ("ask", ASKED, "--json")


@pytest.mark.promise("no-secrets")
@pytest.mark.parametrize(
    ("status", "commands"),
    [
        (None, (DOCTOR, ASK, ASK_JSON, INGEST)),
        (400, (DOCTOR, ASK, INGEST)),
        (401, (DOCTOR, ASK, INGEST)),
        (403, (DOCTOR, ASK_JSON, INGEST)),
        (404, (DOCTOR, ASK, INGEST)),
        (429, (ASK_JSON,)),
        (500, (ASK,)),
    ],
)
async def test_no_secret_is_ever_shown(shop: Shop, status: int | None, commands: tuple[tuple[str, ...], ...]) -> None:
    """Not by the doctor, by answers or by ingestion, on the screen or in the log, though services repeat the keys."""
    secrets = {name: value.format(port=shop.world.redis.port) for name, value in SECRETS.items()}
    echo = {"error": {"message": " ".join(secrets.values())}, "message": " ".join(secrets.values())}
    for service in (shop.world.chat, shop.world.cohere, shop.world.qdrant):
        service.broken = Reply(status, echo) if status else None  # without one, the keys are simply wrong

    ended = [await shop(*words, **secrets, FOOTNOTE_LOG_LEVEL="debug") for words in commands]

    assert "planted" not in "".join(f"{one.out}{one.err}" for one in ended) + shop.log
    assert 0 not in [one.code for one in ended]
