"""Calls about the bot itself, about people, groups and workspaces."""

from __future__ import annotations

from tests.servers.slack.payloads import user_payload
from tests.servers.slack.platform import Platform
from tests.servers.slack.refusals import Refusal
from tests.servers.slack.routes import TIERS, Call, Route, paged
from tests.servers.slack.shape import Json


def _test(platform: Platform, call: Call) -> Json:
    """Say whose token it is; one for a whole organisation belongs to no workspace."""
    installation = call.installation
    workspace = call.workspace(platform)
    is_org = installation.is_enterprise_install
    return {
        "url": f"https://{workspace.domain}.slack.com/",
        "team": workspace.name,
        "user": installation.bot.name,
        "team_id": installation.enterprise_id if is_org else workspace.team_id,
        "user_id": installation.bot.id,
        "bot_id": installation.bot_id,
        "is_enterprise_install": is_org,
        **({"enterprise_id": installation.enterprise_id} if installation.enterprise_id else {}),
    }


def _user(platform: Platform, call: Call) -> Json:
    """Say who somebody is, if the bot can see that person: of its workspaces, or met in a shared channel."""
    user = platform.users.get(call.need("user"))
    if user is None:
        raise Refusal("user_not_found")
    installation = call.installation
    meets = any(user.id in one.members and platform.sees(installation, one) for one in platform.channels.values())
    is_here = not {user.team_id, *user.teams}.isdisjoint(installation.teams)
    if not is_here and not meets and not user.is_stranger:
        raise Refusal("user_not_visible")
    payload = user_payload(user, call.workspace(platform).team_id)
    if call.flag("include_locale", default=False):
        payload["locale"] = user.locale
    return {"user": payload}


def _list(platform: Platform, call: Call) -> Json:
    """List the people of a workspace, page by page."""
    team = call.workspace(platform).team_id
    here = [user_payload(user, team) for user in platform.users.values() if team in {user.team_id, *user.teams}]
    return paged(call, "members", here)


def _bot(platform: Platform, call: Call) -> Json:
    installation = call.installation
    if call.text("bot") not in ("", installation.bot_id):
        raise Refusal("bot_not_found")
    bot: Json = {"id": installation.bot_id, "app_id": installation.app_id, "user_id": installation.bot.id}
    return {"bot": {**bot, "name": installation.bot.name, "deleted": False}}


def _team(platform: Platform, call: Call) -> Json:
    workspace = call.workspace(platform)
    return {"team": {"id": workspace.team_id, "name": workspace.name, "domain": workspace.domain}}


def _group(platform: Platform, call: Call) -> Json:
    found = call.workspace(platform).groups.get(call.need("usergroup"))
    if found is None:
        raise Refusal("no_such_subteam")
    return {"users": found}


ROUTES = (
    Route("auth.test", _test, (), 0),
    Route("users.info", _user, ("users:read",), TIERS[4]),
    Route("users.list", _list, ("users:read",), TIERS[2]),
    Route("bots.info", _bot, ("users:read",), TIERS[3]),
    Route("team.info", _team, ("team:read",), TIERS[3]),
    Route("usergroups.users.list", _group, ("usergroups:read",), TIERS[2]),
)
