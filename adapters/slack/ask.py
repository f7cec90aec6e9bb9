"""Questions that are asked by a command or a form: accepted before Slack hears that they came, and moved after."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adapters.chat.background import settle
from adapters.chat.platform import nonce
from adapters.retry import BRIEF, Retrying
from adapters.slack.api import never_arrived, pages, tell
from adapters.slack.dialect import SLACK
from adapters.slack.interactions import URL_LIFE, InteractionContext
from adapters.slack.poster import EARLY, nonce_of
from core.errors import PostingFailed, RateLimited, Rejected, Unavailable, Unreachable
from core.model import QUESTION_LIMIT, Asked, Interaction, MessageRef, Question, ReplyAddress

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient


def asked_by(context: InteractionContext, text: str, *, selection: str | None = None, is_private: bool = True) -> Asked:
    """Return a question under the id of what was used; raises `InvalidInput` with a sentence for whoever asks.

    A private answer goes to the person by the `response_url`, while that lives, and shows where the command was used.
    """
    ends = (context.url_since or context.at) + URL_LIFE
    way = Interaction(id=context.trigger, token=context.response_url, expires_at=ends)
    question = Question.create(
        message=context.private_message,
        text=text,
        selection=selection,
        author=context.person,
        asked_at=context.at,
        visibility="private" if is_private else "thread",
        **context.slack.chat.terms.model_dump(),
    )
    where = context.in_thread(context.thread_ts if context.is_inside else context.trigger)
    return Asked(question=question, address=ReplyAddress(thread=where, interaction=way))


async def put(context: InteractionContext, asked: Asked, until: float) -> None:
    """Move a question that was accepted under its message: a post in the channel, or what only the asker sees."""
    message = QuestionMessage(context, is_in_doubt=False)

    async def excuse(text: str) -> bool:
        """Tell the asker that there will be no answer, once no message stands for the question any more."""
        with suppress(PostingFailed):
            await message.remove()
        return await context.tell(text, replaces=asked.question.visibility == "private")

    await settle(context.slack.chat, asked, until, message.place, excuse)


@dataclass(slots=True)
class QuestionMessage:
    """The message that stands for a question before everybody in the channel, and begins the thread of its answer.

    It is posted once for each use of the command, however often that is tried; *is_in_doubt* says that another process
    may have posted it.
    """

    context: InteractionContext
    is_in_doubt: bool
    _id: str = ""

    async def place(self, asked: Asked) -> Asked:
        """Return a question with its message, which is posted unless it stands there.

        A private one stays as it is. Where it will not be answered, nothing is posted, and only who asks hears why. It
        bears the way back, by which it is known as a command's: whoever uses one is always told why not; and where only
        the bot may not write, its address names the message that is missing. Raises `Unreachable`, or `RateLimited`.
        """
        question, way, slack = asked.question, asked.address.interaction if asked.address else None, self.context.slack
        if question.visibility == "private":
            return asked
        alone = asked.model_copy(update={"question": question.model_copy(update={"visibility": "private"})})
        is_admitted = True
        with suppress(Unavailable, PostingFailed):  # whoever answers asks again
            is_admitted = await slack.chat.admission.admits(question)
        if not is_admitted:
            with suppress(PostingFailed):  # another process may have posted it while it was
                await self.remove()
            return alone
        try:
            client = await self._client()
            self._id = self._id or await self._found(client) or await self._posted(client, question)
        except (Unreachable, RateLimited):
            raise
        except PostingFailed:
            missing = ReplyAddress(thread=question.message.thread, message=question.message, interaction=way)
            return alone.model_copy(update={"address": missing})
        message = MessageRef(thread=self.context.in_thread(self._id), id=self._id)
        address = ReplyAddress(thread=message.thread, message=message, interaction=way)
        return Asked(question=question.model_copy(update={"message": message}), address=address)

    async def remove(self) -> None:
        """Take the message away, if there is one. Raises `PostingFailed`."""
        if self._id or self.is_in_doubt:
            client = await self._client()
            if found := self._id or await self._found(client):
                await tell(client, "chat.delete", channel=self.context.channel, ts=found)

    async def _posted(self, client: AsyncWebClient, question: Question) -> str:
        """Post it: who asks what. Only who is mentioned in what begins a thread hears of the answer there."""
        context, text = self.context, SLACK.on_one_line(question.text, QUESTION_LIMIT)
        self.is_in_doubt = True  # also if this is broken off
        try:
            said = await tell(
                client,
                "chat.postMessage",
                channel=context.channel,
                text=f"<@{context.person.id}> asks: {text}",
                unfurl_links=False,
                unfurl_media=False,
                nonce=nonce(context.private_message, 0),
            )
        except PostingFailed as failure:
            self.is_in_doubt = isinstance(failure, Unreachable) and not never_arrived(failure)
            if found := await self._found(client):
                return found
            raise
        return str(said["ts"])

    async def _found(self, client: AsyncWebClient) -> str:
        """Look for the message where nobody knows whether it stands there; empty if not, or if the bot may not read."""
        if not self.is_in_doubt:
            return ""
        wanted, oldest = nonce(self.context.private_message, 0), f"{self.context.at.timestamp() - EARLY:.6f}"
        retrying = Retrying(replace(BRIEF, sleep=self.context.slack.chat.sleep))
        given = {"channel": self.context.channel, "oldest": oldest, "include_all_metadata": "true"}
        with suppress(Rejected):
            async for page in pages(retrying, client, "conversations.history", "messages", **given):
                for one in page:
                    if nonce_of(one) == wanted:
                        return str(one["ts"])
        return ""

    async def _client(self) -> AsyncWebClient:
        return (await self.context.slack.workspaces.find(self.context.home.workspace)).once
