"""Fetching: what is public is fetched within limits, and no way round leads anywhere else."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from aiohttp import web

from adapters.fetching import Fetcher, FetchFailed, FetchLimits, FetchRefused, FetchRules, fetcher, is_allowed
from tests.servers.service import Hang, Received, Reply, Reset, Service, Trickle

LOOPBACK = (ipaddress.ip_network("127.0.0.1/32"),)
LIMITS = FetchLimits(size=100_000, seconds=2.0, redirects=3)
NOT_PUBLIC = "is at an address that is not public. To allow it, set FOOTNOTE_FETCH_NETWORKS."


class Page(Service):
    """Says where it was asked, whatever is asked for; `at` has other answers."""

    def __init__(self) -> None:
        super().__init__()
        self.at: dict[str, Callable[[], web.StreamResponse]] = {}

    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Answer."""
        make = self.at.get(request.path, lambda: web.Response(text=f"at {request.path_qs}"))
        return make()

    def leads(self, path: str, to: str, status: int = 302) -> None:
        """Redirect a path."""
        self.at[path] = lambda: web.Response(status=status, headers={"Location": to})


@pytest.fixture(name="page")
async def _page() -> AsyncGenerator[Page]:
    """Run a server on this machine."""
    async with Page() as page:
        yield page


@pytest.fixture(name="allowed")
async def _allowed() -> AsyncGenerator[Fetcher]:
    """Give what may fetch from that server, and from nothing else that is not public."""
    async with fetcher(FetchRules(networks=LOOPBACK), LIMITS) as made:
        yield made


