"""Whether a service failed to prove who it is; what several adapters share, free of vendors."""

from __future__ import annotations

import ssl
from collections.abc import Iterator


def is_untrusted(error: BaseException) -> bool:
    """Say whether a certificate that nobody vouches for is behind the error; trying again would not help."""
    return any(isinstance(one, ssl.SSLCertVerificationError) for one in _chain(error))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Go back to what caused a failure; the clients wrap each other's exceptions."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
