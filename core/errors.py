"""Every error that crosses a port, as one tree.

FootnoteError
├── InvalidInput            a person or a file gave something that cannot be used; `field` names it
├── NotAllowed              somebody gave an order that is not theirs to give
├── GivenUp                 something was tried so often that it is not tried again
├── Unavailable             an outside service did not do its work; trying later may help
│   ├── ModelUnavailable        the chat model
│   ├── RetrievalUnavailable    the passage index, so that nothing can be searched
│   ├── EmbeddingUnavailable    the embedder; lexical search may still answer
│   ├── StoreUnavailable        the data store: conversations, questions on their way, votes and the like
│   └── PeopleUnavailable       the platform, when it is asked who somebody is
├── Misconfigured           an operator has to change something; the message says what
└── LeaseLost               another worker goes on with the question

Messages are sentences for a person and say what to do. They never quote a vendor's error text, which may hold
secrets or addresses; that text stays in `__cause__`.
"""

from __future__ import annotations


class FootnoteError(Exception):
    """The root of all errors that the product raises on purpose."""


class InvalidInput(FootnoteError):
    """Something given cannot be used; the message names the field, the limit and what to do."""

    def __init__(self, message: str, *, field: str) -> None:
        """Keep the name of the *field* beside the sentence for a person."""
        super().__init__(message)
        self.field = field


class NotAllowed(FootnoteError):
    """Somebody gave an order that is not theirs to give; the message says who may."""


class GivenUp(FootnoteError):
    """Something was tried so often that it is not tried again."""


class Untold(FootnoteError):
    """Nobody could be told that a question was given up, which is to be tried again."""


class Unavailable(FootnoteError):
    """An outside service did not do its work."""


class ModelUnavailable(Unavailable):
    """The chat model gave no complete answer within its retries."""


class RetrievalUnavailable(Unavailable):
    """The passage index cannot be searched."""


class EmbeddingUnavailable(Unavailable):
    """The embedder gave no vectors."""


class StoreUnavailable(Unavailable):
    """The data store cannot be reached, or refused to write."""


class PeopleUnavailable(Unavailable):
    """The platform does not say who somebody is."""


class Misconfigured(FootnoteError):
    """The settings or the data on disk do not fit together; the message says what to change."""


class LeaseLost(FootnoteError):
    """Another worker goes on with the question; this one may not do anything about it any more."""
