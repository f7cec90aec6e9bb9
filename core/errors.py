"""Every error that crosses a port, as one tree.

FootnoteError
├── InvalidInput            a person or a file gave something that cannot be used; `field` names it
├── NotAllowed              somebody gave an order that is not theirs to give
├── DeadLettered            something was tried so often that it is not tried again
├── Unavailable             an outside service did not do its work; trying later may help
│   ├── ModelUnavailable        the chat model
│   │   └── PromptTooLong           what it was given is more than it can read
│   ├── RetrievalUnavailable    the passage index, so that nothing can be searched
│   ├── EmbeddingUnavailable    the embedder; lexical search may still answer
│   ├── SourceUnavailable       a place that documents come from
│   ├── StoreUnavailable        the data store: conversations, questions on their way, votes and the like
│   └── PeopleUnavailable       the platform, when it is asked who somebody is
├── Misconfigured           an operator has to change something; the message says what
│   └── PolicyUnreadable        what moderators have set cannot be read, and so not be changed either
└── PostingFailed           a platform did not do what it was asked to with a message
    ├── RateLimited             it wants to be left alone for some seconds
    │   └── ShutOut                 it lets the bot do nothing at all, wherever it is
    ├── Gone                    the message was deleted
    ├── Rejected                it will not do this, however often it is asked
    ├── Unreachable             nobody knows whether the call arrived; it may be made again
    └── LeaseLost               another worker goes on with the question

Messages are sentences for a person and say what to do; those of `PostingFailed` are a word or two for the log. They
never quote a vendor's error text, which may hold secrets, addresses or what people wrote. Where the operator needs that
text, it is in `detail`, for the log and the doctor alone: short, and without anything that stood in the request.
"""

from __future__ import annotations


class FootnoteError(Exception):
    """The root of all errors that the product raises on purpose; `detail` is what a vendor said, for the operator."""

    detail: str = ""


class InvalidInput(FootnoteError):
    """Something given cannot be used; the message names the field, the limit and what to do."""

    def __init__(self, message: str, *, field: str) -> None:
        """Keep the name of the *field* beside the sentence for a person."""
        super().__init__(message)
        self.field = field


class NotAllowed(FootnoteError):
    """Somebody gave an order that is not theirs to give; the message says who may."""


class DeadLettered(FootnoteError):
    """Something was tried so often that it is not tried again."""


class ApologyFailed(FootnoteError):
    """Nobody could be told that a question was given up, which is to be tried again."""


class Unavailable(FootnoteError):
    """An outside service did not do its work."""


class ModelUnavailable(Unavailable):
    """The chat model gave no complete answer within its retries.

    It asks to be left alone for `wait` seconds, where it said so. `is_final` where the request itself is to blame, so
    that another model would not answer it either, and `is_lasting` where only an operator can help.
    """

    def __init__(self, message: str, *, wait: float | None = None, is_final: bool = False) -> None:
        """Keep what else is known beside the sentence for a person."""
        super().__init__(message)
        self.wait, self.is_final, self.is_lasting = wait, is_final, False


class PromptTooLong(ModelUnavailable):
    """The chat model cannot read as much as it was given; `limit` are the tokens of prompt and answer, if it said so.

    Nothing of an answer was shown, so that it can be asked again with less. It is not final where another model may
    read more.
    """

    def __init__(self, message: str, *, limit: int | None = None) -> None:
        """Keep the *limit* beside the sentence for a person."""
        super().__init__(message, is_final=True)
        self.limit = limit


class RetrievalUnavailable(Unavailable):
    """The passage index cannot be searched."""


class EmbeddingUnavailable(Unavailable):
    """The embedder gave no vectors."""


class SourceUnavailable(Unavailable):
    """A place that documents come from does not answer, so that nobody knows which pages it has."""


class StoreUnavailable(Unavailable):
    """The data store cannot be reached, or refused to write; `is_final` where the request itself is to blame."""

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        """Keep what else is known beside the sentence for a person."""
        super().__init__(message)
        self.is_final = is_final


class PeopleUnavailable(Unavailable):
    """The platform does not say who somebody is, for `wait` seconds at least; None once that is waited for no more."""

    def __init__(self, message: str, *, wait: float | None = None) -> None:
        """Keep what else is known beside the sentence for a person; if it does not say when, it is asked again soon."""
        super().__init__(message)
        self.wait: float | None = 15.0 if wait is None else wait


class Misconfigured(FootnoteError):
    """The settings or the data on disk do not fit together; the message says what to change."""


class PolicyUnreadable(Misconfigured):
    """What moderators have set cannot be read; the message is for them, and says what to do."""


class PostingFailed(FootnoteError):
    """What a platform may answer to a call; anything else that is raised is a mistake of ours."""


class RateLimited(PostingFailed):
    """The platform wants to be left alone for *wait* seconds."""

    def __init__(self, wait: float) -> None:
        super().__init__("rate limit")
        self.wait = wait


class ShutOut(RateLimited):
    """The platform lets the bot do nothing at all for now, so that the question waits, and no attempt is counted."""

    def __init__(self, wait: float, reason: str = "") -> None:
        """Keep the *reason* why, where it is known."""
        super().__init__(wait)
        self.reason = reason


class Gone(PostingFailed):
    """The message is not there any more: somebody deleted it."""


class Rejected(PostingFailed):
    """The platform will not do this, however often it is asked."""


class Unreachable(PostingFailed):
    """Nobody knows whether the call arrived; it may be made again."""


class LeaseLost(PostingFailed):
    """Another worker goes on with the question; this one may not do anything about it any more."""
