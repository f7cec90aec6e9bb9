"""What a client library said, kept as the cause of an error; what several adapters share, free of vendors."""

from __future__ import annotations

import re

LONGEST = 500  # characters of a text that may be a whole page
SECRETS = re.compile(
    r"(?i)(//)[^/\s@]+@|(bearer\s+)\S+|([?&](?:api[_-]?)?(?:key|token)=)[^&\s]+|\bsk-\S+"
)  # in a form that services echo


class VendorText(Exception):
    """What the client library said, without secrets; kept as a cause, so that the original cannot leak."""


def quoted(error: Exception, secret: str, *, said: str | None = None) -> VendorText:
    """Give what the vendor *said*, by default the text of the error, without the secret.

    The secret is looked for before the text is cut, so that no half of it is left; a text that the vendor has cut is
    of no use here.
    """
    text = f"{type(error).__name__}: {error if said is None else said}"
    if secret:
        text = text.replace(secret, "…")
    return VendorText(SECRETS.sub(r"\1\2\3…", text)[:LONGEST])
