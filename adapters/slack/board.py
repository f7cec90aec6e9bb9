"""Where notices stand on Slack: in the thread of the question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.chat.full_house import ASIDE
from adapters.chat.posting import nonce
from adapters.slack.channels import below, place_of
from adapters.slack.client.lost import LostPosts

if TYPE_CHECKING:
    from adapters.slack.client.poster import ThreadPoster
    from adapters.slack.client.workspaces import Workspace, Workspaces
    from core.model import Notice


class SlackBoard:
    """Implements `Board`. A notice bears a mark, by which it is found."""

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def poster(self, notice: Notice) -> ThreadPoster:
        """Give what replies to the question."""
        return below(notice.question, await self._workspace(notice))

    async def find(self, notice: Notice) -> str | None:
        """Look for the mark in the thread; None where the bot may not read."""
        posts = LostPosts(place_of(notice.question, await self._workspace(notice)), all_in_doubt=True)
        return await posts.find(nonce(notice.question, notice.revision, ASIDE))

    async def _workspace(self, notice: Notice) -> Workspace:
        return await self._workspaces.find(notice.question.thread.workspace)