NOT_PUBLIC_ADDRESSES = [
    *("127.0.0.1", "127.8.8.8", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
    *("169.254.169.254", "169.254.0.1", "100.64.0.1", "100.100.100.200", "192.0.0.8", "192.0.0.192", "168.63.129.16"),
    *("192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1", "239.1.1.1", "240.0.0.1"),
    *("255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001::1"),
    *("fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "ff0e::1", "2001:db8::1", "100::1"),
    *("::ffff:0:127.0.0.1", "nonsense", ""),
]


@pytest.mark.promise("safe-fetching")
@pytest.mark.parametrize("address", NOT_PUBLIC_ADDRESSES)
def test_what_is_not_public_is_not_connected_to(address: str) -> None:
    """This machine, its networks, what clouds tell their machines, and what leads to these under another form."""
    assert not is_allowed(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1"])
def test_what_is_public_is_connected_to(address: str) -> None:
    """In both kinds of addresses."""
    assert is_allowed(address)


def test_an_operator_can_allow_a_network() -> None:
    """That one alone."""
    networks = [ipaddress.ip_network("10.1.0.0/16"), ipaddress.ip_network("fd00::/8")]

    assert [is_allowed(each, networks) for each in ("10.1.2.3", "::ffff:10.1.2.3", "fd00::1", "10.2.0.1")] == [
        True,
        True,
        True,
        False,
    ]


WAYS_ROUND = [
    *("http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://LOCALHOST:{port}/", "http://localhost.:{port}/"),
    *("http://127.1:{port}/", "http://127.0.1:{port}/", "http://2130706433:{port}/", "http://0x7f000001:{port}/"),
    *("http://0x7f.1:{port}/", "http://0177.0.0.1:{port}/", "http://017700000001:{port}/", "http://0:{port}/"),
    *("http://0.0.0.0:{port}/", "http://127.0.0.1.:{port}/", "http://[::1]:{port}/", "http://[::]:{port}/"),
    *("http://[::ffff:127.0.0.1]:{port}/", "http://[::ffff:7f00:1]:{port}/", "http://[0:0:0:0:0:ffff:7f00:1]:{port}/"),
    *("http://[64:ff9b::127.0.0.1]:{port}/", "http://[2002:7f00:1::]:{port}/", "http://[::127.0.0.1]:{port}/"),
    *("http://①②⑦.⓪.⓪.①:{port}/", "http://127。0。0。1:{port}/", "http://１２７.0.0.1:{port}/"),
    *("http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://[fe80::1%25lo]:{port}/"),
    *("http://user@127.0.0.1:{port}/", "http://example.org@127.0.0.1:{port}/", "http://127.0.0.1:{port}#@example.org/"),
    *("http://127.0.0.1:{port}\\@example.org/", "http://example.org\\@127.0.0.1:{port}/", "//127.0.0.1:{port}/"),
    *("file:///etc/passwd", "ftp://127.0.0.1:{port}/", "gopher://127.0.0.1:{port}/", "unix:///var/run/docker.sock"),
    *("data:text/plain,secret", "javascript:1", "http:127.0.0.1:{port}", "http:///127.0.0.1", "http://", "", "\0"),
    *("ws://127.0.0.1:{port}/", "HTTP+unix://127.0.0.1:{port}/", "http://127.0.0.1:99999999/"),
]


@pytest.mark.promise("safe-fetching")
@pytest.mark.parametrize("way", WAYS_ROUND)
async def test_no_form_of_an_address_leads_round_the_guard(page: Page, way: str) -> None:
    """Not one request arrives, however this machine is written."""
    async with fetcher(limits=LIMITS) as made:
        with pytest.raises((FetchRefused, FetchFailed)):
            await made.get(way.format(port=page.url.rpartition(":")[2]))

    assert page.received == []


@asynccontextmanager
async def redirecting(to: str, status: int) -> AsyncGenerator[str]:
    """Run a server at another address of this machine, which the operator allows, that leads elsewhere."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, headers={"Location": to})

    application = web.Application()
    application.router.add_get("/", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "::1", 0)
    await site.start()
    try:
        yield f"http://[::1]:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


@pytest.mark.promise("safe-fetching")
@pytest.mark.parametrize("way", [way for way in WAYS_ROUND if way.strip("\0")])
@pytest.mark.parametrize("status", [302, 308])
async def test_no_redirect_leads_round_the_guard(page: Page, way: str, status: int) -> None:
    """A server that may be asked sends on to what may not: the rule counts for each step."""
    rules = FetchRules(networks=[ipaddress.ip_network("::1/128")])
    target = way.format(port=page.url.rpartition(":")[2])
    async with redirecting(target, status) as start, fetcher(rules, LIMITS) as made:
        with suppress(FetchRefused, FetchFailed):  # what is no address at all may lead to the server itself
            assert (await made.get(start)).url.startswith("http://[::1]:")

    assert page.received == []


async def test_what_a_name_leads_to_is_looked_at_when_it_is_connected_to(page: Page) -> None:
    """Also by a name that only this machine knows."""
    async with fetcher(limits=LIMITS) as made:
        with pytest.raises(FetchRefused, match=NOT_PUBLIC):
            await made.get(f"http://localhost:{page.url.rpartition(':')[2]}/")


async def test_a_page_is_fetched_with_what_redirects_lead_to(page: Page, allowed: Fetcher) -> None:
    """The address is the last one, without its fragment, and headers are there in lower case."""
    page.leads("/old", "/new?x=1#part")

    got = await allowed.get(f"{page.url}/old#top", {"If-None-Match": '"a"'})

    assert (got.url, got.status, got.body) == (f"{page.url}/new?x=1", 200, b"at /new?x=1")
    assert got.headers["content-type"].startswith("text/plain")
    assert [each.headers["If-None-Match"] for each in page.received] == ['"a"', '"a"']
    assert "obeys robots.txt" in page.received[0].headers["User-Agent"]


async def test_redirects_end(page: Page, allowed: Fetcher) -> None:
    """After three, here."""
    page.leads("/loop", "/loop")

    with pytest.raises(FetchRefused, match="redirects more than 3 times"):
        await allowed.get(f"{page.url}/loop")
    assert len(page.received) == 4


@pytest.mark.parametrize("packed", [False, True])
async def test_what_is_too_large_is_refused(page: Page, allowed: Fetcher, packed: bool) -> None:
    """Also where it is small on its way: not more than the limit is unpacked."""
    body = b"x" * 50_000_000 if packed else b"x" * 100_001
    headers = {"Content-Encoding": "gzip"} if packed else {}
    page.faults.append(Reply(200, gzip.compress(body) if packed else body, headers))

    with pytest.raises(FetchRefused, match=r"is larger than 0\.1 MB\."):
        await allowed.get(page.url)


async def test_what_is_packed_is_unpacked(page: Page, allowed: Fetcher) -> None:
    """As far as it was asked for; another form is refused, and what breaks off is no page."""
    whole = gzip.compress(b"words " * 1_000)
    page.faults.extend(
        Reply(200, body, {"Content-Encoding": encoding})
        for body, encoding in ((whole, "gzip"), (whole[:-20], "gzip"), (b"no gzip", "gzip"), (b"x", "br"))
    )

    assert (await allowed.get(page.url)).body == b"words " * 1_000
    for error in (FetchFailed, FetchFailed, FetchRefused):
        with pytest.raises(error):
            await allowed.get(page.url)


@pytest.mark.parametrize("fault", [Reset(), Hang(), Trickle()])
async def test_a_server_that_does_not_answer_is_given_up(page: Page, fault: Reset | Hang | Trickle) -> None:
    """It cuts the line, says nothing, or never ends; each in the time that one address has."""
    page.broken = fault
    begun = asyncio.get_running_loop().time()
    async with fetcher(FetchRules(networks=LOOPBACK), FetchLimits(seconds=0.5)) as made:
        with pytest.raises(FetchFailed):
            await made.get(page.url)

    assert asyncio.get_running_loop().time() - begun < 5


async def test_a_server_that_is_down_is_told(allowed: Fetcher) -> None:
    """It may be back."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    with pytest.raises(FetchFailed, match="cannot be reached, or the connection broke off"):
        await allowed.get(f"http://127.0.0.1:{port}/")


@pytest.mark.promise("safe-fetching")
async def test_through_a_proxy_only_hosts_of_the_operators_list_are_fetched(page: Page) -> None:
    """It looks names up itself; the rule counts for redirects too."""
    page.at["/start"] = lambda: web.Response(status=302, headers={"Location": "http://metadata.internal/"})
    rules = FetchRules(hosts=["docs.example"], proxy=page.url)
    async with fetcher(rules, LIMITS) as made:
        got = await made.get("http://docs.example/page")
        for url in ("http://other.example/", "http://127.0.0.1/", "http://docs.example/start"):
            with pytest.raises(FetchRefused, match="FOOTNOTE_FETCH_HOSTS"):
                await made.get(url)

    assert (got.status, [each.headers["Host"] for each in page.received]) == (200, ["docs.example"] * 2)
