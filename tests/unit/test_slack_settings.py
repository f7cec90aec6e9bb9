"""What is set for Slack has to go together, and is told in one sentence where it does not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.settings import read_settings
from bot.settings.fields import HALF, MUTE, NO_SOCKETS, ONE_OR_MANY, UNHEARD, UNSIGNED
from core.errors import Misconfigured

BOT = {"SLACK_BOT_TOKEN": "xoxb-1"}
APP = {"SLACK_APP_TOKEN": "xapp-1"}
SIGNED = {"SLACK_SIGNING_SECRET": "5ecret"}
CLIENT = {"SLACK_CLIENT_ID": "1.2", "SLACK_CLIENT_SECRET": "s3cret"}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path) -> Iterator[None]:
    """No `.env` of whoever runs the tests is read."""
    with contextlib.chdir(tmp_path):
        yield


@pytest.mark.promise("says-what-to-do")
@pytest.mark.parametrize(
    ("given", "says"),
    [
        (BOT | APP, None),
        (BOT | SIGNED, None),
        (BOT | APP | SIGNED, None),
        (CLIENT | SIGNED, None),
        (BOT, UNHEARD),
        (APP, MUTE),
        (SIGNED, MUTE),
        ({"SLACK_CLIENT_ID": "1.2"} | SIGNED, HALF),
        ({"SLACK_CLIENT_SECRET": "s"}, HALF),
        (CLIENT | SIGNED | BOT, ONE_OR_MANY),
        (CLIENT | SIGNED | APP, NO_SOCKETS),
        (CLIENT, UNSIGNED),
    ],
)
def test_a_combination_is_taken_or_told(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], says: str | None
) -> None:
    """Each of them means that somebody wants Slack, and whatever is missing is named."""
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    settings = read_settings()

    with pytest.raises(Misconfigured, match=says) if says else contextlib.nullcontext():
        settings.check_slack()

    assert settings.has_slack


@pytest.mark.promise("no-secrets")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLACK_BOT_TOKEN", "xapp-hunter2"),
        ("SLACK_BOT_TOKEN", "xoxp-hunter2"),
        ("SLACK_APP_TOKEN", "xoxb-hunter2"),
        ("SLACK_SIGNING_SECRET", "hunter2 hunter2"),
        ("SLACK_MODERATORS", "@hunter2"),
        ("SLACK_API_URL", "hunter2.example"),
        ("PORT", "hunter2"),
    ],
)
def test_what_cannot_be_right_is_named_and_not_repeated(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """Tokens that were mixed up, names in the place of ids, and addresses that are none."""
    monkeypatch.setenv(name, value)

    with pytest.raises(Misconfigured, match=rf"^Some settings cannot be used\.\n{name}: ") as refused:
        read_settings()

    assert "hunter2" not in str(refused.value)


def test_without_any_of_them_there_is_no_slack(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that a host gives to every process does not mean it."""
    monkeypatch.setenv("PORT", "8080")
    settings = read_settings()

    assert (settings.has_slack, settings.port, settings.host) == (False, 8080, "0.0.0.0")
