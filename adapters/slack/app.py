"""The app that listeners are brought to: whose events it takes, and what becomes of their failures."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.response import BoltResponse

from adapters.slack.workspaces import NotInstalled, Workspaces, name_of
from core.errors import PostingFailed, Unavailable
from core.events import unobserved

if TYPE_CHECKING:
    from slack_bolt.context.async_context import AsyncBoltContext
    from slack_sdk.web.async_client import AsyncWebClient

NAME = "slack_bolt.footnote"  # below the name of the library, so that what is logged goes the same way
NOT_HERE = "I am not installed in this workspace any more."
WRONG, AWAY = 500, 503


class Authorize(AsyncAuthorize):
    """Says for whom an event is. The library's own way would ask Slack about each of them."""

    def __init__(self, workspaces: Workspaces) -> None:
        super().__init__()
        self._workspaces = workspaces

    async def __call__(
        self,
        *,
        context: AsyncBoltContext,
        enterprise_id: str | None,
        team_id: str | None,
        user_id: str | None,
        **_: Any,
    ) -> AuthorizeResult | None:
        """Return the bot of a workspace; None where there is none. Raises what is worth another delivery."""
        name = name_of(team_id or "", enterprise_id or "", context.is_enterprise_install or False)
        try:
            workspace = await self._workspaces.find(name)
        except NotInstalled:
            return None
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_id=workspace.bot_id,
            bot_user_id=workspace.bot_user_id,
            bot_token=workspace.client.token,
            user_id=user_id,
        )


def make_app(
    workspaces: Workspaces,
    client: AsyncWebClient,
    *,
    signing_secret: str = "",
    failed: Callable[[Exception], None] = unobserved,
) -> AsyncApp:
    """Return an app without listeners.

    Slack is answered when a listener is over. What a listener could not do is not acknowledged, so that Slack sends it
    again; *failed* hears of it. The client's session is what all requests share.
    """
    logger = logging.getLogger(NAME)
    logger.setLevel(logging.ERROR)  # it warns of settings in the environment that it need not know of
    app = AsyncApp(
        name=NAME,
        logger=logger,
        client=client,
        authorize=cast("Any", Authorize(workspaces)),  # the library's annotation leaves out its own None
        signing_secret=signing_secret,
        process_before_response=True,
        user_facing_authorize_error_message=NOT_HERE,
        ssl_check_enabled=False,  # it would be answered without a signature
        ignoring_self_events_enabled=False,  # it takes a deletion for the deed of whoever wrote what is deleted
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
    )

    async def on_error(error: Exception) -> BoltResponse:
        failed(error)
        return BoltResponse(status=AWAY if isinstance(error, Unavailable | PostingFailed) else WRONG, body="")

    app.error(on_error)
    return app
