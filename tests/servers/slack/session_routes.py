"""Calls about what an agent lets people see of its work."""

from __future__ import annotations

from typing import Any, cast

from tests.servers.slack.channels import Channel
from tests.servers.slack.platform import Platform
from tests.servers.slack.refusals import Refusal, invalid_arguments
from tests.servers.slack.routes import TIERS, Call, Route
from tests.servers.slack.sessions import Prompts, Session, Status
from tests.servers.slack.shape import Json
from tests.servers.slack.stream_routes import STATUSES

WARNING = "missing_agent_session_stopped_event_subscription"
TITLE = 200
PROMPTS, LOADING = 4, 10


def _thread(platform: Platform, call: Call) -> tuple[Channel, str]:
    channel = call.channel(platform, "channel_id")
    platform.require_member(call.installation, channel)
    thread_ts = call.need("thread_ts")
    root = platform.messages.get((channel.id, thread_ts))
    if root is None or root.deleted:
        raise Refusal("thread_not_found")
    return channel, thread_ts


def _title(call: Call) -> str:
    title = call.text("title")
    if len(title) > TITLE:
        raise invalid_arguments(f"must be less than {TITLE + 1} characters: title")
    return title


def _set_status(platform: Platform, call: Call) -> Json:
    status = call.need("status")
    if status not in STATUSES:
        raise invalid_arguments("must be one of active, processing, suspended, closed: status")
    title = _title(call)
    channel, thread_ts = _thread(platform, call)
    session = platform.sessions.setdefault((channel.id, thread_ts), Session("", title))
    session.set(status)
    said: Json = {"status": "ok", "agent_status": status, "title": session.title}
    if "agent_session_stopped" in platform.subscriptions:
        return said
    return {**said, "warning": WARNING, "response_metadata": {"warnings": [WARNING]}}


def _rename(platform: Platform, call: Call) -> Json:
    call.need("title")
    channel, thread_ts = _thread(platform, call)
    session = platform.sessions.get((channel.id, thread_ts))
    if session is None:
        raise Refusal("session_not_found")
    session.title = _title(call)
    return {"title": session.title}


def _older_status(platform: Platform, call: Call) -> Json:
    channel, thread_ts = _thread(platform, call)
    if "status" not in call.args:
        raise invalid_arguments("missing required field: status")
    if len(call.json("loading_messages") or []) > LOADING:
        raise invalid_arguments(f"no more than {LOADING} items allowed: loading_messages")
    if call.text("status"):
        platform.statuses[channel.id, thread_ts] = Status(call.text("status"), platform.clock.time())
    else:
        platform.statuses.pop((channel.id, thread_ts), None)
    return {}


def _older_title(platform: Platform, call: Call) -> Json:
    channel, thread_ts = _thread(platform, call)
    platform.titles[channel.id, thread_ts] = call.need("title")
    return {}


def _prompts(platform: Platform, call: Call) -> Json:
    channel = call.channel(platform, "channel_id")
    if not channel.is_direct:
        raise Refusal("channel_type_not_supported")
    given: Any = call.json("prompts")
    if not isinstance(given, list) or not 1 <= len(cast("list[Json]", given)) <= PROMPTS:
        raise invalid_arguments(f"between 1 and {PROMPTS} items allowed: prompts")
    prompts = cast("list[Json]", given)
    if not all(prompt.get("title") and prompt.get("message") for prompt in prompts):
        raise invalid_arguments("missing required field: prompts")
    platform.prompts.append(Prompts(channel.id, call.text("thread_ts") or None, call.text("title") or None, prompts))
    return {}


ROUTES = (
    Route("agents.sessions.setStatus", _set_status, ("chat:write",), TIERS[3]),
    Route("agents.sessions.rename", _rename, ("chat:write",), TIERS[3]),
    Route("assistant.threads.setStatus", _older_status, ("assistant:write", "chat:write"), 600),
    Route("assistant.threads.setTitle", _older_title, ("assistant:write",), TIERS[3]),
    Route("assistant.threads.setSuggestedPrompts", _prompts, ("assistant:write",), TIERS[3]),
)
