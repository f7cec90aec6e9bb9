"""Delivery over HTTP: signed requests to an address of the app."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import aiohttp
from slack_sdk.signature import SignatureVerifier

from tests.servers.slack.deliveries import Attempt, Delivery
from tests.servers.slack.events import COMMANDS, EVENTS, VERIFICATION_TOKEN
from tests.servers.slack.shape import Json

PATIENCE = 3.0  # s, which the platform waits for an answer


class Webhooks:
    """Sends what happens to `url`; `skew` is how wrong the timestamps are, in seconds."""

    def __init__(self, signing_secret: str, changed: Callable[[], None]) -> None:
        self.signing_secret = signing_secret
        self.url = ""
        self.skew = 0.0
        self.patience = PATIENCE
        self._changed = changed
        self._session: aiohttp.ClientSession | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def send(self, delivery: Delivery, number: int, reason: str = "") -> None:
        """Send something, in the background."""
        task = asyncio.create_task(self._send(delivery, number, reason))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def signed(self, body: bytes, content_type: str) -> dict[str, str]:
        """Give the headers of a request with this body."""
        timestamp = str(int(time.time() + self.skew))
        signature = SignatureVerifier(self.signing_secret).generate_signature(timestamp=timestamp, body=body)
        headers = {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": str(signature)}
        return {**headers, "Content-Type": content_type, "User-Agent": "Slackbot 1.0"}

    async def post(self, body: bytes, headers: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        """Send a request as it is; give the status of the answer, what is in it, and its headers."""
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        timeout = aiohttp.ClientTimeout(total=self.patience)
        async with self._session.post(self.url, data=body, headers=headers, timeout=timeout) as response:
            return response.status, _read(await response.text()), dict(response.headers)

    async def verify(self) -> Any:
        """Ask whether the address is the app's, as the platform does when it is entered; give the answer."""
        asked: Json = {"type": "url_verification", "token": VERIFICATION_TOKEN, "challenge": "prove-it"}
        body = json.dumps(asked).encode()
        return (await self.post(body, self.signed(body, "application/json")))[1]

    async def replay(self, delivery: Delivery) -> int:
        """Send the last request of a delivery again, to the byte, as somebody who overheard it would; give the status.

        Nothing is noted in the delivery.
        """
        sent = delivery.attempts[-1]
        return (await self.post(sent.body, sent.headers))[0]

    async def close(self) -> None:
        """Give up what is still on its way."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    async def _send(self, delivery: Delivery, number: int, reason: str) -> None:
        body, content_type = _written(delivery)
        headers = self.signed(body, content_type)
        if number:
            headers |= {"X-Slack-Retry-Num": str(number), "X-Slack-Retry-Reason": reason}
        try:
            status, said, answered = await self.post(body, headers)
        except (aiohttp.ClientError, OSError):
            status, said, answered = None, None, dict[str, str]()
        delivery.attempts.append(Attempt(self.url, number, status, headers, body))
        delivery.no_retry = delivery.no_retry or answered.get("X-Slack-No-Retry") == "1"
        if status is not None and status < 300:
            delivery.acknowledge(said)
        self._changed()


def _written(delivery: Delivery) -> tuple[bytes, str]:
    if delivery.kind == EVENTS:
        return json.dumps(delivery.payload).encode(), "application/json"
    form = delivery.payload if delivery.kind == COMMANDS else {"payload": json.dumps(delivery.payload)}
    given = {name: "" if value is None else value for name, value in form.items()}
    return urlencode(given).encode(), "application/x-www-form-urlencoded"


def _read(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text
