"""The message that stands for a question that somebody asked by a command, before everybody in the channel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adapters.chat.posting import nonce
from adapters.retry import BRIEF
from adapters.slack.api import never_arrived, once, pages, tell
from adapters.slack.client.lost import EARLY, mark, nonce_of
from adapters.slack.commands.context import Kit
from adapters.slack.commands.situation import Used
from adapters.slack.dialect import SLACK
from core.errors import PostingFailed, Rejected, Unreachable
from core.model import QUESTION_LIMIT, MessageRef, Question

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient


class Root:
    """Is posted once for each use of a command, however often that is tried, and begins the thread of the answer."""

    def __init__(self, kit: Kit, used: Used, question: Question, *, is_in_doubt: bool) -> None:
        """Begin; *is_in_doubt* where another process may have posted it."""
        self._kit = kit
        self._used = used
        self._question = question
        self._is_in_doubt = is_in_doubt
        self._id = ""
        self.is_refused = False  # and the question was put where one person sees it

    async def post(self) -> MessageRef:
        """Return the message, which is posted unless it stands there. Raises `PostingFailed`."""
        client = await self._client()
        self._id = self._id or await self._found(client) or await self._posted(client)
        return self._used.root(self._id)

    async def remove(self) -> None:
        """Take the message away, if there is one. Raises `PostingFailed`."""
        client = await self._client()
        if found := self._id or await self._found(client):
            await tell(client, "chat.delete", channel=self._used.channel, ts=found)

    async def _posted(self, client: AsyncWebClient) -> str:
        text = await self._text()
        self._is_in_doubt = True  # also if this is broken off
        try:
            said = await tell(
                client,
                "chat.postMessage",
                channel=self._used.channel,
                text=text,
                unfurl_links=False,
                unfurl_media=False,
                metadata=mark(self._nonce),
            )
        except PostingFailed as failure:
            self._is_in_doubt = isinstance(failure, Unreachable) and not never_arrived(failure)
            if found := await self._found(client):
                return found
            raise
        return str(said["ts"])

    async def _found(self, client: AsyncWebClient) -> str:
        """Look for the message where nobody knows whether it stands there; empty if not, or if the bot may not read."""
        if not self._is_in_doubt:
            return ""
        oldest = f"{self._used.at.timestamp() - EARLY:.6f}"
        retrying = replace(BRIEF, sleep=self._kit.services.sleep).begin()
        given = {"channel": self._used.channel, "oldest": oldest, "include_all_metadata": "true"}
        try:
            async for page in pages(retrying, client, "conversations.history", "messages", **given):
                for one in page:
                    if nonce_of(one) == self._nonce:
                        return str(one["ts"])
        except Rejected:
            return ""
        return ""

    async def _client(self) -> AsyncWebClient:
        return once((await self._kit.workspaces.find(self._used.workspace)).client)

    @property
    def _nonce(self) -> str:
        return nonce(self._used.private_message, 0, 0)

    async def _text(self) -> str:
        """Say who asks what, without notifying anybody."""
        try:
            name = (await self._kit.people.profile(self._used.workspace, self._used.user)).name
        except PostingFailed:
            name = ""
        asks = SLACK.on_one_line(self._question.text, QUESTION_LIMIT)
        return f"*{SLACK.on_one_line(name or self._used.name or 'Somebody')} asks:* {asks}"
