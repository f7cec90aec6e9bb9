"""Calls about forms and homes."""

from __future__ import annotations

from typing import Any, cast

from tests.servers.slack.blocks import VIEW_BLOCKS, read_blocks
from tests.servers.slack.platform import Platform
from tests.servers.slack.refusals import Refusal, invalid_arguments, invalid_blocks
from tests.servers.slack.routes import TIERS, Call, Route
from tests.servers.slack.shape import Json
from tests.servers.slack.users import User
from tests.servers.slack.views import View

TITLE, METADATA, CALLBACK = 24, 3000, 255


def read_view(given: Any, kind: str) -> Json:
    """Read and check a view. Raises `Refusal`."""
    if not isinstance(given, dict):
        raise invalid_arguments("must provide an object [json-pointer:/view]")
    view = cast("Json", given)
    if view.get("type") != kind:
        raise invalid_arguments(f"must be {kind} [json-pointer:/view/type]")
    if kind == "modal":
        _check_words(view)
    for name, most in (("private_metadata", METADATA), ("callback_id", CALLBACK)):
        if len(view.get(name) or "") > most:
            raise invalid_arguments(f"must be less than {most + 1} characters [json-pointer:/view/{name}]")
    try:
        blocks = read_blocks(view.get("blocks"), most=VIEW_BLOCKS)
    except Refusal as refusal:
        raise invalid_blocks(str(refusal), "/view/blocks", code="invalid_arguments") from refusal
    return {**view, "blocks": blocks}


def _check_words(view: Json) -> None:
    for name in ("title", "submit", "close"):
        text: Json | None = view.get(name)
        if (text is None and name == "title") or (text is not None and not 1 <= len(text["text"]) <= TITLE):
            raise invalid_arguments(f"must be less than {TITLE + 1} characters [json-pointer:/view/{name}]")


def add_view(platform: Platform, given: Json, user: User, team_id: str, root: View | None = None) -> View:
    """Show somebody a new view, perhaps on another one."""
    workspace = platform.workspaces[team_id]
    view_id = platform.new_id("V")
    view = View(
        id=view_id,
        hash=platform.new_ts(),
        team_id=team_id,
        user_id=user.id,
        given=given,
        root_id=view_id if root is None else root.root_id,
        app_id=workspace.app_id,
        bot_id=workspace.bot_id,
    )
    platform.views[view.id] = view
    return view


def _open(platform: Platform, call: Call) -> Json:
    given = read_view(call.json("view"), "modal")
    trigger = platform.use_trigger(call.need("trigger_id"))
    view = add_view(platform, given, platform.users[trigger.user_id], trigger.team_id)
    return {"view": view.payload()}


def _push(platform: Platform, call: Call) -> Json:
    given = read_view(call.json("view"), "modal")
    trigger = platform.use_trigger(call.need("trigger_id"))
    below = [one for one in platform.views.values() if one.user_id == trigger.user_id and one.is_open]
    if not below:
        raise Refusal("not_found")
    view = add_view(platform, given, platform.users[trigger.user_id], trigger.team_id, below[-1])
    return {"view": view.payload()}


def _update(platform: Platform, call: Call) -> Json:
    view = platform.views.get(call.need("view_id"))
    if view is None or not view.is_open:
        raise Refusal("not_found")
    if call.text("hash") not in ("", view.hash):
        raise Refusal("hash_conflict")
    view.change(read_view(call.json("view"), "modal"), platform.new_ts())
    return {"view": view.payload()}


def _publish(platform: Platform, call: Call) -> Json:
    user = platform.users.get(call.need("user_id"))
    if user is None or user.is_bot:
        raise invalid_arguments("invalid `user_id`")
    given = read_view(call.json("view"), "home")
    home = platform.homes.get(user.id)
    if home is None:
        home = platform.homes[user.id] = add_view(platform, given, user, call.workspace(platform).team_id)
    elif call.text("hash") not in ("", home.hash):
        raise Refusal("hash_conflict")
    else:
        home.change(given, platform.new_ts())
    return {"view": home.payload()}


ROUTES = (
    Route("views.open", _open, (), TIERS[4]),
    Route("views.push", _push, (), TIERS[4]),
    Route("views.update", _update, (), TIERS[4]),
    Route("views.publish", _publish, (), TIERS[4]),
)
