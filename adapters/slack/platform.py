"""Slack as a platform: answers appear in a thread on the question, or for one person only."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, cast

from adapters.chat.dialect import heading
from adapters.chat.live_message import Pace
from adapters.chat.platform import ChatPlatform, Destination, FoundAnswer, Part, Posted, nonce, utc_now
from adapters.slack.api import ask, tell
from adapters.slack.dialect import SlackRenderer
from adapters.slack.interactions import mrkdwn
from adapters.slack.people import People
from adapters.slack.poster import Place, ThreadPoster, find_answer, is_all, left_of
from adapters.slack.responses import PrivatePoster
from adapters.slack.signs import Indicator
from adapters.slack.slash import DIRECT_MESSAGE
from adapters.slack.streaming import EDITS_APART, POSTS_APART, TITLE, AnswerPoster, Budgets
from adapters.slack.workspaces import Workspace, Workspaces
from core.errors import Gone, PostingFailed, RateLimited, Rejected
from core.events import Observer, PossiblyDoubled, unobserved
from core.messages import ONLY_YOU, UNTITLED
from core.model import Claim, Interruption, MessageRef, Reaction, Task, WaitNotice, Withdrawal, WorkspaceRef

EMOJI = {Reaction.WARNING: "warning", Reaction.LIMIT: "hourglass_flowing_sand"}
PACE = Pace(interval=1.0)
MOST_TOLD = 10  # moderators, of something that all of them could look up
UNDER_WAY = 1.0  # second in which words that a question waits have come, as they would replace the answer
LOOKED_AT = 15  # messages below an answer; Slack gives some apps no more


@dataclass
class SlackChat(ChatPlatform):
    """Slack by the Web API.

    Drafts are edited *edits_apart* seconds after one another, and messages of one answer posted *posts_apart*; the
    *observer* hears of messages that may stand there twice.
    """

    workspaces: Workspaces
    people: People
    _: KW_ONLY
    edits_apart: float = EDITS_APART
    posts_apart: float = POSTS_APART
    now: Callable[[], datetime] = utc_now
    observer: Observer = unobserved
    _indicator: Indicator = field(default_factory=Indicator, init=False)
    _budgets: Budgets = field(default_factory=Budgets, init=False)

    async def destination(self, claim: Claim, remark: str) -> Destination | None:
        """Return the thread of the question; what earlier attempts posted is edited there, and nothing is streamed."""
        workspace = await self.workspaces.find(claim.message.thread.workspace)
        workspace.gate.check(is_sent=False)  # before a model is asked for what could be shown to nobody
        if claim.question.visibility == "private":
            if claim.delivery.notice is not None and not claim.delivery.notice.id:
                await asyncio.sleep(UNDER_WAY)
            return self._response(claim, workspace, remark)
        place = Place(workspace, claim.message.thread.channel, claim.message.thread.thread, claim.message.id)
        posted = tuple(Posted(message.id) for message in claim.delivery.messages)
        # A store may come back without what it had written last, so an attempt before may have posted unknown to it.
        trying = claim.delivery.trying or (claim.question.asked_at if claim.is_redelivered else None)
        poster = AnswerPoster(
            place=place,
            question=claim.question,
            nonces={each.id: nonce(claim.message, at) for at, each in enumerate(posted)},
            all_in_doubt=trying is not None,
            streamed_since=None if posted else trying,
            doubtful=partial(self.observer, PossiblyDoubled(claim.message)),
            budgets=self._budgets,
            readers=None if posted else self.people,
            is_stopped=lambda: claim.cancelled.reason is Interruption.STOPPED,
            apart=self.edits_apart,
            posts_apart=self.posts_apart,
        )

        begins = {"initiator_user_id": claim.question.author.id}
        if claim.message.id == claim.message.thread.thread:
            begins["title"] = heading(claim.question.text, TITLE)
        return Destination(
            poster=poster,
            renderer=SlackRenderer(remark=remark),
            place=claim.message.thread,
            posted=posted,
            sign=partial(self._indicator.shown, place, begins=begins, inherits=claim.is_redelivered),
            is_all=partial(is_all, place),
        )

    async def find_answer(self, claim: Claim) -> FoundAnswer | None:
        """Return what bears the marks of an answer in the thread; what one person alone was shown is in none."""
        if claim.question.visibility == "private":
            return None
        return await find_answer(await self._place(claim.message), claim.message, claim.question.revision)

    async def refuse(self, claim: Claim, part: Part, nonce: str) -> MessageRef | None:
        """Tell the asker alone; a message of ours that stands for the question in the channel goes."""
        thread, address = claim.message.thread, claim.address
        place = await self._place(claim.message)
        client, way = place.workspace.client, address.interaction if address else None
        if address is not None and way is not None and way.expires_at > self.now():
            await PrivatePoster(client, way.token, claim.question, address.thread).post(part, nonce)
            if claim.question.visibility == "thread":
                await self.delete(claim.message)
        elif claim.question.visibility == "thread" and thread.channel.startswith(DIRECT_MESSAGE):
            await ThreadPoster(place).post(part, nonce)
        elif claim.question.visibility == "thread":
            below = {"thread_ts": thread.thread} if claim.message.id != thread.thread else {}
            said: dict[str, Any] = {"channel": thread.channel, "text": mrkdwn(part.text), **below}
            await tell(client, "chat.postEphemeral", user=claim.question.author.id, **said)
        return None

    async def delete(self, message: MessageRef) -> None:
        """Remove a message of the bot's."""
        await ThreadPoster(await self._place(message)).delete(message.id)

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Mark a message; Slack refuses to do it twice."""
        client = (await self.workspaces.find(to.thread.workspace)).client
        await tell(client, "reactions.add", channel=to.thread.channel, timestamp=to.id, name=EMOJI[reaction])

    async def unreact(self, to: MessageRef, reaction: Reaction) -> None:
        """Take a mark of ours away."""
        client = (await self.workspaces.find(to.thread.workspace)).once
        await tell(client, "reactions.remove", channel=to.thread.channel, timestamp=to.id, name=EMOJI[reaction])

    async def alert(self, home: WorkspaceRef, part: Part, nonce: str) -> None:
        """Tell each in direct messages, as Slack has no place for moderators; whom it cannot reach sees the status."""
        once = (await self.workspaces.find(home.workspace)).once
        for moderator in await self.people.moderators(home.workspace, most=MOST_TOLD):
            with suppress(PostingFailed):
                said: dict[str, Any] = {"text": mrkdwn(part.text), "unfurl_links": False, "unfurl_media": False}
                await tell(once, "chat.postMessage", channel=moderator, **said, nonce=nonce)

    async def end_sign(self, task: Task) -> None:
        """Take away the sign of a worker that had the question before."""
        place = await self._place(task.message)
        if task.is_redelivered:
            await self._indicator.take_away(place)

    async def find_notice(self, message: MessageRef, notice: WaitNotice) -> str:
        """Return the id of what bears the mark of a notice."""
        place = await self._place(MessageRef(thread=notice.thread, id=message.id))
        return await ThreadPoster(place, all_in_doubt=True).find(notice.nonce) or ""

    async def has_replies(self, withdrawal: Withdrawal) -> bool:
        """Return whether others than the asker have written below the answer; not where the bot may not read."""
        if not withdrawal.delivery.messages:
            return False
        first = withdrawal.delivery.messages[0]
        workspace = (await self._place(first)).workspace
        where = {"channel": first.thread.channel, "ts": first.thread.thread, "oldest": first.id}
        try:
            said = await ask(workspace.client, "conversations.replies", **where, limit=LOOKED_AT)
        except PostingFailed:
            return False
        ours = {None, "", withdrawal.asker_id, workspace.bot_user_id}
        return any(
            float(one["ts"]) > float(first.id) and not one.get("bot_id") and one.get("user") not in ours
            for one in cast("Sequence[Mapping[str, Any]]", said.get("messages") or ())  # the root always comes along
        )

    async def unknown(self, task: Task) -> Sequence[MessageRef]:
        """Return what bears a mark of the answer, and a stream that nobody knows of."""
        known, found = {each.id for each in task.delivery.standing}, list[str]()
        with suppress(Gone, Rejected, RateLimited):
            found = await left_of(await self._place(task.message), task.message, known)
        return [MessageRef(thread=task.message.thread, id=each) for each in found]

    async def untitle(self, message: MessageRef) -> None:
        """Take the words of the question out of the title of its session, which is there before anything is posted."""
        if message.id != message.thread.thread:
            return
        with suppress(PostingFailed):
            place = await self._place(message)
            session = {"channel_id": place.channel, "thread_ts": place.thread}
            await tell(place.workspace.client, "agents.sessions.rename", **session, title=UNTITLED)

    def _response(self, claim: Claim, workspace: Workspace, remark: str) -> Destination | None:
        """Return the way back to the one person who asked, while there is one; who asked before all hears why."""
        address = claim.address
        if address is None or address.interaction is None or address.interaction.expires_at <= self.now():
            return None
        poster = PrivatePoster(workspace.client, address.interaction.token, claim.question, address.thread)
        poster.is_again, poster.doubtful = claim.is_redelivered, partial(self.observer, PossiblyDoubled(claim.message))
        remark = ONLY_YOU if address.message is not None else remark
        return Destination(poster=poster, renderer=SlackRenderer(remark=remark, most=poster.few), place=None, grows=0)

    async def _place(self, message: MessageRef) -> Place:
        """Return where a message stands. Raises `PostingFailed`."""
        workspace = await self.workspaces.find(message.thread.workspace)
        return Place(workspace, message.thread.channel, message.thread.thread, message.id)
