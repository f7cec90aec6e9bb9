"""One way to reach an endpoint, with every time limit said aloud.

Of the environment, only what belongs to the machine counts: its proxies and its certificates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, quote, urlsplit

from adapters.vendors import trusted

if TYPE_CHECKING:
    from httpx2 import AsyncClient


OFFICIAL = "https://api.openai.com/v1"
NO_KEY = "none"  # endpoints without keys ignore it, and some want the header
AGENT = "Footnote"
READ_AHEAD = 64  # bytes
CHAT = "/chat/completions"
RESPONSES = "/responses"  # which Azure's portal shows to be copied
AZURE = tuple(
    f".{service}.azure.{where}"
    for service in ("openai", "cognitiveservices", "services.ai")
    for where in ("com", "us", "cn")
)
CLASSIC = "/openai/deployments/"


@dataclass(frozen=True, slots=True)
class OpenAILimits:
    """How many tokens to ask for, how many the model reads, and seconds to wait.

    They are those for a connection, for the *first* piece of an answer, for which a model that has to be loaded needs
    minutes, between two pieces, and for the *whole*; comments that keep a line open are pieces too. After so many
    seconds of *patience* an answer has to have begun, whatever keeps the line open and however often it is asked for.
    For as long as *loading* says, a service is asked again and again that says that it is loading the model.

    Between two pieces it rests for an *interval* for each answer that is written at the time, so that what comes
    meanwhile is one piece: small ones cost time for nothing where many answers are written.
    """

    tokens: int | None = None
    context: int | None = None
    connect: float = 5.0
    first: float = 300.0
    read: float = 120.0
    whole: float = 900.0
    patience: float = inf
    loading: float = 0.0
    interval: float = 0.0
    longest_interval: float = 0.7


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go: the address in front of the path, what stands behind it, and headers of each request."""

    base_url: str
    query: Mapping[str, str]
    headers: Mapping[str, str]

    @property
    def secrets(self) -> list[str]:
        """What nobody may read of the query: some gateways want a key in it."""
        return [each for name, each in self.query.items() if name != "api-version"]

    @classmethod
    def of(cls, base_url: str | None, model: str, api_key: str) -> Endpoint:
        """Read an address as people copy it; Azure's classic one names the model and a version of the interface.

        A login in it is left out: the key is sent in its place, and both cannot be.
        """
        parts = urlsplit(base_url or OFFICIAL)
        path = parts.path.rstrip("/").removesuffix(CHAT).removesuffix(RESPONSES)
        query = dict(parse_qsl(parts.query))
        if (parts.hostname or "").endswith(AZURE) and not path:
            path = "/openai" if "api-version" in query else "/openai/v1"
        if "api-version" in query and path.endswith("/openai"):
            path = f"{path}/deployments/{quote(model, safe='')}"
        key = {"api-key": api_key} if CLASSIC in path and api_key else {"Authorization": f"Bearer {api_key or NO_KEY}"}
        headers = {**key, "Content-Type": "application/json", "Accept": "application/json", "User-Agent": AGENT}
        where = parts._replace(netloc=parts.netloc.rpartition("@")[2], path=path, query="", fragment="")
        return cls(where.geturl(), query, headers)


def connect(endpoint: Endpoint, limits: OpenAILimits) -> AsyncClient:
    """Return OpenAI's HTTP client, which connects when it is first used, and repeats nothing by itself.

    How long it may be silent is nothing that it knows: each answer has a time of its own. What OpenAI has built on top
    of it knows more of their services than others have, and takes as long for a request as all else of it.
    """
    from httpx2 import Timeout
    from openai import DefaultAioHttpClient

    http = DefaultAioHttpClient(
        base_url=endpoint.base_url,
        params=endpoint.query,
        headers=endpoint.headers,
        timeout=Timeout(None, connect=limits.connect),
        verify=trusted(),
        follow_redirects=False,  # nobody has said that questions and the key may go there
    )
    if limits.interval:
        _leave_to_the_system(http)
    return http


def _leave_to_the_system(http: AsyncClient) -> None:
    """Have what comes during an interval left to the system, which then has it ready in one piece.

    As it is, the library wakes up for each token and takes it up. With so small a buffer it stops reading after the
    fifth piece of a chunked answer, until somebody wants more; only a session can be told so, which each of the
    transports makes, the one of each proxy too.
    """
    from aiohttp import ClientSession, TCPConnector

    def session(transport: Any) -> ClientSession:
        limits = transport.limits
        connector = TCPConnector(
            limit=limits.max_connections, keepalive_timeout=limits.keepalive_expiry, ssl=transport.ssl_context
        )
        return ClientSession(connector=connector, read_bufsize=READ_AHEAD)

    for transport in filter(None, (http._transport, *http._mounts.values())):  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - nothing public leads to them
        cast("Any", transport).client = partial(session, transport)


def place(base_url: str | None) -> str:
    """Name the host, and the port if it is a special one, but nothing else of the address, which may hold a secret."""
    parts = urlsplit(base_url or OFFICIAL)
    host = parts.hostname or "an unnamed host"
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{parts.port}" if parts.port else host
