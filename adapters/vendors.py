"""What client libraries are given and what they raise: which certificates they trust, and words without secrets."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Iterable
from functools import lru_cache
from html import unescape

LONGEST = 500  # characters of a text that may be a whole page
LONGEST_DETAIL = 300  # characters of it that an operator reads
ECHO = 8  # so many characters in a row that stand in the request too are an echo of it
SECRETS = re.compile(
    r"(?i)(//)[^/\s@]+@|(bearer\s+)\S+|([?&](?:api[_-]?)?(?:key|token)=)[^&\s]+|\bsk-\S+"
)  # in a form that services echo
_BYTES = r"(?:\\+x[0-9a-f]{2})+|(?:%(?:25)*[0-9a-f]{2})+"
_ESCAPE = re.compile(
    rf"(?i)(?P<bytes>{_BYTES})|\\+u00(?:0[1-9a-f]|10)[0-9a-f]{{4}}|\\+u(?P<code>[0-9a-f]{{4}})|\\+[abfnrtv]"
    r"|&(?:amp;)*(?P<entity>#?\w{1,10});"
)
_BYTE = re.compile(r"(?i)(?:\\+x|%(?:25)*)([0-9a-f]{2})")
_PIECE = re.compile(rf"{_ESCAPE.pattern}|.")
_NO_LETTERS = re.compile(r"[\W_\U00010000-\U0010ffff]+")  # what lies beyond is written as two halves by some


def trusted() -> ssl.SSLContext:
    """Return what checks certificates, for all clients the same: to read all authorities of a system takes long.

    A company's own authority is found where `SSL_CERT_FILE` or `SSL_CERT_DIR` says.
    """
    return _read(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(maxsize=4)
def _read(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    from httpx2 import create_ssl_context

    return create_ssl_context()


def is_untrusted(error: BaseException | None) -> bool:
    """Return whether a certificate that nobody vouches for is behind the error; trying again would not help."""
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__  # the clients wrap each other's exceptions
    return error is not None


class VendorText(Exception):
    """What the client library said, without secrets; kept as a cause, so that the original cannot leak."""


def quoted(error: Exception, secret: str, *, said: str | None = None) -> VendorText:
    """Return what the vendor *said*, by default the text of the error, without the secret.

    The secret is looked for before the text is cut, so that no half of it is left; a text that the vendor has cut is
    of no use here.
    """
    text = f"{type(error).__name__}: {error if said is None else said}"
    if secret:
        text = text.replace(secret, "…")
    return VendorText(SECRETS.sub(r"\1\2\3…", text)[:LONGEST])


def canonical(text: str) -> str:
    """Return a text in one case, without the escapes in which it is written, and a blank for all that is no letter.

    So it is the same however it is quoted: as JSON, Python, an address or HTML, also twice over.
    """
    return _NO_LETTERS.sub(" ", _ESCAPE.sub(_meant, text).casefold())


def _meant(escape: re.Match[str]) -> str:
    if code := escape["code"]:
        return chr(int(code, 16))
    if entity := escape["entity"]:
        return unescape(f"&{entity};")
    raw = bytes.fromhex("".join(_BYTE.findall(escape["bytes"] or "20")))
    return raw.decode(errors="ignore") or raw.decode("latin-1")


class Sent:
    """All that was sent with a request, to be found again in what comes back, in whichever form."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [each for each in map(canonical, dict.fromkeys(texts)) if len(each) >= ECHO]

    def cut_from(self, text: str, run: int = ECHO) -> str:
        """Return a text on one line, without secrets, with "…" for *run* characters in a row that were sent.

        So it is for a shorter text that was sent alone, if it is there as a whole. All that stands between two letters
        counts as one character.
        """
        text = " ".join(text.split())
        read, places = list[str](), list[tuple[int, int]]()  # what is compared, and where each of it begins and ends
        for piece in _PIECE.finditer(text):
            for each in canonical(piece[0]):
                if each == " " and read and read[-1] == " ":
                    places[-1] = piece.start(), places[-1][1]
                else:
                    read.append(each)
                    places.append(piece.span())
        kept, end = list[str](), 0
        for first, last in self._echoes("".join(read), run):
            start = places[first][0]
            kept += [text[end:start], "…"] if start >= end else []
            end = max(end, places[last - 1][1])
        return SECRETS.sub(r"\1\2\3…", re.sub(r"…[\s…]*…", "…", "".join([*kept, text[end:]])))

    def _echoes(self, letters: str, run: int) -> list[tuple[int, int]]:
        """Return from where to where there are echoes, in their order."""
        wanted = {letters[at : at + run] for at in range(len(letters) - run + 1)}
        known = {
            each for text in self._texts for at in range(len(text) - run + 1) if (each := text[at : at + run]) in wanted
        }
        found = [(at, at + run) for at in range(len(letters) - run + 1) if letters[at : at + run] in known]
        short = [text.strip() for text in self._texts if len(text) < run]
        return sorted([*found, *(each.span() for text in short for each in re.finditer(re.escape(text), letters))])
