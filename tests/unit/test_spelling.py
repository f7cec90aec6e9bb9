"""Names that look like settings and are none are pointed out."""

from __future__ import annotations

import pytest

from bot.settings import slips_of_settings
from bot.spelling import slips

KNOWN = {"OPENAI_MODEL", "OPENAI_API_KEY", "REDIS_URL", "FOOTNOTE_TOP_K"}


@pytest.mark.parametrize(
    ("name", "sentences"),
    [
        ("OPENAI_MODLE", ["OPENAI_MODLE is no setting. Did you mean OPENAI_MODEL?"]),
        ("OPENAI_MODEL", []),
        ("openai_model", []),
        ("OPEN_AI_API_KEY", ["OPEN_AI_API_KEY is no setting. Did you mean OPENAI_API_KEY?"]),
        ("FOOTNOTE_COLOUR", ["FOOTNOTE_COLOUR is no setting, and nothing reads it."]),
        ("FOOTNOTE_SHARED_DATA", []),
        ("PATH", []),
        ("RADIUS_URI", []),
    ],
)
def test_a_slip_is_pointed_out(name: str, sentences: list[str]) -> None:
    """By the nearest name, or as nothing that is read; what belongs to other programs is left alone."""
    assert [str(slip) for slip in slips([name], KNOWN)] == sentences


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is when the command starts."""
    monkeypatch.setenv("FOOTNOTE_TOPK", "7")

    assert [str(slip) for slip in slips_of_settings()] == ["FOOTNOTE_TOPK is no setting. Did you mean FOOTNOTE_TOP_K?"]
