"""What is posted to the addresses at which interactions are answered."""

from __future__ import annotations

from typing import Any

from tests.servers.slack.blocks import TEXT, read_blocks
from tests.servers.slack.messages import Message
from tests.servers.slack.platform import Platform
from tests.servers.slack.posting import create, delete, edit
from tests.servers.slack.refusals import Refusal
from tests.servers.slack.response_urls import LIFE, USES, ResponseUrl
from tests.servers.slack.shape import Json


def respond(platform: Platform, path: str, body: Json) -> None:
    """Do what a post to such an address says. Raises `Refusal`."""
    url = platform.response_urls.get(path)
    if url is None:
        raise Refusal("no_service")
    if platform.clock.time() - url.at > LIFE:
        raise Refusal("expired_url")
    if len(url.posts) >= USES:
        raise Refusal("used_url")
    original = platform.messages.get(url.original) if url.original else None
    if body.get("delete_original"):
        url.posts.append("deleted")
        if original is not None:
            delete(platform, platform.channels[original.channel_id], original)
        return
    content = _content(body)
    url.posts.append(content["text"])
    if body.get("replace_original") and original is not None and not original.deleted:
        edit(platform, platform.channels[original.channel_id], original, **content)
        return
    content["thread_ts"] = str(body["thread_ts"]) if body.get("thread_ts") else url.thread_ts
    message = say(platform, url, content, ephemeral=body.get("response_type", "ephemeral") != "in_channel")
    url.original = url.original or (message.channel_id, message.ts)


def say(platform: Platform, url: ResponseUrl, content: Json, *, ephemeral: bool) -> Message:
    """Let the bot answer an interaction, also where it is not in the channel."""
    workspace = platform.workspaces[url.team_id]
    message = Message(
        ts=platform.new_ts(),
        channel_id=url.channel_id,
        team_id=url.team_id,
        user_id=workspace.bot.id,
        bot_id=workspace.bot_id,
        app_id=workspace.app_id,
        seen_by=url.user_id if ephemeral else None,
        unfurls=False,
        **content,
    )
    return create(platform, platform.channels[url.channel_id], message)


def _content(body: Json) -> Json:
    text: Any = body.get("text") or ""
    blocks = read_blocks(body["blocks"]) if body.get("blocks") else []
    if len(str(text)) > TEXT:
        raise Refusal("msg_too_long")
    if not (str(text).strip() or blocks):
        raise Refusal("no_text")
    return {"text": str(text), "blocks": blocks}
