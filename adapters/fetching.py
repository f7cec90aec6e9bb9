"""Fetches public pages of the web, and nothing else: whatever an address says, only what is connected to counts.

An operator names a website, and pages of others name the rest of the addresses: none of these may reach this machine,
its network, or what a cloud keeps at addresses of its own.
"""

from __future__ import annotations

import asyncio
import io
import ipaddress
import socket
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from adapters.retry import RetryPolicy, Transient, retry_after

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession
    from yarl import URL

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        (
            "64:ff9b::/96",  # NAT64, which leads to any address of the older kind
            "64:ff9b:1::/48",
            "2002::/16",  # 6to4, as well
            "192.88.99.0/24",
            "2001::/23",  # Teredo and other tunnels
            "::/96",  # addresses of the older kind in the newer form
            "::ffff:0:0:0/96",
            "fec0::/10",  # once for sites
            "192.0.0.0/24",  # among them what a cloud says of its machines
            "168.63.129.16/32",  # the same in another cloud
            "224.0.0.0/4",
            "240.0.0.0/4",
            "ff00::/8",
        ),
    )
)
"""What Python counts as global, or did in some version, and is no address of a website."""
SCHEMES = ("http", "https")
CHUNK = 65_536  # bytes
REDIRECTS, FOR_NOW = (301, 302, 303, 307, 308), (302, 303, 307)
BUSY = (429, 503)
TOO_MANY, FIRST_FAILURE, CLOSED = 429, 500, (401, 402, 403, 451)
DOWN = "{} {} Nothing was removed. Try again later: footnote sources sync {}"
ENCODINGS = ("gzip", "deflate")
AGENT = "Footnote (documents for a question-and-answer bot; obeys robots.txt)"
LONGEST_ADDRESS = 2_000  # characters


class FetchRefused(Exception):
    """An address that is not fetched, however often it is tried; the message is a sentence that follows its name."""


class FetchFailed(Exception):
    """An address that did not answer this time; the message is a sentence that follows its name."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one address may take: bytes, seconds from the first to the last, and redirects."""

    size: int = 20_000_000
    seconds: float = 30.0
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class FetchRules:
    """What the operator allows: *networks* that are not public, and behind a *proxy* the *hosts* that it may ask for.

    A proxy looks up the names itself, so that nobody here sees where it connects to.
    """

    networks: Collection[Network] = ()
    hosts: Collection[str] = ()
    proxy: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was answered in the end, at the address that redirects led to, perhaps only for now.

    Names of headers are in lower case.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    is_for_now: bool = False

    @property
    def is_down(self) -> bool:
        """Whether this says nothing of what was asked for: it may be there the next time."""
        return self.status >= FIRST_FAILURE or self.status == TOO_MANY

    @property
    def refusal(self) -> str:
        """What an error says, as a sentence that follows the name of its address."""
        says = "is not open to everybody" if self.status in CLOSED else "answers with an error"
        return f"{says} ({self.status})."


