"""What the unit tests of the core share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.chat import Script, ScriptedChatModel, ScriptedTurn


@pytest.fixture
def script() -> Iterator[Script]:
    """Make scripted models, and fail the test if one of them has turns left."""
    made: list[ScriptedChatModel] = []

    def make(*turns: ScriptedTurn, reads_history: bool = True) -> ScriptedChatModel:
        made.append(ScriptedChatModel(*turns, reads_history=reads_history))
        return made[-1]

    yield make
    for model in made:
        model.check()
