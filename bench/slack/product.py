"""The bot on Slack, in a process of its own, installed in all workspaces."""

from __future__ import annotations

import time
from functools import partial
from multiprocessing.connection import Connection

from bench.chat.product import Product
from bench.slack.load import App
from bench.slack.probes import SlackProbes
from bot.roles import Role
from bot.wiring.stores import Stores
from core.model import WorkspaceRef

HOST = "127.0.0.1"


def serve(pipe: Connection, app: App, model: str, seats: int, port: int) -> None:
    """Work until the pipe is closed; Slack is heard at the *port*, or over sockets where it is 0.

    The settings of an operator take sockets for one workspace alone; there is no such bound in what they are given to.
    """
    environment = {
        "SLACK_CLIENT_ID": app.client_id,
        "SLACK_CLIENT_SECRET": app.client_secret,
        "SLACK_SIGNING_SECRET": app.signing_secret,
        "SLACK_API_URL": app.api,
        **({"HOST": HOST, "PORT": str(port)} if port else {"SLACK_APP_TOKEN": app.app_token}),
    }
    product = Product(Role.SLACK, environment, SlackProbes(), partial(_install, app))
    product.serve(pipe, model=model, seats=seats)


async def _install(app: App, stores: Stores) -> None:
    """Leave what the installation in each workspace leaves."""
    from slack_sdk.oauth.installation_store import Bot

    from adapters.slack.oauth import VaultInstallations

    installations = VaultInstallations(stores.vault)
    for one in app.installed:
        bot = Bot(
            app_id=app.app_id,
            team_id=one.team_id,
            bot_token=one.token,
            bot_id=one.bot_id,
            bot_user_id=one.bot_user_id,
            installed_at=time.time(),
        )
        await installations.async_save_bot(bot)
        await stores.communities.allow(WorkspaceRef(platform="slack", workspace=one.team_id))
