"""What client libraries are given and what they raise: which certificates they trust, and words without secrets."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Iterable
from functools import lru_cache

LONGEST = 500  # characters of a text that may be a whole page
LONGEST_DETAIL = 300  # characters of it that an operator reads
LOOKED_AT = 800  # characters of it that are compared with the request, one by one
ECHO = 8  # so many characters in a row that stand in the request too are an echo of it
SECRETS = re.compile(
    r"(?i)(//)[^/\s@]+@|(bearer\s+)\S+|([?&](?:api[_-]?)?(?:key|token)=)[^&\s]+|\bsk-\S+"
)  # in a form that services echo


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


def without_echo(text: str, sent: Iterable[str], *, longest: int = LONGEST_DETAIL) -> str:
    """Return what a vendor said on one line, with "…" for what stood in what was *sent*, and of a bounded length.

    A run that is shorter than eight characters is nobody's words. What is sent has to be there in each form in which
    it may come back, such as with its escapes.
    """
    text, everything = " ".join(text[:LOOKED_AT].split()), "\0".join(sent)
    until, kept = 0, list[str]()
    for at, character in enumerate(text):
        run = text[at : at + ECHO]
        if len(run) == ECHO and run in everything:
            until = at + ECHO
        kept.append("…" if at < until else character)
    return SECRETS.sub(r"\1\2\3…", re.sub(r"…[\s…]*…", "…", "".join(kept)))[:longest]
