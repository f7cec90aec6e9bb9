"""How long a stream lives."""

from __future__ import annotations

from tests.servers.slack.messages import STREAM_LIFE, Message, Streaming
from tests.servers.slack.platform import Platform


def expire(platform: Platform, message: Message) -> None:
    """Let a stream die whose time is over."""
    stream = message.stream
    is_open = stream is not None and stream.state is Streaming.OPEN
    if stream is not None and is_open and platform.clock.time() - stream.started_at >= STREAM_LIFE:
        stream.state = Streaming.DIED
