"""What a client library raised: its words without secrets, and whether a certificate was to blame."""

from __future__ import annotations

import re
import ssl


def is_untrusted(error: BaseException | None) -> bool:
    """Return whether a certificate that nobody vouches for is behind the error; trying again would not help."""
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__  # the clients wrap each other's exceptions
    return error is not None


LONGEST = 500  # characters of a text that may be a whole page
SECRETS = re.compile(
    r"(?i)(//)[^/\s@]+@|(bearer\s+)\S+|([?&](?:api[_-]?)?(?:key|token)=)[^&\s]+|\bsk-\S+"
)  # in a form that services echo


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