def is_allowed(address: str, networks: Collection[Network] = ()) -> bool:
    """Return whether an address on the internet is public, or in one of the *networks*."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    found = mapped if mapped is not None else found
    if any(found in network for network in networks if network.version == found.version):
        return True
    is_special = any(found in network for network in NOT_PUBLIC if network.version == found.version)
    return found.is_global and not found.is_multicast and not is_special


class Fetcher:
    """Fetches within rules and limits; made by `fetcher`."""

    def __init__(self, session: ClientSession, rules: FetchRules, limits: FetchLimits) -> None:
        self._session = session
        self._rules = rules
        self._limits = limits

    async def get(self, url: str, headers: Mapping[str, str] | None = None, known: Collection[str] = ()) -> Fetched:
        """Return what is at an address; a redirect to what is *known* is not followed, and returned with its target.

        Raises `FetchRefused` and `FetchFailed`.
        """
        return await self._within(self._followed(url, headers or {}, known))

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], into: BinaryIO | None = None) -> Fetched:
        """Send a body and return the answer, or write it *into* a file; no redirect is followed. Raises as `get`."""
        return await self._within(self._posted(url, body, headers, into))

    async def _within(self, work: Awaitable[Fetched]) -> Fetched:
        from aiohttp import ClientError, InvalidURL

        try:
            async with asyncio.timeout(self._limits.seconds):
                return await work
        except (FetchRefused, FetchFailed):
            raise
        except TimeoutError as error:
            raise FetchFailed(f"did not answer within {self._limits.seconds:g} seconds.") from error
        except (InvalidURL, ValueError) as error:
            raise FetchRefused("is not a web address.") from error
        except (ClientError, OSError, zlib.error) as error:
            if (refused := _refusal(error)) is not None:
                raise FetchRefused(str(refused)) from error
            raise FetchFailed("cannot be reached, or the connection broke off.") from error

    async def _followed(self, url: str, headers: Mapping[str, str], known: Collection[str]) -> Fetched:
        from yarl import URL

        here, is_for_now = self._checked(URL(url)), False
        for _ in range(self._limits.redirects + 1):
            asked = self._session.get(here, headers=_sent(headers), allow_redirects=False, proxy=self._rules.proxy)
            async with asked as response:
                target = response.headers.get("Location")
                if response.status not in REDIRECTS or not target:
                    return replace(await self._fetched(response, io.BytesIO()), is_for_now=is_for_now)
            here, is_for_now = self._checked(here.join(URL(target))), is_for_now or response.status in FOR_NOW
            if str(here) in known:
                return Fetched(str(here), response.status, {}, is_for_now=is_for_now)
        raise FetchRefused(f"redirects more than {self._limits.redirects} times.")

    async def _posted(self, url: str, body: bytes, headers: Mapping[str, str], into: BinaryIO | None) -> Fetched:
        from yarl import URL

        here = self._checked(URL(url))
        asked = self._session.post(
            here, data=body, headers=_sent(headers), allow_redirects=False, proxy=self._rules.proxy
        )
        async with asked as response:
            return await self._fetched(response, into or io.BytesIO())

    async def _fetched(self, response: ClientResponse, into: BinaryIO) -> Fetched:
        said = {name.lower(): value for name, value in response.headers.items()}
        await self._body(response, into)
        body = into.getvalue() if isinstance(into, io.BytesIO) else b""
        return Fetched(str(response.url.with_fragment(None)), response.status, said, body)

    def _checked(self, url: URL) -> URL:
        """Return an address that may be asked for, as far as it can be told from its words."""
        if url.scheme not in SCHEMES or not url.host or len(str(url)) > LONGEST_ADDRESS:
            raise FetchRefused("is not a web address.")
        if url.user or url.password:
            raise FetchRefused("contains a user name or a password, which is not sent.")
        if self._rules.proxy is not None and url.host.lower() not in self._rules.hosts:
            raise FetchRefused(f"is reached through a proxy, and FOOTNOTE_FETCH_HOSTS does not name {url.host}.")
        return url.with_fragment(None)

    async def _body(self, response: ClientResponse, into: BinaryIO) -> None:
        """Read a body to its end, unpacked, or refuse it where it grows too large."""
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in (*ENCODINGS, "identity", ""):
            raise FetchRefused("is compressed in a way that was not asked for.")
        unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32) if encoding in ENCODINGS else None
        size = 0
        async for chunk in response.content.iter_chunked(CHUNK):
            piece = unpack.decompress(chunk, self._limits.size - size + 1) if unpack else chunk
            size += len(piece)
            if size > self._limits.size:
                raise FetchRefused(f"is larger than {self._limits.size / 1e6:g} MB.")
            into.write(piece)
        if unpack and not unpack.eof and size:
            raise FetchFailed("broke off.")


def _sent(headers: Mapping[str, str]) -> dict[str, str]:
    return {"Accept-Encoding": ", ".join(ENCODINGS), "User-Agent": AGENT, **headers}


class _Busy(Exception):
    """The server asks to be left alone for a while, of so many seconds if it says so."""

    def __init__(self, got: Fetched) -> None:
        super().__init__("busy")
        self.got = got


def _judge(error: Exception) -> Transient | None:
    return Transient("busy", retry_after(error.got.headers)) if isinstance(error, _Busy) else None


async def ask(request: Callable[[], Awaitable[Fetched]], retries: RetryPolicy) -> Fetched:
    """Make a request, again where the server wants to be left alone for a while, in which it is. Raises as it does."""

    async def once() -> Fetched:
        got = await request()
        if got.status in BUSY:
            raise _Busy(got)
        return got

    try:
        return await replace(retries, judge=_judge).call(once)
    except _Busy as busy:
        return busy.got


class _NotPublic(OSError):
    """What the guard raises; a client may wrap it."""


def _refusal(error: BaseException | None) -> _NotPublic | None:
    """Find why the guard refused all addresses of a host, in whatever the client makes of it."""
    while error is not None:
        if isinstance(error, _NotPublic):
            return error
        inner: Sequence[BaseException] = getattr(error, "exceptions", ())
        for each in inner:
            if (found := _refusal(each)) is not None:
                return found
        error = error.__cause__ or error.__context__
    return None


@asynccontextmanager
async def fetcher(rules: FetchRules | None = None, limits: FetchLimits | None = None) -> AsyncGenerator[Fetcher]:
    """Yield what fetches, until the context ends."""
    from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

    rules, limits = rules or FetchRules(), limits or FetchLimits()

    def guarded(found: tuple[Any, ...]) -> socket.socket:
        """Make the socket for an address that was looked up just now, unless nobody may connect to it."""
        family, kind, protocol, _, address = found
        if not is_allowed(address[0], rules.networks):
            raise _NotPublic("is at an address that is not public. To allow it, set FOOTNOTE_FETCH_NETWORKS.")
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)
        return made

    connector = TCPConnector(limit_per_host=4, socket_factory=None if rules.proxy else guarded)
    session = ClientSession(
        connector=connector,
        cookie_jar=DummyCookieJar(),
        timeout=ClientTimeout(total=None),
        trust_env=False,
        auto_decompress=False,
        requote_redirect_url=True,
    )
    async with session:
        yield Fetcher(session, rules, limits)
