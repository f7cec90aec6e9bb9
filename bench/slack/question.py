"""A question that was put on Slack, and what stands below it."""

from __future__ import annotations

from bench.chat.load import BEGINS, ENDS, Asked
from bench.slack.load import Way
from core.messages import NO_CONTEXT
from tests.servers.slack import Message, SlackServer, User
from tests.servers.slack.messages import texts_of


class Question:
    """A question, asked by a message that mentions the bot."""

    def __init__(self, server: SlackServer, number: int, message: Message, bot: User) -> None:
        self._server = server
        self._number = number
        self._message = message
        self._bot = bot

    def asked(self) -> Asked:
        """Say what came of it so far."""
        said = self._said()
        ends = ENDS.format(self._number)
        text = "\n".join(message.shown for message in said)
        told = self._message.deliveries
        return Asked(
            number=self._number,
            message=self._message.ts,
            at=float(self._message.ts),
            acknowledged=tuple(one.acked_at for one in told if one.acked_at is not None),
            first=min((float(message.ts) for message in said), default=None),
            last=min((at for message in said for at, shown in _states(message) if ends in shown), default=None),
            begins=text.count(BEGINS.format(self._number)),
            ends=text.count(ends),
            not_found=text.count(NO_CONTEXT),
            way=_way(said),
        )

    @property
    def unacknowledged(self) -> int:
        """How many of the events that told of it nobody has acknowledged."""
        return sum(not one.acked for one in self._message.deliveries)

    @property
    def is_left_at_work(self) -> bool:
        """Whether people still see that the bot works on it."""
        session = self._server.platform.sessions.get((self._message.channel_id, self._message.ts))
        return session is not None and session.status == "processing"

    def _said(self) -> list[Message]:
        """Give what the bot said in the thread, to everybody."""
        channel = self._server.platform.channels[self._message.channel_id]
        thread = self._server.messages(channel, by=self._bot, thread_ts=self._message.ts)
        return [message for message in thread if not message.ephemeral]


def _states(message: Message) -> list[tuple[float, str]]:
    """Give the states of a message with their times; while it is a stream, there is none that lasts."""
    if message.edits:
        return [(edit.at, "\n".join((edit.markdown, *texts_of(edit.blocks), edit.text))) for edit in message.edits]
    return [] if message.stream else [(float(message.ts), message.shown)]


def _way(said: list[Message]) -> str:
    if any(message.stream for message in said):
        return Way.STREAMED
    return Way.EDITED if any(message.edits for message in said) else Way.POSTED
