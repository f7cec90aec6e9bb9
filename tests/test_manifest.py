"""What the app asks Slack for, what is listened to, and what the documents say are the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from adapters.slack.commands import ANSWER_FROM, SHOW_SOURCES
from adapters.slack.history import KINDS
from adapters.slack.http import PATH
from adapters.slack.listener import HEARD
from adapters.slack.oauth import BEGIN, END, SCOPES
from adapters.slack.slash import NAME, ParsedCommand, parsed
from bot.cli import app

ROOT = Path(__file__).resolve().parents[1]
MANIFEST: dict[str, Any] = json.loads((ROOT / "manifest.json").read_text())
DOCS = (ROOT / "docs" / "slack.md").read_text()
NEEDED = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "chat.postMessage": "chat:write",
    "files.info": "files:read",
    "reactions.add": "reactions:write",
    "users.info": "users:read",
    "usergroups.users.list": "usergroups:read",
    "users.conversations": "channels:read",
    "private_channel": "groups:read",
    "im": "im:read",
    "mpim": "mpim:read",
    "assistant.threads.setSuggestedPrompts": "assistant:write",
    NAME: "commands",
}
"""One thing that each scope is needed for; all else that the bot does needs one of these or none."""
FREE = {"auth.test", "views.open", "views.publish", "views.update", "apps.connections.open", "oauth.v2.access"}
FAMILIES = {
    "users": "users:read",
    "chat": "chat:write",
    "agents": "chat:write",
    "reactions": "reactions:write",
    "assistant": "assistant:write",
}


def test_the_manifest_for_http_is_the_same_with_addresses() -> None:
    """It is what `footnote manifest --http` prints, and nothing else differs."""
    written = (ROOT / "manifest-http.json").read_text()
    printed = CliRunner().invoke(app, ["manifest", "--http", "https://bot.example.org/"]).stdout
    settings, features = json.loads(written)["settings"], json.loads(written)["features"]

    assert printed == written
    assert {
        settings["event_subscriptions"]["request_url"],
        settings["interactivity"]["request_url"],
        *(command["url"] for command in features["slash_commands"]),
    } == {f"https://bot.example.org{PATH}"}
    assert (settings["socket_mode_enabled"], MANIFEST["settings"]["socket_mode_enabled"]) == (False, True)
    assert {*written.splitlines()} >= {*(ROOT / "manifest.json").read_text().splitlines()} - {
        '    "socket_mode_enabled": true,',
        '        "should_escape": true',
        '      "is_enabled": true',
    }


@pytest.mark.parametrize("address", ["http://bot.example.org", "bot.example.org", "https:// bot.example.org"])
def test_slack_is_given_no_address_that_it_would_refuse(address: str) -> None:
    """It calls over HTTPS alone."""
    ended = CliRunner().invoke(app, ["manifest", "--http", address])

    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "One looks like https://bot.example.org." in ended.stderr


def named(wanted: ParsedCommand) -> str:
    """Name a command that can be carried out as it is written; nothing for what is not understood."""
    command = wanted.command
    if command is None or wanted.values is None:
        return ""
    return f"admin {command.name}" if command.for_moderators else command.name


def events() -> set[str]:
    """Give the events that the app subscribes to."""
    return set(MANIFEST["settings"]["event_subscriptions"]["bot_events"])


@pytest.mark.promise("manifest")
def test_every_event_that_is_asked_for_is_listened_to() -> None:
    """And the other way round."""
    assert {name.partition(".")[0] for name in events()} == set(HEARD)


@pytest.mark.promise("manifest")
@pytest.mark.promise("least-rights")
def test_the_scopes_are_those_that_are_used() -> None:
    """Each is needed by an event, a call or the command, and none is missing."""
    sources = "".join(path.read_text() for path in sorted((ROOT / "adapters" / "slack").rglob("*.py")))
    calls = set(
        re.findall(r"\"((?:chat|agents|assistant|files|reactions|users|usergroups|views|auth|apps)\.[\w.]+)\"", sources)
    )
    used = {scope for need, scope in NEEDED.items() if need in events() | calls | {NAME, *KINDS}}
    of_calls = {NEEDED.get(call) or FAMILIES[call.partition(".")[0]] for call in calls - FREE}

    assert used == set(MANIFEST["oauth_config"]["scopes"]["bot"]) == set(SCOPES)
    assert of_calls <= used


@pytest.mark.promise("manifest")
def test_command_and_shortcuts_are_those_that_are_installed() -> None:
    """People in commands come as ids, and what the hint of the command names is understood."""
    (command,) = MANIFEST["features"]["slash_commands"]
    shortcuts = {each["callback_id"]: each["type"] for each in MANIFEST["features"]["shortcuts"]}
    words = [hint.replace("[--private] ", "").strip() for hint in command["usage_hint"].split("|")]

    assert (command["command"], command["should_escape"]) == (NAME, True)
    assert shortcuts == {ANSWER_FROM: "message", SHOW_SOURCES: "message"}
    assert [named(parsed(word)) for word in words] == ["ask", "documents", "me", "forget", "help", "privacy"]


def test_slack_takes_the_manifest() -> None:
    """Its texts are short enough, the home and the messages are there, and nothing is asked of people's own tokens."""
    shown, features = MANIFEST["display_information"], MANIFEST["features"]
    lengths = {
        35: [shown["name"], features["bot_user"]["display_name"]],
        140: [shown["description"]],
        300: [features["agent_view"]["agent_description"]],
        4_000: [shown["long_description"]],
        24: [each["name"] for each in features["shortcuts"]],
        150: [each["description"] for each in features["shortcuts"]],
        2_000: [each["description"] for each in features["slash_commands"]],
    }

    assert [text for limit, texts in lengths.items() for text in texts if len(text) > limit] == []
    assert len(shown["long_description"]) >= 175
    assert features["app_home"] == {
        "home_tab_enabled": True,
        "messages_tab_enabled": True,
        "messages_tab_read_only_enabled": False,
    }
    assert (MANIFEST["settings"]["socket_mode_enabled"], MANIFEST["settings"]["interactivity"]["is_enabled"]) == (
        True,
        True,
    )
    assert set(MANIFEST["oauth_config"]["scopes"]) == {"bot"}


@pytest.mark.promise("manifest")
def test_the_documents_name_what_is_there() -> None:
    """The shortcuts, the words of the command, the addresses, and what is to be changed in the manifest."""
    features, settings = MANIFEST["features"], MANIFEST["settings"]
    names = [each["name"] for each in features["shortcuts"]]
    changed = [name for name in settings if name.endswith("_enabled")]
    orders = set(re.findall(rf"`{NAME} ([a-z ]+?)(?: [A-Z]+)?`", DOCS))

    assert [word for word in (*names, *changed, PATH, BEGIN, END, "connections:write") if word not in DOCS] == []
    assert {order: named(parsed(f"{order} x" if order == "ask" else order)) for order in orders - {"admin"}} == {
        "ask": "ask",
        "documents": "documents",
        "me": "me",
        "forget me": "forget",
        "help": "help",
        "privacy": "privacy",
        "admin resume": "admin resume",
        "admin resume here": "admin resume",
        "admin guests on here": "admin guests",
    }
