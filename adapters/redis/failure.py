"""What a failure of Redis means for a person, in one sentence that quotes nothing of it."""

from __future__ import annotations

import re
import ssl

from redis import exceptions
from redis.asyncio.sentinel import MasterNotFoundError

from core.errors import FootnoteError

UNREACHABLE = "The data store cannot be reached. Try again in a moment."
LOGIN = "The data store refused the login. Check the user and the password in REDIS_URL."
RIGHTS = "The user in REDIS_URL lacks permissions that are needed. Type footnote doctor to see which ones."
FULL = "The data store is full. Give it more memory or disk."
REFUSED = "The data store refused the request. Its log says why."
REPLICA = "The server in REDIS_URL is a replica, which cannot be written to. Name its master, or its Sentinels."
NODE = "The server in REDIS_URL is a node of a cluster. Write redis+cluster:// instead of redis://."
NO_CLUSTER = "The servers in REDIS_URL are not a cluster, or its user cannot tell. For one server write redis://."
NO_MASTER = (
    "No Sentinel in REDIS_URL names a master that is up. If this lasts, check the addresses of the Sentinels, the name "
    "of the master, and sentinel_password."
)
NO_SENTINEL = "A server in REDIS_URL is not a Sentinel. For one server write redis:// instead of redis+sentinel://."
CERTIFICATE = (
    "The certificate of the server in REDIS_URL cannot be verified. Name the file of its CA there: "
    "?ssl_ca_certs=/path/to/ca.pem."
)
NEWER = "What is stored there was written by a newer version of Footnote. Update this one, and type footnote doctor."
HALF = (
    "The server in REDIS_URL holds only a part of the data, because footnote move was interrupted. Type footnote move "
    "again, where the data folder is."
)
NO_TLS = "The server in REDIS_URL does not use TLS. Write redis:// instead of rediss://."
NEEDS_TLS = "The server in REDIS_URL requires TLS. Write rediss:// instead of redis://."

OPERATORS = frozenset({LOGIN, RIGHTS, REPLICA, NODE, NO_CLUSTER, NO_SENTINEL, CERTIFICATE, NEWER, HALF, NO_TLS})
"""The sentences about what does not pass by itself: somebody has to change a setting."""
FINAL = re.compile(r"\bWRONGTYPE |(^|: )user_script:\d+: ")
"""What is said of refusals that do not pass: a key is of another kind, or a script of ours breaks."""

# Kinds of failures with words in them and what they mean; the first that fits counts.
MEANINGS: tuple[tuple[type[BaseException], str, str], ...] = (
    (exceptions.AuthenticationError, "", LOGIN),
    (MasterNotFoundError, "", NO_MASTER),
    (ssl.SSLCertVerificationError, "", CERTIFICATE),
    (ssl.SSLError, "WRONG_VERSION_NUMBER", NO_TLS),
    (exceptions.RedisClusterException, "not enabled", NO_CLUSTER),
    (exceptions.NoPermissionError, "", RIGHTS),
    (exceptions.OutOfMemoryError, "", FULL),
    (exceptions.ReadOnlyError, "", REPLICA),
    (exceptions.AskError, "", NODE),  # also when a key has moved for good
    (exceptions.ClusterDownError, "", UNREACHABLE),
    (exceptions.ResponseError, "MISCONF", FULL),
    (exceptions.ResponseError, "ACL failure", RIGHTS),  # in a script
    (exceptions.ResponseError, "unknown command 'SENTINEL", NO_SENTINEL),
    (exceptions.ResponseError, "", REFUSED),
)


def sentence(error: BaseException) -> str:
    """Choose by the first failure in the chain that says something; a refused login comes wrapped, for example."""
    each: BaseException | None = error
    while each is not None and not isinstance(each, FootnoteError):
        # Behind another failure, it is the master that has just become a replica, and the next call asks the Sentinels.
        is_passing = isinstance(each, exceptions.ReadOnlyError) and each is not error
        for kind, words, means in MEANINGS:
            if isinstance(each, kind) and words in str(each) and not is_passing:
                return means
        each = each.__cause__ or each.__context__
    return UNREACHABLE


def is_final(error: BaseException) -> bool:
    """Return whether a server will certainly never do this: one that is hosted may be busy in any other words."""
    return isinstance(error, exceptions.ResponseError) and FINAL.search(str(error)) is not None
