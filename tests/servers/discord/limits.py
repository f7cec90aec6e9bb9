"""Rate limits: buckets by route and place, a limit over everything, and the headers that tell of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from zlib import crc32

from tests.servers.discord.clock import ServerClock
from tests.servers.discord.shape import Json

USUAL = {
    "POST /channels/{channel}/messages": (5, 5.0),
    "PATCH /channels/{channel}/messages/{message}": (5, 5.0),
}


@dataclass(frozen=True, slots=True)
class Limited:
    """A request that came too early: how long to wait, and whether the limit is the one over everything."""

    route: str
    retry_after: float
    everywhere: bool
    headers: dict[str, str]

    @property
    def body(self) -> Json:
        """What is sent."""
        return {"message": "You are being rate limited.", "retry_after": self.retry_after, "global": self.everywhere}


@dataclass(slots=True)
class Bucket:
    """How many requests are left until the window ends."""

    left: int
    ends: float


@dataclass
class RateLimits:
    """Counts requests. `refused` holds those that came too early, `invalid` counts what may end in a ban.

    A limit is set by the route as its pattern is written: `set("POST /channels/{channel}/messages", 5, 5.0)`.
    """

    clock: ServerClock
    per_second: int = 50
    routes: dict[str, tuple[int, float]] = field(default_factory=lambda: dict(USUAL))
    refused: list[Limited] = field(default_factory=list[Limited])
    invalid: int = 0
    _buckets: dict[tuple[str, str], Bucket] = field(default_factory=dict[tuple[str, str], Bucket])
    _everything: Bucket = field(default_factory=lambda: Bucket(0, 0.0))

    def set(self, route: str, requests: int, seconds: float) -> None:
        """Allow so many requests in so many seconds, in each channel, guild or interaction."""
        self.routes[route] = (requests, seconds)
        self._buckets = {key: bucket for key, bucket in self._buckets.items() if key[0] != route}

    def exhaust(self, route: str, place: int, seconds: float) -> None:
        """Let nothing pass there for so many seconds, although no header has said so."""
        self._buckets[route, str(place)] = Bucket(0, self.clock.time() + seconds)

    def take(self, route: str, place: str, *, counts_everywhere: bool) -> Limited | dict[str, str]:
        """Count a request: give the headers for its answer, or why it is refused."""
        now = self.clock.time()
        if counts_everywhere and not self._take_everywhere(now):
            return self._refuse(route, self._everything, {"X-RateLimit-Global": "true"}, everywhere=True)
        limit = self.routes.get(route)
        if limit is None:
            return {}
        requests, seconds = limit
        bucket = self._buckets.get((route, place))
        if bucket is None or bucket.ends <= now:
            bucket = self._buckets[route, place] = Bucket(requests, now + seconds)
        if bucket.left <= 0:
            return self._refuse(route, bucket, self._headers(route, bucket, requests), everywhere=False)
        bucket.left -= 1
        return self._headers(route, bucket, requests)

    def _take_everywhere(self, now: float) -> bool:
        if self._everything.ends <= now:
            self._everything = Bucket(self.per_second, now + 1.0)
        self._everything.left -= 1
        return self._everything.left >= 0

    def _refuse(self, route: str, bucket: Bucket, headers: dict[str, str], *, everywhere: bool) -> Limited:
        wait = round(max(0.001, bucket.ends - self.clock.time()), 3)
        scope = "global" if everywhere else "user"
        # A refusal without Via looks like one by the network in front of the platform.
        about = {"Retry-After": str(ceil(wait)), "X-RateLimit-Scope": scope, "Via": "1.1 google"}
        limited = Limited(route, wait, everywhere, {**headers, **about})
        self.refused.append(limited)
        return limited

    def _headers(self, route: str, bucket: Bucket, requests: int) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(requests),
            "X-RateLimit-Remaining": str(max(0, bucket.left)),
            "X-RateLimit-Reset": f"{bucket.ends:.3f}",
            "X-RateLimit-Reset-After": f"{max(0.0, bucket.ends - self.clock.time()):.3f}",
            "X-RateLimit-Bucket": f"{crc32(route.encode()):08x}",
        }
