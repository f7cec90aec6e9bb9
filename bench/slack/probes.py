"""Notes how long Slack lets the bot wait on the way to its first words."""

from __future__ import annotations

import time
from typing import Any, cast

from bench.chat.probes import Probes

FIRST = ("chat.startStream", "chat.postMessage")
TOO_MANY_REQUESTS = 429


class SlackProbes(Probes):
    """The same, with the time from the first refusal of an answer's first words until they are sent for good."""

    def __init__(self) -> None:
        super().__init__()
        self._refused: dict[str, float] = {}
        self._shown: set[str] = set()

    def install(self) -> None:
        """Note what becomes of the first words in each thread."""
        from slack_sdk.errors import SlackApiError
        from slack_sdk.web.async_client import AsyncWebClient

        super().install()
        client_class: Any = AsyncWebClient
        call = client_class.api_call

        async def timed_call(client: Any, api_method: str, **options: Any) -> Any:
            thread = _thread(options) if api_method in FIRST else None
            if thread is None or thread in self._shown:
                return await call(client, api_method, **options)
            sent = time.time()
            try:
                said = await call(client, api_method, **options)
            except SlackApiError as error:
                response: Any = cast("Any", error).response
                if response.status_code == TOO_MANY_REQUESTS:
                    self._refused.setdefault(thread, sent)
                raise
            self._shown.add(thread)
            self.wait(thread, sent - self._refused.pop(thread, sent))
            return said

        client_class.api_call = timed_call


def _thread(options: dict[str, Any]) -> str | None:
    given: dict[str, Any] = options.get("json") or {}
    return given.get("thread_ts")
