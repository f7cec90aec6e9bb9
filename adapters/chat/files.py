"""Reads files that people attach to what they write: text within limits, never more, and from a platform's own hosts.

What is in them is data. A file that is not read is told about, with the reason.
"""

from __future__ import annotations

import asyncio
import codecs
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from adapters.retry import QUICK, retry_after
from core.errors import PostingFailed, RateLimited, Rejected, Unreachable
from core.model import Attachment, Unread, without_controls
from core.model.question import ATTACHMENTS_LIMIT, LEFT_OUT

if TYPE_CHECKING:
    from aiohttp import BaseConnector, ClientResponse

MOST_READ = 5  # files of one question
LARGEST = 1_000_000  # bytes
CHUNK = 65_536  # bytes
MOST_CONTROLS = 0.02  # of the characters; what has more is no text, whatever its encoding
TOO_MANY_REQUESTS, FIRST_REDIRECT, FIRST_REFUSAL, FIRST_SERVER_ERROR = 429, 300, 400, 500
NOT_THERE = (404, 410)
_BINARY = re.compile(
    r"(?:image|audio|video|font|model)/.*|application/(?:pdf|zip|gzip|x-(?:tar|gzip|7z-compressed|rar-compressed|bzip2?"
    r"|xz|msdownload|dosexec|executable)|java-archive|wasm|msword|rtf|vnd\.(?!api\+json).*|epub\+zip)"
)
_CODE = re.compile(r"\.[cm]?tsx?", re.IGNORECASE)  # which a type of videos is guessed for
_MARKS = (  # of byte order, the longer ones first
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")  # colours and titles of terminals
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")


class NotRead(Rejected):
    """A file is not read, and will not be; `why` is for whoever sent it."""

    def __init__(self, why: Unread) -> None:
        super().__init__(why.value)
        self.why = why


@dataclass(frozen=True, slots=True)
class FileLink:
    """A file as a platform tells of it; `kind` is its media type, and `why` says that it cannot be read.

    One that `is_quoted` came with another message than the question.
    """

    name: str
    url: str
    size: int = 0
    kind: str = ""
    id: str = ""
    why: Unread | None = None
    is_quoted: bool = False

    @property
    def unread(self) -> Unread | None:
        """Why it need not be fetched; None for what may be text."""
        if self.why is not None:
            return self.why
        if _is_binary(self.kind, self.name):
            return Unread.KIND
        return Unread.SIZE if self.size > LARGEST else None


Fetch: TypeAlias = Callable[[FileLink], Awaitable[tuple[str, bytes]]]
"""Returns the name of a file and what is in it. Raises `NotRead`, or another `PostingFailed`."""


async def read_files(links: Sequence[FileLink], fetch: Fetch, *, within: float) -> tuple[Attachment, ...]:
    """Return the files in order, each with what it says or why that is not known, after so many seconds at most."""
    wanted = [link for link in links if link.unread is None][:MOST_READ]
    return tuple(await asyncio.gather(*(_read(link, fetch, within, is_wanted=link in wanted) for link in links)))


def selected(files: Sequence[Attachment]) -> Sequence[str]:
    """Return what files say, each below its name, for somebody who asks about a message that they came with."""
    return [f"{each.name}:\n{without_controls(each.text)}" for each in files if each.text]


async def _read(link: FileLink, fetch: Fetch, within: float, *, is_wanted: bool) -> Attachment:
    name, why = link.name, link.unread or (None if is_wanted else Unread.NUMBER)
    if why is None:
        try:
            async with asyncio.timeout(within):
                name, raw = await QUICK.call(partial(fetch, link))
            text = decoded(raw)
        except NotRead as refused:
            why = refused.why
        except (PostingFailed, TimeoutError):
            why = Unread.FAILED
        else:
            is_cut = len(text) > 2 * ATTACHMENTS_LIMIT  # cleaning much more would hold up everybody
            whole = f"{text[:ATTACHMENTS_LIMIT]}{LEFT_OUT}{text[-ATTACHMENTS_LIMIT:]}" if is_cut else text
            clean = _ESCAPES.sub("", whole).strip("\n")
            if clean.strip():
                return Attachment(name=name, text=clean, is_cut=is_cut, is_quoted=link.is_quoted)
            why = Unread.EMPTY
    return Attachment(name=name, unread=why, is_quoted=link.is_quoted)


def decoded(raw: bytes) -> str:
    """Return the text in some bytes, with line feeds at the ends of lines. Raises `NotRead` for what is none."""
    encodings = next(([name] for mark, name in _MARKS if raw.startswith(mark)), ["utf-8", "cp1252", "latin-1"])
    if len(encodings) > 1 and b"\0" in raw:
        raise NotRead(Unread.KIND)
    for encoding in encodings:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if len(_CONTROL.findall(_ESCAPES.sub("", text))) > MOST_CONTROLS * len(text):
            break
        return text.replace("\r\n", "\n").replace("\r", "\n")
    raise NotRead(Unread.KIND)


@dataclass(frozen=True, slots=True)
class Download:
    """Fetches files at certain origins, in the way of a platform's client, with headers that go nowhere else."""

    connector: BaseConnector | None
    origins: Collection[tuple[str, str]]
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    proxy: Any = None
    proxy_auth: Any = None

    async def __call__(self, url: str, *, kind: str = "") -> bytes:
        """Return what is at an address, if it is of a *kind* that may be text.

        No redirect is followed, nothing is unpacked, and no more is read than a file may have. Raises `NotRead`, or
        another `PostingFailed`.
        """
        from aiohttp import ClientError, ClientSession, DummyCookieJar
        from yarl import URL

        if origin(url) not in self.origins:
            raise NotRead(Unread.DENIED)
        headers = {**self.headers, "Accept-Encoding": "identity"}
        given: dict[str, Any] = {"connector": self.connector, "connector_owner": False, "auto_decompress": False}
        way: dict[str, Any] = {"allow_redirects": False, "proxy": self.proxy, "proxy_auth": self.proxy_auth}
        try:
            async with (
                ClientSession(**given, cookie_jar=DummyCookieJar()) as session,
                session.get(URL(url, encoded=True), headers=headers, **way) as response,
            ):
                _check(response, kind)
                return await _body(response)
        except (ClientError, OSError) as error:
            raise Unreachable(type(error).__name__) from error
        except ValueError as error:  # it is no address
            raise NotRead(Unread.GONE) from error


def _check(response: ClientResponse, kind: str) -> None:
    """Raise what the status and the headers of a response mean, if they mean that there is no text."""
    status = response.status
    if status == TOO_MANY_REQUESTS:
        raise RateLimited(retry_after(response.headers) or 0.0)
    if status >= FIRST_SERVER_ERROR:
        raise Unreachable(f"status {status}")
    if status in NOT_THERE:
        raise NotRead(Unread.GONE)
    if status >= FIRST_REDIRECT:
        raise NotRead(Unread.DENIED)
    if response.content_type == "text/html" and kind and "html" not in kind:  # where people log in
        raise NotRead(Unread.DENIED)
    is_packed = response.headers.get("Content-Encoding", "identity") != "identity"
    if is_packed or (not kind and _is_binary(response.content_type, "")):
        raise NotRead(Unread.KIND)
    if (response.content_length or 0) > LARGEST:
        raise NotRead(Unread.SIZE)


async def _body(response: ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK):
        body += chunk
        if len(body) > LARGEST:
            raise NotRead(Unread.SIZE)
    return bytes(body)


def _is_binary(kind: str, name: str) -> bool:
    is_code = _CODE.fullmatch(name[name.rfind(".") :]) if "." in name else None
    return not is_code and bool(_BINARY.fullmatch(kind.partition(";")[0].strip().lower()))


def origin(url: str) -> tuple[str, str]:
    """Return the scheme and the place of an address; nothing of what is none."""
    try:
        return urlsplit(url)[:2]
    except ValueError:
        return "", ""
