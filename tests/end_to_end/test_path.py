"""How much of the product one question passes: what a newcomer has to read to follow it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from tests.fixtures.commands import Footnote

ROOT = Path(__file__).resolve().parents[2]
CEILINGS = {"discord": (72, 489), "slack": (75, 493), "terminal": (41, 272)}
"""The most modules and functions, by platform: what somebody can still read in an afternoon."""
MOST_COMMANDS = {"command": 100, "follow-up": 93, "mention": 86}
MOST_OF_CLIENTS = 24


@pytest.fixture(name="measured", scope="module")
def _measured(ingested: Path) -> Callable[..., list[str]]:
    """Give a way to have questions measured, of which each has a process of its own; it returns the lines."""

    def measure(*words: str) -> list[str]:
        command = [sys.executable, "-m", "bench.path", "--data", str(ingested), *words]
        env = Footnote(ingested).env()
        return subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True, check=True
        ).stdout.splitlines()

    return measure


@pytest.mark.timeout(400)  # one platform after the other
def test_a_question_passes_no_more_of_the_product_than_can_be_read(measured: Callable[..., list[str]]) -> None:
    """A house in which one question passes more is too large to be known, whatever it gained by that."""
    told = measured(*CEILINGS)

    found = {line.split()[0]: tuple(map(int, re.findall(r"(\d+) (?:modules|functions)", line))) for line in told}
    assert list(found) == list(CEILINGS), told
    for platform, (modules, functions) in found.items():
        most_modules, most_functions = CEILINGS[platform]
        assert (modules <= most_modules, functions <= most_functions) == (True, True), told
        assert (modules > 10, functions > 100) == (True, True), told


@pytest.mark.timeout(400)
def test_a_question_costs_the_store_few_commands(measured: Callable[..., list[str]]) -> None:
    """In each way of asking, those within scripts included; what comes every second or two, whoever asks, is apart."""
    told = measured("--commands", "discord", "slack")

    pattern = r"(\w+) ([\w-]+) (\d+) commands (\d+) of clients (\d+) of polls"
    found = [each for line in told if (each := re.fullmatch(pattern, line))]
    assert [(each[1], each[2]) for each in found] == list(product(("discord", "slack"), MOST_COMMANDS)), told
    for way, commands, of_clients in ((each[2], int(each[3]), int(each[4])) for each in found):
        assert (commands <= MOST_COMMANDS[way], of_clients <= MOST_OF_CLIENTS) == (True, True), " ".join(told)
        assert (commands > 50, of_clients > 10) == (True, True), told
