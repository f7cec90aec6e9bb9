"""How much of the product one question passes: what a newcomer has to read to follow it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.commands import Footnote

ROOT = Path(__file__).resolve().parents[2]
CEILINGS = {"discord": (67, 428), "slack": (69, 432), "terminal": (36, 225)}
"""The most modules and functions, by platform: what somebody can still read in an afternoon."""
MOST_COMMANDS = 97


@pytest.mark.parametrize("platform", CEILINGS)
def test_a_question_passes_no_more_of_the_product_than_can_be_read(footnote: Footnote, platform: str) -> None:
    """A house in which one question passes more is too large to be known, whatever it gained by that."""
    command = [sys.executable, "-m", "bench.path", "--data", str(footnote.data), platform]
    told = subprocess.run(command, cwd=ROOT, env=footnote.env(), capture_output=True, text=True, check=True)

    found = re.fullmatch(rf"{platform} (\d+) modules (\d+) functions\n", told.stdout)
    assert found, told.stdout
    modules, functions = int(found[1]), int(found[2])
    most_modules, most_functions = CEILINGS[platform]
    assert (modules <= most_modules, functions <= most_functions) == (True, True), told.stdout
    assert (modules > 10, functions > 100) == (True, True), told.stdout


@pytest.mark.parametrize("platform", ["discord", "slack"])
def test_a_question_costs_the_store_few_commands(footnote: Footnote, platform: str) -> None:
    """Counted are all, also those within scripts; what is asked for every second or two, whoever asks, comes beside."""
    command = [sys.executable, "-m", "bench.path", "--commands", "--data", str(footnote.data), platform]
    told = subprocess.run(command, cwd=ROOT, env=footnote.env(), capture_output=True, text=True, check=True)

    found = re.fullmatch(rf"{platform} (\d+) commands (\d+) of clients (\d+) of polls\n", told.stdout)
    assert found, told.stdout
    commands, of_clients = int(found[1]), int(found[2])
    assert (commands <= MOST_COMMANDS, of_clients <= commands / 4) == (True, True), told.stdout
    assert (commands > 50, of_clients > 10) == (True, True), told.stdout
